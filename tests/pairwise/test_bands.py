"""Sequences longer than a band of rows or a block of columns, and units that have to fit little memory.

A score is swept in bands of 4096 rows, an alignment in one; both have to agree. Short sequences are parts of the long
ones, some across the border of two bands or blocks.
"""

import random
from functools import cache

import numpy as np
import pytest
from oracles.pairwise import align
from pairwise.engines import MODES, codes
from pairwise.test_kernels import matrix_scores

import tropalign as ta
from tropalign import _native

BAND = 4096
FREE_ENDS = [
    ("query-start", "query-end"),
    ("target-start", "target-end"),
    ("query-start", "query-end", "target-start", "target-end"),
    ("query-end",),
]


def parts(rng, long, count, longest):
    out = []
    for k in range(count):
        length = rng.randint(1, longest)
        begin = [0, len(long) - length, BAND - length // 2, rng.randrange(len(long) - length)][k % 4]
        piece = long[begin : begin + length]
        out.append("".join(letter if rng.random() < 0.8 else rng.choice("ARNDC") for letter in piece))
    return out


def scores(queries, targets, pairs, report, **options):
    batches = [ta.SequenceBatch.from_strings(texts, alphabet=ta.PROTEIN) for texts in (queries, targets)]
    tables = ta.align_all(*batches, pairs=np.array(pairs, np.int64), matrix="BLOSUM62", report=report, **options)
    return np.concatenate([table.score for table in tables])


@pytest.fixture(scope="module")
def sets():
    rng = random.Random(11)
    long = ["".join(rng.choices("ARNDCQEGHILKMFPSTWYV", k=k)) for k in (4097, 5000, 8200)]
    return long, parts(rng, long[0], 12, 60) + parts(rng, long[2], 12, 60)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gap", [(11, 1), (0, 3), (3, 0)])
def test_bands_of_rows(isa, sets, mode, gap):
    long, short = sets
    every = [(a, b) for a in range(len(long)) for b in range(len(short))]
    own = [(k % len(long), k) for k in range(len(short))]  # no two pairs in a row share their rows
    for pairs in (every, own):
        for free_ends in FREE_ENDS if mode == "semiglobal" else FREE_ENDS[:1]:
            options = {"mode": mode, "gap": ta.Gap(*gap), "free_ends": free_ends, "n_threads": 1}
            wanted = scores(long, short, pairs, "ends", **options)
            np.testing.assert_array_equal(scores(long, short, pairs, "score", **options), wanted)


@cache
def wanted_score(query, target, mode, free_ends):
    query, target = codes(ta.PROTEIN, query), codes(ta.PROTEIN, target)
    return align(query, target, matrix_scores("protein", "BLOSUM62"), 11, 1, mode, free_ends).score


@pytest.mark.parametrize("mode", MODES)
def test_blocks_of_columns(isa, sets, mode):
    """One short sequence against many long ones lies along the rows."""
    long, short = sets
    rng = random.Random(12)
    longer = [text[: rng.randint(BAND, len(text))] for text in long * 7]
    pairs = [(k % 2, b) for k in (0, 1) for b in range(len(longer))]
    for free_ends in FREE_ENDS if mode == "semiglobal" else FREE_ENDS[:1]:
        options = {"mode": mode, "gap": ta.Gap(11, 1), "free_ends": free_ends, "n_threads": 1}
        got = scores(short, longer, pairs, "score", **options)
        np.testing.assert_array_equal(got, scores(short, longer, pairs, "ends", **options))
        for k in (0, 5, len(pairs) - 1):
            assert got[k] == wanted_score(short[pairs[k][0]], longer[pairs[k][1]], mode, free_ends)


def native(queries, targets, mode, report, memory_bytes, n_threads=1):
    batches = [ta.SequenceBatch.from_strings(texts, alphabet=ta.NUCLEOTIDE) for texts in (queries, targets)]
    query, target = (index.ravel() for index in np.indices((len(queries), len(targets))))
    matrix = np.ascontiguousarray(ta.SubstitutionMatrix.match_mismatch(5, -4).scores, np.int32)
    arrays = [array for batch in batches for array in (batch.codes, batch.offsets)]
    depth = {"score": 0, "ends": 1, "alignment": 2}[report]
    free = (mode == "semiglobal",) * 4
    return _native.align_pairs(*arrays, query, target, matrix, 10, 1, mode, free, depth, n_threads, memory_bytes)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
def test_little_memory_changes_nothing(isa, mode, report):
    rng = random.Random(13)
    queries = ["".join(rng.choices("ACGT", k=rng.randint(250, 900))) for _ in range(20)]
    targets = [query[: rng.randint(50, 250)] for query in queries[:5]]
    wanted = native(queries, targets, mode, report, 1 << 30)
    swept = set()
    for memory_bytes in (1 << 14, 1 << 18, 1 << 20, 3 << 20, 20 << 20):
        if report == "alignment" and memory_bytes < 1 << 18:
            continue  # the paths alone take more
        for n_threads in (1, 5):
            got = native(queries, targets, mode, report, memory_bytes, n_threads)
            swept.add(got["swept_cells"])
            assert got["unit_bytes"] <= memory_bytes
            for name in wanted.keys() - {"swept_cells", "useful_cells", "unit_bytes", "walk_seconds", "unit_seconds"}:
                np.testing.assert_array_equal(got[name], wanted[name], err_msg=f"{name}, {memory_bytes} bytes")
    assert len(swept) > 1, "the limit changed nothing"


def test_memory_of_wide_units_and_of_paths(isa):
    """64 lanes of these alignments would take more than 64 MB at once; memory for them is there."""
    rng = random.Random(14)
    targets = ["".join(rng.choices("ACGT", k=k)) for k in range(1640, 1600, -1)]
    got = native(targets[:1], targets, "global", "alignment", 1 << 33)
    assert got["unit_bytes"] <= 72 << 20
    alone = [native(targets[:1], [target], "global", "alignment", 1 << 33) for target in targets]
    np.testing.assert_array_equal(got["score"], [one["score"][0] for one in alone])
    np.testing.assert_array_equal(got["cigar_ops"], np.concatenate([one["cigar_ops"] for one in alone]))
    queries = ["".join(rng.choices("ACGT", k=1000)) for _ in range(40)]
    with pytest.raises(MemoryError):
        native(queries, queries, "global", "alignment", 1 << 20)
    native(queries, queries, "global", "ends", 1 << 20)


@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
@pytest.mark.parametrize("shape", [(20, 200_000, 9), (20, 9, 200_000), (40, 60_000, 60), (3, 30_000, 30)])
def test_one_huge_sequence_against_many_short_ones(isa, shape, report):
    """The buffers stay within the limit, and a score's do not grow with the sequences."""
    count, length, other = shape
    queries, targets = ["A" * length], ["A" * other] * count
    if other > length:
        queries, targets = targets, queries
    for mode in ("local", "semiglobal"):
        got = native(queries, targets, mode, report, 24 << 20)
        assert got["unit_bytes"] <= 24 << 20
        assert (got["score"] == 5 * min(length, other)).all()
        if report == "score":
            assert got["unit_bytes"] <= 5 << 20
