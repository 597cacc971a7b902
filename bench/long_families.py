"""Families of long, similar sequences (genomes, organelles, genes) beside MAFFT and FAMSA 2, against simulated truth.

    python bench/long_families.py                   writes docs/benchmarks/long-families.md (hours)
    python bench/long_families.py --limit 120       end each command after 120 s of a core
    python bench/long_families.py --sets genomes genes --scale 0.05     small ones of two sets, in seconds

A family evolves along a random tree by substitutions, insertions and deletions, so that its true alignment is known.
Whole commands with one thread and `TROPALIGN_ISA=v3`: processor time and peak memory, with start and reading. SP and
TC are against the true alignment. FAMSA 2, for proteins alone, runs through pyfamsa.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from commands import TOO_LONG, timed, tropalign
from growth import figure
from large_families import famsa
from machine import processor
from numpy.typing import NDArray
from tables import publish, table, wrap

import tropalign as ta

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "long-families.md"
LETTERS = {"nucleotides": b"ACGT", "proteins": b"ACDEFGHIKLMNPQRSTVWY"}
#: Exponent of the power law of indel lengths (Cartwright 2009: 1.5 to 1.8).
INDEL_POWER = 1.7
#: Seed of the simulations; set k adds k.
SEED = 20_260


@dataclass(frozen=True)
class Family:
    """A set of the table: parameters of the simulation, and how it is aligned.

    Attributes
    ----------
    name, kind
        The name in the table, and the letters.
    n, length
        Members, and residues of the root.
    divergence
        Substitutions per position between two members, on average.
    indels, longest
        Insertions and deletions per substitution, and residues of the longest one.
    variable
        Shape of the gamma distribution of rates over positions; None for equal rates.
    is_added
        True if the members are added to a reference, the first of them.
    """

    name: str
    kind: str
    n: int
    length: int
    divergence: float
    indels: float
    longest: int
    variable: float | None = None
    is_added: bool = False


SETS = {
    "genomes": Family("genomes at 0.3 %", "nucleotides", 100, 29_900, 0.003, 0.05, 60),
    "indels": Family("genomes at 5 %, long indels", "nucleotides", 100, 29_900, 0.05, 0.03, 600),
    "added": Family("genomes added to one", "nucleotides", 1_001, 29_900, 0.003, 0.05, 60, is_added=True),
    "large": Family("genomes of 197 kb at 0.5 %", "nucleotides", 20, 197_000, 0.005, 0.05, 200),
    "genes": Family("genes of 16S rRNA", "nucleotides", 500, 1_500, 0.15, 0.05, 30, variable=0.5),
    "proteins": Family("proteins at 95 %", "proteins", 3_000, 1_200, 0.05, 0.05, 30, variable=1.0),
}


# Residues have an identity: the column of the true alignment. Columns form a linked list in the order of the alignment.
# An insertion after residue p of a member is linked right behind column p. The next residue of that member lies further
# right, so every member reads its columns from left to right, and insertions of two branches never share a column.
class Simulation:
    """The evolution of a family along a random tree (Kingman's coalescent)."""

    def __init__(self, family: Family, seed: int) -> None:
        self.family, self.rng = family, np.random.default_rng(seed)
        self.letters = np.frombuffer(LETTERS[family.kind], np.uint8)
        lengths = np.arange(1, family.longest + 1)
        self.shares = lengths**-INDEL_POWER / (lengths**-INDEL_POWER).sum()
        self.right = [*range(1, family.length), -1]  # the column to the right of each column
        self.rates = [self._rates(family.length)]

    def _rates(self, n: int) -> NDArray[np.float64]:
        shape = self.family.variable
        return np.ones(n) if shape is None else self.rng.gamma(shape, 1 / shape, n)

    def tree(self) -> list[tuple[int, float]]:
        """Parent and branch length of each node; leaves first, the root last, scaled to the divergence."""
        n = self.family.n
        height, parent = np.zeros(2 * n - 1), np.full(2 * n - 1, -1)
        alive, time, total = list(range(n)), 0.0, 0.0
        sizes = [1] * n
        for node in range(n, 2 * n - 1):
            k = len(alive)
            time += self.rng.exponential(2 / (k * (k - 1)))
            a, b = (alive.pop(int(self.rng.integers(len(alive)))) for _ in range(2))
            total += 2 * time * sizes[a] * sizes[b]  # the distance of each pair of members that meets here
            parent[[a, b]], height[node] = node, time
            sizes.append(sizes[a] + sizes[b])
            alive.append(node)
        scale = self.family.divergence / (total / (n * (n - 1) / 2))
        lengths = scale * (height[parent[:-1]] - height[:-1])
        return [*zip(parent[:-1].tolist(), lengths.tolist(), strict=True), (-1, 0.0)]

    def evolved(self, columns: NDArray[np.int64], codes: NDArray[np.int64], length: float) -> tuple[NDArray, NDArray]:
        """Columns and codes of the residues of a child, at the end of a branch of this length."""
        rng, most = self.rng, len(self.letters)
        rates = np.concatenate(self.rates) if len(self.rates) > 1 else self.rates[0]
        self.rates = [rates]
        changes = rng.random(len(codes)) < -np.expm1(-length * rates[columns])
        codes = np.where(changes, (codes + rng.integers(1, most, len(codes))) % most, codes)
        for _ in range(rng.poisson(length * self.family.indels * len(codes))):
            size, at = 1 + int(rng.choice(len(self.shares), p=self.shares)), int(rng.integers(1, len(codes)))
            if rng.random() < 0.5:
                columns, codes = np.delete(columns, slice(at, at + size)), np.delete(codes, slice(at, at + size))
                continue
            first, left = len(self.right), int(columns[at - 1])
            self.right += [*range(first + 1, first + size), self.right[left]]
            self.right[left] = first
            self.rates.append(self._rates(size))
            columns = np.insert(columns, at, np.arange(first, first + size))
            codes = np.insert(codes, at, rng.integers(0, most, size))
        return columns, codes

    def rows(self) -> list[bytes]:
        """The true alignment, without columns of gaps alone."""
        nodes = self.tree()
        root = np.arange(self.family.length), self.rng.integers(0, len(self.letters), self.family.length)
        made = {len(nodes) - 1: root}
        for node in range(len(nodes) - 2, -1, -1):
            parent, length = nodes[node]
            made[node] = self.evolved(*made[parent], length)
        order, column, rank = np.zeros(len(self.right), np.int64), 0, 0
        while column >= 0:
            order[column], rank, column = rank, rank + 1, self.right[column]
        leaves = [made[k] for k in range(self.family.n)]
        is_used = np.zeros(len(order), bool)
        for columns, _ in leaves:
            is_used[order[columns]] = True
        place = np.cumsum(is_used) - 1
        found = []
        for columns, codes in leaves:
            row = np.full(int(is_used.sum()), ord("-"), np.uint8)
            row[place[order[columns]]] = self.letters[codes]
            found.append(row.tobytes())
        return found


def written(path: Path, rows: Iterable[tuple[int, bytes]], *, is_aligned: bool = False) -> Path:
    """Write rows, with or without their gaps, as FASTA."""
    with path.open("wb") as file:
        for k, row in rows:
            file.write(b">s%d\n%s\n" % (k, row if is_aligned else row.replace(b"-", b"")))
    return path


def shell(folder: Path, *words: str) -> list[str]:
    """A command whose standard output lies in mafft.fa."""
    return ["sh", "-c", f"{' '.join(words)} > {folder / 'mafft.fa'}"]


def commands(family: Family, rows: list[bytes], folder: Path) -> dict[str, list[str]]:
    """Each program's command, with its input written; the result of program p lies in p.fa."""
    out = ["-t", "1", "-q", "--memory", "6G", "-o", str(folder / "tropalign.fa")]
    mafft = ["mafft", "--quiet", "--thread", "1", *(["--amino"] if family.kind == "proteins" else [])]
    numbered = list(enumerate(rows))
    if family.is_added:
        first, others = (str(written(folder / name, part)) for name, part in (
            ("one.fa", numbered[:1]), ("others.fa", numbered[1:])))  # fmt: skip
        return {
            "MAFFT": shell(folder, *mafft, "--6merpair", "--keeplength", "--addfragments", others, first),
            "tropalign": tropalign("msa", first, "--add", others, "--keep-length", *out),
        }
    file = str(written(folder / "family.fa", numbered))
    return {"MAFFT": shell(folder, *mafft, "--auto", file), "tropalign": tropalign("msa", file, *out)}


def accuracy(file: Path, truth: Path) -> list[str]:
    """SP and TC against the truth, in per cent."""
    score = ta.score_alignment(file, truth)
    return [f"{100 * score.sp:.2f}", f"{100 * score.tc:.2f}"]


def why(failed: str, limit_s: int) -> str:
    """Why a command has no result: the limit, which also kills parts of MAFFT, or its error without the remedy."""
    if failed == TOO_LONG or "Killed" in failed:
        return f"more than {limit_s:,}"
    return failed.removeprefix("tropalign: ").partition(":")[0]


def measured(family: Family, folder: Path, limit_s: int, seed: int) -> list[list[str]]:
    """A row per program."""
    rows = Simulation(family, seed).rows()
    true_rows = list(enumerate(rows))
    if family.is_added:  # columns of the reference alone, as --keep-length and --keeplength write
        kept = np.frombuffer(rows[0], np.uint8) != ord("-")
        true_rows = [(k, np.frombuffer(row, np.uint8)[kept].tobytes()) for k, row in true_rows]
    truth = written(folder / "truth.fa", true_rows, is_aligned=True)
    runs = {name: timed(words, folder, limit_s) for name, words in commands(family, rows, folder).items()}
    if family.kind == "proteins":
        file = str(folder / "family.fa")
        runs["famsa"] = famsa(file, folder)
    size = f"{family.n - family.is_added:,} x {family.length:,}"
    base, found = runs["MAFFT"].get("processor_s"), []
    for name, run in runs.items():
        shown = {"famsa": "FAMSA 2"}.get(name, name)
        if "failed" in run:
            found.append([family.name, size, shown, why(str(run["failed"]), limit_s), *[""] * 4])
            continue
        seconds = float(run["processor_s"])
        ratio = "" if base is None else f"{seconds / float(base):.2f}"
        scores = accuracy(folder / f"{name.lower()}.fa", truth)
        found.append([family.name, size, shown, figure(seconds), ratio, figure(float(run["peak_mb"])), *scores])
    for row in found:
        print(*row, flush=True)
    return found


def scaled(family: Family, scale: float) -> Family:
    """The family with a share of its members and of its length, at least five of 400 residues."""
    parts = {"n": max(5, round(family.n * scale)), "length": max(400, round(family.length * scale))}
    return Family(**{**family.__dict__, **parts})


def main() -> int:
    """Measures, prints, and writes the page of a whole run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--scale", type=float, default=1.0, help="share of members and of lengths")
    parser.add_argument("--limit", type=int, default=1200, help="processor time after which a command is ended, in s")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    os.environ["TROPALIGN_ISA"] = "v3"
    rows: list[list[str]] = []
    for k, name in enumerate(SETS):
        if name in options.sets:
            with tempfile.TemporaryDirectory() as scratch:
                family = scaled(SETS[name], options.scale)
                rows += measured(family, Path(scratch), options.limit, options.seed + k)
    lines = ["# Long, similar sequences", "", *wrap(
        "You can compare `msa` with MAFFT and FAMSA 2 on families of genomes, genes and long proteins here. `make "
        f"bench-long-families` makes this page. Machine: {processor()}; one thread, AVX2 (`TROPALIGN_ISA=v3`)."), "",
        *wrap(
        "The families are simulated along random trees (a coalescent), with substitutions, and insertions and "
        "deletions whose lengths follow a power law, so that the true alignment is known. The percentage is the mean "
        "difference of two members. A cell has seconds of processor time, or why there is no result, the ratio to "
        "MAFFT's time, and MB of peak memory of a whole command, one run each. SP and TC, in per cent, are against the "
        f"true alignment. Commands were ended after {options.limit:,} s. MAFFT runs as `--auto`, and as `--6merpair "
        "--keeplength --addfragments` for genomes added to one (`msa --add --keep-length`)."), "",
        *table(["family", "size", "program", "s", "ratio", "MB", "SP", "TC"], rows)]  # fmt: skip
    is_part = options.scale != 1 or len(options.sets) < len(SETS)
    publish("\n".join(lines) + "\n", PAGE, options.output, "only a part was measured" if is_part else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
