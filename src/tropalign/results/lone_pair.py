"""A pair that was aligned alone: its numbers, and a table that is made on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from tropalign.results.alignments import AlignmentTable
from tropalign.results.gapped import operations_of
from tropalign.results.kept_columns import COUNT_COLUMNS, END_COLUMNS, KEPT_COLUMNS
from tropalign.sequences import Alphabet, SequenceBatch

#: Numbers that an engine returns for a pair: as many as the depth has, in the order of PLACES, then the CIGAR.
Numbers = tuple[Any, ...]
PLACES = {name: k for k, name in enumerate(("score", *END_COLUMNS, *COUNT_COLUMNS))}
#: Indices of query and target in the batch of the two.
INDICES = {"query_index": 0, "target_index": 1}


@dataclass(frozen=True, slots=True)
class LonePair:
    """Result of one pair; names and texts are those of query and target.

    strand: 1, or -1 if the query was reverse-complemented; None if only one strand was aligned.
    """

    numbers: Numbers
    names: tuple[str, str]
    texts: tuple[str, str]
    alphabet: Alphabet
    depth: str
    strand: int | None = None

    def number(self, name: str) -> Any:
        """Return the number of a table's column; None if the depth does not include it."""
        place = PLACES.get(name)
        if place is None:
            return INDICES[name]
        return self.numbers[place] if place < len(self.numbers) else None

    def columns(self) -> dict[str, Any]:
        """Return the columns of a one-row table, without indices."""
        return columns_of([self.numbers], None if self.strand is None else [self.strand])

    def table(self) -> AlignmentTable:
        """Return a one-row table whose two sequences are in one batch."""
        batch = SequenceBatch.from_strings(self.texts, self.names, self.alphabet)
        return AlignmentTable(batch, batch, self.depth, np.zeros(1, np.int64), np.ones(1, np.int64), **self.columns())


def columns_of(rows: Sequence[Numbers], strands: Sequence[int] | None) -> dict[str, Any]:
    """Return the columns of a table of one or more rows of the same depth, without indices."""
    values = list(zip(*rows, strict=True))
    columns: dict[str, Any] = {} if strands is None else {"strand": np.array(strands, np.int8)}
    for column in KEPT_COLUMNS:
        place = PLACES.get(column.name, len(values))
        if place < len(values):
            is_decimal = column.name == "score" and isinstance(values[place][0], float)
            columns[column.name] = np.array(values[place], np.float64 if is_decimal else column.dtype)
    if len(values) > len(PLACES):
        runs = [[length << 4 | operation for operation, length in operations_of(text)] for text in values[-1]]
        columns["cigar_ops"] = np.array([run for row in runs for run in row], np.uint32)
        columns["cigar_offsets"] = np.array([0, *accumulate(map(len, runs))], np.int64)
    return columns
