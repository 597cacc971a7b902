"""Every kernel, on every instruction set of this machine, against the plain recurrence."""

import os
import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.pairwise import FREE_ENDS, align, cigar_operations, rescore
from pairwise.engines import (
    AMINO_ACIDS,
    FREE_SETS,
    MODES,
    Engine,
    align_here,
    assert_same,
    check_engines,
    codes,
    environment,
    rows,
)  # fmt: skip

import tropalign

GAPS = [(0, 0), (0, 1), (1, 0), (3, 1), (8, 2), (11, 1), (0, 5), (20, 10), (60, 0), (100, 30)]
PROTEIN = "ARNDCQEGHILKMFPSTWYVBZX*"
ALPHABETS = {"protein": tropalign.PROTEIN, "nucleotide": tropalign.NUCLEOTIDE}
#: Letters of a case's sequences; two or one make ties the rule rather than the exception.
POOLS = {"protein": [PROTEIN, AMINO_ACIDS, "WC", "AG", "W"], "nucleotide": ["ACGT", "ACGTRYSWKMBDHVN", "AC", "A"]}


def matrix_scores(kind, matrix):
    if kind == "protein":
        return tropalign.SubstitutionMatrix.from_name(matrix).scores
    return tropalign.SubstitutionMatrix.match_mismatch(*matrix).scores


def matrix_options(kind, matrix):
    if kind == "protein":
        return {"protein": True, "matrix": matrix}
    return {"protein": False, "match": matrix[0], "mismatch": matrix[1]}


def expected_rows(kind, queries, targets, matrix, gap, mode, free_ends):
    pairs = combinations(queries, 2) if targets is None else ((q, t) for q in queries for t in targets)
    scores, alphabet = matrix_scores(kind, matrix), ALPHABETS[kind]
    return [align(codes(alphabet, q), codes(alphabet, t), scores, *gap, mode, free_ends) for q, t in pairs]


def check(engines, kind, queries, targets, matrix, gap, mode, free_ends=FREE_ENDS):
    expected = expected_rows(kind, queries, targets, matrix, gap, mode, free_ends)
    options = {**matrix_options(kind, matrix), "gap": gap, "mode": mode, "free_ends": tuple(free_ends), "n_threads": 1}
    check_engines(engines, queries, targets, expected, **options)


@st.composite
def sequence_sets(draw, longest, most):
    kind = draw(st.sampled_from(["protein", "nucleotide"]))
    letters = draw(st.sampled_from(POOLS[kind]))
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    lengths = draw(st.lists(st.integers(1, longest), min_size=2, max_size=most))
    sequences = []
    for length in lengths:
        if sequences and rng.random() < 0.5:
            base = list(rng.choice(sequences))
            for _ in range(rng.randint(0, 6)):
                at = rng.randrange(len(base))
                base[at : at + rng.randint(0, 12)] = [rng.choice(letters) for _ in range(rng.randint(0, 12))]
                base = base or [rng.choice(letters)]
            sequences.append("".join(base)[:longest])
        else:
            sequences.append("".join(rng.choice(letters) for _ in range(length)))
    return kind, sequences


def matrices(kind):
    if kind == "protein":
        return st.sampled_from(["BLOSUM50", "BLOSUM62", "PAM250", "BLOSUM90"])
    return st.sampled_from([(5, -4), (1, -1), (2, -3), (1, 0), (0, -1), (60, -40)])


slow = settings(max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))


@slow
@given(data=st.data(), mode=st.sampled_from(MODES), gap=st.sampled_from(GAPS), free_ends=st.sampled_from(FREE_SETS))
def test_small_sets(engines, data, mode, gap, free_ends):
    kind, sequences = data.draw(sequence_sets(longest=24, most=14))
    check(engines, kind, sequences, None, data.draw(matrices(kind)), gap, mode, free_ends)


