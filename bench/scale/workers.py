"""tropalign itself on the workers of a cluster: what it takes beside the computation, and what kills do to it.

    .venv/bin/python bench/scale/workers.py                    # all, some 10 minutes; fills docs/benchmarks/scale.md
    .venv/bin/python bench/scale/workers.py --only overhead    # or kills, of which --kills says how many

All pairs of random proteins, scheduler and workers as processes of their own on this machine. Processor time counts, as
other programs may run beside; seconds of the clock are given, too, and say something on an idle machine.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.append(str(Path(__file__).parent.parent))
sys.path.append(str(Path(__file__).parent.parent.parent / "tests"))
import scale_report
from execution.dask_processes import Processes

FOUND = Path(__file__).parent / "workers.json"
#: Proteins, and what is asked of their pairs: whole alignments, most of which are not written.
OVERHEAD = {"proteins": 4000, "words": ["--min-identity", "0.9"], "name": "few pairs written"}
WRITING = {"proteins": 2500, "words": [], "name": "all pairs written"}
KILLS = {"proteins": 14000, "words": ["--min-identity", "0.9"], "pairs_per_tile": 300_000}
REPEATS = 5


def proteins(path: Path, count: int) -> None:
    """Random ones of 50 to 500 residues."""
    rng = random.Random(count)
    path.write_text(
        "".join(
            f">p{k}\n{''.join(rng.choices('ACDEFGHIKLMNPQRSTVWY', k=rng.randint(50, 500)))}\n" for k in range(count)
        )
    )


def command(fasta: Path, output: Path, *words: str) -> list[str]:
    """The command that is measured."""
    return [sys.executable, "-m", "tropalign.cli.main", "pairs", str(fasta), "-q", "-o", str(output), *words]


def processor_seconds(process: psutil.Process) -> float:
    """User and system time of a process."""
    times = process.cpu_times()
    return float(times.user + times.system)


def timed(words: list[str]) -> tuple[float, float, float]:
    """Seconds of the clock and of the processor of a command, and its memory at the most, in bytes."""
    began = time.perf_counter()
    process = subprocess.Popen(words)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(words)} failed")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024.0


def overhead(folder: Path, case: dict) -> dict:
    """The same job by one thread here, and by one and two workers of one thread."""
    fasta, one, many = folder / "p.fa", folder / "one.tsv", folder / "many.tsv"
    proteins(fasta, case["proteins"])
    rows = []
    for _ in range(REPEATS):
        row = {}
        row["alone_s"], row["alone_processor_s"], row["alone_bytes"] = timed(
            command(fasta, one, "-t", "1", *case["words"])
        )
        for n_workers in (1, 2):
            with Processes(n_workers, folder) as site:
                words = command(fasta, many, "-t", "1", "--cluster", site.address, *case["words"])
                small = folder / "small.fa"
                proteins(small, 4)
                timed(command(small, folder / "small.tsv", "--cluster", site.address))  # workers have their modules
                there = [psutil.Process(process.pid) for process in (site.scheduler, *site.workers)]
                before = [processor_seconds(process) for process in there]
                name = f"by_{n_workers}"
                row[f"{name}_s"], row[f"{name}_client_s"], row[f"{name}_client_bytes"] = timed(words)
                spent = [processor_seconds(process) - begin for process, begin in zip(there, before, strict=True)]
                row[f"{name}_scheduler_s"], row[f"{name}_workers_s"] = spent[0], sum(spent[1:])
            if not filecmp.cmp(one, many, shallow=False):  # whose memory a command started from here would seem to take
                raise SystemExit("the files differ")
        rows.append(row)
    found = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    return {"name": case["name"], "proteins": case["proteins"], "output_bytes": one.stat().st_size, **found}


def kills(folder: Path, count: int, every: float) -> dict:
    """A run during which a random one of three workers is killed again and again."""
    fasta, one, many = folder / "p.fa", folder / "one.tsv", folder / "many.tsv"
    os.environ["TROPALIGN_TILE_PAIRS"] = str(KILLS["pairs_per_tile"])
    rng, times, n_runs = random.Random(1), [], 0
    found = {"kills": 0, "equal": True, "runs": 0, "tiles": 0}
    proteins(fasta, KILLS["proteins"])
    alone_s, _, _ = timed(command(fasta, one, *KILLS["words"]))
    with Processes(3, folder) as site:
        while site.n_killed < count:
            many.unlink(missing_ok=True)
            began, n_runs = time.perf_counter(), n_runs + 1
            words = command(fasta, many, "--cluster", site.address, *KILLS["words"])
            run = subprocess.Popen(words)
            while run.poll() is None:
                time.sleep(rng.uniform(0, 2 * every))
                if site.n_killed < count:
                    site.kill_worker(rng.randrange(3))
            times.append(time.perf_counter() - began)
            found["equal"] &= run.returncode == 0 and filecmp.cmp(one, many, shallow=False)
    n_pairs = KILLS["proteins"] * (KILLS["proteins"] - 1) // 2
    found |= {"kills": site.n_killed, "runs": n_runs, "tiles": -(-n_pairs // KILLS["pairs_per_tile"])}
    return {**found, "alone_s": alone_s, "runs_s": times}


def main() -> None:
    """Measures, and fills the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("overhead", "kills"))
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--every", type=float, default=1.0, metavar="SECONDS", help="between kills, in the mean")
    options = parser.parse_args()
    found = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    for what in ("overhead", "kills"):
        if options.only in (None, what):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                if what == "overhead":
                    found[what] = [overhead(folder, case) for case in (OVERHEAD, WRITING)]
                else:
                    found[what] = kills(folder, options.kills, options.every)
            print(json.dumps(found[what], indent=1))
    FOUND.write_text(json.dumps(found, indent=1) + "\n")
    scale_report.write_page()


if __name__ == "__main__":
    main()
