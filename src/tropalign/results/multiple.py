"""The result of aligning a family: sequences, and the column of each of their residues."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import UsageError, shown
from tropalign.properties import cached_property
from tropalign.results.columns import Chosen, Rows
from tropalign.results.format_names import MultipleFormat
from tropalign.results.multiple_display import block_html, block_text
from tropalign.sequences.alphabet import GAP_LETTERS, Alphabet
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.kinds import alphabet_of_rows

if TYPE_CHECKING:
    import os

    import Bio.Align

#: What stands where a row has no residue.
GAP = ord("-")


@dataclass(frozen=True, eq=False, repr=False)
class MultipleAlignment(Rows[str]):
    """Sequences below one another: a row per sequence, in which each residue has a column.

    ``alignment[k]`` is row k as text, with its gaps; a slice, a mask or indices give those rows, and
    ``alignment[:, 10:60]`` columns of all rows. ``len`` and iteration go by rows.

    Attributes
    ----------
    sequences : SequenceBatch
        The rows without gaps: names, letters as they were written, codes.
    columns : int32, shape (n_residues,)
        Column of each residue of `sequences`, from 0; ascending within a sequence.
    n_columns
        Width of the alignment.
    residue_confidence : float32, shape (n_residues,), or None
        From 0 to 1: the probability that the residue is aligned right with another one of its column.
    column_confidence : float32, shape (n_columns,), or None
        The probability that a pair of residues of the column is aligned right.
    tree
        The guide tree in Newick format, or None, as where some rows were taken out.
    is_node, is_masked : bool, shape (n_columns,), or None
        Of an alignment to a profile HMM: which columns are those of its nodes, between which residues are inserted that
        are not aligned with one another; and which nodes are masked.

    Raises
    ------
    ValueError
        Arrays of another length or kind, or columns that do not ascend within a sequence or lie outside.

    Examples
    --------
    >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MKVILA-"])
    >>> alignment
    MultipleAlignment: 2 protein sequences, 7 columns
    a  MKV-LAW
    b  MKVILA-
    >>> alignment[0], alignment.columns.tolist()
    ('MKV-LAW', [0, 1, 2, 4, 5, 6, 0, 1, 2, 3, 4, 5])
    """

    sequences: SequenceBatch
    columns: NDArray[np.int32]
    n_columns: int
    residue_confidence: NDArray[np.float32] | None = None
    column_confidence: NDArray[np.float32] | None = None
    tree: str | None = None
    is_node: NDArray[np.bool_] | None = None
    is_masked: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.sequences, SequenceBatch) or not self.sequences.has_residues:
            raise ValueError("the sequences of an alignment are a SequenceBatch with its residues")
        n_residues = len(self.sequences.codes)
        self._check("columns", np.int32, n_residues)
        for name, dtype, length in (
            ("residue_confidence", np.float32, n_residues),
            ("column_confidence", np.float32, self.n_columns),
            ("is_node", np.bool_, self.n_columns),
            ("is_masked", np.bool_, self.n_columns),
        ):
            if getattr(self, name) is not None:
                self._check(name, dtype, length)
        if n_residues and not 0 <= int(self.columns.min()) <= int(self.columns.max()) < self.n_columns:
            raise ValueError(f"a residue stands outside the {self.n_columns} columns")
        is_later = np.diff(self.columns) > 0
        begins = self.sequences.offsets[1:-1]
        is_later[begins[(begins > 0) & (begins < n_residues)] - 1] = True
        if not is_later.all():
            raise ValueError("the columns of a sequence's residues have to ascend")

    def _check(self, name: str, dtype: type, length: int) -> None:
        values = getattr(self, name)
        if not isinstance(values, np.ndarray) or values.dtype != dtype or values.shape != (length,):
            raise ValueError(f"{name} has to be an array of {length} {np.dtype(dtype)}")

    @classmethod
    def from_rows(
        cls, names: Iterable[str], rows: Iterable[Any] | NDArray[np.uint8], alphabet: Alphabet | None = None
    ) -> MultipleAlignment:
        """An alignment of rows that are written out with their gaps.

        Parameters
        ----------
        names
            One per row.
        rows
            Texts or bytes of one length, or letters, uint8, shape (n_rows, n_columns). ``-``, ``.`` and ``_`` are gaps.
        alphabet
            Judged by the letters when not given.

        Returns
        -------
        MultipleAlignment
            Letters outside the alphabet keep their letter and have the wildcard's code.

        Raises
        ------
        ValueError
            No rows, rows of different lengths, or another number of names.
        InputError
            Nucleotides and proteins, and no `alphabet`.

        Examples
        --------
        >>> tropalign.MultipleAlignment.from_rows(["x", "y"], [b"AC-GT", b"ACCG."]).columns.tolist()
        [0, 1, 3, 4, 0, 1, 2, 3]
        """
        letters = rows if isinstance(rows, np.ndarray) else _letters(list(rows))
        texts = tuple(names)
        if letters.ndim != 2 or letters.dtype != np.uint8 or len(letters) != len(texts) or not len(texts):
            raise ValueError("an alignment is made of rows of letters (uint8, one row per name)")
        is_residue = ~np.isin(letters, np.frombuffer(GAP_LETTERS.encode(), np.uint8))
        residues = letters[is_residue]
        offsets = np.concatenate([[0], np.cumsum(is_residue.sum(1))]).astype(np.int64)
        alphabet = alphabet_of_rows(texts, np.ascontiguousarray(letters)) if alphabet is None else alphabet
        batch = SequenceBatch(alphabet.encode(residues)[0], offsets, texts, alphabet, residues)
        # Row by row: indices of a whole alignment would take 16 bytes per letter.
        columns = np.empty(len(residues), np.int32)
        for row, begin, end in zip(is_residue, offsets[:-1], offsets[1:], strict=True):
            columns[begin:end] = np.flatnonzero(row)
        return cls(batch, columns, letters.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rows."""
        return self.sequences.names

    @cached_property
    def row_index(self) -> NDArray[np.int64]:
        """Row of each residue, int64, shape (n_residues,)."""
        return np.repeat(np.arange(len(self)), self.sequences.lengths)

    @cached_property
    def letters(self) -> NDArray[np.uint8]:
        """Bytes of the rows, ``-`` where there is a gap, uint8, shape (n_rows, n_columns); made on first use."""
        return self._spread(self.sequences.letters, GAP)

    @cached_property
    def codes(self) -> NDArray[np.uint8]:
        """Codes of the alphabet, 255 where there is a gap, uint8, shape (n_rows, n_columns); made on first use."""
        return self._spread(self.sequences.codes, 255)

    def _spread(self, values: NDArray[np.uint8], fill: int) -> NDArray[np.uint8]:
        out = np.full((len(self), self.n_columns), fill, np.uint8)
        for row, begin, end in zip(out, self.sequences.offsets[:-1], self.sequences.offsets[1:], strict=True):
            row[self.columns[begin:end]] = values[begin:end]
        out.flags.writeable = False
        return out

    def row(self, k: int) -> bytes:
        """Letters of row k with its gaps, without making those of all rows.

        Parameters
        ----------
        k
            The row, from 0; from the end where it is negative.

        Returns
        -------
        bytes

        Raises
        ------
        IndexError
            There is no such row.

        Examples
        --------
        >>> tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MKVILA-"]).row(1)
        b'MKVILA-'
        """
        k = ragged.row_number(k, len(self))
        begin, end = self.sequences.offsets[[k, k + 1]].tolist()
        out = np.full(self.n_columns, GAP, np.uint8)
        out[self.columns[begin:end]] = self.sequences.letters[begin:end]
        return out.tobytes()

    def __len__(self) -> int:
        return len(self.sequences)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self), self.n_columns

    def _item(self, k: int) -> str:
        return self.row(k).decode("latin-1")

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: Chosen | tuple[int | Chosen, slice]) -> MultipleAlignment: ...
    def __getitem__(self, key: int | Chosen | tuple[int | Chosen, slice]) -> str | MultipleAlignment:
        """A row as text by its index; an alignment of some rows, or of some rows and a range of columns."""
        if not isinstance(key, tuple):
            return super().__getitem__(key)
        if len(key) != 2 or not isinstance(key[1], slice):
            raise TypeError("an alignment is sliced by rows, or by rows and a range of columns")
        rows = slice(key[0], None if key[0] == -1 else key[0] + 1) if isinstance(key[0], int) else key[0]
        return super().__getitem__(rows)._of_columns(key[1])

    def take(self, rows: NDArray[Any]) -> MultipleAlignment:
        """The rows at these indices (whole numbers) or where this mask (bool) is true, in that order.

        Parameters
        ----------
        rows
            Indices (whole numbers) or a mask (bool).

        Returns
        -------
        MultipleAlignment
            Of all columns; with the tree where all rows are there.

        Raises
        ------
        IndexError
            A row that there is not, or a mask of another length.

        Examples
        --------
        >>> import numpy as np
        >>> tropalign.MultipleAlignment.from_rows("abc", ["AC", "AG", "AT"]).take(np.array([2, 0]))[0]
        'AT'
        """
        chosen = np.arange(len(self))[ragged.wanted_rows(rows, len(self))]
        places = ragged.chosen(self.sequences.offsets, chosen)[1]
        own = None if self.residue_confidence is None else self.residue_confidence[places]
        tree = self.tree if sorted(chosen.tolist()) == list(range(len(self))) else None
        return dataclasses.replace(
            self, sequences=self.sequences[chosen], columns=self.columns[places], residue_confidence=own, tree=tree
        )

    def _of_columns(self, chosen: slice) -> MultipleAlignment:
        begin, end, step = chosen.indices(self.n_columns)
        if step != 1:
            raise ValueError("columns are taken from a range without steps")
        is_kept = np.zeros(self.n_columns, bool)
        is_kept[begin:end] = True
        return self._of_kept(is_kept)

    def _of_kept(self, is_kept: NDArray[np.bool_]) -> MultipleAlignment:
        """The columns where this is true, without what stands in the others."""
        stays, place = is_kept[self.columns], np.cumsum(is_kept, dtype=np.int32) - 1
        batch, offsets = self.sequences, np.concatenate([[0], np.cumsum(stays)])[self.sequences.offsets]
        cut = SequenceBatch(
            batch.codes[stays], offsets, batch.names, batch.alphabet, batch.letters[stays], batch.descriptions
        )
        return MultipleAlignment(
            cut,
            place[self.columns[stays]].astype(np.int32),
            int(is_kept.sum()),
            None if self.residue_confidence is None else self.residue_confidence[stays],
            tree=self.tree,
            **self._of_each_column(is_kept),
        )

    def _of_each_column(self, chosen: NDArray[np.bool_]) -> dict[str, Any]:
        """What is known of these columns, by its name."""
        known = ((name, getattr(self, name)) for name in ("column_confidence", "is_node", "is_masked"))
        return {name: None if values is None else values[chosen] for name, values in known}

    def slice(self, begin: int, end: int) -> MultipleAlignment:
        """Rows [begin, end) as Python's slices count them; the alignment itself where these are all.

        Parameters
        ----------
        begin, end
            As Python's slices count them.

        Returns
        -------
        MultipleAlignment

        Examples
        --------
        >>> tropalign.MultipleAlignment.from_rows("abc", ["AC", "AG", "AT"]).slice(1, 3).names
        ('b', 'c')
        """
        rows = np.arange(len(self))[begin:end]
        return self if len(rows) == len(self) else self.take(rows)

    def without_empty_columns(self) -> MultipleAlignment:
        """The alignment less the columns in which no row has a residue, as they are left where rows are taken out.

        Returns
        -------
        MultipleAlignment

        Examples
        --------
        >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b", "c"], ["A-C", "A-C", "AGC"])
        >>> alignment[:2].without_empty_columns()[0]
        'AC'
        """
        is_used = np.zeros(self.n_columns, bool)
        is_used[self.columns] = True
        place = np.cumsum(is_used, dtype=np.int32) - 1
        return dataclasses.replace(
            self,
            columns=place[self.columns].astype(np.int32),
            n_columns=int(is_used.sum()),
            **self._of_each_column(is_used),
        )

    def trimmed(self, min_occupancy: float = 0.5) -> MultipleAlignment:
        """The columns in which enough rows have a residue; what stands in the others is left out of the rows.

        Parameters
        ----------
        min_occupancy
            How many rows are enough: their share, from 0 to 1.

        Returns
        -------
        MultipleAlignment
            Of all rows, of which some may be empty then.

        Raises
        ------
        UsageError
            A share below 0 or above 1.

        Examples
        --------
        >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b", "c"], ["ATC-", "A-C-", "A-CG"])
        >>> alignment.trimmed()[0], alignment.trimmed(0.3)[2]
        ('AC', 'A-CG')
        """
        if not isinstance(min_occupancy, (int, float, np.number)) or not 0 <= min_occupancy <= 1:
            given = shown(repr(min_occupancy)[:80])
            raise UsageError(f"min_occupancy {given} is no share of the rows: give a number from 0 to 1")
        n_residues = np.bincount(self.columns, minlength=self.n_columns)
        return self._of_kept(n_residues >= min_occupancy * len(self))

    def __eq__(self, other: object) -> bool:
        """Whether names, letters and columns are the same; confidence and tree aside."""
        if not isinstance(other, MultipleAlignment):
            return NotImplemented
        mine, theirs = self.sequences, other.sequences
        return (
            self.n_columns == other.n_columns
            and mine.names == theirs.names
            and np.array_equal(mine.offsets, theirs.offsets)
            and np.array_equal(mine.letters, theirs.letters)
            and np.array_equal(self.columns, other.columns)
        )

    def __repr__(self) -> str:
        return block_text(self)

    def _repr_html_(self) -> str:
        return block_html(self)

    def to_biopython(self) -> Bio.Align.Alignment:
        """Biopython's Alignment, with the rows as SeqRecords.

        Returns
        -------
        Bio.Align.Alignment
            Column confidence stands in its ``column_annotations``.

        Examples
        --------
        >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MKVILA-"])
        >>> print(alignment.to_biopython()[1])
        MKVILA-
        """
        from Bio.Align import Alignment
        from Bio.Seq import Seq
        from Bio.SeqRecord import SeqRecord

        kind = "DNA" if self.sequences.alphabet.has_strands else "protein"
        descriptions = self.sequences.descriptions or ("",) * len(self)
        records = [
            SeqRecord(
                Seq(self.sequences.text(k)), id=name, name=name, description=text, annotations={"molecule_type": kind}
            )
            for k, (name, text) in enumerate(zip(self.names, descriptions, strict=True))
        ]
        made = Alignment(records, self._coordinates())
        if self.column_confidence is not None:
            made.column_annotations = {"confidence": self.column_confidence.tolist()}
        return made

    def _coordinates(self) -> NDArray[np.int64]:
        """Residues before each border between runs of equal columns, int64, shape (n_rows, n_borders): Biopython's."""
        is_residue = np.zeros(self.shape, bool)
        is_residue[self.row_index, self.columns] = True
        changes = np.flatnonzero((is_residue[:, 1:] != is_residue[:, :-1]).any(0)) + 1
        borders = np.concatenate([[0], changes, [self.n_columns]])
        before = np.concatenate([np.zeros((len(self), 1), np.int64), np.cumsum(is_residue, 1)], 1)
        return before[:, borders]

    def write(self, path: str | os.PathLike[str], format: MultipleFormat | None = None) -> None:
        """Writes the alignment: see `tropalign.write_alignment`.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        format
            By the suffix of the path when not given.

        Raises
        ------
        TropalignError
            A format that does not exist or cannot hold the alignment; a file that cannot be written.

        Examples
        --------
        >>> tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MKVILA-"]).write("-", "fasta")
        >a
        MKV-LAW
        >b
        MKVILA-
        """
        import tropalign  # by its public name: results know nothing of files

        tropalign.write_alignment(self, path, format)


def _letters(rows: list[Any]) -> NDArray[np.uint8]:
    data = [row.encode("latin-1", "replace") if isinstance(row, str) else bytes(row) for row in rows]
    if len({len(row) for row in data}) > 1:
        raise ValueError("the rows of an alignment are equally long")
    return np.frombuffer(b"".join(data), np.uint8).reshape(len(data), len(data[0]) if data else 0)
