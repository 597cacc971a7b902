import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import profiles as oracle

import tropalign
from tropalign.errors import InputError, ScoringError, UsageError
from tropalign.msa import align_profile_to_sequence, align_profiles, profile_of

LETTERS = "ACDEFGHIKLMNPQRSTVWY-"
SETTINGS = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def alignments(draw, prefix="a", most=40):
    n_rows, n_columns = draw(st.integers(1, 5)), draw(st.integers(1, most))
    rows = draw(st.lists(st.text(LETTERS, min_size=n_columns, max_size=n_columns), min_size=n_rows, max_size=n_rows))
    rows[0] = rows[0].replace("-", "A")
    return tropalign.MultipleAlignment.from_rows([f"{prefix}{k}" for k in range(n_rows)], rows, tropalign.PROTEIN)


def distance_along(found, p, q):
    """The sum of distances over the columns of a path, which is checked to be one."""
    blank = [0.0] * (p.shape[1] - 1) + [1.0]
    at_first, at_second = ({int(c): k for k, c in enumerate(columns)} for columns in (found.first, found.second))
    assert sorted({*at_first, *at_second}) == list(range(found.n_columns))
    assert (np.diff(found.first) > 0).all() and (np.diff(found.second) > 0).all()
    sides = [
        (p[at_first[c]] if c in at_first else blank, q[at_second[c]] if c in at_second else blank)
        for c in range(found.n_columns)
    ]
    return sum(oracle.distance(x, y) for x, y in sides)


@SETTINGS
@given(alignments("a"), alignments("b"))
def test_profiles_are_as_near_as_can_be(isa, first, second):
    found = align_profiles(first, second)
    p, q = profile_of(first), profile_of(second)
    assert math.isclose(found.total, distance_along(found, p, q), abs_tol=1e-9)
    assert math.isclose(found.total, oracle.least_distance(p.tolist(), q.tolist()), abs_tol=1e-4)
    merged = found.merged(first, second)
    assert merged.names == first.names + second.names and merged.n_columns == found.n_columns


@SETTINGS
@given(alignments(), st.text(LETTERS[:-1], min_size=1, max_size=40), st.sampled_from([0.0, 1.5, 4.0, 11.0]))
def test_scores_of_a_sequence_are_as_high_as_can_be(isa, alignment, sequence, gap_cost):
    found = align_profile_to_sequence(alignment, sequence, "BLOSUM62", gap_cost=gap_cost)
    n = len(tropalign.PROTEIN.letters)
    scores = np.full((n + 1, n + 1), -gap_cost)
    scores[:n, :n] = tropalign.SubstitutionMatrix.load("BLOSUM62").scores[:n, :n]
    scores[n, n] = 0
    codes = tropalign.PROTEIN.encode(np.frombuffer(sequence.encode(), np.uint8))[0].tolist()
    best = oracle.most_score(profile_of(alignment).tolist(), codes, scores.tolist())
    assert math.isclose(found.total, best, rel_tol=1e-6, abs_tol=1e-3)


def test_the_same_path_on_every_instruction_set(monkeypatch):
    from tropalign import _native

    rng = np.random.default_rng(3)
    p, q = (rng.dirichlet(np.full(25, 0.2), n) for n in (300, 500))
    paths = set()
    for isa in _native.supported_isas():
        monkeypatch.setenv("TROPALIGN_ISA", isa)
        found = align_profiles(p, q)
        paths.add((found.first.tobytes(), found.second.tobytes(), found.total))
    assert len(paths) == 1


def test_weights_count_rows():
    alignment = tropalign.MultipleAlignment.from_rows(["a", "b"], ["AC", "A-"], tropalign.NUCLEOTIDE)
    profile = profile_of(alignment, [3, 1])
    assert profile[1, 1] == 0.75 and profile[1, -1] == 0.25
    assert (profile_of(alignment, [1e300, 1e300]) == profile_of(alignment)).all()


ALIGNMENT = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV", "MKI"])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: profile_of(["MKV"]), "an object of type list is not an alignment"),
        (lambda: profile_of(ALIGNMENT, [1, -1]), "the weights must be 2 numbers of at least 0"),
        (lambda: profile_of(ALIGNMENT, [0, 0]), "the weights must be 2 numbers of at least 0"),
        (lambda: align_profiles(ALIGNMENT, "MKV"), "the second is neither an alignment nor a profile"),
        (lambda: align_profiles(ALIGNMENT, np.zeros((3, 4))), "column: use the same alphabet for both"),
        (lambda: align_profiles(np.full((3, 4), np.nan), ALIGNMENT), "the first profile has a value outside 0 to 1"),
        (lambda: align_profile_to_sequence(ALIGNMENT, ""), "bytes and not empty"),
        (lambda: align_profile_to_sequence(ALIGNMENT, "MK", gap_cost=math.nan), "the gap cost nan is not a number"),
        (lambda: align_profiles(ALIGNMENT, ALIGNMENT).merged(ALIGNMENT[:, 1:], ALIGNMENT), "has 2 columns, but 3"),
        (
            lambda: align_profiles(ALIGNMENT, ALIGNMENT).merged(np.ones((3, 28)), ALIGNMENT),
            "type ndarray is not an alignm",
        ),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(UsageError, match=text):
        call()


def test_a_matrix_for_others_is_refused():
    nucleotides = tropalign.MultipleAlignment.from_rows(["a", "b"], ["ACGT", "AC-T"])
    with pytest.raises(ScoringError, match="BLOSUM62 is a protein matrix, but the sequences look like nucleotide"):
        align_profile_to_sequence(nucleotides, "ACG", "BLOSUM62")


def test_alignments_that_share_a_name_are_not_merged():
    with pytest.raises(InputError, match="already has a row with this name"):
        align_profiles(ALIGNMENT, ALIGNMENT).merged(ALIGNMENT, ALIGNMENT)
