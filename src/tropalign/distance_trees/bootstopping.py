"""Bootstopping: how many bootstrap samples are enough (Pattengale et al. 2010, J Comput Biol 17:337).

Their frequency criterion (FC): after every 50 samples, the samples are split at random into two equal halves, 100
times. Each time, the frequencies in the two halves of all splits that occur in any sample's tree are correlated
(Pearson). If the correlation is at least .99 in 99 of the 100 partitions, support has settled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

#: Samples between checks, partitions per check, required correlation, and partitions that have to reach it.
SPACING, PARTINGS, LEAST_CORRELATION, LEAST_PARTINGS = 50, 100, 0.99, 99
#: Maximum number of samples, settled or not.
MOST_SAMPLES = 1_000


def has_settled(splits: NDArray[np.uint64], seed: int = 0) -> bool:
    """True if the support of these samples has settled.

    splits: uint64, shape (n_samples, n_splits), one number per split of each sample's tree, equal for equal splits.
    """
    n_samples = len(splits)
    numbers = np.unique(splits, return_inverse=True)[1].reshape(splits.shape)
    n = int(numbers.max()) + 1 if numbers.size else 0
    whole = np.bincount(numbers.ravel(), minlength=n)
    n_low = 0
    for parting in range(PARTINGS):
        half = np.bincount(numbers[_half(n_samples, parting, seed)].ravel(), minlength=n)
        n_low += _correlation(half, whole - half) < LEAST_CORRELATION
        if n_low > PARTINGS - LEAST_PARTINGS:
            return False
    return True


def settled_samples(more: Callable[[int, int], NDArray[np.uint64]], seed: int = 0) -> tuple[NDArray[np.uint64], bool]:
    """Draw samples until support has settled or `MOST_SAMPLES` is reached; return all splits and whether it settled.

    more: (start, end) -> the splits of these samples.
    """
    splits = more(0, SPACING)
    while not (is_settled := has_settled(splits, seed)) and len(splits) < MOST_SAMPLES:
        splits = np.concatenate([splits, more(len(splits), len(splits) + SPACING)])
    return splits, is_settled


def _half(n_samples: int, parting: int, seed: int) -> NDArray[np.int64]:
    """Return half of the samples, those with the smallest hashes (Steele, Lea and Flood 2014), machine-independent."""
    key = (seed * PARTINGS + parting) * MOST_SAMPLES % 2**64
    x = (np.arange(1, n_samples + 1, dtype=np.uint64) + np.uint64(key)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.argsort(x ^ (x >> np.uint64(31)), kind="stable")[: n_samples // 2]


def _correlation(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return Pearson's correlation of integers; 1 if both vectors are constant and equal."""
    a, b = first - first.mean(), second - second.mean()
    spread = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return 1.0 if spread == 0 and np.array_equal(first, second) else float((a * b).sum()) / spread if spread else 0.0
