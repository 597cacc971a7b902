"""Letters as CLUSTALW knows them: A to Z without J, whatever the sequences are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.sequences.batch import SequenceBatch

#: A letter's code is its position. U is not T here.
LETTERS = "ABCDEFGHIKLMNOPQRSTUVWXYZ"


def clustalw_codes(batch: SequenceBatch) -> NDArray[np.uint8]:
    """Codes of all residues of a batch, uint8, shape (n_residues,): case is ignored, and what is no letter (or J) is X.

    CLUSTALW itself leaves out J and ``*``.
    """
    table = np.full(256, LETTERS.index("X"), np.uint8)
    for code, letter in enumerate(LETTERS):
        table[ord(letter)] = table[ord(letter.lower())] = code
    return table[batch.letters]
