"""Clusters of reads of 16S genes beside vsearch and CD-HIT: processor time of whole commands.

    python bench/cluster.py            writes docs/benchmarks/cluster.md, which names the peers that are not there
    python bench/cluster.py --brief    without the peer that looks at every representative, which takes a minute
    python bench/cluster.py --quick    few reads, to see that it works: writes nothing but to --output

Reads are parts of 250 to 450 nucleotides of the genes in examples/16s, all from about one place, with errors of
substitution, deletion and insertion; abundances fall off by a power law. Amplicons of many kinds are another set: 5,000
of 250 nucleotides, half of them made of the others by changing 4 to 15 % of the letters.
"""

from __future__ import annotations

import argparse
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from absent import absent, paragraph
from machine import measured_isas, processor
from tables import publish, table, wrap

ROOT = Path(__file__).resolve().parent.parent
REFERENCE, PAGE = ROOT / "examples" / "16s" / "ref.phy.gz", ROOT / "docs" / "benchmarks" / "cluster.md"
N_READS, N_AMPLICONS, N_KINDS, FEW, RUNS = 5000, 50_000, 5000, 200, 3
PROGRAMS = {"vsearch": "vsearch", "CD-HIT": "cd-hit-est"}
#: Looks at every representative: a minute.
SLOW = "vsearch --maxaccepts 0 --maxrejects 0, every centroid considered"


def genes_16s() -> list[str]:
    """The long ones of examples/16s."""
    with gzip.open(REFERENCE, "rt") as lines:
        next(lines)
        genes = ["".join(line.split()[1:]).replace("-", "").upper().replace("U", "T") for line in lines]
    return [gene for gene in genes if len(gene) > 1200]


def with_changes(rng: np.random.Generator, text: str, rate: float) -> str:
    """The text with that share of its letters exchanged, left out or followed by another one."""
    chance, others = rng.random(len(text)), rng.choice(list("ACGT"), len(text))
    return "".join(
        letter if chance[i] >= rate else (others[i], "", letter + others[i])[int(chance[i] / rate * 3)]
        for i, letter in enumerate(text)
    )


