"""The two parents that a sequence may have: those that are most similar to it in most windows (Edgar and others 2011).

    query      ................................................
    reference  111101111111111111111111111111110100111000110110      1: letters that may be the same
                  |- a window of 32: 31 of them -|

In each window the references with the most matches win. The parent is the one that wins most windows, the first of
equals. Then the letters of all windows that it won match nobody any more, and the second parent is found in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

#: Letters of a window.
WINDOW = 32
#: Letters of references that are looked at together.
SLICE_BYTES = 4 << 20

Matches = NDArray[np.bool_]


def parents(matches: Matches) -> tuple[int, int] | None:
    """The numbers of both parents, or None where there are not two.

    Parameters
    ----------
    matches : bool, shape (n_references, n_letters)
        Whether each letter of the query stands beside one that may be the same; letters that the first parent explains
        are struck out.
    """
    if len(matches) < 2 or matches.shape[1] < WINDOW:
        return None
    found = _winner(matches)
    if found is None:
        return None
    first, is_won = found
    is_explained = np.zeros(matches.shape[1], bool)
    for shift in range(WINDOW):
        is_explained[shift : shift + len(is_won)] |= is_won
    matches[:, is_explained] = False
    matches[first] = False
    found = _winner(matches)
    return None if found is None else (first, found[0])


def _winner(matches: Matches) -> tuple[int, NDArray[np.bool_]] | None:
    """The reference that wins most windows, and which; None where nobody matches a letter of any."""
    best = np.zeros(matches.shape[1] - WINDOW + 1, np.uint8)
    slices = list(_slices(matches))
    kept = _sums(matches) if len(slices) == 1 else None
    for rows in slices:
        sums = _sums(matches[rows]) if kept is None else kept
        np.maximum(best, sums.max(axis=0), out=best)
    if not best.any():
        return None
    places = np.flatnonzero(best)
    wins = [((_sums(matches[rows]) if kept is None else kept)[:, places] == best[places]).sum(axis=1) for rows in slices]
    first = int(np.argmax(np.concatenate(wins)))
    return first, _sums(matches[first : first + 1])[0] == best


def _slices(matches: Matches) -> Iterator[slice]:
    step = max(1, SLICE_BYTES // matches.shape[1])
    return (slice(begin, begin + step) for begin in range(0, len(matches), step))


def _sums(matches: Matches) -> NDArray[np.uint8]:
    """Matches in each window, by doubling: of 2 letters, of 4, ... of 32; shape (n_references, n_windows)."""
    sums: NDArray[np.uint8] = matches.view(np.uint8)
    width = 1
    while width < WINDOW:
        sums = sums[:, :-width] + sums[:, width:]
        width *= 2
    return sums
