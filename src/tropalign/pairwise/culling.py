"""Removal of alignments that are enveloped by better ones of the same query (``--culling``).

    query     ---------------------------------------
    score 90        =============                        kept
    score 70       ===============                       kept: no better one envelops it
    score 60          ========                           removed by --culling 2: two better ones envelop it
    score 50                           ==========        kept

The help of blastp (2.12) describes its -culling_limit: "If the query range of a hit is enveloped by that of at
least this many higher-scoring hits, delete the hit". The program drops more than that.

It does not matter whether removed alignments count: of the better ones that envelop an alignment, the best `most`
are kept, because an alignment that envelops one of these also envelops the first one and is better still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.results import nucleotides

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

#: Rows that are compared with the kept ones at a time.
ROWS_AT_ONCE = 512


def not_culled(table: AlignmentTable, most: int) -> NDArray[np.bool_]:
    """Return which rows are enveloped by fewer than `most` better ones of the same query; bool, shape (n_rows,).

    Compared are spans on the original query, on any strand or frame, and the scores on which E-values are based;
    equal scores are not better.
    """
    query = nucleotides.given(table, "query")[1]
    begin, end = nucleotides.span(table, "query")
    score = np.asarray(table.score if table.corrected_score is None else table.corrected_score, np.float64)
    keep = np.ones(len(table), bool)
    order = np.lexsort((-score, query))
    for rows in np.split(order, np.flatnonzero(np.diff(query[order])) + 1):
        keep[rows] = _kept(begin[rows], end[rows], score[rows], most)
    return keep


def _kept(begin: NDArray[np.int32], end: NDArray[np.int32], score: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Return which rows of one query are kept, given best first."""
    keep = np.ones(len(begin), bool)
    for first in range(0, len(begin), ROWS_AT_ONCE):
        own = slice(first, first + ROWS_AT_ONCE)
        others = np.flatnonzero(keep[: first + ROWS_AT_ONCE])
        envelops = begin[others] <= begin[own, None]
        envelops &= end[others] >= end[own, None]
        envelops &= score[others] > score[own, None]
        keep[own] = envelops.sum(axis=1) < most
    return keep
