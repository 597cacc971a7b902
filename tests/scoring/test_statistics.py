"""Bits and E-values against what BLAST printed, and parameters without gaps against what NCBI has printed."""

import csv
from math import log
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.scoring.statistics import MOST_STEPS, _tables, check_has_statistics, published_statistics, ungapped

TEXT = (Path(__file__).parent.parent / "data/statistics/blast.tsv").read_text()
BLAST = list(csv.DictReader(TEXT.splitlines(), delimiter="\t"))
BLOSUM62 = ta.score_statistics("BLOSUM62", ta.Gap(11, 1))


def matrix_of(name):
    if "/" not in name:
        return ta.SubstitutionMatrix.from_name(name)
    return ta.SubstitutionMatrix.match_mismatch(*map(int, name.split("/")))


def statistics_of(row):
    return published_statistics(matrix_of(row["scores"]), ta.Gap(int(row["open"]), int(row["extend"])))


def test_every_scheme_of_the_recorded_searches_is_there():
    assert len({(row["scores"], row["open"]) for row in BLAST}) == 10 and len(BLAST) > 90


@pytest.mark.parametrize("row", BLAST, ids=lambda row: f"{row['scores']} {row['open']} {row['extend']} {row['score']}")
def test_what_blast_prints(row):
    statistics, score = statistics_of(row), int(row["score"])
    query, residues, sequences = (int(row[name]) for name in ("query_length", "residues", "sequences"))
    assert float(f"{statistics.bits(score):g}") == pytest.approx(float(row["bits"]), rel=1e-5)
    ours = float(statistics.evalues(score, query, residues, sequences))
    assert ours == pytest.approx(float(row["evalue"]), rel=6e-6, abs=1e-180)  # BLAST prints 0 below that
    shorter = query - float(row["adjustment"])
    space = shorter * (residues - sequences * float(row["adjustment"]))
    assert statistics.search_spaces(query, residues, sequences) == pytest.approx(space)


@pytest.mark.parametrize("name", ["BLOSUM45", "BLOSUM50", "BLOSUM62", "BLOSUM90", "PAM250", "PAM30", "PAM70"])
def test_parameters_without_gaps_as_ncbi_prints_them(name):
    printed, exact = _tables()[0][name][None], ungapped(matrix_of(name))
    assert exact.lambda_ == pytest.approx(printed.lambda_, abs=6e-5)
    assert exact.k == pytest.approx(printed.k, rel=5e-3)  # K to three digits
    assert exact.h == pytest.approx(printed.h, abs=6e-4)


def test_one_and_minus_one_by_hand():
    # With q = 3/4 for -1 and p = 1/4 for 1: lambda = ln(q / p), H = lambda (q - p) and, for steps of one score up and
    # one down, K = (q - p)^2 / q (Karlin and Altschul 1990)
    found = ungapped(ta.SubstitutionMatrix.match_mismatch(1, -1))
    assert found == pytest.approx((log(3), 1 / 3, log(3) / 2), rel=1e-9)


@pytest.mark.parametrize("factor", [1, 10, 7])
def test_a_multiple_of_scores_and_costs_means_the_same(factor):
    scores = ta.SubstitutionMatrix.from_name("BLOSUM62")
    matrix = ta.SubstitutionMatrix("tenfold", scores.alphabet, scores.scores * factor, scores.letters)
    found = published_statistics(matrix, ta.Gap(11 * factor, factor))
    assert found.bits(500 * factor) == pytest.approx(float(BLOSUM62.bits(500)))
    assert found.evalues(70 * factor, 300, 10**6, 3000) == pytest.approx(BLOSUM62.evalues(70, 300, 10**6, 3000))
    doubled = ta.SubstitutionMatrix.match_mismatch(2 * factor, -3 * factor)
    pair = [
        published_statistics(m, g)
        for m, g in ((matrix_of("2/-3"), ta.Gap(5, 2)), (doubled, ta.Gap(5 * factor, 2 * factor)))
    ]
    evalues = [s.evalues(np.array([41, 42, 43]) * f, 300, 10**6, 3000) for s, f in zip(pair, (1, factor), strict=True)]
    assert evalues[0] == pytest.approx(evalues[1])
    assert evalues[0][1] == evalues[0][2] < evalues[0][0]  # of 2/-3 only even scores count


