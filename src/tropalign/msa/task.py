"""Stage I as a task of tiles (posteriors of all pairs of a family); costs of all stages, and how they are stored.

Sequences are taken by descending length, so that the second sequences of a tile's pairs, and of the pairs with one
first sequence, have similar lengths; kernels fill their lanes with these.

    order by length    a b c d      pairs   ab ac ad | bc bd | cd
                                    tiles   |--- 0 ---|--- 1 ---|     runs of about the same cost
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.devices.registry import DeviceCache
from tropalign.errors import ResourceError, named
from tropalign.execution.manifest import Shard
from tropalign.execution.progress import StageProgress
from tropalign.execution.task import CostList, Progress, Tile, cuts, share
from tropalign.msa.models import PairModel
from tropalign.msa.options import MsaOptions
from tropalign.resources.limits import environment_number, human
from tropalign.sequences.batch import SequenceBatch

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu

#: Cells of a tile: this many (a tenth of a second of one core), or this share of all cells if that is more, so that
#: a result is small compared to the posteriors of all pairs; maximum pairs. A kill loses the running tile.
TILE_CELLS, TILE_SHARE = 100_000_000, 1 / 32
TILE_PAIRS = 100_000
#: Overhead of a pair, in cells.
PAIR_CELLS = 2_000
#: Elements that a row of a sparse matrix keeps, a cautious mean; and the bytes of an element in a result.
ROW_ELEMENTS = 12
ELEMENT_BYTES = 4
#: Sampled pairs that show how many elements the rows of all pairs keep; fewer if they have more cells in total.
SAMPLE_PAIRS, SAMPLE_CELLS = 64, 200_000_000
#: Memory of a sample beyond that of the job: the process rarely uses all of the memory that is set aside for it.
SAMPLE_SPARE_BYTES = 16 << 20

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Result of stage I for some pairs.

    `pairs`: int32, shape (n_pairs, 2), indices of sequences. `distance`: float32, shape (n_pairs,), 1 - the
    expected accuracy of the best alignment. `row_sizes`: uint16, elements kept per residue of the pairs' first
    sequences, one pair after another. `columns`, `values`: uint16, of each kept element, row by row.
    """

    pairs: NDArray[np.int32]
    distance: NDArray[np.float32]
    row_sizes: NDArray[np.uint16]
    columns: NDArray[np.uint16]
    values: NDArray[np.uint16]


class PosteriorTask:
    """Posteriors of all pairs of a family.

    `cutoff` and `keep` as in MsaOptions. `pairs`: int32, shape (n_pairs, 2), a subset of the pairs.
    `scratch_bytes`: limit of the threads' tables, excluding results; fewer threads run if a pair's tables are
    large. `shards`: the shards that the tiles belong to, one after another.
    """

    def __init__(
        self,
        batch: SequenceBatch,
        model: PairModel,
        cutoff: float,
        keep: float = 0.0,
        pairs: NDArray[np.int32] | None = None,
        scratch_bytes: int | None = None,
        shards: Sequence[Shard] = ((1, 1),),
    ) -> None:
        self.batch, self.model, self.cutoff, self.keep = batch, model, cutoff, keep
        self._scratch_bytes, self._is_whole = scratch_bytes, pairs is None
        self.pairs = all_pairs(batch.lengths) if pairs is None else pairs
        self._on_devices = DeviceCache()
        lengths = batch.lengths
        self._cells = lengths[self.pairs[:, 0]] * lengths[self.pairs[:, 1]]
        items = CostList((self._cells + PAIR_CELLS).astype(np.float64))
        most = TILE_PAIRS
        if "TROPALIGN_TILE_PAIRS" in os.environ:
            most = environment_number("TROPALIGN_TILE_PAIRS", os.environ["TROPALIGN_TILE_PAIRS"])
        spans = list[tuple[int, int]]()
        for shard in shards:
            begin, end = share(items, shard)
            cost = TILE_SHARE * (items.cost_before(end) - items.cost_before(begin))
            spans += pairwise(cuts(items, begin, end, most, max(TILE_CELLS, cost)))
        self._tiles = []
        for k, (begin, end) in enumerate(spans):
            rows = int(batch.lengths[self.pairs[begin:end, 0]].sum())
            cells = int(self._cells[begin:end].sum()) + PAIR_CELLS * (end - begin)
            self._tiles.append(Tile(k, cells, rows * ROW_ELEMENTS * ELEMENT_BYTES, end - begin, (begin, end)))

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_tiles", "_cells", *(("pairs",) if self._is_whole else ()))
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the task on a worker, which gets tiles one by one, and rebuilds the pairs of a whole family."""
        vars(self).update(state)
        if self._is_whole:
            self.pairs = all_pairs(self.batch.lengths)

    @property
    def cost_cells(self) -> int:
        """Cells of all pairs."""
        return int(self._cells.sum())

    def tiles(self) -> list[Tile]:
        """Return the runs of neighbouring pairs."""
        return self._tiles

    def pairs_of(self, tile: Tile) -> NDArray[np.int32]:
        """Return the pairs of a tile, int32, shape (n_pairs, 2)."""
        return self.pairs[slice(*tile.payload)]

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Posteriors:
        """Compute the posteriors of a tile's pairs."""
        pairs = self.pairs_of(tile)
        if self._scratch_bytes is not None:
            fitting = self._scratch_bytes // scratch_of(self.batch.lengths[distinct(pairs)])
            n_threads = max(1, min(n_threads, fitting))
        found = _native.pair_posteriors(
            self.batch.codes,
            self.batch.offsets,
            np.ascontiguousarray(pairs),
            **self.model.arguments(),
            cutoff=self.cutoff,
            keep=self.keep,
            n_threads=n_threads,
            progress=progress,
        )
        return Posteriors(pairs, *found)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> Posteriors:
        """Compute the posteriors of a tile's pairs on a GPU, within 1e-4 of the CPU's."""
        from tropalign.msa.gpu import PosteriorsOnGpu

        on_device = self._on_devices.get(
            device, "posteriors", lambda: PosteriorsOnGpu(device, self.model, self.cutoff, self.keep)
        )
        pairs = self.pairs_of(tile)
        found = on_device.posteriors(self.batch.codes, self.batch.offsets, np.ascontiguousarray(pairs), progress)
        return Posteriors(pairs, *found)


