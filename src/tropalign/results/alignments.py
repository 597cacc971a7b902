"""The class `AlignmentTable`, the result of aligning pairs: columns, a row per alignment."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import FrozenInstanceError, dataclass
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import InputError, TropalignWarning, UsageError, shown
from tropalign.properties import cached_property
from tropalign.results import MatrixValue, aligned_pairs, display, rows
from tropalign.results.aligned_pairs import (
    COUNT_COLUMNS,
    DELETION,
    DEPTH_COLUMNS,
    END_COLUMNS,
    INSERTION,
    KEPT_COLUMNS,
    OPTIONAL,
    AlignedPairs,
    Int32,
    Scores,
    axis_of,
    cigar_text,
    cigars,
    gapped,
    identities,
    operations_of,
)
from tropalign.results.columns import Cell, Flat, Row, Table
from tropalign.results.names import AlignmentsFormat
from tropalign.results.output_columns import batches, column_arrays, default_numbers
from tropalign.sequences import Alphabet, SequenceBatch
from tropalign.sequences.alphabet import reverse_complement

if TYPE_CHECKING:
    import Bio.Align


class Alignment(Row):
    """One row of an AlignmentTable: ``print`` shows it as text, a notebook in colour.

    Parameters
    ----------
    table
        The table that contains it.
    index
        Its row in the table, from 0.

    Raises
    ------
    AttributeError
        A requested value is not part of the table's depth.

    Examples
    --------
    >>> hit = tropalign.align("MKVLAW", "MKILAW")
    >>> hit.score, hit.cigar, hit.n_identical
    (32, '2=1X3=', 5)
    """

    __match_args__ = ("table", "index")
    #: Source of the numbers of a pair that was aligned alone; its table is made on request.
    _lone: LonePair | None = None

    def __init__(self, table: AlignmentTable, index: int) -> None:
        self.__dict__.update(table=table, index=index)

    query_index = Cell[int]("Index of the query in the table's queries.")
    target_index = Cell[int]("Index of the target in the table's targets.")
    score = Cell[float]("The score, in units of the matrix; an int if no score or cost has decimals.")
    query_start = Cell[int]("Start of the aligned part of the query, 0-based, on its original strand.")
    query_end = Cell[int]("One past the end of the aligned part of the query.")
    target_start = Cell[int]("Start of the aligned part of the target, 0-based.")
    target_end = Cell[int]("One past the end of the aligned part of the target.")
    n_identical = Cell[int]("Columns of identical residues.")
    n_similar = Cell[int]("Columns with a positive score.")
    n_gaps = Cell[int]("Residues aligned to a gap.")
    n_columns = Cell[int]("Columns of the alignment.")

    @cached_property
    def table(self) -> AlignmentTable:
        """The table that contains this alignment."""
        assert self._lone is not None  # otherwise __init__ received a table
        return self._lone.table()

    @cached_property
    def index(self) -> int:
        """The row in its table, from 0."""
        return 0

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    @property
    def _depth(self) -> str:
        return self.table.depth if self._lone is None else self._lone.depth

    def _value(self, name: str) -> Any:
        """The item of a column of numbers; None if the table lacks it."""
        values = self._lone.number(name) if self._lone is not None else getattr(self.table, name)
        return values[self.index].item() if isinstance(values, np.ndarray) else values

    def _cell(self, column: str) -> Any:
        if (value := self._value(column)) is None:
            raise AttributeError(
                f"Alignment.{column} was not computed: request a more detailed report than {self._depth!r}"
            )
        return value

    def _name(self, side: str) -> str:
        """The name of the query or the target."""
        if self._lone is not None:
            return self._lone.names[side == "target"]
        batch = self.table.queries if side == "query" else self.table.targets
        name: str = batch.names[self._cell(f"{side}_index")]
        return name

    @property
    def query(self) -> str:
        """Name of the query."""
        return self._name("query")

    @property
    def target(self) -> str:
        """Name of the target."""
        return self._name("target")

    @property
    def strand(self) -> int:
        """1, or -1 if the query was reverse-complemented."""
        return self._value("strand") or 1

    @property
    def hsp(self) -> int:
        """Rank among the alignments of its pair, from 1 for the best."""
        return self._value("hsp") or 1

    @property
    def co_optimal(self) -> int | None:
        """Number of all co-optimal alignments of its pair; None without the option `co_optimal`."""
        counts = self.table.slice(self.index, self.index + 1).co_optimal
        return None if counts is None else counts[0]

    @property
    def corrected_score(self) -> float:
        """The score corrected for composition and without masked residues, if requested; otherwise the score."""
        corrected: float | None = self._value("corrected_score")
        return self.score if corrected is None else corrected

    @property
    def sum_evalue(self) -> float | None:
        """E-value of the set of alignments that this alignment belongs to; None without sum statistics."""
        evalue: float | None = self._value("sum_evalue")
        return evalue

    @property
    def n_ignored(self) -> int | None:
        """Columns that identities leave out; None without ``ambiguous="ignore"``."""
        ignored: int | None = self._value("n_ignored")
        return ignored

    @property
    def sum_count(self) -> int | None:
        """Number of alignments in the set that this alignment belongs to; None without sum statistics."""
        count: int | None = self._value("sum_count")
        return count

    @property
    def identity(self) -> float:
        """Identity by the table's `identity_definition`; 0 for an alignment without aligned residue pairs."""
        if self._lone is None and (self.table.identity_definition != "columns" or self.table.n_ignored is not None):
            return float(self.table.slice(self.index, self.index + 1).identity[0])
        return self.n_identical / max(self.n_columns, 1)

    @property
    def similarity(self) -> float:
        """Share of columns whose residues score above 0; 0 for an empty alignment."""
        return self.n_similar / max(self.n_columns, 1)

    @property
    def cigar(self) -> str:
        """CIGAR with ``=XID``; ``*`` if the alignment is empty."""
        self._require_path("cigar")
        return self.table.cigar(self.index) if self._lone is None else str(self._lone.numbers[-1])

    def _require_path(self, name: str) -> None:
        if self._depth != "alignment":
            raise AttributeError(f"Alignment.{name} was not computed: request report 'alignment'")

    def operations(self) -> list[tuple[int, int]]:
        """Return pairs of BAM operation and length, from the first column to the last.

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
        if self._lone is not None:
            return operations_of(self._lone.numbers[-1])
        table = self.table
        ops = table.cigar_ops[table.cigar_offsets[self.index] : table.cigar_offsets[self.index + 1]]
        return [(op & 15, op >> 4) for op in ops.tolist()]

    @property
    def coordinates(self) -> NDArray[np.int64]:
        """Start and end of each run of columns, as in Biopython: int64, shape (2, n_runs + 1).

        Positions in the target are in the first row, those in the query in the second, descending on the minus
        strand.
        """
        places = [(self.target_start, self.query_start if self.strand > 0 else self.query_end)]
        was_paired = False
        for operation, length in self.operations():
            target, query = places[-1]
            is_paired = operation not in (INSERTION, DELETION)
            if is_paired and was_paired:  # equal and different residues form one run
                places.pop()
            was_paired = is_paired
            query += self.strand * length * (operation != DELETION)
            places.append((target + length * (operation != INSERTION), query))
        return np.array(places, np.int64).T.copy()

    def to_biopython(self) -> Bio.Align.Alignment:
        """Return Biopython's Alignment of the full target and the full query, with the score.

        Returns
        -------
        Bio.Align.Alignment
            Its sequences are SeqRecords; its `coordinates` are those of this alignment.

        Raises
        ------
        AttributeError
            The path was not computed.

        Examples
        --------
        >>> print(tropalign.align("MKVLAW", "MKILAW").to_biopython())
        target            0 MKILAW 6
                          0 ||.||| 6
        query             0 MKVLAW 6
        <BLANKLINE>
        """
        return biopython_alignment(self)

    def _content(self) -> tuple[object, ...]:
        """Return names, depth and all numbers: everything except the residues that equal alignments share."""
        numbers = [getattr(self, name) for name in ("score", *DEPTH_COLUMNS[self._depth])]
        return (self.query, self.target, self.strand, *numbers, self.cigar if self._depth == "alignment" else "")

    def __eq__(self, other: object) -> bool:
        """True if names, sequences, strand, all numbers and the path are equal."""
        if not isinstance(other, Alignment):
            return NotImplemented
        return self._content() == other._content() and all(
            self._text(side) == other._text(side) for side in ("query", "target")
        )

    def __hash__(self) -> int:
        return hash(self._content())

    def query_text(self) -> str:
        """Return the query's characters on the aligned strand.

        Returns
        -------
        str
            The full query, including the parts that are not aligned.

        Examples
        --------
        >>> hit = tropalign.align("AACGGG", "CCCGTT", strand="both", mode="local")
        >>> hit.strand, hit.query_text()
        (-1, 'CCCGTT')
        """
        text, alphabet = self._text("query")
        if self.strand < 0:
            letters = np.frombuffer(text.encode("latin-1"), np.uint8)
            text = reverse_complement(letters, np.array([0, len(text)]), alphabet).tobytes().decode("latin-1")
        return text

    def _text(self, side: str) -> tuple[str, Alphabet]:
        """Return the characters of the query or the target as they were written, and their alphabet."""
        if self._lone is not None:
            return self._lone.texts[side == "target"], self._lone.alphabet
        batch = self.table.queries if side == "query" else self.table.targets
        return batch.text(self._cell(f"{side}_index")), batch.alphabet

    def query_span(self) -> tuple[int, int]:
        """Return start and end of the aligned part within ``query_text()``.

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
            length = len(self._text("query")[0])
            begin, end = length - end, length - begin
        return begin, end

    def aligned(self) -> tuple[str, str, str]:
        """Return gapped query, midline (``|`` equal, ``.`` different, a space at a gap) and gapped target.

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
        return gapped(
            self.query_text(), self.query_span()[0], self._text("target")[0], self.target_start, self.operations()
        )

    def html(self) -> str:
        """Return the coloured alignment without a title, as lines for a ``<pre>``; empty for depths below "alignment".

        Returns
        -------
        str
            HTML with escaped characters.

        Examples
        --------
        >>> hit = tropalign.align("MKVLAW", "MKILAW")
        >>> "<span" in hit.html()
        True
        """
        if self._depth != "alignment":
            return ""
        lines = display.coloured(self._blocks(display.HTML_WIDTH, display.HTML_COLUMNS))
        if self.n_columns > display.HTML_COLUMNS:
            lines.append(f"... and {self.n_columns - display.HTML_COLUMNS:,} more columns")
        return "\n".join(lines)

    def _blocks(self, width: int, most: int | None = None) -> list[display.Block]:
        query, middle, target = self.aligned()
        is_minus = self.strand < 0
        before = self.query_end + 1 if is_minus else self.query_start, self.target_start
        lines = query.translate(display.PLAIN), middle, target.translate(display.PLAIN)
        return display.blocks(lines, before, width, step=-1 if is_minus else 1, most=most)

    def __repr__(self) -> str:
        """Return one line with names, score, ends and identity, as far as they were computed."""
        text = f"{shown(self.query)} x {shown(self.target)}: score {self.score}"
        if self.strand < 0:
            text += ", reverse strand"
        if self._depth != "score":
            text += f", query {self.query_start}-{self.query_end}, target {self.target_start}-{self.target_end}"
        if self._depth == "alignment":
            text += f", identity {self.identity:.3f}"
        return text

    def __str__(self) -> str:
        """Return the title, then both sequences with the midline between."""
        if self._depth != "alignment":
            return repr(self)
        cut = self._blocks(display.TEXT_WIDTH)
        return display.pair_text(repr(self), cut, "query", max(self.query_end, self.target_end))

    def _repr_html_(self) -> str:
        return f"{display.PRE}{display.escaped(repr(self))}\n\n{self.html()}</pre>"


def biopython_alignment(row: Alignment, records: dict[tuple[str, int], Any] | None = None) -> Any:
    """Return a row as Bio.Align.Alignment; `records` caches the SeqRecords that rows share."""
    from Bio.Align import Alignment as BioAlignment

    made = BioAlignment(
        [_record(row, "target", records), _record(row, "query", records)], np.array(row.coordinates, int)
    )
    made.score = row.score
    return made


def _record(row: Alignment, side: str, records: dict[tuple[str, int], Any] | None) -> Any:
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord

    key = (side, row._cell(f"{side}_index"))
    if records is not None and key in records:
        return records[key]
    name = row._name(side)
    record = SeqRecord(Seq(row._text(side)[0]), id=name, name=name, description="")
    if records is not None:
        records[key] = record
    return record


class AlignmentTable(Table[Alignment], AlignedPairs):
    """Alignments of pairs, a row per pair, or several rows with `max_hsps` or `co_optimal`.

    ``table[k]`` is one Alignment; a slice, a mask or indices select a table of those rows. ``len``, iteration,
    ``==`` (equal sequences and columns), pandas, polars and every consumer of an Arrow C stream work on it.

    Attributes
    ----------
    queries, targets : SequenceBatch
        The sequences that the indices refer to (one object if a set is aligned with itself).
    depth : {"score", "ends", "alignment"}
        Determines which of the columns below are present; the others are None.
    query_index, target_index : int64, shape (n,)
    score : int32 or float64, shape (n,)
        Floats if a score or gap cost has decimals.
    hsp : int32, shape (n,), or None
        With `max_hsps` or `co_optimal`: rank among the alignments of the pair, from 1 for the best.
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
    n_ignored : int32, shape (n,), or None
        With ``ambiguous="ignore"``: pairs of residues with an N (X in proteins), which do not count in identities.
    cigar_ops : uint32
        ``length << 4 | operation`` as in BAM: I (1) a residue of the query only, D (2) of the target only, = (7) and
        X (8) one of both.
    cigar_offsets : int64, shape (n + 1,)
        Row k's operations are ``cigar_ops[cigar_offsets[k]:cigar_offsets[k + 1]]``, along the target's forward
        strand.
    count_digits : uint8, or None
    count_offsets : int64, shape (n + 1,), or None
        With `co_optimal`: decimal digits of the numbers that the attribute `co_optimal` returns as integers.
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

    #: Declared here so that type checkers suggest `score` for `scores`: they ignore base classes.
    score: Scores

    @property
    def co_optimal(self) -> list[int] | None:
        """Number of all co-optimal alignments of each row's pair, of any size; None without the option `co_optimal`."""
        if self.count_digits is None or self.count_offsets is None:
            return None
        text = self.count_digits.tobytes().decode("ascii")
        return [int(Decimal(text[begin:end])) for begin, end in pairwise(self.count_offsets.tolist())]

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
            raise AttributeError(f"AlignmentTable.{name} was not computed: request report 'alignment'")

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
        text, offsets = rows.column_text(cigars(self), len(self))
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
        return column_arrays(self, names)

    def _batches(self) -> Iterator[dict[str, Flat]]:
        return batches(self)

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
        if values not in get_args(MatrixValue):
            raise UsageError(f"values {values!r} is not one of {', '.join(get_args(MatrixValue))}")
        table = self if self.hsp is None else self.take(self.hsp == 1)
        of_rows: Any = table.score if values == "score" else table.identity
        warn_of_local(table, values, stacklevel=3)
        (queries, rows), (targets, columns) = (aligned_pairs.given(table, side) for side in ("query", "target"))
        made = np.full((len(queries), len(targets)), np.nan)
        made[rows, columns] = of_rows
        is_set = queries is targets and table.query_frames is None
        if is_set:
            made = np.where(np.isnan(made), made.T, made)
            if values != "score":
                np.fill_diagonal(made, 1.0)
        missing = np.isnan(made)
        if is_set:
            np.fill_diagonal(missing, False)
        if missing.any():
            query, target = (int(k) for k in np.argwhere(missing)[0])
            names = f"{shown(queries.names[query])} with {shown(targets.names[target])}"
            raise InputError(
                f"a matrix requires every pair, but {int(missing.sum())} of its cells are empty (the first is "
                f"{names}): omit options that select pairs, and join all tables"
            )
        return 1.0 - made if values == "distance" else made

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
        cells = display.cells(self.slice(0, display.SHOWN_ROWS).columns())
        return display.grid_text(self._title(), cells, len(self))

    def _repr_html_(self) -> str:
        first = self.slice(0, display.SHOWN_ROWS)
        details = ((repr(row), row.html()) for row in (first if self.depth == "alignment" else ()))
        return display.grid_html(self._title(), display.cells(first.columns()), len(self), details)