def test_a_matrix_is_known_by_its_scores():
    # Biopython's BLOSUM80 is in thirds of bits, that of NCBI in halves: NCBI's numbers are not for it
    assert published_statistics(matrix_of("BLOSUM80"), ta.Gap(10, 1)) is None
    named = ta.SubstitutionMatrix.from_name("PAM70")
    renamed = ta.SubstitutionMatrix("BLOSUM62", named.alphabet, named.scores, named.letters)
    assert published_statistics(renamed, ta.Gap(10, 1)).lambda_ == 0.291


@pytest.mark.parametrize(
    "statistics", [BLOSUM62, statistics_of(BLAST[-1]), published_statistics(matrix_of("2/-3"), ta.Gap(5, 2))]
)
@pytest.mark.parametrize("evalue", [1e-30, 1e-3, 1, 12.5, 1e5])
def test_the_least_score_is_the_least(statistics, evalue):
    lengths = np.array([[1, 30], [400, 35_000]])
    least = statistics.least_score(evalue, lengths, 10**6, 3000)
    assert least.dtype == np.int64 and least.shape == lengths.shape
    assert (statistics.evalues(least, lengths, 10**6, 3000) <= evalue).all()
    assert ((statistics.evalues(least - 1, lengths, 10**6, 3000) > evalue) | (least == 0)).all()
    assert int(statistics.least_score(evalue, 400, 10**6, 3000)) == least[1, 0]
    space = lengths[..., None], 10**6, 3000, np.array([1, 3, 40, 5000])  # a target of a residue has more by chance
    least = statistics.least_score(evalue, *space)
    assert least.shape == (2, 2, 4)
    assert (statistics.evalues(least, *space) <= evalue).all()
    assert ((statistics.evalues(least - 1, *space) > evalue) | (least == 0)).all()


def test_the_adjustment_is_the_largest_that_fits():
    def fits(length, m, n, count):  # as the docstring has it
        starts = (m - length) * (n - count * length)
        room = BLOSUM62.k * starts > max(m, n) and length < m and count * length < n
        return room and length <= BLOSUM62.alpha / BLOSUM62.lambda_ * log(BLOSUM62.k * starts) + BLOSUM62.beta

    for m, n, count in ((10, 50, 1), (35, 10**5, 400), (300, 300, 1), (2000, 10**9, 10**6), (40_000, 3000, 20)):
        length = max((k for k in range(m) if fits(k, m, n, count)), default=0)
        assert BLOSUM62.search_spaces(m, n, count) == (m - length) * (n - count * length)


def test_pairs_of_starts_are_about_the_mean_of_what_is_left():
    """(m - x)+ (n - y)+ for lengths x and y drawn from the two-dimensional normal distribution of the paper."""
    random = np.random.default_rng(3)
    for score, m, n in ((60, 200, 300), (90, 150, 900), (150, 300, 260)):
        lines = BLOSUM62.lengths
        mean, variance, covariance = (p * score + q for p, q in (lines.mean, lines.variance, lines.covariance))
        # The covariance that the table gives is a little more than the variance: as near as a distribution can have.
        drawn = random.multivariate_normal(
            [mean] * 2, [[variance, 0.999 * variance], [0.999 * variance, variance]], 10**6
        )
        left = np.maximum(m - drawn[:, 0], 0) * np.maximum(n - drawn[:, 1], 0)
        found = BLOSUM62.lengths.pairs_of_starts(np.array(float(score)), BLOSUM62.lambda_, m, n)
        assert covariance == pytest.approx(variance, rel=0.03)
        assert float(found) == pytest.approx(left.mean(), rel=0.15)


def test_long_sequences_have_room_everywhere():
    evalue = float(BLOSUM62.evalues(100, 10**8, 10**9, 10, 10**8))
    assert evalue == pytest.approx(BLOSUM62.k * 1e17 * np.exp(-26.7), rel=1e-4)


def test_a_target_that_is_short_leaves_less_room():
    evalues = BLOSUM62.evalues(60, 300, 10**6, 3000, [20, 50, 100, 300, 1000, 10_000])
    assert (np.diff(evalues) > 0).all()
    assert evalues[0] < evalues[-1] / 10


def test_shapes():
    assert BLOSUM62.evalues([50, 60], 200, 1000, 2, [[10], [20]]).shape == (2, 2)
    assert BLOSUM62.evalues(50, 200, 1000, 2).shape == ()
    assert BLOSUM62.evalues([50, 60], 200, 1000, 2).shape == (2,)
    assert BLOSUM62.evalues([[50], [60]], [200, 300, 400], 1000, 2).shape == (2, 3)
    assert BLOSUM62.bits([]).shape == (0,)


