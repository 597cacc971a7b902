"""The reference alignment with the placed reads: FASTA and PHYLIP, a line per row, and complete results.

Placed reads become rows of the reference alignment; inserted residues can get new columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.array_files import Arrays, Packed, packed_part, part_arrays, result_format
from tropalign.formats.format import Codec, Header
from tropalign.formats.placed.context import PlacedContext
from tropalign.results import rows
from tropalign.results.placements import READ_COLUMNS, Int64, Placements
from tropalign.sequences.annotations import header_of

GAP = ord("-")
#: A row's name and its characters, gaps included.
Row = tuple[str, bytes]


def fixed_row(letters: NDArray[np.uint8], columns: NDArray[np.int32], n_columns: int) -> bytes:
    """Return a read's row in the reference's width, without inserted residues."""
    row = np.full(n_columns, GAP, np.uint8)
    placed = columns >= 0
    row[columns[placed]] = letters[placed]
    return row.tobytes()


def fixed_rows(placements: Placements, n_columns: int) -> Iterator[Row]:
    """Yield names and rows of the placed reads."""
    for k in np.flatnonzero(placements.branch >= 0).tolist():
        yield placements.names[k], fixed_row(*placements.read(k), n_columns)


class Insertions:
    """Number of new columns for insertions before each reference column and after the last one.

    ::

        reference       A C G T            widths = [2, 0, 1, 0, 3]: new columns before columns 0, 1, 2, 3, and after
        3 its row     - - A C - G T - - -    an overhang on the left is right-aligned, next to its read; everything
        else a read      - t A C t G T a - -    is left-aligned in the new columns
    """

    def __init__(self, n_columns: int) -> None:
        self.widths = np.zeros(n_columns + 1, np.int64)

    def add(self, placements: Placements) -> None:
        """Make room for these reads."""
        for k in np.flatnonzero(placements.branch >= 0).tolist():
            _, before, _ = self._slots(placements.read(k)[1])
            np.maximum.at(self.widths, *np.unique(before, return_counts=True))

    def _slots(self, columns: NDArray[np.int32]) -> tuple[NDArray[np.bool_], Int64, int]:
        """Return the mask of inserted residues, the column after each of them, and the number overhanging on the left.

        Overhangs are assigned to the position before the first column, or after the last.
        """
        inserted = columns < 0
        before = np.maximum.accumulate(np.where(inserted, -1, columns))[inserted].astype(np.int64) + 1
        n_left = len(columns) if inserted.all() else int(np.argmin(inserted))
        n_right = 0 if inserted.all() else int(np.argmin(inserted[::-1]))
        before[len(before) - n_right :] = len(self.widths) - 1
        return inserted, before, n_left

    def place(self, letters: NDArray[np.uint8], columns: NDArray[np.int32]) -> bytes:
        """Return a read's row; insertions are left-aligned in the new columns, a left overhang right-aligned."""
        shift = np.cumsum(self.widths)  # new columns before each column
        row = np.full(len(self.widths) - 1 + int(shift[-1]), GAP, np.uint8)
        placed = columns >= 0
        row[columns[placed] + shift[columns[placed]]] = letters[placed]
        inserted, before, n_left = self._slots(columns)
        ranks = np.arange(len(before)) - np.searchsorted(before, before)
        ranks[:n_left] += self.widths[0] - n_left
        row[before + shift[before] - self.widths[before] + ranks] = letters[inserted]
        return row.tobytes()

    def widen(self, row: NDArray[np.uint8]) -> bytes:
        """Return a row of the reference with gaps in the new columns."""
        shift = np.cumsum(self.widths)
        out = np.full(len(row) + int(shift[-1]), GAP, np.uint8)
        out[np.arange(len(row)) + shift[:-1]] = row
        return out.tobytes()


# If the number of rows, the longest name or the new columns must be known before the first row, nothing can be
# written before the last read. A part then stores the data of its rows, and what its reads require of other rows.


def late_part(placements: Placements, context: PlacedContext) -> bytes:
    """Return names, residues and columns of the placed reads, with their number, longest name and new columns, as .npz.

    If the output contains no reads, only the latter.
    """
    rows.check_names(placements.names)
    placed = placements.take(placements.branch >= 0)
    insertions = Insertions(context.letters.shape[1])
    if context.insertions == "columns":
        insertions.add(placed)
    widened = np.flatnonzero(insertions.widths)
    arrays: dict[str, Any] = {
        "n_rows": np.int64(len(placed)),
        "widest": np.int64(widest(placements.names)),
        "widened": widened,
        "widths": insertions.widths[widened],
    }
    if context.which != "reference":
        arrays["names"], arrays["name_offsets"] = rows.encoded(placed.names)
        arrays |= {"letters": placed.letters, "offsets": placed.offsets, "column": placed.column}
    return packed_part(**arrays)


def widest(names: Iterable[str]) -> int:
    """Return the length of the longest name; 0 without names."""
    return max(map(len, names), default=0)


