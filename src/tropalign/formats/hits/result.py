"""Complete hits with domains and alignments, for `read_result`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from tropalign.formats.array_files import Packed, write_whole
from tropalign.formats.format import Codec, Header
from tropalign.formats.hits.context import HitsContext
from tropalign.formats.hits.parts import ASSEMBLED_WITH, assembled_by, encode
from tropalign.results.found_hits import DOMAIN_COLUMNS, HIT_COLUMNS, LINES, TEXTS, of_all_queries
from tropalign.results.hits import Hits

#: Arrays of hits in addition to those of found hits.
_VERDICTS = ("is_included", "domain_is_reported", "domain_is_included")
_NOTES = ("orientation", "first_query", "n_targets", "n_target_residues")
_ARRAYS = (*HIT_COLUMNS, *DOMAIN_COLUMNS, *LINES, "domain_offsets", "line_offsets", "n_passed", "widths", "domZ")


def pack(pieces: list[Hits]) -> Packed:
    """Join and pack the hits of all queries."""
    found: Any = of_all_queries(pieces)
    notes: dict[str, Any] = {name: getattr(found, name) for name in _NOTES}
    notes |= {name: list(getattr(found, name)) for name in TEXTS}
    notes["queries"] = [list(vars(query).values()) for query in found.queries]
    notes["models"] = [[target, *vars(model).values()] for target, model in found.models.items()]
    notes |= {"thresholds": pieces[0].thresholds.values(), "Z": float(pieces[0].Z)}
    arrays = {name: getattr(found, name).ravel() for name in _ARRAYS}
    return notes, arrays | {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in _VERDICTS}


def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write all hits, which are held in memory together."""
    write_whole("hits", out, header, pack(list(pieces)))


RESULT = Codec(encode, assembled_by(write), assembled_with=ASSEMBLED_WITH, is_binary=True)
