"""What a request costs the server, by route: processor time, and how long one client alone waits.

    .venv/bin/python bench/serve/costs.py                       # prints a table
    .venv/bin/python bench/serve/costs.py --json costs.json     # and writes it
    .venv/bin/python bench/serve/costs.py --database postgresql://tropalign@localhost/costs

One client asks over one connection that is kept; the processor time is that of the server's process, read before and
after each round. Rounds of all routes take turns, and the median round counts, so that other work on the machine weighs
on all alike. Beside requests: a small job from submission to its result, the server with two workers that have nothing
to do, and a large upload.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
from load import MOST_MS, PROTEIN, in_ms, server, tokens

ROUND, N_ROUNDS = 50, 6
LISTED = 50
ROUTES = {
    "/": "/", "/jobs": "/jobs", "/jobs?q=": "/jobs?q=proteins", "/jobs/ID": "/jobs/ID", "/new/pairs": "/new/pairs",
    "/databases": "/databases", "/help": "/help", "/static/page.js": "/static/page.js",
    "/jobs/ID/report": "/jobs/ID/report",
    "/healthz": "/healthz", "/api/v1/jobs": "/api/v1/jobs", "/api/v1/jobs/ID": "/api/v1/jobs/ID",
    "/api/v1/jobs/ID/files/main": "/api/v1/jobs/ID/files/main", "/api/v1/verbs": "/api/v1/verbs", "submit": "",
}  # fmt: skip


class Client:
    """Somebody alone, with a token and a session."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.cookie = self._session()

    def _session(self) -> str:
        form = urlencode({"token": self.token, "next": "/"})
        kind = "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, "Origin": f"http://127.0.0.1:{self.port}"}
        self.connection.request("POST", "/login", form, headers)
        answer = self.connection.getresponse()
        answer.read()
        return answer.getheader("set-cookie", "").partition(";")[0]

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Status and body."""
        is_api = path.startswith("/api/")
        headers = {"Authorization": f"Bearer {self.token}"} if is_api else {"Cookie": self.cookie}
        if body is not None:
            headers["Content-Type"] = (
                "application/octet-stream" if path.startswith("/api/v1/files") else "application/json"
            )
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def submit(self, count: int = 4, length: int = 120) -> dict[str, Any]:
        """A new job of so many sequences, of so many residues each."""
        letters = (f">s{k}\n{''.join(random.choices(PROTEIN, k=length))}\n" for k in range(count))
        request = {
            "verb": "pairs", "inputs": {"queries": [{"text": "".join(letters), "name": "proteins.fa"}]},
            "options": {}, "format": "tsv", "outputs": ["report"], "title": "a small job", "tags": ["costs"],
        }  # fmt: skip
        status, data = self.ask("POST", "/api/v1/jobs", json.dumps(request))
        assert status == 201, data
        job: dict[str, Any] = json.loads(data)
        return job

    def finished(self, job: str) -> dict[str, Any]:
        """The job when it has ended."""
        while True:
            found: dict[str, Any] = json.loads(self.ask("GET", f"/api/v1/jobs/{job}")[1])
            if found["state"] not in ("queued", "running"):
                return found
            time.sleep(0.02)


def processor_seconds(pid: int) -> float:
    """Of one process, to the nanosecond where the kernel says so."""
    try:
        return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9
    except OSError:
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)


def request_costs(client: Client, pid: int, routes: dict[str, str]) -> dict[str, Any]:
    """By route: milliseconds of a processor per request, and what the client waited."""
    spent: dict[str, list[float]] = {route: [] for route in routes}
    waited: dict[str, list[float]] = {route: [] for route in routes}
    sizes = {}
    for turn in range(N_ROUNDS):
        for route, path in routes.items():
            before = processor_seconds(pid)
            for _ in range(ROUND):
                begin = time.perf_counter()
                if route == "submit":
                    client.submit()
                else:
                    status, data = client.ask("GET", path)
                    assert status == 200, (route, status, data)
                    sizes[route] = len(data)
                waited[route].append(time.perf_counter() - begin)
            if turn:  # in the first one templates are compiled
                spent[route].append((processor_seconds(pid) - before) / ROUND)
    return {
        route: {
            "ms": round(1000 * statistics.median(spent[route]), 2),
            **dict(zip(("p50", "p95"), in_ms(waited[route])[:2], strict=True)),
            "bytes": sizes.get(route, 0),
        }
        for route in routes
    }


def small_job(client: Client, count: int = 7) -> dict[str, float]:
    """Seconds from submission to the end of a small job, and of its command within."""
    waited, ran = [], []
    for _ in range(count):
        begin = time.perf_counter()
        job = client.finished(client.submit(37, 190)["id"])
        waited.append(time.perf_counter() - begin)
        started, ended = (datetime.fromisoformat(job[name]) for name in ("started", "finished"))
        ran.append((ended - started).total_seconds())
    return {"from submission": round(statistics.median(waited), 2), "in the worker": round(statistics.median(ran), 2)}


def idle(pid: int, seconds: float) -> list[dict[str, Any]]:
    """Processor seconds per minute, and memory, of the server and of each worker that have nothing to do."""
    processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    before = [processor_seconds(process.pid) for process in processes]
    time.sleep(seconds)
    return [
        {
            "process": "server" if process.pid == pid else "worker",
            "seconds per minute": round((processor_seconds(process.pid) - spent) * 60 / seconds, 2),
            "MB": round(process.memory_full_info().uss / 1e6),
        }
        for process, spent in zip(processes, before, strict=True)
    ]


def upload(client: Client, pid: int, megabytes: int) -> dict[str, float]:
    """A file of so many megabytes: MB per second, processor seconds, and by how much the server's memory grew."""
    process, block = psutil.Process(pid), random.randbytes(1 << 20)
    memory, spent, begin = process.memory_full_info().uss, processor_seconds(pid), time.perf_counter()
    n_blocks = megabytes * 10**6 // len(block)
    headers = {"Authorization": f"Bearer {client.token}", "Content-Length": str(n_blocks * len(block))}
    headers["Content-Type"] = "application/octet-stream"
    client.connection.request("POST", "/api/v1/files?name=large.fa", iter([block] * n_blocks), headers)
    answer = client.connection.getresponse()
    answer.read()
    assert answer.status == 201, answer.status
    passed = time.perf_counter() - begin
    return {
        "MB": megabytes,
        "MB per second": round(megabytes / passed),
        "processor seconds": round(processor_seconds(pid) - spent, 2),
        "memory, MB more": round((process.memory_full_info().uss - memory) / 1e6),
    }


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Everything, on a server of its own."""
    free = ["--max-requests-per-minute", "1000000", "--max-queued-per-user", "100000"]
    with tempfile.TemporaryDirectory(prefix="tropalign-costs-") as name:
        folder = Path(name)
        (secret,) = tokens(folder, options.database, 1)
        with server(folder, 2, options.database, free) as (port, pid):
            client = Client(port, secret)
            jobs = [client.submit()["id"] for _ in range(LISTED)]
            for job in jobs:
                client.finished(job)
            routes = {route: path.replace("ID", jobs[-1]) for route, path in ROUTES.items()}
            return {
                "machine": f"{os.cpu_count()} processors, Python {platform.python_version()}",
                "small job": small_job(client),
                "idle": idle(pid, options.idle),
                "upload": upload(client, pid, options.upload),
                "load average": round(os.getloadavg()[0], 1),
                "routes": request_costs(client, pid, routes),  # last: the jobs that it submits keep the workers busy
            }


def page(costs: dict[str, Any], load: dict[str, Any]) -> str:
    """The page of the documentation."""
    rows = [
        f"| {route} | {row['ms']:.2f} | {row['p50']:.1f} | {row['bytes']:,} |" for route, row in costs["routes"].items()
    ]
    loaded = [
        f"| {route} | {row['requests']:,} | {row['p50']:.0f} | {row['p95']:.0f} | {row['p99']:.0f} |"
        for route, row in [*load["routes"].items(), ("all pages", {**load["pages"], "requests": load_requests(load)})]
        if route != "busy"
    ]
    shares = ", ".join(f"{share:.2f} by the {name}" for name, share in load["processors"].items())
    resting = "; ".join(
        f"{one['process']}: {one['seconds per minute']} s of a processor per minute, {one['MB']} MB"
        for one in costs["idle"]
    )
    small, sent = costs["small job"], costs["upload"]
    return PAGE.format(
        machine=costs["machine"], average=costs["load average"], routes="\n".join(rows), loaded="\n".join(loaded),
        users=load["users"], seconds=load["seconds"], rate=load["requests_per_second"], shares=shares,
        errors=load["errors"] or "none but 429", end=load["load average"],
        verdict="reached" if load["pages"]["p95"] <= MOST_MS else "not reached in this run",
        resting=resting, listed=LISTED,
        waited=small["from submission"], ran=small["in the worker"],
        size=sent["MB"], pace=sent["MB per second"], spent=sent["processor seconds"], more=sent["memory, MB more"],
    )  # fmt: skip


def load_requests(load: dict[str, Any]) -> int:
    """How many pages were asked for."""
    return sum(row["requests"] for route, row in load["routes"].items() if route.startswith("/"))


PAGE = """# Server: what a request costs

