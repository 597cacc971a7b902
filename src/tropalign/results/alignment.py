"""The class `Alignment`: one row of an AlignmentTable."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from tropalign.properties import cached_property
from tropalign.results import display
from tropalign.results.gapped import DELETION, INSERTION, gapped, operations_of
from tropalign.results.kept_columns import DEPTH_COLUMNS

if TYPE_CHECKING:
    import Bio.Align

    from tropalign.results.alignments import AlignmentTable
    from tropalign.results.lone_pair import LonePair
    from tropalign.sequences import Alphabet


Number = TypeVar("Number", int, float)


class _Cell(Generic[Number]):
    """Descriptor for a number of an alignment: the row's value in the table column of the same name."""

    def __init__(self, meaning: str) -> None:
        self.__doc__ = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, row: None, owner: type) -> _Cell[Number]: ...
    @overload
    def __get__(self, row: Alignment, owner: type) -> Number: ...
    def __get__(self, row: Alignment | None, owner: type) -> _Cell[Number] | Number:
        if row is None:
            return self
        lone = row._lone
        value = row._of_table(self.name) if lone is None else lone.number(self.name)
        if value is None:
            raise AttributeError(f"Alignment.{self.name} was not computed: ask for a deeper report than {row._depth!r}")
        number: Number = value
        return number


class Alignment:
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

    query_index = _Cell[int]("Which of the table's queries it is.")
    target_index = _Cell[int]("Which of the table's targets it is.")
    score = _Cell[float]("The score, in units of the matrix; an int where no score and no cost has decimals.")
    query_start = _Cell[int]("Where the aligned part of the query begins, 0-based, on its original strand.")
    query_end = _Cell[int]("One past the end of the aligned part of the query.")
    target_start = _Cell[int]("Where the aligned part of the target begins, 0-based.")
    target_end = _Cell[int]("One past the end of the aligned part of the target.")
    n_identical = _Cell[int]("Columns of equal letters.")
    n_similar = _Cell[int]("Columns of letters that score above 0.")
    n_gaps = _Cell[int]("Residues that stand against a gap.")
    n_columns = _Cell[int]("All columns.")

    @classmethod
    def _of_pair(cls, lone: LonePair) -> Alignment:
        """Make the row of a pair that was aligned alone."""
        row = cls.__new__(cls)
        row.__dict__["_lone"] = lone
        return row

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

    def _of_table(self, name: str) -> Any:
        values = getattr(self.table, name)
        return None if values is None else values[self.index].item()

    @property
    def query(self) -> str:
        """Name of the query."""
        if self._lone is not None:
            return self._lone.names[0]
        return self.table.queries.names[int(self.table.query_index[self.index])]

    @property
    def target(self) -> str:
        """Name of the target."""
        if self._lone is not None:
            return self._lone.names[1]
        return self.table.targets.names[int(self.table.target_index[self.index])]

    @property
    def strand(self) -> int:
        """1, or -1 if the query was reverse-complemented."""
        if self._lone is not None:
            return self._lone.strand or 1
        return 1 if self.table.strand is None else int(self.table.strand[self.index])

    @property
    def hsp(self) -> int:
        """Rank among the alignments of its pair, from 1 for the best."""
        return 1 if self._lone is not None or self.table.hsp is None else int(self.table.hsp[self.index])

    @property
    def corrected_score(self) -> float:
        """The score corrected for composition and without masked residues, if requested; otherwise the score."""
        has_scaled = self._lone is None and self.table.corrected_score is not None
        return self._of_table("corrected_score") if has_scaled else self.score

    @property
    def sum_evalue(self) -> float | None:
        """E-value of the set of alignments that this alignment belongs to; None without sum statistics."""
        return None if self._lone is not None or self.table.sum_evalue is None else self._of_table("sum_evalue")

    @property
    def sum_count(self) -> int | None:
        """Number of alignments in the set that this alignment belongs to; None without sum statistics."""
        return None if self._lone is not None or self.table.sum_count is None else self._of_table("sum_count")

    @property
    def identity(self) -> float:
        """Identity by the table's `identity_definition`; 0 for an alignment without aligned residue pairs."""
        if self._lone is None and self.table.identity_definition != "columns":
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
            raise AttributeError(f"Alignment.{name} was not computed: ask for report 'alignment'")

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
        return _coordinates(self)

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
            complement = alphabet.complement_table.tobytes()
            text = text.encode("latin-1").translate(complement)[::-1].decode("latin-1")
        return text

    def _text(self, side: str) -> tuple[str, Alphabet]:
        """Return the characters of the query or the target as they were written, and their alphabet."""
        if self._lone is not None:
            return self._lone.texts[side == "target"], self._lone.alphabet
        batch = self.table.queries if side == "query" else self.table.targets
        return batch.text(self.query_index if side == "query" else self.target_index), batch.alphabet

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
        return display.coloured(self)

    def __repr__(self) -> str:
        return display.alignment_title(self)

    def __str__(self) -> str:
        return display.alignment_text(self)

    def _repr_html_(self) -> str:
        return display.alignment_html(self)


def _coordinates(row: Alignment) -> NDArray[np.int64]:
    """Return positions in the target (first row) and the query (second row) at the ends of each run of columns."""
    places = [(row.target_start, row.query_start if row.strand > 0 else row.query_end)]
    was_paired = False
    for operation, length in row.operations():
        target, query = places[-1]
        is_paired = operation not in (INSERTION, DELETION)
        if is_paired and was_paired:  # equal and different residues form one run
            places.pop()
        was_paired = is_paired
        query += row.strand * length * (operation != DELETION)
        places.append((target + length * (operation != INSERTION), query))
    return np.array(places, np.int64).T.copy()


def biopython_alignment(row: Alignment, records: dict[tuple[str, int], Any] | None = None) -> Any:
    """Return a row as Bio.Align.Alignment; `records` caches the SeqRecords that rows share."""
    from Bio.Align import Alignment as BioAlignment

    made = BioAlignment(
        [_record(row, "target", records), _record(row, "query", records)], np.array(_coordinates(row), int)
    )
    made.score = row.score
    return made


def _record(row: Alignment, side: str, records: dict[tuple[str, int], Any] | None) -> Any:
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord

    key = (side, row.target_index if side == "target" else row.query_index)
    if records is not None and key in records:
        return records[key]
    name = row.target if side == "target" else row.query
    record = SeqRecord(Seq(row._text(side)[0]), id=name, name=name, description="")
    if records is not None:
        records[key] = record
    return record
