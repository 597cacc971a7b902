#!/usr/bin/env python3
"""Placement of reads: tropalign beside PaPaRa 2.5, hmmalign and mafft --addfragments, in one run, one thread each.

    python bench/place.py --papara /path/to/papara     writes docs/benchmarks/place.md (PaPaRa: github sim82/papara_nt)
    python bench/place.py                              PaPaRa from the PATH; the page names the peers that are not there
    python bench/place.py --with-mafft                 mafft --addfragments too (minutes)
    python bench/place.py --quick                      eight reads, tropalign alone, to see that it works

A quick run writes no page but to --output. Exit status: 0, or 3 where data are missing.

Reads and reference: examples/16s (802 16S sequences of 3,644 columns, 400 reads of about 100 bases); the true column of
every base is in bench/data/place, PaPaRa's best branches are those of the tests. tropalign is measured with AVX2 (v3)
and with the processor's best instruction set. Scoring rates are processor time of the native call, medians of three;
commands are whole processes with -t 1, processor time, medians of three (PaPaRa, hmmalign and mafft: one; two threads:
wall time). --large DIR takes DIR/ref.phy, DIR/ref.nwk and DIR/reads.fasta for the large reference; without it one is
made of the example's.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from absent import absent
from machine import measured_isas, processor
from place_report import write_report
from tables import publish

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = ROOT / "docs" / "benchmarks" / "place.md"
EXAMPLE = ROOT / "examples" / "16s"
ALIGNMENT, TREE, READS = EXAMPLE / "ref.phy.gz", EXAMPLE / "ref.nwk", EXAMPLE / "reads.fasta"
TRUTH = HERE / "data" / "place" / "reads.truth.tsv.gz"
PAPARA_BEST = ROOT / "tests" / "placement" / "papara25_best.tsv"
COMMAND = [sys.executable, "-m", "tropalign.cli.main", "place"]
#: Tips and columns of the large reference, as those on which PaPaRa took 1.64 GB.
LARGE_TIPS, LARGE_COLUMNS = 4397, 4655
EVERY = "tropalign, every branch scored"


def measure(command: list[Any], cwd: Path | None = None, wall: bool = False, isa: str = "") -> tuple[float, float]:
    """Seconds of processor time (or of the clock) and peak memory in MB of a command, tropalign's with an `isa`."""
    variables = os.environ | ({"TROPALIGN_ISA": isa} if isa else {})
    begin = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        words = list(map(str, command))
        process = subprocess.Popen(words, stdout=nowhere, stderr=subprocess.PIPE, cwd=cwd, env=variables)
        assert process.stderr is not None
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} failed: {error.decode()[-300:]}")
    seconds = time.perf_counter() - begin if wall else usage.ru_utime + usage.ru_stime
    return seconds, usage.ru_maxrss / 1000


def median(command: list[Any], rounds: int, isa: str, wall: bool = False) -> tuple[float, float]:
    """Medians of `measure` over that many rounds."""
    runs = [measure(command, wall=wall, isa=isa) for _ in range(rounds)]
    return statistics.median(seconds for seconds, _ in runs), statistics.median(memory for _, memory in runs)


def scoring_rates(reads: Path) -> tuple[dict[str, tuple[float, float]], float]:
    """GCUPS of scores alone, and the share of cells that pruning leaves.

    By instruction set, every branch scored; and with pruning, of all cells nevertheless.
    """
    from tropalign import ReferencePackage, _native
    from tropalign.placement.scorer import encoded
    from tropalign.placement.scoring import SCHEMES

    package = ReferencePackage.read(ALIGNMENT, TREE, n_threads=1)
    texts = [package.states.sets[np.frombuffer(text.encode(), np.uint8)] for text in read_records(reads).values()]
    numbers, n_columns = SCHEMES["program"].numbers(), len(package.columns)
    texts = [text for text in texts if _native.place_word_bits(numbers, len(text), n_columns) == 8]  # nearly all
    codes, offsets, table = encoded(texts)
    cells = len(package.distinct) * len(package.columns) * len(codes)
    reference = (package.planes, package.n_distinct, package.n_empty, numbers)

    def run(bounds: Any) -> tuple[float, int]:
        begin = time.process_time()
        *_, computed = _native.place_scores(*reference, codes, offsets, table, 8, bounds, 2, 1, 1)
        return time.process_time() - begin, computed

    rates, computed = {}, 0
    for isa in measured_isas():
        os.environ["TROPALIGN_ISA"] = isa
        every, pruned = ([run(bounds) for _ in range(3)] for bounds in (None, package.bounds))
        rates[isa] = tuple(cells / statistics.median(seconds for seconds, _ in runs) / 1e9 for runs in (every, pruned))
        computed = pruned[0][1]
    os.environ.pop("TROPALIGN_ISA", None)
    return rates, computed / cells


