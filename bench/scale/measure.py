"""What Dask takes per task here, and what the disk takes per part: the figures that simulate.py computes with.

    .venv/bin/python bench/scale/measure.py            # all, 5 minutes; writes measured.json and the page's tables
    .venv/bin/python bench/scale/measure.py --only parts,joining    # some, the others as they were
    .venv/bin/python bench/scale/measure.py --quick    # a look: few tasks, nothing written

Scheduler, workers and client are processes of their own, as on a cluster; up to 100 workers share one process, whose
share of the time is no concern here. Processor time counts, since other programs may run beside: a scheduler is
saturated where its processor seconds per task times tasks per second are 1.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import logging
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import distributed
import psutil
from distributed import Client, Worker, as_completed

sys.path.append(str(Path(__file__).parent.parent))
import scale_report

MEASURED = Path(__file__).parent / "measured.json"
logging.getLogger("distributed").setLevel(logging.CRITICAL)  # of connections that end with their site
#: Workers; bytes of arguments; bytes of results; tasks given at once (1: `submit`, more: `map`).
CASES = [
    (1, 0, 0, 1), (2, 0, 0, 1), (8, 0, 0, 1), (100, 0, 0, 1),
    (8, 0, 0, 100), (8, 1_000, 0, 1), (8, 0, 1_000, 1), (8, 0, 100_000, 1), (8, 0, 1_000_000, 1),
]  # fmt: skip
#: Tasks on their way at a time, per worker.
WINDOW = 6
KNOWN = (10_000, 100_000, 1_000_000)
SCATTERED_BYTES = 100_000_000
#: Bytes of parts.
PARTS = (1_000, 100_000, 1_000_000, 10_000_000)
PYTHON = [sys.executable, "-W", "ignore"]


class Site:
    """A scheduler, and processes with workers, each with one thread."""

    def __init__(self, folder: Path, per_process: list[int]) -> None:
        address = folder / "scheduler.json"
        here = str(Path(__file__).parent)  # so that `work` and the like are found
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
        self.scheduler = psutil.Popen(
            [*PYTHON, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
             "--scheduler-file", str(address)], cwd=folder, env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        while not address.exists() or not address.stat().st_size:
            time.sleep(0.05)
        self.address = json.loads(address.read_text())["address"]
        self.processes = [self.start(n) for n in per_process]
        self.client = Client(self.address)
        self.client.wait_for_workers(sum(per_process), timeout=120)

    def start(self, n: int) -> psutil.Popen:
        """A process with n workers."""
        command = [*PYTHON, __file__, "--workers", str(n), self.address]
        return psutil.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)

    def close(self) -> None:
        """Ends what was started, and nothing else."""
        for process in [*self.processes, self.scheduler]:
            process.kill()
            process.wait()
        with suppress(TimeoutError):
            self.client.close(timeout=2)


@contextmanager
def site(*per_process: int) -> Iterator[Site]:
    """A scheduler and processes of that many workers, for the length of a block."""
    with tempfile.TemporaryDirectory() as folder:
        found = Site(Path(folder), list(per_process))
        try:
            yield found
        finally:
            found.close()


async def run_workers(n: int, address: str) -> None:
    """Workers in this process, until it is killed."""
    workers = [Worker(address, nthreads=1, memory_limit=0) for _ in range(n)]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))


def work(argument: bytes, n_bytes: int) -> bytes:
    """An empty task."""
    return bytes(n_bytes)


def block(seconds: float) -> None:
    """A task that takes time and no processor."""
    time.sleep(seconds)


def processor(process: psutil.Process) -> float:
    """Seconds of user and system, all threads."""
    times = process.cpu_times()
    return times.user + times.system


def rate(n_workers: int, argument_bytes: int, result_bytes: int, at_once: int, n_tasks: int) -> dict:
    """Tasks per second, and processor seconds per task of scheduler and client."""
    with site(n_workers) as found:
        own, client = psutil.Process(), found.client
        through(client, 200, n_workers, argument_bytes, result_bytes, at_once)
        before = processor(found.scheduler), processor(own), time.perf_counter()
        through(client, n_tasks, n_workers, argument_bytes, result_bytes, at_once)
        after = processor(found.scheduler), processor(own), time.perf_counter()
        scheduler, mine, wall = (b - a for a, b in zip(before, after, strict=True))
    return {
        "workers": n_workers, "argument_bytes": argument_bytes, "result_bytes": result_bytes, "at_once": at_once,
        "tasks": n_tasks, "per_second": n_tasks / wall, "scheduler_s": scheduler / n_tasks, "client_s": mine / n_tasks,
    }  # fmt: skip


def through(client: Client, n_tasks: int, n_workers: int, argument_bytes: int, result_bytes: int, at_once: int) -> None:
    """Sends tasks through, a window at a time, and takes each result as tropalign does."""
    window = max(WINDOW * n_workers, 2 * at_once)
    given = 0
    running = as_completed(with_results=True)

    def give() -> int:
        arguments = [os.urandom(argument_bytes) for _ in range(min(at_once, n_tasks - given))]
        if at_once == 1:
            running.add(client.submit(work, arguments[0], result_bytes, pure=False))
        else:
            running.update(client.map(partial(work, n_bytes=result_bytes), arguments, pure=False))
        return len(arguments)

    taken = 0
    while taken < n_tasks:
        while given < n_tasks and given - taken <= window - at_once:
            given += give()
        _, result = next(running)
        assert len(result) == result_bytes
        taken += 1


def sleep(seconds: float) -> bytes:
    """A task as the simulation knows it: time, and a result of 1 kB."""
    time.sleep(seconds)
    return bytes(1000)


def timed(client: Client, costs: list[float], window: int, folder: Path | None) -> float:
    """Wall seconds of tasks that sleep, as a run of tropalign gives them: a window, and a part per result."""
    from tropalign.execution.archive import packed
    from tropalign.execution.parts import write_atomically

    begin, given, running = time.perf_counter(), 0, as_completed(with_results=True)
    for taken in range(len(costs)):
        while given < len(costs) and given - taken < window:
            running.add(client.submit(sleep, costs[given], pure=False))
            given += 1
        _, result = next(running)
        if folder is not None:
            write_atomically(folder / f"part{taken:06d}", packed([result]))
    return time.perf_counter() - begin


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on the disk of the repository, since that for temporary files may be in memory."""
    with tempfile.TemporaryDirectory(dir=MEASURED.parent) as folder:
        yield Path(folder)


