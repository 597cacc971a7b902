"""What the benchmark of pairs measures beside GCUPS on one thread: threads, a command, a long pair, imports."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

from commands import fasta, timed, tropalign
from sets import FILES

LONG = 100_000
#: A process that would take more than this is stopped by the system, not by the machine's last byte.
LONG_LIMIT_BYTES = 6 << 30


THREADS = """
import json, sys, time, tropalign as ta
batch = ta.read_sequences(sys.argv[1])
gap, out = ta.Gap.from_first_residue(10, 2), {}
for report in ("score", "alignment"):
    walls = {1: [], 2: []}
    for _ in range(5):
        for n in walls:
            begin = time.perf_counter()
            for table in ta.align_all(batch, matrix="BLOSUM50", gap=gap, report=report, n_threads=n):
                pass
            walls[n].append(time.perf_counter() - begin)
    out[report] = sorted(walls[1])[2] / sorted(walls[2])[2]
print(json.dumps(out))
"""


def threads(options, scratch: Path) -> dict[str, float | str]:
    """Wall time of one thread over that of two (medians of five), by report; local, 459 residues."""
    path = options.data / FILES["459"]
    done = subprocess.run([sys.executable, "-c", THREADS, str(path)], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.strip()[-200:]}


def command(options, scratch: Path) -> dict[str, float | str]:
    """The whole command: all pairs of 1,000 proteins, local, CIGARs in a TSV, two threads; the median of three."""
    path = options.data / FILES["100-420"]
    runs = []
    for k in range(1 if options.quick else 3):
        out = scratch / f"pairs{k}.tsv"
        words = f"pairs {path} --matrix BLOSUM50 --gap-open 8 --gap-extend 2 --threads 2 -q -o {out}".split()
        runs.append(timed(tropalign(*words), scratch))
        if "failed" in runs[-1]:
            return runs[-1]
        runs[-1]["output_mb"] = out.stat().st_size / 1e6
        out.unlink()
    return sorted(runs, key=lambda run: run["wall_s"])[len(runs) // 2]


def long_pair(options, scratch: Path) -> dict[str, float | str]:
    """Two nucleotide sequences of 100,000, one in ten residues changed: global alignment, two threads."""
    length = LONG // 10 if options.quick else LONG
    rng = random.Random(1)
    first = [rng.choice("ACGT") for _ in range(length)]
    second = [letter if rng.random() < 0.9 else rng.choice(["", "A", "C", "G", "T", "AC"]) for letter in first]
    path = scratch / "long.fasta"
    path.write_text(f">a\n{''.join(first)}\n>b\n{''.join(second)}\n")
    words = f"pairs {path} --mode global --threads 2 --memory 900M -q -o {scratch / 'long.tsv'}".split()
    limited = ["sh", "-c", f'ulimit -v {LONG_LIMIT_BYTES >> 10}; exec "$@"', "sh", *tropalign(*words)]
    out = timed(limited, scratch)
    cells = length * sum(map(len, second))
    if "failed" not in out:
        out["gcups"] = cells / float(out["wall_s"]) / 1e9
    return out


def start(options, scratch: Path) -> dict[str, float | str]:
    """Wall time of a process that imports the package, of commands that do little, and of an interpreter alone.

    "small" is the processor time of `tropalign pairs` on two sequences.
    """
    commands = {
        "python": [sys.executable, "-c", ""],
        "import tropalign": [sys.executable, "-c", "import tropalign"],
        "import tropalign.pairwise": [sys.executable, "-c", "import tropalign.pairwise"],
        "tropalign --version": tropalign("--version"),
    }
    rounds = 3 if options.quick else 9

    def median(words: list[str], what: str) -> float:
        runs = [timed(words, scratch) for _ in range(rounds)]
        if troubles := [run["failed"] for run in runs if "failed" in run]:
            raise RuntimeError(troubles[0])
        return statistics.median(float(run[what]) for run in runs)

    two = fasta(scratch / "two.fasta", ["MKVLAAGWHHE", "MKVLAGWHHE"])
    small = tropalign("pairs", str(two), "-q", "-o", str(scratch / "two.tsv"))
    return {name: median(words, "wall_s") for name, words in commands.items()} | {"small": median(small, "processor_s")}


EXTRAS = {
    "threads": threads,
    "command": command,
    "long_pair": long_pair,
    "start": start,
}
#: The sets of sequences that some of them read.
EXTRA_SETS: dict[str, list[str]] = {name: [] for name in EXTRAS} | {"threads": ["459"], "command": ["100-420"]}
