"""Clusters of 5,000 reads of 16S genes beside vsearch and CD-HIT: processor time of whole commands.

    .venv/bin/python bench/cluster.py        # prints the table of docs/benchmarks/cluster.md

Reads are parts of 250 to 450 nucleotides of the genes in examples/16s, all from about one place, with errors of
substitution, deletion and insertion; abundances fall off by a power law.
"""

from __future__ import annotations

import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REFERENCE = Path(__file__).parent.parent / "examples" / "16s" / "ref.phy.gz"
N_READS, RUNS = 5000, 3


def reads(path: Path) -> None:
    """Writes the reads, the same each time."""
    rng = np.random.default_rng(3)
    with gzip.open(REFERENCE, "rt") as lines:
        next(lines)
        genes = ["".join(line.split()[1:]).replace("-", "").upper().replace("U", "T") for line in lines]
    genes = [gene for gene in genes if len(gene) > 1200]
    shares = rng.zipf(1.3, len(genes)).clip(max=400).astype(float)
    with path.open("w") as out:
        for k in range(N_READS):
            gene = genes[rng.choice(len(genes), p=shares / shares.sum())]
            begin = 500 + int(rng.integers(-8, 9))
            letters = list(gene[begin : begin + int(rng.integers(250, 451))])
            rate = rng.choice([0.0, 0.003, 0.01, 0.02])
            chance = rng.random(len(letters))
            others = rng.choice(list("ACGT"), len(letters))
            changed = [
                letter if chance[i] >= rate else (others[i], "", letter + others[i])[int(chance[i] / rate * 3)]
                for i, letter in enumerate(letters)
            ]
            out.write(f">r{k}\n{''.join(changed)}\n")


def commands(path: Path, folder: Path) -> dict[str, list[str]]:
    """Commands by their names in the table; each writes its .uc or .clstr to the folder."""
    own = [sys.executable, "-m", "tropalign.cli.main", "cluster", str(path), "-q", "-o", str(folder / "x.uc")]
    search = ["vsearch", "--cluster_fast", str(path), "--id", "0.97", "--quiet", "--uc", str(folder / "x.uc")]
    hits = ["cd-hit-est", "-i", str(path), "-o", str(folder / "cd"), "-c", "0.97", "-n", "10", "-T", "2", "-d", "0"]
    return {
        "**tropalign cluster**, every representative considered": own,
        "**tropalign cluster --assign first**": [*own, "--assign", "first"],
        "**tropalign cluster --identity columns**": [*own, "--identity", "columns"],
        "vsearch --cluster_fast, as it is called": search,
        "vsearch --maxaccepts 0 --maxrejects 0, every centroid considered": [
            *search, "--maxaccepts", "0", "--maxrejects", "0",
        ],
        "cd-hit-est": hits,
        "cd-hit-est -g 1": [*hits, "-g", "1"],
    }  # fmt: skip


def seconds(command: list[str]) -> float:
    """Processor time of a command."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def n_clusters(folder: Path) -> int:
    """Representatives in what the last command wrote."""
    (written,) = [path for path in (folder / "x.uc", folder / "cd.clstr") if path.exists()]
    mark = "S\t" if written.suffix == ".uc" else ">Cluster"
    return sum(line.startswith(mark) for line in written.read_text().splitlines())


def main() -> None:
    """Prints a row per command."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "reads.fa"
        reads(path)
        print("| command | clusters | processor time |\n|---|---|---|")
        for name, command in commands(path, Path(place)).items():
            if shutil.which(command[0]) is None:
                continue
            for old in ("x.uc", "cd.clstr"):
                (Path(place) / old).unlink(missing_ok=True)
            n_runs = 1 if "--maxrejects" in command else RUNS
            taken = statistics.median(seconds(command) for _ in range(n_runs))
            print(f"| {name} | {n_clusters(Path(place)):,} | {taken:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
