"""The reference alignment with the reads in it: FASTA and PHYLIP, a line per row, and the reads whole.

Placed reads as rows of the reference alignment, and new columns for inserted letters.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.part_arrays import part_arrays
from tropalign.formats.placed.context import PlacedContext
from tropalign.formats.result_file import Arrays, Packed, result_format
from tropalign.results import rows
from tropalign.results.placements import READ_COLUMNS, Int64, Placements
from tropalign.sequences.counts import header_of

GAP = ord("-")
#: A row's name and its letters, gaps included.
Row = tuple[str, bytes]


def fixed_row(letters: NDArray[np.uint8], columns: NDArray[np.int32], n_columns: int) -> bytes:
    """A read's row of the reference's width; inserted letters are left out."""
    row = np.full(n_columns, GAP, np.uint8)
    placed = columns >= 0
    row[columns[placed]] = letters[placed]
    return row.tobytes()


def fixed_rows(placements: Placements, n_columns: int) -> Iterator[Row]:
    """Names and rows of the reads that were placed."""
    for k in np.flatnonzero(placements.branch >= 0).tolist():
        yield placements.names[k], fixed_row(*placements.read(k), n_columns)


class Insertions:
    """New columns for inserted letters: before each of the reference's and after the last, as many as reads need.

    ::

        reference       A C G T            widths = [2, 0, 1, 0, 3]: new columns before columns 0, 1, 2, 3, and after 3
        its row     - - A C - G T - - -    what hangs over on the left stands right, next to its read; everything else
        a read      - t A C t G T a - -    stands left in the new columns
    """

    def __init__(self, n_columns: int) -> None:
        self.widths = np.zeros(n_columns + 1, np.int64)

    def add(self, placements: Placements) -> None:
        """Makes room for these reads."""
        for k in np.flatnonzero(placements.branch >= 0).tolist():
            _, before, _ = self._slots(placements.read(k)[1])
            np.maximum.at(self.widths, *np.unique(before, return_counts=True))

    def _slots(self, columns: NDArray[np.int32]) -> tuple[NDArray[np.bool_], Int64, int]:
        """Which letters are inserted, the column before which each of them is, and how many hang over on the left.

        What hangs over an end stands before the first column, or after the last.
        """
        inserted = columns < 0
        before = np.maximum.accumulate(np.where(inserted, -1, columns))[inserted].astype(np.int64) + 1
        n_left = len(columns) if inserted.all() else int(np.argmin(inserted))
        n_right = 0 if inserted.all() else int(np.argmin(inserted[::-1]))
        before[len(before) - n_right :] = len(self.widths) - 1
        return inserted, before, n_left

    def place(self, letters: NDArray[np.uint8], columns: NDArray[np.int32]) -> bytes:
        """A read's row: inserted letters stand left in the new columns, those that hang over on the left right."""
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
        """A row of the reference with gaps in the new columns."""
        shift = np.cumsum(self.widths)
        out = np.full(len(row) + int(shift[-1]), GAP, np.uint8)
        out[np.arange(len(row)) + shift[:-1]] = row
        return out.tobytes()


# Where the number of rows, the longest name or the new columns stand before the first row, nothing can be written until
# every read is known. A part then keeps what the rows are made of, and what its reads ask of the others' rows.


def late_part(placements: Placements, context: PlacedContext) -> bytes:
    """Names, letters and columns of the placed reads, and their number, longest name and new columns, as .npz.

    Without reads in the output, the latter alone.
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
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=False, **arrays)
    return sink.getvalue()


def widest(names: Iterable[str]) -> int:
    """Letters of the longest name; 0 without names."""
    return max(map(len, names), default=0)


class LateRows:
    """The rows of an alignment out of its parts, which are gone through twice: for the frame, and for the rows.

    Attributes
    ----------
    n_reads, widest
        How many reads were placed; letters of the longest name of all, the reference's too.
    n_columns
        Columns of a row, new ones included.
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
        """Rows of the reference."""
        for name, row in zip(self._context.names, self._context.letters, strict=True):
            yield name, self._insertions.widen(row)

    def reads(self) -> Iterator[Row]:
        """Rows of the reads."""
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
    """Writes an alignment whose parts are late_part()'s.

    Parameters
    ----------
    begin
        (rows, number of them) -> what stands before the first one.
    line
        (name, letters, letters of the longest name) -> a row as the format writes it.
    """
    late = LateRows(parts, context)
    has_reads, has_reference = context.which != "reference", context.which != "reads"
    out.write(begin(late, late.n_reads * has_reads + len(context.names) * has_reference))
    for of_one in (late.reference() if has_reference else (), late.reads() if has_reads else ()):
        for name, row in of_one:
            out.write(line(name, row, late.widest))


def record(name: str, row: bytes, widest: int = 0) -> bytes:
    """A record of two lines."""
    return b">" + header_of(name).encode() + b"\n" + row + b"\n"


def is_late(context: PlacedContext) -> bool:
    """New columns are known when all reads are."""
    return context.insertions == "columns"


def encode_fasta(placements: Placements, context: PlacedContext) -> bytes:
    """The records of the reads that were placed."""
    if is_late(context):
        return late_part(placements, context)
    if context.which == "reference":
        return b""
    rows.check_names(placements.names)
    return b"".join(record(name, row) for name, row in fixed_rows(placements, context.letters.shape[1]))


def assemble_fasta(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """The reference, then the reads."""
    if is_late(context):
        write_rows(parts, out, context, lambda late, n_rows: b"", record)
        return
    if context.which != "reads":
        for name, row in zip(context.names, context.letters, strict=True):
            out.write(record(name, row.tobytes()))
    for part in parts:
        out.write(part)


def line(name: str, row: bytes, widest: int) -> bytes:
    """A row."""
    return name.ljust(widest).encode() + b" " + row + b"\n"


def assemble_phylip(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Numbers of rows and columns, the reference, then the reads."""
    write_rows(parts, out, context, lambda late, n_rows: f"{n_rows} {late.n_columns}\n".encode(), line)


_COLUMNS = ("letters", "offsets", "column", "tied_branches", "tied_offsets", *READ_COLUMNS)


def pack(placements: Placements, context: PlacedContext) -> Packed:
    """Packs the reads."""
    return {"names": list(placements.names)}, {name: getattr(placements, name) for name in _COLUMNS}


def _empty(context: PlacedContext) -> Packed:
    types = {**READ_COLUMNS, "letters": np.uint8, "column": np.int32, "tied_branches": np.int64}
    columns: Arrays = {name: np.zeros(0, dtype) for name, dtype in types.items()}
    return {"names": []}, columns | {name: np.zeros(1, np.int64) for name in ("offsets", "tied_offsets")}


def _check(context: PlacedContext) -> None:
    if context.which != "all":
        raise InputError("format result holds the reads alone, and no reference: leave --split out")


FASTA = Codec(
    encode_fasta, assemble_fasta, assembled_with=("names", "letters", "insertions", "which"), needs_all=is_late
)
PHYLIP = Codec(late_part, assemble_phylip, assembled_with=("names", "letters", "insertions", "which"), needs_all=True)
RESULT = result_format("placed", pack, empty=_empty, check=_check)
