"""The alignment in Clustal's format, with its line of conservation below each block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned_text import blocks, padded, words
from tropalign.formats.header import Header
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment

#: Groups of amino acids whose columns Clustal marks ``:`` (Gonnet PAM 250 above 0.5) and ``.`` (up to 0.5).
STRONG = ("STA", "NEQK", "NHQK", "NDEQ", "QHRK", "MILV", "MILF", "HY", "FYW")
WEAK = ("CSA", "ATV", "SAG", "STNK", "STPA", "SGND", "SNDEQK", "NDEQHK", "NEQHRK", "FVLIM", "HFY")


def marks(alignment: MultipleAlignment) -> NDArray[np.uint8]:
    """The line of conservation: ``*`` one letter in all rows, ``:`` one strong group, ``.`` one weak group.

    Returns
    -------
    uint8, shape (n_columns,)
        Bytes; a blank for a column with a gap.
    """
    upper = np.frombuffer(bytes(range(256)).upper(), np.uint8)[alignment.letters]
    out = np.full(alignment.n_columns, ord(" "), np.uint8)
    if not alignment.sequences.alphabet.has_strands:
        for sign, groups in (".", WEAK), (":", STRONG):
            for group in groups:
                out[np.isin(upper, np.frombuffer(group.encode(), np.uint8)).all(0)] = ord(sign)
    out[(upper == upper[0]).all(0) & (upper[0] != ord("-"))] = ord("*")
    return out


def header_text(header: Header, context: AlignedContext) -> bytes:
    """The line that readers know the format by."""
    return f"CLUSTAL multiple sequence alignment by tropalign {header.version}\n\n".encode()


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The blocks."""
    names = padded([*words(alignment, "clustal"), b""], 10)
    rows = np.concatenate([alignment.letters, marks(alignment)[None]])
    out = bytearray()
    for begin, end in blocks(alignment):
        for name, letters in zip(names, rows[:, begin:end], strict=True):
            out += name + b" " + letters.tobytes() + b"\n"
        out += b"\n"
    return bytes(out)


FORMAT = Format((".aln", ".clw", ".clustal"), encode, concatenated(header_text))