def all_pairs(lengths: Index) -> NDArray[np.int32]:
    """Return all pairs of a family, int32, shape (n (n - 1) / 2, 2), sequences by descending length."""
    order = np.argsort(-lengths, kind="stable").astype(np.int32)
    first, second = np.triu_indices(len(lengths), 1)
    return np.stack([order[first], order[second]], 1)


def sampled_row_elements(
    batch: SequenceBatch, model: PairModel, cutoff: float, keep: float, memory_bytes: int, n_threads: int
) -> float:
    """Return the mean number of elements that a row of posteriors keeps, from sampled pairs; 0 if no pair fits."""
    most = memory_bytes + SAMPLE_SPARE_BYTES
    fitting = [length for length in distinct(batch.lengths).tolist() if scratch_of(np.array([length])) <= most]
    batch = batch[np.isin(batch.lengths, fitting)]
    rng, n = np.random.default_rng(1), len(batch)
    if n < 2:
        return 0.0
    n_pairs = max(2, min(SAMPLE_PAIRS, int(SAMPLE_CELLS / float(batch.lengths.mean()) ** 2)))
    first = rng.integers(0, n, n_pairs)
    second = (first + rng.integers(1, n, n_pairs)) % n
    is_longer = batch.lengths[first] >= batch.lengths[second]
    pairs = np.stack([np.where(is_longer, first, second), np.where(is_longer, second, first)], 1).astype(np.int32)
    task = PosteriorTask(batch, model, cutoff, keep, pairs, memory_bytes)
    found = [task.on_cpu(tile, n_threads).row_sizes for tile in task.tiles()]
    return float(np.concatenate(found).mean())


def pair_indices(pairs: NDArray[np.int32], n_sequences: int) -> NDArray[np.int64]:
    """Return the indices of pairs in the distances of a family, which are ordered (0,1), (0,2) .. (1,2) .."""
    low, high = np.sort(pairs.astype(np.int64), 1).T
    indices: NDArray[np.int64] = low * (2 * n_sequences - low - 1) // 2 + high - low - 1
    return indices


def sections(found: Posteriors) -> list[bytes]:
    """Return posteriors as bytes for the disk, which `restored` reads."""
    return [getattr(found, name).tobytes() for name in ("distance", "row_sizes", "columns", "values")]


def restored(pairs: NDArray[np.int32], parts: list[bytes]) -> Posteriors:
    """Restore posteriors from the result of `sections`; raises ValueError if the number of parts differs."""
    types: list[Any] = [np.float32, np.uint16, np.uint16, np.uint16]
    return Posteriors(pairs, *(np.frombuffer(part, kind) for part, kind in zip(parts, types, strict=True)))


