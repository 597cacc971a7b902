"""How time and memory of each verb grow with its input: five sizes, the exponent of the last three, and what is beyond.

    python bench/growth.py            writes docs/benchmarks/growth.md (half an hour)
    python bench/growth.py --quick    the two smallest sizes, to see that it works: writes nothing but to --output
    python bench/growth.py --verbs msa tree     these alone, to be looked at

Whole commands with one thread and `TROPALIGN_ISA=v3`: processor time and peak memory, with start and reading. Sizes
stop where a run takes more than two minutes of a core. The inputs are made by this script, the same each time.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cluster import amplicons, genes_16s, with_changes
from commands import fasta, timed, tropalign
from machine import processor
from sets import AMINO_ACIDS
from tables import publish, table, wrap

ROOT = Path(__file__).resolve().parent.parent
PAGE, EXAMPLES = ROOT / "docs" / "benchmarks" / "growth.md", ROOT / "examples"
#: What a command takes without work; an exponent is of what lies above it, where that is as much again.
SMALLEST = 2
#: Sizes of a case.
SIZES = 5

Words = list[str]
ONE_THREAD = ["-t", "1"]


@dataclass(frozen=True)
class Case:
    """A command, and what grows.

    Attributes
    ----------
    name, grows
        What the page says of it.
    sizes
    command
        Writes the input of a size to a folder; returns the command's words.
    beyond
        What to do with more.
    """

    name: str
    grows: str
    sizes: tuple[int, ...]
    command: Callable[[Path, int], Words]
    beyond: str


def proteins(folder: Path, n: int, longest: int = 600) -> str:
    """So many random proteins of 100 to `longest` residues."""
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list(AMINO_ACIDS), int(rng.integers(100, longest + 1)))) for _ in range(n)]
    return str(fasta(folder / f"proteins{n}.fa", texts))


def family(folder: Path, n: int, length: int = 200) -> str:
    """So many proteins that come of one by a tree of splits, each of which changes a tenth of the residues."""
    rng = np.random.default_rng(6)
    members = [rng.choice(list(AMINO_ACIDS), length)]
    while len(members) < n:
        parent = members[int(rng.integers(len(members)))]
        child = np.where(rng.random(len(parent)) < 0.1, rng.choice(list(AMINO_ACIDS), len(parent)), parent)
        at = int(rng.integers(1, len(child)))
        members.append(np.delete(child, slice(at, at + 3)) if rng.random() < 0.3 else child)
    return str(fasta(folder / f"family{n}.fa", ["".join(member) for member in members]))


def rows(folder: Path, n: int) -> str:
    """An alignment of so many rows of 200 columns without gaps, related as a family is."""
    rng = np.random.default_rng(7)
    members = [rng.choice(list("ACGT"), 200)]
    while len(members) < n:
        parent = members[int(rng.integers(len(members)))]
        members.append(np.where(rng.random(200) < 0.05, rng.choice(list("ACGT"), 200), parent))
    return str(fasta(folder / f"rows{n}.fa", ["".join(member) for member in members]))


def reads(folder: Path, n: int) -> str:
    """So many different reads of 250 bases of the genes in examples/16s, with errors."""
    rng, genes = np.random.default_rng(8), genes_16s()
    texts = []
    for k in range(n):
        gene = genes[k % len(genes)]
        at = int(rng.integers(len(gene) - 250))
        texts.append(with_changes(rng, gene[at : at + 250], 0.01))
    return str(fasta(folder / f"reads{n}.fa", texts))


def read_set(folder: Path, n: int) -> str:
    """So many amplicons of many kinds."""
    path = folder / f"amplicons{n}.fa"
    amplicons(path, n)
    return str(path)


def genome(folder: Path, n: int) -> str:
    """A sequence of so many random nucleotides."""
    text = np.random.default_rng(9).choice(np.frombuffer(b"ACGT", np.uint8), n).tobytes().decode()
    return str(fasta(folder / f"genome{n}.fa", [text]))


def graph(folder: Path, n: int) -> str:
    """A graph of so many vertices, each with edges to some eight others."""
    rng, path = np.random.default_rng(10), folder / f"graph{n}.tsv"
    ends, weights = rng.integers(0, n, (8 * n, 2)).tolist(), rng.integers(1, 100, 8 * n).tolist()
    path.write_text("".join(f"v{a}\tv{b}\t{w}\n" for (a, b), w in zip(ends, weights, strict=True)))
    return str(path)


def find(folder: Path, n: int) -> Words:
    """Ten queries, and a database of so many."""
    return ["find", proteins(folder, 10), proteins(folder, n), *out(folder, "m8")]


def distinct(folder: Path, n: int) -> Words:
    """Chimeras among so many distinct amplicons, with the numbers of their reads."""
    rng, texts = np.random.default_rng(12), Path(read_set(folder, 2 * n)).read_text().split("\n")[1::2]
    unique = list(dict.fromkeys(texts))[:n]
    sizes = np.sort(rng.zipf(1.5, len(unique)).clip(max=10**6))[::-1]
    records = [f">r{k};size={size}\n{text}\n" for k, (text, size) in enumerate(zip(unique, sizes, strict=True))]
    path = folder / f"distinct{n}.fa"
    path.write_text("".join(records))
    return ["chimeras", str(path), *out(folder, "fa")]


PLACE = ["place", "--reference", str(EXAMPLES / "16s" / "ref.phy.gz"), "--tree", str(EXAMPLES / "16s" / "ref.nwk")]


def out(folder: Path, suffix: str, threads: Words = ONE_THREAD) -> Words:
    """Where a command writes, without a word and with one thread."""
    return ["-q", *threads, "-o", str(folder / f"x.{suffix}")]


CASES = (
    Case("pairs, scores of each with each", "proteins of 100 to 600 residues", (125, 250, 500, 1000, 2000),
         lambda folder, n: ["pairs", proteins(folder, n), "--report", "score", *out(folder, "tsv")],
         "`--shard`, `--cluster`, `--device`; a prefilter"),
    Case("find, ten queries", "proteins of 100 to 600 residues in the database", (300, 1000, 3000, 10_000, 30_000),
         find, "DIAMOND, MMseqs2"),
    Case("cluster, at 97 %", "amplicons of 250 bases of up to 5,000 kinds", (1000, 3000, 10_000, 30_000, 100_000),
         lambda folder, n: ["cluster", read_set(folder, n), *out(folder, "tsv")], "`--dereplicate`; vsearch"),
    Case("derep", "amplicons of 250 bases", (3000, 10_000, 30_000, 100_000, 300_000),
         lambda folder, n: ["derep", read_set(folder, n), *out(folder, "fa", threads=[])], "vsearch"),
    Case("chimeras", "distinct amplicons of 250 bases", (125, 250, 500, 1000, 2000),
         distinct, "a higher `--min-size` of `derep`; vsearch"),
    Case("msa", "members of 200 residues", (20, 40, 80, 160, 320),
         lambda folder, n: ["msa", family(folder, n), *out(folder, "fa")], "`--effort fast`; MAFFT"),
    Case("msa --effort fast", "members of 200 residues", (300, 1000, 3000, 10_000, 30_000),
         lambda folder, n: ["msa", "--effort", "fast", family(folder, n), *out(folder, "fa")], "FAMSA 2"),
    Case("tree", "rows of 200 columns", (500, 1000, 2000, 4000, 8000),
         lambda folder, n: ["tree", rows(folder, n), *out(folder, "nwk")], "FastTree; RapidNJ"),
    Case("search, one model of 188 states", "proteins of 100 to 600 residues", (3000, 10_000, 30_000, 100_000, 300_000),
         lambda folder, n: ["search", str(EXAMPLES / "efp.hmm"), proteins(folder, n), *out(folder, "tbl")],
         "`--shard`, `--cluster`"),
    Case("scan, one model of 188 states", "proteins of 100 to 600 residues", (3000, 10_000, 30_000, 100_000, 300_000),
         lambda folder, n: ["scan", str(EXAMPLES / "efp.hmm"), proteins(folder, n), *out(folder, "tbl")],
         "`search`; `--shard`, `--cluster`"),
    Case("build", "rows of 200 columns", (1000, 3000, 10_000, 30_000, 100_000),
         lambda folder, n: ["build", rows(folder, n), *out(folder, "hmm")], "`--weights none`"),
    Case("place, 802 tips", "different reads of 250 bases", (30, 100, 300, 1000, 3000),
         lambda folder, n: [*PLACE, reads(folder, n), *out(folder, "fa")], "pplacer, EPA-ng with hmmalign"),
    Case("decode", "nucleotides", (300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000),
         lambda folder, n: ["decode", "--model", "cpg", genome(folder, n), *out(folder, "bed")], "`--shard`"),
    Case("paths, all pairs", "vertices", (250, 500, 1000, 2000, 4000),
         lambda folder, n: ["paths", graph(folder, n), *out(folder, "tsv")], "SciPy, igraph for sparse graphs"),
)  # fmt: skip


def exponent(runs: list[tuple[int, dict]], start_s: float) -> float | None:
    """The slope of log time over log size, of the last three sizes whose time is mostly work."""
    points = [(math.log(n), math.log(run["processor_s"] - start_s)) for n, run in runs
              if run["processor_s"] > 2 * start_s][-3:]  # fmt: skip
    if len(points) < SMALLEST:
        return None
    return float(np.polyfit(*zip(*points, strict=True), 1)[0])


def measured(case: Case, folder: Path, is_quick: bool) -> list[tuple[int, dict]]:
    """Sizes, and what their runs took; a size that takes too long ends it."""
    runs = []
    for n in case.sizes[: SMALLEST if is_quick else None]:
        run = timed(tropalign(*case.command(folder, n)), folder)
        print(case.name, n, run, flush=True)
        for path in folder.glob("x.*"):  # a run that was ended leaves a folder of parts
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if "failed" in run:
            break
        runs.append((n, run))
    return runs


def figure(value: float) -> str:
    """Three digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def row_of(case: Case, runs: list[tuple[int, dict]], start_s: float) -> list[str]:
    """A case's row of the page."""
    found = exponent(runs, start_s)
    cells = [f"{n:,}: {figure(run['processor_s'])}, {figure(run['peak_mb'])}" for n, run in runs]
    cells += [""] * (SIZES - len(cells))
    return [case.name, case.grows, *cells, "-" if found is None else f"{found:.2f}", case.beyond]