@settings(slow, max_examples=25)
@given(data=st.data(), mode=st.sampled_from(MODES), gap=st.sampled_from(GAPS), free_ends=st.sampled_from(FREE_SETS))
def test_queries_against_targets(engines, data, mode, gap, free_ends):
    kind, sequences = data.draw(sequence_sets(longest=40, most=12))
    n_queries = data.draw(st.integers(1, len(sequences) - 1))
    queries, targets = sequences[:n_queries], sequences[n_queries:]
    check(engines, kind, queries, targets, data.draw(matrices(kind)), gap, mode, free_ends)


@settings(slow, max_examples=12)
@given(data=st.data(), mode=st.sampled_from(MODES), gap=st.sampled_from(GAPS), free_ends=st.sampled_from(FREE_SETS))
def test_up_to_300_residues(engines, data, mode, gap, free_ends):
    kind, sequences = data.draw(sequence_sets(longest=300, most=4))
    check(engines, kind, sequences, None, data.draw(matrices(kind)), gap, mode, free_ends)


@pytest.mark.parametrize("free_ends", FREE_SETS, ids=lambda ends: "+".join(ends) or "none")
def test_every_set_of_free_ends(engines, free_ends):
    rng = random.Random(str(free_ends))
    for letters in ("AC", "ACGT"):
        sequences = ["".join(rng.choice(letters) for _ in range(rng.randint(1, 20))) for _ in range(13)]
        for gap in [(0, 1), (2, 1), (0, 0)]:
            check(engines, "nucleotide", sequences, None, (1, -1), gap, "semiglobal", free_ends)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gap", GAPS)
def test_full_vectors(engines, mode, gap):
    """More pairs per sequence than any vector has lanes, of lengths far apart."""
    rng = random.Random(f"{mode}{gap}")
    targets = ["".join(rng.choice("ACGT") for _ in range(rng.randint(1, 18))) for _ in range(75)]
    check(engines, "nucleotide", ["ACCA", "GATTACAGATTACAC"], targets, (2, -1), gap, mode)


@pytest.mark.parametrize(("row_letters", "lengths"), [(300, (3, 9)), (6, (140, 150)), (135, (136, 138))])
def test_equally_good_ends_in_full_vectors(engines, row_letters, lengths):
    """A sweep numbers rows in parts of 128; the sequence that all lanes share is the longer one, or the shorter."""
    rng = random.Random(row_letters)
    query = "".join(rng.choice("ACGT") for _ in range(row_letters))
    targets = ["".join(rng.choice("ACGT") for _ in range(rng.randint(*lengths))) for _ in range(66)]
    check(engines, "nucleotide", [query], targets, (1, -2), (3, 2), "local")


@pytest.mark.parametrize("mode", MODES)
def test_equal_lengths_put_the_query_in_the_rows(engines, mode):
    rng = random.Random(mode)
    sequences = ["".join(rng.choice("AC") for _ in range(9)) for _ in range(14)]
    check(engines, "nucleotide", sequences, sequences[::-1], (1, -1), (1, 1), mode)


