"""Hits of one query, for HMMER's text formats.

Text is composed with a character per byte (Latin-1), so that columns have HMMER's widths if names are not ASCII.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.header import Header, one_line
from tropalign.formats.hits.context import HitsContext
from tropalign.results.found_hits import Query
from tropalign.results.hits import Hits


@dataclass(frozen=True, eq=False)
class QueryHits:
    """Hits of one query; `hits` may contain several queries, `index` is this one, `rows` are its hits."""

    hits: Hits
    index: int
    rows: range

    @property
    def query(self) -> Query:
        """The query itself."""
        return self.hits.queries[self.index]

    @property
    def is_first(self) -> bool:
        """True if it is the first of all queries."""
        return self.hits.first_query + self.index == 0

    @property
    def widths(self) -> list[int]:
        """Widths of the columns of names, of accessions, and of accessions or else names."""
        found: list[int] = self.hits.widths[self.index].tolist()
        return found

    def domains(self, row: int) -> list[int]:
        """Return the reported domains of a hit, in order."""
        begin, end = self.hits.domain_offsets[row : row + 2].tolist()
        found: list[int] = (begin + np.flatnonzero(self.hits.domain_is_reported[begin:end])).tolist()
        return found

    def best_domain(self, row: int) -> int:
        """Return the best domain of a hit."""
        return int(self.hits.domain_offsets[row]) + int(self.hits.best_domain[row])


def queries_of(pieces: Iterator[Hits]) -> Iterator[QueryHits]:
    """Yield each query with its hits, including queries without hits."""
    for hits in pieces:
        bounds = np.searchsorted(hits.query, np.arange(len(hits.queries) + 1)).tolist()
        for index in range(len(hits.queries)):
            yield QueryHits(hits, index, range(bounds[index], bounds[index + 1]))


def raw(text: str) -> str:
    """Return a character per UTF-8 byte of a text. Raises InputError for line breaks."""
    if "\n" in text or "\r" in text:
        raise InputError("the name or description holds a line break: rename it", record=text)
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


def tail(header: Header, context: HitsContext) -> str:
    """Return the last lines of a table: its provenance."""
    is_search = context.orientation == "search"
    query, target = (context.models, context.sequences) if is_search else (context.sequences, context.models)
    lines = (
        "#",
        f"# Program:         tropalign {context.orientation}",
        f"# Version:         {header.version} (the hits of HMMER 3.4)",
        f"# Pipeline mode:   {'SEARCH' if is_search else 'SCAN'}",
        f"# Query file:      {one_line(query) or '[none]'}",
        f"# Target file:     {one_line(target) or '[none]'}",
        f"# Option settings: {one_line(header.command)}",
        "# [ok]",
    )
    return "".join(raw(line) + "\n" for line in lines)


#: Lines that are written at once: a query may have millions.
LINES_AT_A_TIME = 4096


def write_lines(lines: Iterator[str], out: IO[bytes]) -> None:
    """Write lines of text with a character per byte, in blocks."""
    while some := list(islice(lines, LINES_AT_A_TIME)):
        out.write(("\n".join(some) + "\n").encode("latin-1"))


def table_of(
    lines: Callable[[QueryHits], Iterator[str]],
) -> Callable[[Iterator[Hits], IO[bytes], Header, HitsContext], None]:
    """Make the writer of a HMMER table from a function that yields the lines of a query."""

    def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
        for query in queries_of(pieces):
            write_lines(lines(query), out)
        out.write(tail(header, context).encode("latin-1"))

    return write
