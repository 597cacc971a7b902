"""Two hundred users of one server while its workers compute: how long pages take, and what it costs.

    .venv/bin/python bench/serve/load.py                       # 60 seconds; prints a table
    .venv/bin/python bench/serve/load.py --json measured.json  # and writes it
    .venv/bin/python bench/serve/load.py --users 20 --seconds 5   # a look
    .venv/bin/python bench/serve/load.py --users 40 --streams 10 --most-ms 300   # and 400 streams of events
    .venv/bin/python bench/serve/load.py --database postgresql://tropalign@localhost/load

A server of its own is started on a free port of the loopback interface. Every user has a token, a session and a
connection that is kept; it asks for a page, reads it for a second or so, and asks for the next; now and then it submits
a small job. One in four watches its jobs by server-sent events. Another user keeps the workers busy with jobs of some
seconds each. Nobody uses two connections at a time, so that 200 users are 200 requests at the most.

With --streams every user also watches a job of some seconds, which waits for those of all others, in so many streams at
once. Exit status: 0, or 1 where anything but 429 went wrong, or the 95th percentile of pages is above 150 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil

MOST_MS = 150.0
TIMEOUT = 60.0
PROTEIN = "ACDEFGHIKLMNPQRSTVWY"
#: Sequences of a job that keeps a worker busy for some seconds, and of a small one.
LARGE, SMALL = (900, 350), (4, 120)
#: What users look at, and how often one in a hundred.
MIX = {
    "/": 15, "/jobs": 20, "/jobs?q=": 10, "/jobs/ID": 25, "/new/pairs": 12, "/databases": 3,
    "/api/v1/jobs": 5, "/api/v1/jobs/ID": 6, "/api/v1/verbs": 2, "submit": 2,
}  # fmt: skip


@dataclass
class Measured:
    """What all users saw."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # by route
    statuses: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    sizes: dict[str, int] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    n_events: int = 0
    n_streams: int = 0
    most_streams: int = 0
    n_reconnections: int = 0
    is_counting: bool = False

    def note(self, route: str, seconds: float, status: int, size: int) -> None:
        """An answer; those of the seconds in which users come one after another do not count."""
        if self.is_counting:
            self.seconds[route].append(seconds)
            self.statuses[route][status] += 1
            self.sizes[route] = size
        if status >= 400 and status != 429:
            self.errors[f"{route}: {status}"] += 1


