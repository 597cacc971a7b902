"""The alignment as Stockholm, with confidence as HMMER writes posterior probabilities (PP, PP_cons)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned_text import padded, words
from tropalign.formats.header import Header, one_line
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment

#: A digit per tenth, rounded: 0 is 0-5 %, 1 is 5-15 %, ..., * is 95-100 %.
DIGITS = np.frombuffer(b"0123456789*", np.uint8)


def digits(confidence: NDArray[np.float32]) -> NDArray[np.uint8]:
    """HMMER's digits of probabilities, uint8, of the same shape."""
    tenths = np.floor(np.clip(confidence, 0.0, 1.0) * 10.0 + 0.5)
    found: NDArray[np.uint8] = DIGITS[tenths.astype(np.int64)]
    return found


def header_text(header: Header, context: AlignedContext) -> bytes:
    """The first line, and what made the file as a comment of it."""
    return "\n".join(["# STOCKHOLM 1.0", *header.comment_lines("#=GF CC "), ""]).encode()


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Descriptions, rows with their digits below them, and the digits of the columns."""
    names, tags = words(alignment, "stockholm", ("#", "//")), [b"#=GC PP_cons"]
    out = bytearray(b"\n")
    for name, description in zip(names, alignment.sequences.descriptions, strict=False):
        if description:
            out += b"#=GS " + name + b" DE " + one_line(description).encode() + b"\n"
    residues = alignment.residue_confidence
    heads = padded([*names, *(b"#=GR " + name + b" PP" for name in names), *tags])
    own = None if residues is None else digits(residues)
    offsets = alignment.sequences.offsets.tolist()
    for k, letters in enumerate(alignment.letters):
        out += heads[k] + b" " + letters.tobytes() + b"\n"
        if own is not None:
            line = np.full(alignment.n_columns, ord("."), np.uint8)
            span = slice(offsets[k], offsets[k + 1])
            line[alignment.columns[span]] = own[span]
            out += heads[len(names) + k] + b" " + line.tobytes() + b"\n"
    if alignment.column_confidence is not None:
        out += heads[-1] + b" " + digits(alignment.column_confidence).tobytes() + b"\n"
    return bytes(out + b"//\n")


FORMAT = Format((".sto", ".stk", ".stockholm"), encode, concatenated(header_text), shows_confidence=True)
