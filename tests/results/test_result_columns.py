"""What all tables of results have in common: each class once, in the results of `test_pickles.py`."""

import pickle
import sys

import numpy as np
import pytest
from test_pickles import MAKERS

from tropalign import InputError, ragged
from tropalign.results.aligned_pairs import AlignedPairs
from tropalign.results.columns import Rows, Table

ROWS = {name: made for name, make in MAKERS.items() if isinstance(made := make(), Rows)}
ROWS["domains"] = ROWS["hits"].domains
TABLES = {name: made for name, made in ROWS.items() if isinstance(made, Table)}


def test_every_kind_of_result_is_here():
    def kinds(base):
        return {one for kind in base.__subclasses__() for one in (kind, *kinds(kind))}

    assert {type(made) for made in ROWS.values()} == kinds(Rows) - {Table, AlignedPairs}


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_equal_and_pickled(name):
    result = ROWS[name]
    n = len(result)
    assert [str(one) for one in result] == [str(result[k]) for k in range(n)] and n
    assert str(result[-1]) == str(result[n - 1]) == str(result[np.int64(n - 1)])
    every = np.arange(n)
    for part in (result[:], result[every], result[np.ones(n, bool)], result.take(every), result.slice(0, n + 5)):
        assert type(part) is type(result) and part == result and str(part) == str(result)
    backwards = result[::-1]
    assert [str(one) for one in backwards] == [str(one) for one in result][::-1]
    assert backwards[::-1] == result and (n == 1 or backwards != result)
    assert len(result[:0]) == len(result[[]]) == len(result[5:2]) == 0 and list(result[:0]) == []
    for wrong in (n, -n - 1, [n], [0.5], np.ones(n + 1, bool)):
        with pytest.raises(IndexError):
            result[wrong]
    assert pickle.loads(pickle.dumps(result)) == result != object()
    assert result != result[:0]
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)


def known(columns):
    """Columns as lists, without what is not a number, which equals nothing."""
    return {key: [None if value != value else value for value in values] for key, values in columns.items()}


@pytest.mark.parametrize("name", TABLES)
def test_other_libraries(name):
    pytest.importorskip("pandas"), pytest.importorskip("polars")
    result = TABLES[name]
    for table in (result, result[:0]):
        columns = known(table.columns())
        frames = (table.to_pandas().to_dict("list"), table.to_polars().to_dict(as_series=False))
        assert all(known(frame) == columns for frame in frames)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_named_with_the_remedy(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=f"{name} is not installed: pip install {name}"):
        getattr(next(iter(TABLES.values())), f"to_{name}")()


@pytest.mark.parametrize("name", ROWS)
def test_notebooks(name):
    page = ROWS[name]._repr_html_()
    assert page.startswith("<p>") and repr(ROWS[name]).splitlines()[0].strip("<>") in page
    assert name not in TABLES or all(f"<th>{column}</th>" in page for column in ("score",) if "<th>score" in page)
    assert ROWS[name][:0]._repr_html_()


def test_a_cluster_is_taken_once():
    found = ROWS["clusters"]
    with pytest.raises(IndexError, match="selected twice"):
        found.take(np.array([0, 0]))
    (one,) = found[[1]]
    assert one == found[1] and found[[1]].columns()["member"].tolist() == one.members


@pytest.mark.parametrize("at_a_time", [1, 7, 1 << 20])
def test_values_of_rows_are_gathered_some_at_a_time(monkeypatch, at_a_time):
    monkeypatch.setattr("tropalign.ragged.VALUES_AT_A_TIME", at_a_time)
    draw = np.random.default_rng(at_a_time)
    offsets = ragged.offsets_of(draw.integers(0, 5, 40))
    values, others = draw.integers(0, 99, offsets[-1]), draw.random(offsets[-1])
    for rows in (draw.integers(0, 40, 60), np.arange(40), np.zeros(0, np.int64), np.array([3, 3, 0])):
        one, other = ragged.gathered([values, others], offsets, rows)
        wanted = [k for row in rows for k in range(offsets[row], offsets[row + 1])]
        assert one.tolist() == values[wanted].tolist() and other.tolist() == others[wanted].tolist()
