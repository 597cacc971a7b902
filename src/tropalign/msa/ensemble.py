"""Agreement of several alignments of a family, as posteriors: the share of them that aligns two residues.

Alignments by other pair models err at other positions. Effort accurate therefore aligns a family by each model of
`ENSEMBLE`, and once more by the shares (compare Wallace et al. 2006, M-Coffee, which combines alignments by other
programs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.msa.models import NUCLEOTIDE, PROTEIN, PROTEIN_2, PROTEIN_GONNET, PairModel
from tropalign.sequences.alphabet import Alphabet

#: Integer for a posterior of 1, as in native/msa/sparse.hpp.
ONE = 32767
#: Models whose alignments vote; the first one of an alphabet is that of the rules.
ENSEMBLE = (PROTEIN, PROTEIN_2, PROTEIN_GONNET, NUCLEOTIDE)


class Shares(NamedTuple):
    """Shares of the pairs x < y of one x, as `PosteriorStore.add` takes them."""

    pairs: NDArray[np.int32]
    row_sizes: NDArray[np.uint16]
    columns: NDArray[np.uint16]
    values: NDArray[np.uint16]


def other_models(alphabet: Alphabet) -> tuple[PairModel, ...]:
    """Return the voting models of an alphabet, excluding its first one."""
    return tuple(model for model in ENSEMBLE if model.alphabet == alphabet)[1:]


def shares(alignments: Sequence[NDArray[np.int32]], lengths: NDArray[np.int64]) -> Iterator[Shares]:
    """Yield for each sequence x, with all y > x, the share of the alignments that have two residues in one column.

    `alignments`: for each the column of each residue, sequences one after another.
    """
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    residue_in = [_residues(columns, offsets) for columns in alignments]
    for x in range(len(lengths) - 1):
        mine = slice(offsets[x], offsets[x + 1])
        # [alignment][y][i]: the residue of y in the column of residue i of x, -1 for a gap
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
    """Return [sequence][column]: the index of the residue within its sequence, -1 for a gap."""
    table = np.full((len(offsets) - 1, int(columns.max()) + 1), -1, np.int32)
    lengths = np.diff(offsets)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    table[rows, columns] = np.arange(len(columns)) - np.repeat(offsets[:-1], lengths)
    return table