def warn_of_local(table: AlignmentTable, values: MatrixValue, stacklevel: int = 4) -> None:
    """Warn that a matrix of identities or distances is of local alignments."""
    if values != "score" and table.significance is not None:
        warnings.warn(
            f"values {values!r} of local alignments ignore all unaligned residues: use mode='global'",
            TropalignWarning,
            stacklevel,
        )


def empty_table(
    queries: SequenceBatch, targets: SequenceBatch, depth: str, has_strand: bool = False, has_decimals: bool = False
) -> AlignmentTable:
    """Return a table without rows; with decimals, its scores are floats."""
    absent = tuple(name for name in OPTIONAL if name != "strand" or not has_strand)
    return AlignmentTable(queries, targets, depth, **axis_of(depth, absent, has_decimals).empty())


def concatenate(tables: Sequence[AlignmentTable]) -> AlignmentTable:
    """Concatenate tables; raises ValueError for an empty list, or if sequences, depth or optional columns differ."""
    if not tables:
        raise ValueError("there is no table to concatenate")
    first = tables[0]
    for table in tables:
        if table.queries is not first.queries or table.targets is not first.targets or table.depth != first.depth:
            raise ValueError("tables with different sequences or depths cannot be concatenated")
        for name, words in (
            ("strand", "strands"),
            ("corrected_score", "corrected scores"),
            ("hsp", "alignment numbers (hsp)"),
            ("sum_evalue", "sums"),
            ("count_offsets", "numbers of co-optimal alignments"),
            ("n_ignored", "ignored residues"),
        ):
            if (getattr(table, name) is None) != (getattr(first, name) is None):
                raise ValueError(f"tables with and without {words} cannot be concatenated")
    return first._of_rows(first._axis.joined(tables))


