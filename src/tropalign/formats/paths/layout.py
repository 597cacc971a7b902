"""Where the vertices of a drawn graph stand: as far from each other as they are by edges, as well as a plane allows.

The sum of ``(|x_i - x_j| - d_ij)^2 / d_ij^2`` is made small by majorization (Gansner, Koren and North 2005, Graph
drawing by stress majorization), from the plane that fits the distances best (classical scaling).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
#: Rounds of majorization; and by how much distances differ that would be equal, so that no other plane is as
#: good.
ROUNDS, UNEVEN = 100, 1e-3
#: How much farther apart than the graph is wide vertices stand that no edges connect.
APART = 1.25


def places(sources: NDArray[np.int64], targets: NDArray[np.int64], n: int) -> Reals:
    """Places of n vertices that these edges join, whatever their direction.

    Returns
    -------
    float64, shape (n, 2)
        From 0 to 1, the wider side filled.

    Examples
    --------
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
    """The least number of edges between all vertices, a little uneven."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    graph = coo_array((np.ones(len(sources)), (sources, targets)), shape=(n, n)).tocsr()
    found = shortest_path(graph, directed=False, unweighted=True)
    found[np.isinf(found)] = APART * max(1.0, found[np.isfinite(found)].max())
    turn = np.cos(np.arange(n) * 2.399963)  # by the golden angle, which repeats nothing
    return np.asarray(found * (1 + UNEVEN * (turn[:, None] + turn[None, :])))


def _scaled(distances: Reals) -> Reals:
    """The plane of classical scaling, its axes turned to where the vertex farthest out is positive."""
    squares = distances**2
    centred = -0.5 * (squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(centred)
    found = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0))
    signs = np.sign(found[np.abs(found).argmax(0), np.arange(found.shape[1])])
    return np.asarray(found * np.where(signs == 0, 1, signs))
