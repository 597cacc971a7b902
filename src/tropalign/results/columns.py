"""Base classes of result tables: row selection, export to other libraries, equality.

A class declares its arrays (`Axis`: names and types, once) and its visible columns (`Table.columns`). Row selection,
concatenation, checks and comparison are derived from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import Hinted, InputError, Single, hint_for
from tropalign.results import display
from tropalign.results.rows import encoded
from tropalign.sequences import SequenceBatch

if TYPE_CHECKING:
    import pandas
    import polars

Item = TypeVar("Item")
#: Row selectors other than a number: a slice, integers, or a mask.
Chosen = slice | Sequence[int] | NDArray[Any]
#: A column: numbers; or concatenated texts and their offsets.
Flat = NDArray[Any] | tuple[NDArray[np.uint8], NDArray[np.int64]]


def _library(name: str) -> Any:
    """Import a table library. Raises InputError with the remedy if it is missing."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"{name} is not installed: pip install {name}") from None


@dataclass(frozen=True)
class Axis:
    """Columns with an item per row, and ragged arrays with a run per row.

    items: plural noun for the rows, for messages. columns: dtype of each column; str for a tuple of texts. runs:
    axis by the name of its offsets; row k has the items ``offsets[k]:offsets[k + 1]`` of that axis.
    """

    items: str
    columns: Mapping[str, type]
    runs: Mapping[str, Axis] = field(default_factory=dict)

    def with_columns(self, columns: Mapping[str, type], **runs: Axis) -> Axis:
        """Return the axis with more columns, and with other axes for some of its runs."""
        return Axis(self.items, {**self.columns, **columns}, {**self.runs, **runs})

    def check(self, table: Any, n: int | None = None) -> int:
        """Check the arrays of a table and return its number of rows; ValueError for wrong lengths, types or offsets."""
        for name, dtype in self.columns.items():
            values = getattr(table, name)
            check_column(name, values, dtype, n)
            n = len(values)
        assert n is not None
        for name, axis in self.runs.items():
            offsets = getattr(table, name)
            check_column(name, offsets, np.int64, n + 1)
            first = next(iter(axis.columns))
            axis.check(table)
            ragged.check_offsets(offsets, name, getattr(table, first), axis.items)
        return n

    def chosen(self, table: Any, rows: NDArray[Any]) -> dict[str, Any]:
        """Select rows (indices) of all arrays that are not None."""
        found: dict[str, Any] = {}
        for name in self.columns:
            values = getattr(table, name)
            if isinstance(values, np.ndarray):
                found[name] = values[rows]
            elif values is not None:
                found[name] = tuple([values[k] for k in rows.tolist()])
        for name, axis in self.runs.items():
            if (offsets := getattr(table, name)) is None:
                continue
            if axis.runs or str in axis.columns.values():
                found[name], places = ragged.chosen(offsets, rows)
                found |= axis.chosen(table, places)
            else:
                found[name] = ragged.offsets_of(np.diff(offsets)[rows])
                there = [column for column in axis.columns if getattr(table, column) is not None]
                arrays = ragged.gathered([getattr(table, column) for column in there], offsets, rows)
                found |= dict(zip(there, arrays, strict=True))
        return found

    def between(self, table: Any, begin: int, end: int) -> dict[str, Any]:
        """Return the arrays of rows [begin, end) by name; only offsets are copied."""
        found = {name: values[begin:end] for name in self.columns if (values := getattr(table, name)) is not None}
        for name, axis in self.runs.items():
            if (offsets := getattr(table, name)) is not None:
                own = offsets[begin : end + 1]
                found[name] = own - own[0]
                found |= axis.between(table, int(own[0]), int(own[-1]))
        return found

    def joined(self, tables: Sequence[Any]) -> dict[str, Any]:
        """Concatenate the arrays of several tables by name; the first table determines which arrays exist."""
        found: dict[str, Any] = {}
        for name in self.columns:
            pieces = [getattr(table, name) for table in tables]
            if isinstance(pieces[0], np.ndarray):
                found[name] = np.concatenate(pieces)
            elif pieces[0] is not None:
                found[name] = tuple(text for piece in pieces for text in piece)
        for name, axis in self.runs.items():
            if getattr(tables[0], name) is not None:
                found[name] = ragged.joined([getattr(table, name) for table in tables])
                found |= axis.joined(tables)
        return found

    def empty(self) -> dict[str, Any]:
        """Return the arrays of a table without rows."""
        found: dict[str, Any] = {
            name: () if dtype is str else np.zeros(0, dtype) for name, dtype in self.columns.items()
        }
        for name, axis in self.runs.items():
            found |= {name: np.zeros(1, np.int64), **axis.empty()}
        return found


