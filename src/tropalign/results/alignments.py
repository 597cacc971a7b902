"""The result of aligning pairs: columns, a row a pair."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.results import rows
from tropalign.results.alignment import DELETION, DIFFERENT, EQUAL, INSERTION, Alignment
from tropalign.sequences import SequenceBatch

INDEX_COLUMNS = ("query_index", "target_index")
END_COLUMNS = ("query_start", "query_end", "target_start", "target_end")
COUNT_COLUMNS = ("n_identical", "n_similar", "n_gaps", "n_columns")
#: What each depth has beside indices, score and strand; all int32.
DEPTH_COLUMNS = {"score": (), "ends": END_COLUMNS, "alignment": (*END_COLUMNS, *COUNT_COLUMNS)}

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

#: Rows that a table shows of itself.
SHOWN_ROWS = 10
#: Rows of a batch of the Arrow stream.
ARROW_ROWS = 1 << 20
_ABSENT: Any = None


@dataclass(eq=False, repr=False)
class AlignmentTable:
    """Alignments of pairs, a row a pair.

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
        if self.depth not in DEPTH_COLUMNS:
            raise ValueError(f"depth {self.depth!r} is none of {', '.join(DEPTH_COLUMNS)}")
        n = len(self.score)
        for name in INDEX_COLUMNS:
            self._check(name, np.int64, n)
        for name in ("score", *DEPTH_COLUMNS[self.depth]):
            self._check(name, np.int32, n)
        if self.strand is not None:
            self._check("strand", np.int8, n)
        for index, batch in ((self.query_index, self.queries), (self.target_index, self.targets)):
            if n and not 0 <= int(index.min()) <= int(index.max()) < len(batch):
                raise ValueError(f"an index points outside a batch of {len(batch)} sequences")
        if self.depth == "alignment":
            self._check("cigar_ops", np.uint32, None)
            self._check("cigar_offsets", np.int64, n + 1)
            if self.cigar_offsets[0] != 0 or self.cigar_offsets[-1] != len(self.cigar_ops):
                raise ValueError("cigar_offsets have to begin with 0 and end with the number of cigar_ops")

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
        return self.n_identical / np.maximum(self.n_columns, 1)

    @property
    def similarity(self) -> NDArray[np.float64]:
        """Columns whose letters score above 0, over all columns; 0 for an empty alignment."""
        return self.n_similar / np.maximum(self.n_columns, 1)

    def cigar(self, k: int) -> str:
        """CIGAR of row k with ``=XID``; ``*`` when the alignment is empty."""
        return cigar_text(self.cigar_ops[self.cigar_offsets[k] : self.cigar_offsets[k + 1]])

    def cigars(self) -> list[str]:
        """CIGARs of all rows."""
        text, offsets = self._cigar_column()
        whole, places = text.decode("ascii"), offsets.tolist()
        return [whole[begin:end] for begin, end in pairwise(places)]

    def _cigar_column(self) -> tuple[bytes, Int64]:
        return rows.column_text(rows.cigars(self), len(self))

    def row(self, k: int) -> Alignment:
        """Row k by itself."""
        if not -len(self) <= k < len(self):
            raise IndexError(f"row {k} of {len(self)}")
        return Alignment(self, k % len(self))

    def __getitem__(self, k: int) -> Alignment:
        return self.row(k)

    def __iter__(self) -> Iterator[Alignment]:
        return (self.row(k) for k in range(len(self)))

    def slice(self, begin: int, end: int) -> AlignmentTable:
        """Rows [begin, end), without a copy of the columns."""
        columns = {name: _part(getattr(self, name), begin, end) for name in _row_columns()}
        if self.cigar_ops is not None:
            offsets = self.cigar_offsets[begin : end + 1]
            columns["cigar_ops"] = self.cigar_ops[offsets[0] : offsets[-1]]
            columns["cigar_offsets"] = offsets - offsets[0]
        return AlignmentTable(self.queries, self.targets, self.depth, **columns)

    def take(self, rows: NDArray[Any]) -> AlignmentTable:
        """The rows at these indices (int64) or where this mask (bool) is true, in that order."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        columns: dict[str, Any] = {}
        for name in _row_columns():
            values = getattr(self, name)
            columns[name] = None if values is None else values[rows]
        if self.cigar_ops is not None:
            lengths = np.diff(self.cigar_offsets)[rows]
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            starts = np.repeat(self.cigar_offsets[:-1][rows] - offsets[:-1], lengths)
            columns["cigar_ops"] = self.cigar_ops[starts + np.arange(offsets[-1])]
            columns["cigar_offsets"] = offsets
        return AlignmentTable(self.queries, self.targets, self.depth, **columns)

    def _numbers(self) -> dict[str, NDArray[Any]]:
        """The columns of numbers, by the names that they have in output."""
        out: dict[str, NDArray[Any]] = {}
        if self.strand is not None:
            out["strand"] = self.strand
        out["score"] = self.score
        for name in END_COLUMNS if self.depth != "score" else ():
            out[name] = getattr(self, name)
        if self.depth == "alignment":
            out["identity"], out["similarity"] = self.identity, self.similarity
            out["gaps"], out["columns"] = self.n_gaps, self.n_columns
        return out

    def columns(self) -> dict[str, NDArray[Any]]:
        """Every column by name, as other libraries take them: names, numbers and CIGAR strings."""
        out: dict[str, NDArray[Any]] = {
            "query": np.array(self.queries.names, dtype=object)[self.query_index],
            "target": np.array(self.targets.names, dtype=object)[self.target_index],
            **self._numbers(),
        }
        if self.depth == "alignment":
            out["cigar"] = np.array(self.cigars(), dtype=object)
        return out

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow C stream, which polars, pandas, duckdb and pyarrow read without a copy of the numbers."""
        from nanoarrow.c_array_stream import CArrayStream

        batches = [
            self.slice(begin, min(begin + ARROW_ROWS, len(self)))._arrow_batch()
            for begin in range(0, len(self), ARROW_ROWS)
        ]
        schema = (batches[0] if batches else self._arrow_batch()).schema
        stream = CArrayStream.from_c_arrays(batches, schema, validate=False)
        return stream.__arrow_c_stream__(requested_schema)

    def _arrow_batch(self) -> Any:
        import nanoarrow as na

        types = {"i1": na.int8(), "i4": na.int32(), "f8": na.float64()}
        fields: dict[str, Any] = {}
        arrays: list[Any] = []

        def add_text(name: str, text: bytes, offsets: Int64) -> None:
            fields[name] = na.large_string()
            arrays.append(na.c_array_from_buffers(fields[name], len(self), [None, offsets, text]))

        add_text("query", *rows.column_text(rows.names(self.queries, self.query_index), len(self)))
        add_text("target", *rows.column_text(rows.names(self.targets, self.target_index), len(self)))
        for name, values in self._numbers().items():
            fields[name] = types[values.dtype.str[1:]]
            arrays.append(na.c_array_from_buffers(fields[name], len(self), [None, np.ascontiguousarray(values)]))
        if self.depth == "alignment":
            add_text("cigar", *self._cigar_column())
        return na.c_array_from_buffers(na.struct(fields), len(self), [None], children=arrays)

    def to_pandas(self) -> Any:
        """A pandas DataFrame; the numbers are not copied."""
        import pandas

        return pandas.DataFrame(self.columns(), copy=False)

    def to_polars(self) -> Any:
        """A polars DataFrame; the numbers are not copied."""
        import polars

        return polars.DataFrame(self)

    def _shown(self) -> list[list[str]]:
        """Names of the columns, then the first rows as text."""
        part = self.slice(0, min(SHOWN_ROWS, len(self)))
        columns = part.columns()
        if "cigar" in columns:
            short = [text if len(text) < 24 else text[:20] + " ..." for text in columns["cigar"]]
            columns["cigar"] = np.array(short, object)
        for name in ("identity", "similarity"):
            if name in columns:
                columns[name] = np.array([f"{value:.4f}" for value in columns[name]], object)
        return [list(columns), *([str(column[k]) for column in columns.values()] for k in range(len(part)))]

    def _title(self) -> str:
        one, many = len(self.queries), len(self.targets)
        of = f"{one:,} sequences" if self.queries is self.targets else f"{one:,} queries and {many:,} targets"
        return f"AlignmentTable: {len(self):,} rows, pairs of {of}, depth {self.depth}"

    def __repr__(self) -> str:
        shown = self._shown()
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = [f"<{self._title()}>"]
        for row in shown:
            cells = [
                cell.ljust(width) if name in ("query", "target", "cigar") else cell.rjust(width)
                for name, cell, width in zip(shown[0], row, widths, strict=True)
            ]
            lines.append("  ".join(cells).rstrip())
        if len(self) > SHOWN_ROWS:
            lines.append(f"... and {len(self) - SHOWN_ROWS:,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown = self._shown()
        cells = ["".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) for tag, row in _tagged(shown)]
        more = f"<p>... and {len(self) - SHOWN_ROWS:,} more</p>" if len(self) > SHOWN_ROWS else ""
        table = f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
        details = ""
        if self.depth == "alignment":
            details = "".join(
                f"<details><summary>{html.escape(repr(row))}</summary>"
                f"<pre style='line-height:1.25'>{row.html()}</pre></details>"
                for row in (self.row(k) for k in range(len(shown) - 1))
            )
        return f"<p>{html.escape(self._title())}</p>{table}{more}{details}"