#: Bytes of the store per pair, per residue of its two sequences, and per element (with the transpose, and the new
#: value that a pass makes).
PAIR_BYTES, RESIDUE_BYTES, STORED_BYTES = 64, 4, 10
#: Total memory of the process per byte of the store: includes results of tiles, and freed memory that is not
#: returned.
SPARE = 1.3
#: Elements per row: the minimum, and a number that hardly any family exceeds.
LEAST_ROW_ELEMENTS, MANY_ROW_ELEMENTS = 1.0, 32.0
#: Safety factors: all pairs may differ from a sample, and from the pairs that were found first.
SAMPLE_MARGIN, FOUND_MARGIN = 1.25, 1.05
#: Bytes per element of stage I, and how many bytes are kept for the confidence at most.
FOUND_BYTES, MOST_KEPT_BYTES = 4, 64 << 20
#: Bytes of a thread in a consistency pass: per chunk of a row of its tile, maximum per chunk, and a constant part.
CHUNK_BYTES, MOST_CHUNK_BYTES, LEAST_PASS_BYTES = 96, 48 << 20, 8 << 20
#: Pairs of a tile of a pass (native/msa/consistency.cpp).
PASS_TILE_PAIRS = 32 * 32
#: Bytes per row of a pair's posteriors as they are found.
FOUND_ROW_BYTES = 50
#: Shares of the memory for the rows found at once, and for the tables of stage I's threads.
FOUND_SHARE, SCRATCH_SHARE = 1 / 8, 1 / 4


class MemoryEstimate:
    """Memory for a family's posteriors and consistency, by elements per row: measured, and on the safe side."""

    def __init__(self, lengths: NDArray[np.int64], wants_confidence: bool) -> None:
        self._n = n = len(lengths)
        self._n_pairs, self._longest = n * (n - 1) // 2, float(lengths.max())
        self._n_rows = float(lengths.sum(dtype=np.float64)) * (n - 1) / 2  # mean of all pairs' matrices
        self._two_longest = np.sort(lengths)[-2:]
        self._wants_confidence = wants_confidence

    def needed(self, row_elements: float) -> float:
        """Return the bytes of all stages with one thread, excluding the process and the family."""
        return self.held(row_elements) + max(self.of_pass(row_elements), self.of_pair())

    def held(self, row_elements: float) -> float:
        """Return the bytes of the store, and of posteriors that are kept for the confidence."""
        n_elements = row_elements * self._n_rows
        store = PAIR_BYTES * self._n_pairs + 2 * RESIDUE_BYTES * self._n_rows + STORED_BYTES * n_elements
        kept = min(FOUND_BYTES * n_elements, MOST_KEPT_BYTES) if self._wants_confidence else 0.0
        return SPARE * store + kept

    def of_pair(self) -> float:
        """Return a thread's bytes for one pair's posteriors: the rows of a sweep over the two longest sequences."""
        return float(scratch_of(self._two_longest)) if self._n_pairs else 0.0

    def require(self, least: float, about: float, memory_bytes: int) -> None:
        """Raise ResourceError, with the memory for rows of `about`, if rows of `least` elements do not fit."""
        if self.needed(max(least, LEAST_ROW_ELEMENTS)) > memory_bytes:
            needed = int(self.needed(max(about, LEAST_ROW_ELEMENTS))) + 1
            raise ResourceError(
                f"the consistency of {self._n:,} sequences needs about {human(needed)} of memory and "
                f"{human(memory_bytes)} are allowed: allow more with {named('memory_bytes')}, or align with "
                f"{named('effort')} fast",
                needed_bytes=needed,
                allowed_bytes=memory_bytes,
            )

    def of_pass(self, row_elements: float) -> float:
        """Return the bytes of a thread for a consistency pass: the sums of a tile."""
        n_chunks = max(2.0, row_elements / 2)  # per row
        rows = min(self._n_pairs, PASS_TILE_PAIRS) * self._longest
        return LEAST_PASS_BYTES + n_chunks * min(CHUNK_BYTES * rows, MOST_CHUNK_BYTES)


def scratch_of(lengths: NDArray[np.int64]) -> int:
    """Return the bytes of a thread for posteriors of sequences of given lengths, excluding its results."""
    longest = np.sort(lengths)[-2:]
    return _native.posterior_scratch_bytes(int(longest[0]), int(longest[-1]))


def rows_at_once(memory_bytes: int) -> int:
    """Return the rows of posteriors that are found at once."""
    return max(1, int(memory_bytes * FOUND_SHARE / FOUND_ROW_BYTES))


