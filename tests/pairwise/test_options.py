"""What cannot be asked for is refused before anything is computed."""

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tropalign as ta
from tropalign.cli.main import make_parser
from tropalign.errors import UsageError
from tropalign.formats.pairs import MATRIX_LAYOUTS
from tropalign.formats.placed.context import INSERTIONS
from tropalign.pairwise import MODES, REPORTS, STRANDS, PairOptions
from tropalign.pairwise.gpu_plan import KEEPS_ZERO
from tropalign.pairwise.plan import checked_pairs
from tropalign.placement.reference import GAP_FLAGS
from tropalign.placement.scoring import SCHEMES
from tropalign.results import MatrixValue
from tropalign.sequences import ALPHABETS

BLOSUM = ta.SubstitutionMatrix.from_name("BLOSUM62")
TEXTS = ["MKVLAWHEAG", "MKILAWHEAGA", "WWHEAGAWGHEE"]


@pytest.fixture
def batch():
    return ta.SequenceBatch.from_strings(TEXTS)


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([[0, -1]], "row 0 of pairs refers to target -1, but there are 3: indices start at 0"),
        ([[0, 1], [3, 1]], "row 1 of pairs refers to query 3, but there are 3: indices start at 0"),
        (np.array([[0, 9]]), "row 0 of pairs refers to target 9, but there are 3: indices start at 0"),
        (np.array([[0, 2**63]], np.uint64), "row 0 of pairs refers to target 9223372036854775808, but there are 3"),
        (np.array([[0, 1, 2]]), "pairs must be an array of (query index, target index), not of shape (1, 3)"),
        (np.array([0, 1]), "not of shape (2,)"),
        ([[0, 1], [2]], "pairs must be an array of (query index, target index)"),
        (5, "not of shape ()"),
        ("ab", "not of shape ()"),
        (np.array([[0.0, 1.0]]), "pairs must be integers, not float64: give indices of sequences, from 0"),
        ([[True, False]], "pairs must be integers, not bool"),
        ([["0", "1"]], "pairs must be integers, not "),
        ([[None, 1]], "pairs must be integers, not object"),
    ],
)
def test_pairs_that_cannot_be(batch, pairs, sentence):
    with pytest.raises(ta.InputError) as error:
        ta.align_all(batch, pairs=pairs)
    assert sentence in str(error.value)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64, np.int64, ">i4"])
def test_pairs_of_any_integer_type(batch, dtype):
    listed = [[0, 1], [2, 0], [2, 0]]
    given_pairs = np.asfortranarray(np.array(listed, dtype))
    (table,) = ta.align_all(batch, pairs=given_pairs)
    (wanted,) = ta.align_all(batch, pairs=listed)
    assert table.score.tolist() == wanted.score.tolist() and table.query_index.tolist() == [0, 2, 2]
    assert list(ta.align_all(batch, pairs=[])) == []


@given(st.lists(st.tuples(st.integers(-3, 6), st.integers(-3, 6)), max_size=6), st.integers(1, 4), st.integers(1, 4))
def test_pairs_are_in_range_or_refused(pairs, n_queries, n_targets):
    are_in_range = all(0 <= q < n_queries and 0 <= t < n_targets for q, t in pairs)
    try:
        made = checked_pairs(pairs, n_queries, n_targets)
    except ta.InputError:
        assert not are_in_range
    else:
        assert are_in_range and [tuple(row) for row in made.tolist()] == pairs and made.shape == (len(pairs), 2)
        assert made.dtype == np.int64 and made.flags.c_contiguous


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_threads": -1}, "n_threads -1 is out of range: give a number from 0 to 1024"),
        ({"n_threads": 10**6}, "n_threads 1000000 is out of range: give a number from 0 to 1024"),
        ({"n_threads": 1.5}, "n_threads 1.5 is not a whole number"),
        ({"n_threads": True}, "n_threads True is not a whole number"),
        ({"n_threads": None}, "n_threads None is not a whole number"),
        ({"memory_bytes": 0}, "memory_bytes 0 is out of range: give a number at least 1"),
        ({"memory_bytes": -5}, "memory_bytes -5 is out of range"),
        ({"memory_bytes": math.nan}, "memory_bytes nan is not a whole number"),
        ({"memory_bytes": "8G"}, "memory_bytes '8G' is not a whole number"),
        ({"top": 0}, "top 0 is below 1: keep at least one target per query"),
        ({"top": 1.5}, "top 1.5 is not a whole number"),
        ({"top": True}, "top True is not a whole number"),
        ({"top": math.nan}, "top nan is not a whole number"),
        ({"min_score": math.nan}, "min_score nan is not a number"),
        ({"min_score": "5"}, "min_score '5' is not a number"),
        ({"min_identity": math.nan}, "min_identity nan is not a fraction between 0 and 1"),
        ({"min_identity": True}, "min_identity True is not a fraction between 0 and 1"),
        ({"min_identity": "0.5"}, "min_identity '0.5' is not a fraction between 0 and 1"),
        ({"min_identity": 2}, "min_identity 2 is not a fraction between 0 and 1"),
        ({"min_coverage": -0.1}, "min_coverage -0.1 is not a fraction between 0 and 1"),
        ({"min_coverage": 0.5, "report": "ends"}, "min_coverage needs report alignment"),
        ({"mode": None}, "mode None is not one of local, global, semiglobal"),
        ({"mode": ["local"]}, "mode ['local'] is not one of local"),
        ({"report": "all"}, "report 'all' is not one of score, ends, alignment"),
        ({"strand": "reverse"}, "strand 'reverse' is not one of plus, minus, both"),
        ({"free_ends": "query-start"}, "free ends 'query-start' are not a list: give a list of names"),
        ({"free_ends": ["left"]}, "free end 'left' is not one of query-start"),
        ({"free_ends": [3]}, "free end '3' is not one of query-start"),
        ({"free_ends": None}, "free ends None are not a list: give a list of names"),
    ],
)
def test_options_that_cannot_be(batch, options, sentence):
    with pytest.raises(UsageError) as error:
        ta.align_all(batch, **options)
    assert str(error.value).startswith(sentence)


