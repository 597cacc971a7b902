#!/usr/bin/env python3
"""Tables of scores, embeddings and peptides: speed beside numba, NumPy's products and parasail, and accuracy.

    python bench/scores.py                   writes docs/benchmarks/scores.md
    python bench/scores.py --data DIR        also accuracy; DIR has reference alignments as FASTA (BAliBASE's RV11)

One thread and processor time, medians of three loops of at least 0.3 s. Peers: pip install numba parasail. A C++
compiler for the bare recurrence.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from absent import absent, paragraph
from bare import bare_of
from machine import measured_isas, processor
from tables import publish, table, wrap

import tropalign as ta

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "scores.md"
GAP = ta.Gap(11, 1)
#: Embeddings: vectors of this many numbers.
WIDTH = 1024
#: Random peptides of 10 to 20 residues, all pairs: how many, by report.
PEPTIDES = {"score": 20_000, "alignment": 4_000}
#: Pairs that parasail aligns.
PARASAIL_PAIRS = 2_000
#: Weights of neighbours in the smoothed scores, and the share of smoothed scores.
WINDOW, SHARE = (0.25, 0.5, 0.25), 0.5


def seconds_of(call: Callable[[], object]) -> float:
    """Processor time per call: the median of three loops."""
    call()
    loops = []
    for _ in range(3):
        begin, count = time.process_time(), 0
        while time.process_time() - begin < 0.3:
            call()
            count += 1
        loops.append((time.process_time() - begin) / count)
    return statistics.median(loops)


def tables_of(mixed: bool) -> list[np.ndarray]:
    """Random tables of 300 x 300, or of mixed lengths."""
    random = np.random.default_rng(1)
    shapes = random.integers(60, 600, (100, 2)) if mixed else np.full((100, 2), 300)
    return [random.integers(-6, 5, shape) for shape in shapes]


def loop() -> Callable[[np.ndarray], float] | None:
    """The local recurrence in numba, or None without numba."""
    if absent(modules={"numba": "numba"}):
        return None
    import numba

    @numba.njit(fastmath=True)
    def score(scores: np.ndarray) -> float:
        m, n = scores.shape
        h, f = np.zeros(n + 1, np.float32), np.full(n + 1, -1e9, np.float32)
        best = np.float32(0)
        for i in range(m):
            diagonal, e = np.float32(0), np.float32(-1e9)
            for j in range(1, n + 1):
                f[j] = max(f[j] - 1, h[j] - 12)
                e = max(e - 1, h[j - 1] - 12)
                here = max(diagonal + scores[i, j - 1], e, f[j], np.float32(0))
                diagonal, h[j] = h[j], here
                best = max(best, here)
        return best

    return score


def speeds() -> dict[str, float]:
    """Billions of cells per second of each case, on the instruction set of this process."""
    found = {}
    for mixed in (False, True):
        made = tables_of(mixed)
        cells = sum(one.size for one in made)
        for kind in ("float32", "int16"):
            some = [one.astype(kind) for one in made]
            for report in ("score", "alignment"):
                for mode in ("local", "global"):
                    options = {"gap": GAP, "mode": mode, "report": report, "n_threads": 1}
                    seconds = seconds_of(lambda some=some, options=options: ta.align_scores(some, **options))
                    found[f"{kind} {'60-600' if mixed else '300'} {mode} {report}"] = cells / seconds / 1e9
        for mode in ("local", "global"):
            some = [one.astype(np.float32) for one in made]
            options = {"gap": GAP, "mode": mode, "n_threads": 1}
            seconds = seconds_of(lambda some=some, options=options: ta.soft_align(some, **options))
            found[f"float32 {'60-600' if mixed else '300'} {mode} posteriors"] = cells / seconds / 1e9
        if (score := loop()) is not None:
            some = [one.astype(np.float32) for one in made]
            seconds = seconds_of(lambda some=some, score=score: [score(one) for one in some])
            found[f"numba {'60-600' if mixed else '300'}"] = cells / seconds / 1e9
    random = np.random.default_rng(2)
    vectors = [random.normal(size=(n, WIDTH)).astype(np.float32) for n in random.integers(100, 500, 20)]
    options = {"shift": 0.3, "gap": ta.Gap(0.5, 0.1), "n_threads": 1}
    products = seconds_of(lambda: [a @ b.T for k, a in enumerate(vectors) for b in vectors[k + 1 :]])
    found["embeddings"] = seconds_of(lambda: ta.align_embeddings(vectors, **options)) / products
    return found


def peptides() -> dict[str, float]:
    """Nanoseconds per pair of each case, parasail's, and the mean cells per pair."""
    random = np.random.default_rng(3)
    letters = list("ACDEFGHIKLMNPQRSTVWY")
    lengths = random.integers(10, 21, max(PEPTIDES.values()))
    texts = ["".join(random.choice(letters, n)) for n in lengths]
    found = {}
    for report, count in PEPTIDES.items():
        batch = ta.SequenceBatch.from_strings(texts[:count], alphabet=ta.PROTEIN)
        for mode in ("local", "global"):
            options = {"mode": mode, "report": report, "n_threads": 1, "device": "cpu"}

            def run(batch=batch, options=options) -> int:
                return sum(len(part) for part in ta.align_all(batch, gap=GAP, matrix="BLOSUM62", **options))

            found[f"{mode} {report}"] = 1e9 * seconds_of(run) / (count * (count - 1) / 2)
    if not absent(modules={"parasail": "parasail"}):
        import parasail

        pairs = list(zip(texts[:PARASAIL_PAIRS], texts[PARASAIL_PAIRS : 2 * PARASAIL_PAIRS], strict=True))
        for mode, kind in (("local", "sw"), ("global", "nw")):
            for report, how in (("score", "striped_sat"), ("alignment", "trace_striped_sat")):
                align = getattr(parasail, f"{kind}_{how}")

                def one_by_one(align=align, report=report) -> None:
                    for a, b in pairs:
                        result = align(a, b, 12, 1, parasail.blosum62)
                        _ = result.cigar.decode if report == "alignment" else result.score

                found[f"parasail {mode} {report}"] = 1e9 * seconds_of(one_by_one) / PARASAIL_PAIRS
    return {**found, "cells": float(lengths.mean()) ** 2}


