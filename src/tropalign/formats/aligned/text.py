"""Multiple alignments as text: FASTA, A3M, PHYLIP, NEXUS and Stockholm, a line per row."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.format import Codec
from tropalign.formats.header import Header, one_line
from tropalign.formats.text import concatenated
from tropalign.results import rows
from tropalign.results.multiple import GAP, MultipleAlignment

#: Columns per line where a format is written in blocks.
BLOCK_COLUMNS = 60


def words(alignment: MultipleAlignment, format_name: str, marks: tuple[str, ...] = ()) -> list[bytes]:
    """The names in UTF-8, for formats in which a blank ends a name.

    Parameters
    ----------
    marks
        What begins lines of the format that are no rows.

    Raises
    ------
    InputError
        A name that holds a blank, or begins as such a line does.
    """
    for name in alignment.names:
        if name.startswith(marks):
            raise InputError(
                f"format {format_name} holds no name that begins with {' or '.join(marks)}: rename the sequence, or "
                "write fasta",
                record=name,
            )
        if not name or any(letter.isspace() for letter in name):
            raise InputError(
                f"format {format_name} holds no name that is empty or has a blank: rename the sequence, or write fasta",
                record=name,
            )
    return [name.encode() for name in alignment.names]


def lines(alignment: MultipleAlignment) -> list[bytes]:
    """The names in UTF-8, for formats in which the end of a line ends a name; InputError where a name has one."""
    rows.check_names(alignment.names)
    return [name.encode() for name in alignment.names]


def padded(texts: list[bytes], least: int = 0) -> list[bytes]:
    """Texts in UTF-8 with blanks behind them, up to the one of most letters: rows then begin one below the other."""
    sizes = [len(text.decode()) for text in texts]
    width = max([least, *sizes])
    return [text + b" " * (width - size) for text, size in zip(texts, sizes, strict=True)]


def blocks(alignment: MultipleAlignment, width: int = BLOCK_COLUMNS) -> Iterator[tuple[int, int]]:
    """First column of each block, and the one behind its last."""
    for begin in range(0, alignment.n_columns, width):
        yield begin, min(begin + width, alignment.n_columns)


def encode_fasta(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The records; what followed a name in its header stays."""
    descriptions = alignment.sequences.descriptions or ("",) * len(alignment)
    out = bytearray()
    for name, description, letters in zip(lines(alignment), descriptions, alignment.letters, strict=True):
        more = b" " + b" ".join(description.encode().split()) if description else b""
        out += b">" + name + more + b"\n" + letters.tobytes() + b"\n"
    return bytes(out)


def encode_a3m(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
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


def encode_phylip(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Numbers of rows and columns, then the rows."""
    out = bytearray(f"{len(alignment)} {alignment.n_columns}\n".encode())
    for name, letters in zip(padded(words(alignment, "phylip")), alignment.letters, strict=True):
        out += name + b" " + letters.tobytes() + b"\n"
    return bytes(out)


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


def nexus_header(header: Header, context: AlignedContext) -> bytes:
    """The first line, and what made the file as comments."""
    comments = [f"[{line.replace('[', '(').replace(']', ')')}]" for line in header.comment_lines("")]
    return "\n".join(["#NEXUS", *comments, ""]).encode()


def encode_nexus(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The block, a line per row."""
    out = bytearray(b"\nbegin data;\n")
    out += f"dimensions ntax={len(alignment)} nchar={alignment.n_columns};\n".encode()
    out += f"format datatype={datatype(alignment)} missing=? gap=-;\nmatrix\n".encode()
    names = padded([quoted(name) for name in lines(alignment)])
    for name, letters in zip(names, letters_of(alignment), strict=True):
        out += name + b" " + letters.tobytes() + b"\n"
    return bytes(out + b";\nend;\n")


#: A digit per tenth, rounded: 0 is 0-5 %, 1 is 5-15 %, ..., * is 95-100 %.
DIGITS = np.frombuffer(b"0123456789*", np.uint8)


def digits(confidence: NDArray[np.float32]) -> NDArray[np.uint8]:
    """HMMER's digits of probabilities, uint8, of the same shape."""
    tenths = np.floor(np.clip(confidence, 0.0, 1.0) * 10.0 + 0.5)
    found: NDArray[np.uint8] = DIGITS[tenths.astype(np.int64)]
    return found


def stockholm_header(header: Header, context: AlignedContext) -> bytes:
    """The first line, and what made the file as a comment of it."""
    return "\n".join(["# STOCKHOLM 1.0", *header.comment_lines("#=GF CC "), ""]).encode()


def encode_stockholm(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
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


FASTA = Codec(encode_fasta, concatenated())
A3M = Codec(encode_a3m, concatenated())
PHYLIP = Codec(encode_phylip, concatenated())
NEXUS = Codec(encode_nexus, concatenated(nexus_header))
STOCKHOLM = Codec(encode_stockholm, concatenated(stockholm_header))
