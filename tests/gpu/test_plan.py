"""Which pairs run side by side."""

import numpy as np
import pytest

from tropalign.pairwise.gpu_plan import COLUMNS, Flag, Lane, Shape, Source, Unit, Width, plan

NOTHING_FREE = (False,) * 4


def narrow(lengths, word_bits=16):
    return Width(word_bits, np.zeros(len(lengths), np.int64), 1, 0)


def launches_of(query, target, lengths, word_bits=16, group=16, width=None):
    query, target, lengths = (np.asarray(a, np.int64) for a in (query, target, lengths))
    rank = np.empty(len(lengths), np.int32)
    rank[np.argsort(-lengths, kind="stable")] = np.arange(len(lengths))
    shape = Shape(group)
    made = plan(query, target, lengths, rank, NOTHING_FREE, width or narrow(lengths, word_bits), shape)
    assert sorted(np.concatenate([launch.pair for launch in made])) == list(range(len(query)))
    for launch in made:
        check_launch(launch, query, target, lengths, shape)
    return made


def check_launch(launch, query, target, lengths, shape):
    """Every pair finds its two sequences where the kernels look for them, and room for all their rows and columns."""
    group, rows = shape.group, shape.rows[launch.source]
    assert (np.diff(launch.where // 2) >= 0).all()
    unit, lane, half = launch.where // (4 * group), launch.where // 4 % group, launch.where // 2 % 2
    if launch.source == Source.OWN_ROWS:
        row = launch.lanes[unit, lane, Lane.ROW + half]
    else:
        row = launch.units[unit, Unit.ROW_LO + half if launch.source == Source.SHARED_ROWS else 0]
    column = launch.lanes[unit, lane, Lane.COLUMN + half]
    rows_are_query = launch.where & 1 != 0
    np.testing.assert_array_equal(np.where(rows_are_query, row, column), query[launch.pair])
    np.testing.assert_array_equal(np.where(rows_are_query, column, row), target[launch.pair])
    assert (launch.units[unit, Unit.TILES] * rows >= lengths[row]).all()
    assert (launch.units[unit, Unit.BLOCKS] * COLUMNS >= lengths[column]).all()
    is_short = launch.units[unit, Unit.FLAGS] & Flag.MIRRORED != 0
    query_is_long = lengths[query[launch.pair]] >= lengths[target[launch.pair]]
    np.testing.assert_array_equal(is_short, rows_are_query != query_is_long)
    cost = launch.units[:, Unit.TILES].astype(int) * launch.units[:, Unit.BLOCKS]
    assert (np.diff(cost) <= 0).all()
    if launch.word_bits == 32:
        assert not half.any()


@pytest.mark.parametrize("word_bits", [16, 32])
def test_all_pairs_of_a_set_share_profiles(word_bits):
    rng = np.random.default_rng(1)
    query, target = np.triu_indices(100, 1)
    made = launches_of(query, target, rng.integers(100, 300, 100), word_bits)
    shared = sum(len(launch.pair) for launch in made if launch.source == Source.SHARED_ROWS)
    assert shared > 0.9 * len(query)
    if word_bits == 16:  # two pairs in most lanes
        couples = [launch for launch in made if launch.source == Source.SHARED_ROWS]
        used = sum((launch.lanes[:, :, Lane.COLUMN :] >= 0).any(axis=2).sum() for launch in couples)
        assert shared / used > 1.7


def test_profiles_and_groups_of_pairs():
    (launch,) = launches_of(np.zeros(200), np.arange(1, 201), np.full(201, 50))
    assert launch.source == Source.SHARED_ROW and len(launch.units) == 7  # 200 pairs, two per lane of 16
    (launch,) = launches_of(np.arange(50), np.arange(50, 100), np.full(100, 50))
    assert launch.source == Source.OWN_ROWS and len(launch.units) == 2
    made = launches_of([0, 0, 1], [1, 2, 2], [6000, 5000, 40])
    assert sorted((launch.strips, len(launch.pair)) for launch in made) == [(False, 2), (True, 1)]


@pytest.mark.parametrize("seed", range(20))
def test_any_pairs(seed):
    rng = np.random.default_rng(seed)
    n, count = rng.integers(2, 60), rng.integers(1, 800)
    query, target = rng.integers(0, n, count), rng.integers(0, n, count)
    launches_of(query, target, rng.integers(1, 90, n), int(rng.choice([16, 32])), int(rng.choice([8, 16, 64])))


def test_wide_values_and_arrays_that_do_not_fit():
    """The lesser bound of the two sequences, and `extend` a residue of the longer one."""
    bound = np.array([100, 100, 80, 10], np.int64)
    made = launches_of([0, 0, 2, 3], [1, 2, 1, 0], np.full(4, 10), width=Width(16, bound, 110, 2))
    bits = {int(pair): launch.word_bits for launch in made for pair in launch.pair}
    assert bits == {0: 32, 1: 16, 2: 16, 3: 16}
    numbers = np.arange(4)
    with pytest.raises(ValueError, match="unequal lengths"):
        plan(numbers, numbers[:3], numbers, numbers.astype(np.int32), NOTHING_FREE, narrow(numbers), Shape())