class LateRows:
    """Rows of an alignment from its parts, which are read twice: for the frame, and for the rows.

    n_reads: placed reads. widest: length of the longest name, including the reference's. n_columns: including new
    columns.
    """

    def __init__(self, parts: Iterable[bytes], context: PlacedContext) -> None:
        self.n_reads, self.widest = 0, widest(context.names)
        self._parts, self._context = parts, context
        self._insertions = Insertions(context.letters.shape[1])
        for part in parts:
            with part_arrays(part) as arrays:
                self.n_reads += int(arrays["n_rows"])
                self.widest = max(self.widest, int(arrays["widest"]))
                np.maximum.at(self._insertions.widths, arrays["widened"], arrays["widths"])
        self.n_columns = len(self._insertions.widths) - 1 + int(self._insertions.widths.sum())

    def reference(self) -> Iterator[Row]:
        """Yield the rows of the reference."""
        for name, row in zip(self._context.names, self._context.letters, strict=True):
            yield name, self._insertions.widen(row)

    def reads(self) -> Iterator[Row]:
        """Yield the rows of the reads."""
        n_columns = self._context.letters.shape[1]
        for part in self._parts:
            with part_arrays(part) as arrays:
                names, letters, column = arrays["names"].tobytes(), arrays["letters"], arrays["column"]
                begins = zip(arrays["name_offsets"].tolist(), arrays["offsets"].tolist(), strict=True)
                name_begin, begin = next(begins)
                for name_end, end in begins:
                    read = (letters[begin:end], column[begin:end])
                    row = (
                        self._insertions.place(*read)
                        if self._context.insertions == "columns"
                        else fixed_row(*read, n_columns)
                    )
                    yield names[name_begin:name_end].decode(), row
                    name_begin, begin = name_end, end


def write_rows(
    parts: Iterable[bytes], out: IO[bytes], context: PlacedContext, begin: Callable[[LateRows, int], bytes], line: Any
) -> None:
    """Write an alignment from the parts of late_part().

    begin: (rows, their number) -> text before the first row. line: (name, row, length of the longest name) -> text.
    """
    late = LateRows(parts, context)
    has_reads, has_reference = context.which != "reference", context.which != "reads"
    out.write(begin(late, late.n_reads * has_reads + len(context.names) * has_reference))
    for of_one in (late.reference() if has_reference else (), late.reads() if has_reads else ()):
        for name, row in of_one:
            out.write(line(name, row, late.widest))


def record(name: str, row: bytes, widest: int = 0) -> bytes:
    """Return a record of two lines."""
    return b">" + header_of(name).encode() + b"\n" + row + b"\n"


def is_late(context: PlacedContext) -> bool:
    """True if the output has new columns, which are known only after the last read."""
    return context.insertions == "columns"


def encode_fasta(placements: Placements, context: PlacedContext) -> bytes:
    """Return the records of the placed reads."""
    if is_late(context):
        return late_part(placements, context)
    if context.which == "reference":
        return b""
    rows.check_names(placements.names)
    return b"".join(record(name, row) for name, row in fixed_rows(placements, context.letters.shape[1]))


def assemble_fasta(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the reference, then the reads."""
    if is_late(context):
        write_rows(parts, out, context, lambda late, n_rows: b"", record)
        return
    if context.which != "reads":
        for name, row in zip(context.names, context.letters, strict=True):
            out.write(record(name, row.tobytes()))
    for part in parts:
        out.write(part)


def line(name: str, row: bytes, widest: int) -> bytes:
    """Return a PHYLIP row."""
    return name.ljust(widest).encode() + b" " + row + b"\n"


def assemble_phylip(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the numbers of rows and columns, the reference, then the reads."""
    write_rows(parts, out, context, lambda late, n_rows: f"{n_rows} {late.n_columns}\n".encode(), line)


_COLUMNS = ("letters", "offsets", "column", "tied_branches", "tied_offsets", *READ_COLUMNS)


def pack(placements: Placements, context: PlacedContext) -> Packed:
    """Pack the reads."""
    return {"names": list(placements.names)}, {name: getattr(placements, name) for name in _COLUMNS}


def _empty(context: PlacedContext) -> Packed:
    types = {**READ_COLUMNS, "letters": np.uint8, "column": np.int32, "tied_branches": np.int64}
    columns: Arrays = {name: np.zeros(0, dtype) for name, dtype in types.items()}
    return {"names": []}, columns | {name: np.zeros(1, np.int64) for name in ("offsets", "tied_offsets")}


def _check(context: PlacedContext) -> None:
    if context.which != "all":
        raise InputError("format result contains only the reads, not the reference: omit --split")


FASTA = Codec(
    encode_fasta, assemble_fasta, assembled_with=("names", "letters", "insertions", "which"), needs_all=is_late
)
PHYLIP = Codec(late_part, assemble_phylip, assembled_with=("names", "letters", "insertions", "which"), needs_all=True)
RESULT = result_format("placed", pack, empty=_empty, check=_check)
