"""Certain pairs of two sequences, compared with their definition; and the stars that they make."""

import numpy as np
import pytest
from oracles import certain as oracle

import tropalign as ta
from tropalign import _native
from tropalign.msa.models import NUCLEOTIDE, PROTEIN
from tropalign.msa.star import SLACK, Kinship, losses_of, star_of


def relatives(rng: np.random.Generator, n: int, length: int, n_codes: int, n_changes: int) -> list[np.ndarray]:
    """Return a sequence and changed copies of it, as codes."""
    first = rng.integers(0, n_codes, length)
    found = [first]
    for _ in range(n - 1):
        codes = list(first)
        for _ in range(rng.integers(0, n_changes + 1)):
            place, kind = int(rng.integers(0, len(codes))), rng.integers(0, 3)
            if kind == 0:
                codes[place] = rng.integers(0, n_codes)
            elif kind == 1 and len(codes) > 1:
                del codes[place]
            else:
                codes.insert(place, rng.integers(0, n_codes))
        found.append(np.array(codes))
    return found


def certain(sequences, x, ys, most, losses, slack, n_threads=1):
    """Call the native function."""
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in sequences])]).astype(np.int64)
    tables = [np.ascontiguousarray(one, np.int32) for one in losses[:3]]
    return _native.certain_pairs(
        np.concatenate(sequences).astype(np.uint8), offsets, x, np.array(ys, np.int32), np.array(most, np.int32),
        *tables, losses[3], slack, n_threads,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_certain_if_no_good_alignment_leaves_their_pairs(seed):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        table = rng.integers(0, 12, (3, 3))
        pair = (table + table.T) // 2
        np.fill_diagonal(pair, rng.integers(0, 2))
        end = rng.integers(0, 4, 3)
        losses = oracle.Losses(
            pair.tolist(), (end + rng.integers(0, 4, 3)).tolist(), end.tolist(), int(rng.integers(6))
        )
        slack = int(rng.integers(0, 8))
        sequences = relatives(rng, 18, int(rng.integers(1, 13)), 3, 4)
        if rng.integers(2):  # fragments, and a centre that is one
            cuts = np.sort(rng.integers(0, 13, (18, 2)), 1)
            parts = [one[begin:end] for one, (begin, end) in zip(sequences, cuts, strict=True)]
            sequences = [part if len(part) else one for part, one in zip(parts, sequences, strict=True)]
        ys = list(range(1, 18))
        most = rng.integers(0, 60, 17)
        loss, column, is_certain = certain(sequences, 0, ys, most, losses, slack, n_threads=2)
        for k, y in enumerate(ys):
            lowest, rows = oracle.certain_rows(sequences[0].tolist(), sequences[y].tolist(), losses, slack)
            if lowest + slack > most[k]:
                assert loss[k] == -1 and not is_certain[k].any() and (column[k] == -1).all()
            else:
                assert loss[k] == lowest
                assert {int(i): int(column[k, i]) for i in np.flatnonzero(is_certain[k])} == rows


def test_long_pairs_are_computed_in_blocks():
    """The same with more rows than a block has: a second deletion far from the first one, and overhangs."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 4, 700)
    y = np.concatenate([rng.integers(0, 4, 5), x[9:300], x[310:600], rng.integers(0, 4, 7), x[600:690]])
    losses = losses_of(NUCLEOTIDE)[0]
    loss, column, is_certain = certain([x, y], 0, [1], [10**6], losses, SLACK)
    assert loss[0] > 0
    for begin, end, shift in ((20, 290, -4), (320, 590, -14), (610, 680, -7)):
        assert is_certain[0, begin:end].all()
        assert (column[0, begin:end] == np.arange(begin, end) + shift).all()
    assert not is_certain[0, 300:310].any() and (column[0, 302:308] == -1).all()
    same = certain([x, y], 0, [1], loss + SLACK, losses, SLACK)  # the narrowest range
    assert all((one == other).all() for one, other in zip((loss, column, is_certain), same, strict=True))
    assert certain([x, y], 0, [1], loss + SLACK - 1, losses, SLACK)[0] == -1


@pytest.mark.parametrize("seed", range(3))
def test_fragments_have_certain_rows_behind_long_overhangs(seed):
    """The centre has several blocks of rows, and the members begin late, end early, or reach beyond it."""
    rng = np.random.default_rng(seed)
    table = rng.integers(6, 14, (4, 4))
    pair = (table + table.T) // 2
    np.fill_diagonal(pair, rng.integers(0, 2))
    end = rng.integers(3, 6, 4)
    losses = oracle.Losses(pair.tolist(), (end + rng.integers(0, 3, 4)).tolist(), end.tolist(), int(rng.integers(6)))
    x = rng.integers(0, 4, 72)
    parts = [x[:9], x[61:], x[40:52], x[3:12], x[34:44], np.append(rng.integers(0, 4, 3), x[:8])]
    ys = [np.delete(part, 5) if k % 2 else part for k, part in enumerate(parts)]
    ys = [np.where(rng.random(len(y)) < 0.1, rng.integers(0, 4, len(y)), y) for y in ys]
    slack = int(rng.integers(1, 5))
    expected = [oracle.certain_rows(x.tolist(), y.tolist(), losses, slack) for y in ys]
    tight = [int(loss) + slack for loss, _ in expected]
    for most in (tight, [limit + 100 for limit in tight]):
        loss, column, is_certain = certain([x, *ys], 0, range(1, 7), most, losses, slack)
        assert loss.tolist() == [one for one, _ in expected]
        for k, (_, rows) in enumerate(expected):
            assert {int(i): int(column[k, i]) for i in np.flatnonzero(is_certain[k])} == rows
    assert sum(len(rows) > 3 for _, rows in expected) >= 2


@pytest.mark.parametrize(("begin", "end"), [(0, 400), (1900, 2300), (2600, 3000), (1200, 3000), (0, 1800)])
@pytest.mark.parametrize("is_centre", [False, True])
def test_fragments_are_certain_but_for_their_ends(begin, end, is_centre):
    x = np.random.default_rng(begin).integers(0, 4, 3000)
    part = x[begin:end]
    for losses in losses_of(NUCLEOTIDE):
        sequences = [part, x] if is_centre else [x, part]
        loss, column, is_certain = certain(sequences, 0, [1], [10**6], losses, SLACK)
        assert loss[0] == losses.end[np.concatenate([x[:begin], x[end:]])].sum()
        inner = slice(8, end - begin - 8) if is_centre else slice(begin + 8, end - 8)
        assert is_certain[0, inner].all()
        shift = begin if is_centre else -begin
        assert (column[0, inner] == np.arange(inner.start, inner.stop) + shift).all()
        assert is_certain.sum() <= end - begin


@pytest.mark.parametrize(("model", "letters"), [(NUCLEOTIDE, "ACGT"), (PROTEIN, "ACDEFGHIKLMNPQRSTVWY")])
def test_certain_residues_have_high_posteriors(model, letters):
    rng = np.random.default_rng(3)
    texts = ["".join(letters[k] for k in one) for one in relatives(rng, 12, 200, len(letters), 16)]
    batch = ta.SequenceBatch.from_strings(texts, alphabet=model.alphabet)
    star = star_of(batch, 0, np.zeros(12), model, 1)
    assert not star.is_given_up.any() and star.are_certain.mean() > 0.7
    pairs = np.array([[0, k] for k in range(1, 12)], np.int32)
    _, sizes, columns, values = _native.pair_posteriors(
        batch.codes, batch.offsets, pairs, **model.arguments(), cutoff=0.01, keep=0.0, n_threads=1
    )
    rows = np.repeat(np.arange(len(sizes)), sizes)
    for k in range(1, 12):
        for i in np.flatnonzero(star.are_certain[k]):
            here = rows == (k - 1) * 200 + i
            assert values[here][columns[here] == star.columns[k, i]] > 0.9 * 32767


def test_the_centre_is_no_stranger():
    rng = np.random.default_rng(5)
    family = ["".join("ACGT"[k] for k in one) for one in relatives(rng, 6, 900, 4, 20)]
    stranger = "".join("ACGT"[k] for k in rng.integers(0, 4, 900))
    batch = ta.SequenceBatch.from_strings([stranger, *family])
    kinship = Kinship(batch)
    assert kinship.centre and kinship.shared > 0.5
    distances = kinship.compared().distances
    assert distances[kinship.centre] == 0 and distances[0] > 0.3 > distances[1:].max()
    star = star_of(batch, kinship.centre, distances, NUCLEOTIDE, 1)
    assert star.is_given_up.tolist() == [True, *[False] * 6]
    assert not star.are_certain[0].any()


def test_fragments_of_other_composition_than_the_rest_are_certain():
    """The overhang loses much less, or much more, per residue than the whole centre would on average."""
    rng = np.random.default_rng(6)
    rich, poor = rng.choice(list("CW"), 1200), rng.choice(list("AIKL"), 2400)
    whole = "".join([*rich, *poor])
    parts = [["".join(part[k:]) for k in range(36)] for part in (rich, poor[:1200])]
    batch = ta.SequenceBatch.from_strings([whole, *parts[0], *parts[1]], alphabet="protein")
    starts = np.array([0, *range(36), *range(1200, 1236)])
    star = star_of(batch, 0, np.zeros(73), PROTEIN, 1, starts=starts)
    assert not star.is_given_up.any()
    assert star.are_certain[1:].sum(1).min() > 1100
