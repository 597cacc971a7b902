"""The result of aligning pairs: columns, and one row as an alignment that people can read."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.sequences import SequenceBatch
from tropalign.sequences.alphabet import COMPLEMENT_LETTERS

OPERATIONS = "MIDNSHP=X"
INSERTION, DELETION, EQUAL, DIFFERENT = 1, 2, 7, 8

END_COLUMNS = ("query_start", "query_end", "target_start", "target_end")
COUNT_COLUMNS = ("n_identical", "n_similar", "n_gaps", "n_columns")

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


def _none() -> Any:
    return None


@dataclass(eq=False)
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
        ``length << 4 | operation`` as in BAM: I (1) a residue of the query only, D (2) of the target only, = (7), X (8).
    cigar_offsets : int64, shape (n + 1,)
        Row k's operations are ``cigar_ops[cigar_offsets[k]:cigar_offsets[k + 1]]``, along the target's forward strand.
    """

    queries: SequenceBatch
    targets: SequenceBatch
    depth: str
    query_index: Int64
    target_index: Int64
    score: Int32
    strand: NDArray[np.int8] | None = None
    query_start: Int32 = field(default_factory=_none)
    query_end: Int32 = field(default_factory=_none)
    target_start: Int32 = field(default_factory=_none)
    target_end: Int32 = field(default_factory=_none)
    n_identical: Int32 = field(default_factory=_none)
    n_similar: Int32 = field(default_factory=_none)
    n_gaps: Int32 = field(default_factory=_none)
    n_columns: Int32 = field(default_factory=_none)
    cigar_ops: NDArray[np.uint32] = field(default_factory=_none)
    cigar_offsets: Int64 = field(default_factory=_none)

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
        return [self.cigar(k) for k in range(len(self))]

    def row(self, k: int) -> Alignment:
        """Row k by itself."""
        if not -len(self) <= k < len(self):
            raise IndexError(f"row {k} of {len(self)}")
        return Alignment(self, k % len(self))

    def __getitem__(self, k: int) -> Alignment:
        return self.row(k)

    def __iter__(self) -> Iterator[Alignment]:
        return (self.row(k) for k in range(len(self)))

    def take(self, rows: NDArray[Any]) -> AlignmentTable:
        """The rows at these indices (int64) or where this mask (bool) is true, in that order."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        columns: dict[str, Any] = {}
        for name in ("query_index", "target_index", "score", "strand", *END_COLUMNS, *COUNT_COLUMNS):
            values = getattr(self, name)
            columns[name] = None if values is None else values[rows]
        if self.cigar_ops is not None:
            lengths = np.diff(self.cigar_offsets)[rows]
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            starts = np.repeat(self.cigar_offsets[:-1][rows] - offsets[:-1], lengths)
            columns["cigar_ops"] = self.cigar_ops[starts + np.arange(offsets[-1])]
            columns["cigar_offsets"] = offsets
        return AlignmentTable(self.queries, self.targets, self.depth, **columns)

    def columns(self) -> dict[str, Any]:
        """Every column by name, as other libraries take them: names, numbers and CIGAR strings."""
        out: dict[str, Any] = {
            "query": np.array(self.queries.names, dtype=object)[self.query_index],
            "target": np.array(self.targets.names, dtype=object)[self.target_index],
            "score": self.score,
        }
        if self.strand is not None:
            out["strand"] = self.strand
        for name in END_COLUMNS if self.depth != "score" else ():
            out[name] = getattr(self, name)
        if self.depth == "alignment":
            out["identity"], out["similarity"] = self.identity, self.similarity
            out["gaps"], out["columns"] = self.n_gaps, self.n_columns
            out["cigar"] = np.array(self.cigars(), dtype=object)
        return out

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow C stream, which polars, pandas, duckdb and pyarrow read without a copy of the numbers."""
        import nanoarrow as na

        types = {"O": na.string(), "i1": na.int8(), "i4": na.int32(), "i8": na.int64(), "f8": na.float64()}
        arrays, fields = [], {}
        for name, values in self.columns().items():
            kind = types["O" if values.dtype == object else values.dtype.str[1:]]
            fields[name] = kind
            values = values.tolist() if values.dtype == object else np.ascontiguousarray(values)
            arrays.append(na.c_array(values, kind))
        table = na.c_array_from_buffers(na.struct(fields), len(self), [None], children=arrays)
        return na.c_array_stream(table).__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.columns())

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        lines = [f"<AlignmentTable: {len(self)} rows, depth {self.depth}>"]
        lines += [repr(self.row(k)) for k in range(min(5, len(self)))]
        return "\n  ".join(lines + ["..."] * (len(self) > 5))

    def _repr_html_(self) -> str:
        return "".join(row._repr_html_() for row in (self.row(k) for k in range(min(10, len(self)))))


