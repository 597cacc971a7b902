"""Comparison of an alignment with its reference, residue by residue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.results.multiple import MultipleAlignment


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
