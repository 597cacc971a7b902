"""Chimeras of made mock communities of real 16S genes, found by tropalign and vsearch: a table for docs/chimeras.md.

    .venv/bin/python bench/chimeras.py [--seeds 5] [--members 96] [--folder FOLDER]

Members: genes of examples/16s, cut to the same 255 columns (V4), and relatives of each that have the letters of other
genes in some columns, 1 to 10 % of their length. Their abundances fall from 20,000 to 200. Copies of members with 1 to
3 % errors, of 1 to 2 % of their abundance. Chimeras of two relatives, joined at 10 to 90 % of the length, with 0 to 2 %
errors, of 1 to 5 % of the abundance of the rarer parent. A join that is equal to a member is left out.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from tropalign.sequences.aligned_files import read_alignment

ROOT = Path(__file__).resolve().parent.parent
#: The columns with residues of half of the genes, and which of these are the region.
REGION = slice(520, 775)
RELATIVES = 3
LETTERS = np.frombuffer(b"ACGT", np.uint8)
GAPS = np.frombuffer(b"-.", np.uint8)
#: Percent of differences between two parents, from and to.
BINS = ((1, 3), (3, 6), (6, 10), (10, 20))
RULES = ("uchime", "uchime2", "uchime3")


def region() -> np.ndarray:
    """Aligned genes of plain letters, cut to the region; uint8, shape (n_genes, n_columns)."""
    rows = read_alignment(ROOT / "examples/16s/ref.phy.gz")[1]
    is_gap = np.isin(rows, GAPS)
    dense = np.flatnonzero((~is_gap).sum(axis=0) > len(rows) / 2)[REGION]
    rows = rows[:, dense[0] : dense[-1] + 1]
    n = (~np.isin(rows, GAPS)).sum(axis=1)
    is_plain = np.isin(rows, np.concatenate([LETTERS, GAPS])).all(axis=1)
    return rows[is_plain & (n > 240) & (n < 270)]


def text(row: np.ndarray) -> str:
    """The letters without gaps."""
    return row[~np.isin(row, GAPS)].tobytes().decode()


def relative(row: np.ndarray, genes: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    """A gene with the letters of others in columns, until that share of its columns differs."""
    found, used = row.copy(), int((~np.isin(row, GAPS)).sum())
    while (found != row).sum() < share * used:
        column = random.integers(len(row))
        found[column] = genes[random.integers(len(genes)), column]
    return found


def with_errors(letters: str, rate: float, random: np.random.Generator) -> str:
    """Substitutions, and an insertion or deletion in the place of one of ten."""
    found = list(letters)
    for k in np.flatnonzero(random.random(len(found)) < rate).tolist():
        kind = random.random()
        other = "ACGT".replace(letters[k], "")[random.integers(3)]
        found[k] = "" if kind < 0.05 else letters[k] + other if kind < 0.1 else other
    return "".join(found)


def differences(a: np.ndarray, b: np.ndarray) -> int:
    """Columns in which two rows differ."""
    return int((a != b).sum())


def community(seed: int, n_members: int) -> dict[str, tuple[str, int, str, float]]:
    """Name, letters, size, kind ("member", "error", "chimera") and percent between the parents of each sequence."""
    random = np.random.default_rng(seed)
    genes = region()
    members: list[np.ndarray] = []
    for k in random.choice(len(genes), n_members // (RELATIVES + 1), replace=False):
        members += [genes[k], *(relative(genes[k], genes, random.uniform(0.01, 0.1), random) for _ in range(RELATIVES))]
    sizes = np.exp(random.uniform(np.log(200), np.log(20000), len(members))).astype(int)
    found: dict[str, tuple[str, int, str, float]] = {}
    known: set[str] = set()

    def add(kind: str, letters: str, size: float, percent: float = 0.0) -> None:
        if letters not in known:
            known.add(letters)
            found[f"{kind}{len(found)}"] = (letters, max(1, int(size)), kind, percent)

    for row, size in zip(members, sizes, strict=True):
        add("member", text(row), size)
    for row, size in zip(members, sizes, strict=True):
        for _ in range(4):
            add("error", with_errors(text(row), random.uniform(0.01, 0.03), random), size * random.uniform(0.01, 0.02))
    for _ in range(4 * n_members):
        family = random.integers(n_members // (RELATIVES + 1)) * (RELATIVES + 1)
        a, b = (family + random.choice(RELATIVES + 1, 2, replace=False)).tolist()
        at = int(random.uniform(0.1, 0.9) * members[a].shape[0])
        row = np.concatenate([members[a][:at], members[b][at:]])
        if min(differences(row, members[k]) for k in range(len(members))) < 1:
            continue
        percent = 100 * differences(members[a], members[b]) / len(text(row))
        letters = with_errors(text(row), random.choice([0, 0.01, 0.02]), random)
        add("chimera", letters, min(sizes[a], sizes[b]) * random.uniform(0.01, 0.05), percent)
    return found


def timed(words: list[str]) -> float:
    """Seconds of the processor that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, capture_output=True, timeout=3600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def verdicts(path: Path) -> dict[str, str]:
    """The last column of a table by the names without sizes."""
    rows = [line.rstrip("\n").split("\t") for line in path.read_text().splitlines()]
    return {row[1].partition(";")[0]: row[-1] for row in rows}


