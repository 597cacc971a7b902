"""Closures of floats with cycles of weight 0, which rounding makes negative: weights made positive first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.semirings.products import matmul


def closed_by_potentials(
    weights: NDArray[np.float64],
    tolerance: float,
    *,
    n_left: int,
    wants_predecessors: bool,
    n_threads: int,
    progress: Callable[[int], object] | None,
) -> tuple[NDArray[np.float64], NDArray[Any] | None, NDArray[Any] | None] | None:
    """Distances over min-plus, with `via` and the distances that it belongs to where predecessors are wanted.

    Each vertex gets the potential h(v), its distance from a vertex with edges of weight 0 to all. Then w(u, v) + h(u) -
    h(v) is 0 or more, or what rounding makes of that, and every path between two vertices becomes longer by the same
    (Johnson 1977). No sum of such weights is smaller than its terms, however it is rounded.

    Parameters
    ----------
    weights
        n x n; they are overwritten.
    tolerance
        By how much potentials may still fall when they are taken as found.

    Returns
    -------
    tuple or None
        None where there is a negative cycle beyond the tolerance.
    """
    n = len(weights)
    np.fill_diagonal(weights, 0)
    potential = np.zeros((1, n))
    for _ in range(n + 1):
        lower = np.minimum(potential, matmul(potential, weights, n_threads=n_threads))
        fall = float((potential - lower).max(initial=0))
        potential = lower
        if fall <= tolerance:
            break
    else:
        return None
    weights += potential.T
    weights -= potential
    np.maximum(weights, 0, out=weights)
    via = np.empty((n, n), np.int32) if wants_predecessors else None
    _native.closure(weights, via, False, n_left, 0.0, n_threads, progress)
    distances = weights - potential.T
    distances += potential
    np.fill_diagonal(distances, 0)
    return distances, via, weights if wants_predecessors else None
