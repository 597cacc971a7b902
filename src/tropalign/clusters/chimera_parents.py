"""Candidate parents of a chimera: the two references most similar to it in most windows (Edgar and others 2011).

    query      ................................................
    reference  111101111111111111111111111111110100111000110110      1: residues that may be the same
                  |- a window of 32: 31 of them -|

In each window, the references with the most matches win. The first parent is the reference that wins most windows.
Then all residues in the windows that it won are cleared, and the second parent is found in the same way among the
other references.

Many distant references match by chance the few residues that are left for the second parent, and explain errors of
the query as parents do; the votes against such a parent on the other side only raise the score. So a reference
takes part only if it is among the most similar to a quarter of the query, and shares k-mers with it, as a piece
that PCR took from it would. UCHIME's search finds four references per quarter by twelve 8-mers; six by their
matches, as here, miss no more parents than that, and the k-mers are runs of matches. Ties are broken by the
matches in the windows won, all residues counted; then by matches in the whole query; then by order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

#: Window length in residues.
WINDOW = 32
#: Number of parts of the query, and of references that each part proposes.
PARTS, PROPOSED = 4, 6
#: k-mer length, and number of k-mers that a part must share with the references that it proposes. A short part
#: (below 55 residues) requires a quarter of its k-mers, since twelve would be nearly all of them.
WORD, WORDS = 8, 12
#: Residues of references that are processed together.
SLICE_BYTES = 4 << 20

Booleans = NDArray[np.bool_]


def parents(matches: Booleans) -> tuple[int, int] | None:
    """Return the indices of both parents, or None if there are fewer than two.

    matches: bool, shape (n_references, n_letters), whether each query residue is aligned to one that may be the
    same.
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
    """Return possible parents, ascending: for each part of the query, the references with most matches in it.

    Ties are broken by order; references that share too few k-mers with the part are excluded.
    """
    chosen = []
    for part in np.array_split(matches, PARTS, axis=1):
        best = np.argsort(-part.sum(axis=1), kind="stable")[:PROPOSED]
        chosen.append(best[_words(part[best]) >= min(WORDS, max(0, part.shape[1] - WORD + 1) // 4)])
    return np.unique(np.concatenate(chosen))


def _winner(matches: Booleans, is_left: Booleans) -> tuple[int, Booleans] | None:
    """Return the reference that wins most windows by the residues left, and its windows; None if nothing matches."""
    windows = [(rows, _sums(matches[rows] & is_left)) for rows in _slices(matches)]
    best = np.max([sums.max(axis=0) for _, sums in windows], axis=0)
    if not best.any():
        return None
    places = np.flatnonzero(best)
    wins = np.concatenate([(sums[:, places] == best[places]).sum(axis=1) for _, sums in windows])
    equals = np.flatnonzero(wins == wins.max())
    is_won = _sums(matches[equals] & is_left) == best
    all_letters = (_sums(matches[equals]) * (is_won & (best > 0))).sum(axis=1, dtype=np.int64)
    # lexsort takes the last key first; if all are equal, the first reference wins.
    ranked = np.lexsort((equals, -matches[equals].sum(axis=1), -all_letters))
    return int(equals[ranked[0]]), is_won[ranked[0]]


def _slices(matches: Booleans) -> Iterator[slice]:
    step = max(1, SLICE_BYTES // matches.shape[1])
    return (slice(begin, begin + step) for begin in range(0, len(matches), step))


def _words(matches: Booleans) -> NDArray[np.int64]:
    """Count runs of `WORD` matches per reference, overlapping ones included."""
    runs, width = matches, 1
    while width < WORD:
        runs = runs[:, :-width] & runs[:, width:]
        width *= 2
    found: NDArray[np.int64] = runs.sum(axis=1, dtype=np.int64)
    return found


def _sums(matches: Booleans) -> NDArray[np.uint8]:
    """Count matches per window by doubling (2, 4, ... 32 residues), shape (n_references, n_windows)."""
    sums: NDArray[np.uint8] = np.ascontiguousarray(matches).view(np.uint8)
    width = 1
    while width < WINDOW:
        sums = sums[:, :-width] + sums[:, width:]
        width *= 2
    return sums
