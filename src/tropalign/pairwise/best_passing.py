"""The best targets of each query among those that pass the limits of identity and coverage.

Identity and coverage are known only after a pair has been aligned. The candidates of a query are aligned by
descending score until K of them pass:

    scores      90  88  88  75  71  60  52 ...      K = 2
    passes       -   +   -   -   +                  the first five are aligned, the second and the fifth are kept

Candidates may arrive in parts, in the order of the pairs. A pair in a later part is aligned if it scores more than
the K-th one kept so far. The result does not depend on the parts: of equal scores the earlier pair is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.pairwise.selection import may_cover
from tropalign.results.alignments import AlignmentTable, concatenate

if TYPE_CHECKING:
    from tropalign.pairwise.engines import Rows
    from tropalign.pairwise.options import PairOptions

Index = NDArray[np.int64]
#: Factor by which more candidates of a query are aligned if too few have passed.
GROWTH = 2


class BestPassing:
    """Collects the best passing rows of each query.

    options: `top` and the limits.
    align: aligns candidates (rows and their whole scores) and drops those that do not pass.
    source: maps aligned queries to the original ones.
    most_rows: candidates to align at a time.
    """

    def __init__(
        self,
        options: PairOptions,
        align: Callable[[Rows, NDArray[np.int32]], AlignmentTable],
        source: Callable[[Index], Index],
        most_rows: int,
    ) -> None:
        self._options, self._align, self._source, self._most_rows = options, align, source, most_rows
        self._top = options.top or 1
        self._kept: AlignmentTable | None = None

    def add(self, rows: Rows, score: NDArray[np.int32], lengths: tuple[Index, Index]) -> None:
        """Align those candidates of a part that can be among the best.

        rows: in the order of the pairs.
        score: int32, shape (n,), whole scores of all unmasked residues.
        lengths: of the aligned queries and targets.
        """
        able = np.flatnonzero(may_cover(self._options, lengths[0][rows.query], lengths[1][rows.target]))
        query, step = self._source(rows.query), self._top
        left = able[np.lexsort((able, -score[able].astype(np.int64), query[able]))]
        given = self._options.whole.given(score)
        while len(left := self._improving(left, query, given)):
            taken = left[rank(query[left]) < step][: self._most_rows]
            self._merge(self._align(some(rows, taken), score[taken]))
            left = left[~np.isin(left, taken)]
            step *= GROWTH

    def count(self, query: Index) -> Index:
        """Return the number of kept rows of each of these queries, int64, shape (n,)."""
        if self._kept is None:
            return np.zeros(len(query), np.int64)
        kept = np.sort(self._source(self._kept.query_index))
        return np.searchsorted(kept, query, "right") - np.searchsorted(kept, query)

    def forget(self, query: int) -> None:
        """Drop the rows of a query, whose candidates will come again."""
        if self._kept is not None:
            self._kept = self._kept.take(np.flatnonzero(self._source(self._kept.query_index) != query))

    def table(self, nothing: Rows) -> AlignmentTable:
        """Return the kept rows, query by query, best first; `nothing` is used if there is no row."""
        return self._align(nothing, np.zeros(0, np.int32)) if self._kept is None else self._kept

    def _improving(self, left: Index, query: Index, given: NDArray[Any]) -> Index:
        """Return candidates whose query has fewer than `top` rows, or that score more than the last of these."""
        if self._kept is None or not len(left):
            return left
        kept, score = self._source(self._kept.query_index), _deciding(self._kept)
        last = np.flatnonzero(rank(kept) == self._top - 1)
        place = np.minimum(np.searchsorted(kept[last], query[left]), max(len(last) - 1, 0))
        if not len(last):
            return left
        is_worse = (kept[last][place] == query[left]) & (given[left] <= score[last][place])
        found: Index = left[~is_worse]
        return found

    def _merge(self, table: AlignmentTable) -> None:
        """Merge the best rows; of equal scores those kept earlier win, which come first in the order of the pairs."""
        both = table if self._kept is None else concatenate([self._kept, table])
        query, score = self._source(both.query_index), _deciding(both)
        order = np.lexsort((-score.astype(np.float64), query))
        self._kept = both.take(order[rank(query[order]) < self._top])


def _deciding(table: AlignmentTable) -> NDArray[Any]:
    """Return the score that decides: the one without masked residues, if residues are masked."""
    return table.score if table.corrected_score is None else table.corrected_score


def rank(query: Index) -> Index:
    """Return the rank of each row within its run of rows of one query, from 0."""
    begins = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]])[: len(query)])
    return np.arange(len(query)) - np.repeat(begins, np.diff(np.append(begins, len(query))))


def some(rows: Rows, chosen: Index) -> Rows:
    """Select rows by index."""
    strand = None if rows.strand is None else rows.strand[chosen]
    return replace(rows, query=rows.query[chosen], target=rows.target[chosen], strand=strand)
