#!/usr/bin/env python3
"""Placement of reads: tropalign beside PaPaRa 2.5, hmmalign and mafft --addfragments, in one run, one thread each.

    python bench/place.py                              writes docs/benchmarks/place.md
    python bench/place.py --papara /path/to/papara     PaPaRa measured too (built from github sim82/papara_nt)
    python bench/place.py --with-mafft                 mafft --addfragments too (minutes)

Reads and reference: gg1604 (802 16S sequences of 3,644 columns, 400 reads of about 100 bases) in --data, with the true
column of every base. Scoring rates are processor time of the native call, medians of three loops of at least 0.3 s;
commands are whole processes with -t 1, wall time, medians of three (PaPaRa, hmmalign and mafft: one).
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

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = ROOT / "docs" / "benchmarks" / "place.md"
COMMAND = [sys.executable, "-m", "tropalign.cli.main", "place"]
#: Tips and columns of the large reference, as those on which PaPaRa took 1.64 GB.
LARGE_TIPS, LARGE_COLUMNS = 4397, 4655


def measure(command: list[Any], cwd: Path | None = None) -> tuple[float, float]:
    """Wall seconds and peak memory in MB of a command."""
    begin = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(list(map(str, command)), stdout=nowhere, stderr=subprocess.PIPE, cwd=cwd)
        assert process.stderr is not None
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} failed: {error.decode()[-300:]}")
    return time.perf_counter() - begin, usage.ru_maxrss / 1000


def median_of_three(command: list[Any]) -> tuple[float, float]:
    """Medians of `measure`."""
    runs = [measure(command) for _ in range(3)]
    return statistics.median(seconds for seconds, _ in runs), statistics.median(memory for _, memory in runs)


def scoring_rates(data: Path) -> dict[str, float]:
    """GCUPS of scores alone by instruction set, every branch scored; and with pruning, of all cells nevertheless."""
    from tropalign import ReferencePackage, _native
    from tropalign.phylo.scoring import SCHEMES
    from tropalign.phylo.scorer import encoded

    package = ReferencePackage.read(data / "ref.phy.gz", data / "ref.nwk", n_threads=1)
    texts = [package.states.sets[np.frombuffer(text.encode(), np.uint8)] for text in reads_of(data).values()]
    codes, offsets, table = encoded(texts)
    cells = len(package.distinct) * len(package.columns) * len(codes)
    reference = (package.planes, package.n_distinct, package.n_empty, SCHEMES["program"].numbers())

    def run(bounds: Any) -> tuple[float, int]:
        begin = time.process_time()
        _, _, computed = _native.place_scores(*reference, codes, offsets, table, 8, bounds, 2, 1)
        return time.process_time() - begin, computed

    rates = {}
    for isa in _native.supported_isas():
        os.environ["TROPALIGN_ISA"] = isa
        rates[isa] = cells / statistics.median(run(None)[0] for _ in range(3)) / 1e9
    os.environ.pop("TROPALIGN_ISA", None)
    runs = [run(package.bounds) for _ in range(3)]
    rates["pruned"] = cells / statistics.median(seconds for seconds, _ in runs) / 1e9
    rates["computed"] = runs[0][1] / cells
    return rates


def reads_of(data: Path) -> dict[str, str]:
    """The reads by name."""
    records = (data / "reads_400.fasta").read_text().split(">")[1:]
    return {record.split(None, 1)[0]: "".join(record.split("\n")[1:]) for record in records}


def truth_of(data: Path) -> dict[str, list[int]]:
    """The true column of every base, -1 where it is in none."""
    with gzip.open(data / "reads_400.truth.tsv.gz", "rt") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return {name: list(map(int, columns.split(","))) for name, columns in rows}


def share_right(found: dict[str, list[int]], truth: dict[str, list[int]]) -> float:
    """Of all bases, those in their true column."""
    pairs = [(a, b) for name, columns in truth.items() for a, b in zip(found[name], columns, strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs)


def columns_of_rows(rows: dict[str, str], column_of: dict[int, int]) -> dict[str, list[int]]:
    """Of gapped rows the reference column of each letter, by the column of the output."""
    return {
        name: [column_of.get(k, -1) for k, letter in enumerate(row) if letter not in "-."] for name, row in rows.items()
    }


def fasta_rows(path: Path) -> dict[str, str]:
    """Rows by name."""
    records = path.read_text().split(">")[1:]
    return {record.split(None, 1)[0]: "".join(record.split("\n")[1:]) for record in records}


def output_columns(rows: dict[str, str], reference: dict[str, str]) -> dict[int, int]:
    """The reference's column of each column of an alignment that holds its rows, with or without new columns."""
    column_of: dict[int, int] = {}
    for name, row in reference.items():
        old = [k for k, letter in enumerate(row) if letter not in "-."]
        new = [k for k, letter in enumerate(rows[name]) if letter not in "-."]
        column_of.update(zip(new, old, strict=True))
    return column_of


