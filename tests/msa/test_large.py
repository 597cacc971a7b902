"""Large families: what the division may not change, and what it promises."""

import pickle
import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest
from msa.evolved import evolved_family

import tropalign
from tropalign.devices.registry import open_devices
from tropalign.errors import ResourceError
from tropalign.msa import group_task, large
from tropalign.msa.confidence import calibrated
from tropalign.msa.family import unique_sequences, with_copies
from tropalign.msa.group_task import LargeMemoryEstimate
from tropalign.msa.groups import Item, Pool, representatives
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.large import Division, align_large
from tropalign.msa.options import options_of
from tropalign.msa.task import N_SECTIONS

SMALL = Division(most_items=6, n_representatives=3)


def aligned(batch, n_threads=1, division=SMALL, progress=None, kept=None, memory_bytes=1 << 30, **options):
    devices = open_devices(["cpu"], n_threads, 1, 1 << 30)
    how = (devices, n_threads, memory_bytes, kept, progress, division)
    return align_large(batch, options_of("fast", **options), *how)


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
    expected = tropalign.align_multiple(batch, effort="default")
    assert found.columns.tolist() == expected.columns.tolist()
    np.testing.assert_allclose(
        calibrated(found.residue_confidence), expected.residue_confidence, atol=0.2
    )  # its own weights


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


class Checkpoint(dict):
    """What earlier runs left, in memory; ends the run after so many parts."""

    def __init__(self, left):
        super().__init__()
        self.left = left

    def get(self, stage, part):
        return super().get((stage, part))

    def put(self, stage, part, sections):
        assert len(sections) == N_SECTIONS
        self[stage, part] = [bytes(section) for section in sections]
        self.left -= 1
        if not self.left:
            raise Stopped


class Stopped(Exception):
    pass


def test_a_broken_run_goes_on_from_any_part(monkeypatch):
    batch, _ = family(60, seed=2)
    all_parts = Checkpoint(-1)
    whole = aligned(batch, kept=all_parts)
    n_groups = len(all_parts) - 1
    assert n_groups > 8 and sorted(all_parts) == [(0, 0), *((1, k) for k in range(n_groups))]
    made = []
    align = group_task.align_items
    monkeypatch.setattr(group_task, "align_items", lambda items, *more: made.append(len(items)) or align(items, *more))
    for n_parts in (1, 2, n_groups // 2, n_groups, n_groups + 1):
        kept = Checkpoint(n_parts)
        with pytest.raises(Stopped):
            aligned(batch, kept=kept)
        assert len(kept) == n_parts
        made.clear()
        shares = []
        again = aligned(batch, kept=kept, progress=lambda stage, share, shares=shares: shares.append(share))
        assert shares == sorted(shares) and all(0 <= share <= 1 for share in shares)
        assert len(made) == n_groups + 1 - n_parts
        assert again.tree.to_bytes() == whole.tree.to_bytes() and kept == all_parts
        for first, second in zip(again, whole, strict=True):
            if not isinstance(first, GuideTree):
                np.testing.assert_array_equal(first, second)


def test_the_same_for_any_memory(monkeypatch):
    """Few rows at a time cut batches short, and the pairs of one group into portions."""
    batch, _ = family(60, seed=2)
    whole = aligned(batch)
    monkeypatch.setattr(group_task, "MOST_ROWS", 500)
    monkeypatch.setattr(group_task, "LEAST_ROWS", 1)
    portions = []
    pooled = Pool._pooled
    monkeypatch.setattr(
        Pool, "_pooled", lambda self, pairs, watch: portions.append(pairs) or pooled(self, pairs, watch)
    )
    seen = []
    found = aligned(batch, progress=lambda stage, share: seen.append(share))
    assert len(portions) > 40 and seen == sorted(seen)
    assert found.columns.tolist() == whole.columns.tolist()
    assert found.residue_confidence.tolist() == whole.residue_confidence.tolist()


def test_groups_that_travel_are_aligned_as_here(monkeypatch):
    """A worker gets the task and its tiles as bytes, each by itself, and knows nothing of the family."""
    batch, _ = family(60, seed=2)
    whole = aligned(batch)
    sent, at_home = [], group_task.GroupTask.on_cpu

    def far(self, tile, n_threads, progress=None):
        task, there = pickle.loads(pickle.dumps((self, tile)))
        assert not list(task.tiles()) and len(there.payload.speakers) <= len(batch)
        sent.append(there)
        return at_home(task, there, n_threads, progress)

    monkeypatch.setattr(group_task.GroupTask, "on_cpu", far)
    monkeypatch.setattr(large, "BATCH_CELLS", 50_000)
    found = aligned(batch)
    assert len(sent) > 8 and [tile.index for tile in sent] == list(range(len(sent)))
    assert found.columns.tolist() == whole.columns.tolist() and found.tree.to_bytes() == whole.tree.to_bytes()


def test_memory_that_does_not_suffice():
    batch, _ = family(60, seed=2)
    with pytest.raises(
        ResourceError, match=r"^the alignment of 58 different sequences needs .* MiB of memory and 1.0 M"
    ):
        aligned(batch, memory_bytes=1 << 20)
    room = LargeMemoryEstimate(batch.lengths, 48, 1 << 30)
    lengths = np.full(48, 5000)
    assert room.groups_at_once([lengths[:4]] * 2, [1000, 2000], 3000) > 4
    with pytest.raises(
        ResourceError, match=r"about .* GiB of memory and 1.0 GiB are allowed: allow more with memory_bytes, "
    ):
        room.groups_at_once([lengths[:4], lengths], [1000, 100_000_000], 100_001_000)


def test_an_interrupt_ends_groups_on_their_way(monkeypatch):
    """Signs of life while groups are waited for tell of it, and it ends the groups that all threads are at."""
    batch, _ = family(60, seed=2)
    began, ended = threading.Event(), []

    def waits(items, pairs, found, options, n_threads, watch):
        began.set()
        for _ in range(1000):
            try:
                watch(0)
            except CancelledError:
                ended.append(items)
                raise
            time.sleep(0.01)

    def interrupted(stage, share):
        if began.is_set():
            raise KeyboardInterrupt

    monkeypatch.setattr(group_task, "align_items", waits)
    with pytest.raises(KeyboardInterrupt):
        aligned(batch, 2, progress=interrupted)
    assert ended


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
