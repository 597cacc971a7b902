"""Parts that are arrays (``.npz``) and may come from an untrusted shard."""

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
    """Yield the arrays of a part by name; the ``with`` block should only read and check them.

    Raises InputError for a damaged part on any error in the block that `damage()` covers.
    """
    try:
        with np.load(io.BytesIO(part), allow_pickle=False) as arrays:
            yield arrays
    except TropalignError:
        raise
    except damage():
        raise InputError(DAMAGED_PART) from None
