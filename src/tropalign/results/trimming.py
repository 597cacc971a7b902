"""Shares of gaps, residues and entropy per column of an alignment, and the columns that thresholds keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import UsageError, named, shown

if TYPE_CHECKING:
    from tropalign.sequences.batch import SequenceBatch

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
