"""Pairs of similar sequences, which are aligned within a band: the same alignment as in the whole matrix."""

import random

import numpy as np
import pytest
from oracles.pairwise import FREE_ENDS, align
from pairwise.engines import codes

import tropalign as ta
from tropalign import _native

NAMES = ("score", "query_start", "query_end", "target_start", "target_end")
COUNTS = ("n_identical", "n_similar", "n_gaps", "n_columns", "cigar_ops", "cigar_offsets")
DEPTHS = {"score": 0, "ends": 1, "alignment": 2}


def changed(rng, text, share, longest_gap=4):
    """A copy in which that share of the places differs: substitutions, insertions and deletions."""
    out, k = [], 0
    while k < len(text):
        draw = rng.random() / share if share else 1
        if draw < 0.15:
            k += rng.randint(1, longest_gap)
        elif draw < 0.3:
            out.append("".join(rng.choices("ACGT", k=rng.randint(1, longest_gap))))
        elif draw < 1:
            out.append(rng.choice("ACGT"))
            k += 1
        else:
            out.append(text[k])
            k += 1
    return "".join(out)


def matrix(is_whole=False, match=5, mismatch=-4):
    """Scores of nucleotides. One beyond 8 bits, of letters that no sequence has, makes all pairs go without bands."""
    scores = np.array(ta.SubstitutionMatrix.match_mismatch(match, mismatch).scores, np.int32)
    if is_whole:
        n = codes(ta.NUCLEOTIDE, "N")[0]
        scores[n, n] = 300
    return scores


def columns(queries, targets, pairs, mode, report, scores, gap=(10, 1), free_ends=FREE_ENDS, **options):
    batches = [ta.SequenceBatch.from_strings(texts, alphabet=ta.NUCLEOTIDE) for texts in (queries, targets)]
    arrays = [array for batch in batches for array in (batch.codes, batch.offsets)]
    query, target = np.array(pairs, np.int64).T.copy()
    free = tuple(mode == "semiglobal" and end in free_ends for end in FREE_ENDS)
    options = {"n_threads": 1, "memory_bytes": 1 << 28} | options
    kind = "global" if mode == "semiglobal" else mode
    return _native.align_pairs(
        *arrays, query, target, scores, *gap, kind, free, DEPTHS[report], options["n_threads"], options["memory_bytes"]
    )


def assert_same(found, wanted, report):
    for name in NAMES[: 1 if report == "score" else None] + (COUNTS if report == "alignment" else ()):
        np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


@pytest.fixture(scope="module")
def sets():
    """Sequences, and similar ones; repeats, whose gaps may stand in many places; long gaps."""
    rng = random.Random(5)
    queries, targets = [], []
    for k in range(36):
        length = rng.randint(100, 900)
        text = "".join(rng.choices("ACGT", k=length))
        if k % 6 == 1:
            text = ("ACA" * length)[:length]
        if k % 6 == 2:
            text = "".join(letter * rng.randint(1, 6) for letter in text)[:length]
        share = (0, 0.01, 0.03, 0.06, 0.1)[k % 5]
        other = changed(rng, text, share, 30 if k % 6 == 3 else 4)
        if k % 6 == 4:
            cut = rng.randint(0, len(other) // 2)
            other = other[:cut] + other[cut + rng.randint(1, 40) :]
        queries.append(text)
        targets.append(other)
    return queries, targets, [(k, k) for k in range(36)]


@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
@pytest.mark.parametrize("gap", [(10, 1), (0, 3), (4, 0), (0, 0)])
def test_global(isa, sets, gap, report):
    wanted = columns(*sets, "global", report, matrix(is_whole=True), gap)
    found = columns(*sets, "global", report, matrix(), gap)
    assert_same(found, wanted, report)
    if gap == (10, 1):
        assert found["useful_cells"] < wanted["useful_cells"], "no bands"


@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
@pytest.mark.parametrize("n_free", [1, 2, 3, 4])
def test_semiglobal(isa, sets, n_free, report):
    rng = random.Random(n_free)
    for _ in range(4):
        free_ends = rng.sample(FREE_ENDS, n_free)
        options = {"free_ends": free_ends, "gap": rng.choice([(10, 1), (3, 2), (0, 3)])}
        wanted = columns(*sets, "semiglobal", report, matrix(is_whole=True), **options)
        assert_same(columns(*sets, "semiglobal", report, matrix(), **options), wanted, report)


def test_against_the_oracle(isa):
    rng = random.Random(6)
    queries = ["".join(rng.choices("ACGT", k=rng.randint(100, 140))) for _ in range(6)]
    queries += ["AC" * 60, "A" * 120]
    targets = [changed(rng, text, 0.05) for text in queries]
    pairs = [(k, k) for k in range(len(queries))]
    for mode in ("global", "semiglobal"):
        found = columns(queries, targets, pairs, mode, "alignment", matrix(), (6, 1))
        for k, (query, target) in enumerate(zip(queries, targets, strict=True)):
            expected = align(codes(ta.NUCLEOTIDE, query), codes(ta.NUCLEOTIDE, target), matrix(), 6, 1, mode)
            assert [found[name][k] for name in NAMES] == [getattr(expected, name) for name in NAMES]
            path = found["cigar_ops"][found["cigar_offsets"][k] : found["cigar_offsets"][k + 1]]
            assert "".join(f"{run >> 4}{'MIDNSHP=X'[run & 15]}" for run in path) == expected.cigar


def test_pairs_that_look_alike_and_are_not(isa):
    """Halves that changed places: words in common, but no band that would do."""
    rng = random.Random(7)
    queries = ["".join(rng.choices("ACGT", k=600)) for _ in range(8)]
    targets = [text[300:] + text[:300] for text in queries] + queries[::-1]
    pairs = [(a, b) for a in range(8) for b in range(16)]
    for report in ("score", "alignment"):
        found = columns(queries, targets, pairs, "global", report, matrix())
        assert_same(found, columns(queries, targets, pairs, "global", report, matrix(is_whole=True)), report)


def test_threads_and_memory_change_nothing(isa, sets):
    queries, targets, pairs = sets
    pairs = pairs + [(a, (a + 7) % len(targets)) for a in range(len(queries))]
    wanted = columns(queries, targets, pairs, "global", "alignment", matrix())
    for n_threads, memory_bytes in ((3, 1 << 28), (1, 1 << 20), (2, 12 << 20)):
        options = {"n_threads": n_threads, "memory_bytes": memory_bytes}
        found = columns(queries, targets, pairs, "global", "alignment", matrix(), **options)
        assert found["unit_bytes"] <= memory_bytes
        assert_same(found, wanted, "alignment")


def test_long_pairs(isa):
    rng = random.Random(8)
    text = "".join(rng.choices("ACGT", k=9000))
    queries, targets = [text, text], [changed(rng, text, 0.01), changed(rng, text, 0.1)]
    pairs = [(0, 0), (1, 1)]
    found = columns(queries, targets, pairs, "global", "alignment", matrix())
    wanted = columns(queries, targets, pairs, "global", "alignment", matrix(is_whole=True))
    assert_same(found, wanted, "alignment")
    assert found["useful_cells"] < 9000 * 9000, "no bands"