class Connection:
    """One that is kept, on which one request is asked at a time."""

    def __init__(self, port: int, measured: Measured) -> None:
        self.port, self.measured = port, measured
        self.headers: dict[str, str] = {}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, route: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        """Status and body of the answer; 0 where there was none."""
        begin, was_kept = time.perf_counter(), self._streams is not None
        try:
            async with asyncio.timeout(TIMEOUT):
                status, found, data = await self._ask(method, path, body, headers)
        except (ConnectionError, EOFError) as error:
            self.close()
            if was_kept:  # it was closed on the other side just now: browsers ask again, too
                self.measured.n_reconnections += 1
                return await self.ask(method, path, route, body, **headers)
            self.measured.errors[f"{route}: {type(error).__name__} {error}"[:100]] += 1
            return 0, b""
        except (OSError, TimeoutError, ValueError) as error:
            self.close()
            self.measured.errors[f"{route}: {type(error).__name__} {error}"[:100]] += 1
            return 0, b""
        self.measured.note(route, time.perf_counter() - begin, status, len(data))
        if found.get("connection") == "close":
            self.close()
        if status == 429:
            await asyncio.sleep(min(float(found.get("retry-after", 1)), 5))
        return status, data

    async def _ask(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        reader = await self.send(method, path, body, headers)
        status, found = await read_head(reader)
        if "set-cookie" in found:
            self.headers["Cookie"] = found["set-cookie"].partition(";")[0]
        if found.get("transfer-encoding") == "chunked":
            data = b"".join([piece async for piece in chunks(reader)])
        else:
            data = await reader.readexactly(int(found.get("content-length", 0)))
        return status, found, data

    async def send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> asyncio.StreamReader:
        """Where the answer will come."""
        if self._streams is None or self._streams[0].at_eof():
            self.close()
            self._streams = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22)
        reader, writer = self._streams
        head = {"Host": f"127.0.0.1:{self.port}", **self.headers, **headers}
        if body:
            head["Content-Length"] = str(len(body))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in head.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        return reader

    def close(self) -> None:
        """The next request opens another one."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Status and headers, these in small letters."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = (line.partition(":") for line in lines if line)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in headers}


async def chunks(reader: asyncio.StreamReader) -> Any:
    """The pieces of an answer that is sent in pieces."""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)


class User:
    """Somebody at a browser."""

    def __init__(self, number: int, token: str, port: int, measured: Measured, think: float) -> None:
        self.rng, self.think = random.Random(number), think
        self.token, self.port, self.measured = token, port, measured
        self.browser = Connection(port, measured)
        self.jobs: list[str] = []

    async def come(self) -> bool:
        """Logs in, and submits a first job to look at."""
        form = urlencode({"token": self.token, "next": "/"}).encode()
        own = f"http://127.0.0.1:{self.port}"
        kind = "application/x-www-form-urlencoded"
        status, _ = await self.browser.ask("POST", "/login", "login", form, Origin=own, Content_Type=kind)
        await self.submit(SMALL)
        return status in (200, 302, 303)

    async def browse(self) -> None:
        """Page after page, until somebody ends it."""
        routes, weights = list(MIX), list(MIX.values())
        while True:
            await asyncio.sleep(self.think * self.rng.uniform(0.5, 1.5))
            route = self.rng.choices(routes, weights)[0]
            if route == "submit":
                await self.submit(SMALL)
            elif "ID" not in route or self.jobs:
                path = route.replace("ID", self.rng.choice(self.jobs) if self.jobs else "")
                path += self.rng.choice(["pairs", "proteins", "small+job", "s1"]) if path.endswith("=") else ""
                await self.browser.ask("GET", path, route)

    async def watch(self) -> None:
        """Job after job, each watched to its end."""
        connection = Connection(self.port, self.measured)
        while True:
            job = await self.submit(SMALL, connection)
            if job is not None:
                with suppress(OSError, EOFError, ValueError):
                    await self._follow(connection, job)
                connection.close()
            await asyncio.sleep(self.think * self.rng.uniform(5, 15))

    async def watch_often(self, n_streams: int) -> None:
        """Job after job, each watched to its end in so many windows of a browser."""
        while True:
            submitting = Connection(self.port, self.measured)
            job = await self.submit(LARGE, submitting)
            submitting.close()
            if job is not None:
                await asyncio.gather(*(self._watch_in_window(job) for _ in range(n_streams)))
            await asyncio.sleep(self.think * self.rng.uniform(0.5, 1.5))

    async def _watch_in_window(self, job: str) -> None:
        connection = Connection(self.port, self.measured)
        self.measured.n_streams += 1
        self.measured.most_streams = max(self.measured.most_streams, self.measured.n_streams)
        try:
            with suppress(OSError, EOFError, ValueError):
                await self._follow(connection, job)
        finally:
            self.measured.n_streams -= 1
            connection.close()

    async def _follow(self, connection: Connection, job: str) -> None:
        begin = time.perf_counter()
        headers = {"Authorization": f"Bearer {self.token}"}
        reader = await connection.send("GET", f"/api/v1/jobs/{job}/events", b"", headers)
        status, _ = await read_head(reader)
        is_first = True
        async for piece in chunks(reader):
            if is_first:
                self.measured.note("events: first", time.perf_counter() - begin, status, len(piece))
            is_first = False
            self.measured.n_events += piece.count(b"event: job") * self.measured.is_counting

    async def submit(self, size: tuple[int, int], connection: Connection | None = None) -> str | None:
        """The id of a new job of so many sequences, of so many residues each."""
        count, length = size
        records = (f">s{k}\n{''.join(self.rng.choices(PROTEIN, k=length))}\n" for k in range(count))
        request = {
            "verb": "pairs",
            "inputs": {"queries": [{"text": "".join(records), "name": "proteins.fa"}]},
            "options": {},
            "format": "tsv",
            "outputs": [],
            "title": "a small job" if size == SMALL else "a job of some seconds",
            "tags": ["load"],
        }
        body = json.dumps(request).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content_Type": "application/json"}
        status, data = await (connection or self.browser).ask("POST", "/api/v1/jobs", "submit", body, **headers)
        if status not in (200, 201):
            return None
        job = str(json.loads(data)["id"])
        self.jobs = [*self.jobs[-20:], job]
        return job

    async def keep_busy(self, n_workers: int) -> None:
        """As many jobs as there are workers run, and as many wait."""
        headers = {"Authorization": f"Bearer {self.token}"}
        open_states = b'"queued"', b'"running"'
        while True:
            _, data = await self.browser.ask("GET", "/api/v1/jobs?limit=20", "busy", b"", **headers)
            n_open = sum(data.count(b'"state":' + state) for state in open_states)
            for _ in range(2 * n_workers - n_open):
                await self.submit(LARGE)
            await asyncio.sleep(1)


@contextmanager
def server(folder: Path, n_workers: int, database: str | None, options: list[str]) -> Iterator[tuple[int, int]]:
    """Its port and process; it is told to stop at the end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["--port", str(port), "--workers", str(n_workers), "--threads", "1", *place(folder, database), *options]
    command = [sys.executable, "-m", "tropalign.cli.main", "serve", "-q", "--require-token", *words]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        for _ in range(600):
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
                break
            if process.poll() is not None:
                raise SystemExit("the server ended")
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def place(folder: Path, database: str | None) -> list[str]:
    """Where the server has its files."""
    return ["--folder", str(folder), *(["--database", database] if database else [])]


