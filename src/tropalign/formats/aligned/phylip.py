"""The alignment as relaxed PHYLIP: names of any length, padded to the longest, a line per row."""

from __future__ import annotations

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned_text import padded, words
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Numbers of rows and columns, then the rows."""
    out = bytearray(f"{len(alignment)} {alignment.n_columns}\n".encode())
    for name, letters in zip(padded(words(alignment, "phylip")), alignment.letters, strict=True):
        out += name + b" " + letters.tobytes() + b"\n"
    return bytes(out)


FORMAT = Format((".phy", ".phylip"), encode, concatenated())