def page(rows: list[list[str]]) -> str:
    """The page in Markdown."""
    lines = ["# Growth", "", *wrap(
        "You can look up here how time and memory of each verb grow with its input. [Limits](../limits.md) has the "
        "largest sets that were tried, [which program](../which-program.md) what to use instead. `make bench-growth` "
        "makes this page, and its inputs."), "", *wrap(
        f"Machine: {processor()}; one thread, AVX2 (`TROPALIGN_ISA=v3`). A cell has the size, seconds of processor "
        "time and MB of peak memory of a whole command, with start and reading, one run each. Time grows as the size "
        "to the power in the table, fitted to the last three sizes of which the time is mostly work."), ""]  # fmt: skip
    heads = ["", "size in", *(f"{k}" for k in range(1, SIZES + 1)), "power", "for more"]
    return "\n".join([*lines, *table(heads, rows)]) + "\n"


def main() -> int:
    """Measures, prints, and writes the page of a whole run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--verbs", nargs="+")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    os.environ["TROPALIGN_ISA"] = "v3"
    chosen = [case for case in CASES if not options.verbs or case.name.replace(",", "").split()[0] in options.verbs]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        tiny = str(fasta(folder / "tiny.fa", ["ACDEFGHIKL", "MNPQRSTVWY"]))
        start = timed(tropalign("pairs", tiny, *out(folder, "tsv")), folder)
        rows = [row_of(case, measured(case, folder, options.quick), float(start["processor_s"])) for case in chosen]
    text = page(rows)
    publish(text, PAGE, options.output, "only a part was measured" if options.quick or options.verbs else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
