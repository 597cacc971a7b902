"""Serialisation of hits: the hits of one tile as a part, and parts as the hits of complete queries.

A part is the length of a JSON text (4 bytes, little-endian), the text with counts, queries and names, and the
concatenated columns in the order of `results/found_hits.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.array_files import DAMAGED_PART
from tropalign.formats.format import Header
from tropalign.formats.hits.context import HitsContext
from tropalign.results.found_hits import (
    DOMAIN_COLUMNS,
    FILTERS,
    HIT_COLUMNS,
    LINES,
    TEXTS,
    FoundHits,
    Query,
    chosen,
    in_all_targets,
    is_kept,
    without_lines,
)
from tropalign.results.hits import Hits, judged

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
