"""The oracle itself: against every path there is, and against Biopython and parasail."""

import random
from itertools import combinations

import numpy as np
import pytest
from Bio.Align import PairwiseAligner, substitution_matrices

from oracles.pairwise import FREE_ENDS, align, best_score, cigar_operations, rescore

BLOSUM62 = substitution_matrices.load("BLOSUM62")
LETTERS = "ARNDCQEGHILKMFPSTVWY"
FREE_SETS = [set(s) for k in range(5) for s in combinations(FREE_ENDS, k)]


def protein(rng, length):
    return "".join(rng.choice(LETTERS) for _ in range(length))


def codes(text):
    return [BLOSUM62.alphabet.index(letter) for letter in text]


def check_path(query, target, scores, gap_open, gap_extend, mode, free, expected):
    """The path gives the score and the ends, and leaves out residues only where that is free."""
    operations = cigar_operations(expected.cigar)
    rescored = rescore(
        query, target, scores, gap_open, gap_extend, operations, expected.query_start, expected.target_start
    )
    assert rescored == (expected.score, expected.query_end, expected.target_end)
    if mode != "local":
        free = free if mode == "semiglobal" else set()
        assert expected.query_start == 0 or "query-start" in free
        assert expected.target_start == 0 or "target-start" in free
        assert expected.query_end == len(query) or "query-end" in free
        assert expected.target_end == len(target) or "target-end" in free
        assert expected.query_start == 0 or expected.target_start == 0
        assert expected.query_end == len(query) or expected.target_end == len(target)


@pytest.mark.parametrize("gap", [(0, 0), (0, 1), (1, 0), (2, 1), (5, 2)])
@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
def test_best_of_all_paths(mode, gap):
    rng = random.Random(f"{mode}{gap}")
    for round_number in range(40):
        query = [rng.randrange(2) for _ in range(rng.randint(1, 4))]
        target = [rng.randrange(2) for _ in range(rng.randint(1, 4))]
        match, mismatch = rng.choice([(1, -1), (2, -3), (3, 0)])
        scores = [[match, mismatch], [mismatch, match]]
        free = FREE_SETS[round_number % len(FREE_SETS)]
        expected = align(query, target, scores, *gap, mode, free)
        assert expected.score == best_score(query, target, scores, *gap, mode, free)
        check_path(query, target, scores, *gap, mode, free, expected)


def biopython_aligner(gap_open, gap_extend, mode, free):
    aligner = PairwiseAligner(mode="local" if mode == "local" else "global", substitution_matrix=BLOSUM62)
    aligner.open_gap_score, aligner.extend_gap_score = -gap_open - gap_extend, -gap_extend
    if mode == "semiglobal":  # a residue of the query only is a deletion there: a gap in the target is its insertion
        names = {"query-start": "open_left_deletion_score", "query-end": "open_right_deletion_score"}
        names |= {"target-start": "open_left_insertion_score", "target-end": "open_right_insertion_score"}
        for end in free:
            setattr(aligner, names[end], 0)
            setattr(aligner, names[end].replace("open", "extend"), 0)
    return aligner


@pytest.mark.parametrize("gap", [(0, 1), (1, 1), (8, 2), (10, 0)])
@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
def test_scores_of_biopython(mode, gap):
    rng = random.Random(7)
    for free in FREE_SETS if mode == "semiglobal" else [set()]:
        for _ in range(2 if mode == "semiglobal" else 12):
            query, target = protein(rng, rng.randint(1, 50)), protein(rng, rng.randint(1, 50))
            expected = align(codes(query), codes(target), np.array(BLOSUM62), *gap, mode, free)
            assert expected.score == biopython_aligner(*gap, mode, free).score(query, target)
            check_path(codes(query), codes(target), np.array(BLOSUM62), *gap, mode, free, expected)


def test_scores_of_parasail():
    parasail = pytest.importorskip("parasail")
    functions = {"local": parasail.sw_scan_32, "global": parasail.nw_scan_32, "semiglobal": parasail.sg_scan_32}
    rng = random.Random(8)
    for mode, function in functions.items():
        for _ in range(10):
            query, target = protein(rng, rng.randint(1, 80)), protein(rng, rng.randint(1, 80))
            result = function(query, target, 11, 2, parasail.blosum62)
            assert align(codes(query), codes(target), np.array(BLOSUM62), 9, 2, mode).score == result.score


@pytest.mark.parametrize(
    ("query", "target", "mode", "cigar"),
    [
        ("AAAA", "AAA", "global", "1I3="),  # the diagonal first, seen from the end: the gap comes first
        ("AAA", "AAAA", "global", "1D3="),
        ("AACAA", "AATAA", "global", "2=1X2="),
        ("AAAA", "AAA", "semiglobal", "3="),
        ("A", "C", "local", "*"),
    ],
)
def test_ties_by_hand(query, target, mode, cigar):
    scores = np.where(np.eye(4, dtype=bool), 2, -1)
    assert align(["ACGT".index(x) for x in query], ["ACGT".index(x) for x in target], scores, 1, 1, mode).cigar == cigar


def test_end_cell_of_a_local_tie_is_the_smallest_in_the_shorter_sequence():
    scores = np.where(np.eye(4, dtype=bool), 2, -9)
    expected = align(
        [0, 3, 1, 1], [1, 2, 0], scores, 9, 1, "local"
    )  # A in R at 0 and C at 2; C in R at 2, 3 and C at 0
    assert (expected.query_start, expected.target_start) == (2, 0)


def test_free_ends_go_to_the_sequence_named():
    scores = np.where(np.eye(4, dtype=bool), 1, -1)
    query, target = [0, 1, 2, 3, 3], [2, 3, 3]
    assert align(query, target, scores, 5, 1, "semiglobal", {"query-start"}).cigar == "3="
    assert align(target, query, scores, 5, 1, "semiglobal", {"target-start"}).cigar == "3="
    assert align(target, query, scores, 5, 1, "semiglobal", {"query-start"}).score < 0
