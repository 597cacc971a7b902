"""Equality, matrices and Biopython's objects of aligned pairs."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from Bio import Align
from formats.tables import random_table

import tropalign
from tropalign.errors import InputError, UsageError
from tropalign.sequences import NUCLEOTIDE

SET = {"a": "MKVLAW", "b": "MKILAW", "c": "KVLAWGG"}


@pytest.fixture
def strands():
    return random_table(5, 30, NUCLEOTIDE, has_strand=True, empties=False)


@pytest.fixture
def table():
    (made,) = tropalign.align_all(SET, mode="global")
    return made


def gapped_rows(alignment):
    """The two rows of Biopython's alignment, target first."""
    return str(alignment[0]), str(alignment[1])


def test_rows_are_biopythons_and_share_records(strands):
    for row, made in zip(strands, strands.to_biopython(), strict=True):
        top, _, bottom = row.aligned()
        assert gapped_rows(made) == (bottom, top) and made.score == row.score
        assert np.array_equal(made.coordinates, row.coordinates)
        assert (made.target.id, made.query.id) == (row.target, row.query)
        assert str(made.target.seq) == strands.targets.text(row.target_index)
        assert str(made.query.seq) == strands.queries.text(row.query_index)
        counts = made.counts()
        assert counts.gaps == row.n_gaps and (made.coordinates[1, 0] > made.coordinates[1, -1]) == (row.strand < 0)
        assert gapped_rows(row.to_biopython()) == (bottom, top)
    made = list(strands.to_biopython())
    places = [(row.query_index, alignment.query) for row, alignment in zip(strands, made, strict=True)]
    assert len({id(record) for _, record in places}) == len({k for k, _ in places}) < len(made)


def test_biopython_finds_the_same_coordinates():
    """Its own aligner, with the same scores, on a pair of which the best alignment is one."""
    aligner = Align.PairwiseAligner(mode="global", match_score=5, mismatch_score=-4)
    aligner.open_gap_score, aligner.extend_gap_score = -11, -1
    target, query = "ACGTTGCATGCCGATTACA", "ACGTTGCAGCCGTTTACA"
    (other,) = aligner.align(target, query)
    mine = tropalign.align(query, target, mode="global", alphabet="nucleotide")
    assert np.array_equal(mine.coordinates, other.coordinates) and mine.score == other.score
    assert mine.coordinates.dtype == np.int64 and mine.to_biopython().aligned.tolist() == other.aligned.tolist()


def test_lesser_depths_and_empty_alignments_have_no_path():
    (table,) = tropalign.align_all(SET, report="ends")
    with pytest.raises(AttributeError, match="request report 'alignment'"):
        table[0].to_biopython()
    row = tropalign.align("WWW", "AAA", mode="local")
    assert row.coordinates.shape == (2, 1) and row.cigar == "*"


def test_equal_alignments_and_letters(strands):
    one, other = tropalign.align("MKVLAW", "MKILAW"), tropalign.align("MKVLAW", "MKILAW")
    assert one == other and hash(one) == hash(other) and len({one, other}) == 1
    assert one != tropalign.align("MKVLAW", "MKLLAW") and one != tropalign.align("MKVLAW", "MKILAW", report="ends")
    renamed = tropalign.align(("x", "MKVLAW")[1], "MKVLAW")
    assert one != renamed and one != "MKVLAW"
    again = copy.deepcopy(strands)
    assert all(a == b for a, b in zip(strands, again, strict=True))
    assert strands[0] != strands[1] and strands[0] == strands[-len(strands)]
    # The same numbers and names of other sequences.
    rows = [tropalign.align("AAAA", text, mode="global", alphabet="protein") for text in ("AAAC", "AAAV")]
    pairs = [tropalign.align("MKVA", text) for text in ("MKVA", "MKVA")]
    assert rows[0] != rows[1] and pairs[0] == pairs[1]


def test_equal_tables(strands):
    assert strands == pickle.loads(pickle.dumps(strands)) and strands == strands.slice(0, len(strands))
    assert strands != strands.slice(1, len(strands)) and strands != "x"
    assert strands != dataclasses.replace(strands, score=strands.score + 1)
    assert strands != dataclasses.replace(strands, strand=None)
    letters = strands.queries.letters.copy()
    letters[0] ^= 32
    other = dataclasses.replace(strands.queries, names=strands.queries.names, letters=letters)
    assert strands != dataclasses.replace(strands, queries=other)
    with pytest.raises(TypeError, match="unhashable"):
        hash(strands)


def test_matrices_of_a_set_and_of_two(table):
    scores, identities = table.matrix(), table.matrix("identity")
    for row in table:
        i, j = row.query_index, row.target_index
        assert scores[i, j] == scores[j, i] == row.score and identities[i, j] == identities[j, i] == row.identity
    assert np.isnan(scores.diagonal()).all() and (identities.diagonal() == 1).all()
    assert np.array_equal(table.matrix("distance"), 1 - identities)
    (table,) = tropalign.align_all({"x": "MKVLAW", "y": "MKIL"}, SET)
    assert np.array_equal(table.matrix().ravel(), table.score)


def test_what_is_no_matrix(table):
    with pytest.raises(UsageError, match="values 'scores' is not one of score, identity, distance"):
        table.matrix("scores")
    with pytest.raises(InputError, match="2 of its cells are empty \\(the first is a with b\\)"):
        table.slice(1, 3).matrix()
    (ends,) = tropalign.align_all(SET, report="ends")
    with pytest.raises(AttributeError, match="identity was not computed"):
        ends.matrix("identity")
