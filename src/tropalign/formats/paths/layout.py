"""Layout of a drawn graph: plane distances approximate distances by edges.

Minimises the sum of ``(|x_i - x_j| - d_ij)^2 / d_ij^2`` by majorization (Gansner, Koren and North 2005, Graph
drawing by stress majorization), starting from the plane that fits the distances best (classical scaling).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
#: Rounds of majorization; and a perturbation of equal distances, so that the best plane is unique.
ROUNDS, UNEVEN = 100, 1e-3
#: Distance of unconnected vertices, relative to the width of the graph.
APART = 1.25


def places(sources: NDArray[np.int64], targets: NDArray[np.int64], n: int) -> Reals:
    """Return positions of n vertices, float64, shape (n, 2), from 0 to 1, the wider side filled; edges are undirected.

    >>> import numpy as np
    >>> places(np.array([0, 1]), np.array([1, 2]), 3).round(1)[[0, 2], 0].tolist() in ([0.0, 1.0], [1.0, 0.0])
    True
    """
    if n < 2:
        return np.full((n, 2), 0.5)
    distances = _steps(sources, targets, n)
    found = _scaled(distances)
    weights = 1 / np.where(distances > 0, distances, 1) ** 2
    np.fill_diagonal(weights, 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(1)) - weights)
    for _ in range(ROUNDS):
        lengths = np.hypot(*(found[:, None, axis] - found[None, :, axis] for axis in (0, 1)))
        ratios = np.where(lengths > 0, weights * distances / np.where(lengths > 0, lengths, 1), 0)
        found = inverse @ (ratios.sum(1)[:, None] * found - ratios @ found)
    found = found - found.min(0)
    return np.asarray(found / max(found.max(), 1e-12))


def _steps(sources: NDArray[np.int64], targets: NDArray[np.int64], n: int) -> Reals:
    """Return the smallest number of edges between all vertices, slightly perturbed."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    graph = coo_array((np.ones(len(sources)), (sources, targets)), shape=(n, n)).tocsr()
    found = shortest_path(graph, directed=False, unweighted=True)
    found[np.isinf(found)] = APART * max(1.0, found[np.isfinite(found)].max())
    turn = np.cos(np.arange(n) * 2.399963)  # multiples of the golden angle, which do not repeat
    return np.asarray(found * (1 + UNEVEN * (turn[:, None] + turn[None, :])))


def _scaled(distances: Reals) -> Reals:
    """Return the plane of classical scaling, with axes signed so that the farthest vertex is positive."""
    squares = distances**2
    centred = -0.5 * (squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(centred)
    found = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0))
    signs = np.sign(found[np.abs(found).argmax(0), np.arange(found.shape[1])])
    return np.asarray(found * np.where(signs == 0, 1, signs))