def peptide_lines(by_isa: dict[str, dict[str, float]], bare: dict[str, dict[str, float | str]]) -> list[str]:
    """The section of peptides: nanoseconds per pair, and the share of the bare recurrence that scores reach."""
    rows = []
    for mode in ("local", "global"):
        for report in PEPTIDES:
            row = [mode, report]
            for isa, found in by_isa.items():
                took, text = found[f"{mode} {report}"], f"{found[f'{mode} {report}']:.0f}"
                limit = bare[isa].get(f"{mode} score")
                if report == "score" and isinstance(limit, float):
                    text += f" ({100 * found['cells'] / took / limit:.0f} %)"
                row.append(text)
            peer = next(iter(by_isa.values())).get(f"parasail {mode} {report}")
            rows.append([*row, "" if peer is None else f"{peer:,.0f}"])
    return ["", "## Peptides", "", *wrap(
        f"Nanoseconds per pair, for all pairs of {PEPTIDES['score']:,} random peptides of 10 to 20 residues (scores) "
        f"and of {PEPTIDES['alignment']:,} (alignments), BLOSUM62, gap costs 11 + k, from `align_all` to its tables. "
        "The share in brackets is that of the bare recurrence, which sweeps full vectors of long sequences and "
        "nothing else (`bench/bare.cpp`). parasail aligns one pair per call from Python."
    ), "", *table(["mode", "report", *by_isa, "parasail"], rows)]  # fmt: skip


def pairs_of_families(folder: Path) -> list[tuple[str, str]]:
    """Rows of the first and the third pair of each reference alignment."""
    found = []
    for path in sorted(folder.iterdir()):
        rows = ["".join(record.split("\n")[1:]) for record in path.read_text().split(">")[1:]]
        found += [(rows[k], rows[k + 1]) for k in (0, 2) if k + 1 < len(rows)]
    return [pair for pair in found if pairs_of_rows(*pair)]


def pairs_of_rows(query: str, target: str) -> set[tuple[int, int]]:
    """Pairs of residues in columns where both are upper case, as references mark those that are certain."""
    i = j = 0
    found = set()
    for a, b in zip(query, target, strict=True):
        if a.isupper() and b.isupper():
            found.add((i, j))
        i, j = i + (a not in "-."), j + (b not in "-.")
    return found


def smoothed(scores: np.ndarray) -> np.ndarray:
    """Mixes each score with the weighted mean of those of its neighbours along the diagonal."""
    wide = np.pad(scores, 1)
    m, n = scores.shape
    mean = sum(weight * wide[k : k + m, k : k + n] for k, weight in enumerate(WINDOW))
    return ((1 - SHARE) * scores + SHARE * mean).astype(np.float32)


