"""The integer filters of a search on a GPU (byte_filters.k, word_filter.k), with the CPU's results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import Buffer, Gpu, Memory, Pace, Programs, kernel_source, require_room, with_constants
from tropalign.errors import DeviceError
from tropalign.profiles.proteins import Proteins

#: Cells of the first launch, before the device's rate is known.
FIRST_CELLS = 50_000_000_000
#: MSV's base, in thirds of a bit; and the highest bias for which no sum of MSV exceeds a byte.
BYTE_BASE, MOST_BIAS = 190, 65
#: Viterbi's base and the score of a domain's end, in 1/500 bit; and its lowest score.
WORD_BASE, WORD_END, WORD_LOWEST = 12_000, -500, -32_768
CODES = 29
#: Tables of the Viterbi filter, by transition.
TABLES = ("MM", "IM", "DM", "MI", "II", "MD", "DD", "BM")
#: Index of each transition in `word_transitions` of native models; MM, IM and DM belong to the next node.
SOURCES = {"BM": 0, "MM": 1, "IM": 2, "DM": 3, "MD": 4, "MI": 5, "II": 6, "DD": 7}
NUMBERS = {"CODES": CODES, "TABLES": len(TABLES), **{name: k for k, name in enumerate(TABLES)}}
#: Maximum nodes of a lane whose tables are in registers.
MOST_KEPT = 8


@dataclass(frozen=True)
class Shape:
    """Distribution of the nodes of a model to lanes.

    `lanes`: group sizes; the first sufficient one is used. `words`: words (of two nodes) per lane in SSV
    and MSV, ascending: programs are compiled for these. `nodes`: nodes per lane in the Viterbi filter, ascending.
    """

    lanes: tuple[int, ...] = (32, 64, 128, 256, 512, 1024)
    words: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16)
    nodes: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20)

    def share(self, n: int, sizes: tuple[int, ...]) -> tuple[int, int] | None:
        """Return (lanes, size) that hold n, or None if no choice does."""
        for lanes in self.lanes:
            for size in sizes:
                if lanes * size >= n:
                    return lanes, size
        return None


def source(name: str) -> str:
    """Return a kernel file with its requirements: the dialect, group functions, and numbers shared with this file."""
    return with_constants(kernel_source(Path(__file__).parent, "filter_lanes.k", name), "FILTER", NUMBERS)


def byte_constants(lanes: int, words: int, word_bits: int) -> dict[str, int]:
    """Return the compile-time constants of SSV and MSV."""
    return {"SIMT_WORD": word_bits, "FILTER_LANES": lanes, "FILTER_WORDS": words}


def word_constants(lanes: int, nodes: int) -> dict[str, int]:
    """Return the compile-time constants of the Viterbi filter."""
    return {"SIMT_WORD": 32, "FILTER_LANES": lanes, "FILTER_NODES": nodes, "FILTER_KEEP": int(nodes <= MOST_KEPT)}


#: Models, targets, and their MSV and Viterbi scores in nats.
Survivors = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]


class FiltersOnGpu:
    """SSV, MSV and P7Viterbi on one device, with the CPU's results."""

    def __init__(self, device: Gpu, shape: Shape | None = None) -> None:
        self.device, self.shape = device, shape or Shape()
        self._byte_filters = Programs(device, source("byte_filters.k"))
        self._word_filter = Programs(device, source("word_filter.k"))
        self.pace = Pace(FIRST_CELLS)

    def survivors(
        self,
        models: list[_native.ProfileModel],
        proteins: Proteins,
        f1: float,
        alive: Callable[[], None] | None = None,
    ) -> Survivors:
        """Return the proteins of each model with an MSV P-value of at most `f1`, as native ``finish_block`` takes them.

        `alive` is called repeatedly; an exception from it stops the work.
        """
        needed = proteins.codes.nbytes + 32 * len(proteins) + (1 << 20)
        require_room(self.device, needed, self.device.budget_bytes(), "the sequences of a tile")
        found = []
        with self.device.scope() as memory:
            block = _Block(memory, proteins)
            for k, model in enumerate(models):
                work = _Work(memory, block, model, f1, alive)
                passed, msv = self._msv_filter(work)
                found.append((np.full(len(passed), k, np.int32), passed, msv, self._viterbi(work, passed)))
        model_of, targets, msv, viterbi = (np.concatenate(column) for column in zip(*found, strict=True))
        return model_of, targets, msv, viterbi

    def _msv_filter(self, work: _Work) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        native, block, n = work.native, work.block, work.native.n_nodes
        shared = self.shape.share(-(-n * self.device.word_bits // 32), self.shape.words)
        bias, _, end = native.byte_constants
        if shared is None or bias > MOST_BIAS:
            return _native.msv_filter(native, block.native, block.by_length, work.f1)
        program = self._byte_filters.get(byte_constants(*shared, self.device.word_bits), work.alive)
        costs = native.byte_cost.reshape(CODES, n + 1)[:, 1:].astype(np.int16)

        def msv(targets: NDArray[np.int32], enter: NDArray[np.uint8]) -> NDArray[np.uint8]:
            table = work.memory.upload(in_words(bias - costs, *shared, self.device.word_bits))
            launch = partial(program.launch, "filter_msv")
            return self._of_targets(
                work, launch, shared[0], targets, table, enter, (BYTE_BASE, end, 255 - bias), np.uint8
            )

        table = work.memory.upload(in_words(-np.minimum(costs - bias, 127), *shared, self.device.word_bits))
        launch = partial(program.launch, "filter_ssv")
        highest = self._of_targets(work, launch, shared[0], block.by_length, table, None, (), np.uint8)
        return _native.msv_filter_of_highest(native, block.native, block.by_length, highest, work.f1, msv)

    def _viterbi(self, work: _Work, targets: NDArray[np.int32]) -> NDArray[np.float32]:
        native, block, n = work.native, work.block, work.native.n_nodes
        shared = self.shape.share(n, self.shape.nodes)
        if shared is None:
            return _native.viterbi_scores(native, block.native, targets)
        program = self._word_filter.get(word_constants(*shared), work.alive)
        match, between = native.word_match.reshape(CODES, n + 1)[:, 1:], handed(native)
        table = work.memory.upload(np.concatenate([in_lanes(match, *shared), in_lanes(between, *shared)]))
        launch, moves = partial(program.launch, "filter_viterbi"), _native.word_moves(block.native, targets)
        highest = self._of_targets(work, launch, shared[0], targets, table, moves, (WORD_BASE, WORD_END), np.int32)
        return _native.viterbi_scores_of_highest(block.native, targets, highest)

    def _of_targets(
        self,
        work: _Work,
        launch: Callable[..., None],
        lanes: int,
        targets: NDArray[np.int32],
        table: Buffer,
        own: NDArray[Any] | None,
        numbers: tuple[int, ...],
        kind: type[np.generic],
    ) -> NDArray[Any]:
        """Run a kernel on targets, some at a time; `own` holds a number that the kernel needs for each target."""
        memory, block, found, at = work.memory, work.block, [np.zeros(0, kind)], 0
        cells = np.cumsum(block.sizes[targets] * work.native.n_nodes)
        while at < len(targets):
            done = int(cells[at - 1]) if at else 0
            end = max(at + 1, int(np.searchsorted(cells, done + self.pace.cells, "right")))
            if work.alive:
                work.alive()
            with self.pace.measured(int(cells[end - 1]) - done):
                highest = memory.allocate((end - at) * np.dtype(kind).itemsize)
                given = [] if own is None else [memory.upload(own[at:end])]
                arrays = (block.codes, block.begins, block.lengths, memory.upload(targets[at:end]), table)
                launch(end - at, lanes, *arrays, *given, *numbers, highest)
                found.append(memory.download(highest, kind, end - at))
            at = end
        return np.concatenate(found)


@dataclass(frozen=True)
class _Work:
    """A model and a block to compare."""

    memory: Memory
    block: _Block
    native: _native.ProfileModel
    f1: float
    alive: Callable[[], None] | None


class _Block:
    """The sequences of a tile on a device."""

    def __init__(self, memory: Memory, proteins: Proteins) -> None:
        self.native = proteins.native
        self.sizes = np.diff(proteins.offsets)
        order = self.native.by_length()
        #: Non-empty proteins by ascending length.
        self.by_length = np.ascontiguousarray(order[self.sizes[order] > 0])
        self.codes = memory.upload(proteins.codes if len(proteins.codes) else np.zeros(1, np.uint8))
        self.begins = memory.upload(proteins.offsets[:-1].astype(np.int32))
        self.lengths = memory.upload(self.sizes.astype(np.int32))


def in_words(scores: NDArray[np.int16], lanes: int, words: int, word_bits: int) -> NDArray[np.signedinteger[Any]]:
    """Return scores in the layout of SSV and MSV: (codes, words, lanes, halves), int16, or int32 without halves."""
    halves = 32 // word_bits
    table = np.full((len(scores), halves * lanes * words), -255, np.int16 if halves == 2 else np.int32)
    table[:, : scores.shape[1]] = scores
    by_place = table.reshape(len(scores), halves, lanes, words)
    return np.ascontiguousarray(by_place.transpose(0, 3, 2, 1))


def in_lanes(scores: NDArray[np.int16], lanes: int, nodes: int) -> NDArray[np.int16]:
    """Return tables in the layout of the Viterbi filter: int16, shape (tables, nodes, lanes)."""
    table = np.full((len(scores), lanes * nodes), WORD_LOWEST, np.int16)
    table[:, : scores.shape[1]] = scores
    return np.ascontiguousarray(table.reshape(len(scores), lanes, nodes).transpose(0, 2, 1))


def handed(native: _native.ProfileModel) -> NDArray[np.int16]:
    """Return the tables in the order of TABLES, int16, shape (tables, n_nodes). The last node has no next node."""
    n = native.n_nodes
    given = native.word_transitions.reshape(len(SOURCES), n + 1)
    tables = np.full((len(TABLES), n), WORD_LOWEST, np.int16)
    for k, name in enumerate(TABLES):
        values = given[SOURCES[name]]
        if name in ("MM", "IM", "DM"):
            tables[k, :-1] = values[2:]
        else:
            tables[k] = values[1:]
    return tables


#: Nodes of the model; two words and three nodes per lane of 32, so that little is compiled.
N_NODES = 90
LENGTHS = (1, 30, 90, 150, 400)


def check_gpu(gpu: Gpu) -> None:
    """Filter random and related proteins by a model; raises DeviceError if the scores differ from the CPU's."""
    rng = np.random.default_rng(9)
    model, consensus = random_model(rng, N_NODES)
    texts = [rng.integers(0, 20, n).astype(np.uint8) for n in LENGTHS]
    texts += [consensus, np.tile(consensus, 3), np.concatenate([consensus[::2], consensus])]
    proteins = proteins_of(texts)
    got = FiltersOnGpu(gpu).survivors([model], proteins, 1.0)
    if not all(map(np.array_equal, got, on_processor([model], proteins, 1.0))):
        raise DeviceError(f"{gpu.name}: its scores of profile models differ from those of the CPU")


def random_model(rng: np.random.Generator, n_nodes: int) -> tuple[_native.ProfileModel, NDArray[np.uint8]]:
    """Return a model of random positions that each prefer a residue, and the preferred residues."""
    consensus = rng.integers(0, 20, n_nodes).astype(np.uint8)
    match = rng.dirichlet(np.full(20, 0.5), n_nodes + 1)
    match[np.arange(1, n_nodes + 1), consensus] += 1
    match /= match.sum(axis=1, keepdims=True)
    opened, extended = rng.uniform(0.005, 0.05, (2, n_nodes + 1)), rng.uniform(0.2, 0.7, (2, n_nodes + 1))
    transitions = np.stack(
        [1 - opened.sum(axis=0), *opened, 1 - extended[0], extended[0], 1 - extended[1], extended[1]], axis=1
    )
    transitions[-1] = (1 - opened[0, -1], opened[0, -1], 0, 1 - extended[0, -1], extended[0, -1], 1, 0)
    background = np.full(20, 0.05, np.float32)
    evalue = np.array([-9.0, 0.7, -10.0, 0.7, -4.0, 0.7], np.float32)
    letters = bytes(b"ACDEFGHIKLMNPQRSTVWY"[k] for k in consensus)
    arrays = (match.astype(np.float32), transitions.astype(np.float32), match[1:].mean(axis=0).astype(np.float32))
    return _native.ProfileModel(*arrays, background, evalue, letters), consensus


def proteins_of(texts: list[NDArray[np.uint8]]) -> Proteins:
    """Return sequences of codes as a block."""
    names = [str(k) for k in range(len(texts))]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return Proteins(names, [""] * len(names), np.concatenate(texts).astype(np.uint8), offsets)


def on_processor(models: list[_native.ProfileModel], proteins: Proteins, f1: float) -> Survivors:
    """Return the results of the CPU."""
    found = []
    for k, model in enumerate(models):
        passed, msv = _native.msv_filter(model, proteins.native, proteins.native.by_length(), f1)
        viterbi = _native.viterbi_scores(model, proteins.native, passed)
        found.append((np.full(len(passed), k, np.int32), passed, msv, viterbi))
    model_of, targets, msv, viterbi = (np.concatenate(column) for column in zip(*found, strict=True))
    return model_of, targets, msv, viterbi
