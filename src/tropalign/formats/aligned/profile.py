"""Alignments to profile HMMs as text: hmmalign's Stockholm, and A2M."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, shown
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.format import Codec, Concatenated
from tropalign.results import rows
from tropalign.results.display import DOT, digits
from tropalign.results.multiple import GAP, MultipleAlignment

Letters = NDArray[np.uint8]


def stockholm_lines(alignment: MultipleAlignment, names: list[bytes]) -> Iterator[bytes]:
    """Yield hmmalign's output after the first line: descriptions, blocks of rows with posteriors, column annotation.

    A missing residue is ``-`` in a node column and ``.`` between inserts. Rows without posteriors have no posterior
    line.
    """
    is_node, n_columns = alignment.is_node, alignment.n_columns
    assert is_node is not None
    yield b"\n"
    width = max(map(len, names))
    if any(alignment.sequences.descriptions):
        for name, description in zip(names, alignment.sequences.descriptions, strict=True):
            if description:
                yield b"#=GS " + name.ljust(width) + b" DE " + _one_line(description, name) + b"\n"
        yield b"\n"
    spread = _Spread(alignment)
    own = alignment.residue_confidence
    written = np.full(len(alignment.sequences.codes), DOT, np.uint8) if own is None else digits(own)
    # If the first residue of a row has no posterior, none of the row's residues has one.
    offsets = alignment.sequences.offsets
    has_posteriors = np.zeros(len(alignment), bool)
    has_residues = np.diff(offsets) > 0
    has_posteriors[has_residues] = written[offsets[:-1][has_residues]] != DOT
    yield from blocks(
        names,
        lambda first, last, begin, end: spread(
            alignment.sequences.letters, np.where(is_node, GAP, DOT).astype(np.uint8), first, last, begin, end
        ),
        lambda first, last, begin, end: spread(written, np.full(n_columns, DOT, np.uint8), first, last, begin, end),
        has_posteriors,
        _tags(alignment),
        COLUMNS,
        n_columns,
    )
    yield b"//\n"


def check_headers(names: tuple[str, ...]) -> None:
    """Raise InputError for duplicate or empty names, compared up to the first blank, where readers end them."""
    rows.check_names(names)
    seen = set[bytes]()
    for name in names:
        words = name.encode().split(None, 1)
        if not words or words[0] in seen or not name.encode().startswith(words[0]):
            raise InputError(
                "a name in FASTA, A2M and A3M ends at its first blank, so this one would be empty or equal to that of "
                "another row: rename the sequence, or write nexus",
                record=name,
            )
        seen.add(words[0])


def _one_line(description: str, name: bytes) -> bytes:
    """Return a description unchanged. Raises InputError if it has a line break."""
    if "\n" in description or "\r" in description:
        raise InputError("the description contains a line break: remove it", record=name.decode())
    return shown(description).encode()


def _tags(alignment: MultipleAlignment) -> list[tuple[bytes, bytes]]:
    """Return the column annotation: mean posteriors, nodes, and masked nodes."""
    is_node, means = alignment.is_node, alignment.column_confidence
    assert is_node is not None
    tags = []
    if means is not None:
        tags.append((b"PP_cons", _line(is_node, digits(means))))
    tags.append((b"RF", _line(is_node, ord("x"))))
    if alignment.is_masked is not None:
        has_sign = is_node.copy()  # all nodes but the last, which hmmalign leaves out
        has_sign[np.flatnonzero(is_node)[-1:]] = False
        tags.append((b"MM", _line(has_sign, np.where(alignment.is_masked, ord("m"), GAP))))
    return tags


def _line(where: NDArray[np.bool_], letters: NDArray[np.integer] | int) -> bytes:
    """Return these characters in the columns of a mask, dots elsewhere."""
    return np.where(where, letters, DOT).astype(np.uint8).tobytes()


class _Spread:
    """Spreads values of residues into their columns."""

    def __init__(self, alignment: MultipleAlignment) -> None:
        self.columns, self.offsets = alignment.columns, alignment.sequences.offsets

    def __call__(self, values: Letters, fill: Letters, first: int, last: int, begin: int, end: int) -> Letters:
        """Return rows [first, last) of columns [begin, end); `fill` has the character for gaps of each column."""
        cells = np.empty((last - first, end - begin), np.uint8)
        cells[:] = fill[begin:end]
        _native.spread_residues(values, self.columns, self.offsets[first : last + 1], begin, cells)
        return cells


#: Characters per line of A2M. SAM reads O as a free insertion, so X replaces it. The format holds only letters, and
#: a stop (*) becomes a gap, as in Easel.
LINE = 60
_LETTERS = bytes(byte if chr(byte).isascii() and chr(byte).isalpha() else GAP for byte in range(256))
UPPER = np.frombuffer(_LETTERS.upper().replace(b"O", b"X"), np.uint8)
LOWER = np.frombuffer(_LETTERS.lower(), np.uint8)


def encode_a2m(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the records: upper case and ``-`` in node columns (without a model, the first row's), else lower case."""
    is_match = alignment.letters[0] != GAP if alignment.is_node is None else alignment.is_node
    check_headers(alignment.names)
    descriptions = alignment.sequences.descriptions or ("",) * len(alignment)
    out = bytearray()
    for k, (name, description) in enumerate(zip(alignment.names, descriptions, strict=True)):
        letters = np.frombuffer(alignment.row(k), np.uint8)
        stays = is_match | (LOWER[letters] != GAP)
        text = np.where(is_match, UPPER[letters], LOWER[letters])[stays].tobytes()
        more = b" " + _one_line(description, name.encode()) if description else b""
        out += b">" + name.encode() + more + b"\n"
        for at in range(0, len(text), LINE):
            out += text[at : at + LINE] + b"\n"
    return bytes(out)