def measured(made: dict[str, tuple[str, int, str, float]], folder: Path, rule: str) -> dict[str, tuple[Counter, float]]:
    """Verdicts by kind and bin, and seconds, of each program on the same file."""
    path = folder / "mock.fa"
    path.write_text("".join(f">{name};size={size}\n{letters}\n" for name, (letters, size, *_) in made.items()))
    found = {}
    for program in ("tropalign", "vsearch"):
        table = folder / f"{program}.uchime"
        ours = [
            str(Path(sys.executable).with_name("tropalign")),
            "chimeras",
            str(path),
            "--rule",
            rule,
            "-t",
            "1",
            "-q",
        ]
        ours += ["-o", str(folder / "good.fa"), "--table", str(table)]
        theirs = ["vsearch", f"--{rule}_denovo", str(path), "--uchimeout", str(table), "--threads", "1"]
        seconds = timed(ours if program == "tropalign" else theirs)
        counts: Counter = Counter()
        for name, verdict in verdicts(table).items():
            _, _, kind, percent = made[name]
            where = next((one for one in BINS if one[0] <= percent < one[1]), None) if kind == "chimera" else None
            counts[kind, where, "all"] += 1
            counts[kind, where, verdict] += 1
        found[program] = counts, seconds
    return found


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--members", type=int, default=96)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    made = [community(seed, options.members) for seed in range(options.seeds)]
    print(f"{options.seeds} communities of {len(made[0])} sequences\n")
    heads = [f"{low} to {high} %" for low, high in BINS]
    print("| rule | program |", *(f"{head} |" for head in heads), "members Y | errors Y | errors ? | seconds |")
    print("|---" * (len(heads) + 6) + "|")
    for rule in RULES:
        all_of = {program: (Counter(), 0.0) for program in ("tropalign", "vsearch")}
        for one in made:
            for program, (counts, seconds) in measured(one, folder, rule).items():
                all_of[program] = all_of[program][0] + counts, all_of[program][1] + seconds
        for program, (counts, seconds) in all_of.items():
            cells = [f"{counts['chimera', one, 'Y']} of {counts['chimera', one, 'all']}" for one in BINS]
            cells += [f"{counts[kind, None, 'Y']} of {counts[kind, None, 'all']}" for kind in ("member", "error")]
            cells += [str(counts["error", None, "?"]), f"{seconds / len(made):.1f}"]
            print(f"| {rule} | {program} |", *(f"{cell} |" for cell in cells), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