def concatenate(tables: Sequence[AlignmentTable]) -> AlignmentTable:
    """One table of the rows of several (of the same sequences and depth)."""
    first = tables[0]
    columns: dict[str, Any] = {}
    for name in ("query_index", "target_index", "score", "strand", *END_COLUMNS, *COUNT_COLUMNS, "cigar_ops"):
        values = [getattr(table, name) for table in tables]
        columns[name] = None if values[0] is None else np.concatenate(values)
    if first.cigar_ops is not None:
        lengths = np.concatenate([np.diff(table.cigar_offsets) for table in tables])
        columns["cigar_offsets"] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return AlignmentTable(first.queries, first.targets, first.depth, **columns)


def cigar_text(ops: NDArray[np.uint32]) -> str:
    """BAM-coded operations as text; ``*`` when there are none."""
    return "".join(f"{op >> 4}{OPERATIONS[op & 15]}" for op in ops.tolist()) or "*"


@dataclass(frozen=True, eq=False)
class Alignment:
    """One row of an AlignmentTable: ``print`` shows it as an alignment."""

    table: AlignmentTable
    index: int

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        values = getattr(self.table, name)
        if values is None:
            raise AttributeError(f"{name} was not computed: ask for a deeper report than {self.table.depth!r}")
        return values[self.index].item()

    @property
    def query(self) -> str:
        """Name of the query."""
        return self.table.queries.names[self.table.query_index[self.index]]

    @property
    def target(self) -> str:
        """Name of the target."""
        return self.table.targets.names[self.table.target_index[self.index]]

    @property
    def cigar(self) -> str:
        """CIGAR with ``=XID``."""
        return self.table.cigar(self.index)

    def operations(self) -> list[tuple[int, int]]:
        """(BAM operation, length) from the first column to the last."""
        table = self.table
        ops = table.cigar_ops[table.cigar_offsets[self.index] : table.cigar_offsets[self.index + 1]]
        return [(op & 15, op >> 4) for op in ops.tolist()]

    def query_text(self) -> str:
        """The query's letters on the strand that was aligned."""
        text = self.table.queries.text(int(self.table.query_index[self.index]))
        if self.table.strand is not None and self.table.strand[self.index] < 0:
            text = text.encode("latin-1").translate(COMPLEMENT_LETTERS)[::-1].decode("latin-1")
        return text

    def query_span(self) -> tuple[int, int]:
        """Begin and end of the aligned part within ``query_text()``."""
        begin, end = self.query_start, self.query_end
        if self.table.strand is not None and self.table.strand[self.index] < 0:
            length = int(self.table.queries.lengths[self.table.query_index[self.index]])
            begin, end = length - end, length - begin
        return begin, end

    def aligned(self) -> tuple[str, str, str]:
        """Gapped query, midline (``|`` equal, space else) and gapped target."""
        query, target = self.query_text(), self.table.targets.text(int(self.table.target_index[self.index]))
        i, j = self.query_span()[0], self.target_start
        rows: tuple[list[str], list[str], list[str]] = ([], [], [])
        for operation, length in self.operations():
            takes_query, takes_target = operation != DELETION, operation != INSERTION
            rows[0].append(query[i : i + length] if takes_query else "-" * length)
            rows[1].append(("|" if operation == EQUAL else " ") * length)
            rows[2].append(target[j : j + length] if takes_target else "-" * length)
            i += length * takes_query
            j += length * takes_target
        return "".join(rows[0]), "".join(rows[1]), "".join(rows[2])

    def __repr__(self) -> str:
        text = f"{self.query} x {self.target}: score {self.score}"
        if self.table.depth != "score":
            text += f", query {self.query_start}-{self.query_end}, target {self.target_start}-{self.target_end}"
        if self.table.depth == "alignment":
            text += f", identity {self.identity:.3f}"
        return text

    def __str__(self) -> str:
        if self.table.depth != "alignment":
            return repr(self)
        top, middle, bottom = self.aligned()
        blocks = [
            f"query  {top[k : k + 60]}\n       {middle[k : k + 60]}\ntarget {bottom[k : k + 60]}"
            for k in range(0, len(top), 60)
        ]
        return "\n\n".join([repr(self), *blocks])

    def _repr_html_(self) -> str:
        if self.table.depth != "alignment":
            return f"<pre>{html.escape(repr(self))}</pre>"
        top, middle, bottom = self.aligned()
        lines = []
        for k in range(0, len(top), 80):
            for row in (top, bottom):
                cells = [
                    f'<span style="background:{"#b7e1cd" if m == "|" else "#f4c7c3" if c == "-" else "none"}">'
                    f"{html.escape(c)}</span>"
                    for c, m in zip(row[k : k + 80], middle[k : k + 80], strict=True)
                ]
                lines.append("".join(cells))
            lines.append("")
        return f"<pre>{html.escape(repr(self))}\n" + "\n".join(lines) + "</pre>"
