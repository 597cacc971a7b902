"""The alignment as the data block of a NEXUS file."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned_text import lines, padded
from tropalign.formats.header import Header
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment

#: A name of other letters is quoted.
PLAIN = re.compile(rb"[A-Za-z0-9_.|]+")
#: What a matrix may hold beside gaps, by the type of data, and what stands for all else.
PROTEIN, NUCLEOTIDE = (b"ABCDEFGHIKLMNPQRSTVWXYZ*?", b"X"), (b"ABCDGHKMNRSTUVWXY?", b"N")


def quoted(name: bytes) -> bytes:
    """The name as one word of NEXUS; of all digits it would be the number of a row."""
    if PLAIN.fullmatch(name) and not name.isdigit():
        return name
    return b"'" + name.replace(b"'", b"''") + b"'"


def datatype(alignment: MultipleAlignment) -> str:
    """``protein``, ``rna`` where U stands for T in all rows, else ``dna``."""
    if not alignment.sequences.alphabet.has_strands:
        return "protein"
    letters = alignment.sequences.letters.tobytes().upper()
    return "rna" if b"U" in letters and b"T" not in letters else "dna"


def letters_of(alignment: MultipleAlignment) -> NDArray[np.uint8]:
    """The rows; letters that NEXUS has not (J, O, U and foreign ones in proteins) are its unknown one."""
    known, unknown = NUCLEOTIDE if alignment.sequences.alphabet.has_strands else PROTEIN
    table = np.full(256, unknown[0], np.uint8)
    for letters in (known + b"-", known.lower()):
        table[list(letters)] = list(letters)
    if datatype(alignment) == "dna":
        table[list(b"Uu")] = list(b"Tt")
    return table[alignment.letters]


def header_text(header: Header, context: AlignedContext) -> bytes:
    """The first line, and what made the file as comments."""
    comments = [f"[{line.replace('[', '(').replace(']', ')')}]" for line in header.comment_lines("")]
    return "\n".join(["#NEXUS", *comments, ""]).encode()


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The block, a line per row."""
    out = bytearray(b"\nbegin data;\n")
    out += f"dimensions ntax={len(alignment)} nchar={alignment.n_columns};\n".encode()
    out += f"format datatype={datatype(alignment)} missing=? gap=-;\nmatrix\n".encode()
    names = padded([quoted(name) for name in lines(alignment)])
    for name, letters in zip(names, letters_of(alignment), strict=True):
        out += name + b" " + letters.tobytes() + b"\n"
    return bytes(out + b";\nend;\n")


FORMAT = Format((".nex", ".nexus"), encode, concatenated(header_text))
