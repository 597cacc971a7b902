"""How rows of pairs are aligned: by native code, or by kernels on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.launcher import DeviceCache
from tropalign.errors import ResourceError, named
from tropalign.execution.task import Progress
from tropalign.pairwise.options import PairOptions
from tropalign.results.kept_columns import COUNT_COLUMNS, DEPTHS, END_COLUMNS
from tropalign.sequences import SequenceBatch

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu
    from tropalign.pairwise.gpu import PairsOnGpu
    from tropalign.pairwise.gpu_plan import Shape

#: The best hits in a database: where pairs are fewer than this share of the targets, those alone are handed on.
FEW_USED = 0.1
#: What an engine returns at each depth.
REPORT_COLUMNS = {
    "score": ("score",),
    "ends": ("score", *END_COLUMNS),
    "alignment": ("score", *END_COLUMNS, *COUNT_COLUMNS, "cigar_ops", "cigar_offsets"),
}

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Pairs that an engine aligns: indices, how deeply, and on which strand of the query (None: as it is)."""

    query: Index
    target: Index
    report: str
    strand: NDArray[np.int8] | None


#: Columns by name of some rows.
Engine = Callable[[Rows, "Progress | None"], dict[str, Any]]


class Engines:
    """Aligns rows of pairs of these sequences.

    Parameters
    ----------
    queries, targets
    reverse
        The other strands of the queries; None where one strand is aligned.
    options
    scratch_bytes
        What native code may take.
    """

    def __init__(
        self,
        queries: SequenceBatch,
        reverse: SequenceBatch | None,
        targets: SequenceBatch,
        options: PairOptions,
        scratch_bytes: int,
    ) -> None:
        self.queries, self.targets, self.options = queries, targets, options
        self._reverse, self._scratch_bytes = reverse, scratch_bytes
        self._on_devices = DeviceCache()

    def native(self, n_threads: int, rows: Rows, progress: Progress | None) -> dict[str, Any]:
        """The rows on the processor."""
        options, queries = self.options, self.queries
        codes, offsets, index = queries.codes, queries.offsets, rows.query
        if rows.strand is not None and self._reverse is not None:
            # Both strands lie one after another; a row takes the query of its own.
            codes = np.concatenate([queries.codes, self._reverse.codes])
            offsets = np.concatenate([queries.offsets, queries.offsets[1:] + queries.offsets[-1]])
            index = rows.query + np.where(rows.strand < 0, len(queries), 0)
        target, target_codes, target_offsets = _used(rows.target, self.targets)
        whole = options.whole
        costs = (whole.gap_open, whole.gap_extend) if whole.is_affine else (whole.gap, whole.end_gap)
        align: Any = _native.align_pairs if whole.is_affine else _native.align_pieces
        try:
            columns: dict[str, Any] = align(
                codes,
                offsets,
                target_codes,
                target_offsets,
                index,
                target,
                whole.scores,
                *costs,
                options.recurrence,
                options.freed(),
                DEPTHS.index(rows.report),
                n_threads,
                self._scratch_bytes,
                progress,
            )
        except MemoryError:
            if whole.is_affine:
                raise
            raise ResourceError(
                "a pair takes more memory than allowed with gap costs of two pieces or of the ends: "
                f"allow more with {named('memory_bytes')}"
            ) from None
        return columns

    def on_gpu(self, device: Gpu, shape: Shape | None, rows: Rows, progress: Progress | None) -> dict[str, Any]:
        """The rows on a GPU, by kernels of the usual sizes or of these."""
        query, target = rows.query, rows.target
        if rows.strand is not None:
            query = query + np.where(rows.strand < 0, len(self.queries), 0)
        if self.targets is not self.queries:
            target = target + len(self.queries) * (1 if self._reverse is None else 2)
        return self._aligner(device, shape, rows.report != "score").align(query, target, progress)

    def _aligner(self, device: Gpu, shape: Shape | None, traced: bool) -> PairsOnGpu:
        """What aligns on that device, with the sequences there: made by the first tile."""
        from tropalign.pairwise.gpu import PairsOnGpu, Sequences
        from tropalign.pairwise.gpu_scheme import KEEPS_ZERO, Scheme

        def upload() -> Sequences:
            batches = [self.queries, self._reverse, None if self.targets is self.queries else self.targets]
            return Sequences(device, [(batch.codes, batch.offsets) for batch in batches if batch is not None])

        sequences = self._on_devices.get(device, "sequences", upload)

        def make() -> PairsOnGpu:
            options, whole = self.options, self.options.whole
            costs = whole.gap_open, whole.gap_extend
            scheme = Scheme(whole.scores, *costs, KEEPS_ZERO[options.recurrence], options.freed(), traced)
            return PairsOnGpu(device, sequences, scheme, shape)

        return self._on_devices.get(device, ("aligner", traced), make)


def _used(index: Index, batch: SequenceBatch) -> tuple[Index, NDArray[np.uint8], Index]:
    """Numbers, codes and offsets of the sequences that pairs need where these are few: native code copies them."""
    if len(index) > FEW_USED * len(batch):
        return index, batch.codes, batch.offsets
    used, place = np.unique(index, return_inverse=True)
    spans = zip(batch.offsets[used].tolist(), batch.offsets[used + 1].tolist(), strict=True)
    codes = np.concatenate([batch.codes[begin:end] for begin, end in spans] or [batch.codes[:0]])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(batch.lengths[used])])
    return place.astype(np.int64), codes, offsets