def tokens(folder: Path, database: str | None, count: int) -> list[str]:
    """One for each of so many users."""
    from tropalign.serve.settings import Settings
    from tropalign.serve.storage import Storage

    with Storage.open(Settings(folder, database=database)) as storage:
        return [storage.tokens.add(f"user{k}")[1] for k in range(count)]


def spent(pid: int) -> dict[str, float]:
    """Processor seconds of the web server, of the workers and their jobs, and of this program."""
    found = {"server": 0.0, "workers and jobs": 0.0}
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        with suppress(psutil.Error):
            times, words = process.cpu_times(), " ".join(process.cmdline())
            is_worker = process.pid != pid and ("worker" in words or "tropalign.cli.main serve" not in words)
            kind = "workers and jobs" if is_worker else "server"
            found[kind] += times.user + times.system
            if is_worker:  # of jobs that have ended
                found[kind] += times.children_user + times.children_system
    own = time.process_time()
    return {**found, "load program": own}


async def load(options: argparse.Namespace, port: int, pid: int, secrets: list[str], measured: Measured) -> Any:
    """Everybody comes within the first seconds, then it counts."""
    think = options.think
    users = [User(k, secret, port, measured, think) for k, secret in enumerate(secrets)]
    busy, *users = users
    tasks = [asyncio.create_task(busy.keep_busy(options.workers))]
    came = await asyncio.gather(*(user.come() for user in users))
    if not all(came):
        measured.errors["login"] += len(came) - sum(came)
    watchers = users[:: options.watching]
    tasks += [asyncio.create_task(user.browse()) for user in users]
    tasks += [asyncio.create_task(user.watch()) for user in watchers]
    if options.streams:
        tasks += [asyncio.create_task(user.watch_often(options.streams)) for user in users]
    n_streams = options.streams * len(users)
    while measured.n_streams < 0.9 * n_streams:  # all submit at once, which is not what is measured
        await asyncio.sleep(0.5)
    await asyncio.sleep(min(5, options.seconds))
    before, measured.is_counting, begin = spent(pid), True, time.monotonic()
    while time.monotonic() - begin < options.seconds:
        await asyncio.sleep(0.5)
        ended = [task for task in tasks if task.done()]
        for task in ended:
            raise task.exception() or AssertionError("a user went away")
    measured.is_counting = False
    passed, after = time.monotonic() - begin, spent(pid)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return passed, {name: (after[name] - before[name]) / passed for name in after}