#: Numbers that an engine returns for a pair: those of the depth, in the order of PLACES, then the CIGAR.
Numbers = tuple[Any, ...]
PLACES = {name: k for k, name in enumerate(("score", *END_COLUMNS, *COUNT_COLUMNS))}
#: Indices of query and target in the batch of the two.
INDICES = {"query_index": 0, "target_index": 1}


@dataclass(frozen=True, slots=True)
class LonePair:
    """Result of one pair; names and texts are those of query and target.

    strand: 1, or -1 if the query was reverse-complemented; None if only one strand was aligned.
    """

    numbers: Numbers
    names: tuple[str, str]
    texts: tuple[str, str]
    alphabet: Alphabet
    depth: str
    strand: int | None = None

    def number(self, name: str) -> Any:
        """The value of a table's column; None if the depth lacks it."""
        if name == "strand":
            return self.strand
        place = PLACES.get(name)
        if place is None:
            return INDICES.get(name)
        return self.numbers[place] if place < len(self.numbers) else None

    def alignment(self) -> Alignment:
        """The row of this pair."""
        row = Alignment.__new__(Alignment)
        row.__dict__["_lone"] = self
        return row

    def table(self) -> AlignmentTable:
        """Return a one-row table whose two sequences are in one batch."""
        batch = SequenceBatch.from_strings(self.texts, self.names, self.alphabet)
        columns = columns_of([self.numbers], None if self.strand is None else [self.strand])
        return AlignmentTable(batch, batch, self.depth, np.zeros(1, np.int64), np.ones(1, np.int64), **columns)


def columns_of(rows: Sequence[Numbers], strands: Sequence[int] | None) -> dict[str, Any]:
    """Return the columns of a table of one or more rows of the same depth, without indices."""
    values = list(zip(*rows, strict=True))
    columns: dict[str, Any] = {} if strands is None else {"strand": np.array(strands, np.int8)}
    for column in KEPT_COLUMNS:
        place = PLACES.get(column.name, len(values))
        if place < len(values):
            is_decimal = column.name == "score" and isinstance(values[place][0], float)
            columns[column.name] = np.array(values[place], np.float64 if is_decimal else column.dtype)
    if len(values) > len(PLACES):
        runs = [[length << 4 | operation for operation, length in operations_of(text)] for text in values[-1]]
        columns["cigar_ops"] = np.array([run for row in runs for run in row], np.uint32)
        columns["cigar_offsets"] = np.array([0, *accumulate(map(len, runs))], np.int64)
    return columns
