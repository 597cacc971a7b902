"""The order in which sequences are looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.sequences import SequenceBatch
from tropalign.sequences.counts import has_count


def processing_order(batch: SequenceBatch, sizes: NDArray[np.int64], order: str) -> NDArray[np.int64]:
    """Indices of the sequences in the order in which they are looked at; as in the input where equal.

    Raises
    ------
    InputError
        By abundance, and no name has one.
    """
    if order == "input":
        return np.arange(len(batch))
    if order == "abundance" and not any(map(has_count, batch.names)):
        raise InputError("no name has an abundance like ;size=12: add them, or choose order length or input")
    keys = sizes if order == "abundance" else batch.lengths
    return np.argsort(-keys, kind="stable").astype(np.int64)
