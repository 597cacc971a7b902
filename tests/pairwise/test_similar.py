"""Similar sequences by wavefronts, against engines that sweep the whole matrix.

A matrix in which one letter scores otherwise than the rest is left to these, though no text has that letter. That waves
are taken at all shows where a pair is too large for what else `align` does by itself.
"""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.pairwise import align as by_definition

import tropalign as ta

PER_ISA = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
#: match, mismatch, open, extend: many ties, common divisors and none, gaps for next to nothing, costs that fall back.
SCORINGS = [
    (5, -4, 10, 1),
    (10, -8, 20, 2),
    (1, -1, 0, 1),
    (1, -1, 0, 0),
    (2, -3, 5, 2),
    (0, -1, 0, 1),
    (0, -2, 4, 2),
    (3, 2, 1, 0),
    (-1, -3, 2, 2),
    (1, 1, 2, 1),
    (60, -40, 30, 5),
    (2000, -3000, 10, 1),
]
REPORTS = ["alignment", "alignment", "ends", "score"]


def odd(match, mismatch):
    """Scores of match and mismatch but for the letter A, the alphabet's first: beyond 8 bits, as bands need them."""
    letters = ta.NUCLEOTIDE.letters
    scores = ta.SubstitutionMatrix.match_mismatch(match, mismatch).scores[: len(letters), : len(letters)].copy()
    scores[0, 0] += 200
    return ta.SubstitutionMatrix.of((letters, scores), ta.NUCLEOTIDE)


def related(rng, length, letters, *, substitutions, gaps, longest):
    one = rng.choices(letters, k=length)
    other = []
    for letter in one:
        fate = rng.random()
        if fate < gaps / 2:
            continue
        if fate < gaps:
            other += rng.choices(letters, k=rng.randint(1, longest))
        other.append(rng.choice(letters) if rng.random() < substitutions else letter)
    begin, end = rng.choice([(0, 0), (0, 0), (rng.randint(0, 20), rng.randint(0, 20))])
    return "".join(one), "".join(other[begin : len(other) - end]) or one[0]


def numbers(row, report):
    names = {"score": ["score"], "ends": ["score", "query_end", "target_start"]}
    every = ["score", "query_start", "query_end", "target_start", "target_end", "cigar"]
    every += ["n_identical", "n_similar", "n_gaps", "n_columns"]
    return [getattr(row, name) for name in names.get(report, every)]


def assert_same(pair, scoring, report="alignment", mode="global"):
    match, mismatch, *gap = scoring
    for query, target in (pair, pair[::-1]):
        got, whole = (
            ta.align(query, target, mode=mode, matrix=matrix, gap=ta.Gap(*gap), report=report, alphabet="nucleotide")
            for matrix in (ta.SubstitutionMatrix.match_mismatch(match, mismatch), odd(match, mismatch))
        )
        assert numbers(got, report) == numbers(whole, report)
    return got


@PER_ISA
@given(
    seed=st.integers(0, 2**32 - 1),
    letters=st.sampled_from(["CGT", "CG", "C", "CGTn", "cgtR"]),
    scoring=st.sampled_from(SCORINGS),
    report=st.sampled_from(REPORTS),
    mode=st.sampled_from(["global", "global", "semiglobal", "local"]),
    length=st.integers(190, 420),
)
def test_related_sequences(isa, seed, letters, scoring, report, mode, length):
    rng = random.Random(seed)
    rates = {"substitutions": rng.choice([0, 0.01, 0.05, 0.3]), "gaps": rng.choice([0, 0.005, 0.02, 0.2])}
    assert_same(related(rng, length, letters, longest=rng.choice([1, 4, 40]), **rates), scoring, report, mode)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_some_thousand_letters(isa, scoring):
    rng = random.Random(str(scoring))
    for substitutions, gaps, longest in [(0.01, 0, 1), (0.01, 0.004, 3), (0.03, 0.002, 90), (0.9, 0.1, 2)]:
        pair = related(rng, 2200, "CGT", substitutions=substitutions, gaps=gaps, longest=longest)
        assert_same(pair, scoring)
        assert_same(pair, scoring, "score")