def latency(n_tasks: int) -> dict:
    """Seconds from submit to result, one task at a time."""
    with site(1) as found:
        taken = []
        for _ in range(n_tasks):
            begin = time.perf_counter()
            found.client.submit(work, b"", 0, pure=False).result()
            taken.append(time.perf_counter() - begin)
    return {"median_s": statistics.median(taken), "p99_s": statistics.quantiles(taken, n=100)[98]}


def memory(n_tasks: int) -> dict:
    """Bytes per task that scheduler and client know, while no worker is free."""
    with site(1) as found:
        client, own = found.client, psutil.Process()
        blocked = client.submit(block, 3600, pure=False)
        before = found.scheduler.memory_info().rss, own.memory_info().rss
        busy, begin = processor(found.scheduler), time.perf_counter()
        futures = [blocked]
        while len(futures) <= n_tasks:
            futures += client.map(partial(work, n_bytes=0), [b""] * min(1000, n_tasks), pure=False)
        while client.run_on_scheduler(known_tasks) <= n_tasks:
            time.sleep(0.1)
        print(json.dumps({
            "tasks": n_tasks,
            "scheduler_bytes": (found.scheduler.memory_info().rss - before[0]) / n_tasks,
            "client_bytes": (own.memory_info().rss - before[1]) / n_tasks,
            "scheduler_s": (processor(found.scheduler) - busy) / n_tasks,
            "wall_s": time.perf_counter() - begin,
        }), flush=True)  # fmt: skip
        for process in (*found.processes, found.scheduler):
            process.kill()
            process.wait()
        os._exit(0)  # to forget a million tasks takes a client minutes


def known_tasks(dask_scheduler: object) -> int:
    """Tasks that a scheduler knows."""
    return len(dask_scheduler.tasks)  # type: ignore[attr-defined]


def elsewhere(n_tasks: int) -> dict:
    """The same in a process of its own."""
    ran = subprocess.run([*PYTHON, __file__, "--known", str(n_tasks)], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout.splitlines()[-1])


def scatter(n_workers: int, n_bytes: int) -> dict:
    """Seconds until an input lies on each of n workers, by one call of `scatter`."""
    with site(*[1] * n_workers) as found:
        data, own = os.urandom(n_bytes), psutil.Process()
        before = processor(own), sum(map(processor, found.processes)), processor(found.scheduler), time.perf_counter()
        future = found.client.scatter(data, broadcast=n_workers > 1, hash=False)
        wall = time.perf_counter() - before[3]
        holders = len(found.client.who_has(future)[future.key])
        return {
            "workers": n_workers, "bytes": n_bytes, "holders": holders, "wall_s": wall,
            "client_s": processor(own) - before[0],
            "workers_s": sum(map(processor, found.processes)) - before[1],
            "scheduler_s": processor(found.scheduler) - before[2],
        }  # fmt: skip


def joining() -> dict:
    """Seconds that a client and a worker take to come, and a scheduler to miss a worker that was killed."""
    with site(1) as found:
        begin = time.perf_counter()
        with Client(found.address):
            client_s = time.perf_counter() - begin
        begin = time.perf_counter()
        process = found.start(1)
        found.processes.append(process)
        found.client.wait_for_workers(2)
        worker_s, worker_processor_s = time.perf_counter() - begin, processor(process)
        process.kill()
        begin = time.perf_counter()
        while len(found.client.scheduler_info()["workers"]) > 1 or found.client.run_on_scheduler(n_workers) > 1:
            time.sleep(0.01)
        missed_s = time.perf_counter() - begin
        process.wait()
        found.processes.remove(process)
    return {"client_s": client_s, "worker_s": worker_s, "worker_processor_s": worker_processor_s, "missed_s": missed_s}


