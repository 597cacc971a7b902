"""Co-optimal and suboptimal alignments: every path of short sequences, Biopython's numbers, and options around them."""

import random
import warnings
from collections import Counter
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from oracles import gap_pieces
from oracles.pairwise import FREE_ENDS, _path_score, _paths, cigar_operations, rescore

import tropalign as ta
from tropalign.errors import TropalignWarning, UsageError
from tropalign.results.alignments import concatenate

GAPS = [(1, 1), (0, 1), (1, 0), (3, 1), (0, 2)]
SCORES = [(1, -1), (2, -1), (1, 0), (5, -4)]


def word(rng, most, letters="ACG"):
    return "".join(rng.choices(letters, k=rng.randint(1, most)))


def matrix_of(match, mismatch):
    return ta.SubstitutionMatrix.match_mismatch(match, mismatch)


def listed(query, target, co_optimal=10_000, **options):
    """All alignments of a pair, which are neither repeated nor cut, the first as without the option."""
    pairs = [(query, target)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = ta.align_many(pairs, co_optimal=co_optimal, alphabet="nucleotide", **options)
    options.pop("within", None)
    first = ta.align_many(pairs, alphabet="nucleotide", **options)
    assert table[0] == first[0]
    assert table.hsp.tolist() == list(range(1, len(table) + 1))
    paths = {(row.query_start, row.query_end, row.target_start, row.target_end, row.cigar) for row in table}
    assert len(paths) == len(table)
    assert set(table.co_optimal) == {len(table) if table[0].n_columns or table[0].score else table.co_optimal[0]}
    return table


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
def test_numbers_are_those_of_biopython(mode, seed):
    align = pytest.importorskip("Bio.Align")
    rng = random.Random(f"{mode} {seed}")
    for _ in range(8):
        query, target = word(rng, 9), word(rng, 9)
        (match, mismatch), (open_, extend) = rng.choice(SCORES), rng.choice(GAPS)
        aligner = align.PairwiseAligner(
            mode="local" if mode == "local" else "global", match_score=match, mismatch_score=mismatch
        )
        aligner.open_gap_score, aligner.extend_gap_score = -open_ - extend, -extend
        if mode == "semiglobal":
            aligner.end_gap_score = 0
        expected = len(aligner.align(target, query))
        table = listed(query, target, mode=mode, matrix=matrix_of(match, mismatch), gap=ta.Gap(open_, extend))
        assert table.co_optimal[0] == expected, (query, target)
        assert len(table) == max(expected, 1) and len(set(table.score.tolist())) == 1


@pytest.mark.parametrize("mode", ["global", "semiglobal"])
@pytest.mark.parametrize("seed", range(8))
def test_alignments_within_a_score_are_all_paths(mode, seed):
    rng = random.Random(f"{mode} {seed}")
    for _ in range(3):
        query, target = word(rng, 5), word(rng, 5)
        (match, mismatch), gap = rng.choice(SCORES), rng.choice(GAPS)
        free = rng.sample(FREE_ENDS, rng.randint(0, 4)) if mode == "semiglobal" else []
        matrix, within = matrix_of(match, mismatch), rng.randint(0, 9)
        codes = [[("ACGT").index(letter) for letter in text] for text in (query, target)]
        scores = [[match if i == j else mismatch for j in range(4)] for i in range(4)]
        every = [_path_score(*codes, scores, *gap, set(free), path) for path in _paths(len(query), len(target))]
        expected = Counter(score for score in every if score >= max(every) - within)
        options = {"mode": mode, "matrix": matrix, "gap": ta.Gap(*gap), "within": within}
        if mode == "semiglobal":
            options["free_ends"] = free
        table = listed(query, target, **options)
        assert Counter(table.score.tolist()) == expected, (query, target, free)
        assert (np.diff(table.score) <= 0).all() and table.co_optimal[0] == sum(expected.values())
        for row in table:  # the path has that score, and the counts of its columns
            operations = cigar_operations(row.cigar)
            found = rescore(*codes, scores, *gap, operations, row.query_start, row.target_start)
            assert found == (row.score, row.query_end, row.target_end)
            numbers = dict.fromkeys("=XID", 0)
            for letter, length in operations:
                numbers[letter] += length
            assert (row.n_identical, row.n_gaps) == (numbers["="], numbers["I"] + numbers["D"])
            assert row.n_columns == sum(numbers.values())
            assert row.n_similar == numbers["="] * (match > 0) + numbers["X"] * (mismatch > 0)


@pytest.mark.parametrize("seed", range(6))
def test_costs_of_end_gaps(seed):
    rng = random.Random(seed)
    query, target = word(rng, 5), word(rng, 5)
    inner, ends, within = rng.choice(GAPS), rng.choice(GAPS), rng.choice([0, 2])
    codes = [[("ACGT").index(letter) for letter in text] for text in (query, target)]
    scores = [[1 if i == j else -1 for j in range(4)] for i in range(4)]
    every = [gap_pieces._path_score(*codes, scores, inner * 2, ends * 2, p) for p in _paths(len(query), len(target))]
    costs = {"gap": ta.Gap(*inner), "end_gap": ta.Gap(*ends), "matrix": matrix_of(1, -1)}
    table = listed(query, target, mode="global", within=within, **costs)
    assert Counter(table.score.tolist()) == Counter(score for score in every if score >= max(every) - within)


@pytest.mark.parametrize("seed", range(20))
def test_end_gaps_where_some_ends_are_free(seed):
    """The first alignment is that of the engines, and all are as good."""
    rng = random.Random(seed)
    costs = {"gap": ta.Gap(*rng.choice(GAPS)), "end_gap": ta.Gap(*rng.choice(GAPS)), "matrix": matrix_of(2, -1)}
    free = rng.sample(FREE_ENDS, rng.randint(1, 3))
    table = listed(word(rng, 9), word(rng, 9), mode="semiglobal", free_ends=free, **costs)
    assert len(set(table.score.tolist())) == 1


def test_the_order_is_by_score_then_by_the_tie_rule():
    """Seen from the end: a pair of residues, then a residue of the shorter sequence, then one of the longer."""
    table = listed("AAAA", "AA", mode="global", matrix=matrix_of(1, -1), gap=ta.Gap(0, 1))
    assert table.cigars() == ["2I2=", "1I1=1I1=", "1=2I1=", "1I2=1I", "1=1I1=1I", "2=2I"]
    with pytest.warns(TropalignWarning, match="target_1: 6 co-optimal alignments, of which the first 2 are"):
        twice = ta.align_many([("AAAA", "AA")], mode="global", matrix=matrix_of(1, -1), gap=ta.Gap(0, 1), co_optimal=2)
    assert twice.cigars() == table.cigars()[:2] and twice.co_optimal == [6, 6]


def test_a_longer_list_begins_with_the_shorter_one():
    rng = random.Random(4)
    query, target = word(rng, 60, "AC"), word(rng, 60, "AC")
    how = {"mode": "global", "matrix": matrix_of(1, -1), "gap": ta.Gap(0, 1), "within": 2}
    with pytest.warns(TropalignWarning, match=r"alignments within 2 of the best, of which the first \d+ are listed"):
        tables = [ta.align_many([(query, target)], co_optimal=n, **how) for n in (2, 7, 500)]
    for short, long in pairwise(tables):
        assert short == long.slice(0, len(short)) and set(long.co_optimal) == {short.co_optimal[0]}
    assert (np.diff(tables[-1].score) <= 0).all()


def test_numbers_of_any_size():
    """Two gaps of fixed places have C(n, k) alignments; all paths of free gaps are Delannoy's number."""
    query = "A" * 300
    with pytest.warns(TropalignWarning, match=r"about 9\.38e\+88 co-optimal alignments, of which the first 2 are"):
        table = ta.align_many(
            [(query, "A" * 150)], mode="global", gap=ta.Gap(0, 1), matrix=matrix_of(1, -1), co_optimal=2
        )
    assert table.co_optimal == [comb(300, 150)] * 2 and isinstance(table[0].co_optimal, int)
    assert table.columns()["co_optimal"].tolist() == [str(comb(300, 150))] * 2
    every = ta.align_many([("ACGT" * 10, "TGCA" * 10)], mode="global", within=1000, co_optimal=1)  # no warning
    row = [1] * 41  # Delannoy's numbers
    for _ in range(40):
        following = [1]
        for j in range(1, 41):
            following.append(following[-1] + row[j] + row[j - 1])
        row = following
    assert every.co_optimal == [row[-1]]


def test_strands_ambiguity_decimals_and_frames():
    query, target = "AAACCCGGNT", "ACCGGGTTTT"
    matrix = ta.SubstitutionMatrix.match_mismatch(1, -0.5)
    how = {"mode": "global", "matrix": matrix, "gap": ta.Gap(0.5, 0.25)}
    for strand in ("plus", "minus", "both"):
        table = listed(query, target, strand=strand, within=0.75, **how)
        assert table.score.dtype == np.float64 and table.score.min() >= table.score[0] - 0.75
    (empty, *some) = ta.align_many([("AAAA", "TTTT"), ("ACG", "ACG")], matrix=matrix, gap=how["gap"], co_optimal=3)
    assert (empty.score, empty.co_optimal, empty.cigar) == (0, 0, "*") and some[0].score == 3.0
    turned = query[::-1].translate(str.maketrans("ACGTN", "TGCAN"))
    plus = listed(turned, target, within=0.75, **how)
    minus = listed(query, target, within=0.75, strand="minus", **how)
    assert plus.cigars() == minus.cigars() and (minus.query_start == len(query) - plus.query_end).all()
    batch, others = (ta.SequenceBatch.from_strings([t], alphabet="nucleotide") for t in (query, turned))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a list that is cut
        (table,) = ta.align_all(batch, others, mode="global", co_optimal=10, ambiguous="match")
    (exact,) = ta.align_all(batch, others, mode="global", co_optimal=10)
    assert (table.n_identical >= exact.n_identical).all()
    proteins = ta.SequenceBatch.from_strings({"p": "MKVLLAW"}, alphabet="protein")
    genes = ta.SequenceBatch.from_strings({"g": "CATGAAAGTTTTGTTGGCTTGGA"}, alphabet="nucleotide")
    (frames,) = ta.align_all(genes, proteins, translate="query", mode="global", co_optimal=5)
    (first,) = ta.align_all(genes, proteins, translate="query", mode="global")
    assert frames.take(frames.hsp == 1).cigars() == first.cigars()


def test_sets_threads_and_selections():
    rng = random.Random(9)
    batch = ta.SequenceBatch.from_strings({f"s{k}": word(rng, 30, "AACG") for k in range(9)}, alphabet="nucleotide")
    how = {"matrix": matrix_of(2, -1), "gap": ta.Gap(0, 2), "co_optimal": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TropalignWarning)
        one, two = (concatenate(list(ta.align_all(batch, n_threads=n, **how))) for n in (1, 2))
        top = concatenate(list(ta.align_all(batch, top=2, **how)))
    assert one == two and one.hsp.max() == 3
    plain = concatenate(list(ta.align_all(batch, matrix=how["matrix"], gap=how["gap"])))
    assert [row.cigar for row in one.take(one.hsp == 1)] == plain.cigars()
    np.testing.assert_array_equal(one.matrix("score"), plain.matrix("score"))
    assert {(row.query_index, row.target_index) for row in top} == {
        (row.query_index, row.target_index)
        for row in concatenate(list(ta.align_all(batch, top=2, matrix=how["matrix"], gap=how["gap"])))
    }
    assert "co_optimal" in top.to_pandas() and top[1:3].co_optimal == top.co_optimal[1:3]


@pytest.mark.parametrize("how", [{"mask": "dust"}, {"composition": "scaled"}, {"mask": "dust", "mask_hard": True}])
def test_corrected_scores_are_those_of_the_pair(how):
    rng = random.Random(2)
    core = word(rng, 40) + "ACACACACACACACAC" + word(rng, 40)
    texts = {"a": core + "GATTACA", "b": core[:31] + core[30:]}
    how = {"matrix": matrix_of(1, -2), "gap": ta.Gap(2, 1), "alphabet": "nucleotide"} | how
    (table,), (first,) = ta.align_all(texts, co_optimal=50, **how), ta.align_all(texts, **how)
    assert table[0] == first[0] and len(table) > 1
    assert {row.corrected_score for row in table} == {first[0].corrected_score}


def test_too_large_pairs_are_refused_with_their_size():
    batch = ta.SequenceBatch.from_strings({"long": "ACGT" * 2500, "other": "AGCT" * 2500}, alphabet="nucleotide")
    with pytest.raises(ta.ResourceError, match=r"co_optimal for long with other \(10,000 x 10,000 residues\) needs"):
        list(ta.align_all(batch, co_optimal=1, memory_bytes=400 << 20))
    few = ta.SequenceBatch.from_strings({"a": "ACGT" * 60, "b": "AGCT" * 60}, alphabet="nucleotide")
    with pytest.raises(ta.ResourceError, match="a with b: alignments within 100000 of the best have too many scores"):
        list(ta.align_all(few, mode="global", co_optimal=1, within=100_000, memory_bytes=5 << 20))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"co_optimal": 0}, "co_optimal 0 is out of range"),
        ({"co_optimal": 10**6}, "co_optimal 1000000 is out of range: give a number from 1 to 10000"),
        ({"co_optimal": 2, "report": "ends"}, "co_optimal needs report alignment"),
        ({"co_optimal": 2, "max_hsps": 2}, "co_optimal and max_hsps exclude each other"),
        ({"co_optimal": 2, "culling": 1, "top": 2}, "co_optimal and culling exclude each other"),
        ({"co_optimal": 2, "gap": ta.Gap(5, 2, 20, 1)}, "co_optimal does not support two-piece gap costs"),
        ({"within": 2}, "within extends the list of co-optimal alignments: add co_optimal"),
        ({"co_optimal": 2, "within": 2}, "within needs mode global or semiglobal"),
        ({"co_optimal": 2, "within": -1, "mode": "global"}, "within -1 is not a number from 0 to"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(UsageError, match=message):
        list(ta.align_all(["ACGTACGTACGTA", "ACGTTCGTACGTA"], **options))


@pytest.mark.parametrize("how", [{"co_optimal": 2}, {"co_optimal": 9, "within": 12, "gap": ta.Gap(0, 1)}])
def test_ignored_residues_are_those_of_each_row(how):
    """N is ignored in the identity of each listed alignment, not only of the first."""
    texts = ["ACGTNACGTACGTNACGT", "ACGTNACGTACGTAACGT", "ACGTNACGT", "ACGTAACGT"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a list that is cut
        tables = ta.align_all(texts, mode="global", pairs=[(0, 1), (2, 3)], ambiguous="ignore", **how)
        (table,) = tables
    for row in table:
        query, _, target = row.aligned()
        both = [(a, b) for a, b in zip(query, target, strict=True) if "-" not in (a, b)]
        ignored = sum("N" in pair for pair in both)
        assert (row.n_ignored, row.n_identical) == (ignored, sum(a == b != "N" for a, b in both))
        assert 0 <= row.identity <= 1


def test_free_gaps_at_free_ends_count_once():
    """An overhang and a gap of cost 0 are the same alignment, as in Biopython."""
    pairs = [("CG", "A"), ("ACG", "CT"), ("AC", "ACGT"), ("GATTACA", "TACCA")]
    aligner = pytest.importorskip("Bio.Align").PairwiseAligner(
        mode="global", match_score=1, mismatch_score=-1, open_gap_score=0, extend_gap_score=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ta.align_many(
            pairs, mode="semiglobal", matrix=(1, -1), gap=ta.Gap(0, 0), alphabet="nucleotide", co_optimal=2
        )
    first = [row for row in found if row.hsp == 1]
    assert [row.co_optimal for row in first] == [len(aligner.align(target, query)) for query, target in pairs]


def test_counting_can_be_cancelled():
    calls = []
    table = ta.align_many([("A" * 40, "A" * 20)], mode="global", gap=ta.Gap(0, 1), co_optimal=1, progress=calls.append)
    assert table.co_optimal[0] > 10**9 and len(calls) > 80  # a call per row of the matrix, and of the count
