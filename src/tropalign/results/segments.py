"""Segments of sequences: runs of positions with one label from a hidden Markov model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.results import display
from tropalign.results.columns import Axis, Table

#: Columns with an item per segment.
SEGMENT_COLUMNS: dict[str, type] = {
    "sequence": np.int64, "start": np.int64, "end": np.int64, "label": np.uint8, "support": np.float64,
}  # fmt: skip


class Segment(NamedTuple):
    """One segment; positions are 0-based and half-open, `support` is the mean posterior probability of the label."""

    sequence: str
    start: int
    end: int
    label: str
    support: float

    def _repr_html_(self) -> str:
        return display.record_html(self)


@dataclass(frozen=True, eq=False, repr=False)
class Segments(Table[Segment]):
    """Segments of several sequences, in their order.

    ``segments[k]`` is one `Segment`, as in iteration; a slice, a mask or indices select segments. pandas, polars and
    every consumer of an Arrow C stream read their columns.

    Attributes
    ----------
    names : tuple of str
        Names of the sequences.
    lengths : int64, shape (n_sequences,)
        Lengths of the sequences.
    log_likelihoods : float64, shape (n_sequences,)
        Logarithm of the probability of each sequence; the sum over its pieces if missing residues cut it.
    n_unlabelled : int64, shape (n_sequences,)
        Residues of each sequence without a label, since they are in runs of ten or more missing residues.
    labels : tuple of str
        Names of the values of `label`.
    sequence : int64, shape (n,)
        Index of the sequence of each segment.
    start, end : int64, shape (n,)
        Positions, 0-based and half-open.
    label : uint8, shape (n,)
        Index in `labels`.
    support : float64, shape (n,)
        Mean posterior probability of the label, over the segment's positions.

    Examples
    --------
    >>> found = tropalign.decode("cpg", {"chr": "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20})
    >>> found
    <Segments: 1 of 1 sequences>
    >>> [(segment.label, segment.start, segment.end) for segment in found]
    [('island', 239, 500)]
    """

    _axis: ClassVar[Axis] = Axis("segments", SEGMENT_COLUMNS)

    names: tuple[str, ...]
    lengths: NDArray[np.int64]
    log_likelihoods: NDArray[np.float64]
    n_unlabelled: NDArray[np.int64]
    labels: tuple[str, ...]
    sequence: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    label: NDArray[np.uint8]
    support: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.start)

    def __iter__(self) -> Iterator[Segment]:
        return (Segment(*values) for values in zip(*self._values(), strict=True))

    def _values(self) -> tuple[list[str], list[int], list[int], list[str], list[float]]:
        """Return the columns as Python objects, in the order of the fields of `Segment`."""
        names = [self.names[k] for k in self.sequence.tolist()]
        labels = [self.labels[k] for k in self.label.tolist()]
        return names, self.start.tolist(), self.end.tolist(), labels, self.support.tolist()

    def row(self, k: int) -> Segment:
        """Return a single segment.

        Parameters
        ----------
        k
            The segment, from 0; negative numbers count from the end.

        Returns
        -------
        Segment

        Raises
        ------
        IndexError
            There is no such segment.

        Examples
        --------
        >>> tropalign.decode("cpg", {"chr": "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20}).row(0).end
        500
        """
        k = ragged.row_number(k, len(self), "segment")
        return next(iter(self.slice(k, k + 1)))

    def columns(self) -> dict[str, list[str] | NDArray[Any]]:
        """Return the columns by name, a row per segment: the fields of `Segment`.

        Returns
        -------
        dict of str to list or array
            An item per segment.

        Examples
        --------
        >>> tropalign.decode("cpg", {"chr": "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20}).columns()["label"]
        ['island']
        """
        names, _, _, labels, _ = self._values()
        return {"sequence": names, "start": self.start, "end": self.end, "label": labels, "support": self.support}

    def _title(self) -> str:
        n = int(self.n_unlabelled.sum())
        left_out = f", {n:,} of {int(self.lengths.sum()):,} letters unlabelled" if n else ""
        return f"Segments: {len(self):,} of {len(self.names):,} sequences{left_out}"

    def where(self, keeps: NDArray[np.bool_]) -> Segments:
        """Select some of the segments.

        Parameters
        ----------
        keeps : bool, shape (n,)
            Mask of the segments to keep.

        Returns
        -------
        Segments

        Examples
        --------
        >>> found = tropalign.decode("cpg", ["CGCGGCGCCGACG" * 20], labels=("island", "background"))
        >>> len(found.where(found.support > 0.9))
        1
        """
        return self.take(np.asarray(keeps))

    def pieces(self, most: int) -> Iterator[Segments]:
        """Yield pieces of consecutive segments, with only the sequences that they need.

        Parameters
        ----------
        most
            Maximum number of segments per piece.

        Yields
        ------
        Segments
            A single piece without segments if there are no segments.

        Examples
        --------
        >>> found = tropalign.decode("cpg", ["CGCGGCGCCGACG" * 20] * 3, labels=("island", "background"))
        >>> [len(piece) for piece in found.pieces(2)]
        [2, 1]
        """
        for begin in range(0, max(len(self), 1), most):
            at = slice(begin, begin + most)
            sequence = self.sequence[at]
            first, end = (int(sequence[0]), int(sequence[-1]) + 1) if len(sequence) else (0, 0)
            of = slice(first, end)
            yield Segments(
                names=self.names[of],
                lengths=self.lengths[of],
                log_likelihoods=self.log_likelihoods[of],
                n_unlabelled=self.n_unlabelled[of],
                labels=self.labels,
                sequence=sequence - first,
                start=self.start[at],
                end=self.end[at],
                label=self.label[at],
                support=self.support[at],
            )
