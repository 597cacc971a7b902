"""The stages of a multiple alignment together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msa.evolved import evolved_family

import tropalign
from tropalign import _native
from tropalign.devices.registry import CpuDevice
from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.msa import pipeline, task
from tropalign.msa.family import family_of
from tropalign.msa.models import model_of
from tropalign.msa.options import options_of
from tropalign.msa.task import N_SECTIONS, MemoryEstimate, Meter, scratch_of

FAMILY = {
    "human": "MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHV",
    "mouse": "MVLSGEDKSNIKAAWGKIGGHGAEYGAEALERMFASFPTTKTYFPHFDVSHGSAQVKGHGKKVADALASAAGHL",
    "beta": "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPKVKAHGKKVLGAFSDGLAHL",
    "myo": "MGLSDGEWQLVLNVWGKVEADIPGHGQEVLIRLFKGHPETLEKFDKFKHLKSEDEMKASEDLKKHGATVLTALGGIL",
    "short": "MVLSPADKTNVKAAWGKV",
}


def residues_of(alignment):
    return {name: row.replace("-", "") for name, row in zip(alignment.names, alignment, strict=True)}


def test_a_family():
    found = tropalign.align_multiple(FAMILY)
    assert residues_of(found) == FAMILY and found.names == tuple(FAMILY)
    assert (found.letters != ord("-")).any(0).all()
    columns = dict(zip(FAMILY, found, strict=True))
    assert columns["short"].replace("-", "") == columns["human"][:19].replace("-", "")
    assert columns["human"].index("HGKKV") == columns["beta"].index("HGKKV")
    assert 0 <= found.column_confidence.min() < 0.9 < found.column_confidence.max() <= 1
    assert len(found.residue_confidence) == len(found.columns)


@pytest.mark.parametrize("effort", ["default", "accurate"])
@pytest.mark.parametrize("rules", ["quickprobs1", "quickprobs2"])
def test_the_same_for_any_number_of_threads(effort, rules):
    first, second, third = (
        tropalign.align_multiple(FAMILY, effort=effort, rules=rules, n_threads=n) for n in (1, 2, 5)
    )
    assert first == second == third
    assert np.array_equal(first.residue_confidence, third.residue_confidence)


def test_one_sequence_is_returned_as_it_is():
    found = tropalign.align_multiple({"one": "MKVlaw"})
    assert list(found) == ["MKVlaw"] and found.column_confidence.tolist() == [1.0] * 6


@pytest.mark.parametrize(
    "sequences", [["M"] * 2, ["M", "K"], ["MKV"] * 5, ["M", "MKVLAWMKV"], ["A", "C", "G", "T", "N"]]
)
def test_small_and_identical_ones(sequences):
    found = tropalign.align_multiple(sequences)
    assert [row.replace("-", "") for row in found] == sequences
    if len(set(sequences)) == 1:
        assert list(found) == sequences


@settings(max_examples=30)
@given(st.lists(st.text("ARNDCQEGHILKMFPSTWYVBZX*JUOarnd", min_size=1, max_size=60), min_size=1, max_size=6))
def test_any_letters(sequences):
    found = tropalign.align_multiple(sequences, alphabet="protein", n_threads=1)
    assert [row.replace("-", "") for row in found] == sequences


def test_nucleotides():
    found = tropalign.align_multiple({"a": "ACGUUGCAACGG", "b": "acgttgcacgg", "c": "ACGTTGCAACGGTTA"})
    assert list(found) == ["ACGUUGCAACGG---", "acgttgc-acgg---", "ACGTTGCAACGGTTA"] or residues_of(found)["a"][3] == "U"
    assert found.sequences.alphabet.name == "nucleotide"


def test_the_seed_alone_decides_what_is_random():
    runs = [tropalign.align_multiple(FAMILY, refine=3, rules="quickprobs1", seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]


def test_progress_ascends_through_all_stages():
    seen = []
    tropalign.align_multiple(FAMILY, progress=lambda stage, share: seen.append((stage, share)))
    shares = [share for _, share in seen]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1
    stages = list(dict.fromkeys(stage for stage, _ in seen))
    assert stages == [
        "posteriors", "tree", "consistency 1/2", "consistency 2/2", "alignment", "refinement", "confidence",
    ]  # fmt: skip


def test_confidence_is_the_same_however_it_comes(monkeypatch):
    whole = tropalign.align_multiple(FAMILY)
    monkeypatch.setattr(pipeline, "MOST_KEPT_BYTES", 0)
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "3")
    again = tropalign.align_multiple(FAMILY)
    assert np.array_equal(again.residue_confidence, whole.residue_confidence)
    assert np.array_equal(again.column_confidence, whole.column_confidence)
    assert whole.column_confidence.mean() > 0.4


def test_what_progress_raises_ends_the_alignment():
    def stop(stage, share):
        if stage.startswith("consistency"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tropalign.align_multiple(FAMILY, progress=stop)


def test_two_long_sequences_take_memory_for_their_sweeps():
    lengths = np.array([20, 30_000, 29_000])
    assert MemoryEstimate(lengths, False).needed(1.0) > _native.posterior_scratch_bytes(29_000, 30_000) > 500 << 20


def test_long_pairs_are_refused_and_take_fewer_threads(monkeypatch):
    texts = dict.fromkeys("ab", "MKVLAWERTGH" * 600)
    with pytest.raises(ResourceError, match="the consistency of 2 sequences needs "):
        tropalign.align_multiple(texts, memory_bytes=100 << 20)
    batch = family_of(texts)
    model = model_of(batch.alphabet, "quickprobs2")
    one = task.PosteriorTask(batch, model, 0.01, scratch_bytes=scratch_of(batch.lengths))
    tile, asked = one.tiles()[0], []
    monkeypatch.setattr(
        "tropalign._native.pair_posteriors", lambda *_, n_threads, **__: asked.append(n_threads) or [0] * 4
    )
    one.on_cpu(tile, 8)
    task.PosteriorTask(batch, model, 0.01).on_cpu(tile, 8)
    assert asked == [1, 8]


def test_memory_that_does_not_suffice_is_known_beforehand():
    family = {f"s{k}": "MKVLAW" * 20 for k in range(60)}
    with pytest.raises(ResourceError) as caught:
        tropalign.align_multiple(family, memory_bytes=1 << 20, effort="default")
    assert "the consistency of 60 sequences needs" in str(caught.value) and "align with effort fast" in str(
        caught.value
    )
    assert caught.value.needed_bytes > caught.value.allowed_bytes == 1 << 20


@pytest.mark.parametrize(
    ("n", "length", "effort"), [(60, 120, "default"), (24, 300, "accurate"), (200, 100, "fast"), (100, 150, "fast")]
)
def test_the_memory_that_is_asked_for_first_suffices(n, length, effort):
    texts, _ = evolved_family(n, length, 3, depth=2.0)
    with pytest.raises(ResourceError) as caught:
        tropalign.align_multiple(texts, effort=effort, memory_bytes=12 << 20)
    needed = caught.value.needed_bytes
    assert len(tropalign.align_multiple(texts, effort=effort, memory_bytes=needed)) == n


class Memory:
    """What earlier runs left, in memory."""

    def __init__(self):
        self.parts, self.gone = {}, []

    def get(self, stage, part):
        return self.parts.get((stage, part))

    def put(self, stage, part, sections):
        assert len(sections) == N_SECTIONS
        self.parts[stage, part] = [bytes(section) for section in sections]

    def is_whole(self, stage, n_parts):
        return all((stage, part) in self.parts for part in range(n_parts))

    def forget(self, stage):
        self.gone.append(stage)
        self.parts = {key: part for key, part in self.parts.items() if key[0] != stage}


class Stopped(Exception):
    pass


class Broken(Memory):
    """Ends the run after so many parts."""

    def __init__(self, n_parts):
        super().__init__()
        self.left = n_parts

    def put(self, *part):
        super().put(*part)
        self.left -= 1
        if not self.left:
            raise Stopped


@pytest.mark.parametrize("order", ["input", "tree"])
def test_a_broken_run_goes_on_from_any_part(order, monkeypatch):
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "3")
    job = pipeline.FamilyInput(family_of(FAMILY), options_of(refine=3), order=order)
    whole = pipeline.align(job, [CpuDevice(1)], 1, 1 << 30)
    _, n_tiles = pipeline.kept_stages(job)
    assert n_tiles == 4
    calls, compute = [], task.PosteriorTask.on_cpu

    def counted(self, tile, *more):
        calls.append(tile.index)
        return compute(self, tile, *more)

    monkeypatch.setattr(task.PosteriorTask, "on_cpu", counted)
    for n_parts in range(1, 3 * n_tiles + 2):
        kept = Broken(n_parts)
        with pytest.raises(Stopped):
            pipeline.align(job, [CpuDevice(1)], 1, 1 << 30, kept)
        calls.clear()
        kept.gone.clear()
        kept.left = -1
        again = pipeline.align(job, [CpuDevice(1)], 1, 1 << 30, kept)
        assert again == whole and np.array_equal(again.residue_confidence, whole.residue_confidence)
        assert calls == list(range(min(n_parts, n_tiles), n_tiles))
        assert 0 not in kept.gone  # the posteriors of stage I are for the confidence


def test_a_run_that_goes_on_may_want_confidence_as_well():
    batch, options = family_of(FAMILY), options_of(refine=3)
    kept = Memory()
    plain = pipeline.align(
        pipeline.FamilyInput(batch, options, wants_confidence=False), [CpuDevice(1)], 1, 1 << 30, kept
    )
    whole = pipeline.align(pipeline.FamilyInput(batch, options), [CpuDevice(1)], 1, 1 << 30, kept)
    assert plain == whole and plain.residue_confidence is None
    assert np.array_equal(whole.residue_confidence, tropalign.align_multiple(FAMILY, refine=3).residue_confidence)


def test_rows_in_the_order_of_the_tree():
    found = tropalign.align_multiple(FAMILY, row_order="tree")
    whole = tropalign.align_multiple(FAMILY)
    assert dict(zip(found.names, found, strict=True)) == dict(zip(whole.names, whole, strict=True))
    assert abs(found.names.index("human") - found.names.index("mouse")) == 1


def test_a_tree_that_is_given(tmp_path):
    whole = tropalign.align_multiple(FAMILY)
    again = tropalign.align_multiple(FAMILY, tree=whole.tree)
    assert again == whole and again.tree == whole.tree
    path = tmp_path / "x.nwk"
    path.write_text("((human:1,myo:1):1,(beta:1,(mouse:1,short:1):1):1);")
    other = tropalign.align_multiple(FAMILY, tree=path, row_order="tree")
    assert other.names == ("human", "myo", "beta", "mouse", "short") and other.tree != whole.tree
    assert tropalign.align_multiple({"one": "MKV"}).tree == "one;"


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ({"tree": "(human,mouse);"}, InputError, "the tree: the tree has no leaf 'beta'"),
        (
            {"tree": "(human,(mouse,(beta,(myo,who))));"},
            InputError,
            "the tree: the tree has a leaf 'who', which",
        ),
        ({"tree": 3}, UsageError, "an object of type int is not a tree: give Newick text or a file's Path"),
        (
            {"tree": "(human,(mouse,(beta,(myo,short))));", "effort": "fast"},
            UsageError,
            "effort fast builds its own tree",
        ),
    ],
)
def test_trees_that_do_not_fit(given, error, why):
    with pytest.raises(error) as caught:
        tropalign.align_multiple(FAMILY, **given)
    assert str(caught.value).startswith(why)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"row_order": "names"}, "row_order 'names' is not one of input, tree"),
        ({"row_order": None}, "row_order None is not one of input, tree"),
        ({"progress": 3}, "progress 3 is not a function: give one that takes the name of a stage and a share"),
        ({"device": None}, "None is not a device"),
        ({"n_threads": -1}, "n_threads -1 is out of range"),
        ({"memory_bytes": "8G"}, "memory_bytes '8G' is not a whole number"),
        ({"effort": ["fast"]}, "effort ['fast'] is not one of default"),
    ],
)
def test_wrong_calls(given, why):
    with pytest.raises(UsageError) as caught:
        tropalign.align_multiple(FAMILY, **given)
    assert str(caught.value).startswith(why)


def test_leaves_of_a_tree():
    tree = pipeline.GuideTree(np.array([[2, 0], [1, 3], [4, 5]], np.int32), np.arange(7.0))
    assert tree.leaf_order() == [2, 0, 1, 3]
    again = pipeline.GuideTree.from_bytes(tree.to_bytes(), 4)
    assert np.array_equal(again.children, tree.children) and np.array_equal(again.branch_lengths, tree.branch_lengths)


@pytest.mark.parametrize("lengths", [[5, 9, 9, 2], [3, 3], [4]])
def test_every_pair_once(lengths):
    pairs = task.all_pairs(np.array(lengths))
    n = len(lengths)
    assert sorted(tuple(sorted(pair)) for pair in pairs.tolist()) == [(i, j) for i in range(n) for j in range(i + 1, n)]
    assert all(lengths[i] >= lengths[j] for i, j in pairs.tolist())


def test_distances_where_the_tree_looks_for_them():
    pairs = np.array([[3, 1], [0, 2]], np.int32)
    out = np.zeros(6, np.float32)
    out[task.pair_indices(pairs, 4)] = 0.5, 0.25
    assert out.tolist() == [0, 0.25, 0, 0, 0.5, 0]


def test_shares_of_stages():
    seen = []
    meter = Meter({"a": 1.0, "b": 2.0, "c": 1.0}, lambda stage, share: seen.append((stage, share)))
    meter.stage("a", 4)(2)
    meter.stage("b", 10, 2)(10)
    meter.stage("b", 10, 2)(5)
    meter.stage("c", 0)(0)
    assert seen == [
        ("a", 0.0), ("a", 0.125), ("b 1/2", 0.25), ("b 1/2", 0.5), ("b 2/2", 0.5), ("b 2/2", 0.625),
        ("c", 0.75), ("c", 0.75),
    ]  # fmt: skip
    assert Meter({"a": 1.0}, None).stage("a", 1) is None


def test_the_fast_mode():
    family = {f"{name}{k}": text[k:] for name, text in FAMILY.items() for k in range(9)}
    runs = [
        tropalign.align_multiple(family, effort="fast", n_threads=n, row_order=order)
        for n, order in [(1, "input"), (2, "tree")]
    ]
    assert residues_of(runs[0]) == family and (runs[0].letters != ord("-")).any(0).all()
    assert dict(zip(runs[0].names, runs[0], strict=True)) == dict(zip(runs[1].names, runs[1], strict=True))
    assert runs[1].names != runs[0].names and 0 < runs[0].column_confidence.max() <= 1