def check_column(name: str, values: Any, dtype: type, length: int | None = None) -> None:
    """Raise ValueError if a column is not an array of this dtype (a tuple for str) and length."""
    if dtype is not str and (not isinstance(values, np.ndarray) or values.dtype != dtype or values.ndim != 1):
        raise ValueError(f"column {name} must be a one-dimensional array of {np.dtype(dtype)}")
    if length is not None and len(values) != length:
        raise ValueError(f"column {name} has {len(values)} items, not {length}")


class Result(Hinted):
    """Base of results: equality by content, and notebook display of the ``print`` text."""

    #: Fields that equality ignores.
    _aside: ClassVar[frozenset[str]] = frozenset()

    def _content(self) -> dict[str, Any]:
        """Return the fields that equal results share, by name."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in self._aside}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        """True if all contents are equal."""
        if not isinstance(other, type(self)):
            return NotImplemented
        mine, theirs = self._content(), other._content()
        return all(are_same(values, theirs[name]) for name, values in mine.items())

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        return display.text_html(str(self))


class Cell(Generic[Item]):
    """Attribute that reads a row's item of the column with the attribute's name, or of `column`."""

    def __init__(self, meaning: str, column: str = "") -> None:
        self.__doc__, self.column = meaning, column

    def __set_name__(self, owner: type, name: str) -> None:
        self.column = self.column or name

    @overload
    def __get__(self, row: None, owner: type) -> Cell[Item]: ...
    @overload
    def __get__(self, row: Row, owner: type) -> Item: ...
    def __get__(self, row: Row | None, owner: type) -> Any:
        return self if row is None else row._cell(self.column)


class Row(Single):
    """A view of one row of a table; its class declares the columns as `Cell`."""

    def _cell(self, column: str) -> Any:
        """The row's item of a column, as a Python object."""
        raise NotImplementedError


class Rows(Result, Generic[Item]):
    """Result of rows that can be selected by number, slice, indices or mask.

    A subclass provides ``len`` and single rows, and either the arrays of its rows (`_axis`) or `take` and `slice`.
    """

    _axis: ClassVar[Axis]

    def __len__(self) -> int:
        raise NotImplementedError

    def _item(self, k: int) -> Item:
        """Return row k for indexing and iteration."""
        raise NotImplementedError

    @overload
    def __getitem__(self, key: int) -> Item: ...
    @overload
    def __getitem__(self, key: Chosen) -> Self: ...
    def __getitem__(self, key: int | Chosen) -> Item | Self:
        """Return one row by number, or the result of the rows of a slice, indices or a mask."""
        if isinstance(key, int | np.integer):
            return self._item(int(key))
        if isinstance(key, slice):
            begin, end, step = key.indices(len(self))
            return self.slice(begin, end) if step == 1 else self.take(np.arange(begin, end, step))
        if isinstance(key, str):
            hint = hint_for(self, "[name]") or f"table.columns()[{key!r}]"
            raise IndexError(f"rows must be selected by integers, a slice or a mask: write {hint}")
        return self.take(np.asarray(key))

    def __iter__(self) -> Iterator[Item]:
        return (self._item(k) for k in range(len(self)))

    def slice(self, begin: int, end: int) -> Self:
        """Return rows [begin, end) without copying the columns.

        Parameters
        ----------
        begin, end
            Bounds as in Python's slices.

        Returns
        -------
        object of the same class

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.slice(0, 2).score.tolist()
        [32, 28]
        """
        begin, end, _ = slice(begin, end).indices(len(self))
        return self._of_rows(self._axis.between(self, begin, max(begin, end)))

    def take(self, rows: NDArray[Any]) -> Self:
        """Return the rows at these indices (integers) or in this mask (bool), in that order.

        Parameters
        ----------
        rows
            Indices (integers) or a mask (bool).

        Returns
        -------
        object of the same class

        Raises
        ------
        IndexError
            A row does not exist, or the mask has another length.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.take(table.score > 27).score.tolist()
        [32, 28]
        """
        return self._of_rows(self._axis.chosen(self, ragged.wanted_rows(rows, len(self))))

    def _of_rows(self, arrays: dict[str, Any]) -> Self:
        """Return a copy of the result with these arrays."""
        return replace(self, **arrays)  # type: ignore[type-var]


