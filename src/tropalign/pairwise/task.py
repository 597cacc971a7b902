"""Pairs as a task of tiles: which pairs a tile holds, and how it is computed on the CPU or a GPU."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.execution.task import Progress, Tile
from tropalign.machine.memory import default_budget, require
from tropalign.pairwise.options import PairOptions, checked_pairs
from tropalign.results.alignments import COUNT_COLUMNS, END_COLUMNS, AlignmentTable, concatenate
from tropalign.sequences import SequenceBatch

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu
    from tropalign.pairwise.gpu import PairsOnGpu, Sequences
    from tropalign.pairwise.gpu_plan import Shape

DEPTHS = {"score": 0, "ends": 1, "alignment": 2}
#: Bytes a result row takes, paths aside (columns, and the index arrays that made it).
ROW_BYTES = 96
#: Path operations a residue of the shorter sequence, a cautious mean; 4 bytes each, held twice.
OPERATIONS_A_RESIDUE = 0.5
#: Cells a tile should have at least, about a second's work, and pairs it may have at most.
TILE_CELLS = 30_000_000_000
TILE_PAIRS = 600_000

#: What an engine returns at each depth.
REPORT_COLUMNS = {
    "score": ("score",),
    "ends": ("score", *END_COLUMNS),
    "alignment": ("score", *END_COLUMNS, *COUNT_COLUMNS, "cigar_ops", "cigar_offsets"),
}

Index = NDArray[np.int64]
#: Columns by name of pairs (query, target, report, strand, progress).
Engine = Callable[[Index, Index, str, "NDArray[np.int8] | None", "Progress | None"], dict[str, Any]]


class PairsTask:
    """Alignment of all pairs i < j of a set, of queries against targets, or of listed pairs.

    Parameters
    ----------
    queries, targets
        `targets` None: every pair of `queries` with the first index below the second (with ``options.top``: every
        ordered pair, so that each query sees all others).
    options
        What to compute and keep.
    pairs : int64, shape (n, 2), optional
        Only these (query index, target index).
    memory_bytes
        What the run may take; a share of what is free when not given.

    Raises
    ------
    ScoringError
        A matrix that does not fit the sequences.
    ResourceError
        Sequences or results beyond the memory allowed.
    """

    #: Sizes of the GPU's kernels, where they are not the usual ones.
    gpu_shape: Shape | None = None

    def __init__(
        self,
        queries: SequenceBatch,
        targets: SequenceBatch | None,
        options: PairOptions,
        pairs: Index | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        self.queries, self.options = queries, options
        self.pairs = (
            None if pairs is None else checked_pairs(pairs, len(queries), len(queries if targets is None else targets))
        )
        self.is_triangle = targets is None and pairs is None and options.top is None
        self.skips_self = targets is None and pairs is None
        self.targets = queries if targets is None else targets
        self.memory_bytes = default_budget() if memory_bytes is None else memory_bytes
        options.matrix.check(queries)
        if self.targets is not queries:
            options.matrix.check(self.targets)
        if self.skips_self and len(queries) < 2:
            raise InputError("the set holds one sequence, which makes no pair: give two or more, or a second file")
        if options.strand == "both" and not queries.alphabet.has_strands:
            name = f"{queries.alphabet.name}s"
            raise InputError(f"both strands were asked for, but {name} have one: leave --strand both out")
        self._reverse = queries.reverse_complement() if options.strand == "both" else None
        options.check_range(int(max(queries.lengths.max(), self.targets.lengths.max())))
        self._tiles = self._cut()
        self._opening = threading.Lock()
        self._locks: dict[Gpu, threading.Lock] = {}
        self._sequences: dict[Gpu, Sequences] = {}
        self._aligners: dict[tuple[Gpu, bool], PairsOnGpu] = {}
        self.n_pairs = sum(tile.n_items for tile in self._tiles)

    @property
    def parameters(self) -> dict[str, str]:
        """For headers and manifests."""
        return self.options.parameters()

    def fingerprint(self) -> str:
        """Hash of sequences, pairs, parameters and the cut into tiles."""
        digest = hashlib.sha256()
        digest.update(self.queries.fingerprint().encode())
        digest.update(b"self" if self.targets is self.queries else self.targets.fingerprint().encode())
        digest.update(self.options.matrix.scores.tobytes())
        digest.update(repr(sorted(self.parameters.items())).encode())
        digest.update(b"" if self.pairs is None else np.ascontiguousarray(self.pairs).tobytes())
        digest.update(repr([tile.payload for tile in self._tiles]).encode())
        return digest.hexdigest()

    def tiles(self) -> list[Tile]:
        """Runs of queries (or of listed pairs) with all their targets."""
        return self._tiles

    def _cut(self) -> list[Tile]:
        query_lengths, target_lengths = self.queries.lengths, self.targets.lengths
        if self.pairs is not None:
            lengths = query_lengths[self.pairs[:, 0]] * target_lengths[self.pairs[:, 1]]
            items = np.ones(len(self.pairs), np.int64)
        elif self.is_triangle:
            after = np.concatenate([np.cumsum(target_lengths[::-1])[::-1][1:], [0]])
            lengths = query_lengths * after
            items = np.arange(len(self.queries) - 1, -1, -1)
        else:
            lengths = query_lengths * int(target_lengths.sum()) - (query_lengths**2 if self.skips_self else 0)
            items = np.full(len(self.queries), len(self.targets) - self.skips_self, np.int64)
        self._items = items
        most = int(os.environ.get("TROPALIGN_TILE_PAIRS", TILE_PAIRS))
        residues = float(min(query_lengths.mean(), target_lengths.mean()))
        row_bytes = ROW_BYTES + (int(8 * OPERATIONS_A_RESIDUE * residues) if self.options.report == "alignment" else 0)
        fixed = len(self.queries.codes) * 2 + len(self.targets.codes) * 2
        most = max(1, min(most, int(max(self.memory_bytes - fixed, 0) * 0.6 / row_bytes)))
        per_run = int(items.max()) if len(items) else 0
        needed = fixed + row_bytes * (per_run if self.pairs is None else 1)
        require(
            needed, self.memory_bytes, "one query with all its targets", "allow more with --memory or split the targets"
        )
        tiles: list[Tile] = []
        begin = count = cells = 0
        for k in range(len(items)):
            if count and (count + items[k] > most or cells >= TILE_CELLS):
                tiles.append(Tile(len(tiles), cells, fixed + row_bytes * count, count, (begin, k)))
                begin, count, cells = k, 0, 0
            count += int(items[k])
            cells += int(lengths[k])
        if count:
            tiles.append(Tile(len(tiles), cells, fixed + row_bytes * count, count, (begin, len(items))))
        return tiles

    def pairs_of(self, tile: Tile) -> tuple[Index, Index]:
        """Query and target indices of a tile's rows."""
        begin, end = tile.payload
        if self.pairs is not None:
            part = self.pairs[begin:end]
            return np.ascontiguousarray(part[:, 0]), np.ascontiguousarray(part[:, 1])
        n = len(self.targets)
        queries = np.arange(begin, end)
        if self.is_triangle:
            counts = n - 1 - queries
            first = np.cumsum(counts) - counts  # the row of each query's first pair
            query = np.repeat(queries, counts)
            return query, np.arange(len(query)) + np.repeat(queries + 1 - first, counts)
        query, target = np.repeat(queries, n), np.tile(np.arange(n), end - begin)
        if self.skips_self:
            keep = query != target
            query, target = query[keep], target[keep]
        return query, target

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> AlignmentTable:
        """The tile's alignments, rows in the order of ``pairs_of`` (less what the options leave out)."""
        return self._align(tile, partial(self._native, n_threads), progress)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> AlignmentTable:
        """The same on a GPU."""
        return self._align(tile, partial(self._on_device, device), progress)

    def split(self, tile: Tile) -> list[Tile]:
        """Two tiles of about half the pairs; none of a single query or pair."""
        begin, end = tile.payload
        if end - begin < 2 or (self.pairs is not None and self.options.top is not None):
            return []  # the best of a query's listed pairs are chosen among all of them
        items = self._items[begin:end]
        middle = begin + int(np.clip(np.searchsorted(np.cumsum(items), items.sum() / 2) + 1, 1, end - begin - 1))
        share = int(self._items[begin:middle].sum()) / max(tile.n_items, 1)
        halves = []
        for (start, stop), part in (((begin, middle), share), ((middle, end), 1 - share)):
            count = int(self._items[start:stop].sum())
            cells, n_bytes = int(tile.cost_cells * part), int(tile.n_bytes * part)
            halves.append(replace(tile, cost_cells=cells, n_bytes=n_bytes, n_items=count, payload=(start, stop)))
        return halves

    def join(self, tile: Tile, results: list[AlignmentTable]) -> AlignmentTable:
        """The tables one after another."""
        return concatenate(results)

    def _align(self, tile: Tile, engine: Engine, progress: Progress | None) -> AlignmentTable:
        query, target = self.pairs_of(tile)
        options = self.options
        strand = np.ones(len(query), np.int8) if self._reverse is not None else None
        if options.top is not None or options.min_score is not None or strand is not None:
            # Scores alone cost a third of an alignment: only what will be kept, on its better strand, is aligned.
            score = engine(query, target, "score", None, progress)["score"]
            if progress:
                progress = partial(_repeated, progress, len(query))
            if strand is not None:
                other = engine(query, target, "score", -strand, progress)["score"]
                strand = np.where(other > score, -1, 1).astype(np.int8)
                score = np.maximum(score, other)
            keep = _selected(query, score, options)
            query, target, score = query[keep], target[keep], score[keep]
            strand = None if strand is None else strand[keep]
            if options.report == "score":
                return AlignmentTable(self.queries, self.targets, "score", query, target, score, strand)
        found = engine(query, target, options.report, strand, progress)
        columns = {name: found[name] for name in REPORT_COLUMNS[options.report]}
        if strand is not None and options.report != "score":
            minus = strand < 0
            lengths = self.queries.lengths[query[minus]]
            begin, end = columns["query_start"][minus], columns["query_end"][minus]
            columns["query_start"][minus], columns["query_end"][minus] = lengths - end, lengths - begin
        table = AlignmentTable(self.queries, self.targets, options.report, query, target, strand=strand, **columns)
        if options.min_identity is not None:
            table = table.take(table.identity >= options.min_identity)
        return table

    def _native(
        self,
        n_threads: int,
        query: Index,
        target: Index,
        report: str,
        strand: NDArray[np.int8] | None,
        progress: Progress | None,
    ) -> dict[str, Any]:
        from tropalign import _native

        options, queries = self.options, self.queries
        codes, offsets, index = queries.codes, queries.offsets, query
        if strand is not None and self._reverse is not None:
            # Both strands lie one after another; a row takes the query of its own.
            codes = np.concatenate([queries.codes, self._reverse.codes])
            offsets = np.concatenate([queries.offsets, queries.offsets[1:] + queries.offsets[-1]])
            index = query + np.where(strand < 0, len(queries), 0)
        columns: dict[str, Any] = _native.align_pairs(
            codes,
            offsets,
            self.targets.codes,
            self.targets.offsets,
            index,
            target,
            np.ascontiguousarray(options.matrix.scores, np.int32),
            options.gap.open,
            options.gap.extend,
            options.is_local,
            options.freed(),
            DEPTHS[report],
            n_threads,
            max(self.memory_bytes // 2, 64 << 20),
            progress,
        )
        return columns

    def _on_device(
        self,
        device: Gpu,
        query: Index,
        target: Index,
        report: str,
        strand: NDArray[np.int8] | None,
        progress: Progress | None,
    ) -> dict[str, Any]:
        aligner = self._aligner(device, report != "score")
        if strand is not None:
            query = query + np.where(strand < 0, len(self.queries), 0)
        if self.targets is not self.queries:
            target = target + len(self.queries) * (1 if self._reverse is None else 2)
        return aligner.align(query, target, progress)

    def _aligner(self, device: Gpu, traced: bool) -> PairsOnGpu:
        """What aligns on that device, with the sequences there: made by the first tile."""
        from tropalign.pairwise.gpu import PairsOnGpu, Scheme, Sequences

        with self._opening:
            lock = self._locks.setdefault(device, threading.Lock())
        with lock:
            if device not in self._sequences:
                batches = [self.queries, self._reverse, None if self.targets is self.queries else self.targets]
                parts = [(batch.codes, batch.offsets) for batch in batches if batch is not None]
                self._sequences[device] = Sequences(device, parts)
            key = (device, traced)
            if key not in self._aligners:
                options = self.options
                scheme = Scheme(
                    np.ascontiguousarray(options.matrix.scores, np.int32),
                    options.gap.open,
                    options.gap.extend,
                    options.is_local,
                    options.freed(),
                    traced,
                )
                self._aligners[key] = PairsOnGpu(device, self._sequences[device], scheme, self.gpu_shape)
            return self._aligners[key]


def _repeated(progress: Progress, n_items: int, items: int) -> None:
    """Of a second pass over a tile: all its items have begun. It can be stopped here."""
    progress(n_items)


def _selected(query: Index, score: NDArray[np.int32], options: PairOptions) -> Index:
    """Rows to keep by score: at least min_score, and the top of each query; in the order of the rows."""
    rows = np.arange(len(query))
    if options.min_score is not None:
        rows = rows[score >= options.min_score]
    if options.top is not None and len(rows):
        order = np.lexsort((rows, -score[rows].astype(np.int64), query[rows]))
        ordered = query[rows][order]
        begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.concatenate([begins, [len(order)]])))
        rows = rows[order[rank < options.top]]  # the best first, query by query
    return rows