def _tagged(shown: list[list[str]]) -> Iterator[tuple[str, list[str]]]:
    for k, row in enumerate(shown):
        yield ("td" if k else "th"), row


def _row_columns() -> tuple[str, ...]:
    return (*INDEX_COLUMNS, "score", "strand", *END_COLUMNS, *COUNT_COLUMNS)


def _part(values: Any, begin: int, end: int) -> Any:
    return None if values is None else values[begin:end]


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
    columns: dict[str, Any] = {}
    for name in (*_row_columns(), "cigar_ops"):
        values = [getattr(table, name) for table in tables]
        columns[name] = None if values[0] is None else np.concatenate(values)
    if first.cigar_ops is not None:
        lengths = np.concatenate([np.diff(table.cigar_offsets) for table in tables])
        columns["cigar_offsets"] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return AlignmentTable(first.queries, first.targets, first.depth, **columns)


def cigar_text(ops: NDArray[np.uint32]) -> str:
    """BAM-coded operations as text; ``*`` when there are none."""
    return "".join(f"{op >> 4}{'MIDNSHP=X'[op & 15]}" for op in ops.tolist()) or "*"


def cigar_operations(text: str) -> NDArray[np.uint32]:
    """The BAM-coded operations of a CIGAR; none for ``*``. Raises ValueError for another text."""
    import re

    if text == "*":
        return np.zeros(0, np.uint32)
    if not re.fullmatch(r"(?:[0-9]+[MIDNSHP=X])+", text):
        raise ValueError(f"{text!r} is no CIGAR")
    pieces = re.findall(r"([0-9]+)(.)", text)
    return np.array([int(length) << 4 | "MIDNSHP=X".index(letter) for length, letter in pieces], np.uint32)


__all__ = [
    "DELETION",
    "DIFFERENT",
    "EQUAL",
    "INSERTION",
    "Alignment",
    "AlignmentTable",
    "cigar_operations",
    "cigar_text",
    "concatenate",
    "empty_table",
]
