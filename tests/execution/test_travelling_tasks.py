"""Every class of tasks goes to a worker elsewhere and back: pickled, with what is sent once by name."""

import importlib
import inspect
import pickle
import pkgutil
import tempfile
import weakref
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import tropalign
from tropalign.devices.remote_worker import is_sent_once, packed, unpacked
from tropalign.msa.group_task import Groups, GroupTask, LargeMemoryEstimate
from tropalign.msa.groups import Item, starting_columns
from tropalign.msa.models import model_of
from tropalign.msa.options import MsaOptions, options_of
from tropalign.msa.pipeline import FamilyInput
from tropalign.msa.profiles import ProfilePairTask
from tropalign.msa.run import FamilyShare
from tropalign.msa.task import PosteriorTask
from tropalign.pairwise.embedded import Embedded, vectors_of
from tropalign.pairwise.embedding_options import EmbeddedPairOptions
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.placement.scoring import SCHEMES
from tropalign.placement.task import PlaceTask
from tropalign.profiles.iterate import ITERATED, IterateTask
from tropalign.profiles.options import SearchOptions
from tropalign.profiles.sources import model_source, target_source
from tropalign.profiles.task import SearchTask
from tropalign.results.threshold_options import Thresholds
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.sequences.reader import ReadBlocks
from tropalign.trees.bootstrap import SampleTask
from tropalign.trees.pair_counts import PairCountTask
from tropalign.verbs.each import EachTask, Work
from tropalign.verbs.msa import Msa

#: Tasks that no verb gives to a cluster: of large arrays, of what is read as it is computed, or (LinkageTask) of tiles
#: whose own pairs go there.
ON_ONE_MACHINE = {"BuildTask", "DecodeTask", "LinkageTask", "ModelTask", "ProductTask"}
MEMORY = 256 << 20
FAMILY, MODELS = "examples/family.fasta", "examples/efp.hmm"


@pytest.fixture
def in_small_tiles(monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath)
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "20")
    monkeypatch.setenv("TROPALIGN_TILE_READS", "3")


def pairs_task(**limits):
    batch = tropalign.read_sequences(FAMILY)[:9]
    return PairsTask(batch, None, PairOptions(SubstitutionMatrix.from_name("BLOSUM62"), Gap(11, 1), **limits))


def embedded_task():
    side = Embedded.of(vectors_of("examples/embeddings.npz", "query", "cosine", MEMORY))
    matrix = SubstitutionMatrix.from_name("BLOSUM62")
    return PairsTask(side, None, EmbeddedPairOptions(matrix, Gap(1, 0.1), shift=0.5, top=2))


def posterior_task(pairs=None):
    batch = tropalign.read_sequences(FAMILY)[:8]
    return PosteriorTask(batch, model_of(batch.alphabet, "tropalign"), 0.01, pairs=pairs)


def profile_task():
    rng = np.random.default_rng(5)
    return ProfilePairTask([(rng.random((n, 20)), rng.random((n + 3, 20))) for n in (4, 7, 5)])


def hits_task(orientation="search", n_rounds=1, memory=MEMORY, **means):
    sources = model_source(MODELS, memory), target_source(["examples/efp.fasta"], memory)
    limits = Thresholds() if n_rounds == 1 else ITERATED
    if n_rounds == 1:
        return SearchTask(*sources, SearchOptions(), limits, orientation=orientation, memory_bytes=memory, **means)
    return IterateTask(*sources, SearchOptions(), limits, n_rounds=n_rounds, memory_bytes=memory, **means)


def place_task(**means):
    package = tropalign.ReferencePackage.read("examples/16s/ref.phy.gz", "examples/16s/ref.nwk")
    wanted = {"n_best": 2, "both_strands": False, "n_threads": 1, "memory_bytes": MEMORY}

    def blocks():
        return ReadBlocks([("x", "ACGTACGTGGCTAA"), ("y", "GGCTACACACGTGC"), ("z", "TTTACG"), ("w", "ACGGTA")])

    return PlaceTask(package, blocks, SCHEMES["program"], **(wanted | means))


def sample_task():
    rows = ["MKVLAWHQ", "MKVLAWHK", "MRVIAFHQ", "MRVIAFHK"]
    alignment = tropalign.MultipleAlignment.from_rows("abcd", rows)
    tree = tropalign.trees.neighbour_joining(tropalign.trees.alignment_distances(alignment), alignment.names)
    made = {"method": "nj", "model": "kimura", "gaps": "pairwise", "seed": 7}
    return SampleTask(tree, alignment, 20, (1, 1), memory_bytes=MEMORY, **made)


def pair_count_task():
    return PairCountTask(tropalign.read_sequences(FAMILY)[:7], (1, 1), MEMORY)


def each_task():
    folder = tempfile.mkdtemp()
    files = ("examples/efp.fasta", "no/such.fasta")
    commands = (Msa(family=[file], output=f"{folder}/{k}.fasta", quiet=True) for k, file in enumerate(files))
    return EachTask([Work(file, command, 1) for file, command in zip(files, commands, strict=True)], MEMORY)


def group_task():
    batch = tropalign.read_sequences(FAMILY)[:6]
    items = [Item(np.array([k]), int(size), (k,)) for k, size in enumerate(batch.lengths.tolist())]
    tile = Groups.of([items[:3], items[3:]], batch, starting_columns(batch)).tile(0)
    room = LargeMemoryEstimate(batch.lengths, 3, MEMORY)
    return GroupTask([tile], model_of(batch.alphabet, "tropalign"), options_of("fast"), 0.005, room, 1)


