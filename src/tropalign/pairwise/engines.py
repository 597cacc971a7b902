"""Alignment of rows of pairs by native code or by GPU kernels: the calls of `_native` for pairs of sequences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import _native, ragged
from tropalign.devices.registry import DeviceCache
from tropalign.errors import ResourceError, named
from tropalign.execution.task import Progress
from tropalign.pairwise.embedded import Embedded
from tropalign.pairwise.options import PairOptions
from tropalign.results.aligned_pairs import COUNT_COLUMNS, DEPTHS, END_COLUMNS
from tropalign.sequences import SequenceBatch
from tropalign.sequences.batch import in_memory

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu
    from tropalign.pairwise.gpu_plan import Shape
    from tropalign.sequences.translation import Frames

    #: Sequences of a task, with frames or embeddings.
    AnySide = SequenceBatch | Frames | Embedded

#: If a smaller share of the targets is needed, as for the best hits in a database, only those are passed on.
FEW_USED = 0.1
#: Columns that an engine returns at each depth.
REPORT_COLUMNS = {
    "score": ("score",),
    "ends": ("score", *END_COLUMNS),
    "alignment": ("score", *END_COLUMNS, *COUNT_COLUMNS, "cigar_ops", "cigar_offsets"),
}

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Taken:
    """Alignments whose residue pairs must not be reused by other alignments of the same rows.

    offsets: int64, shape (n_rows + 1,); row k has the alignments ``offsets[k]:offsets[k + 1]``.
    query_start, target_start: int32, shape (n,), on the aligned strand.
    path_offsets: int64, shape (n + 1,).
    path: uint32; alignment a has ``path[path_offsets[a]:path_offsets[a + 1]]``, as in a table's ``cigar_ops``.
    least: int32, shape (n_rows,); rows below this whole score (above 0) have no alignment.
    """

    offsets: Index
    query_start: NDArray[np.int32]
    target_start: NDArray[np.int32]
    path_offsets: Index
    path: NDArray[np.uint32]
    least: NDArray[np.int32]

    def some(self, rows: Index) -> Taken:
        """Select the alignments of some rows."""
        offsets, own = ragged.chosen(self.offsets, rows)
        path_offsets, places = ragged.chosen(self.path_offsets, own)
        starts = self.query_start[own], self.target_start[own]
        return Taken(offsets, *starts, path_offsets, self.path[places], self.least[rows])


@dataclass(frozen=True)
class Rows:
    """Pairs to align: indices, report depth, and strand of the query (None: plus).

    With `taken` (local mode on the CPU only), the best alignments that are compatible with those. `most`: alignments
    per pair, by scores of vectors only.
    """

    query: Index
    target: Index
    report: str
    strand: NDArray[np.int8] | None
    taken: Taken | None = None
    most: int = 1

    def some(self, rows: Index) -> Rows:
        """Select rows of a request without `taken`."""
        strand = None if self.strand is None else self.strand[rows]
        return Rows(self.query[rows], self.target[rows], self.report, strand)

    def scores_of(self, rows: Index) -> Rows:
        """Select rows for their scores alone, however low."""
        strand = None if self.strand is None else self.strand[rows]
        taken = None if self.taken is None else replace(self.taken.some(rows), least=np.ones(len(rows), np.int32))
        return Rows(self.query[rows], self.target[rows], "score", strand, taken)


#: Maps rows to columns by name.
Engine = Callable[[Rows, "Progress | None"], dict[str, Any]]


class Sides(NamedTuple):
    """The sequences to align; `reverse`: the queries' other strands, or None. In a set, `targets` is `queries`."""

    queries: SequenceBatch
    reverse: SequenceBatch | None
    targets: SequenceBatch

    def on(self, strand: str) -> Sides:
        """Return the sides that are aligned: for "minus", the queries' other strands alone."""
        if strand != "minus":
            return self
        assert self.reverse is not None
        return Sides(self.reverse, None, self.targets)


def aligned(side: AnySide) -> SequenceBatch:
    """Return the sequences to align: for frames, the proteins."""
    if isinstance(side, SequenceBatch):
        return side
    return side.batch if isinstance(side, Embedded) else side.proteins


def given(side: AnySide) -> SequenceBatch:
    """Return the original sequences: for frames, the nucleotides."""
    if isinstance(side, SequenceBatch):
        return side
    return side.batch if isinstance(side, Embedded) else side.source


