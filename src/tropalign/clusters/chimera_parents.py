"""The two parents that a sequence may have: those that are most similar to it in most windows (Edgar and others 2011).

    query      ................................................
    reference  111101111111111111111111111111110100111000110110      1: letters that may be the same
                  |- a window of 32: 31 of them -|

In each window the references with the most matches win. The parent is the one that wins most windows. Then the letters
of all windows that it won match nobody any more, and the second parent is found in the same way, among the others.

Many references that are far away have by chance the few letters that are left for the second parent, and explain errors
of the query as parents do; the votes that such a parent has against it on the other side only raise the score. So only
those take part which are among the most similar to a quarter of the query, and share words with it, as a piece of the
query that PCR took from them would: UCHIME's search finds four for each by twelve words of eight letters; here six by
their matches miss no more parents than that, and the words are runs of matches. Of equals that one is taken which has
most matches in the windows that it won, all letters counted; then in the whole query; then the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

#: Letters of a window.
WINDOW = 32
#: The query is cut into so many parts, each of which proposes so many references.
PARTS, PROPOSED = 4, 6
#: What a part has to share with the references that it proposes: so many words of eight letters, a short one (below 55
#: letters) a quarter of its words, since twelve would be nearly all that it has.
WORD, WORDS = 8, 12
#: Letters of references that are looked at together.
SLICE_BYTES = 4 << 20

Booleans = NDArray[np.bool_]


def parents(matches: Booleans) -> tuple[int, int] | None:
    """The numbers of both parents, or None where there are not two.

    Parameters
    ----------
    matches : bool, shape (n_references, n_letters)
        Whether each letter of the query stands beside one that may be the same.
    """
    if len(matches) < 2 or matches.shape[1] < WINDOW:
        return None
    rows = proposed(matches)
    if len(rows) < 2:
        return None
    matches = matches[rows]
    is_left = np.ones(matches.shape[1], bool)
    found = _winner(matches, is_left)
    if found is None:
        return None
    first, is_won = found
    for shift in range(WINDOW):
        is_left[shift : shift + len(is_won)] &= ~is_won
    matches[first] = False
    found = _winner(matches, is_left)
    return None if found is None else (int(rows[first]), int(rows[found[0]]))


def proposed(matches: Booleans) -> NDArray[np.int64]:
    """The references that may be parents: of each part of the query those with the most matches in it.

    Of equals the first ones; none that shares too few words with the part.

    Returns
    -------
    int64, shape (n,)
        Their numbers, ascending.
    """
    chosen = []
    for part in np.array_split(matches, PARTS, axis=1):
        best = np.argsort(-part.sum(axis=1), kind="stable")[:PROPOSED]
        chosen.append(best[_words(part[best]) >= min(WORDS, max(0, part.shape[1] - WORD + 1) // 4)])
    return np.unique(np.concatenate(chosen))


def _winner(matches: Booleans, is_left: Booleans) -> tuple[int, Booleans] | None:
    """The reference that wins most windows, and which, by letters that are left; None where none of these match."""
    windows = [(rows, _sums(matches[rows] & is_left)) for rows in _slices(matches)]
    best = np.max([sums.max(axis=0) for _, sums in windows], axis=0)
    if not best.any():
        return None
    places = np.flatnonzero(best)
    wins = np.concatenate([(sums[:, places] == best[places]).sum(axis=1) for _, sums in windows])
    equals = np.flatnonzero(wins == wins.max())
    is_won = _sums(matches[equals] & is_left) == best
    all_letters = (_sums(matches[equals]) * (is_won & (best > 0))).sum(axis=1, dtype=np.int64)
    # From the last key to the first; of what is equal in all, the first of the references.
    ranked = np.lexsort((equals, -matches[equals].sum(axis=1), -all_letters))
    return int(equals[ranked[0]]), is_won[ranked[0]]


def _slices(matches: Booleans) -> Iterator[slice]:
    step = max(1, SLICE_BYTES // matches.shape[1])
    return (slice(begin, begin + step) for begin in range(0, len(matches), step))


def _words(matches: Booleans) -> NDArray[np.int64]:
    """Runs of as many matches as a word has letters, per reference; overlapping ones count."""
    runs, width = matches, 1
    while width < WORD:
        runs = runs[:, :-width] & runs[:, width:]
        width *= 2
    found: NDArray[np.int64] = runs.sum(axis=1, dtype=np.int64)
    return found


def _sums(matches: Booleans) -> NDArray[np.uint8]:
    """Matches in each window, by doubling: of 2 letters, of 4, ... of 32; shape (n_references, n_windows)."""
    sums: NDArray[np.uint8] = np.ascontiguousarray(matches).view(np.uint8)
    width = 1
    while width < WINDOW:
        sums = sums[:, :-width] + sums[:, width:]
        width *= 2
    return sums
