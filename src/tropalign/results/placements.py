"""The result of placing reads: a row per read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.properties import cached_property
from tropalign.results import ragged

Int64 = NDArray[np.int64]
#: Columns with an item per read.
READ_COLUMNS: dict[str, type] = {
    "branch": np.int64, "score": np.int32, "second_score": np.int32, "ties": np.int64, "strand": np.int8,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Placements:
    """Reads and the branches that they were placed on, a row per read.

    Attributes
    ----------
    names : tuple of str
    letters : uint8
        Letters of all reads, on the strand that was placed, as they were written, without gaps.
    offsets : int64, shape (n + 1,)
        Read k's letters are ``letters[offsets[k]:offsets[k + 1]]``.
    branch : int64, shape (n,)
        The best branch, the first of several; -1 for a read without a usable letter.
    score, second_score : int32, shape (n,)
        Scores of the best branch and of the next best one (equal where several are best).
    ties : int64, shape (n,)
        Branches with the best score.
    strand : int8, shape (n,)
        1, or -1 where the read was reverse-complemented.
    tied_branches : int64
        Each read's best branches, ascending; as many as its `ties`.
    tied_offsets : int64, shape (n + 1,)
        Read k's are ``tied_branches[tied_offsets[k]:tied_offsets[k + 1]]``.
    column : int32, shape of `letters`
        The reference column of each letter, 0-based; -1 where it was inserted or hangs over an end.

    Raises
    ------
    ValueError
        A column of another length or kind, or offsets that do not cut it into reads.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
    >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
    >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
    >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
    >>> len(placed), placed.strand.tolist()
    (2, [1, 1])
    """

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    offsets: Int64
    branch: Int64
    score: NDArray[np.int32]
    second_score: NDArray[np.int32]
    ties: Int64
    strand: NDArray[np.int8]
    tied_branches: Int64
    tied_offsets: Int64
    column: NDArray[np.int32]

    def __post_init__(self) -> None:
        n = len(self.names)
        for name, dtype in READ_COLUMNS.items():
            self._check(name, dtype, n)
        self._check("letters", np.uint8, None)
        self._check("column", np.int32, len(self.letters))
        self._check("tied_branches", np.int64, None)
        for name, values in (("offsets", "letters"), ("tied_offsets", "tied_branches")):
            self._check(name, np.int64, n + 1)
            ragged.check_offsets(getattr(self, name), name, getattr(self, values), values)

    def _check(self, name: str, dtype: type, length: int | None) -> None:
        values = getattr(self, name)
        if not isinstance(values, np.ndarray) or values.dtype != dtype or values.ndim != 1:
            raise ValueError(f"column {name} has to be a one-dimensional array of {np.dtype(dtype)}")
        if length is not None and len(values) != length:
            raise ValueError(f"column {name} has {len(values)} items and not {length}")

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Placements: {len(self):,} reads, {int((self.branch >= 0).sum()):,} of them placed>"

    def read(self, k: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Letters of read k, and their columns.

        Parameters
        ----------
        k
            The read, from 0; from the end where it is negative.

        Returns
        -------
        letters : uint8, shape (length,)
        columns : int32, shape (length,)
            From 0; -1 for a letter in no column.

        Raises
        ------
        IndexError
            There is no such read.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
        >>> letters, columns = placed.read(1)
        >>> letters.tobytes(), columns.tolist()
        (b'CCA', [1, 2, 3])
        """
        k = ragged.row_number(k, len(self), "read")
        own = slice(int(self.offsets[k]), int(self.offsets[k + 1]))
        return self.letters[own], self.column[own]

    @cached_property
    def tied(self) -> tuple[Int64, ...]:
        """The best branches of each read, int64."""
        return tuple(np.split(self.tied_branches, self.tied_offsets[1:-1])) if len(self) else ()

    def spans(self) -> tuple[Int64, Int64, Int64, Int64]:
        """Where each read lies: first column, one past the last, letters inserted between, letters beyond its ends.

        Returns
        -------
        start, end, inserted, unaligned : int64, shape (n,)
            A read without a letter in a column has 0, 0, 0 and all its letters unaligned.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
        >>> [column.tolist() for column in placed.spans()]
        [[0, 1], [5, 4], [0, 0], [0, 0]]
        """
        places = np.flatnonzero(self.column >= 0)
        # Of read k these are places[first[k]:first[k + 1]].
        first = np.searchsorted(places, self.offsets)
        n_placed, n_letters = np.diff(first), np.diff(self.offsets)
        out = np.zeros((4, len(self)), np.int64)
        out[3] = n_letters
        there = n_placed > 0
        begin, end = places[first[:-1][there]], places[first[1:][there] - 1]
        inside = end - begin + 1
        out[0, there], out[1, there] = self.column[begin], self.column[end].astype(np.int64) + 1
        out[2, there], out[3, there] = inside - n_placed[there], n_letters[there] - inside
        return out[0], out[1], out[2], out[3]

    def take(self, rows: NDArray[Any]) -> Placements:
        """The reads at these indices (whole numbers) or where this mask (bool) is true, in that order.

        Parameters
        ----------
        rows
            Indices (whole numbers) or a mask (bool).

        Returns
        -------
        Placements

        Raises
        ------
        IndexError
            A read that there is not, or a mask of another length.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
        >>> placed.take(np.array([1])).names
        ('y',)
        """
        rows = ragged.wanted_rows(rows, len(self))
        offsets, letters = ragged.chosen(self.offsets, rows)
        tied_offsets, tied = ragged.chosen(self.tied_offsets, rows)
        return Placements(
            names=tuple(self.names[k] for k in rows.tolist()),
            letters=self.letters[letters],
            offsets=offsets,
            tied_branches=self.tied_branches[tied],
            tied_offsets=tied_offsets,
            column=self.column[letters],
            **{name: getattr(self, name)[rows] for name in READ_COLUMNS},
        )


def concatenate(pieces: Sequence[Placements]) -> Placements:
    """The reads of several, one after another. Raises ValueError when there are none."""
    if not pieces:
        raise ValueError("there are no placements to concatenate")
    whole = ("letters", "column", "tied_branches", *READ_COLUMNS)
    return Placements(
        names=tuple(name for piece in pieces for name in piece.names),
        offsets=ragged.joined([piece.offsets for piece in pieces]),
        tied_offsets=ragged.joined([piece.tied_offsets for piece in pieces]),
        **{name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in whole},
    )
