"""Lines with one primary line per query, for tiles that do not have all pairs of a query.

A part holds every pair's line as non-primary, and for each query's best pair in the tile also its line as primary.
The ranks in all parts decide which one is used:

    lines    | query a, other | query a, other | query b, other | ...
                                ^ begin .. end                        of a's best pair here
    primary  | query a, primary | query b, primary | ...

Assembling reads the parts twice: for the ranks, and to write.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.array_files import part_arrays
from tropalign.results.alignments import AlignmentTable

Bytes = NDArray[np.uint8]
Index = NDArray[np.int64]
Ranks = NDArray[np.float64]
#: Rank of a pair without an aligned column, lower than any score.
UNALIGNED = -1e300


def encode(table: AlignmentTable, lines: Callable[[AlignmentTable, bool], bytes]) -> bytes:
    """Return the part of a table.

    lines: returns the lines of a table's rows, primary or not. A pair without an aligned column has a line only if
    it is the primary one.
    """
    is_aligned, rank = table.n_columns > 0, _ranks(table)
    best = _best_rows(table.query_index, rank)
    others = np.flatnonzero(is_aligned)
    text, primary = (
        np.frombuffer(lines(table.take(rows), is_primary), np.uint8)
        for rows, is_primary in ((others, False), (best, True))
    )
    bounds, place = _line_bounds(text), np.searchsorted(others, best)
    sink = io.BytesIO()
    np.savez(
        sink,
        query=table.query_index[best],
        rank=rank[best],
        begin=bounds[place],
        end=bounds[place + is_aligned[best]],
        offsets=_line_bounds(primary),
        lines=text,
        primary=primary,
    )
    return sink.getvalue()


def primary_rows(table: AlignmentTable) -> NDArray[np.bool_]:
    """Return a mask of primary rows for a table with all pairs of its queries; bool, shape (n,)."""
    found = np.zeros(len(table), bool)
    found[_best_rows(table.query_index, _ranks(table))] = True
    return found


def _ranks(table: AlignmentTable) -> Ranks:
    return np.where(table.n_columns > 0, table.score.astype(np.float64), UNALIGNED)


def _best_rows(query: Index, rank: Ranks) -> Index:
    """Return the row with the highest rank of each query, ascending; ties go to the first row."""
    order = np.lexsort((-rank, query))
    is_first = np.ones(len(order), bool)
    is_first[1:] = query[order[1:]] != query[order[:-1]]
    return np.sort(order[is_first])


def _line_bounds(text: Bytes) -> Index:
    """Return the start of each line, and the end of the last one."""
    return np.concatenate([[0], np.flatnonzero(text == ord("\n")) + 1])


@dataclass(frozen=True)
class _Part:
    """A checked part; the module describes its fields."""

    query: Index
    rank: Ranks
    begin: Index
    end: Index
    offsets: Index
    lines: Bytes
    primary: Bytes

    @classmethod
    def read(cls, data: bytes, n_queries: int) -> _Part:
        with part_arrays(data) as arrays:
            part = cls(**arrays)
            part._check(n_queries)
        return part

    def _check(self, n_queries: int) -> None:
        n = len(self.query)
        for name in ("query", "rank", "begin", "end", "offsets"):
            values = getattr(self, name)
            if values.dtype != (np.float64 if name == "rank" else np.int64) or values.shape != (
                n + (name == "offsets"),
            ):
                raise ValueError(name)
        for name in ("lines", "primary"):
            if getattr(self, name).dtype != np.uint8 or getattr(self, name).ndim != 1:
                raise ValueError(name)
        places = np.stack([self.begin, self.end], 1).ravel()  # 0 <= begin <= end <= the next begin ...
        for bounds, size in ((places, len(self.lines)), (self.offsets, len(self.primary))):
            if len(bounds) and not (bounds[0] >= 0 and bounds[-1] <= size and (np.diff(bounds) >= 0).all()):
                raise ValueError("bounds")
        if n and not 0 <= self.query.min() <= self.query.max() < n_queries:
            raise ValueError("query")


def chosen(parts: Iterable[bytes], n_queries: int) -> Iterator[memoryview]:
    """Yield blocks of whole lines in the order of the pairs. Reads `parts` twice; InputError for a damaged part."""
    highest, owner = np.full(n_queries, -np.inf), np.full(n_queries, -1)
    for number, data in enumerate(parts):
        part = _Part.read(data, n_queries)
        is_better = part.rank > highest[part.query]
        highest[part.query[is_better]], owner[part.query[is_better]] = part.rank[is_better], number
    for number, data in enumerate(parts):
        part = _Part.read(data, n_queries)
        yield from _lines(part, np.flatnonzero(owner[part.query] == number))


def _lines(part: _Part, winners: Index) -> Iterator[memoryview]:
    """Yield the lines of a part if these of its best pairs are primary."""
    lines, primary, done = memoryview(part.lines), memoryview(part.primary), 0  # type: ignore[arg-type]
    bounds = (part.begin[winners], part.end[winners], part.offsets[winners], part.offsets[winners + 1])
    for begin, end, first, last in zip(*(bound.tolist() for bound in bounds), strict=True):
        if begin > done:
            yield lines[done:begin]
        yield primary[first:last]
        done = end
    if done < len(lines):
        yield lines[done:]
