"""What several alignments of a family agree on, as posteriors: the share of them that aligns two residues.

Alignments by other models of pairs err in other places. So mode accurate aligns a family by each of `ENSEMBLE`, and
aligns it once more by the shares (compare Wallace et al. 2006, M-Coffee, which adds up alignments by other programs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.msa.models import NUCLEOTIDE, PROTEIN, PROTEIN_2, PROTEIN_GONNET, PairModel
from tropalign.sequences.alphabet import Alphabet

#: What stands for a posterior of 1, as in native/msa/sparse.hpp.
ONE = 32767
#: Models whose alignments vote; that of the rules is the first.
ENSEMBLE = (PROTEIN, PROTEIN_2, PROTEIN_GONNET, NUCLEOTIDE)


class Shares(NamedTuple):
    """Pairs x < y with one x, as `PosteriorStore.add` takes them."""

    pairs: NDArray[np.int32]
    row_sizes: NDArray[np.uint16]
    columns: NDArray[np.uint16]
    values: NDArray[np.uint16]


def other_models(alphabet: Alphabet) -> tuple[PairModel, ...]:
    """The models of an alphabet that vote beside its first one."""
    return tuple(model for model in ENSEMBLE if model.alphabet == alphabet)[1:]


def shares(alignments: Sequence[NDArray[np.int32]], lengths: NDArray[np.int64]) -> Iterator[Shares]:
    """For residues of each pair of sequences the share of the alignments that have them in one column.

    Parameters
    ----------
    alignments
        For each the column of each residue, sequences one after another.
    lengths : int64, shape (n,)
        Of the sequences.

    Yields
    ------
    Shares
        Of one sequence x with all y > x.

    Examples
    --------
    >>> import numpy as np
    >>> both = [np.array([0, 1, 0, 1], np.int32), np.array([0, 1, 1, 2], np.int32)]
    >>> (found,) = shares(both, np.array([2, 2]))
    >>> found.row_sizes.tolist(), found.columns.tolist(), found.values.tolist()
    ([1, 2], [0, 0, 1], [16384, 16384, 16384])
    """
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    residue_in = [_residues(columns, offsets) for columns in alignments]
    for x in range(len(lengths) - 1):
        mine = slice(offsets[x], offsets[x + 1])
        # [alignment][y][i]: the residue of y beside residue i of x, -1 for none
        beside = np.stack(
            [table[x + 1 :, columns[mine]] for table, columns in zip(residue_in, alignments, strict=True)]
        )
        beside.sort(axis=0)
        begins = np.ones(beside.shape, bool)
        begins[1:] = beside[1:] != beside[:-1]
        begins &= beside >= 0
        votes = sum((beside == beside[k : k + 1]).astype(np.int64) for k in range(len(beside)))
        y, i, k = np.nonzero(begins.transpose(1, 2, 0))
        others = np.arange(x + 1, len(lengths), dtype=np.int32)
        yield Shares(
            np.stack([np.full_like(others, x), others], 1),
            begins.sum(axis=0).astype(np.uint16).ravel(),
            beside[k, y, i].astype(np.uint16),
            np.rint(np.asarray(votes)[k, y, i] * (ONE / len(alignments))).astype(np.uint16),
        )


def _residues(columns: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """[sequence][column]: the number of the residue there within its sequence, -1 for none."""
    table = np.full((len(offsets) - 1, int(columns.max()) + 1), -1, np.int32)
    lengths = np.diff(offsets)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    table[rows, columns] = np.arange(len(columns)) - np.repeat(offsets[:-1], lengths)
    return table