class Table(Rows[Item]):
    """A result with columns for pandas, and for polars, duckdb and pyarrow through the Arrow C stream."""

    def row(self, k: int) -> Item:
        """Return a single row.

        Parameters
        ----------
        k
            The row, from 0; negative numbers count from the end.

        Returns
        -------
        object
            Return the same object as in iteration.

        Raises
        ------
        IndexError
            There is no such row.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.row(-1).target
        'sequence_3'
        """
        raise NotImplementedError

    def _item(self, k: int) -> Item:
        return self.row(k)

    def columns(self) -> dict[str, Any]:
        """Return the columns by their names in output: texts and numbers.

        Returns
        -------
        dict of str to list or array
            An item per row.

        Examples
        --------
        >>> tropalign.decode("cpg", {"chr": "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20}).columns()["label"]
        ['island']
        """
        raise NotImplementedError

    def _batches(self) -> Iterator[Mapping[str, Any]]:
        """Yield the columns in one or more batches of rows, for Arrow."""
        yield self.columns()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the Arrow C stream, which polars, pandas, duckdb and pyarrow read without copying the numbers."""
        from nanoarrow.c_array_stream import CArrayStream

        batches = [arrow_batch(columns) for columns in self._batches()]
        stream = CArrayStream.from_c_arrays(batches, batches[0].schema, validate=False)
        found: object = stream.__arrow_c_stream__(requested_schema)
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas DataFrame; the numbers of `columns` are not copied.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            pandas is not installed.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.to_pandas()["score"].max()
        np.int32(32)
        """
        return _library("pandas").DataFrame(self.columns(), copy=False)

    def to_polars(self) -> polars.DataFrame:
        """Return a polars DataFrame; the numbers are not copied.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        InputError
            polars is not installed.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.to_polars()["score"].max()
        32
        """
        return _library("polars").DataFrame(self)

    def _title(self) -> str:
        """Return a one-line description of the table."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self._title()}>"

    def _repr_html_(self) -> str:
        columns = self.columns()
        return display.grid_html(self._title(), display.cells(columns), max(map(len, columns.values())))


def are_same(value: Any, other: Any) -> bool:
    """True if two fields of results are equal: arrays, sequences, or other comparable values."""
    if isinstance(value, np.ndarray) or isinstance(other, np.ndarray):
        is_both = isinstance(value, np.ndarray) and isinstance(other, np.ndarray)
        return is_both and np.array_equal(value, other, equal_nan=value.dtype.kind == other.dtype.kind == "f")
    if isinstance(value, SequenceBatch) or hasattr(value, "lengths"):
        return are_same_sequences(value, other)
    return bool(value == other)


def are_same_sequences(batch: Any, other: Any) -> bool:
    """True if two batches have equal names and residues; only names and lengths if one has no residues."""
    if batch is other:
        return True
    if len(batch) != len(other) or not np.array_equal(batch.lengths, other.lengths) or batch.names != other.names:
        return False
    if not all(isinstance(one, SequenceBatch) and one.has_residues for one in (batch, other)):
        return True
    return bool(batch.alphabet == other.alphabet and np.array_equal(batch.letters, other.letters))


def arrow_batch(columns: Mapping[str, Flat | list[str]]) -> Any:
    """Return columns as one nanoarrow array of structs, without copying numbers and text."""
    import nanoarrow as na

    types = {
        "b1": na.bool_(), "i1": na.int8(), "i4": na.int32(), "i8": na.int64(), "f4": na.float32(), "f8": na.float64(),
    }  # fmt: skip
    fields_of: dict[str, Any] = {}
    arrays: list[Any] = []
    n_rows = 0
    for name, values in columns.items():
        if isinstance(values, list) or (isinstance(values, np.ndarray) and values.dtype == object):
            values = encoded(list(values))
        if isinstance(values, tuple):
            n_rows, fields_of[name], buffers = len(values[1]) - 1, na.large_string(), [None, values[1], values[0]]
        else:
            n_rows, fields_of[name] = len(values), types[values.dtype.str[1:]]
            is_bits = values.dtype == np.bool_
            buffers = [None, np.packbits(values, bitorder="little") if is_bits else np.ascontiguousarray(values)]
        arrays.append(na.c_array_from_buffers(fields_of[name], n_rows, buffers))
    return na.c_array_from_buffers(na.struct(fields_of), n_rows, [None], children=arrays)
