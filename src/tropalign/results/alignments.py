"""The class `AlignmentTable`, the result of aligning pairs: columns, a row per alignment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.properties import cached
from tropalign.results import MatrixValue, display, export, rows
from tropalign.results.alignment import Alignment, biopython_alignment
from tropalign.results.columns import Axis, Flat, Table, check_column
from tropalign.results.gapped import cigar_text
from tropalign.results.identity import identities
from tropalign.results.kept_columns import DEPTHS, INDEX_COLUMNS, KEPT_COLUMNS, OPTIONAL, SCORES
from tropalign.results.output_columns import Significance, default_numbers
from tropalign.sequences import SequenceBatch

if TYPE_CHECKING:
    import Bio.Align
from tropalign.results.format_names import AlignmentsFormat
from tropalign.sequences.translation import Frames

Int32 = NDArray[np.int32]
Scores = NDArray[np.int32] | NDArray[np.float64]
Int64 = NDArray[np.int64]

_ABSENT: Any = None


@cached
def _axis_of(depth: str, absent: tuple[str, ...] = (), has_decimals: bool = False) -> Axis:
    """Return the arrays of a table of this depth, without absent optional ones."""
    columns: dict[str, type] = dict.fromkeys(INDEX_COLUMNS, np.int64)
    for column in KEPT_COLUMNS:
        if DEPTHS.index(column.depth) <= DEPTHS.index(depth) and column.name not in absent:
            columns[column.name] = np.float64 if column.name in SCORES and has_decimals else column.dtype
    paths = {"cigar_offsets": Axis("cigar_ops", {"cigar_ops": np.uint32})}
    return Axis("rows", columns, paths if depth == "alignment" else {})


@dataclass(eq=False, repr=False)
class AlignmentTable(Table[Alignment]):
    """Alignments of pairs, a row per pair, or several rows with `max_hsps`.

    ``table[k]`` is one Alignment; a slice, a mask or indices select a table of those rows. ``len``, iteration,
    ``==`` (equal sequences and columns), pandas, polars and every consumer of an Arrow C stream work on it.

    Attributes
    ----------
    queries, targets : SequenceBatch
        The sequences that the indices refer to (one object if a set is aligned with itself).
    depth : {"score", "ends", "alignment"}
        How many of the columns below are present; the others are None.
    query_index, target_index : int64, shape (n,)
    score : int32 or float64, shape (n,)
        Floats if a score or gap cost has decimals.
    hsp : int32, shape (n,), or None
        With `max_hsps`: rank among the alignments of the pair, from 1 for the best.
    strand : int8, shape (n,), or None
        With both strands: 1, or -1 if the query was reverse-complemented.
    corrected_score : int32 or float64, shape (n,), or None
        With ``composition="scaled"`` or a mask: the score from which bits and E-values are computed.
    sum_evalue : float64, shape (n,), or None
        With `sum_statistics`: E-value of the set of alignments of its pair that the row belongs to.
    sum_count : int32, shape (n,), or None
        With `sum_statistics`: number of alignments in that set.
    query_start, query_end, target_start, target_end : int32, shape (n,)
        0-based, half-open; query positions are on its original strand.
    n_identical, n_similar, n_gaps, n_columns : int32, shape (n,)
        Columns of equal residues, columns of residues that score above 0, residues aligned to a gap, and all
        columns. With ``ambiguous="match"``, columns of residues that may be the same also count as identical.
    cigar_ops : uint32
        ``length << 4 | operation`` as in BAM: I (1) a residue of the query only, D (2) of the target only, = (7) and
        X (8) one of both.
    cigar_offsets : int64, shape (n + 1,)
        Row k's operations are ``cigar_ops[cigar_offsets[k]:cigar_offsets[k + 1]]``, along the target's forward
        strand.
    significance
        Converts scores to bits and E-values; None outside local mode.
    query_frames, target_frames
        If a side was translated: the nucleotides of each frame. `queries` or `targets` then hold the frames, and the
        attributes count their residues; `columns` and all outputs except the residues count nucleotides.
    identity_definition
        Meaning of `identity`: "columns" by default, or another definition that `align_all` received.

    Raises
    ------
    ValueError
        A column is missing, has another length or type, or points outside its batch.

    Examples
    --------
    >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
    >>> table.score.tolist(), table.cigars()
    ([32, 28, 27], ['2=1X3=', '5=', '1=1X3='])
    """

    _axis: ClassVar[Axis] = _axis_of("alignment")
    _aside: ClassVar[frozenset[str]] = frozenset({"significance", "query_frames", "target_frames"})

    queries: SequenceBatch
    targets: SequenceBatch
    depth: str
    query_index: Int64
    target_index: Int64
    score: Scores
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
    significance: Significance | None = None
    query_frames: Frames | None = None
    target_frames: Frames | None = None
    corrected_score: Scores | None = None
    hsp: Int32 | None = None
    sum_evalue: NDArray[np.float64] | None = None
    sum_count: Int32 | None = None
    identity_definition: str = "columns"

    def __post_init__(self) -> None:
        if self.depth not in DEPTHS:
            raise ValueError(f"depth {self.depth!r} is none of {', '.join(DEPTHS)}")
        has_decimals = getattr(self.score, "dtype", None) == np.float64
        absent = tuple(name for name in OPTIONAL if getattr(self, name) is None)
        axis = _axis_of(self.depth, absent, has_decimals)
        for name in ("score", *axis.columns, *axis.runs, "cigar_ops") if axis.runs else ("score", *axis.columns):
            if getattr(self, name) is None:
                raise ValueError(f"depth {self.depth!r} needs the column {name}")
        check_column("score", self.score, axis.columns["score"])
        axis.check(self, len(self.score))
        for index, batch in ((self.query_index, self.queries), (self.target_index, self.targets)):
            # When shards are merged, a batch may be reduced to its names, so only these are required.
            if not isinstance(batch, SequenceBatch) and not hasattr(batch, "names"):
                raise ValueError(f"queries and targets have to be SequenceBatches, not a {type(batch).__name__}")
            if len(index) and not 0 <= int(index.min()) <= int(index.max()) < len(batch):
                raise ValueError(f"an index points outside a batch of {len(batch)} sequences")

    def __len__(self) -> int:
        return len(self.score)

    @property
    def identity(self) -> NDArray[np.float64]:
        """Identity by `identity_definition`; 0 for an alignment without aligned residue pairs."""
        self._require(self.n_identical, "identity")
        return identities(self, self.identity_definition)

    @property
    def similarity(self) -> NDArray[np.float64]:
        """Share of columns whose residues score above 0; 0 for an empty alignment."""
        self._require(self.n_similar, "similarity")
        return self.n_similar / np.maximum(self.n_columns, 1)

    def _require(self, counts: Int32, name: str) -> None:
        if counts is None:
            raise AttributeError(f"AlignmentTable.{name} was not computed: ask for report 'alignment'")

    def cigar(self, k: int) -> str:
        """Return the CIGAR of row k with ``=XID``; ``*`` if the alignment is empty.

        Parameters
        ----------
        k
            The row, from 0; negative numbers count from the end.

        Returns
        -------
        str
            CIGAR along the target's forward strand.

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
        """Return the CIGARs of all rows.

        Returns
        -------
        list of str
            CIGARs in the order of the rows.

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
        """Return a single row.

        Parameters
        ----------
        k
            The row, from 0; negative numbers count from the end.

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

    def numbers(self) -> dict[str, NDArray[Any]]:
        """Return the numeric columns by their names in output.

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
        return default_numbers(self)

    def columns(self, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
        """Return columns by their names in output, for other libraries: names, numbers and CIGARs.

        Parameters
        ----------
        names
            Columns to return, from those that ``tropalign pairs --columns help`` lists; by default those of the
            table.

        Returns
        -------
        dict of str to array
            An array of shape (n,) per column, under tropalign's name if another program's name was given.

        Raises
        ------
        AttributeError
            The table is not deep enough.
        UsageError
            A column does not exist or is requested twice, or bits or E-values of alignments that are not local.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> table.columns()["score"].tolist()
        [32, 28, 27]
        >>> table.columns(["target", "query_coverage", "gap_openings"])["query_coverage"].tolist()
        [1.0, 0.833..., 0.833...]
        """
        return export.column_arrays(self, names)

    def _batches(self) -> Iterator[dict[str, Flat]]:
        return export.batches(self)

    def matrix(self, values: MatrixValue = "score") -> NDArray[np.float64]:
        """Return the pairs as a matrix: the best alignment of each pair, and both triangles for a set.

        Parameters
        ----------
        values : {"score", "identity", "distance"}
            Distance is 1 - identity.

        Returns
        -------
        float64, shape (n_queries, n_targets)
            The diagonal of a set is 1 for identities, 0 for distances, and nan for scores.

        Raises
        ------
        UsageError
            `values` is not one of these.
        InputError
            A pair has no row.
        AttributeError
            The identity was not computed.

        Warns
        -----
        TropalignWarning
            Identities or distances of local alignments, which ignore residues that do not align.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"], mode="global")
        >>> table.matrix("distance").round(2).tolist()
        [[0.0, 0.17, 0.17], [0.17, 0.0, 0.33], [0.17, 0.33, 0.0]]
        """
        return export.matrix(self, values)

    def write(self, path: str | os.PathLike[str], format: AlignmentsFormat | None = None, **options: Any) -> None:
        """Write the rows in any format of the command line: see `write_alignments`, which also accepts several tables.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        format
            Name of the format; by default, the suffix of the path decides.
        **options
            Options of `write_alignments`.

        Raises
        ------
        UsageError, InputError, ResourceError
            See `write_alignments`.

        Examples
        --------
        >>> (table,) = tropalign.align_all({"a": "MKVLAW", "b": "MKILAW"})
        >>> table.write("-", "paf")
        a	6	0	6	+	b	6	0	6	5	6	255	AS:i:32	cg:Z:2=1X3=	NM:i:1	de:f:0.1667	cs:Z::2*iv:3
        """
        import tropalign  # through the public name: results do not depend on formats

        tropalign.write_alignments(self, path, format, **options)

    def to_biopython(self) -> Iterator[Bio.Align.Alignment]:
        """Return an iterator over the rows as Biopython's Alignments.

        Returns
        -------
        iterator of Bio.Align.Alignment
            Like `Alignment.to_biopython`; rows of one sequence share its SeqRecord.

        Examples
        --------
        >>> (table,) = tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])
        >>> [alignment.score for alignment in table.to_biopython()]
        [32, 28, 27]
        """
        records: dict[tuple[str, int], Any] = {}
        return (biopython_alignment(row, records) for row in self)

    def _title(self) -> str:
        one, many = len(self.queries), len(self.targets)
        of = f"{one:,} sequences" if self.queries is self.targets else f"{one:,} queries and {many:,} targets"
        return f"AlignmentTable: {len(self):,} rows, pairs of {of}, depth {self.depth}"

    def __repr__(self) -> str:
        return display.table_text(self)

    def _repr_html_(self) -> str:
        return display.table_html(self)


def arrays_of(table: AlignmentTable) -> dict[str, NDArray[Any]]:
    """Return all arrays of a table by attribute name, from which it can be rebuilt."""
    names = (*AlignmentTable._axis.columns, "cigar_ops", "cigar_offsets")
    return {name: values for name in names if (values := getattr(table, name)) is not None}


def empty_table(
    queries: SequenceBatch, targets: SequenceBatch, depth: str, has_strand: bool = False, has_decimals: bool = False
) -> AlignmentTable:
    """Return a table without rows; with decimals, its scores are floats."""
    absent = tuple(name for name in OPTIONAL if name != "strand" or not has_strand)
    return AlignmentTable(queries, targets, depth, **_axis_of(depth, absent, has_decimals).empty())


def concatenate(tables: Sequence[AlignmentTable]) -> AlignmentTable:
    """Concatenate tables; raises ValueError for an empty list, or if sequences, depth or optional columns differ."""
    if not tables:
        raise ValueError("there is no table to concatenate")
    first = tables[0]
    for table in tables:
        if table.queries is not first.queries or table.targets is not first.targets or table.depth != first.depth:
            raise ValueError("tables of other sequences or another depth cannot be concatenated")
        for name, words in (
            ("strand", "strands"),
            ("corrected_score", "scaled scores"),
            ("hsp", "numbers (hsp)"),
            ("sum_evalue", "sums"),
        ):
            if (getattr(table, name) is None) != (getattr(first, name) is None):
                raise ValueError(f"tables with and without {words} cannot be concatenated")
    return first._of_rows(first._axis.joined(tables))


__all__ = ["Alignment", "AlignmentTable", "arrays_of", "concatenate", "empty_table"]
