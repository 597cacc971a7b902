"""Aligned pairs as Biopython's objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.results.cigar import DELETION, INSERTION

if TYPE_CHECKING:
    from tropalign.results.alignment import Alignment
    from tropalign.results.alignments import AlignmentTable


def coordinates(row: Alignment) -> NDArray[np.int64]:
    """Where the target (first row) and the query (second) are at the ends of each run of columns; see `Alignment`."""
    places = [(row.target_start, row.query_start if row.strand > 0 else row.query_end)]
    was_paired = False
    for operation, length in row.operations():
        target, query = places[-1]
        is_paired = operation not in (INSERTION, DELETION)
        if is_paired and was_paired:  # equal and different letters are one run
            places.pop()
        was_paired = is_paired
        query += row.strand * length * (operation != DELETION)
        places.append((target + length * (operation != INSERTION), query))
    return np.array(places, np.int64).T.copy()


def to_biopython(row: Alignment, records: dict[tuple[str, int], Any] | None = None) -> Any:
    """A row as Bio.Align.Alignment; `records` keeps the SeqRecords that rows share."""
    from Bio.Align import Alignment as BioAlignment

    made = BioAlignment(
        [_record(row, "target", records), _record(row, "query", records)], np.array(coordinates(row), int)
    )
    made.score = row.score
    return made


def _record(row: Alignment, side: str, records: dict[tuple[str, int], Any] | None) -> Any:
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord

    key = (side, row.target_index if side == "target" else row.query_index)
    if records is not None and key in records:
        return records[key]
    name = row.target if side == "target" else row.query
    record = SeqRecord(Seq(row._text(side)[0]), id=name, name=name, description="")
    if records is not None:
        records[key] = record
    return record


def all_to_biopython(table: AlignmentTable) -> Iterator[Any]:
    """Every row, one after another; rows of one sequence share its SeqRecord."""
    records: dict[tuple[str, int], Any] = {}
    return (to_biopython(row, records) for row in table)
