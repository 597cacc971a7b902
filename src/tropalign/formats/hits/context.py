"""Context of hit formats: search settings and text layout."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any

import numpy as np

from tropalign.errors import InputError, UsageError
from tropalign.formats.array_files import DAMAGED_PART
from tropalign.formats.format import Header, one_line
from tropalign.results.found_hits import (
    DOMAIN_COLUMNS,
    FILTERS,
    HIT_COLUMNS,
    LINES,
    ORIENTATIONS,
    TEXTS,
    FoundHits,
    Query,
    chosen,
    in_all_targets,
    is_kept,
    without_lines,
)
from tropalign.results.hits import Hits, judged
from tropalign.results.threshold_options import Thresholds


@dataclass(frozen=True)
class HitsContext:
    """Search settings and text layout for formats of hits.

    n_targets: total targets of each query, by which a format recognises that a query is complete; None if only the
    end of the parts shows this. models, sequences: sources, for headers. f1, f2, f3: P-value limits of the filters
    MSV, Viterbi and Forward. bias_filter, null2: filter for biased composition, and its score correction. seed: 0
    for a different one in each run. text_width: characters per line, 0 for no limit. shows_accessions: instead of
    names.
    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    orientation: str = "search"
    n_targets: int | None = None
    models: str = ""
    sequences: str = ""
    f1: float = 0.02
    f2: float = 1e-3
    f3: float = 1e-5
    bias_filter: bool = True
    null2: bool = True
    seed: int = 42
    text_width: int = 120
    shows_alignments: bool = True
    shows_accessions: bool = False

    def __post_init__(self) -> None:
        if self.orientation not in ORIENTATIONS:
            raise ValueError(f"orientation {self.orientation!r} is not one of {', '.join(ORIENTATIONS)}")
        if self.text_width and self.text_width < 0:
            raise ValueError("text_width must be 0 or more")

    @property
    def is_unfiltered(self) -> bool:
        """True if no filter excluded a target."""
        return min(self.f1, self.f2, self.f3) >= 1 and not self.bias_filter

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return these fields as JSON."""
        found = {name: getattr(self, name) for name in fields}
        return found | ({"thresholds": self.thresholds.values()} if "thresholds" in found else {})

    @classmethod
    def restore(cls, entries: Any) -> HitsContext:
        """Make a context from JSON, with defaults for missing fields. Raises ValueError, KeyError or TypeError."""
        plain = cls()
        known: dict[str, Any] = {}
        for name, value in entries.items():
            if name == "thresholds":
                known[name] = _thresholds(value)
            elif name == "n_targets":
                known[name] = None if value is None else _number(value, int)
            else:
                known[name] = _number(value, type(getattr(plain, name)))
        return cls(**known)


def _number(value: Any, kind: type[Any]) -> Any:
    """Return a value of this type, or raise TypeError; an integer is also accepted as a float."""
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value


def _thresholds(entries: Any) -> Thresholds:
    try:
        return Thresholds(**entries)
    except UsageError as error:
        raise ValueError(str(error)) from None


# Text is composed with a character per byte (Latin-1), so that non-ASCII names keep HMMER's column widths.
@dataclass(frozen=True, eq=False)
class QueryHits:
    """Hits of one query: number `index` of the queries in `hits`, with the hits `rows`."""

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

    def values(self, names: str, index: int) -> tuple[Any, ...]:
        """Return the values of some columns for a hit, or for a domain."""
        return tuple(getattr(self.hits, name)[index] for name in names.split())

    def scores(self, row: int) -> tuple[Any, ...]:
        """Return E-value, score and bias of a hit, and those of its best domain."""
        best = self.values("domain_i_evalue domain_bits domain_bias", self.best_domain(row))
        return self.values("evalue bits bias", row) + best

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
        raise InputError("the name or description contains a line break: remove it", record=text)
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


#: Context fields that every format of hits needs for assembling.
ASSEMBLED_WITH = tuple(HitsContext.__dataclass_fields__)
#: Fields of found hits in the JSON text.
_NOTES = ("orientation", "n_targets", "n_target_residues", "first_query", *TEXTS)
#: Writes the hits of all queries.
Writes = Callable[[Iterator[Hits], IO[bytes], Header, HitsContext], None]


def encode(found: FoundHits, context: HitsContext) -> bytes:
    """Return a part of found hits with their alignments, without hits that can no longer be reported."""
    return _packed(_kept(found, context))


def encode_without_lines(found: FoundHits, context: HitsContext) -> bytes:
    """Return a part of found hits for formats that show no alignments."""
    return _packed(without_lines(_kept(found, context)))


def _kept(found: FoundHits, context: HitsContext) -> FoundHits:
    rows = is_kept(found, context.thresholds)
    return found if rows.all() else FoundHits(**chosen(found, np.flatnonzero(rows)))


def _layout(n_hits: int, n_domains: int, n_letters: int, n_queries: int) -> list[tuple[str, type, tuple[int, ...]]]:
    """Return name, type and shape of the columns, in their order in a part."""
    return [
        *((name, dtype, (n_hits,)) for name, dtype in HIT_COLUMNS.items()),
        *((name, dtype, (n_domains,)) for name, dtype in DOMAIN_COLUMNS.items()),
        *((name, np.uint8, (n_letters,)) for name in LINES),
        ("domain_offsets", np.int64, (n_hits + 1,)),
        ("line_offsets", np.int64, (n_domains + 1,)),
        ("n_passed", np.int64, (n_queries, len(FILTERS))),
        ("widths", np.int64, (n_queries, 3)),
        ("domZ", np.float64, (n_queries,)),
    ]


def _little(dtype: type) -> np.dtype[Any]:
    return np.dtype(dtype).newbyteorder("<")


def _packed(found: FoundHits) -> bytes:
    sizes = (len(found), len(found.domain_bits), len(found.model_line), len(found.queries))
    notes = {name: getattr(found, name) for name in _NOTES}
    notes["sizes"] = sizes
    notes["queries"] = [list(vars(query).values()) for query in found.queries]
    notes["models"] = [[target, *vars(model).values()] for target, model in found.models.items()]
    text = json.dumps(notes, separators=(",", ":")).encode()
    columns = [
        np.ascontiguousarray(getattr(found, name), _little(dtype)).tobytes() for name, dtype, _ in _layout(*sizes)
    ]
    return b"".join([len(text).to_bytes(4, "little"), text, *columns])


def _unpacked(part: bytes) -> FoundHits:
    """Restore found hits from a part. Raises InputError if it is damaged."""
    try:
        at = 4 + int.from_bytes(part[:4], "little")
        notes = json.loads(part[4:at])
        arrays: dict[str, Any] = {}
        for name, dtype, shape in _layout(*notes["sizes"]):
            n_items = int(np.prod(shape))
            values = np.frombuffer(part, _little(dtype), n_items, at).reshape(shape)
            arrays[name] = values.astype(dtype, copy=False)
            at += values.nbytes
        if at != len(part):
            raise ValueError("there are more bytes than columns")
        texts: dict[str, Any] = {name: tuple(notes[name]) if name in TEXTS else notes[name] for name in _NOTES}
        return FoundHits(
            queries=tuple(_query(entry) for entry in notes["queries"]),
            models={entry[0]: _query(entry[1:]) for entry in notes["models"]},
            **texts,
            **arrays,
        )
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        raise InputError(DAMAGED_PART) from None


def _query(entries: list[Any]) -> Query:
    values: list[Any] = [tuple(value) if isinstance(value, list) else value for value in entries]
    return Query(*values)


def complete(parts: Iterable[bytes], context: HitsContext) -> Iterator[Hits]:
    """Yield the hits of queries in order, each as soon as its last target has been searched."""
    waiting: dict[int, list[FoundHits]] = {}
    first = 0
    for part in parts:
        found = _unpacked(part)
        waiting.setdefault(found.first_query, []).append(found)
        while first in waiting and sum(piece.n_targets for piece in waiting[first]) == context.n_targets:
            pieces = waiting.pop(first)
            first += len(pieces[0].queries)
            yield judged(in_all_targets(pieces), context.thresholds)
    for first in sorted(waiting):
        yield judged(in_all_targets(waiting[first]), context.thresholds)


def assembled_by(write: Writes) -> Callable[[Iterable[bytes], IO[bytes], Header, HitsContext], None]:
    """Make `assemble` from a function that writes the hits of all queries."""

    def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: HitsContext) -> None:
        write(complete(parts, context), out, header, context)

    return assemble