def test_by_definition(isa):
    rng = random.Random(5)
    for match, mismatch, *gap in SCORINGS:
        query, target = related(rng, 230, "CGT", substitutions=0.03, gaps=0.03, longest=5)
        matrix = ta.SubstitutionMatrix.match_mismatch(match, mismatch)
        codes = ([ta.NUCLEOTIDE.letters.index(letter) for letter in text] for text in (query, target))
        wanted = by_definition(*codes, matrix.scores, *gap, "global")
        got = ta.align(query, target, mode="global", matrix=matrix, gap=ta.Gap(*gap), alphabet="nucleotide")
        assert (got.score, got.cigar) == (wanted.score, wanted.cigar)


def test_long_gaps_and_those_beyond_the_first_band(isa):
    """The band has to hold the diagonals between the first and the last, and little else."""
    text = "".join(random.Random(6).choices("CGT", k=1500))
    for begin, end in [(0, 300), (700, 900), (1300, 1500), (40, 41)]:
        row = assert_same((text, text[:begin] + text[end:]), (5, -4, 10, 1))
        assert row.n_gaps == end - begin
    # There and back: the first band finds an alignment, but not the best one.
    rng = random.Random(7)
    text = "".join(rng.choices("CGT", k=3000))
    for size in (14, 15, 16, 17, 31, 60):
        moved = text[:1000] + "".join(rng.choices("CGT", k=size)) + text[1000 : 2000 - size] + text[2000:]
        assert_same((text, moved), (5, -4, 10, 1))


def test_pairs_of_any_size_are_aligned_by_themselves(isa):
    """One that is too large for other ways shows that wavefronts were taken."""
    rng = random.Random(8)
    text, other = related(rng, 6000, "CGT", substitutions=0.01, gaps=0.002, longest=6)
    matrix = ta.SubstitutionMatrix.match_mismatch(5, -4)
    options = {"alphabet": "nucleotide", "matrix": matrix, "gap": ta.Gap(10, 1), "mode": "global"}
    row = ta.align(text, other, **options)
    assert row._lone is not None
    whole = ta.align(text, other, **options | {"matrix": odd(5, -4)})
    assert whole._lone is None and (row.score, row.cigar) == (whole.score, whole.cigar)
    scrambled = "".join(rng.sample(other, len(other)))
    assert ta.align(text, scrambled, **options)._lone is None
    tailed = [ta.align(text + "N", other, **options | {"matrix": m}) for m in (options["matrix"], odd(5, -4))]
    assert tailed[1]._lone is None and tailed[0].cigar == tailed[1].cigar  # no waves, but a band


@pytest.mark.parametrize("report", ["score", "alignment"])
def test_lists_and_long_pairs(isa, report):
    """Pairs too few to fill lanes, some of them similar; any number of threads, and little memory."""
    rng = random.Random(9)
    rates = {"gaps": 0.003, "longest": 4}
    pairs = [related(rng, 900, "CGT", substitutions=rng.choice([0.01, 0.8]), **rates) for _ in range(5)]
    pairs.append(related(rng, 5000, "CGT", substitutions=0.01, **rates))
    tables = [
        ta.align_many(
            pairs, matrix=matrix, gap=ta.Gap(10, 1), report=report, alphabet="nucleotide", device="cpu", **options
        )
        for matrix in (ta.SubstitutionMatrix.match_mismatch(5, -4), odd(5, -4))
        for options in ({"n_threads": 1}, {"n_threads": 3}, {"n_threads": 1, "memory_bytes": 64 << 20})
    ]
    for table in tables[1:]:
        assert table.score.tolist() == tables[0].score.tolist()
        if report == "alignment":
            assert table.cigars() == tables[0].cigars()
            assert table.n_similar.tolist() == tables[0].n_similar.tolist()