def read_records(path: Path) -> dict[str, str]:
    """Letters of a FASTA file by name."""
    records = path.read_text().split(">")[1:]
    return {record.split(None, 1)[0]: "".join(record.split("\n")[1:]) for record in records}


def truth_of() -> dict[str, list[int]]:
    """The true column of every base, -1 where it is in none."""
    with gzip.open(TRUTH, "rt") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return {name: list(map(int, columns.split(","))) for name, columns in rows}


def columns_of_rows(rows: dict[str, str], column_of: dict[int, int]) -> dict[str, list[int]]:
    """Of gapped rows the reference column of each letter, by the column of the output."""
    return {
        name: [column_of.get(k, -1) for k, letter in enumerate(row) if letter not in "-."] for name, row in rows.items()
    }


def output_columns(rows: dict[str, str], reference: dict[str, str]) -> dict[int, int]:
    """The reference's column of each column of an alignment that holds its rows, with or without new columns."""
    column_of: dict[int, int] = {}
    for name, row in reference.items():
        old = [k for k, letter in enumerate(row) if letter not in "-."]
        new = [k for k, letter in enumerate(rows[name]) if letter not in "-."]
        column_of.update(zip(new, old, strict=True))
    return column_of


def columns_found(reads: Path) -> dict[str, list[int]]:
    """Of tropalign: the column of each base."""
    from tropalign import ReferencePackage, place

    package = ReferencePackage.read(ALIGNMENT, TREE)
    (placed,) = place(package, reads, device="cpu")
    return {name: placed.read(k)[1].tolist() for k, name in enumerate(placed.names)}


def with_papara(binary: Path, reads: Path, folder: Path, reference: dict[str, str]) -> dict[str, Any]:
    """Its time, memory and columns."""
    shutil.copyfile(folder / "ref.phy", folder / "papara.phy")
    words = [
        binary.resolve(),
        "-t",
        TREE,
        "-s",
        "papara.phy",
        "-q",
        reads,
        "-n",
        "x",
        "-f",
    ]
    seconds, memory = measure(words, folder)
    lines = (folder / "papara_alignment.x").read_text().splitlines()[1:]
    rows = dict(line.split() for line in lines if line.strip())
    found = columns_of_rows({name: rows[name] for name in read_records(reads)}, output_columns(rows, reference))
    return {"seconds": seconds, "memory": memory, "found": found}


def with_hmmalign(reads: Path, folder: Path, reference: dict[str, str]) -> dict[str, Any]:
    """hmmbuild and hmmalign --mapali; letters in match columns count."""
    (folder / "hmm.fasta").write_text("".join(f">{name}\n{row}\n" for name, row in reference.items()))
    one, _ = measure(["hmmbuild", "--dna", "--cpu", 1, "-o", os.devnull, folder / "x.hmm", folder / "hmm.fasta"])
    words = ["hmmalign", "--dna", "--outformat", "afa", "-o", folder / "hmm.out", "--mapali", folder / "hmm.fasta"]
    other, memory = measure([*words, folder / "x.hmm", reads])
    rows = read_records(folder / "hmm.out")
    column_of = output_columns(rows, reference)
    found = {
        name: [
            column_of.get(k, -1) if letter.isupper() else -1
            for k, letter in enumerate(rows[name])
            if letter not in "-."
        ]
        for name in read_records(reads)
    }
    return {"seconds": one + other, "memory": memory, "found": found}