# All stages: their costs, for the progress, and `Checkpoint`, the interface of stored stages.

#: Costs in cells of stage I (measured): per pair, third sequence and residue of a consistency pass; per pair and
#: residue of all profiles; per cell of two profiles.
THIRD_CELLS, PROFILE_CELLS, COLUMN_CELLS = 6.0, 12.0, 1.0
#: Costs of effort fast: per cell of each sequence with itself; and per cell of all pairs, for common
#: subsequences.
GROUP_CELLS, KINSHIP_CELLS = 28.0, 0.001
#: Costs of a refinement round, and of the confidence, in progressive alignments.
ROUND_SHARE, CONFIDENCE_SHARE = 0.07, 1.5
#: Number of models that vote with the first one for effort accurate (pipeline.py), for proteins.
N_OTHERS = 2


def stage_costs(lengths: NDArray[np.int64], options: MsaOptions) -> dict[str, float]:
    """Return the expected cost of each stage in cells of stage I; consistency includes all passes."""
    n, mean = len(lengths), float(lengths.mean())
    total, squares = float(lengths.sum()), float((lengths.astype(np.float64) ** 2).sum())
    pairs = n * (n - 1) / 2
    profiles = PROFILE_CELLS * pairs * mean
    costs = {
        "posteriors": (total * total - squares) / 2,
        "tree": COLUMN_CELLS * n * n,
        "consistency": options.consistency * THIRD_CELLS * pairs * min(n, options.through or n) * mean,
        "alignment": profiles + COLUMN_CELLS * (n - 1) * mean * mean,
        "refinement": options.refine * (ROUND_SHARE * profiles + COLUMN_CELLS * mean * mean),
    }
    if options.votes:
        costs["other models"] = N_OTHERS * sum(costs.values())
    return {**costs, "confidence": CONFIDENCE_SHARE * profiles}


def work_cells(lengths: NDArray[np.int64], options: MsaOptions) -> float:
    """Return the expected total cost of a family, in cells of stage I."""
    if options.effort == "fast":
        squares = float((lengths.astype(np.float64) ** 2).sum())
        return GROUP_CELLS * squares + KINSHIP_CELLS * float(lengths.sum()) ** 2 / 2
    return sum(stage_costs(lengths, options).values())


class Meter:
    """Conversion of the items of stages to the share of all work done.

    `costs`: by stage, in order; a stage that is entered several times (passes) has equal parts of its cost.
    """

    def __init__(self, costs: dict[str, float], progress: StageProgress | None) -> None:
        self._costs, self._progress = costs, progress
        self._total = max(sum(costs.values()), 1.0)
        self._entered: dict[str, int] = {}

    def stage(self, name: str, n_items: int, times: int = 1) -> Progress | None:
        """Enter a stage, which is entered `times` times in total; return the callback for its items started."""
        if self._progress is None:
            return None
        progress, number = self._progress, self._entered.get(name, 0)
        self._entered[name] = number + 1
        before = sum(list(self._costs.values())[: list(self._costs).index(name)])
        share = self._costs[name] / times
        title = name if times == 1 else f"{name} {number + 1}/{times}"

        def begun(items: int) -> None:
            progress(title, min(1.0, (before + share * (number + items / max(n_items, 1))) / self._total))

        begun(0)
        return begun


#: Sections per part.
N_SECTIONS = 4


class Checkpoint(Protocol):
    """Stages stored by earlier runs and by this one; parts of a stage are numbered from 0."""

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """Return the sections of a part, or None if it is not stored."""

    def put(self, stage: int, part: int, sections: list[bytes]) -> None:
        """Store a part."""

    def is_whole(self, stage: int, n_parts: int) -> bool:
        """True if all parts of a stage are stored."""

    def forget(self, stage: int) -> None:
        """Delete the parts of a stage that no later stage needs."""

    def of_model(self, number: int) -> Checkpoint:
        """Return the storage for the same family under another pair model, numbered from 1."""


class NoCheckpoint:
    """No storage, for runs that cannot be resumed or finish in a moment."""

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """Return None."""
        return None

    def put(self, stage: int, part: int, sections: list[bytes]) -> None:
        """Store nothing."""

    def is_whole(self, stage: int, n_parts: int) -> bool:
        """Return False."""
        return False

    def forget(self, stage: int) -> None:
        """Delete nothing."""

    def of_model(self, number: int) -> Checkpoint:
        """Return no storage."""
        return NoCheckpoint()