def test_numbers_and_scoring_of_other_types(batch):
    (wanted,) = ta.align_all(batch, top=1, min_score=3, min_identity=0.5)
    (table,) = ta.align_all(
        batch, top=np.int8(1), min_score=np.int64(3), min_identity=np.float32(0.5), n_threads=np.int64(1)
    )
    assert table.score.tolist() == wanted.score.tolist()
    for gap in (11, (11, 1), "11"):
        with pytest.raises(ta.ScoringError, match=r"the gap cost must be a Gap\(open, extend\)"):
            ta.align_all(batch, gap=gap)
    with pytest.raises(ta.ScoringError, match="an object of type int is not a matrix: give a name, a path"):
        ta.align_all(batch, matrix=5)
    with pytest.raises(ta.ScoringError, match="an object of type str is not a SubstitutionMatrix"):
        PairOptions("BLOSUM62", ta.Gap(11, 1))


def test_nucleotides_against_proteins(batch):
    dna = ta.SequenceBatch.from_strings(["ACGTACGT" * 5])
    with pytest.raises(ta.InputError) as error:
        ta.align_all(dna, batch)
    assert str(error.value) == (
        "record 'sequence_1': this looks like a protein, but record 'sequence_1' is a nucleotide sequence: translate "
        "the nucleotides with translate, or set the kind of all sequences with alphabet"
    )
    (table,) = ta.align_all(["GAGA", "CATTAC"], TEXTS, alphabet="protein")
    assert len(table) == 6


def test_the_command_line_offers_what_there_is():
    verbs = next(action for action in make_parser(False)._actions if action.dest == "verb").choices
    choices = {action.dest: tuple(action.choices or ()) for action in verbs["pairs"]._actions}
    assert choices["mode"] == tuple(MODES) and choices["report"] == REPORTS and choices["strand"] == STRANDS
    assert choices["alphabet"] == ("auto", *ALPHABETS)
    of_place = {action.dest: tuple(action.choices or ()) for action in verbs["place"]._actions}
    assert of_place["alphabet"] == ("auto", *ALPHABETS)
    assert choices["matrix_values"] == get_args(MatrixValue) and choices["matrix_layout"] == tuple(MATRIX_LAYOUTS)
    assert of_place["gap_flags"] == GAP_FLAGS and of_place["scheme"] == tuple(SCHEMES)
    assert of_place["insertions"] == INSERTIONS and of_place["strand"] == ("plus", "both", "adjust")


@pytest.mark.parametrize("mode", MODES)
def test_what_a_mode_is(mode):
    options = PairOptions(BLOSUM, ta.Gap(11, 1), mode=mode, free_ends=["query-end"])
    assert options.is_local == (mode == "local") and options.recurrence in KEEPS_ZERO
    assert options.pays_ends == (mode == "global")
    assert options.freed() == (False, mode == "semiglobal", False, False)
    row = ta.align("PPPWWW", "WWW", mode=mode)
    # local and semiglobal leave PPP out; global pays a gap of three
    assert row.score == 33 - (14 if mode == "global" else 0)
