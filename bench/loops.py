"""One aligner on pairs of its own, a child process of users.py: seconds per pair, scores, cells.

Reads {"who", "pairs": [kind, numbers...], "at_least", "rounds"} from standard input and writes {"seconds", "scores",
"cells", and for lists by tropalign what shares.py finds} to standard output, both JSON. `pairs` is ["similar", n,
length, percent, share of substitutions] or ["random", n, length]: sets.py makes the same ones in every process. All
alignments are global, with CIGARs.

Peers take as many of the pairs as a loop of `at_least` seconds allows; parasail's variant is the faster of two.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Iterable

from sets import AMINO_ACIDS, similar_pairs
from shares import shares

Pair = tuple[str, str]
#: A gap's first residue and each of the others; 5/-4 for nucleotides, BLOSUM62 for proteins.
FIRST, FOLLOWING, MATCH, MISMATCH = {True: 11, False: 12}, 1, 5, -4


def pairs_of(kind: str, n: int, length: int, *others: float) -> list[Pair]:
    """The pairs of a request."""
    if kind == "similar":
        return similar_pairs(n, length, *others)
    rng = random.Random(1)
    return [tuple("".join(rng.choices(AMINO_ACIDS, k=length)) for _ in "ab") for _ in range(n)]


def tropalign_many(pairs: list[Pair], dna: bool) -> Callable[[], list[float]]:
    """All pairs in one call."""
    import tropalign

    def run() -> list[float]:
        table = tropalign.align_many(pairs, mode="global", n_threads=1, alphabet="nucleotide" if dna else "protein")
        table.cigars()
        return table.score.tolist()

    return run


def tropalign_one(dna: bool) -> Callable[[str, str], float]:
    """A call per pair."""
    import tropalign

    def align(a: str, b: str) -> float:
        found = tropalign.align(a, b, mode="global")
        return found.score + 0 * len(found.cigar)

    return align


def pywfa(dna: bool) -> Callable[[str, str], float]:
    """WFA2: a penalty is what all residues could score as matches less the score."""
    from pywfa import WavefrontAligner

    aligner = WavefrontAligner(
        match=0,
        mismatch=2 * (MATCH - MISMATCH),
        gap_opening=2 * (FIRST[dna] - FOLLOWING),
        gap_extension=2 * FOLLOWING + MATCH,
        scope="full",
        span="end-to-end",
        heuristic=None,
    )

    def align(a: str, b: str) -> float:
        aligner(b, a)
        return (MATCH * (len(a) + len(b)) + aligner.score) / 2 + 0 * len(aligner.cigartuples)

    return align


def edlib(dna: bool) -> Callable[[str, str], None]:
    """Unit costs, another problem: no scores."""
    import edlib as library

    def align(a: str, b: str) -> None:
        library.align(a, b, mode="NW", task="path")

    return align


def parasail(layout: str, dna: bool) -> Callable[[str, str], float]:
    """The C library through Python, 8 bits that widen where they must."""
    import parasail as library

    matrix = library.matrix_create("ACGT", MATCH, MISMATCH) if dna else library.blosum62
    function = getattr(library, f"nw_trace_{layout}_sat")

    def align(a: str, b: str) -> float:
        found = function(a, b, FIRST[dna], FOLLOWING, matrix)
        return found.score + 0 * len(found.cigar.decode)

    return align


def biopython(dna: bool) -> Callable[[str, str], float]:
    """Its PairwiseAligner."""
    from Bio.Align import PairwiseAligner, substitution_matrices

    aligner = PairwiseAligner()
    if dna:
        aligner.match_score, aligner.mismatch_score = MATCH, MISMATCH
    else:
        aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    aligner.open_gap_score, aligner.extend_gap_score = -FIRST[dna], -FOLLOWING

    def align(a: str, b: str) -> float:
        found = aligner.align(a, b)[0]
        return found.score

    return align


def choose(who: str, dna: bool, pair: Pair) -> Callable[[str, str], float | None]:
    """The function that aligns two texts."""
    if who == "parasail":
        variants = [parasail(layout, dna) for layout in ("striped", "scan")]
        return min(variants, key=lambda align: lap(align, [pair]))
    return {"tropalign, one by one": tropalign_one, "pywfa": pywfa, "edlib": edlib, "biopython": biopython}[who](dna)


def lap(align: Callable, pairs: Iterable[Pair]) -> float:
    """Processor time of a few calls."""
    begin = time.process_time()
    for a, b in pairs:
        align(a, b)
    return time.process_time() - begin


def per_pair(align: Callable, pairs: list[Pair], at_least: float, rounds: int) -> float:
    """Median of the seconds per pair; the clock is asked about every hundredth of `at_least` only."""
    once = max(lap(align, pairs[:1]), 1e-7)
    step = max(1, min(len(pairs), int(at_least / 100 / once)))
    measured = []
    for _ in range(rounds):
        n, passed, endless = 0, 0.0, itertools.cycle(pairs)
        while passed < at_least:
            passed += lap(align, itertools.islice(endless, step))
            n += step
        measured.append(passed / n)
    return sorted(measured)[rounds // 2]


def measure(who: str, pairs: list[Pair], dna: bool, at_least: float, rounds: int) -> dict[str, object]:
    """Seconds per pair, and the scores of the first pairs."""
    cells = sum(len(a) * len(b) for a, b in pairs) / len(pairs)
    if who == "tropalign":
        run = tropalign_many(pairs, dna)
        scores = run()
        seconds = per_pair(lambda a, b: run(), pairs[:1], at_least, rounds) / len(pairs)
        return {"seconds": seconds, "scores": scores, "cells": cells, **shares(run)}
    align = choose(who, dna, pairs[0])
    align(*pairs[0])  # what is made once
    begin, scores = time.process_time(), []
    for a, b in pairs:
        scores.append(align(a, b))
        if time.process_time() - begin > at_least:
            break
    return {"seconds": per_pair(align, pairs[: len(scores)], at_least, rounds), "scores": scores, "cells": cells}


def main() -> None:
    """One request."""
    request = json.load(sys.stdin)
    kind, *numbers = request["pairs"]
    try:
        out = measure(
            request["who"], pairs_of(kind, *numbers), kind == "similar", request["at_least"], request["rounds"]
        )
    except ImportError as error:
        out = {"missing": error.name}
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
