import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tropalign.results.placements import READ_COLUMNS, Placements, concatenate

reads = st.lists(st.lists(st.one_of(st.just(-1), st.integers(0, 50)), max_size=8), max_size=6)


def placements(columns, branch=None):
    """Reads of these columns, everything else made up."""
    rng = np.random.default_rng(len(columns))
    n, lengths = len(columns), [len(some) for some in columns]
    tied = [list(range(k % 4)) for k in range(n)]
    return Placements(
        names=tuple(f"r{k}" for k in range(n)),
        letters=rng.integers(65, 91, sum(lengths)).astype(np.uint8),
        offsets=np.cumsum([0, *lengths]).astype(np.int64),
        branch=np.arange(n, dtype=np.int64) - 1 if branch is None else branch,
        score=rng.integers(0, 99, n).astype(np.int32),
        second_score=rng.integers(0, 99, n).astype(np.int32),
        ties=rng.integers(1, 9, n),
        strand=rng.choice(np.array([1, -1], np.int8), n),
        tied_branches=np.array([b for some in tied for b in some], np.int64),
        tied_offsets=np.cumsum([0, *map(len, tied)]).astype(np.int64),
        column=np.array([c for some in columns for c in some], np.int32),
    )


def same(a, b):
    assert a.names == b.names
    for field in dataclasses.fields(Placements):
        assert np.array_equal(getattr(a, field.name), getattr(b, field.name)), field.name


def plain_span(columns):
    at = [k for k, column in enumerate(columns) if column >= 0]
    if not at:
        return 0, 0, 0, len(columns)
    inside = at[-1] - at[0] + 1
    return columns[at[0]], columns[at[-1]] + 1, inside - len(at), len(columns) - inside


@given(reads)
def test_spans(columns):
    columns = [[c if c < 0 else 10 * k + c for k, c in enumerate(some)] for some in columns]
    spans = placements(columns).spans()
    assert all(span.dtype == np.int64 for span in spans)
    assert list(zip(*(span.tolist() for span in spans), strict=True)) == [plain_span(some) for some in columns]


@given(reads, st.data())
def test_take_and_concatenate(columns, data):
    whole = placements(columns)
    assert [some.tolist() for some in whole.tied] == [list(range(k % 4)) for k in range(len(columns))]
    cut = data.draw(st.integers(0, len(columns)))
    same(concatenate([whole.take(np.arange(cut)), whole.take(np.arange(cut, len(columns)))]), whole)
    same(whole.take(whole.branch >= 0), whole.take(np.flatnonzero(whole.branch >= 0)))
    chosen = np.array(data.draw(st.lists(st.integers(0, len(columns) - 1), max_size=5)) if columns else [], np.int64)
    taken = whole.take(chosen)
    assert taken.names == tuple(whole.names[k] for k in chosen)
    for k, old in enumerate(chosen.tolist()):
        assert taken.tied[k].tolist() == whole.tied[old].tolist()
        assert all(np.array_equal(a, b) for a, b in zip(taken.read(k), whole.read(old), strict=True))


def test_one_read_and_none():
    placed = placements([[1, 2], [], [4]])
    assert placed.read(-1)[1].tolist() == placed.read(2)[1].tolist() == [4]
    for k in (3, -4):
        with pytest.raises(IndexError, match=f"read {k} of 3"):
            placed.read(k)
    with pytest.raises(ValueError, match="no placements"):
        concatenate([])
    assert repr(placements([[1], [2], []])) == "<Placements: 3 reads, 2 of them placed>"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        *(({name: np.zeros(2, dtype)}, f"column {name} has 2 items, not 3") for name, dtype in READ_COLUMNS.items()),
        ({"score": np.zeros(3)}, "column score must be a one-dimensional array of int32"),
        ({"letters": b"abc"}, "column letters must be a one-dimensional array of uint8"),
        ({"column": np.zeros(2, np.int32)}, "column column has 2 items, not 3"),
        ({"offsets": np.array([0, 1, 2])}, "column offsets has 3 items, not 4"),
        ({"offsets": np.array([0, 2, 1, 3])}, "offsets must be in ascending order"),
        ({"offsets": np.array([0, 1, 2, 9])}, "end with the number of letters"),
        ({"tied_offsets": np.array([1, 1, 2, 3])}, "start with 0 and end with the number of tied_branches"),
    ],
)
def test_columns_are_checked(change, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(placements([[1], [2], [-1]]), **change)