class Engines:
    """Aligns rows of pairs of these sequences; `scratch_bytes` is the memory limit of native code."""

    def __init__(self, sides: Sides, options: PairOptions, scratch_bytes: int) -> None:
        self.queries, self.reverse, self.targets = self.sides = sides
        self.options, self.scratch_bytes = options, scratch_bytes
        self._on_devices = DeviceCache()

    @property
    def longest(self) -> int:
        """Residues of the longest sequence."""
        return max(int(side.lengths.max(initial=0)) for side in (self.queries, self.targets))

    def native(self, n_threads: int, rows: Rows, progress: Progress | None) -> dict[str, Any]:
        """Align rows on the CPU."""
        options, queries = self.options, self.queries
        codes, offsets, index = queries.codes, queries.offsets, rows.query
        if rows.strand is not None and self.reverse is not None:
            # Both strands are concatenated; a row uses the query of its own strand.
            codes = np.concatenate([queries.codes, self.reverse.codes])
            offsets = np.concatenate([queries.offsets, queries.offsets[1:] + queries.offsets[-1]])
            index = rows.query + np.where(rows.strand < 0, len(queries), 0)
        target, target_codes, target_offsets, target_track = used_targets(rows.target, self.targets)
        whole, taken = options.whole, rows.taken
        tracks = {}
        if whole.track_scores is not None:
            tracks = {"query_track": queries.track, "target_track": target_track, "track_scores": whole.track_scores}
        align: Any
        how: tuple[Any, ...]
        if taken is not None:
            arrays = taken.offsets, taken.query_start, taken.target_start, taken.path_offsets, taken.path, taken.least
            align, how = _native.align_next, (whole.gap, *arrays)
        elif whole.is_affine:
            align, how = _native.align_pairs, (whole.gap_open, whole.gap_extend, options.recurrence, options.freed())
        else:
            align, how = _native.align_pieces, (whole.gap, whole.end_gap, options.recurrence, options.freed())
        try:
            columns: dict[str, Any] = align(
                codes,
                offsets,
                target_codes,
                target_offsets,
                index,
                target,
                whole.scores,
                *how,
                DEPTHS.index(rows.report),
                n_threads,
                self.scratch_bytes,
                progress,
                **tracks,
            )
        except MemoryError:
            if align is _native.align_pairs or (taken is not None and len(index) > 1):
                raise  # fewer pairs may fit
            what = "gap costs of two pieces or of the ends" if taken is None else "several alignments per pair"
            raise ResourceError(
                f"a pair requires more memory than allowed with {what}: allow more with {named('memory_bytes')}"
            ) from None
        return columns

    def on_gpu(self, device: Gpu, shape: Shape | None, rows: Rows, progress: Progress | None) -> dict[str, Any]:
        """Align rows on a GPU, with kernels of the given or the usual shape."""
        from tropalign.pairwise.gpu import PairsOnGpu, Sequences
        from tropalign.pairwise.gpu_plan import KEEPS_ZERO, Scheme

        query, target, traced = rows.query, rows.target, rows.report != "score"
        if rows.strand is not None:
            query = query + np.where(rows.strand < 0, len(self.queries), 0)
        if self.targets is not self.queries:
            target = target + len(self.queries) * (1 if self.reverse is None else 2)

        def upload() -> Sequences:
            batches = [self.queries, self.reverse, None if self.targets is self.queries else self.targets]
            return Sequences(device, [(batch.codes, batch.offsets) for batch in batches if batch is not None])

        sequences = self._on_devices.get(device, "sequences", upload)

        def make() -> PairsOnGpu:
            options, whole = self.options, self.options.whole
            costs = whole.gap_open, whole.gap_extend
            scheme = Scheme(whole.scores, *costs, KEEPS_ZERO[options.recurrence], options.freed(), traced)
            return PairsOnGpu(device, sequences, scheme, shape)

        aligner = self._on_devices.get(device, ("aligner", traced), make)
        return aligner.align(query, target, progress)


def used_targets(
    index: Index, batch: SequenceBatch
) -> tuple[Index, NDArray[np.uint8], Index, NDArray[np.uint8] | None]:
    """Return indices, codes, offsets and codes of a track, if any, for native code.

    Native code copies all codes, so few targets are passed alone.
    """
    batch, index = in_memory(batch, index)
    if len(index) > FEW_USED * len(batch):
        return index, batch.codes, batch.offsets, batch.track
    used, place = np.unique(index, return_inverse=True)
    spans = list(zip(batch.offsets[used].tolist(), batch.offsets[used + 1].tolist(), strict=True))
    codes, track = (
        None if values is None else np.concatenate([values[begin:end] for begin, end in spans] or [values[:0]])
        for values in (batch.codes, batch.track)
    )
    assert codes is not None
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(batch.lengths[used])])
    return place.astype(np.int64), codes, offsets, track
