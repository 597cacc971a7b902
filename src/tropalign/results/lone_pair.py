"""A pair that was aligned by itself: numbers, and a table only for whoever asks."""

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

#: What an engine says of a pair: as many numbers as the depth has, in the order of PLACES, and then the CIGAR.
Numbers = tuple[Any, ...]
PLACES = {name: k for k, name in enumerate(("score", *END_COLUMNS, *COUNT_COLUMNS))}
#: The row's places in its batch, which holds the query and the target.
INDICES = {"query_index": 0, "target_index": 1}


@dataclass(frozen=True, slots=True)
class LonePair:
    """The result of one pair.

    Attributes
    ----------
    numbers
        See `Numbers`.
    names, texts
        Of query and target.
    alphabet
        Theirs.
    depth : {"score", "ends", "alignment"}
        How much was computed.
    strand
        1, or -1 where the query was reverse-complemented; None where one strand was looked at.
    """

    numbers: Numbers
    names: tuple[str, str]
    texts: tuple[str, str]
    alphabet: Alphabet
    depth: str
    strand: int | None = None

    def number(self, name: str) -> Any:
        """The number of a table's column; None where the depth does not have it."""
        place = PLACES.get(name)
        if place is None:
            return INDICES[name]
        return self.numbers[place] if place < len(self.numbers) else None

    def columns(self) -> dict[str, Any]:
        """The columns of a table of this row, indices aside."""
        return columns_of([self.numbers], None if self.strand is None else [self.strand])

    def table(self) -> AlignmentTable:
        """A table of this row, whose sequences are both in one batch."""
        batch = SequenceBatch.from_strings(self.texts, self.names, self.alphabet)
        return AlignmentTable(batch, batch, self.depth, np.zeros(1, np.int64), np.ones(1, np.int64), **self.columns())


def columns_of(rows: Sequence[Numbers], strands: Sequence[int] | None) -> dict[str, Any]:
    """The columns of a table of these rows, one or more of the same depth; indices aside."""
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
