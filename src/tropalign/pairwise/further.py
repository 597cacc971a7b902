"""Further alignments of pairs: each is the best one that reuses no residue pair of the previous ones.

Waterman and Eggert 1987. Each round finds the next alignment of every pair that still has a good enough one.
Scores never rise from one round to the next, so a pair is done at its first insufficient score. Alignments that
are too dissimilar or too short are not reported, but their residue pairs are taken as well.

                  first    second   third         rows, numbered as they were found
    pair 0        120      85       (11)          120, 85
    pair 1        77       (20)                   77
    pair 2        90       90       74            90, 90, 74

Each frame of a translated pair has such a line; the best alignments of all its frames are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.pairwise.composition import Adjusted, Scaled
from tropalign.pairwise.engines import Rows, Taken
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.selection import passes_shares
from tropalign.results import nucleotides
from tropalign.results.alignments import AlignmentTable, concatenate
from tropalign.results.gapped import query_starts

if TYPE_CHECKING:
    from tropalign.execution.task import Progress
    from tropalign.pairwise.translated import PairFrames

Index = NDArray[np.int64]
Int32 = NDArray[np.int32]


@dataclass(frozen=True)
class FurtherAlignments:
    """Finds the further alignments of pairs whose first ones are known.

    options: with the number of alignments per pair.
    least: (query, target indices) -> minimum scores; None: above 0.
    composition: corrects scores; None for no correction.
    suffices: (table, rows, their corrected scores) -> rows with sufficient bits and E-value; bool, shape (n,).
    frames: of translated pairs.
    """

    options: PairOptions
    least: Callable[[Index, Index], Index | None]
    composition: Scaled | Adjusted | None
    suffices: Callable[[AlignmentTable, Index, Int32], NDArray[np.bool_]]
    frames: PairFrames | None = None

    def added(
        self,
        table: AlignmentTable,
        align: Callable[[Rows], AlignmentTable],
        n_threads: int,
        progress: Progress | None,
    ) -> AlignmentTable:
        """Return the table with all alignments of its pairs, grouped by pair, first ones first.

        `table` has the first alignment of each pair. `align` aligns rows under the constraint of their `taken`;
        results without columns are insufficient.
        """
        lines, owner = self._lines(table, align)
        found = [replace(lines, hsp=np.ones(len(lines), np.int32))]
        pairs = [np.arange(len(lines))]
        going = np.flatnonzero(lines.n_columns > 0)
        while len(going) and len(found) < self.options.max_hsps:
            rows = self._rows(lines.take(going), _alignments(found, pairs, going))
            further = align(rows)
            own = np.flatnonzero(further.n_columns > 0)
            further = further.take(own)
            if self.composition is not None:
                own, further = self._judged(rows, own, further, n_threads, progress)
            going = going[own]
            found.append(replace(further, hsp=np.full(len(own), len(found) + 1, np.int32)))
            pairs.append(going)
        together, pair = concatenate(found), owner[np.concatenate(pairs)]
        if self.frames is not None:
            together, pair = _best_together(together, pair, self.options.max_hsps)
        order = np.argsort(pair, kind="stable")
        return together.take(order[passes_shares(together, self.options)[order]])

    def _lines(self, table: AlignmentTable, align: Callable[[Rows], AlignmentTable]) -> tuple[AlignmentTable, Index]:
        """Return the alignments to be continued, and the table row that each belongs to.

        They are the rows; for translated pairs also their other frames, if these score enough.
        """
        own = np.arange(len(table))
        if self.frames is None or not len(table):
            return table, own
        given = (nucleotides.given(table, side)[1] for side in ("query", "target"))
        query, target, begins = self.frames.expanded(*given)
        owner = np.repeat(own, np.diff(np.append(begins, len(query))))
        other = np.flatnonzero((query != table.query_index[owner]) | (target != table.target_index[owner]))
        query, target, owner = query[other], target[other], owner[other]
        scores = align(Rows(query, target, "score", None)).score * self.options.whole.scale
        asked = self.least(query, target)
        enough = np.flatnonzero(np.rint(scores) >= (1 if asked is None else np.maximum(asked, 1)))
        further = align(Rows(query[enough], target[enough], "alignment", None))
        return concatenate([table, further]), np.concatenate([own, owner[enough]])

    def _rows(self, table: AlignmentTable, taken: tuple[AlignmentTable, Index]) -> Rows:
        """Return the request for the next alignments of the pairs of a table, given those that they have."""
        earlier, offsets = taken
        asked = self.least(table.query_index, table.target_index)
        least = np.ones(len(table), np.int64) if asked is None else np.maximum(asked, 1)
        starts = query_starts(earlier), earlier.target_start
        paths = earlier.cigar_offsets, earlier.cigar_ops
        of_rows = Taken(offsets, *starts, *paths, least.astype(np.int32))
        return Rows(table.query_index, table.target_index, "alignment", table.strand, of_rows)

    def _judged(
        self, rows: Rows, own: Index, table: AlignmentTable, n_threads: int, progress: Progress | None
    ) -> tuple[Index, AlignmentTable]:
        """Return the rows of `own` that pass by corrected scores of the same kind, and their table."""
        assert self.composition is not None
        whole = self.options.whole
        raw = np.rint(table.score * whole.scale).astype(np.int32)
        kept, scores = self.composition.judged(
            rows.scores_of(own), raw, partial(self.suffices, table), n_threads, progress
        )
        return own[kept], replace(table.take(kept), corrected_score=whole.given(scores))


def _best_together(table: AlignmentTable, pair: Index, most: int) -> tuple[AlignmentTable, Index]:
    """Return the best alignments over all frames of each pair, renumbered; in case of ties the first frames."""
    assert table.hsp is not None
    order = np.lexsort((table.hsp, table.target_index, table.query_index, -table.score, pair))
    table, pair = table.take(order), pair[order]
    number = np.arange(len(pair)) - np.searchsorted(pair, pair) + 1
    kept = number <= most
    return replace(table.take(kept), hsp=number[kept].astype(np.int32)), pair[kept]


def _alignments(found: list[AlignmentTable], pairs: list[Index], going: Index) -> tuple[AlignmentTable, Index]:
    """Return the alignments of some pairs (ascending), grouped by pair, and their offsets."""
    pair = np.concatenate(pairs)
    order = np.argsort(pair, kind="stable")
    order = order[np.isin(pair[order], going)]
    offsets = np.searchsorted(pair[order], np.append(going, len(pairs[0])))
    return concatenate(found).take(order), offsets.astype(np.int64)