A2M = Codec(encode_a2m, Concatenated())


#: Characters of rows [first, last) in columns [begin, end), uint8, shape (last - first, end - begin).
Cells = Callable[[int, int, int, int], Letters]

#: Columns per block, as in Easel.
COLUMNS = 200
#: Rows of one table.
ROWS = 4096
#: If names take no more bytes, line heads are kept from block to block.
MOST_KEPT = 1 << 27


def blocks(
    names: Sequence[bytes],
    letters: Cells,
    posteriors: Cells,
    has_posteriors: NDArray[np.bool_],
    tags: Sequence[tuple[bytes, bytes]],
    n_columns: int,
    total: int,
) -> Iterator[bytes]:
    """Yield the lines in pieces.

    has_posteriors: rows that are followed by a line of posteriors. tags: column annotation by name. n_columns:
    columns per block. total: all columns.
    """
    width = max(map(len, names))
    is_judged = bool(has_posteriors.any())
    margin = max(width + 9, 13) if is_judged else max(width + 1, 8)  # "#=GR name PP ", "#=GC PP_cons ", "#=GC RF "
    kept: dict[int, Letters] = {}  # equal in all blocks
    for begin in range(0, total, n_columns):
        end = min(begin + n_columns, total)
        if begin:
            yield b"\n"
        for first in range(0, len(names), ROWS):
            last = min(first + ROWS, len(names))
            own = has_posteriors[first:last]
            if (heads := kept.get(first)) is None:
                texts: list[bytes] = []
                for name, is_judged in zip(names[first:last], own.tolist(), strict=True):
                    texts.append(name.ljust(margin))
                    if is_judged:
                        texts.append((b"#=GR " + name.ljust(width) + b" PP").ljust(margin))
                heads = np.frombuffer(b"".join(texts), np.uint8).reshape(len(texts), margin)
                if len(names) * margin <= MOST_KEPT:
                    kept[first] = heads
            table = np.full((len(heads), margin + end - begin + 1), ord("\n"), np.uint8)
            table[:, :margin] = heads
            line = np.arange(last - first) + np.cumsum(own) - own
            table[line, margin:-1] = letters(first, last, begin, end)
            if own.any():
                table[line[own] + 1, margin:-1] = posteriors(first, last, begin, end)[own]
            yield table.tobytes()
        for tag, text in tags:
            yield b"#=GC " + tag.ljust(margin - 6) + b" " + text[begin:end] + b"\n"