@pytest.mark.parametrize(
    ("lengths", "residues", "sequences", "words"),
    [
        (0, 1000, 2, "the lengths of queries must be integers above 0"),
        (1.5, 1000, 2, "the lengths of queries must be integers above 0"),
        (10, 0, 2, "the number of residues of all targets must be an integer above 0, not 0"),
        (10, 1000, True, "the number of sequences of all targets must be an integer above 0, not True"),
    ],
)
def test_wrong_sizes(lengths, residues, sequences, words):
    with pytest.raises(ta.errors.UsageError, match=f"^{words}$"):
        BLOSUM62.evalues(50, lengths, residues, sequences)


def test_wrong_target_lengths():
    with pytest.raises(ta.errors.UsageError, match=r"^the lengths of targets must be integers above 0$"):
        BLOSUM62.evalues(50, 10, 1000, 2, [5, 0])


@pytest.mark.parametrize("evalue", [0, -1, float("nan"), float("inf"), True, "1"])
def test_wrong_evalues(evalue):
    with pytest.raises(ta.errors.UsageError, match=r"^the E-value .+ is not a number above 0: give one such as 1e-3$"):
        BLOSUM62.least_score(evalue, 200, 1000, 2)


@pytest.mark.parametrize(
    ("match", "mismatch", "words"),
    [
        (1, 0, (
            r"match 1 mismatch 0 has a mean score of 0\.25 per pair of random residues, so long sequences score high "
            r"by chance and E-values are undefined: choose a matrix with a negative mean score"
        )),
        (3, -1, r"match 3 mismatch -1 has a mean score of 0 per pair of random residues, .+"),
        (-1, -2, "match -1 mismatch -2 has no positive score, so E-values are undefined: choose another matrix"),
    ],
)  # fmt: skip
def test_scores_that_have_no_statistics(match, mismatch, words):
    with pytest.raises(ta.ScoringError, match=f"^{words}$"):
        check_has_statistics(ta.SubstitutionMatrix.match_mismatch(match, mismatch))


def test_scores_too_near_to_none():
    with pytest.raises(ta.ScoringError, match="is too close to 0 for E-values: choose"):
        ungapped(ta.SubstitutionMatrix.match_mismatch(3 * MOST_STEPS // 4, -MOST_STEPS // 4 - 1))


def test_a_step_of_one_unit_of_decimal_scores():
    """1/-1.5 is 2/-3 in halves, of which even ones count: whole units."""
    whole = published_statistics(matrix_of("2/-3"), ta.Gap(5, 2))
    half = published_statistics(ta.SubstitutionMatrix.match_mismatch(1, -1.5), ta.Gap(2.5, 1))
    assert (whole.score_step, half.score_step) == (2, 1)
    assert half.evalues([20.5, 21, 21.5], 300, 10**6, 3000) == pytest.approx(
        whole.evalues([41, 42, 43], 300, 10**6, 3000), rel=1e-12
    )


def test_an_alphabet_of_unknown_frequencies():
    shapes = ta.Alphabet("shapes", "OXS", "S", match_mismatch=(1, -2))
    with pytest.raises(ta.ScoringError, match="unknown for shapes sequences: use scores"):
        ta.score_statistics(ta.SubstitutionMatrix.default(shapes), ta.Gap(2, 1))


def test_decimals_are_units_of_another_size():
    blosum = ta.SubstitutionMatrix.of("BLOSUM62")
    halves = ta.SubstitutionMatrix("halves", blosum.alphabet, blosum.scores / 2, blosum.letters)
    whole, half = ta.score_statistics(blosum, ta.Gap(11, 1)), ta.score_statistics(halves, ta.Gap(5.5, 0.5))
    assert half.bits([20.5, 40]) == pytest.approx(whole.bits([41, 80]), rel=1e-12)
    assert half.evalues(25.5, 200, 10**6, 3000) == pytest.approx(whole.evalues(51, 200, 10**6, 3000), rel=1e-12)
    assert float(half.least_score(1e-3, 200, 10**6, 3000)) == int(whole.least_score(1e-3, 200, 10**6, 3000)) / 2
    with pytest.raises(ta.ScoringError, match=r"gaps of 9\.5 \+ 0\.5 k, .+ raise the gap costs"):
        ta.score_statistics(blosum, ta.Gap(9.5, 0.5))