def with_mafft(reads: Path, folder: Path, reference: dict[str, str]) -> dict[str, Any]:
    """mafft --addfragments."""
    (folder / "mafft.fasta").write_text("".join(f">{name}\n{row}\n" for name, row in reference.items()))
    out = folder / "mafft.out"
    script = f"mafft --quiet --thread 1 --addfragments {reads} {folder / 'mafft.fasta'} > {out}"
    seconds, memory = measure(["sh", "-c", script])
    rows = read_records(out)
    found = columns_of_rows({name: rows[name] for name in read_records(reads)}, output_columns(rows, reference))
    return {"seconds": seconds, "memory": memory, "found": found}


def large_reference(folder: Path) -> tuple[Path, Path]:
    """Alignment and tree of a large reference.

    They are the example's tips, each a ladder of five or six copies with 5 % of their letters changed, on branches of
    0.01; the first columns are repeated at the end until there are LARGE_COLUMNS.
    """
    import tropalign.placement.tree as trees
    from tropalign.sequences.aligned_files import read_alignment

    rng = random.Random(1)
    names, letters = read_alignment(ALIGNMENT)
    letters = np.concatenate([letters, letters[:, : LARGE_COLUMNS - letters.shape[1]]], axis=1)
    tree = trees.read_tree(TREE)
    text = {}
    rows = []
    tips = tree.tips
    for k, tip in enumerate(tips):
        copies = LARGE_TIPS * (k + 1) // len(tips) - LARGE_TIPS * k // len(tips)
        row = bytes(letters[names.index(tree.names[tip])])
        made = ""
        for copy in range(copies):
            name = f"{tree.names[tip]}_{copy}"
            mutated = bytes(rng.choice(b"ACGT") if c != 45 and rng.random() < 0.05 else c for c in row)
            rows.append((name, mutated))
            made = f"{name}:0.01" if not made else f"({made},{name}:0.01):0.01"
        text[tip] = f"({made}):{tree.lengths[tip]}" if copies == 1 else f"{made.rsplit(':', 1)[0]}:{tree.lengths[tip]}"
    for node in range(len(tree.children) - 1, -1, -1):
        if tree.children[node]:
            text[node] = f"({','.join(text[child] for child in tree.children[node])}):{tree.lengths[node]}"
    (folder / "large.nwk").write_text(text[0].rsplit(":", 1)[0] + ";\n")
    with open(folder / "large.phy", "w") as out:
        out.write(f"{len(rows)} {LARGE_COLUMNS}\n")
        out.writelines(f"{name} {row.decode()}\n" for name, row in rows)
    return folder / "large.phy", folder / "large.nwk"


def commands(reads: Path, folder: Path, rounds: int) -> tuple[dict[str, dict[str, Any]], tuple[float, float]]:
    """Times, memory and columns of tropalign with one thread; the times of one and two with every branch scored.

    Times are by instruction set, memory and those of two threads with the first one.
    """
    place = [*COMMAND, "--reference", folder / "ref.phy", "--tree", TREE, reads, "-q", "--device", "cpu"]
    place += ["-o", folder / "o.fasta", "--table", folder / "t.tsv"]
    table: dict[str, dict[str, Any]] = {}
    ways = {"tropalign": [], "tropalign, both strands": ["--strand", "both"], EVERY: ["--no-pruning"]}
    isas = measured_isas()
    for name, words in ways.items():
        runs = {isa: median([*place, *words, "-t", 1], rounds, isa) for isa in isas}
        own = {isa: seconds for isa, (seconds, _) in runs.items()}
        table[name] = {"own": own, "memory": runs[isas[0]][1], "found": columns_found(reads)}
        print(name, runs, flush=True)
    one, two = (median([*place, "-t", n, "--no-pruning"], rounds, isas[0], wall=True)[0] for n in (1, 2))
    return table, (one, two)


