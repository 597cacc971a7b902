"""Parts that are arrays (``.npz``), which may come out of a shard of anybody's making."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tropalign.errors import InputError, TropalignError, damage

DAMAGED_PART = "a finished part is damaged: remove the parts, or write the shard again"


@contextmanager
def part_arrays(part: bytes) -> Iterator[Any]:
    """The arrays of a part by name, for a ``with`` block that reads and checks them and does nothing else.

    Raises
    ------
    InputError
        Whatever goes wrong in the block: the part is damaged.
    """
    try:
        with np.load(io.BytesIO(part), allow_pickle=False) as arrays:
            yield arrays
    except TropalignError:
        raise
    except damage():
        raise InputError(DAMAGED_PART) from None