CASES = {
    "pairs": lambda: pairs_task(min_score=200),
    "covered pairs": lambda: pairs_task(min_coverage=0.9),
    "pairs of embeddings": embedded_task,
    "posteriors": posterior_task,
    "some posteriors": lambda: posterior_task(np.array([[0, 1], [2, 5]], np.int32)),
    "profiles": profile_task,
    "search in one pass": hits_task,
    "search": lambda: hits_task(shard=(1, 1)),
    "scan": lambda: hits_task("scan"),
    "rounds": lambda: hits_task(n_rounds=2),
    "rounds with sequences from files": lambda: hits_task(n_rounds=2, memory=16_000),
    "placement": place_task,
    "placement on both strands": lambda: place_task(both_strands=True, n_best=0),
    "shares of posteriors": lambda: FamilyShare(
        FamilyInput(tropalign.read_sequences(FAMILY)[:6], MsaOptions()), (1, 2)
    ),
    "bootstrap": sample_task,
    "pairs of a tree": pair_count_task,
    "files": each_task,
    "groups of a large family": group_task,
}
KINDS = {
    PairsTask,
    PosteriorTask,
    ProfilePairTask,
    SearchTask,
    IterateTask,
    PlaceTask,
    SampleTask,
    PairCountTask,
    FamilyShare,
    EachTask,
    GroupTask,
}


def travelled(value, known):
    """The value as a worker gets it; what is sent once is in `known` by its name."""

    def name_of(one):
        name = f"{type(one).__name__}-{id(one)}"
        if name not in known:
            known[name] = one, pickle.loads(packed(one, lambda inner: None))  # itself in full
        return name

    data = packed(value, name_of)
    return unpacked(data, {name: there for name, (_, there) in known.items()})


def same(one, other):
    """Whether two results are equal, array by array."""
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for mine, yours in zip(one, other, strict=True):
            same(mine, yours)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        same(list(one.values()), list(other.values()))
    elif is_dataclass(one):
        assert type(one) is type(other)
        for field in fields(one):
            same(getattr(one, field.name), getattr(other, field.name))
    elif hasattr(one, "__dict__") and type(one).__module__.startswith("tropalign"):
        same(vars(one), vars(other))
    else:
        assert one == other


def test_every_kind_of_task_is_tried():
    found = set()
    for module in pkgutil.walk_packages(tropalign.__path__, "tropalign."):
        if not module.name.endswith(("_native", "__main__")):
            for name, value in vars(importlib.import_module(module.name)).items():
                is_task = inspect.isclass(value) and hasattr(value, "tiles") and hasattr(value, "on_cpu")
                if is_task and not getattr(value, "_is_protocol", False) and not name.startswith("_"):
                    found.add(value)
    assert {value.__name__ for value in found - KINDS} == ON_ONE_MACHINE
    assert found >= KINDS


@pytest.mark.parametrize("case", CASES)
def test_a_task_computes_the_same_elsewhere(case, in_small_tiles):
    task, known = CASES[case](), {}
    assert type(task) in KINDS
    there = travelled(task, known)
    n_tiles = 0
    for tile in task.tiles():
        found = there.on_cpu(travelled(tile, known), 1)
        same(task.on_cpu(tile, 1), travelled(found, {}))
        n_tiles += 1
    assert n_tiles
    travelled(task, known)  # also after it has computed here


def test_what_is_large_travels_by_name(in_small_tiles):
    for case, names in (
        ("pairs", {"SequenceBatch"}),
        ("search", {"Models", "Proteins"}),
        ("rounds", {"Models", "Proteins"}),
        ("placement", {"ReferencePackage"}),
    ):
        task, known = CASES[case](), {}

        def name_of(one, known=known):
            known[id(one)] = one
            return str(id(one))

        sizes = [len(packed(value, name_of)) for value in [task, *task.tiles()]]
        assert {type(value).__name__ for value in known.values()} == names
        assert max(sizes[1:]) < 3_000, case  # a tile says which block, or holds some reads
        assert all(map(is_sent_once, known.values()))


def test_blocks_that_are_made_anew_have_the_name_of_equal_ones(in_small_tiles):
    from tropalign.devices.cluster_pool import ClusterDevice

    class Nobody:
        name, n_slots, tiles_per_machine, n_connections = "tcp://nobody:1", 1, 1, 1

        def __init__(self):
            self.sent = []

        def send(self, value, to_all):
            self.sent.append(type(value).__name__)
            return len(self.sent)

    cluster = Nobody()
    sent = ClusterDevice(cluster, None).shipped
    source = target_source(["examples/efp.fasta"], 1 << 20)
    source._keep_bytes = 0  # read anew for each pass
    n = len(source.lengths)
    task = hits_task(shard=(1, 1))
    (models,) = model_source(MODELS, MEMORY).parts([(0, 1)])
    blocks = []
    for _ in range(3):
        for block in source.parts([(0, 20), (20, n)]):
            blocks.append(weakref.ref(block))
            sent.parcel(task, [task._tile(0, next(iter(task._grid.tiles())), (models, block))], None)
    assert sorted(cluster.sent) == ["Models", "Proteins", "Proteins", "Work"]
    del block
    assert not [block for block in blocks if block() is not None]  # nothing is held here that nobody uses
