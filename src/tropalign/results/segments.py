"""Segments of sequences: runs of positions that a hidden Markov model gives one label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Segment(NamedTuple):
    """One segment.

    Attributes
    ----------
    sequence, label : str
        Whose, and what it is.
    start, end : int
        0-based and half-open.
    support : float
        The mean posterior probability of the label, over its positions.
    """

    sequence: str
    start: int
    end: int
    label: str
    support: float


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments of several sequences, in their order. Iterate for a `Segment` each.

    Attributes
    ----------
    names : tuple of str
        Of the sequences.
    lengths : int64, shape (n_sequences,)
        Of the sequences.
    log_likelihoods : float64, shape (n_sequences,)
        The logarithm of the probability of each sequence; where missing letters cut it, the sum over its pieces.
    n_unlabelled : int64, shape (n_sequences,)
        Letters of each sequence that have no label, since they are in runs of ten missing letters or more.
    labels : tuple of str
        What numbers of `label` mean.
    sequence : int64, shape (n,)
        Number of the sequence of each segment.
    start, end : int64, shape (n,)
        Positions, 0-based and half-open.
    label : uint8, shape (n,)
        What the segment is.
    support : float64, shape (n,)
        The mean posterior probability of the label, over the segment's positions.

    Examples
    --------
    >>> found = tropalign.decode("cpg", {"chr": "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20})
    >>> found
    <Segments: 1 of 1 sequences>
    >>> [(segment.label, segment.start, segment.end) for segment in found]
    [('island', 239, 500)]
    """

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
        columns = (self.sequence, self.start, self.end, self.label, self.support)
        for sequence, start, end, label, support in zip(*(column.tolist() for column in columns), strict=True):
            yield Segment(self.names[sequence], start, end, self.labels[label], support)

    def __repr__(self) -> str:
        n = int(self.n_unlabelled.sum())
        left_out = f", {n:,} of {int(self.lengths.sum()):,} letters unlabelled" if n else ""
        return f"<Segments: {len(self):,} of {len(self.names):,} sequences{left_out}>"

    def where(self, keeps: NDArray[np.bool_]) -> Segments:
        """Some of the segments.

        Parameters
        ----------
        keeps : bool, shape (n,)
            Whether each stays.

        Returns
        -------
        Segments

        Examples
        --------
        >>> found = tropalign.decode("cpg", ["CGCGGCGCCGACG" * 20], labels=("island", "background"))
        >>> len(found.where(found.support > 0.9))
        1
        """
        columns = {name: getattr(self, name)[keeps] for name in ("sequence", "start", "end", "label", "support")}
        return replace(self, **columns)

    def pieces(self, most: int) -> Iterator[Segments]:
        """The segments in pieces of some neighbouring ones, and what of the sequences these need.

        Parameters
        ----------
        most
            Segments of a piece.

        Yields
        ------
        Segments
            One piece without segments where there are none.

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
