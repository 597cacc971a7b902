"""Multiple alignments as text: a line per row (FASTA, A3M, PHYLIP, NEXUS, Stockholm), or blocks (Clustal, MSF)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned.profile import check_headers, stockholm_lines
from tropalign.formats.format import Codec, Concatenated, Header, one_line
from tropalign.results import rows
from tropalign.results.display import digits
from tropalign.results.multiple import GAP, MultipleAlignment

#: Columns per line of block formats.
BLOCK_COLUMNS = 60


def words(alignment: MultipleAlignment, format_name: str, marks: tuple[str, ...] = ()) -> list[bytes]:
    """Return the names in UTF-8, for formats in which a blank ends a name.

    marks: prefixes of lines that are not rows. Raises InputError for a name that is empty, holds a blank, or starts
    with such a prefix.
    """
    for name in alignment.names:
        if name.startswith(marks):
            raise InputError(
                f"format {format_name} does not allow names that begin with {' or '.join(marks)}: rename the "
                "sequence, or write fasta",
                record=name,
            )
        if not name or any(letter.isspace() for letter in name):
            raise InputError(
                f"format {format_name} does not allow empty names or blanks in names: rename the sequence, or write "
                "fasta",
                record=name,
            )
    return [name.encode() for name in alignment.names]


def lines(alignment: MultipleAlignment) -> list[bytes]:
    """Return the names in UTF-8, for formats whose headers hold a name and a description."""
    check_headers(alignment.names)
    return [name.encode() for name in alignment.names]


def padded(texts: list[bytes], least: int = 0) -> list[bytes]:
    """Pad UTF-8 texts with blanks to equal numbers of characters, so that rows start in the same column."""
    sizes = [len(text.decode()) for text in texts]
    width = max([least, *sizes])
    return [text + b" " * (width - size) for text, size in zip(texts, sizes, strict=True)]


# A line is a head, characters and a line break, so that a block of many rows is a table of bytes:
#
#     g1           MKV-law
#     #=GR g1 PP   999.875
#     #=GC PP_cons 999....
def blocks(alignment: MultipleAlignment, width: int = BLOCK_COLUMNS) -> Iterator[tuple[int, int]]:
    """Yield the first column of each block, and the one after its last."""
    for begin in range(0, alignment.n_columns, width):
        yield begin, min(begin + width, alignment.n_columns)


def each_row(alignment: MultipleAlignment) -> Iterator[NDArray[np.uint8]]:
    """Yield row after row; a million rows do not fit in memory together."""
    return (np.frombuffer(alignment.row(k), np.uint8) for k in range(len(alignment)))


def fasta_blocks(alignment: MultipleAlignment, context: AlignedContext) -> Iterator[bytes]:
    """Yield the records, with descriptions in their headers."""
    descriptions = alignment.sequences.descriptions or ("",) * len(alignment)
    for name, description, letters in zip(lines(alignment), descriptions, each_row(alignment), strict=True):
        more = b" " + b" ".join(description.encode().split()) if description else b""
        yield b">" + name + more + b"\n" + letters.tobytes() + b"\n"


def encode_fasta(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the records in one piece."""
    return b"".join(fasta_blocks(alignment, context))


def a3m_blocks(alignment: MultipleAlignment, context: AlignedContext) -> Iterator[bytes]:
    """Yield the records; without a model, the first is the query for HH-suite and structure predictors."""
    first = np.frombuffer(alignment.row(0), np.uint8)
    is_match = first != GAP if alignment.is_node is None else alignment.is_node
    table = np.frombuffer(bytes(range(256)), np.uint8)
    upper, lower = (np.frombuffer(cased, np.uint8) for cased in (table.tobytes().upper(), table.tobytes().lower()))
    for name, letters in zip(lines(alignment), each_row(alignment), strict=True):
        stays = is_match | (letters != GAP)
        yield b">" + name + b"\n" + np.where(is_match, upper[letters], lower[letters])[stays].tobytes() + b"\n"


