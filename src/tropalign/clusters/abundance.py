"""Abundances in names, and the order in which sequences are looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.sequences import SequenceBatch

#: ``;size=3`` as USEARCH and vsearch write it.
SIZE = re.compile(r"(?:^|;)size=([0-9]{1,15})(?=;|$)")


def abundances(names: Sequence[str]) -> NDArray[np.int64]:
    """How many reads each sequence stands for: N of ``;size=N`` in its name, 1 where there is none.

    Returns
    -------
    int64, shape (n,)

    Raises
    ------
    InputError
        A size of 0.

    Examples
    --------
    >>> abundances(["a;size=12", "b", "c;size=3;sample=x"]).tolist()
    [12, 1, 3]
    """
    found = [SIZE.search(name) if "size=" in name else None for name in names]
    sizes = np.array([1 if match is None else int(match[1]) for match in found], np.int64)
    if len(sizes) and sizes.min() < 1:
        raise InputError("the size is 0: sequences stand for one read or more", record=names[int(sizes.argmin())])
    return sizes


def processing_order(batch: SequenceBatch, sizes: NDArray[np.int64], order: str) -> NDArray[np.int64]:
    """Indices of the sequences in the order in which they are looked at; as in the input where equal.

    Raises
    ------
    InputError
        By abundance, and no name has one.
    """
    if order == "input":
        return np.arange(len(batch))
    if order == "abundance" and not any(SIZE.search(name) for name in batch.names):
        raise InputError("no name has an abundance like ;size=12: add them, or choose order length or input")
    keys = sizes if order == "abundance" else batch.lengths
    return np.argsort(-keys, kind="stable").astype(np.int64)
