"""What one user's large bodies cost the others: how long they wait, and the server's memory.

    .venv/bin/python bench/serve/bodies.py             # prints a table
    .venv/bin/python bench/serve/bodies.py --at-once 8

One user sends bodies of JSON, several at a time and again and again, as the kind of body says; another asks who asks
(`/api/v1/me`), 50 times per second, over a connection that is kept. The first row is without any body.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from load import server, tokens

PAUSE = 0.02


def kinds() -> dict[str, bytes]:
    """Bodies by what they are."""
    many = ",".join(f'"k{n:08d}":0' for n in range(2_000_000))[: 24_900_000 - 2].rpartition(",")[0]
    text = "".join(f">s{n}\nMKVLAWHEAGAWGHEEMKVLAWHEAGAWGHEEMKVLAWHEAGAWGHEE\n" for n in range(400_000))
    pasted = {"verb": "pairs", "inputs": {"queries": [{"text": text}]}, "options": {"mode": "none"}}
    return {"none": b"", "1.9 million keys": b"{%s}" % many.encode(), "a pasted text": json.dumps(pasted).encode()}


def send(port: int, token: str, body: bytes, is_over: threading.Event, found: list[tuple[int, float]]) -> None:
    """Sends it until it is over; notes statuses and seconds."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    while not is_over.is_set():
        begin = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        connection.request("POST", "/api/v1/jobs", body, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        found.append((answer.status, time.perf_counter() - begin))


def measured(port: int, pid: int, users: list[str], body: bytes, options: argparse.Namespace) -> str:
    """A row of the table."""
    is_over, sent = threading.Event(), list[tuple[int, float]]()
    arguments = (port, users[0], body, is_over, sent)
    senders = [threading.Thread(target=send, args=arguments) for _ in range(options.at_once if body else 0)]
    for sender in senders:
        sender.start()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    waited, peak, until = [], 0, time.monotonic() + options.seconds
    while time.monotonic() < until:
        begin = time.perf_counter()
        connection.request("GET", "/api/v1/me", headers={"Authorization": f"Bearer {users[1]}"})
        answer = connection.getresponse()
        answer.read()
        waited.append(1000 * (time.perf_counter() - begin))
        peak = max(peak, psutil.Process(pid).memory_info().rss)
        time.sleep(PAUSE)
    is_over.set()
    for sender in senders:
        sender.join()
    p95 = statistics.quantiles(waited, n=20)[-1]
    statuses = sorted({status for status, _ in sent}) or ["-"]
    took = f"{statistics.median(seconds for _, seconds in sent):.2f}" if sent else "-"
    row = (f"{len(body) / 1e6:.1f}", len(sent), *statuses[:1], took, f"{statistics.median(waited):.1f}", f"{p95:.1f}")
    return " | ".join(map(str, (*row, f"{max(waited):.0f}", f"{peak / 1e6:.0f}")))


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--at-once", type=int, default=4, help="bodies at a time")
    parser.add_argument("--seconds", type=float, default=10, help="of each kind of body")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "served"
        users = tokens(folder, None, 2)
        with server(folder, 0, None, ["--max-requests-per-minute", "100000"]) as (port, pid):
            load = os.getloadavg()[0]
            print(f"{os.cpu_count()} processors, load average {load:.1f}, {options.at_once} bodies at a time")
            print("\n| body | MB | sent | status | s each | another waits, p50 ms | p95 | max | server, MB |")
            print("|---|---|---|---|---|---|---|---|---|")
            for kind, body in kinds().items():
                print(f"| {kind} | {measured(port, pid, users, body, options)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