def columns_found(data: Path) -> dict[str, list[int]]:
    """Of tropalign: the column of each base."""
    from tropalign import ReferencePackage, place

    package = ReferencePackage.read(data / "ref.phy.gz", data / "ref.nwk")
    (placed,) = place(package, data / "reads_400.fasta", device="cpu")
    return {name: placed.read(k)[1].tolist() for k, name in enumerate(placed.names)}


def with_papara(binary: Path, data: Path, folder: Path, reference: dict[str, str]) -> dict[str, Any]:
    """Its time, memory and columns."""
    shutil.copyfile(folder / "ref.phy", folder / "papara.phy")
    words = [
        binary.resolve(),
        "-t",
        data / "ref.nwk",
        "-s",
        "papara.phy",
        "-q",
        data / "reads_400.fasta",
        "-n",
        "x",
        "-f",
    ]
    seconds, memory = measure(words, folder)
    lines = (folder / "papara_alignment.x").read_text().splitlines()[1:]
    rows = dict(line.split() for line in lines if line.strip())
    found = columns_of_rows({name: rows[name] for name in reads_of(data)}, output_columns(rows, reference))
    return {"seconds": seconds, "memory": memory, "found": found}


def with_hmmalign(data: Path, folder: Path, reference: dict[str, str]) -> dict[str, Any]:
    """hmmbuild and hmmalign --mapali; letters in match columns count."""
    (folder / "hmm.fasta").write_text("".join(f">{name}\n{row}\n" for name, row in reference.items()))
    one, _ = measure(["hmmbuild", "--dna", "--cpu", 1, "-o", os.devnull, folder / "x.hmm", folder / "hmm.fasta"])
    words = ["hmmalign", "--dna", "--outformat", "afa", "-o", folder / "hmm.out", "--mapali", folder / "hmm.fasta"]
    other, memory = measure([*words, folder / "x.hmm", data / "reads_400.fasta"])
    rows = fasta_rows(folder / "hmm.out")
    column_of = output_columns(rows, reference)
    found = {
        name: [
            column_of.get(k, -1) if letter.isupper() else -1
            for k, letter in enumerate(rows[name])
            if letter not in "-."
        ]
        for name in reads_of(data)
    }
    return {"seconds": one + other, "memory": memory, "found": found}


def with_mafft(data: Path, folder: Path, reference: dict[str, str]) -> dict[str, Any]:
    """mafft --addfragments."""
    (folder / "mafft.fasta").write_text("".join(f">{name}\n{row}\n" for name, row in reference.items()))
    out = folder / "mafft.out"
    script = f"mafft --quiet --thread 1 --addfragments {data / 'reads_400.fasta'} {folder / 'mafft.fasta'} > {out}"
    seconds, memory = measure(["sh", "-c", script])
    rows = fasta_rows(out)
    found = columns_of_rows({name: rows[name] for name in reads_of(data)}, output_columns(rows, reference))
    return {"seconds": seconds, "memory": memory, "found": found}


def large_reference(data: Path, folder: Path) -> tuple[Path, Path]:
    """The example's tips, each a ladder of five or six copies with 5 % of their letters changed, on branches of 0.01;
    the first columns repeated at the end until there are LARGE_COLUMNS."""
    import tropalign.phylo.tree as trees
    from tropalign.formats.msa import read_alignment

    rng = random.Random(1)
    names, letters = read_alignment(data / "ref.phy.gz")
    letters = np.concatenate([letters, letters[:, : LARGE_COLUMNS - letters.shape[1]]], axis=1)
    tree = trees.read_tree(data / "ref.nwk")
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


