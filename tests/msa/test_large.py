"""Large families: what the division may not change, and what it promises."""

import numpy as np
import pytest
from msa.evolved import evolved_family

import tropalign
from tropalign.devices.registry import open_devices
from tropalign.msa.copies import unique_sequences, with_copies
from tropalign.msa.group_alignment import representatives
from tropalign.msa.groups import Item
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.large import Division, align_large
from tropalign.msa.options import options_of

SMALL = Division(most_items=6, n_representatives=3)


def aligned(batch, n_threads=1, division=SMALL, progress=None, **options):
    devices = open_devices(["cpu"], n_threads, 1, 1 << 30)
    return align_large(batch, options_of("fast", **options), devices, n_threads, progress, division)


def family(n=40, length=60, seed=1, **how):
    texts, columns = evolved_family(n, length, seed, **how)
    return tropalign.SequenceBatch.from_strings(texts), columns


def true_share(batch, columns, true):
    """The share of truly aligned pairs of residues that are aligned."""
    good = n_pairs = 0
    parts = np.split(columns, batch.offsets[1:-1])
    for x in range(len(batch)):
        for y in range(x):
            _, i, j = np.intersect1d(true[x], true[y], return_indices=True)
            good += int((parts[x][i] == parts[y][j]).sum())
            n_pairs += len(i)
    return good / n_pairs


def test_evolved_family_is_found_again():
    batch, true = family()
    found = aligned(batch)
    for part in np.split(found.columns, batch.offsets[1:-1]):
        assert (np.diff(part) > 0).all()
    assert np.unique(found.columns).tolist() == list(range(found.columns.max() + 1))
    assert true_share(batch, found.columns, true) > 0.95


def test_one_group_is_a_small_family():
    """Where all sequences fit one group, the stages are those of a small family."""
    batch, _ = family(12, depth=2.0)
    found = aligned(batch, division=Division(most_items=12), consistency=2, refine=30)
    expected = tropalign.align_multiple(batch, mode="default")
    assert found.columns.tolist() == expected.columns.tolist()
    np.testing.assert_allclose(found.residue_confidence, expected.residue_confidence, atol=0.1)  # its own weights


@pytest.mark.parametrize("n_threads", [2, 5])
def test_same_for_any_number_of_threads(n_threads):
    batch, _ = family(60, seed=2)
    one, other = aligned(batch), aligned(batch, n_threads)
    assert one.tree.to_bytes() == other.tree.to_bytes()
    for first, second in zip(one, other, strict=True):
        if not isinstance(first, GuideTree):
            np.testing.assert_array_equal(first, second)


def test_copies_have_the_columns_of_their_first():
    batch, _ = family(20)
    order = [0, 1, 0, 2, 0, *range(3, 20), 7]
    twice = tropalign.SequenceBatch.from_strings([batch.text(k) for k in order])
    found, expected = aligned(twice), aligned(batch)
    parts, wanted = np.split(found.columns, twice.offsets[1:-1]), np.split(expected.columns, batch.offsets[1:-1])
    assert all(part.tolist() == wanted[k].tolist() for part, k in zip(parts, order, strict=True))
    assert found.tree.children.shape == (22, 2)
    assert sorted(found.tree.leaf_order()) == list(range(23))


@pytest.mark.parametrize("texts", [["MKVLAW"] * 5, ["MKVLAW", "MKILW"], ["M", "K", "W" * 70, "A"]])
def test_tiny_families(texts):
    batch = tropalign.SequenceBatch.from_strings(texts)
    found = aligned(batch)
    assert len(found.columns) == len(batch.codes) and len(found.tree.children) == len(texts) - 1
    assert ((found.residue_confidence >= 0) & (found.residue_confidence <= 1)).all()
    assert len(found.column_confidence) == found.columns.max() + 1


def test_tree_has_every_sequence_once():
    batch, _ = family(50, seed=3)
    tree = aligned(batch).tree
    assert sorted(tree.leaf_order()) == list(range(50)) and (tree.branch_lengths >= 0).all()
    assert sorted(tree.children.ravel().tolist()) == list(range(98))


def test_nucleotides():
    rng = np.random.default_rng(5)
    letters = np.frombuffer(b"ACGT", np.uint8)
    root = letters[rng.integers(0, 4, 150)]
    texts = []
    for k in range(20):
        one = root.copy()
        one[rng.integers(0, 150, 15)] = letters[rng.integers(0, 4, 15)]
        texts.append(np.delete(one, slice(5 * k, 5 * k + 3)).tobytes().decode())
    batch = tropalign.SequenceBatch.from_strings(texts)
    found = aligned(batch)
    assert found.columns.max() + 1 < 160 and found.residue_confidence.mean() > 0.8


def test_progress_ascends_to_the_whole():
    seen = []
    aligned(family(30)[0], progress=lambda stage, share: seen.append((stage, share)))
    shares = [share for _, share in seen]
    assert shares == sorted(shares) and shares[0] == 0 and 0.9 < shares[-1] <= 1


def test_progress_may_end_it():
    def stop(stage, share):
        if stage == "groups":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        aligned(family(30)[0], progress=stop)


def test_unique_sequences():
    batch = tropalign.SequenceBatch.from_strings(["MK", "AW", "mk", "MK", "A"])
    first, copy_of = unique_sequences(batch)
    assert first.tolist() == [0, 1, 4] and copy_of.tolist() == [0, 1, 0, 0, 2]


def test_tree_with_copies():
    tree = GuideTree(np.array([(1, 0)], np.int32), np.array([0.25, 0.5, 0.0]))
    made = with_copies(tree, np.array([0, 2]), np.array([0, 0, 1]))
    assert made.children.tolist() == [[0, 1], [2, 3]] and made.branch_lengths.tolist() == [0, 0, 0.5, 0.25, 0]


def test_representatives_are_close_to_all_and_no_fragments():
    """Four sequences along the tree (0, 1) (2, 3); 1 and 2 are the nearer ones, but 2 is a fragment."""
    items = [Item(np.array([k]), 100, (k,)) for k in range(4)]
    tree = GuideTree(np.array([(0, 1), (2, 3), (4, 5)], np.int32), np.zeros(7))
    distance = np.array([0.3, 0.3, 0.3, 0.2, 0.2, 0.1], np.float32)
    lengths = np.array([100, 101, 20, 100])
    assert representatives(items, distance, tree, lengths, 2) == (1, 3)
    assert representatives(items, distance, tree, lengths, 9) == (0, 1, 2, 3)
