"""What text formats of multiple alignments share: names as they can hold them, and rows cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from tropalign.errors import InputError
from tropalign.results import rows
from tropalign.results.multiple import MultipleAlignment

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