def summary(measured: Measured, seconds: float, processors: dict[str, float], users: int) -> dict[str, Any]:
    """The figures."""
    routes = {
        route: {
            "requests": len(times),
            **dict(zip(("p50", "p95", "p99", "most"), in_ms(times), strict=True)),
            "bytes": measured.sizes[route],
            "statuses": {str(status): n for status, n in sorted(measured.statuses[route].items())},
        }
        for route, times in sorted(measured.seconds.items())
    }
    pages = [t for route, times in measured.seconds.items() if route.startswith("/") for t in times]
    n_requests = sum(map(len, measured.seconds.values()))
    return {
        "users": users,
        "seconds": round(seconds, 1),
        "requests_per_second": round(n_requests / seconds, 1),
        "pages": dict(zip(("p50", "p95", "p99", "most"), in_ms(pages), strict=True)),
        "routes": routes,
        "events": measured.n_events,
        "streams": measured.most_streams,
        "reconnections": measured.n_reconnections,
        "errors": dict(measured.errors),
        "processors": {name: round(share, 2) for name, share in processors.items()},
        "machine": f"{os.cpu_count()} processors, Python {platform.python_version()}",
        "load average": round(os.getloadavg()[0], 1),
    }


def in_ms(times: list[float]) -> list[float]:
    """Median, 95th and 99th percentile and the longest."""
    if len(times) < 2:
        return [round(1000 * t, 1) for t in times * 4][:4] or [0.0] * 4
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return [round(1000 * t, 1) for t in (cuts[49], cuts[94], cuts[98], max(times))]


def show(found: dict[str, Any]) -> None:
    """The figures as a table."""
    print(f"{'':22}{'requests':>9}{'p50':>9}{'p95':>9}{'p99':>9}{'most':>9}  ms;  statuses")
    for route, row in found["routes"].items():
        times = "".join(f"{row[name]:9.1f}" for name in ("p50", "p95", "p99", "most"))
        print(f"{route:22}{row['requests']:9}{times}       {row['statuses']}")
    print(f"{'all pages':31}" + "".join(f"{value:9.1f}" for value in found["pages"].values()))
    print(
        f"{found['requests_per_second']} requests per second, {found['events']} events in up to {found['streams']} "
        f"streams, errors: {found['errors'] or 0}"
    )
    print("processors: " + ", ".join(f"{share:.2f} {name}" for name, share in found["processors"].items()))


def main() -> int:
    """Returns 1 where something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--think", type=float, default=1.0, help="seconds between an answer and the next request")
    parser.add_argument("--watching", type=int, default=4, help="one user in this many watches its jobs")
    parser.add_argument("--streams", type=int, default=0, help="additional event streams that each user keeps open")
    parser.add_argument("--most-ms", type=float, default=MOST_MS, help="goal for the 95th percentile of pages, in ms")
    parser.add_argument("--database")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--option", action="append", default=[], help="an additional argument of tropalign serve")
    options = parser.parse_args()
    measured = Measured()
    with tempfile.TemporaryDirectory(prefix="tropalign-load-") as name:
        folder = Path(name)
        secrets = tokens(folder, options.database, options.users + 1)
        with server(folder, options.workers, options.database, options.option) as (port, pid):
            seconds, processors = asyncio.run(load(options, port, pid, secrets, measured))
    found = summary(measured, seconds, processors, options.users)
    show(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return int(bool(found["errors"]) or found["pages"]["p95"] > options.most_ms)


if __name__ == "__main__":
    sys.exit(main())
