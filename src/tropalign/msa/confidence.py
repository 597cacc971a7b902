"""Confidence of an alignment: means of the posteriors that its pairs of residues had before consistency.

Posteriors of stage I are probabilities. Those after consistency are not: they are products of two, and low. In
each tile only the elements whose two residues are in one column count:

    columns     0 1 2 3       posteriors of x and y       (0,0) .9   (1,1) .8   (1,2) .1   (2,3) .7
    x           A - C D
    y           A B C D       kept                        (0,0): column 0   (2,3): column 3
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.msa.task import Posteriors
from tropalign.sequences.batch import SequenceBatch

#: Integer for probability 1 (kPosteriorOne in native/msa/sparse.hpp), and for the total weight of all sequences.
#: Sums of their products are integers below 2**53, which float64 adds exactly in any order.
ONE, WEIGHT_ONE = 32767, 1 << 18
#: Elements processed together; each takes some hundred bytes.
PIECE = 1 << 18


class Confidence:
    """Accumulator of mean posteriors; accepts tiles in any number and order.

    `columns`: int32, shape (n_residues,), column of each residue. `weights`: float64, shape (n,), of the
    sequences.
    """

    def __init__(self, batch: SequenceBatch, columns: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
        self._lengths, self._offsets, self._columns = batch.lengths, batch.offsets, columns
        whole = np.maximum(np.rint(weights / weights.sum() * WEIGHT_ONE), 1.0)
        self._weights = whole[np.repeat(np.arange(len(batch)), batch.lengths)]  # one per residue
        self._residues = np.zeros(len(columns))
        self._sums = np.zeros(int(columns.max()) + 1)

    def add(self, found: Posteriors) -> None:
        """Add the posteriors of some pairs to the sums of their residues and columns."""
        rows = np.concatenate([[0], np.cumsum(self._lengths[found.pairs[:, 0]])])
        elements = np.concatenate([[0], np.cumsum(found.row_sizes, dtype=np.int64)])[rows]  # elements before each pair
        begin = 0
        while begin < len(found.pairs):
            end = max(begin + 1, int(np.searchsorted(elements, elements[begin] + PIECE, "right")) - 1)
            kept = slice(int(elements[begin]), int(elements[end]))
            sizes = found.row_sizes[rows[begin] : rows[end]]
            self._add(found.pairs[begin:end].astype(np.int64), sizes, found.columns[kept], found.values[kept])
            begin = end

    def _add(
        self,
        pairs: NDArray[np.int64],
        row_sizes: NDArray[np.uint16],
        columns: NDArray[np.uint16],
        values: NDArray[np.uint16],
    ) -> None:
        x, y = pairs.T
        n_rows = self._lengths[x]
        begins = np.cumsum(n_rows) - n_rows
        rows = np.arange(n_rows.sum()) - np.repeat(begins - self._offsets[x], n_rows)  # residues of all x
        first = np.repeat(rows, row_sizes)
        second = np.repeat(np.repeat(self._offsets[y], n_rows), row_sizes) + columns
        together = self._columns[first] == self._columns[second]
        first, second, posteriors = first[together], second[together], values[together].astype(np.float64)
        of_first, of_second = self._weights[first], self._weights[second]
        size = len(self._columns)
        self._residues += np.bincount(first, posteriors * of_second, size)
        self._residues += np.bincount(second, posteriors * of_first, size)
        self._sums += np.bincount(self._columns[first], posteriors * of_first * of_second, len(self._sums))

    def means(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the means per residue (over the others in its column, weighted) and per column (over its pairs).

        float32, shapes (n_residues,) and (n_columns,); 0 if there is no pair. A pair without an element counts as
        0.
        """
        of_columns = np.bincount(self._columns, self._weights, len(self._sums))
        squares = np.bincount(self._columns, self._weights**2, len(self._sums))
        others = of_columns[self._columns] - self._weights
        return _means(self._residues, others), _means(self._sums, (of_columns**2 - squares) / 2)


def _means(sums: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float32]:
    means = np.divide(sums, weights * ONE, out=np.zeros_like(sums), where=weights > 0)
    return means.astype(np.float32)


#: Odds of correct pairs, relative to the odds of the mean posterior m: p / (1 - p) = 8 m / (1 - m).
#: Posteriors of two sequences at a time are too low, since the family contains more information than each of its pairs:
#: in columns with a mean posterior of .56, 90 % of the pairs of residues are correct. Measured on the core columns of
#: 114 reference alignments (110 families of BAliBASE 3, 4 of Pfam), with effort default and fast, for residues as for
#: columns. Fits on either half of these families gave 7 to 10, with an expected calibration error of .01 to .03 on the
#: other half; docs/msa.md has the error on further families. More parameters (a slope, the family's mean, its size) did
#: not reduce it.
ODDS = np.float32(8)


def calibrated(means: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probabilities of correct pairs, float32, for mean posteriors (`tropalign.msa.confidence`), 0 to 1."""
    return ODDS * means / (1 + (ODDS - 1) * means)