def run(options: argparse.Namespace, folder: Path) -> list[str]:
    """Measures; returns the page."""
    data = options.data
    with gzip.open(data / "ref.phy.gz", "rt") as packed:
        text = packed.read()
    (folder / "ref.phy").write_text(text)
    reference = dict(line.split() for line in text.splitlines()[1:] if line.strip())
    reads, truth = data / "reads_400.fasta", truth_of(data)
    place = [*COMMAND, "--reference", folder / "ref.phy", "--tree", data / "ref.nwk", reads, "-q", "--device", "cpu"]
    outputs = ["-o", folder / "o.fasta", "--table", folder / "t.tsv"]
    rates = scoring_rates(data)
    print(rates, flush=True)
    table: dict[str, dict[str, Any]] = {}
    for name, words in (("tropalign", ["-t", 1]), ("tropalign, every branch scored", ["-t", 1, "--no-pruning"])):
        seconds, memory = median_of_three([*place, *outputs, *words])
        table[name] = {"seconds": seconds, "memory": memory, "found": columns_found(data)}
        print(name, seconds, memory, flush=True)
    two, _ = median_of_three([*place, *outputs, "-t", 2, "--no-pruning"])
    if options.papara:
        table["PaPaRa 2.5"] = with_papara(options.papara, data, folder, reference)
    if shutil.which("hmmalign"):
        table["hmmbuild, hmmalign"] = with_hmmalign(data, folder, reference)
    if options.with_mafft and shutil.which("mafft"):
        table["mafft --addfragments"] = with_mafft(data, folder, reference)
    best = [line.split("\t") for line in (data / "papara25_best.tsv").read_text().splitlines()[1:]]
    rows = [line.split("\t") for line in (folder / "t.tsv").read_text().splitlines() if not line.startswith("#")][1:]
    equal = sum(a[0] == b[0] and a[1:] == [b[1], b[3]] for a, b in zip(best, rows, strict=True))
    alignment, tree = large_reference(data, folder)
    few = folder / "few.fasta"
    few.write_text("".join(f">{name}\n{text}\n" for name, text in list(reads_of(data).items())[:40]))
    words = [
        *COMMAND,
        "--reference",
        alignment,
        "--tree",
        tree,
        few,
        "-q",
        "-o",
        folder / "l.fasta",
        "-t",
        1,
        "--device",
        "cpu",
    ]
    large_seconds, large_memory = measure(words)
    return page(rates, table, two, truth, equal, (large_seconds, large_memory))


def page(
    rates: dict[str, float], table: dict[str, Any], two: float, truth: Any, equal: int, large: tuple[float, float]
) -> list[str]:
    """The page, in Markdown."""
    names = {
        "v4vbmi": "AVX-512 (VBMI)",
        "v4": "AVX-512",
        "v3": "AVX2",
        "v2": "SSE4.2",
        "neon": "NEON",
        "generic": "plain C++",
    }
    lines = [
        "# Placement of reads: measured speed",
        "",
        "802 sequences of 3,644 columns (1,601 branches), 400 reads of 100 bases: 2.3 10^11 cells. One thread,",
        "`--device cpu`.",
        "`make bench-place` makes this page (PaPaRa with `python bench/place.py --papara PATH`).",
        "",
        "| scores alone | GCUPS | asked |",
        "|---|---|---|",
    ]
    asked = {"v4vbmi": "20", "v4": "20", "v3": "12"}
    lines += [f"| {names.get(isa, isa)} | {rates[isa]:.1f} | {asked.get(isa, '-')} |" for isa in rates if isa in names]
    lines += [
        f"| best, with pruning: cells stood for | {rates['pruned']:.1f} | - |",
        "",
        f"Pruning computes {rates['computed']:.0%} of the cells. Best branch and score are PaPaRa 2.5's in {equal} of "
        "400 reads.",
        "",
        "| whole command | seconds | over PaPaRa | peak memory, MB | bases in the true column |",
        "|---|---|---|---|---|",
    ]
    papara = table.get("PaPaRa 2.5", {}).get("seconds")
    for name, row in table.items():
        ratio = f"{papara / row['seconds']:.1f}x" if papara else "-"
        share = share_right(row["found"], truth)
        lines.append(f"| {name} | {row['seconds']:.2f} | {ratio} | {row['memory']:.0f} | {share:.2%} |")
    one = table["tropalign, every branch scored"]["seconds"]
    lines += [
        "",
        f"Two threads, every branch scored: {two:.2f} s, {one / two:.2f}x.",
        "",
        f"A reference of {LARGE_TIPS:,} tips and {LARGE_COLUMNS:,} columns (each tip of the example a ladder of five",
        "or six copies with 5 % of their letters changed; the first columns repeated at the end), 40 reads:",
        f"{large[0]:.1f} s, {large[1]:.0f} MB at most.",
    ]
    return lines


def main() -> None:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "place" / "gg1604")
    parser.add_argument("--papara", type=Path)
    parser.add_argument("--with-mafft", action="store_true")
    parser.add_argument("--output", type=Path, default=PAGE)
    options = parser.parse_args()
    if not (options.data / "reads_400.truth.tsv.gz").exists():
        sys.exit(f"the data are missing: {options.data}")
    with tempfile.TemporaryDirectory() as folder:
        lines = run(options, Path(folder))
    options.output.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