def accuracies(folder: Path) -> dict[str, float]:
    """Mean share of the references' pairs of residues that are found."""
    rows, found = pairs_of_families(folder), {}
    texts = [[row.replace("-", "").replace(".", "").upper() for row in pair] for pair in rows]
    scores = ta.SubstitutionMatrix.from_name("BLOSUM62").scores.astype(np.float32)
    codes = [[ta.PROTEIN.encode(np.frombuffer(text.encode(), np.uint8))[0] for text in pair] for pair in texts]
    plain = [scores[np.ix_(*pair)] for pair in codes]
    for mode in ("local", "global"):
        for name, some in (("BLOSUM62", plain), ("smoothed", [smoothed(one) for one in plain])):
            shares = []
            for row, hit in zip(rows, ta.align_scores(some, gap=GAP, mode=mode), strict=True):
                places = {(int(a[0]), int(a[1])) for a in paired(hit)}
                wanted = pairs_of_rows(*row)
                shares.append(len(places & wanted) / len(wanted))
            found[f"{mode} {name}"] = statistics.mean(shares)
    return {"pairs": len(rows), **found}


def paired(hit: ta.Alignment) -> list[tuple[int, int]]:
    """Pairs of residues of an alignment."""
    i, j, found = hit.query_start, hit.target_start, []
    for operation, length in hit.operations():
        if operation > 2:
            found += [(i + k, j + k) for k in range(length)]
        i, j = i + length * (operation != 2), j + length * (operation != 1)
    return found


def page(
    by_isa: dict[str, dict[str, float]],
    of_peptides: dict[str, dict[str, float]],
    bare_rates: dict[str, dict[str, float | str]],
    accuracy: dict[str, float] | None,
) -> str:
    """The page of figures by instruction set."""
    peers = [name for name in ("numba",) if absent(modules={name: name})]
    lines = ["# Other scores", "", *wrap(
        "You can compare [tables of scores and embeddings](../other-scores.md) with a loop of the same recurrence in "
        f"numba, and with the products of the embeddings alone ({processor()}; `python bench/scores.py`). Figures are "
        "billions of cells per "
        "second on one core, from NumPy arrays to results, for 100 tables of 300 x 300 and of mixed lengths."
    ), "", *paragraph(peers)]  # fmt: skip
    first = next(iter(by_isa.values()))
    names = [name for name in first if name != "embeddings" and not name.startswith("numba")]
    head = ["table", "mode", "report", *by_isa]
    rows = []
    for name in names:
        kind, lengths, mode, report = name.split()
        rows.append([f"{kind}, {lengths}", mode, report, *(f"{found[name]:.2f}" for found in by_isa.values())])
    rows += [[f"numba, float32, {name.split()[1]}", "local", "score", *[f"{first[name]:.2f}"] * len(by_isa)]
             for name in first if name.startswith("numba")]  # fmt: skip
    lines += table(head, rows)
    ratios = ", ".join(f"{found['embeddings']:.2f} ({isa})" for isa, found in by_isa.items())
    lines += ["", *wrap(
        f"All pairs of 20 embeddings of 100 to 500 residues and {WIDTH} numbers, local alignments with cosines, take "
        f"{ratios} times the processor time of the products alone."
    )]  # fmt: skip
    lines += peptide_lines(of_peptides, bare_rates)
    if accuracy:
        lines += ["", "## Accuracy", "", *wrap(
            f"Share of the residue pairs of BAliBASE's RV11 (remote homologues, {accuracy['pairs']:.0f} pairs) that "
            "are found, with BLOSUM62, and with BLOSUM62 scores that are half the mean of the neighbours along the "
            "diagonal (weights 1/4, 1/2, 1/4), gap costs 11 + k:"
        ), ""]  # fmt: skip
        columns = ("BLOSUM62", "smoothed")
        lines += table(["mode", *columns], [[mode, *(f"{accuracy[f'{mode} {one}']:.3f}" for one in columns)]
                                             for mode in ("local", "global")])  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measures each instruction set in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of reference alignments")
    parser.add_argument("--output", type=Path, help="write the page here")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps({"tables": speeds(), "peptides": peptides()}))
        return 0
    by_isa, of_peptides, bare_rates = {}, {}, {}
    for isa in measured_isas():
        environment = {**os.environ, "TROPALIGN_ISA": isa, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, __file__, "--child"], env=environment, stdout=subprocess.PIPE, check=True
        )
        found = json.loads(done.stdout)
        by_isa[isa], of_peptides[isa] = found["tables"], found["peptides"]
        with tempfile.TemporaryDirectory() as scratch:
            bare_rates[isa] = bare_of(isa, argparse.Namespace(at_least=0.3, rounds=3), Path(scratch))
    accuracy = accuracies(options.data) if options.data else None
    publish(page(by_isa, of_peptides, bare_rates, accuracy), PAGE, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
