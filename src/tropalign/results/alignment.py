"""One aligned pair: a row of an AlignmentTable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from tropalign.results import display
from tropalign.results.cigar import gapped

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable


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
