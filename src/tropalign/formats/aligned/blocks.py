"""Multiple alignments as text in blocks of columns: Clustal's format and GCG's (MSF)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned.text import blocks, padded, words
from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.text import concatenated
from tropalign.results.multiple import GAP, MultipleAlignment

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


def clustal_header(header: Header, context: AlignedContext) -> bytes:
    """The line that readers know the format by."""
    return f"CLUSTAL multiple sequence alignment by tropalign {header.version}\n\n".encode()


def encode_clustal(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The blocks."""
    names = padded([*words(alignment, "clustal"), b""], 10)
    rows = np.concatenate([alignment.letters, marks(alignment)[None]])
    out = bytearray()
    for begin, end in blocks(alignment):
        for name, letters in zip(names, rows[:, begin:end], strict=True):
            out += name + b" " + letters.tobytes() + b"\n"
        out += b"\n"
    return bytes(out)


#: Columns per line, and per group within it.
LINE, GROUP = 50, 10


def checksum(letters: NDArray[np.uint8]) -> int:
    """GCG's: the sum of each letter's number times its place from 1 to 57, over and over, modulo 10,000."""
    upper = np.frombuffer(bytes(range(256)).upper(), np.uint8)[letters]
    return int((upper.astype(np.int64) * (np.arange(len(letters)) % 57 + 1)).sum() % 10_000)


def _dotted(letters: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Rows with ``.`` for gaps between residues and ``~`` for those at the ends."""
    is_residue = letters != GAP
    from_left = np.logical_or.accumulate(is_residue, 1)
    from_right = np.logical_or.accumulate(is_residue[:, ::-1], 1)[:, ::-1]
    gaps = np.where(from_left & from_right, ord("."), ord("~")).astype(np.uint8)
    return np.where(is_residue, letters, gaps)


def encode_msf(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The list of sequences, then the blocks."""
    rows, width = _dotted(alignment.letters), alignment.n_columns
    names = padded(words(alignment, "msf", ("//",)))
    sums = [checksum(row) for row in rows]
    is_dna = alignment.sequences.alphabet.has_strands
    kind, letter = ("NA", "N") if is_dna else ("AA", "P")
    title = context.title.encode("ascii", "replace").decode().replace(" ", "_") or "alignment"
    out = bytearray(f"!!{kind}_MULTIPLE_ALIGNMENT 1.0\n\n".encode())
    out += f" {title}  MSF: {width}  Type: {letter}  Check: {sum(sums) % 10_000}  ..\n\n".encode()
    for name, check in zip(names, sums, strict=True):
        out += b" Name: " + name + f"  Len: {width:5}  Check: {check:4}  Weight:  1.00\n".encode()
    out += b"\n//\n\n"
    for begin, end in blocks(alignment, LINE):
        for name, row in zip(names, rows, strict=True):
            groups = [row[k : min(k + GROUP, end)].tobytes() for k in range(begin, end, GROUP)]
            out += name + b"  " + b" ".join(groups) + b"\n"
        out += b"\n"
    return bytes(out)


CLUSTAL = Codec(encode_clustal, concatenated(clustal_header))
MSF = Codec(encode_msf, concatenated())
