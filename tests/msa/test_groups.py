"""Posteriors of groups against the formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import large as oracle
from oracles.progressive import ONE
from posterior_stores import random_family, sparse

import tropalign
from tropalign import _native
from tropalign.devices.registry import open_devices
from tropalign.msa.groups import Item, ItemPair, Pool, starting_columns
from tropalign.msa.models import PROTEIN_2


def dense(row_sizes, columns, values, n_columns):
    found = np.zeros((len(row_sizes), n_columns), np.int64)
    found[np.repeat(np.arange(len(row_sizes)), row_sizes), columns] = values
    return found


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_pooled_posteriors(seed, n_x, n_y, n_threads):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 30, n_x + n_y)
    sizes = [int(part.max() + rng.integers(0, 5)) for part in (lengths[:n_x], lengths[n_x:])]
    columns = [np.sort(rng.choice(sizes[k >= n_x], n, replace=False)) for k, n in enumerate(lengths)]
    pairs = [(a, n_x + b) for a in range(n_x) for b in range(n_y)]
    matrices = {pair: random_family(rng, [lengths[k] for k in pair])[0, 1] for pair in pairs}
    parts = [sparse(matrices[pair]) for pair in pairs]
    least = 200
    found = _native.pool_posteriors(
        np.array(pairs, np.int32),
        *(np.concatenate(part) for part in zip(*parts, strict=True)),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate(columns).astype(np.uint16),
        np.array([0, len(pairs)]),
        *(np.array([size], np.int32) for size in sizes),
        least / ONE,
        n_threads,
    )
    places = [(columns[a], columns[b]) for a, b in pairs]
    expected = oracle.pooled([matrices[pair] for pair in pairs], places, *sizes)
    got = dense(*found, sizes[1])
    error = 1 + len(pairs) / 2  # the share of a pair is rounded by up to 2 ** -16
    kept = got > 0
    np.testing.assert_allclose(got[kept], expected[kept], atol=error)
    assert (got[kept] >= least).all() and (expected[~kept] < least + error).all()


BATCH = tropalign.SequenceBatch.from_strings(["MKVLAWERTGH", "MKVIAWQRTG", "MRLAWERTGH", "MKVLRTGHW", "KVLAWER"])


def pool(column_of=None):
    columns = starting_columns(BATCH) if column_of is None else column_of
    return Pool(BATCH, columns, PROTEIN_2, 0.01, 0.0, open_devices(["cpu"], 1, 1, 1 << 30), 1)


def test_sequences_are_groups_of_one():
    items = [Item(np.array([k]), int(n), (k,)) for k, n in enumerate(BATCH.lengths)]
    pairs = np.array([(3, 1), (0, 4)], np.int32)
    found = pool().posteriors([ItemPair(items[x], items[y]) for x, y in pairs])
    expected = _native.pair_posteriors(
        BATCH.codes, BATCH.offsets, pairs, **PROTEIN_2.arguments(), cutoff=0.01, keep=0.0, n_threads=1
    )
    for one, other in zip(found, expected, strict=False):
        assert np.array_equal(one, other)
    assert found.row_begins.tolist() == [0, 9, 20]
    second = found.part(1, 2)
    assert second.distance.tolist() == [found.distance[1]] and len(second.row_sizes) == 11
    assert second.columns.tolist() == found.columns[found.element_begins[1] :].tolist()


def test_representatives_of_two_groups_meet_in_equal_numbers():
    x, y = (Item(np.arange(8), 9, tuple(range(first, first + 8))) for first in (0, 8))
    pairs = ItemPair(x, y, 4).pairs()
    assert len(set(pairs)) == 32 and len(ItemPair(x, y).pairs()) == 64
    assert (np.bincount(np.array(pairs).ravel()) == 4).all()
    assert len(ItemPair(Item(np.arange(1), 9, (0,)), y, 4).pairs()) == 8  # a sequence meets all representatives


def test_representatives_stand_for_their_groups():
    column_of = starting_columns(BATCH)
    column_of[BATCH.offsets[2] + 2 : BATCH.offsets[3]] += 1  # "MR-LAWERTGH" below "MKVLAWERTGH"
    x, y = Item(np.array([0, 2]), 11, (0, 2)), Item(np.array([1]), 10, (1,))
    found = pool(column_of).posteriors([ItemPair(x, y)])
    sequences = _native.pair_posteriors(
        BATCH.codes,
        BATCH.offsets,
        np.array([(0, 1), (2, 1)], np.int32),
        **PROTEIN_2.arguments(),
        cutoff=0.01,
        keep=0.0,
        n_threads=1,
    )
    assert found.distance[0] == pytest.approx(sequences[0].mean())
    split = int(sequences[1][:11].sum())
    first = dense(sequences[1][:11], sequences[2][:split], sequences[3][:split], 10)
    second = dense(sequences[1][11:], sequences[2][split:], sequences[3][split:], 10)
    expected = oracle.pooled(
        [first, second], [(np.arange(11), np.arange(10)), (column_of[21:31], np.arange(10))], 11, 10
    )
    np.testing.assert_allclose(dense(found.row_sizes, found.columns, found.values, 10), expected, atol=1)
