"""An alignment beside its reference: which residues stand where they should."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.results.multiple import MultipleAlignment


@dataclass(frozen=True, eq=False)
class Agreement:
    """How much of a reference each residue of an alignment reproduces.

    A residue's share is that of the residues beside it in a core column of the reference which stand beside it in the
    alignment, too.

    Attributes
    ----------
    alignment, reference : MultipleAlignment
        Rows of the reference in its order; the alignment may have more rows after these.
    shares, reference_shares : float32, shape (n_residues,)
        Of the residues of either, from 0 to 1; NaN where they do not count.
    sp, tc : float
        The shares of all pairs of residues, and of all columns.

    Examples
    --------
    >>> import numpy as np
    >>> rows = tropalign.MultipleAlignment.from_rows(["a", "b"], ["AC", "AC"])
    >>> Agreement(rows, rows, np.ones(4, np.float32), np.ones(4, np.float32), 1.0, 1.0).column_shares().tolist()
    [1.0, 1.0]
    """

    alignment: MultipleAlignment
    reference: MultipleAlignment
    shares: NDArray[np.float32]
    reference_shares: NDArray[np.float32]
    sp: float
    tc: float

    def column_shares(self, *, of_reference: bool = False) -> NDArray[np.float32]:
        """Mean share of the residues of each column that count.

        Parameters
        ----------
        of_reference
            Of the reference's columns, where it is the share of the column's pairs that are aligned.

        Returns
        -------
        float32, shape (n_columns,)
            NaN where no residue counts.

        Examples
        --------
        >>> import numpy as np
        >>> rows = tropalign.MultipleAlignment.from_rows(["a", "b"], ["AC", "AC"])
        >>> shares = np.array([1, np.nan, 0, np.nan], np.float32)
        >>> Agreement(rows, rows, shares, shares, 1.0, 1.0).column_shares(of_reference=True).tolist()
        [0.5, nan]
        """
        rows = self.reference if of_reference else self.alignment
        shares = self.reference_shares if of_reference else self.shares
        counts = ~np.isnan(shares)
        columns, n = rows.columns[counts], rows.n_columns
        n_counted = np.bincount(columns, minlength=n)
        found = np.full(n, np.nan)
        np.divide(np.bincount(columns, shares[counts], n), n_counted, out=found, where=n_counted > 0)
        return found.astype(np.float32)
