"""The class `MultipleAlignment`: sequences, the column of each of their residues, and shares of gaps per column."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import UsageError, named, shown
from tropalign.properties import cached, cached_property
from tropalign.results.columns import Chosen, Rows
from tropalign.results.display import PLAIN, PRE, escaped
from tropalign.results.names import MultipleFormat
from tropalign.sequences.alphabet import GAP_LETTERS, Alphabet
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.kinds import alphabet_of_rows

if TYPE_CHECKING:
    import os

    import Bio.Align

    from tropalign.results.differences import Difference

#: Differences of shares that are rounding errors: 0.07 of 100 rows is 7 rows.
ROUNDING = 1e-9


class ColumnShares(NamedTuple):
    """Measures of each column, from 0 to 1; float64, shape (n_columns,).

    occupancy: share of the rows that have a residue. gaps: share of the rows that have a gap or an unknown residue (X,
    N). entropy: Shannon entropy of the unambiguous residues as a share of the largest possible one, log 20 of proteins
    and log 4 of nucleotides; 0 for a column without them.
    """

    occupancy: NDArray[np.float64]
    gaps: NDArray[np.float64]
    entropy: NDArray[np.float64]


def column_shares(rows: SequenceBatch, columns: NDArray[np.int32], n_columns: int) -> ColumnShares:
    """Return occupancy, gaps and entropy of each column of an alignment, given as in `MultipleAlignment`."""
    n_rows, alphabet, codes = len(rows), rows.alphabet, rows.codes
    n_codes = len(alphabet.letters)
    counts = np.bincount(columns.astype(np.int64) * n_codes + codes, minlength=n_columns * n_codes)
    counts = counts.reshape(n_columns, n_codes)
    n_residues = counts.sum(1)
    n_unknown = counts[:, alphabet.letters.index(alphabet.wildcard)]
    states = alphabet.states or alphabet.letters.replace(alphabet.wildcard, "")
    certain = counts[:, [alphabet.letters.index(letter) for letter in states]]
    shares = certain / np.maximum(certain.sum(1, keepdims=True), 1)
    logarithms = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy = np.maximum(-(shares * logarithms).sum(1), 0.0) / np.log(len(states))
    return ColumnShares(n_residues / n_rows, 1 - (n_residues - n_unknown) / n_rows, entropy)


def kept_columns(
    shares: ColumnShares, min_occupancy: float = 0.0, max_gaps: float = 1.0, max_entropy: float = 1.0
) -> NDArray[np.bool_]:
    """Return a mask of the columns within the thresholds. Raises UsageError if one is not a share.

    >>> shares = ColumnShares(np.array([0.5, 1.0]), np.array([0.5, 0.0]), np.array([0.0, 0.7]))
    >>> kept_columns(shares, 0.6).tolist(), kept_columns(shares, max_entropy=0.5).tolist()
    ([False, True], [True, False])
    """
    for name, value in (("min_occupancy", min_occupancy), ("max_gaps", max_gaps), ("max_entropy", max_entropy)):
        if not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
            given = shown(repr(value)[:80])
            raise UsageError(f"{named(name)} {given} is not a fraction: give a number from 0 to 1")
    is_kept: NDArray[np.bool_] = shares.occupancy >= min_occupancy - ROUNDING
    return is_kept & (shares.gaps <= max_gaps + ROUNDING) & (shares.entropy <= max_entropy + ROUNDING)


#: Character of a gap.
GAP = ord("-")


@dataclass(frozen=True, eq=False, repr=False)
class MultipleAlignment(Rows[str]):
    """Aligned sequences: a row per sequence, in which each residue has a column.

    ``alignment[k]`` is row k as text, with gaps; a slice, a mask or indices select rows, and ``alignment[:, 10:60]``
    or ``alignment[:, mask]`` selects columns of all rows. ``alignment[:, k]`` is column k as text. ``len`` and
    iteration are by row; ``+`` joins the columns of two alignments.

    Attributes
    ----------
    sequences : SequenceBatch
        The rows without gaps: names, characters as they were written, codes.
    columns : int32, shape (n_residues,)
        Column of each residue of `sequences`, from 0; ascending within a sequence.
    n_columns
        Width of the alignment.
    residue_confidence : float32, shape (n_residues,), or None
        From 0 to 1: the probability that the residue is aligned correctly with another residue of its column.
    column_confidence : float32, shape (n_columns,), or None
        The probability that a pair of residues of the column is aligned correctly.
    tree
        The guide tree in Newick format, or None, for example after selecting some rows.
    is_node, is_masked : bool, shape (n_columns,), or None
        For an alignment to a profile HMM: columns of its nodes, and masked nodes. Residues in other columns are
        insertions that are not aligned with each other.

    Raises
    ------
    ValueError
        Arrays of another length or type, or columns that do not ascend within a sequence or lie outside.

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
            raise ValueError("the sequences of an alignment must be a SequenceBatch with residues")
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
            raise ValueError(f"a residue is outside the {self.n_columns} columns")
        is_later = np.diff(self.columns) > 0
        begins = self.sequences.offsets[1:-1]
        is_later[begins[(begins > 0) & (begins < n_residues)] - 1] = True
        if not is_later.all():
            raise ValueError("the columns of a sequence's residues must ascend")

    def _check(self, name: str, dtype: type, length: int) -> None:
        values = getattr(self, name)
        if not isinstance(values, np.ndarray) or values.dtype != dtype or values.shape != (length,):
            raise ValueError(f"{name} must be an array of {length} {np.dtype(dtype)}")

    @classmethod
    def from_rows(
        cls, names: Iterable[str], rows: Iterable[Any] | NDArray[np.uint8], alphabet: Alphabet | None = None
    ) -> MultipleAlignment:
        """Make an alignment from rows written with gaps.

        Parameters
        ----------
        names
            One name per row.
        rows
            Texts or bytes of equal length, or characters, uint8, shape (n_rows, n_columns). ``-``, ``.`` and ``_``
            are gaps.
        alphabet
            Guessed from the residues by default.

        Returns
        -------
        MultipleAlignment
            Characters outside the alphabet are kept and get the wildcard's code.

        Raises
        ------
        ValueError
            No rows, rows of different lengths, or another number of names.
        InputError
            Nucleotides mixed with proteins, without `alphabet`.

        Examples
        --------
        >>> tropalign.MultipleAlignment.from_rows(["x", "y"], [b"AC-GT", b"ACCG."]).columns.tolist()
        [0, 1, 3, 4, 0, 1, 2, 3]
        """
        letters = rows if isinstance(rows, np.ndarray) else _letters(list(rows))
        texts = tuple(names)
        if letters.ndim != 2 or letters.dtype != np.uint8 or len(letters) != len(texts) or not len(texts):
            raise ValueError("an alignment must be given as rows of letters (uint8, one row per name)")
        is_residue = ~np.isin(letters, np.frombuffer(GAP_LETTERS.encode(), np.uint8))
        residues = letters[is_residue]
        offsets = np.concatenate([[0], np.cumsum(is_residue.sum(1))]).astype(np.int64)
        alphabet = alphabet_of_rows(texts, np.ascontiguousarray(letters)) if alphabet is None else alphabet
        batch = SequenceBatch(alphabet.encode(residues)[0], offsets, texts, alphabet, residues)
        # Row by row: indices of a whole alignment would take 16 bytes per residue.
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
        """Bytes of the rows, ``-`` at gaps, uint8, shape (n_rows, n_columns); made on first use."""
        return self._spread(self.sequences.letters, GAP)

    @cached_property
    def codes(self) -> NDArray[np.uint8]:
        """Codes of the alphabet, 255 at gaps, uint8, shape (n_rows, n_columns); made on first use."""
        return self._spread(self.sequences.codes, 255)

    def _spread(self, values: NDArray[np.uint8], fill: int) -> NDArray[np.uint8]:
        out = np.full((len(self), self.n_columns), fill, np.uint8)
        for row, begin, end in zip(out, self.sequences.offsets[:-1], self.sequences.offsets[1:], strict=True):
            row[self.columns[begin:end]] = values[begin:end]
        out.flags.writeable = False
        return out

    def row(self, k: int) -> bytes:
        """Return row k with gaps, without creating the other rows.

        Parameters
        ----------
        k
            The row, from 0; negative numbers count from the end.

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
    def __getitem__(self, key: int | tuple[int | Chosen, int]) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, key: Chosen | tuple[int | Chosen, slice | NDArray[np.bool_]]) -> MultipleAlignment: ...
    def __getitem__(
        self, key: int | Chosen | tuple[int | Chosen, int | slice | NDArray[np.bool_]]
    ) -> str | MultipleAlignment:
        """Return a row or column as text by its index, or an alignment of some rows, or of some rows and columns."""
        if not isinstance(key, tuple):
            return super().__getitem__(key)
        last: Any = key[1] if len(key) == 2 else None
        if isinstance(last, int | np.integer):
            k = ragged.row_number(int(last), self.n_columns)
            return "".join(row[0] for row in self[key[0], k : k + 1])
        is_mask = isinstance(last, np.ndarray) and last.dtype == np.bool_ and last.shape == (self.n_columns,)
        if not isinstance(last, slice) and not is_mask:
            raise TypeError(
                "an alignment can be sliced by rows, or by rows and a column, a range of columns or a mask of them"
            )
        rows = slice(key[0], None if key[0] == -1 else key[0] + 1) if isinstance(key[0], int) else key[0]
        chosen = super().__getitem__(rows)
        if not isinstance(last, slice):
            return chosen._of_kept(last)
        begin, end, step = last.indices(chosen.n_columns)
        if step != 1:
            raise ValueError("a range of columns must have step 1")
        is_kept = np.zeros(chosen.n_columns, bool)
        is_kept[begin:end] = True
        return chosen._of_kept(is_kept)

    def take(self, rows: NDArray[Any]) -> MultipleAlignment:
        """Return the rows at these indices (integers) or in this mask (bool), in that order.

        Parameters
        ----------
        rows
            Indices (integers) or a mask (bool).

        Returns
        -------
        MultipleAlignment
            All columns are kept; the tree only if all rows are.

        Raises
        ------
        IndexError
            A row does not exist, or the mask has another length.

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

    def _of_kept(self, is_kept: NDArray[np.bool_]) -> MultipleAlignment:
        """Return the columns of this mask; residues in other columns are removed."""
        stays, place = is_kept[self.columns], np.cumsum(is_kept, dtype=np.int32) - 1
        batch, before = self.sequences, np.zeros(len(stays) + 1, np.int64 if len(stays) >> 31 else np.int32)
        np.cumsum(stays, out=before[1:])
        offsets = before[self.sequences.offsets].astype(np.int64)
        del before
        cut = SequenceBatch(
            batch.codes[stays], offsets, batch.names, batch.alphabet, batch.letters[stays], batch.descriptions
        )
        return MultipleAlignment(
            cut,
            place[self.columns[stays]],
            int(is_kept.sum()),
            None if self.residue_confidence is None else self.residue_confidence[stays],
            tree=self.tree,
            **self._of_each_column(is_kept),
        )

    def _of_each_column(self, chosen: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the per-column attributes of these columns, by name."""
        known = ((name, getattr(self, name)) for name in ("column_confidence", "is_node", "is_masked"))
        return {name: None if values is None else values[chosen] for name, values in known}

    def slice(self, begin: int, end: int) -> MultipleAlignment:
        """Return rows [begin, end); the alignment itself if these are all rows.

        Parameters
        ----------
        begin, end
            Bounds as in Python's slices.

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
        """Return the alignment without columns in which no row has a residue, such as remain after selecting rows.

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

    def trimmed(
        self, min_occupancy: float = 0.5, *, max_gaps: float = 1.0, max_entropy: float = 1.0
    ) -> MultipleAlignment:
        """Return the columns within these thresholds; residues in other columns are removed.

        Parameters
        ----------
        min_occupancy
            Required share of the rows that have a residue, from 0 to 1, as trimAl's ``-gt``.
        max_gaps
            Largest share of the rows that have a gap or an unknown residue (X, N), from 0 to 1. ClipKIT's gappy mode
            also leaves out columns whose share is equal to its threshold.
        max_entropy
            Largest Shannon entropy of the unambiguous residues, as a share of log 20 (proteins) or log 4
            (nucleotides); 1 minus scikit-bio's inverse Shannon uncertainty, gaps ignored.

        Returns
        -------
        MultipleAlignment
            All rows are kept; some may become empty, and no column may be left.

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
        return self._of_kept(kept_columns(self.column_shares(), min_occupancy, max_gaps, max_entropy))

    def column_shares(self) -> ColumnShares:
        """Return occupancy, share of gaps and entropy of each column, from 0 to 1.

        Returns
        -------
        ColumnShares
            ``occupancy``, ``gaps`` and ``entropy``, float64, shape (n_columns,), as in `trimmed`.

        Examples
        --------
        >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b"], ["ATN-", "ACA-"])
        >>> shares = alignment.column_shares()
        >>> shares.occupancy.tolist(), shares.gaps.tolist(), shares.entropy.tolist()
        ([1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 0.0, 0.0])
        """
        return column_shares(self.sequences, self.columns, self.n_columns)

    def differences(self, reference: int | str = 0) -> list[Difference]:
        """Return the differences of the rows to one of them, by position, kind and letters.

        Parameters
        ----------
        reference
            Index or name of the row to compare with.

        Returns
        -------
        list of Difference
            Named tuples ``(position, kind, reference, letters, rows)``: residues of the reference before the
            difference; "insertion", "substitution" or "deletion"; the letters of the reference and of the rows, in
            upper case and with T for U, empty for an insertion and a deletion; and the indices of the rows. Unknown
            residues (N, X), and ends that a row lacks, are not differences.

        Raises
        ------
        InputError, UsageError
            The reference is not a row.

        Examples
        --------
        >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b", "c"], ["AC-GTA", "ATCGTA", "-TNG-A"])
        >>> for one in alignment.differences():
        ...     print(*one)
        1 substitution C T (1, 2)
        2 insertion  C (1,)
        2 insertion  N (2,)
        3 deletion T  (2,)
        """
        from tropalign.results.differences import Compared, differences, reference_row

        row = reference_row(self.names, reference)
        return differences(Compared(self.sequences, self.columns, self.n_columns, row))

    def __add__(self, other: MultipleAlignment) -> MultipleAlignment:
        """Return the columns of both alignments, of the same rows, without confidence and tree."""
        if not isinstance(other, MultipleAlignment):
            return NotImplemented
        mine, theirs = self.sequences, other.sequences
        if mine.names != theirs.names or mine.alphabet != theirs.alphabet:
            raise ValueError(
                "alignments of different rows cannot be joined: give them the same names in the same order"
            )
        return MultipleAlignment.from_rows(mine.names, np.hstack((self.letters, other.letters)), mine.alphabet)

    def __eq__(self, other: object) -> bool:
        """True if names, residues and columns are equal; confidence and tree are ignored."""
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
        """Return Biopython's Alignment, with the rows as SeqRecords.

        Returns
        -------
        Bio.Align.Alignment
            Column confidence is in its ``column_annotations``.

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
        is_residue = np.zeros(self.shape, bool)
        is_residue[self.row_index, self.columns] = True
        changes = np.flatnonzero((is_residue[:, 1:] != is_residue[:, :-1]).any(0)) + 1
        before = np.concatenate([np.zeros((len(self), 1), np.int64), np.cumsum(is_residue, 1)], 1)
        # Residues before each border between runs of equal columns.
        made = Alignment(records, before[:, np.concatenate([[0], changes, [self.n_columns]])])
        if self.column_confidence is not None:
            made.column_annotations = {"confidence": self.column_confidence.tolist()}
        return made

    def write(self, path: str | os.PathLike[str], format: MultipleFormat | None = None) -> None:
        """Write the alignment: see `tropalign.write_alignment`.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        format
            Name of the format; by default, the suffix of the path decides.

        Raises
        ------
        TropalignError
            The format does not exist or cannot hold the alignment, or the file cannot be written.

        Examples
        --------
        >>> tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MKVILA-"]).write("-", "fasta")
        >a
        MKV-LAW
        >b
        MKVILA-
        """
        import tropalign  # through the public name: results do not depend on files

        tropalign.write_alignment(self, path, format)


def _letters(rows: list[Any]) -> NDArray[np.uint8]:
    data = [row.encode("latin-1", "replace") if isinstance(row, str) else bytes(row) for row in rows]
    if len({len(row) for row in data}) > 1:
        raise ValueError("the rows of an alignment must have the same length")
    return np.frombuffer(b"".join(data), np.uint8).reshape(len(data), len(data[0]) if data else 0)


#: Limits for a large alignment: rows, characters of a name, and columns.
SHOWN_ROWS, SHOWN_NAME, SHOWN_COLUMNS = 12, 24, 80
HTML_ROWS, HTML_COLUMNS = 100, 2_000
#: Largest alignment, in cells, that a notebook colours; a notebook file stores every coloured run.
COLOURED_CELLS = 20_000
#: Names stay in place while the residues scroll under them, so they need the page's own background colour:
#: Jupyter's, VS Code's, others'.
NAME = "<span style='position:sticky;left:0;background:var(--jp-layout-color0,var(--vscode-editor-background,Canvas))'>"

#: Clustal X's rules for proteins, and a colour per base for nucleotides.
RULES = Path(__file__).with_name("multiple_colours.json")
WHITE = "#ffffff"
#: A share such as 0.6 of 5 rows is 3, even if the floating-point product differs.
COUNT_ROUNDING = 1e-6


def title(alignment: MultipleAlignment) -> str:
    """Return one line with rows, alphabet and columns."""
    n = len(alignment)
    kind = alignment.sequences.alphabet.name
    return f"MultipleAlignment: {n:,} {kind} sequence{'s' * (n != 1)}, {alignment.n_columns:,} columns"


def block_text(alignment: MultipleAlignment) -> str:
    """Return the title and the rows; the middle of long rows, and of many rows, is omitted."""
    names, texts = _rows(alignment, SHOWN_ROWS, SHOWN_COLUMNS)
    return "\n".join([title(alignment), *(f"{name}  {text}".rstrip() for name, text in zip(names, texts, strict=True))])


def block_html(alignment: MultipleAlignment) -> str:
    """Return title and rows as HTML, more than in text, and in colour if the alignment is small enough."""
    names, texts = _rows(alignment, HTML_ROWS, HTML_COLUMNS)
    letters = [escaped(text) for text in texts]
    n_rows, n_columns = alignment.shape
    if n_rows * n_columns <= COLOURED_CELLS and n_rows <= HTML_ROWS and n_columns <= HTML_COLUMNS:
        numbers, palette = cell_colours(alignment)
        letters = [_coloured(text, row.tolist(), palette) for text, row in zip(texts, numbers, strict=True)]
    lines = [f"{NAME}{escaped(name)}  </span>{text}" for name, text in zip(names, letters, strict=True)]
    block = "\n".join(lines)
    box = "<div style='overflow:auto;max-height:30em'>"
    return f"<p>{escaped(title(alignment))}</p>{box}{PRE}{block}</pre></div>"


def _rows(alignment: MultipleAlignment, most_rows: int, most_columns: int) -> tuple[list[str], list[str]]:
    """Return padded names and rows; if rows are omitted, a line in the middle says how many."""
    n = len(alignment)
    chosen = range(n) if n <= most_rows else [*range(most_rows // 2), *range(n - most_rows // 2, n)]
    names = [_cut(shown(alignment.names[k])) for k in chosen]
    texts = [_shortened(alignment.row(k).decode("latin-1").translate(PLAIN), most_columns) for k in chosen]
    if n > most_rows:
        names.insert(most_rows // 2, f"... {n - 2 * (most_rows // 2):,} more")
        texts.insert(most_rows // 2, "")
    width = max(map(len, names), default=0)
    return [name.ljust(width) for name in names], texts


def _coloured(text: str, numbers: list[int], palette: list[str]) -> str:
    """Return a row with coloured backgrounds, translucent for light and dark pages."""
    pieces, at = [], 0
    for number, run in groupby(numbers):
        n = len(list(run))
        letters = escaped(text[at : at + n])
        pieces.append(f"<span style='background:{palette[number]}66'>{letters}</span>" if number else letters)
        at += n
    return "".join(pieces)


def _cut(name: str) -> str:
    return name if len(name) <= SHOWN_NAME else f"{name[: SHOWN_NAME - 3]}..."


def _shortened(row: str, most: int) -> str:
    """Return a row, shortened to its start and its end if it is too long."""
    return row if len(row) <= most else f"{row[: most - 13]}...{row[-10:]}"


@cached
def rules() -> dict[str, Any]:
    """Load the colour rules from their file."""
    found: dict[str, Any] = json.loads(RULES.read_text())
    return found


def cell_colours(alignment: MultipleAlignment) -> tuple[NDArray[np.uint8], list[str]]:
    """Return palette indices of all cells, uint8, shape (n_rows, n_columns), and the palette of ``#rrggbb`` texts.

    Index 0, white, is for gaps and characters without a colour.
    """
    upper = np.frombuffer(bytes(range(256)).upper(), np.uint8)[alignment.letters]
    if not alignment.sequences.alphabet.has_strands:
        return _clustal(upper)
    table, bases = np.zeros(256, np.uint8), rules()["nucleotide"]
    for number, (letters, _, _) in enumerate(bases, 1):
        table[_codes(letters)] = number
    return table[upper], [WHITE, *(hue for _, hue, _ in bases)]


def _clustal(upper: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], list[str]]:
    """Colour a residue if one of its conditions holds: given residues reach a share of the column, gaps counted."""
    conditions, hues = rules()["clustal"]["conditions"], list(rules()["clustal"]["hues"])
    counts = {letter: (upper == ord(letter)).sum(0) for letter in "ACDEFGHIKLMNPQRSTVWY"}
    holds = {
        sign: sum(counts[letter] for letter in letters) >= share * len(upper) - COUNT_ROUNDING
        for sign, (share, letters) in conditions.items()
    }
    numbers = np.zeros(upper.shape, np.uint8)
    for letters, hue, signs in rules()["clustal"]["rules"]:
        is_coloured = np.ones(upper.shape[1], bool) if not signs else np.any([holds[sign] for sign in signs], axis=0)
        numbers[np.isin(upper, _codes(letters)) & is_coloured & (numbers == 0)] = hues.index(hue) + 1
    return numbers, [WHITE, *(rules()["clustal"]["hues"][hue][0] for hue in hues)]


def _codes(letters: str) -> NDArray[np.uint8]:
    return np.frombuffer(letters.encode(), np.uint8)


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement of an alignment with its reference, per residue and in total.

    A residue's share: of the residues aligned to it in a core column of the reference, the fraction that is also
    aligned to it in the alignment.

    alignment: rows of the reference in its order, then possibly more. shares, reference_shares: float32, shape
    (n_residues,), from 0 to 1; NaN for residues that do not count. sp, tc: shares of all residue pairs and of all
    columns.
    """

    alignment: MultipleAlignment
    reference: MultipleAlignment
    shares: NDArray[np.float32]
    reference_shares: NDArray[np.float32]
    sp: float
    tc: float

    def column_shares(self, *, of_reference: bool = False) -> NDArray[np.float32]:
        """Return the mean share of the residues that count in each column, float32, shape (n_columns,); NaN if none do.

        With `of_reference`, for the reference's columns: the share of each column's pairs that are aligned.
        """
        rows = self.reference if of_reference else self.alignment
        shares = self.reference_shares if of_reference else self.shares
        counts = ~np.isnan(shares)
        columns, n = rows.columns[counts], rows.n_columns
        n_counted = np.bincount(columns, minlength=n)
        found = np.full(n, np.nan)
        np.divide(np.bincount(columns, shares[counts], n), n_counted, out=found, where=n_counted > 0)
        return found.astype(np.float32)
