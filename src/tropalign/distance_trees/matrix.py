"""Validation of distances from callers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import is_masked
from tropalign.errors import InputError, UsageError
from tropalign.machine.memory import default_budget, require
from tropalign.machine.numbers import checked_memory

#: Allowed relative difference between the two halves of a square.
ROUNDING = 1e-6
#: Largest distance that is accepted.
MOST_DISTANCE = 1e30
#: Rows and columns of a square that are compared at once: two such tiles of float64 take 256 KiB.
TILE = 128


def condensed_distances(
    distances: Any, names: Sequence[str] | None
) -> tuple[NDArray[np.float32] | NDArray[np.float64], tuple[str, ...]]:
    """Check distances (condensed or square); return them condensed, float32 or float64, with the names of the taxa.

    Raises InputError for wrong values or names, UsageError for a wrong type or shape.

    >>> condensed_distances([[0, 1, 2], [1, 0, 3], [2, 3, 0]], None)
    (array([1., 2., 3.]), ('1', '2', '3'))
    """
    try:
        array = np.asarray(distances)
        if array.dtype.kind not in "iufO" or is_masked(distances):
            raise TypeError
        array = np.asarray(array, array.dtype if array.dtype in (np.float32, np.float64) else np.float64, order="C")
    except (TypeError, ValueError):
        raise UsageError("the distances are no array of numbers: give n (n - 1) / 2 of them, or a square") from None
    n = len(array) if array.ndim == 2 else (1 + math.isqrt(1 + 8 * array.size)) // 2
    if array.ndim not in (1, 2) or array.shape not in ((n, n), (n * (n - 1) // 2,)):
        raise UsageError(f"distances of shape {array.shape}: give n (n - 1) / 2 of them, or a square")
    taxa = _checked_names(names, n)
    condensed = _upper(array, taxa) if array.ndim == 2 else array
    _check_values(condensed, taxa)
    return condensed, taxa


def require_memory(needed_bytes: int, memory_bytes: Any, what: str) -> None:
    """Raise ResourceError if the need exceeds `memory_bytes`, or by default a share of the free memory."""
    asked = checked_memory(memory_bytes)
    allowed = default_budget() if asked is None else asked
    require(needed_bytes, allowed, what, "allow more memory, or leave taxa out")


def _checked_names(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if n < 2:
        raise InputError("the distances are those of one taxon: a tree has two or more")
    if names is None:
        return tuple(str(k + 1) for k in range(n))
    if not isinstance(names, Iterable):
        raise UsageError(f"names is of type {type(names).__name__}: give a list with a text per taxon")
    taxa = tuple(str(name) for name in names)
    if len(taxa) != n:
        raise InputError(f"{len(taxa)} names, but distances of {n} taxa: give each taxon one name")
    if len(set(taxa)) < n:
        twice = next(name for name, count in Counter(taxa).items() if count > 1)
        raise InputError(f"two taxa are called {twice!r}: give each its own name")
    return taxa


def _upper(square: NDArray[Any], taxa: tuple[str, ...]) -> NDArray[Any]:
    """Return the values above the diagonal after checking symmetry."""
    n = len(square)
    if n and np.any(np.diagonal(square) != 0):
        k = int(np.flatnonzero(np.diagonal(square) != 0)[0])
        raise InputError(f"the distance of {taxa[k]!r} to itself is {square[k, k]:g}: write 0 on the diagonal")
    for k in range(0 if _is_symmetric(square) else n):
        differ = np.flatnonzero(~np.isclose(square[k, k + 1 :], square[k + 1 :, k], ROUNDING, 0.0))
        for other in (differ[:1] + k + 1).tolist():
            there, back = square[k, other], square[other, k]
            if math.isnan(there) or math.isnan(back):
                two = f"{taxa[k]!r} and {taxa[other]!r}"
                raise InputError(f"the distance of {two} is not a number: leave one of them out")
            raise InputError(
                f"the distance of {taxa[k]!r} and {taxa[other]!r} is {there:g} one way and {back:g} the other: give a "
                "symmetric square"
            )
    return np.concatenate([square[k, k + 1 :] for k in range(n)]) if n else square.ravel()


def _is_symmetric(square: NDArray[Any]) -> bool:
    """True if both halves are equal to the last bit; compared in tiles, since reading whole columns is slow."""
    n = len(square)
    for row in range(0, n, TILE):
        for column in range(row, n, TILE):
            tile = square[row : row + TILE, column : column + TILE]
            if not (tile == square[column : column + TILE, row : row + TILE].T).all():
                return False
    return True


def _check_values(condensed: NDArray[Any], taxa: tuple[str, ...]) -> None:
    if condensed.size and condensed.min() >= 0 and condensed.max() <= MOST_DISTANCE:
        return
    wrong = np.flatnonzero(~((condensed >= 0) & (condensed <= MOST_DISTANCE)))
    if not len(wrong):
        return
    first, second = pair_at(int(wrong[0]), len(taxa))
    value = float(condensed[wrong[0]])
    said = "no number" if math.isnan(value) else f"{value:g}"
    raise InputError(
        f"the distance of {taxa[first]!r} and {taxa[second]!r} is {said}: "
        f"distances are numbers from 0 to {MOST_DISTANCE:g}"
    )


def pair_at(place: int, n: int) -> tuple[int, int]:
    """Return the pair of n taxa at an index of (0, 1), (0, 2), ..., (1, 2), ...

    >>> [pair_at(place, 4) for place in range(6)]
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    """
    first = 0
    while place >= n - 1 - first:
        place -= n - 1 - first
        first += 1
    return first, first + 1 + place
