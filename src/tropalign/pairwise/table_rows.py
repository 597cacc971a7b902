"""Alignment of pairs by their tables of scores, in native code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, ResourceError, ScoringError, named
from tropalign.execution.task import Progress
from tropalign.pairwise.engines import REPORT_COLUMNS
from tropalign.pairwise.options import PairOptions
from tropalign.results.aligned_pairs import DEPTHS
from tropalign.results.alignments import AlignmentTable
from tropalign.sequences import SequenceBatch


class TableSide(NamedTuple):
    """One side of some tables: sequences, the index of each table's sequence, and their codes for native code."""

    batch: SequenceBatch
    places: NDArray[np.int64]
    codes: NDArray[np.uint8]


def aligned(
    tables: list[NDArray[Any]],
    sides: list[TableSide],
    options: PairOptions,
    n_threads: int,
    memory_bytes: int,
    progress: Progress | None,
) -> AlignmentTable:
    """Align pairs by their tables, which have a type of `TYPES` and the shapes of the sequences."""
    query, target = sides
    most = options.report, options.max_hsps
    columns, pair, rank = columns_of(tables, sides, options, *most, n_threads, memory_bytes, progress)
    if options.max_hsps > 1:
        columns["hsp"] = rank
    return AlignmentTable(query.batch, target.batch, options.report, query.places[pair], target.places[pair], **columns)


def columns_of(
    tables: list[NDArray[Any]],
    sides: list[TableSide],
    options: PairOptions,
    report: str,
    most: int,
    n_threads: int,
    memory_bytes: int,
    progress: Progress | None,
) -> tuple[dict[str, Any], NDArray[np.int64], NDArray[np.int32]]:
    """Align pairs by their tables; return the columns of a depth, and each row's table and rank in its pair.

    most: most alignments of a pair.
    """
    query, target = sides
    copy_bytes = max((table.size for table in tables), default=1) * 4  # each thread has a copy of its table
    n_threads = min(n_threads, memory_bytes // copy_bytes)
    if not n_threads:
        raise ResourceError(f"the copy of a table exceeds the memory: allow more with {named('memory_bytes')}")
    try:
        found = _native.align_tables(
            tables,
            query.codes,
            query.batch.offsets,
            target.codes,
            target.batch.offsets,
            query.places,
            target.places,
            float(options.gap.open),
            float(options.gap.extend),
            options.recurrence,
            options.freed(),
            DEPTHS.index(report),
            most,
            n_threads,
            memory_bytes,
            progress,
        )
    except ValueError as error:
        if not str(error).startswith("table "):  # of `progress`
            raise
        raise not_finite(tables) or ScoringError(
            "sums of the scores may exceed 1073741824: divide scores and gap costs by a common factor, or give float32"
        ) from None
    columns: dict[str, Any] = {name: found[name] for name in REPORT_COLUMNS[report]}
    if any(table.dtype.kind == "f" for table in tables):
        columns["score"] = columns["score"] * found["unit"]
    return columns, found["pair"], found["rank"]


def unknown_codes(batch: SequenceBatch, side: int) -> NDArray[np.uint8]:
    """Return codes of residues without letters: no letter has them, and queries (side 0) others than targets."""
    return np.full(len(batch.codes), 29 + side, np.uint8)


def not_finite(tables: Sequence[NDArray[Any]]) -> InputError | None:
    """Return the error of tables with a number that is not finite."""
    for k, table in enumerate(tables, 1):
        if not np.isfinite(table).all():
            i, j = np.argwhere(~np.isfinite(table))[0].tolist()
            return InputError(f"the score in row {i}, column {j} (from 0) is {table[i, j]}", record=f"table {k}")
    return None
