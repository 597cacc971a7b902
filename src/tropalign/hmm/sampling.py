"""Random sequences that hidden Markov models make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def sampled(
    start: NDArray[np.float64],
    transition: NDArray[np.float64],
    emission: NDArray[np.float64],
    n: int,
    seed: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes and states of n positions."""
    draws = np.random.default_rng(seed).random((2, n))
    steps, emissions = np.cumsum(transition, axis=1), np.cumsum(emission, axis=1)
    states, codes = np.zeros(n, np.int64), np.zeros(n, np.int64)
    before = np.cumsum(start)
    for t in range(n):
        states[t] = _drawn(before, draws[0, t])
        before = steps[states[t]]
        codes[t] = _drawn(emissions[states[t]], draws[1, t])
    return codes, states


def _drawn(cumulative: NDArray[np.float64], draw: float) -> int:
    """The first whose cumulative probability is above the draw, a number from 0 to 1."""
    return int(np.searchsorted(cumulative, draw * cumulative[-1], side="right"))
