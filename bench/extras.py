"""What the benchmark of pairs measures beside GCUPS on one thread: threads, commands, a long pair, imports, loops."""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from sets import FILES, cdr3, random_proteins

LONG = 100_000
#: A process that would take more than this is stopped by the system, not by the machine's last byte.
LONG_LIMIT_BYTES = 6 << 30


def timed(command: list[str], **environment: str) -> dict[str, float | str]:
    """Wall time, processor time and peak memory of a process."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    errors = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    out: dict[str, float | str] = {
        "wall_s": time.perf_counter() - begin,
        "processor_s": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1000,
    }
    if process.returncode:
        out["failed"] = (errors.strip().splitlines() or [f"exit status {process.returncode}"])[-1][:200]
    return out


def tropalign(*arguments: str) -> list[str]:
    """The command of this interpreter's installation."""
    return [str(Path(sys.executable).parent / "tropalign"), *arguments]


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
        runs.append(timed(tropalign(*words)))
        if "failed" not in runs[-1]:
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
    out = timed(limited)
    cells = length * sum(map(len, second))
    if "failed" not in out:
        out["gcups"] = cells / float(out["wall_s"]) / 1e9
    return out


def fasta(path: Path, texts: list[str]) -> Path:
    """Writes sequences with names."""
    path.write_text("".join(f">s{k}\n{text}\n" for k, text in enumerate(texts)))
    return path


def database(options, scratch: Path) -> dict[str, dict[str, float | str]]:
    """The ten best of a database for one protein, local, one thread: the command, and ssearch36 where it is there."""
    share = 20 if options.quick else 1
    query = fasta(scratch / "query.fasta", [random_proteins(1, 433, 433)[0]])
    sets = {
        "500,000 peptides of 20-60 residues": (500_000 // share, 20, 60),
        "20,000 proteins of 50-2,000 residues": (20_000 // share, 50, 2000),
    }
    found = {}
    for name, size in sets.items():
        path = fasta(scratch / "database.fasta", random_proteins(*size))
        words = f"pairs {query} {path} --top 10 --threads 1 -q -o {scratch / 'best.tsv'}".split()
        found[name] = timed(tropalign(*words))
        if program := shutil.which("ssearch36"):
            found[f"{name}, ssearch36"] = timed(
                [program, "-q", "-T", "1", "-b", "10", "-d", "10", str(query), str(path)]
            )
    return found


def repertoire(options, scratch: Path) -> dict[str, float | str]:
    """The five best of each of 20,000 CDR3 among all others, global, two threads."""
    n = 2_000 if options.quick else 20_000
    path = fasta(scratch / "cdr3.fasta", cdr3(n))
    words = f"pairs {path} --mode global --top 5 --threads 2 -q -o {scratch / 'cdr3.tsv'}".split()
    return timed(tropalign(*words))


def start(options, scratch: Path) -> dict[str, float | str]:
    """Wall time of a process that imports the package, of `tropalign --version`, and of an interpreter alone."""
    commands = {
        "python": [sys.executable, "-c", ""],
        "import tropalign": [sys.executable, "-c", "import tropalign"],
        "import tropalign.pairwise": [sys.executable, "-c", "import tropalign.pairwise"],
        "tropalign --version": tropalign("--version"),
    }
    return {
        name: statistics.median(float(timed(words)["wall_s"]) for _ in range(3 if options.quick else 9))
        for name, words in commands.items()
    }


LOOP = """
import json, random, sys, time
random.seed(1)
who, at_least, out = sys.argv[1], float(sys.argv[2]), {}
if who == "tropalign":
    import tropalign
    align = lambda a, b: tropalign.align(a, b).cigar
elif who == "parasail":
    import parasail
    align = lambda a, b: parasail.nw_trace_scan_16(a, b, 12, 1, parasail.blosum62).cigar.decode
else:
    from Bio.Align import PairwiseAligner, substitution_matrices
    aligner = PairwiseAligner()
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    aligner.open_gap_score, aligner.extend_gap_score = -12, -1
    align = lambda a, b: aligner.align(a, b)[0]
for length in (20, 100, 400):
    pairs = [["".join(random.choices("ARNDCQEGHILKMFPSTWYV", k=length)) for _ in "ab"] for _ in range(100)]
    align(*pairs[0])
    times = []
    for _ in range(3):
        n, begin = 0, time.process_time()
        while time.process_time() - begin < at_least:
            for a, b in pairs[:20]:
                align(a, b)
            n += 20
        times.append((time.process_time() - begin) / n)
    out[length] = sorted(times)[1] * 1e6
print(json.dumps(out))
"""


def loops(options, scratch: Path) -> dict[str, dict[str, float] | str]:
    """Microseconds per call of a loop over pairs of random proteins: global, BLOSUM62, CIGARs; by length."""
    found: dict[str, dict[str, float] | str] = {}
    for who in ("tropalign", "parasail", "biopython"):
        python = sys.executable if who == "tropalign" else options.peer_python
        words = [python, "-c", LOOP, who, str(options.at_least)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode == 0:
            found[who] = json.loads(done.stdout)
        elif who == "tropalign":
            return {"failed": done.stderr.strip()[-200:]}
    return found


EXTRAS = {
    "threads": threads,
    "command": command,
    "database": database,
    "repertoire": repertoire,
    "long_pair": long_pair,
    "start": start,
    "loops": loops,
}
#: The sets of sequences that each of them reads.
EXTRA_SETS: dict[str, list[str]] = {name: [] for name in EXTRAS} | {"threads": ["459"], "command": ["100-420"]}
