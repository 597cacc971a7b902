"""Posteriors near the best alignments alone."""

import numpy as np
import pytest
from msa.evolved import evolved_family
from oracles import corridors as oracle

import tropalign
from tropalign import _native
from tropalign.msa.models import NUCLEOTIDE, PROTEIN, PROTEIN_1

ONE = 32767


def found(batch, pairs, slack, model=PROTEIN, n_threads=1, cutoff=0.01):
    """Per pair its distance and its elements: rows, columns, values."""
    pairs = np.array(pairs, np.int32).reshape(-1, 2)
    distance, sizes, columns, values = _native.pair_posteriors(
        batch.codes, batch.offsets, pairs, **model.arguments(), cutoff=cutoff, keep=0.0, n_threads=n_threads,
        slack=slack,
    )  # fmt: skip
    lengths = batch.lengths[pairs[:, 0]]
    rows = np.concatenate([[0], np.cumsum(lengths)])
    ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    out = []
    for k in range(len(pairs)):
        at = slice(ends[rows[k]], ends[rows[k + 1]])
        row = np.repeat(np.arange(lengths[k]), sizes[rows[k] : rows[k + 1]])
        out.append((float(distance[k]), row.tolist(), columns[at].tolist(), values[at].tolist()))
    return out


def compare(expected, rows, columns, values):
    """What was found of a pair with the posteriors of all its cells; below the cutoff none is kept."""
    is_kept = np.zeros(expected.shape, bool)
    is_kept[rows, columns] = True
    np.testing.assert_allclose(np.array(values) / ONE, expected[rows, columns], atol=2e-4)
    assert expected[~is_kept].max(initial=0.0) < 0.0102


def family(n, length, seed, depth=1.0):
    texts, _ = evolved_family(n, length, seed, depth=depth)
    return tropalign.SequenceBatch.from_strings(texts, alphabet=tropalign.PROTEIN)


@pytest.mark.parametrize("model", [PROTEIN, PROTEIN_1])
@pytest.mark.parametrize(("length", "depth", "slack"), [(40, 0.5, 5.0), (70, 1.0, 3.0), (57, 2.0, 5.0), (3, 1.0, 5.0)])
def test_equals_oracle(model, length, depth, slack):
    batch = family(4, length, 3, depth)
    codes = [batch.codes[slice(*batch.offsets[k : k + 2])].tolist() for k in range(4)]
    pairs = [(0, 1), (2, 1), (2, 3)]  # the first of each is the one whose rows are in blocks
    left_out = 0
    for (a, b), (_, rows, columns, values) in zip(pairs, found(batch, pairs, slack, model), strict=True):
        spans = oracle.corridor(model, codes[a], codes[b], slack)
        expected = np.array(oracle.both(model, codes[a], codes[b], spans))
        compare(expected, rows, columns, values)
        left_out += expected.size - sum(last - first + 1 for first, last in spans)
    assert left_out > 0 or length < 10


def test_nucleotides_equal_oracle():
    rng = np.random.default_rng(2)
    text = "".join(rng.choice(list("ACGT"), 60))
    other = text[5:20] + text[24:50] + "ACCA" + text[50:]
    batch = tropalign.SequenceBatch.from_strings([text, other], alphabet=tropalign.NUCLEOTIDE)
    x, y = (batch.codes[slice(*batch.offsets[k : k + 2])].tolist() for k in (0, 1))
    ((_, rows, columns, values),) = found(batch, [(0, 1)], 5.0, NUCLEOTIDE)
    expected = np.array(oracle.both(NUCLEOTIDE, x, y, oracle.corridor(NUCLEOTIDE, x, y, 5.0)))
    compare(expected, rows, columns, values)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_no_pair_depends_on_the_others(n_threads):
    """Neither on those beside it nor on the widths of vectors: units are of other pairs, and of other numbers."""
    batch = family(24, 90, 5, 1.5)
    pairs = np.stack(np.triu_indices(24, 1), 1)
    whole = found(batch, pairs, 5.0, n_threads=n_threads)
    rng = np.random.default_rng(1)
    for size in (1, 2, 5, 9, 40):
        chosen = rng.choice(len(pairs), size, replace=False)
        assert found(batch, pairs[chosen], 5.0) == [whole[k] for k in chosen]


def test_few_posteriors_are_lost():
    batch = family(12, 120, 7)
    pairs = np.stack(np.triu_indices(12, 1), 1)
    near, whole = found(batch, pairs, 5.0), found(batch, pairs, 0.0)
    there = [dict(zip(zip(*one[1:3], strict=True), one[3], strict=True)) for one in near]
    all_of = [dict(zip(zip(*one[1:3], strict=True), one[3], strict=True)) for one in whole]
    lost = sum(value for a, b in zip(there, all_of, strict=True) for place, value in b.items() if place not in a)
    assert lost <= 0.005 * sum(sum(one.values()) for one in all_of)


@pytest.mark.parametrize("texts", [["M", "W"], ["MKVL", "M"], ["A" * 300, "A" * 5], ["MKVLAW" * 40, "WALVKM" * 3]])
def test_odd_pairs(texts):
    batch = tropalign.SequenceBatch.from_strings(texts, alphabet=tropalign.PROTEIN)
    for pair in ([0, 1], [1, 0]):
        ((distance, rows, columns, _),) = found(batch, [pair], 5.0)
        assert 0 <= distance <= 1 and all(row < batch.lengths[pair[0]] for row in rows)
        assert all(column < batch.lengths[pair[1]] for column in columns)


def test_long_pairs_are_computed_whole():
    rng = np.random.default_rng(1)
    text = "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 1500))
    batch = tropalign.SequenceBatch.from_strings([text, text[:1450], "MKVLAW"], alphabet=tropalign.PROTEIN)
    pairs = [(0, 1), (0, 2)]
    assert found(batch, pairs, 5.0)[0] == found(batch, pairs, 0.0)[0]


@pytest.mark.parametrize("slack", [-1.0, float("nan"), 13.0])
def test_slack_is_checked(slack):
    with pytest.raises(ValueError, match="slack: not from 0 to 12"):
        found(family(2, 20, 1), [(0, 1)], slack)