def amplicons(path: Path, n: int) -> None:
    """Writes so many reads of many kinds, the same each time."""
    rng, genes = np.random.default_rng(7), genes_16s()
    n_kinds = min(N_KINDS, n // 2)
    kinds = [with_changes(rng, genes[k % len(genes)][480:730], rng.uniform(0, 0.2)) for k in range(n_kinds // 2)]
    kinds += [with_changes(rng, kind, rng.uniform(0.04, 0.15)) for kind in kinds]
    shares = rng.lognormal(0, 1.5, len(kinds))
    chosen = rng.choice(len(kinds), n, p=shares / shares.sum())
    path.write_text("".join(f">r{k}\n{with_changes(rng, kinds[kind], 0.004)}\n" for k, kind in enumerate(chosen)))


def reads(path: Path, n: int) -> None:
    """Writes so many reads, the same each time."""
    rng, genes = np.random.default_rng(3), genes_16s()
    shares = rng.zipf(1.3, len(genes)).clip(max=400).astype(float)
    with path.open("w") as out:
        for k in range(n):
            gene = genes[rng.choice(len(genes), p=shares / shares.sum())]
            begin = 500 + int(rng.integers(-8, 9))
            text = gene[begin : begin + int(rng.integers(250, 451))]
            out.write(f">r{k}\n{with_changes(rng, text, rng.choice([0.0, 0.003, 0.01, 0.02]))}\n")


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
        SLOW: [
            *search, "--maxaccepts", "0", "--maxrejects", "0",
        ],
        "cd-hit-est": hits,
        "cd-hit-est -g 1": [*hits, "-g", "1"],
    }  # fmt: skip


def commands_of_many(path: Path, folder: Path) -> dict[str, list[str]]:
    """Commands for many kinds, a thread each."""
    own = [sys.executable, "-m", "tropalign.cli.main", "cluster", str(path), "-q", "-o", str(folder / "x.uc")]
    size = ["vsearch", "--cluster_size", str(path), "--id", "0.97", "--quiet", "--uc", str(folder / "x.uc")]
    return {
        "**tropalign cluster**, every representative considered": [*own, "--threads", "1"],
        "vsearch --cluster_size, as it is called": [*size, "--threads", "1"],
    }


def seconds(command: list[str], isa: str = "") -> float:
    """Processor time of a command, tropalign's with an instruction set."""
    before = os.times()
    variables = os.environ | ({"TROPALIGN_ISA": isa} if isa else {})
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=variables)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def n_clusters(folder: Path) -> int:
    """Representatives in what the last command wrote."""
    (written,) = [path for path in (folder / "x.uc", folder / "cd.clstr") if path.exists()]
    mark = "S\t" if written.suffix == ".uc" else ">Cluster"
    return sum(line.startswith(mark) for line in written.read_text().splitlines())


def rows_of(called: dict[str, list[str]], not_there: list[str], folder: Path, is_brief: bool) -> list[list[str]]:
    """A row per command that is there: clusters, tropalign's time by instruction set, and that of peers."""
    isas, rows = measured_isas(), []
    gone = {PROGRAMS[peer] for peer in not_there}
    for name, command in called.items():
        if command[0] in gone or (is_brief and name == SLOW):
            continue
        is_own = command[0] == sys.executable
        times = []
        for isa in isas if is_own else [""]:
            for old in ("x.uc", "cd.clstr"):
                (folder / old).unlink(missing_ok=True)
            taken = [seconds(command, isa) for _ in range(1 if name == SLOW else RUNS)]
            times.append(f"{statistics.median(taken):.2f} s")
        rows.append([name, f"{n_clusters(folder):,}", *([*times, "-"] if is_own else ["-"] * len(isas) + times)])
        print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    return rows


def write_page(n_reads: int, rows: list[list[str]], n_many: int, many: list[list[str]], not_there: list[str]) -> str:
    """The page, in Markdown."""
    isas = measured_isas()
    lines = ["# Clusters", "", f"Processor: {processor()}.", ""]
    lines += wrap(
        f"""`bench/cluster.py` draws {n_reads:,} reads of 250 to 450 nucleotides from 16S genes, with errors, and
        clusters them at 97 % identity. Processor time of whole commands (user and system, all threads); tropalign with
        each of these instruction sets: {", ".join(isas)}. `make bench-cluster` makes this page."""
    )
    heads = ["command", "clusters", *(f"processor time, {isa}" for isa in isas), "processor time"]
    lines += ["", *paragraph(not_there), *table(heads, rows), ""]
    lines += wrap(
        """The numbers of clusters differ because the definitions of identity do: by `columns`, gaps at the ends of
        shorter reads count. Without the bounds of [cluster](../cluster.md), a similar set of 5,000 reads took 15.7 s
        by the default identity, and 1.1 s with them, with the same clusters (a Zen 5 with AVX-512)."""
    )
    lines += ["", "## Many kinds", ""]
    lines += wrap(
        f"""{n_many:,} amplicons of some 250 nucleotides, with 0.4 % of errors, of {min(N_KINDS, n_many // 2):,}
        kinds, half of which are relatives of others at 4 to 15 %; one thread. The time that grows with the number of
        clusters is spent on counting the words in common with every representative."""
    )
    lines += ["", *table(heads, many)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measures, prints, and writes the page of a whole run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    n_reads, not_there = FEW if options.quick else N_READS, absent(PROGRAMS)
    with tempfile.TemporaryDirectory() as scratch:
        folder, n_many = Path(scratch), FEW if options.quick else N_AMPLICONS
        reads(folder / "reads.fa", n_reads)
        amplicons(folder / "amplicons.fa", n_many)
        called = commands(folder / "reads.fa", folder)
        rows = rows_of(called, not_there, folder, options.brief or options.quick)
        many = rows_of(commands_of_many(folder / "amplicons.fa", folder), not_there, folder, is_brief=False)
    text = write_page(n_reads, rows, n_many, many, not_there)
    publish(text, PAGE, options.output, "only a part was measured" if options.quick else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
