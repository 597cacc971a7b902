"""The alignment as FASTA: whole headers, a line per row."""

from __future__ import annotations

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned_text import lines
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The records; what followed a name in its header stays."""
    descriptions = alignment.sequences.descriptions or ("",) * len(alignment)
    out = bytearray()
    for name, description, letters in zip(lines(alignment), descriptions, alignment.letters, strict=True):
        more = b" " + b" ".join(description.encode().split()) if description else b""
        out += b">" + name + more + b"\n" + letters.tobytes() + b"\n"
    return bytes(out)


FORMAT = Format((".fa", ".fasta", ".afa"), encode, concatenated())
