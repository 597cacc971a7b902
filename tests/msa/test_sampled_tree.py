"""Trees of families that are sampled."""

import numpy as np
import pytest
from msa.evolved import evolved_family

import tropalign
from tropalign.msa.large_tree import family_tree, fast_tree


def batch_of(n, length=50, seed=1, **how):
    return tropalign.SequenceBatch.from_strings(evolved_family(n, length, seed, **how)[0])


def test_small_families_are_not_sampled():
    batch = batch_of(30)
    assert family_tree(batch, 1).children.tolist() == fast_tree(batch, 1)[0].children.tolist()


@pytest.mark.parametrize(("most", "n_seeds"), [(8, 4), (3, 2), (20, 60), (59, 7)])
def test_every_sequence_is_there_once(most, n_seeds):
    batch = batch_of(60, fragments=0.3, depth=2.0)
    tree = family_tree(batch, 2, most=most, n_seeds=n_seeds)
    assert sorted(tree.leaf_order()) == list(range(60))
    assert sorted(tree.children.ravel().tolist()) == list(range(118))
    assert (tree.children < 60 + np.arange(59)[:, None]).all()


def test_same_for_any_number_of_threads():
    batch = batch_of(60)
    one, other = (family_tree(batch, n_threads, most=10, n_seeds=6) for n_threads in (1, 3))
    assert one.children.tolist() == other.children.tolist()


def test_equal_sequences_are_divided():
    """No seed is nearer than another, so that all go to one of them: the family is cut by length."""
    batch = tropalign.SequenceBatch.from_strings(["MKVLAWERTG"] * 40)
    assert sorted(family_tree(batch, 1, most=5, n_seeds=3).leaf_order()) == list(range(40))


def test_kin_stays_together():
    """Two families that have nothing in common, of which the sample knows: each is a clade of the seeds' tree."""
    texts = [text for seed in (1, 2) for text in evolved_family(40, 120, seed, depth=0.3)[0]]
    tree = family_tree(tropalign.SequenceBatch.from_strings(texts), 1, most=30, n_seeds=8)
    below = [{leaf} for leaf in range(80)]
    for left, right in tree.children.tolist():
        below.append(below[left] | below[right])
    assert [below[k] for k in sorted(tree.children[-1].tolist(), key=lambda k: min(below[k]))] == [
        set(range(40)),
        set(range(40, 80)),
    ]


def test_progress_ascends():
    seen = []
    family_tree(batch_of(60), 1, lambda n: lambda begun: seen.append(begun / n), most=10, n_seeds=6)
    assert seen == sorted(seen) and 0 < seen[-1] <= 1