def equal_to_papara(table: Path) -> int:
    """How many of the reads in tropalign's table have PaPaRa 2.5's best branch and score."""
    best = {name: row for name, *row in (line.split("\t") for line in PAPARA_BEST.read_text().splitlines()[1:])}
    lines = [line.split("\t") for line in table.read_text().splitlines() if not line.startswith("#")][1:]
    return sum([row[1], row[3]] == best[row[0]] for row in lines)


def large(reads: Path, folder: Path, given: Path | None, rounds: int) -> list[str]:
    """Time and memory of forty reads in the large reference, as lines of the page."""
    lines = [f"The reference of {given}, 40 reads:"]
    if given is None:
        alignment, tree = large_reference(folder)
        lines = [
            f"A reference of {LARGE_TIPS:,} tips and {LARGE_COLUMNS:,} columns (each tip of the example a ladder",
            "of five or six copies with 5 % of their letters changed; the first columns repeated at the end),",
            "40 reads:",
        ]
    else:
        alignment, tree, reads = given / "ref.phy", given / "ref.nwk", given / "reads.fasta"
    few = folder / "few.fasta"
    few.write_text("".join(f">{name}\n{text}\n" for name, text in list(read_records(reads).items())[:40]))
    words = ["--reference", alignment, "--tree", tree, few, "-q", "-o", folder / "l.fasta", "-t", 1, "--device", "cpu"]
    runs = {isa: median([*COMMAND, *words], rounds, isa) for isa in measured_isas()}
    times = ", ".join(f"{seconds:.2f} s with {isa}" for isa, (seconds, _) in runs.items())
    return [*lines, f"{times}; {max(memory for _, memory in runs.values()):.0f} MB at most."]


def run(options: argparse.Namespace, folder: Path) -> list[str]:
    """Measures; returns the page."""
    with gzip.open(ALIGNMENT, "rt") as packed:
        text = packed.read()
    (folder / "ref.phy").write_text(text)
    reference = dict(line.split() for line in text.splitlines()[1:] if line.strip())
    reads = folder / "reads.fasta"
    chosen = list(read_records(READS).items())[: 8 if options.quick else None]
    reads.write_text("".join(f">{name}\n{letters}\n" for name, letters in chosen))
    truth = {name: columns for name, columns in truth_of().items() if name in dict(chosen)}
    rates = scoring_rates(reads)
    print(rates, flush=True)
    table, by_threads = commands(reads, folder, 1 if options.quick else 3)
    not_there = absent(programs(options))
    if not options.quick:
        for name, with_peer in PEERS.items():
            if name in programs(options) and name not in not_there:
                table[name] = with_peer(options, reads, folder, reference)
                print(name, table[name]["seconds"], flush=True)
    equal = equal_to_papara(folder / "t.tsv")
    others = None if options.quick else large(reads, folder, options.large, 3)
    return write_report(processor(), rates, table, by_threads, truth, equal, others, not_there)


#: Peers by their names in the table.
PEERS = {
    "PaPaRa 2.5": lambda options, *others: with_papara(Path(shutil.which(papara_of(options))), *others),
    "hmmbuild, hmmalign": lambda options, *others: with_hmmalign(*others),
    "mafft --addfragments": lambda options, *others: with_mafft(*others),
}


def papara_of(options: argparse.Namespace) -> str:
    """Its path, or its name."""
    return str(options.papara or "papara")


def programs(options: argparse.Namespace) -> dict[str, str]:
    """The programs of the peers that are asked for."""
    wanted = dict(zip(PEERS, (papara_of(options), "hmmalign", "mafft"), strict=True))
    return {name: program for name, program in wanted.items() if program != "mafft" or options.with_mafft}


def main() -> int:
    """Measures, prints, and writes the page of a whole run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papara", type=Path)
    parser.add_argument("--with-mafft", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--large", type=Path, metavar="DIR", help="a large reference with reads")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    lacking = [path for path in (ALIGNMENT, TREE, READS, TRUTH, PAPARA_BEST) if not path.exists()]
    if lacking:
        print(f"the data are missing: {', '.join(map(str, lacking))}", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(run(options, Path(folder))) + "\n"
    publish(text, PAGE, options.output, "only a part was measured" if options.quick else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