`bench/serve/load.py --json load.json`, then `bench/serve/costs.py --load load.json --page docs/benchmarks/server.md`
make this page. {machine}; load average {average} at the first table: an excess over 1 is other work on the machine,
which lengthens waits and, because caches and clocks are shared, also processor times.

## One client

Processor time of the server per request, and waiting time of the client (median); {listed} jobs in the database.

| route | processor, ms | waited, ms | bytes |
|---|---|---|---|
{routes}

A small job (37 proteins, with its report) takes {waited} s from submission to end, {ran} s of them in its
worker. Idle: {resting}. A file of {size} MB is
received at {pace} MB/s, with {spent} s of processor time; the server's memory is {more} MB larger afterwards.

## {users} users

For {seconds} s, each user requests a page, reads it for about a second, and requests the next; two workers compute:
{rate} requests per second. Processors used: {shares}. Errors: {errors}. Load average at the end: {end}.
Goal: 150 ms for the 95th percentile of all pages; {verdict}. Milliseconds:

| route | requests | p50 | p95 | p99 |
|---|---|---|---|---|
{loaded}
"""


def main() -> int:
    """Measures, prints, and writes what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--database")
    parser.add_argument("--idle", type=float, default=30, help="seconds without requests")
    parser.add_argument("--upload", type=int, default=450, help="size of the uploaded file in MB")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--load", type=Path, help="output of load.py --json, for the page")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    found = measured(options)
    print(json.dumps(found, indent=1))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    if options.page and options.load:
        options.page.write_text(page(found, json.loads(options.load.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
