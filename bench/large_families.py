"""Large families with little effort beside FAMSA 2: real ones with references, made ones of up to a million members.

    python bench/large_families.py --families balifam1000    writes docs/benchmarks/large-families.md (an hour)
    python bench/large_families.py --quick                   the smallest made families, to see that it works

`--families` names a folder with `in/` (sequences) and `ref/` (the reference alignment of some of them), as BAliFam has
it (github.com/rcedgar/balifam); every third family is aligned, so that others are left to choose by. FAMSA 2 runs
through pyfamsa. Whole commands with `TROPALIGN_ISA=v3`: processor time and peak memory, with start and reading.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from commands import timed, tropalign
from growth import family, figure
from machine import processor
from tables import publish, table, wrap

import tropalign as ta

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "large-families.md"
SIZES, LENGTH = (1_000, 10_000, 100_000, 1_000_000), 90
#: Beyond it all pairs of FAMSA's tree take longer than the limit.
MOST_OF_ALL_PAIRS = 30_000
LIMIT_S = 7200
FAMSA = """
import sys, pyfamsa
file, output, threads, heuristic = sys.argv[1:]
rows = []
for line in open(file):
    if line.startswith(">"):
        rows.append([line[1:].split()[0], []])
    else:
        rows[-1][1].append(line.strip())
sequences = [pyfamsa.Sequence(name.encode(), "".join(parts).encode()) for name, parts in rows]
aligner = pyfamsa.Aligner(threads=int(threads), tree_heuristic=heuristic if heuristic != "none" else None)
with open(output, "w") as out:
    for row in aligner.align(sequences):
        out.write(f">{row.id.decode()}\\n{row.sequence.decode()}\\n")
"""
Run = dict[str, float | str]


def ours(file: str, folder: Path, threads: int = 1) -> Run:
    """A run of tropalign, whose alignment lies in ours.fa."""
    words = ["msa", "--effort", "fast", file, "-t", str(threads), "-q", "-o", str(folder / "ours.fa")]
    return timed(tropalign(*words), folder, LIMIT_S)


def famsa(file: str, folder: Path, threads: int = 1, heuristic: str = "none") -> Run:
    """A run of FAMSA 2, whose alignment lies in famsa.fa."""
    if importlib.util.find_spec("pyfamsa") is None:
        return {"failed": "not installed"}
    words = [sys.executable, "-c", FAMSA, file, str(folder / "famsa.fa"), str(threads), heuristic]
    return timed(words, folder, LIMIT_S)


def cells(run: Run) -> list[str]:
    """Seconds and megabytes, or why there are none."""
    if "failed" in run:
        return [str(run["failed"]), "-"]
    return [figure(float(run["processor_s"])), figure(float(run["peak_mb"]))]


def with_references(folder: Path, data: Path) -> list[str]:
    """Time and accuracy on real families."""
    rows, found = [], []
    for file in sorted((data / "in").iterdir())[1::3]:
        reference = ta.read_alignment(data / "ref" / file.name)
        n_members = len(ta.read_sequences(file))
        runs = []
        for name, run in (("ours", ours), ("famsa", famsa)):
            made = run(str(file), folder)
            if "failed" in made:
                return [f"FAMSA 2: {made['failed']}.", ""]
            score = ta.score_alignment(folder / f"{name}.fa", reference)
            runs += [float(made["processor_s"]), 100 * score.sp, 100 * score.tc]
        print(file.name, *map(figure, runs), flush=True)
        found.append(runs)
        rows.append([file.stem, f"{n_members:,}", *map(figure, runs)])
    total = np.array(found)
    rows.append(
        [f"all {len(found)}", "", *(figure((np.mean if k % 3 else np.sum)(total[:, k])) for k in range(total.shape[1]))]
    )
    head = [
        "family",
        "sequences",
        *(f"{who}, {what}" for who in ("tropalign", "FAMSA 2") for what in ("s", "SP", "TC")),
    ]
    return [*table(head, rows), ""]


def made_ones(folder: Path, sizes: tuple[int, ...]) -> list[str]:
    """Time and memory on families that are made."""
    rows = []
    for n in sizes:
        file = family(folder, n, LENGTH)
        runs = [ours(file, folder, 2), famsa(file, folder, 2, "medoid")]
        runs.append(famsa(file, folder, 2) if n <= MOST_OF_ALL_PAIRS else {"failed": "not run"})
        rows.append([f"{n:,}", *(cell for run in runs for cell in cells(run))])
        print(*rows[-1], flush=True)
        Path(file).unlink()
    names = ("tropalign", "FAMSA 2, medoid tree", "FAMSA 2")
    return [*table(["sequences", *(f"{name}, {unit}" for name in names for unit in ("s", "MB"))], rows), ""]


def growth_of(sizes: tuple[int, ...]) -> str:
    """The sizes in words."""
    assert all(a < b for a, b in pairwise(sizes))
    return " to ".join(f"{n:,}" for n in (sizes[0], sizes[-1]))


def main() -> int:
    """Measures, prints, and writes the page of a whole run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    os.environ["TROPALIGN_ISA"] = "v3"
    lines = ["# Large families", "", *wrap(
        f"`msa --effort fast` compared with FAMSA 2 (pyfamsa). Machine: {processor()}; AVX2 (`TROPALIGN_ISA=v3`). "
        "Seconds of processor time and peak memory of whole commands, one run each, by bench/large_families.py: `make "
        "bench-large-families` makes this page."), ""]  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if options.families is not None:
            lines += ["## Families of 1,000", "", *wrap(
                "Every third family of BAliFam, of about a thousand sequences; one thread. SP and TC, in percent, "
                "refer to the sequences with a reference. The group sizes were chosen with other families."), "",
                *with_references(folder, options.families)]  # fmt: skip
        sizes = (100, 300) if options.quick else tuple(options.sizes)
        lines += [f"## From {growth_of(sizes)}", "", *wrap(
            f"Simulated families of {LENGTH} residues; two threads. FAMSA's own tree compares all pairs; the medoid "
            "one does not."), "", *made_ones(folder, sizes)]  # fmt: skip
    is_part = options.quick or options.families is None
    publish("\n".join(lines).rstrip() + "\n", PAGE, options.output, "only a part was measured" if is_part else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
