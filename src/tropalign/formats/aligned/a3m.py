"""The alignment as A3M: columns of the first row in capitals, others' insertions in small letters without gaps."""

from __future__ import annotations

import numpy as np

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned_text import lines
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import GAP, MultipleAlignment


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The records, the first of which is the query of HH-suite and structure predictors."""
    letters = alignment.letters
    is_match = letters[0] != GAP
    table = np.frombuffer(bytes(range(256)), np.uint8)
    upper, lower = (np.frombuffer(cased, np.uint8) for cased in (table.tobytes().upper(), table.tobytes().lower()))
    cased = np.where(is_match, upper[letters], lower[letters])
    stays = is_match | (letters != GAP)
    out = bytearray()
    for name, row, kept in zip(lines(alignment), cased, stays, strict=True):
        out += b">" + name + b"\n" + row[kept].tobytes() + b"\n"
    return bytes(out)


FORMAT = Format((".a3m",), encode, concatenated())