def n_workers(dask_scheduler: object) -> int:
    """Workers that a scheduler knows."""
    return len(dask_scheduler.workers)  # type: ignore[attr-defined]


def part(n_bytes: int, n_parts: int) -> dict:
    """Seconds per part of a run: written (wall, waiting for the disk each time, and processor), and read again.

    Also written as runs do.
    """
    from tropalign.execution.manifest import Manifest
    from tropalign.execution.parts import Parts, PartWriting

    data, run = os.urandom(n_bytes), Manifest("measured", "", n_parts, {}, 1)
    with scratch() as folder, Parts(folder / "each", run) as each, Parts(folder / "all", run) as all_of_them:
        walls, busy = [], time.process_time()
        for k in range(n_parts):
            begin = time.perf_counter()
            each.write(k, [data])
            each.sync()
            walls.append(time.perf_counter() - begin)
        busy = time.process_time() - busy
        begin = time.process_time()
        for _ in each.sections(0, range(n_parts)).blocks():
            pass
        read = time.process_time() - begin
        begin = time.perf_counter()
        with PartWriting(all_of_them) as writing:
            for k in range(n_parts):
                writing.put(k, [data])
        together = time.perf_counter() - begin
    return {
        "bytes": n_bytes, "wall_s": statistics.median(walls),
        "together": "while a thread waits for the disk", "together_s": together / n_parts,
        "processor_s": busy / n_parts, "read_s": read / n_parts,
    }  # fmt: skip


def outline(n_tiles: int) -> dict:
    """Bytes and processor seconds per tile that a run knows before it begins: the tiles, and the hash of their cut."""
    from tropalign.execution.task import Tile

    process = psutil.Process()
    before, begin = process.memory_info().rss, time.process_time()
    tiles = [Tile(k, 10**9 + k, 10**8, 1000 + k % 7, (1000 * k, 1000 * k + 1000)) for k in range(n_tiles)]
    cut = repr([(tile.index, tile.n_items, tile.cost_cells) for tile in tiles]).encode()
    hashlib.sha256(cut).hexdigest()
    n_bytes = process.memory_info().rss - before
    return {"tiles": n_tiles, "bytes": n_bytes / n_tiles, "processor_s": (time.process_time() - begin) / n_tiles}


def machine() -> dict:
    """Where this was measured, and with what."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return {
        "processor": f"{model}, {os.cpu_count()} cores",
        "date": time.strftime("%Y-%m-%d"),
        "versions": f"Python {platform.python_version()}, distributed {distributed.__version__}",
    }


def measure(is_quick: bool, only: list[str] | None) -> Iterator[tuple[str, object]]:
    """All figures, section by section, as each is done."""
    n_tasks = 300 if is_quick else 4000
    sections: dict[str, Callable[[], object]] = {
        "machine": machine,
        "rates": lambda: [rate(*case, n_tasks if case[2] < 1_000_000 else n_tasks // 4) for case in CASES],
        "latency": lambda: latency(n_tasks // 4),
        "memory": lambda: [elsewhere(n) for n in (KNOWN[:1] if is_quick else KNOWN)],
        "scatter": lambda: [scatter(n, SCATTERED_BYTES) for n in (1, 2, 4, 8)],
        "joining": joining,
        "parts": lambda: [part(n, 30 if is_quick else 200) for n in PARTS],
        "outline": lambda: outline(10_000 if is_quick else 1_000_000),
    }
    for name, section in sections.items():
        if only is None or name in only:
            yield name, section()


def main() -> int:
    """Measures, and writes the figures and the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="quick look: few tasks, write nothing")
    parser.add_argument(
        "--only", type=lambda text: text.split(","), help="sections to measure again, separated by commas"
    )
    parser.add_argument("--workers", nargs=2, metavar=("N", "ADDRESS"), help="be N workers of that scheduler")
    parser.add_argument("--known", type=int, metavar="N", help="give a scheduler N tasks, for its memory")
    options = parser.parse_args()
    if options.known:
        memory(options.known)
    if options.workers:
        asyncio.run(run_workers(int(options.workers[0]), options.workers[1]))
        return 0
    found = json.loads(MEASURED.read_text()) if options.only else {}
    for name, figures in measure(options.quick, options.only):
        found[name] = figures
        if options.only:
            found.setdefault("machines", {})[name] = machine()
        print(f"{name}: {json.dumps(figures)}", flush=True)
    if not options.quick:
        MEASURED.write_text(json.dumps(found, indent=1) + "\n")
        scale_report.write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
