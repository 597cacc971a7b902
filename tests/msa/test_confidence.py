"""How sure an alignment is, against its definition in plain loops."""

import numpy as np
import pytest

from tropalign.msa import confidence
from tropalign.msa.confidence import ONE, Confidence
from tropalign.msa.task import Posteriors
from tropalign.sequences import SequenceBatch


def family(lengths, rng):
    """Sequences, columns, and dense matrices of all pairs (larger index first now and then)."""
    batch = SequenceBatch.from_strings(["M" * length for length in lengths])
    columns = np.concatenate([np.sort(rng.choice(2 * max(lengths), length, False)) for length in lengths])
    matrices = {}
    for x in range(len(lengths)):
        for y in range(x):
            pair = (x, y) if rng.random() < 0.5 else (y, x)
            values = rng.integers(1, ONE + 1, (lengths[pair[0]], lengths[pair[1]]))
            matrices[pair] = np.where(rng.random(values.shape) < 0.4, values, 0)
    return batch, columns.astype(np.int32), matrices


def posteriors(matrices):
    kept = [np.nonzero(matrix) for matrix in matrices.values()]
    sizes = [np.bincount(i, minlength=len(m)) for (i, _), m in zip(kept, matrices.values(), strict=True)]
    values = [m[at] for m, at in zip(matrices.values(), kept, strict=True)]
    return Posteriors(
        np.array(list(matrices), np.int32),
        np.zeros(len(matrices), np.float32),
        np.concatenate(sizes).astype(np.uint16),
        np.concatenate([j for _, j in kept]).astype(np.uint16),
        np.concatenate(values).astype(np.uint16),
    )


def means_by_loops(batch, columns, matrices, weights):
    """From the definition: over all pairs of residues in one column."""
    where = np.repeat(np.arange(len(batch)), batch.lengths)
    n = len(columns)
    own, of_own, summed, of_summed = np.zeros(n), np.zeros(n), np.zeros(columns.max() + 1), np.zeros(columns.max() + 1)
    for a in range(n):
        for b in range(n):
            x, y = where[a], where[b]
            if x == y or columns[a] != columns[b]:
                continue
            i, j = a - batch.offsets[x], b - batch.offsets[y]
            p = (matrices[x, y][i, j] if (x, y) in matrices else matrices[y, x][j, i]) / ONE
            own[a] += weights[y] * p
            of_own[a] += weights[y]
            summed[columns[a]] += weights[x] * weights[y] * p
            of_summed[columns[a]] += weights[x] * weights[y]
    return own / np.maximum(of_own, 1e-9), summed / np.maximum(of_summed, 1e-9)


@pytest.mark.parametrize("piece", [1, 40, 1 << 18])
@pytest.mark.parametrize("lengths", [[3, 5], [6, 4, 7, 1], [9] * 6])
def test_means(lengths, piece, monkeypatch):
    monkeypatch.setattr(confidence, "PIECE", piece)
    rng = np.random.default_rng(len(lengths))
    batch, columns, matrices = family(lengths, rng)
    weights = rng.random(len(lengths)) + 0.1
    weights /= weights.sum()
    found = Confidence(batch, columns, weights)
    found.add(posteriors(matrices))
    for mine, theirs in zip(found.means(), means_by_loops(batch, columns, matrices, weights), strict=True):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, theirs, atol=2e-5)


def test_the_same_in_any_order():
    rng = np.random.default_rng(1)
    batch, columns, matrices = family([30, 41, 25, 37], rng)
    weights = rng.random(4)
    means = []
    for order in (list(matrices), list(matrices)[::-1]):
        found = Confidence(batch, columns, weights)
        for pair in order:
            found.add(posteriors({pair: matrices[pair]}))
        means.append(found.means())
    assert all(np.array_equal(one, other) for one, other in zip(*means, strict=True))