def relatives(rng, letters, length, count):
    first = [rng.choice(letters) for _ in range(length)]
    out = []
    for _ in range(count):
        copy = list(first)
        for _ in range(length // 25):
            copy[rng.randrange(len(copy))] = rng.choice(letters)
        del copy[length // 3 : length // 3 + rng.randint(0, 9)]
        out.append("".join(copy))
    return out


@pytest.mark.parametrize("mode", MODES)
def test_scores_beyond_8_bits(engines, mode):
    """Some lanes of a vector saturate, others do not."""
    rng = random.Random(3)
    sequences = relatives(rng, AMINO_ACIDS, 150, 4)
    sequences += ["".join(rng.choice(AMINO_ACIDS) for _ in range(120)) for _ in range(3)]
    expected = expected_rows("protein", sequences, None, "BLOSUM62", (11, 1), mode, FREE_ENDS)
    scores = [row.score for row in expected]
    assert max(scores) > 255 > min(scores)
    check(engines, "protein", sequences, None, "BLOSUM62", (11, 1), mode)


@pytest.mark.parametrize(
    "around", [112, 120, 127, 128, 129, 192, 240, 248, 250, 252, 254, 255, 256, 257, 258, 260, 264]
)
def test_scores_at_the_edge_of_8_bits(engines, around):
    """Scores one apart on both sides of where 8 bits end, whatever zero is stored as."""
    sequences = ["A" * (around + k) for k in range(-2, 3)]
    for match, gap in [(1, (1, 1)), (1, (0, 0)), (2, (40, 3))]:
        options = {"protein": False, "match": match, "mismatch": -1, "gap": gap, "mode": "local"}
        for engine in engines:
            columns = engine.align(sequences, None, report="score", **options)
            wanted = [match * min(len(a), len(b)) for a, b in combinations(sequences, 2)]
            assert columns["score"].tolist() == wanted, engine.isa
            full = engine.align(sequences, None, **options)
            assert full["score"].tolist() == wanted, engine.isa
            assert full["n_identical"].tolist() == [score // match for score in wanted], engine.isa


@pytest.mark.parametrize("mode", MODES)
def test_scores_beyond_16_bits(engines, mode):
    """A long pair of relatives; and the same, short, with scores of thousands a residue, against the oracle."""
    sequences = relatives(random.Random(4), "WCHY", 4200, 2)
    options = {"matrix": "BLOSUM62", "gap": (11, 1), "mode": mode}
    by_isa = [engine.align(sequences, None, **options) for engine in engines]
    assert by_isa[0]["score"][0] > 32767
    for engine, columns in zip(engines, by_isa, strict=True):
        assert_same(columns, by_isa[0])
        row = rows(columns)[0]
        scores = tropalign.SubstitutionMatrix.from_name("BLOSUM62").scores
        a, b = (codes(tropalign.PROTEIN, text) for text in sequences)
        operations = cigar_operations(row.cigar)
        rescored = rescore(a, b, scores, 11, 1, operations, row.query_start, row.target_start)
        assert rescored == (row.score, row.query_end, row.target_end), engine.isa
        assert engine.align(sequences, None, report="score", **options)["score"][0] == row.score
    check(engines, "nucleotide", relatives(random.Random(5), "ACGT", 60, 4), None, (3000, -2000), (5000, 700), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("matrix", "gap"),
    [((100, -100), (120, 10)), ((120, -3), (0, 0)), ((1, -128), (2, 1)), ((127, 126), (1, 1)), ((40, -30), (127, 127)),
     ((20000, -20000), (30000, 9)), ((1, -1), (1000000, 1)), ((5, -4), (0, 100000)), ((0, 0), (0, 0)),
     ((-1, -2), (3, 1))],
)  # fmt: skip
def test_extreme_scoring(engines, matrix, gap, mode):
    rng = random.Random(6)
    sequences = ["".join(rng.choice("ACN") for _ in range(rng.randint(1, 15))) for _ in range(9)]
    check(engines, "nucleotide", sequences, None, matrix, gap, mode)


def test_letters_of_every_code(engines):
    proteins = [PROTEIN, PROTEIN[::-1], PROTEIN[5:] + PROTEIN[:5], "*", "x*b"]
    check(engines, "protein", proteins, None, "BLOSUM62", (4, 1), "local")
    every = tropalign.NUCLEOTIDE.letters
    check(engines, "nucleotide", [every, every[::-1], "acgtu", "UUUU", "TTTT"], None, (5, -4), (4, 1), "global")


@pytest.mark.parametrize("mode", MODES)
def test_threads_and_tiles_change_nothing(engines, mode):
    rng = random.Random(7)
    sequences = ["".join(rng.choice(AMINO_ACIDS) for _ in range(rng.randint(1, 160))) for _ in range(70)]
    sequences += relatives(rng, AMINO_ACIDS, 200, 5)
    options = {"matrix": "BLOSUM62", "gap": (11, 1), "mode": mode}
    for engine in engines[:1]:
        first = engine.align(sequences, None, n_threads=1, **options)
        for n_threads in (2, 3, 8):
            assert_same(engine.align(sequences, None, n_threads=n_threads, **options), first)
    for engine in engines[1:]:
        assert_same(engine.align(sequences, None, n_threads=2, **options), first)
    with environment(TROPALIGN_TILE_PAIRS="333"):
        small_tiles = align_here(sequences, None, {**options, "n_threads": 2})
    assert_same(small_tiles, first)
    pairs = np.array([(a, b) for a in range(75) for b in range(75) if (a * b) % 7 == 3], np.int64)[::-1]
    listed = engines[0].align(sequences, sequences, pairs=np.ascontiguousarray(pairs), **options)
    assert (listed["query_index"].tolist(), listed["target_index"].tolist()) == (
        pairs[:, 0].tolist(),
        pairs[:, 1].tolist(),
    )
    places = {pair: k for k, pair in enumerate(combinations(range(75), 2))}
    above = [(k, places[a, b]) for k, (a, b) in enumerate(pairs.tolist()) if a < b]
    for name in ("score", "query_start", "target_end", "cigar"):
        assert listed[name][[k for k, _ in above]].tolist() == first[name][[k for _, k in above]].tolist()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lengths", [(3000, 2900), (6000, 40), (1500, 1)])
def test_long_pairs(engines, mode, lengths):
    """Pairs too long or too few to fill a vector, under a memory limit that holds no matrix of directions."""
    rng = random.Random(str(lengths))
    long = "".join(rng.choice("ACGT") for _ in range(lengths[0]))
    begin = rng.randrange(lengths[0] - lengths[1] + 1)
    short = "".join(letter if rng.random() < 0.9 else rng.choice("ACGT") for letter in long[begin : begin + lengths[1]])
    for queries, targets in ([long], [short]), ([short], [long]):
        options = {"protein": False, "match": 5, "mismatch": -4, "gap": (10, 1), "mode": mode}
        by_isa = [engine.align(queries, targets, **options) for engine in engines]
        scores = matrix_scores("nucleotide", (5, -4))
        a, b = codes(tropalign.NUCLEOTIDE, queries[0]), codes(tropalign.NUCLEOTIDE, targets[0])
        if lengths[0] * lengths[1] < 300_000:
            assert rows(by_isa[0]) == [align(a, b, scores, 10, 1, mode)]
        row = rows(by_isa[0])[0]
        operations = cigar_operations(row.cigar)
        rescored = rescore(a, b, scores, 10, 1, operations, row.query_start, row.target_start)
        assert rescored == (row.score, row.query_end, row.target_end)
        for engine, columns in zip(engines, by_isa, strict=True):
            assert_same(columns, by_isa[0])
            for n_threads in (1, 2):
                assert_same(engine.align(queries, targets, n_threads=n_threads, report="ends", **options), by_isa[0])
            little = engine.align(queries, targets, n_threads=2, memory_bytes=24 << 20, **options)
            assert_same(little, by_isa[0])


def test_empty_sequences_are_refused():
    with pytest.raises(tropalign.InputError, match="empty"):
        align_here(["ACGT", ""], None, {"protein": False, "match": 1, "mismatch": -1, "gap": (1, 1)})


def test_align_is_one_row_of_align_all():
    for mode in MODES:
        one = tropalign.align("MKVLAAGIW", "MKLAAGW", mode=mode, matrix="BLOSUM62", gap=tropalign.Gap(11, 1))
        expected = expected_rows("protein", ["MKVLAAGIW"], ["MKLAAGW"], "BLOSUM62", (11, 1), mode, FREE_ENDS)[0]
        assert (one.score, one.cigar, one.query_start, one.target_end) == (
            expected.score, expected.cigar, expected.query_start, expected.target_end
        )  # fmt: skip


@pytest.mark.skipif("TROPALIGN_ISA" in os.environ, reason="an instruction set is forced")
def test_isa_is_chosen_by_the_environment(engines):
    assert [engine.isa for engine in engines] == list(tropalign_isas())[: len(engines)]
    with pytest.raises(Exception, match="v9"):
        Engine("v9")


def tropalign_isas():
    from tropalign import _native

    return _native.supported_isas()