def encode_a3m(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the records in one piece."""
    return b"".join(a3m_blocks(alignment, context))


def phylip_blocks(alignment: MultipleAlignment, context: AlignedContext) -> Iterator[bytes]:
    """Yield the numbers of rows and columns, then the rows."""
    names = padded(words(alignment, "phylip"))
    yield f"{len(alignment)} {alignment.n_columns}\n".encode()
    for name, letters in zip(names, each_row(alignment), strict=True):
        yield name + b" " + letters.tobytes() + b"\n"


def encode_phylip(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the file in one piece."""
    return b"".join(phylip_blocks(alignment, context))


#: Names with other characters are quoted.
PLAIN = re.compile(rb"[A-Za-z0-9_.|]+")
#: Allowed characters of a matrix besides gaps, by data type, and the replacement of all others.
PROTEIN, NUCLEOTIDE = (b"ABCDEFGHIKLMNPQRSTVWXYZ*?", b"X"), (b"ABCDGHKMNRSTUVWXY?", b"N")


def quoted(name: bytes) -> bytes:
    """Return a name as one NEXUS token; names of digits are quoted, since they would mean a row number."""
    if PLAIN.fullmatch(name) and not name.isdigit():
        return name
    return b"'" + name.replace(b"'", b"''") + b"'"


def datatype(alignment: MultipleAlignment) -> str:
    """Return ``protein``, ``rna`` if all rows have U instead of T, else ``dna``."""
    if not alignment.sequences.alphabet.has_strands:
        return "protein"
    letters = alignment.sequences.letters.tobytes().upper()
    return "rna" if b"U" in letters and b"T" not in letters else "dna"


def nexus_letters(alignment: MultipleAlignment) -> NDArray[np.uint8]:
    """Return a table of output bytes, uint8, shape (256,); letters unknown to NEXUS (in proteins J, O, U) become X."""
    known, unknown = NUCLEOTIDE if alignment.sequences.alphabet.has_strands else PROTEIN
    table = np.full(256, unknown[0], np.uint8)
    for letters in (known + b"-", known.lower()):
        table[list(letters)] = list(letters)
    if datatype(alignment) == "dna":
        table[list(b"Uu")] = list(b"Tt")
    return table


def nexus_header(header: Header, context: object) -> bytes:
    """Return the first line, and the header as comments."""
    comments = [f"[{line.replace('[', '(').replace(']', ')')}]" for line in header.comment_lines("")]
    return "\n".join(["#NEXUS", *comments, ""]).encode()


def nexus_blocks(alignment: MultipleAlignment, context: AlignedContext) -> Iterator[bytes]:
    """Yield the data block, a line per row."""
    rows.check_names(alignment.names)
    names, table = padded([quoted(name.encode()) for name in alignment.names]), nexus_letters(alignment)
    yield b"\nbegin data;\n"
    yield f"dimensions ntax={len(alignment)} nchar={alignment.n_columns};\n".encode()
    yield f"format datatype={datatype(alignment)} missing=? gap=-;\nmatrix\n".encode()
    for name, letters in zip(names, each_row(alignment), strict=True):
        yield name + b" " + table[letters].tobytes() + b"\n"
    yield b";\nend;\n"


def encode_nexus(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the block in one piece."""
    return b"".join(nexus_blocks(alignment, context))


def stockholm_header(header: Header, context: AlignedContext) -> bytes:
    """Return the first line, and the header as comments."""
    return "\n".join(["# STOCKHOLM 1.0", *header.comment_lines("#=GF CC "), ""]).encode()


def stockholm_blocks(alignment: MultipleAlignment, context: AlignedContext) -> Iterator[bytes]:
    """Yield descriptions, rows with posterior digits, and digits of columns; alignments to a model as in hmmalign."""
    names, tags = words(alignment, "stockholm", ("#", "//")), [b"#=GC PP_cons"]
    if alignment.is_node is not None:
        yield from stockholm_lines(alignment, names)
        return
    yield b"\n"
    for name, description in zip(names, alignment.sequences.descriptions, strict=False):
        if description:
            yield b"#=GS " + name + b" DE " + one_line(description).encode() + b"\n"
    residues = alignment.residue_confidence
    heads = padded([*names, *(b"#=GR " + name + b" PP" for name in names), *tags])
    own = None if residues is None else digits(residues)
    offsets = alignment.sequences.offsets.tolist()
    for k, letters in enumerate(each_row(alignment)):
        yield heads[k] + b" " + letters.tobytes() + b"\n"
        if own is not None:
            line = np.full(alignment.n_columns, ord("."), np.uint8)
            span = slice(offsets[k], offsets[k + 1])
            line[alignment.columns[span]] = own[span]
            yield heads[len(names) + k] + b" " + line.tobytes() + b"\n"
    if alignment.column_confidence is not None:
        yield heads[-1] + b" " + digits(alignment.column_confidence).tobytes() + b"\n"
    yield b"//\n"


def encode_stockholm(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the file without its first lines, in one piece."""
    return b"".join(stockholm_blocks(alignment, context))


#: Groups of amino acids whose columns Clustal marks ``:`` (Gonnet PAM 250 above 0.5) and ``.`` (up to 0.5).
STRONG = ("STA", "NEQK", "NHQK", "NDEQ", "QHRK", "MILV", "MILF", "HY", "FYW")
WEAK = ("CSA", "ATV", "SAG", "STNK", "STPA", "SGND", "SNDEQK", "NDEQHK", "NEQHRK", "FVLIM", "HFY")


def marks(alignment: MultipleAlignment) -> NDArray[np.uint8]:
    """Return the conservation line, uint8: ``*`` one residue, ``:`` a strong group, ``.`` a weak group, or a blank."""
    upper = np.frombuffer(bytes(range(256)).upper(), np.uint8)[alignment.letters]
    out = np.full(alignment.n_columns, ord(" "), np.uint8)
    if not alignment.sequences.alphabet.has_strands:
        for sign, groups in (".", WEAK), (":", STRONG):
            for group in groups:
                out[np.isin(upper, np.frombuffer(group.encode(), np.uint8)).all(0)] = ord(sign)
    out[(upper == upper[0]).all(0) & (upper[0] != ord("-"))] = ord("*")
    return out


def clustal_header(header: Header, context: AlignedContext) -> bytes:
    """Return the line by which readers recognise the format."""
    return f"CLUSTAL multiple sequence alignment by tropalign {header.version}\n\n".encode()


def encode_clustal(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the blocks."""
    names = padded([*words(alignment, "clustal"), b""], 10)
    rows = np.concatenate([alignment.letters, marks(alignment)[None]])
    out = bytearray()
    for begin, end in blocks(alignment):
        for name, letters in zip(names, rows[:, begin:end], strict=True):
            out += name + b" " + letters.tobytes() + b"\n"
        out += b"\n"
    return bytes(out)


#: Columns per line, and per group within it.
MSF_LINE, MSF_GROUP = 50, 10


def checksum(letters: NDArray[np.uint8]) -> int:
    """Return GCG's checksum: the sum of character codes times positions (1 to 57, repeated), modulo 10,000."""
    upper = np.frombuffer(bytes(range(256)).upper(), np.uint8)[letters]
    return int((upper.astype(np.int64) * (np.arange(len(letters)) % 57 + 1)).sum() % 10_000)


def encode_msf(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the list of sequences, then the blocks, with ``.`` for inner gaps and ``~`` for gaps at the ends."""
    letters, width = alignment.letters, alignment.n_columns
    is_residue = letters != GAP
    from_left = np.logical_or.accumulate(is_residue, 1)
    from_right = np.logical_or.accumulate(is_residue[:, ::-1], 1)[:, ::-1]
    rows = np.where(is_residue, letters, np.where(from_left & from_right, ord("."), ord("~")).astype(np.uint8))
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
    for begin, end in blocks(alignment, MSF_LINE):
        for name, row in zip(names, rows, strict=True):
            groups = [row[k : min(k + MSF_GROUP, end)].tobytes() for k in range(begin, end, MSF_GROUP)]
            out += name + b"  " + b" ".join(groups) + b"\n"
        out += b"\n"
    return bytes(out)


FASTA = Codec(encode_fasta, Concatenated(), blocks=fasta_blocks)
A3M = Codec(encode_a3m, Concatenated(), blocks=a3m_blocks)
PHYLIP = Codec(encode_phylip, Concatenated(), blocks=phylip_blocks)
NEXUS = Codec(encode_nexus, Concatenated(nexus_header), blocks=nexus_blocks)
STOCKHOLM = Codec(encode_stockholm, Concatenated(stockholm_header), blocks=stockholm_blocks)
CLUSTAL = Codec(encode_clustal, Concatenated(clustal_header))
MSF = Codec(encode_msf, Concatenated())
