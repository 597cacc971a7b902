"""The result of aligning pairs: columns, a row per pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tropalign.results import display, export, ragged, rows
from tropalign.results.cigar import cigar_text, gapped
from tropalign.sequences import SequenceBatch

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

#: How much of an alignment is computed, from less to more.
DEPTHS = ("score", "ends", "alignment")


@dataclass(frozen=True)
class Column:
    """A column of numbers of an AlignmentTable, and what outputs make of it.

    Attributes
    ----------
    name
        The table's attribute.
    dtype
        Type of its items.
    depth : {"score", "ends", "alignment"}
        The least depth that has it.
    output
        Its name in files and in other libraries; None for what is not shown by itself.
    form : {"number", "fraction", "strand"}
        How text shows it: as it is, with four decimals, as ``+`` or ``-``.
    is_derived
        Computed from the others when it is asked for.
    """

    name: str
    dtype: type
    depth: str
    output: str | None
    form: str = "number"
    is_derived: bool = False


#: Every column of numbers, in the order of the outputs; an engine returns those that are not derived. In outputs the
#: names of query and target come before them, the CIGAR after them. ``strand`` is there with both strands only.
COLUMNS = (
    Column("strand", np.int8, "score", "strand", "strand"),
    Column("score", np.int32, "score", "score"),
    Column("query_start", np.int32, "ends", "query_start"),
    Column("query_end", np.int32, "ends", "query_end"),
    Column("target_start", np.int32, "ends", "target_start"),
    Column("target_end", np.int32, "ends", "target_end"),
    Column("n_identical", np.int32, "alignment", None),
    Column("n_similar", np.int32, "alignment", None),
    Column("identity", np.float64, "alignment", "identity", "fraction", is_derived=True),
    Column("similarity", np.float64, "alignment", "similarity", "fraction", is_derived=True),
    Column("n_gaps", np.int32, "alignment", "gaps"),
    Column("n_columns", np.int32, "alignment", "columns"),
)
INDEX_COLUMNS = ("query_index", "target_index")
#: What a table keeps, indices and paths aside.
_KEPT = tuple(column for column in COLUMNS if not column.is_derived)
END_COLUMNS = tuple(column.name for column in _KEPT if column.depth == "ends")
COUNT_COLUMNS = tuple(column.name for column in _KEPT if column.depth == "alignment")
#: What each depth has beside indices, score and strand.
DEPTH_COLUMNS = {"score": (), "ends": END_COLUMNS, "alignment": (*END_COLUMNS, *COUNT_COLUMNS)}
_ABSENT: Any = None


def output_columns(depth: str, has_strand: bool) -> list[Column]:
    """The columns of numbers that an output of that depth shows, in order."""
    return [
        column
        for column in COLUMNS
        if column.output is not None
        and DEPTHS.index(column.depth) <= DEPTHS.index(depth)
        and (has_strand or column.name != "strand")
    ]


@dataclass(eq=False, repr=False)
class AlignmentTable:
    """Alignments of pairs, a row per pair.

    ``table[k]`` is one Alignment; a slice, a mask or indices give the table of those rows. ``len``, iteration, pandas,
    polars and everything that takes an Arrow C stream work on it.

    Attributes
    ----------
    queries, targets : SequenceBatch
        What the indices point into (one object when a set is aligned with itself).
    depth : {"score", "ends", "alignment"}
        Which of the columns below are there; the others are None.
    query_index, target_index : int64, shape (n,)
    score : int32, shape (n,)
    strand : int8, shape (n,), or None
        With both strands: 1, or -1 where the query was reverse-complemented.
    query_start, query_end, target_start, target_end : int32, shape (n,)
        0-based, half-open; the query's on its original strand.
    n_identical, n_similar, n_gaps, n_columns : int32, shape (n,)
        Columns of equal letters, of letters that score above 0, gap residues, and all columns.
    cigar_ops : uint32
        ``length << 4 | operation`` as in BAM: I (1) a residue of the query only, D (2) of the target only, = (7) and
        X (8) one of both.
    cigar_offsets : int64, shape (n + 1,)
        Row k's operations are ``cigar_ops[cigar_offsets[k]:cigar_offsets[k + 1]]``, along the target's forward strand.

    Raises
    ------
    ValueError
        A column is missing, of another length or kind, or points outside its batch.

    Examples
    --------
    >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
    >>> table.score.tolist(), table.cigars()
    ([32, 28, 27], ['2=1X3=', '5=', '1=1X3='])
    """

    queries: SequenceBatch
    targets: SequenceBatch
    depth: str
    query_index: Int64
    target_index: Int64
    score: Int32
    strand: NDArray[np.int8] | None = None
    query_start: Int32 = _ABSENT
    query_end: Int32 = _ABSENT
    target_start: Int32 = _ABSENT
    target_end: Int32 = _ABSENT
    n_identical: Int32 = _ABSENT
    n_similar: Int32 = _ABSENT
    n_gaps: Int32 = _ABSENT
    n_columns: Int32 = _ABSENT
    cigar_ops: NDArray[np.uint32] = _ABSENT
    cigar_offsets: Int64 = _ABSENT

    def __post_init__(self) -> None:
        if self.depth not in DEPTHS:
            raise ValueError(f"depth {self.depth!r} is none of {', '.join(DEPTHS)}")
        self._check("score", np.int32, None)
        n = len(self.score)
        for name in INDEX_COLUMNS:
            self._check(name, np.int64, n)
        for column in _KEPT:
            is_there = DEPTHS.index(column.depth) <= DEPTHS.index(self.depth)
            if is_there and (column.name != "strand" or self.strand is not None):
                self._check(column.name, column.dtype, n)
        for index, batch in ((self.query_index, self.queries), (self.target_index, self.targets)):
            if n and not 0 <= int(index.min()) <= int(index.max()) < len(batch):
                raise ValueError(f"an index points outside a batch of {len(batch)} sequences")
        if self.depth == "alignment":
            self._check("cigar_ops", np.uint32, None)
            self._check("cigar_offsets", np.int64, n + 1)
            ragged.check_offsets(self.cigar_offsets, "cigar_offsets", self.cigar_ops, "cigar_ops")

    def _check(self, name: str, dtype: type, length: int | None) -> None:
        values = getattr(self, name)
        if values is None:
            raise ValueError(f"depth {self.depth!r} needs the column {name}")
        if not isinstance(values, np.ndarray) or values.dtype != dtype or values.ndim != 1:
            raise ValueError(f"column {name} has to be a one-dimensional array of {np.dtype(dtype)}")
        if length is not None and len(values) != length:
            raise ValueError(f"column {name} has {len(values)} items and not {length}")

    def __len__(self) -> int:
        return len(self.score)

    @property
    def identity(self) -> NDArray[np.float64]:
        """Identical columns over all columns; 0 for an empty alignment."""
        return self._share(self.n_identical, "identity")

    @property
    def similarity(self) -> NDArray[np.float64]:
        """Columns whose letters score above 0, over all columns; 0 for an empty alignment."""
        return self._share(self.n_similar, "similarity")

    def _share(self, counts: Int32, name: str) -> NDArray[np.float64]:
        if counts is None:
            raise AttributeError(f"AlignmentTable.{name} was not computed: ask for report 'alignment'")
        return counts / np.maximum(self.n_columns, 1)

    def cigar(self, k: int) -> str:
        """CIGAR of row k with ``=XID``; ``*`` when the alignment is empty.

        Parameters
        ----------
        k
            The row, from 0; from the end where it is negative.

        Returns
        -------
        str
            Along the target's forward strand.

        Raises
        ------
        IndexError
            There is no such row.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.cigar(0)
        '2=1X3='
        """
        k = ragged.row_number(k, len(self))
        return cigar_text(self.cigar_ops[self.cigar_offsets[k] : self.cigar_offsets[k + 1]])

    def cigars(self) -> list[str]:
        """CIGARs of all rows.

        Returns
        -------
        list of str
            In the order of the rows.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.cigars()
        ['2=1X3=', '5=', '1=1X3=']
        """
        text, offsets = rows.column_text(rows.cigars(self), len(self))
        whole, begins = text.decode("ascii"), offsets.tolist()
        return [whole[begin:end] for begin, end in pairwise(begins)]

    def row(self, k: int) -> Alignment:
        """Row k by itself.

        Parameters
        ----------
        k
            The row, from 0; from the end where it is negative.

        Returns
        -------
        Alignment

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
        return Alignment(self, ragged.row_number(k, len(self)))

    @overload
    def __getitem__(self, key: int) -> Alignment: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> AlignmentTable: ...
    def __getitem__(self, key: int | slice | Sequence[int] | NDArray[Any]) -> Alignment | AlignmentTable:
        """One row by its index; by a slice, indices or a mask the table of those rows."""
        if isinstance(key, int | np.integer):
            return self.row(int(key))
        if isinstance(key, slice):
            begin, end, step = key.indices(len(self))
            return self.slice(begin, end) if step == 1 else self.take(np.arange(begin, end, step))
        return self.take(np.asarray(key))

    def __iter__(self) -> Iterator[Alignment]:
        return (self.row(k) for k in range(len(self)))

    def slice(self, begin: int, end: int) -> AlignmentTable:
        """Rows [begin, end) as Python's slices count them, without a copy of the columns.

        Parameters
        ----------
        begin, end
            As Python's slices count them.

        Returns
        -------
        AlignmentTable

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.slice(0, 2).score.tolist()
        [32, 28]
        """
        begin, end, _ = slice(begin, end).indices(len(self))
        end = max(begin, end)
        columns = {name: values[begin:end] for name, values in self._row_columns().items()}
        if self.cigar_ops is not None:
            offsets = self.cigar_offsets[begin : end + 1]
            columns["cigar_ops"] = self.cigar_ops[offsets[0] : offsets[-1]]
            columns["cigar_offsets"] = offsets - offsets[0]
        return AlignmentTable(self.queries, self.targets, self.depth, **columns)

    def take(self, rows: NDArray[Any]) -> AlignmentTable:
        """The rows at these indices (whole numbers) or where this mask (bool) is true, in that order.

        Parameters
        ----------
        rows
            Indices (whole numbers) or a mask (bool).

        Returns
        -------
        AlignmentTable

        Raises
        ------
        IndexError
            A row that there is not, or a mask of another length.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.take(table.score > 27).score.tolist()
        [32, 28]
        """
        rows = ragged.wanted_rows(rows, len(self))
        columns = {name: values[rows] for name, values in self._row_columns().items()}
        if self.cigar_ops is not None:
            columns["cigar_offsets"], places = ragged.chosen(self.cigar_offsets, rows)
            columns["cigar_ops"] = self.cigar_ops[places]
        return AlignmentTable(self.queries, self.targets, self.depth, **columns)

    def _row_columns(self) -> dict[str, NDArray[Any]]:
        """The columns that are there and have an item per row."""
        names = (*INDEX_COLUMNS, *(column.name for column in _KEPT))
        return {name: values for name in names if (values := getattr(self, name)) is not None}

    def numbers(self) -> dict[str, NDArray[Any]]:
        """The columns of numbers, by the names that they have in output.

        Returns
        -------
        dict of str to array
            An array of shape (n,) per column.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.numbers()["score"].tolist()
        [32, 28, 27]
        """
        shown = output_columns(self.depth, self.strand is not None)
        return {str(column.output): getattr(self, column.name) for column in shown}

    def columns(self) -> dict[str, NDArray[Any]]:
        """Every column by the name that it has in output, as other libraries take them: names, numbers and CIGARs.

        Returns
        -------
        dict of str to array
            An array of shape (n,) per column.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.columns()["score"].tolist()
        [32, 28, 27]
        """
        return export.column_arrays(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow C stream, which polars, pandas, duckdb and pyarrow read without a copy of the numbers."""
        return export.arrow_stream(self, requested_schema)

    def to_pandas(self) -> Any:
        """A pandas DataFrame; the numbers are not copied.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.to_pandas()["score"].max()
        np.int32(32)
        """
        import pandas

        return pandas.DataFrame(self.columns(), copy=False)

    def to_polars(self) -> Any:
        """A polars DataFrame; the numbers are not copied.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.to_polars()["score"].max()
        32
        """
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        return display.table_text(self)

    def _repr_html_(self) -> str:
        return display.table_html(self)


class _Cell:
    """A number of an alignment: its row's item of the table's column of the same name."""

    def __init__(self, meaning: str) -> None:
        self.__doc__ = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, row: None, owner: type) -> _Cell: ...
    @overload
    def __get__(self, row: Alignment, owner: type) -> int: ...
    def __get__(self, row: Alignment | None, owner: type) -> _Cell | int:
        if row is None:
            return self
        values = getattr(row.table, self.name)
        if values is None:
            raise AttributeError(
                f"Alignment.{self.name} was not computed: ask for a deeper report than {row.table.depth!r}"
            )
        return int(values[row.index])


@dataclass(frozen=True, eq=False, repr=False)
class Alignment:
    """One row of an AlignmentTable: ``print`` shows it as an alignment, a notebook in colour.

    Parameters
    ----------
    table
        Where it stands.
    index
        In which row, from 0.

    Raises
    ------
    AttributeError
        What is asked for is not part of the table's depth.

    Examples
    --------
    >>> hit = tropalign.align("MKVLAW", "MKILAW")
    >>> hit.score, hit.cigar, hit.n_identical
    (32, '2=1X3=', 5)
    """

    table: AlignmentTable
    index: int

    query_index = _Cell("Which of the table's queries it is.")
    target_index = _Cell("Which of the table's targets it is.")
    score = _Cell("The score, in units of the matrix.")
    query_start = _Cell("Where the aligned part of the query begins, 0-based, on its original strand.")
    query_end = _Cell("One past the end of the aligned part of the query.")
    target_start = _Cell("Where the aligned part of the target begins, 0-based.")
    target_end = _Cell("One past the end of the aligned part of the target.")
    n_identical = _Cell("Columns of equal letters.")
    n_similar = _Cell("Columns of letters that score above 0.")
    n_gaps = _Cell("Residues that stand against a gap.")
    n_columns = _Cell("All columns.")

    @property
    def query(self) -> str:
        """Name of the query."""
        return self.table.queries.names[int(self.table.query_index[self.index])]

    @property
    def target(self) -> str:
        """Name of the target."""
        return self.table.targets.names[int(self.table.target_index[self.index])]

    @property
    def strand(self) -> int:
        """1, or -1 where the query was reverse-complemented."""
        return 1 if self.table.strand is None else int(self.table.strand[self.index])

    @property
    def identity(self) -> float:
        """Identical columns over all columns; 0 for an empty alignment."""
        return self.n_identical / max(self.n_columns, 1)

    @property
    def similarity(self) -> float:
        """Columns whose letters score above 0, over all columns; 0 for an empty alignment."""
        return self.n_similar / max(self.n_columns, 1)

    @property
    def cigar(self) -> str:
        """CIGAR with ``=XID``; ``*`` when the alignment is empty."""
        self._require_path("cigar")
        return self.table.cigar(self.index)

    def _require_path(self, name: str) -> None:
        if self.table.depth != "alignment":
            raise AttributeError(f"Alignment.{name} was not computed: ask for report 'alignment'")

    def operations(self) -> list[tuple[int, int]]:
        """(BAM operation, length) from the first column to the last.

        Returns
        -------
        list of tuple of int
            Operations are I (1), D (2), = (7) and X (8).

        Examples
        --------
        >>> hit = tropalign.align("MKVLAW", "MKILAW")
        >>> hit.operations()
        [(7, 2), (8, 1), (7, 3)]
        """
        self._require_path("operations")
        table = self.table
        ops = table.cigar_ops[table.cigar_offsets[self.index] : table.cigar_offsets[self.index + 1]]
        return [(op & 15, op >> 4) for op in ops.tolist()]

    def query_text(self) -> str:
        """The query's letters on the strand that was aligned.

        Returns
        -------
        str
            All of them, those beyond the aligned part too.

        Examples
        --------
        >>> hit = tropalign.align("AACGGG", "CCCGTT", strand="both", mode="local")
        >>> hit.strand, hit.query_text()
        (-1, 'CCCGTT')
        """
        queries = self.table.queries
        text = queries.text(int(self.table.query_index[self.index]))
        if self.strand < 0:
            complement = queries.alphabet.complement_table.tobytes()
            text = text.encode("latin-1").translate(complement)[::-1].decode("latin-1")
        return text

    def query_span(self) -> tuple[int, int]:
        """Begin and end of the aligned part within ``query_text()``.

        Returns
        -------
        begin, end : int
            0-based, half-open.

        Examples
        --------
        >>> hit = tropalign.align("MKVLAWHEAG", "AWHEA", mode="local")
        >>> hit.query_span()
        (4, 9)
        """
        begin, end = self.query_start, self.query_end
        if self.strand < 0:
            length = int(self.table.queries.lengths[self.table.query_index[self.index]])
            begin, end = length - end, length - begin
        return begin, end

    def aligned(self) -> tuple[str, str, str]:
        """Gapped query, midline (``|`` equal, ``.`` different, a space beside a gap) and gapped target.

        Returns
        -------
        query, midline, target : str
            Three lines of equal length.

        Examples
        --------
        >>> hit = tropalign.align("MKVLAW", "MKILAW")
        >>> for line in hit.aligned():
        ...     print(line)
        MKVLAW
        ||.|||
        MKILAW
        """
        target = self.table.targets.text(int(self.table.target_index[self.index]))
        return gapped(self.query_text(), self.query_span()[0], target, self.target_start, self.operations())

    def html(self) -> str:
        """The alignment alone, coloured, as lines for a ``<pre>``; empty for lesser depths than "alignment".

        Returns
        -------
        str
            Letters are escaped.

        Examples
        --------
        >>> hit = tropalign.align("MKVLAW", "MKILAW")
        >>> "<span" in hit.html()
        True
        """
        return display.coloured(self)

    def __repr__(self) -> str:
        return display.alignment_title(self)

    def __str__(self) -> str:
        return display.alignment_text(self)

    def _repr_html_(self) -> str:
        return display.alignment_html(self)


def arrays_of(table: AlignmentTable) -> dict[str, NDArray[Any]]:
    """All arrays of a table by the names of its attributes: what it is made of again."""
    arrays = table._row_columns()
    if table.cigar_ops is not None:
        arrays |= {"cigar_ops": table.cigar_ops, "cigar_offsets": table.cigar_offsets}
    return arrays


def empty_table(queries: SequenceBatch, targets: SequenceBatch, depth: str, has_strand: bool = False) -> AlignmentTable:
    """A table without a row."""
    columns: dict[str, Any] = {name: np.zeros(0, np.int32) for name in DEPTH_COLUMNS[depth]}
    if depth == "alignment":
        columns["cigar_ops"], columns["cigar_offsets"] = np.zeros(0, np.uint32), np.zeros(1, np.int64)
    index, score = np.zeros(0, np.int64), np.zeros(0, np.int32)
    strand = np.zeros(0, np.int8) if has_strand else None
    return AlignmentTable(queries, targets, depth, index, index, score, strand, **columns)


def concatenate(tables: Sequence[AlignmentTable]) -> AlignmentTable:
    """One table of the rows of several.

    Raises
    ------
    ValueError
        There is no table, or they are not of the same sequences, depth and strands.
    """
    if not tables:
        raise ValueError("there is no table to concatenate")
    first = tables[0]
    for table in tables:
        if table.queries is not first.queries or table.targets is not first.targets or table.depth != first.depth:
            raise ValueError("tables of other sequences or another depth cannot be concatenated")
        if (table.strand is None) != (first.strand is None):
            raise ValueError("tables with and without strands cannot be concatenated")
    pieces = [table._row_columns() for table in tables]
    columns: dict[str, Any] = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    if first.cigar_ops is not None:
        columns["cigar_ops"] = np.concatenate([table.cigar_ops for table in tables])
        columns["cigar_offsets"] = ragged.joined([table.cigar_offsets for table in tables])
    return AlignmentTable(first.queries, first.targets, first.depth, **columns)
