"""Global alignment of queries to possible parents by vsearch's scores.

A gap of k residues costs 18 + 2k inside and 1 + k at the ends. The engines that align many pairs at once support one
gap cost and free ends. That suffices, since other numbers give the same optimal alignments:

* Every residue inside the alignment that does not overhang gets 1. So an aligned pair scores 2 more, and a residue
  in
  an inner gap costs 1 less: 18 + k. An overhanging residue costs 0, 1 less than before. All scores change by m + n,
  the residues of both sequences.
* Both sequences get an extra character at each end, ``^`` and ``$``. If nothing overhangs, they are aligned to each
  other and score 1; else they are aligned to a residue and score 0. So an overhang costs 1 at each end, and scores
  change by 2.

        ^ A C G T $                       ^ A C G T $      query: A overhangs and is aligned to ^
        ^ A C G G $    2 for the ends       ^ C G T $      1 for the ends
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.registry import CpuDevice
from tropalign.execution.scheduler import Scheduler
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.results.alignments import AlignmentTable
from tropalign.results.gapped import DELETION, DIFFERENT, EQUAL
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.scoring.letter_scores import matched, may_be_equal
from tropalign.sequences import NUCLEOTIDE, Alphabet, SequenceBatch

#: vsearch's scores for a match and a mismatch, and its inner gap; ambiguous residues score 0.
MATCH, MISMATCH, GAP = 2, -4, (18, 2)
FRONT, BEHIND = "^", "$"
WITH_ENDS = Alphabet("nucleotide with ends", NUCLEOTIDE.letters + FRONT + BEHIND, NUCLEOTIDE.wildcard)

Index = NDArray[np.int64]


def with_ends(batch: SequenceBatch) -> SequenceBatch:
    """Return the sequences with ``^`` prepended and ``$`` appended."""
    offsets = batch.offsets + 2 * np.arange(len(batch) + 1)
    is_end = np.zeros(int(offsets[-1]), bool)
    is_end[offsets[:-1]] = is_end[offsets[1:] - 1] = True
    both = []
    for values, codes in (
        (batch.codes, map(WITH_ENDS.code, FRONT + BEHIND)),
        (batch.letters, map(ord, FRONT + BEHIND)),
    ):
        found = np.empty(len(is_end), np.uint8)
        found[~is_end] = values
        found[offsets[:-1]], found[offsets[1:] - 1] = codes
        both.append(found)
    return SequenceBatch(both[0], offsets, batch.names, WITH_ENDS, both[1])


def scoring() -> PairOptions:
    """Return the scoring for sequences with ends."""
    n = len(NUCLEOTIDE.letters)
    scores = np.zeros((n + 2, n + 2))
    scores[:n, :n] = matched(NUCLEOTIDE, MATCH, MISMATCH, "zero") + 2
    scores[n, n] = scores[n + 1, n + 1] = 1
    matrix = SubstitutionMatrix.of((WITH_ENDS.letters, scores), WITH_ENDS)
    return PairOptions(matrix, Gap(GAP[0], GAP[1] - 1), mode="semiglobal")


class ParentAligner:
    """Global aligner of pairs of nucleotide queries and references; `is_ambiguous` is a mask by residue code."""

    def __init__(self, queries: SequenceBatch, references: SequenceBatch, n_threads: int, memory_bytes: int) -> None:
        self.queries = queries
        self.references = references
        self._query = with_ends(queries)
        self._reference = self._query if references is queries else with_ends(references)
        self._scheduler, self._options, self._memory_bytes = Scheduler([CpuDevice(n_threads)]), scoring(), memory_bytes
        several = {NUCLEOTIDE.wildcard, *NUCLEOTIDE.ambiguous}
        self.is_ambiguous = np.array([letter in several for letter in NUCLEOTIDE.letters])
        self._overlap = may_be_equal(NUCLEOTIDE)
        self._is_strange = tuple(self._have_ambiguous(batch) for batch in (queries, references))

    def _have_ambiguous(self, batch: SequenceBatch) -> NDArray[np.bool_]:
        """Return a mask of the sequences with an ambiguous residue."""
        before = np.concatenate([[0], np.cumsum(self.is_ambiguous[batch.codes], dtype=np.int64)])
        found: NDArray[np.bool_] = before[batch.offsets[1:]] > before[batch.offsets[:-1]]
        return found

    def alignments(self, query: Index, reference: Index) -> Iterator[AlignmentTable]:
        """Yield tables of alignments of pairs of sequences with ends, in the order of the pairs."""
        if len(query):
            pairs = np.stack([query, reference], 1)
            task = PairsTask(self._query, self._reference, self._options, pairs, self._memory_bytes)
            for result in self._scheduler.run([task]):
                yield result.value

    def matches(self, query: Index, reference: Index) -> NDArray[np.bool_]:
        """Return, for each residue of each pair's query, whether the aligned residue may be the same, concatenated.

        Queries include their end characters, whose values have no meaning.
        """
        found = [self._matches_of(table) for table in self.alignments(query, reference)]
        return np.concatenate(found) if found else np.zeros(0, bool)

    def _matches_of(self, table: AlignmentTable) -> NDArray[np.bool_]:
        kinds, counts = table.cigar_ops & 15, (table.cigar_ops >> 4).astype(np.int64)
        # Per row: the overhang in front, the operations, the overhang at the end.
        n, lengths = len(table), self._query.lengths[table.query_index]
        n_ops = np.diff(table.cigar_offsets)
        at = table.cigar_offsets[:-1] + 2 * np.arange(n)
        is_hanging = np.zeros(len(kinds) + 2 * n, bool)
        is_hanging[at] = is_hanging[at + n_ops + 1] = True
        is_equal, spans = np.zeros(len(is_hanging), bool), np.empty(len(is_hanging), np.int64)
        is_equal[~is_hanging], spans[~is_hanging] = kinds == EQUAL, np.where(kinds == DELETION, 0, counts)
        spans[at], spans[at + n_ops + 1] = table.query_start, lengths - table.query_end
        found = np.repeat(is_equal, spans)
        strange = np.flatnonzero(self._is_strange[0][table.query_index] | self._is_strange[1][table.target_index])
        ends = np.cumsum(lengths)
        for k in strange.tolist():
            found[ends[k] - lengths[k] + 1 : ends[k] - 1] = self._overlaps(table, k)
        return found

    def _overlaps(self, table: AlignmentTable, k: int) -> NDArray[np.bool_]:
        """Return the matches of one row, residue by residue, without the ends."""
        query, beside, _ = beside_query(table, k)
        is_paired = beside >= 0
        found = np.zeros(len(query), bool)
        found[is_paired] = self._overlap[query[is_paired], beside[is_paired]]
        return found


def beside_query(table: AlignmentTable, k: int) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.bool_]]:
    """Return codes of row k's query, of the target residues aligned to them, and where the target has insertions.

    Codes are int16, shape (m,), without the ends; -1 for a gap. Insertions are bool, shape (m + 1,): whether the
    target has residues before each query residue, and after the last one.
    """
    begin, end = table.cigar_offsets[k : k + 2]
    columns = np.repeat(table.cigar_ops[begin:end] & 15, table.cigar_ops[begin:end] >> 4)
    is_paired = (columns == EQUAL) | (columns == DIFFERENT)
    is_inserted = columns == DELETION
    query, target = (
        batch.codes[batch.offsets[number] : batch.offsets[number + 1]].astype(np.int16)
        for batch, number in ((table.queries, table.query_index[k]), (table.targets, table.target_index[k]))
    )
    in_query = table.query_start[k] + np.cumsum(~is_inserted) - 1
    in_target = table.target_start[k] + np.cumsum(is_inserted | is_paired) - 1
    beside = np.full(len(query), -1, np.int16)
    beside[in_query[is_paired]] = target[in_target[is_paired]]
    inserted = np.zeros(len(query), bool)
    inserted[in_query[is_inserted] + 1] = True
    # An end character that is aligned to a residue: the target overhangs there.
    is_letter = (beside >= 0) & (beside < len(NUCLEOTIDE.letters))
    inserted[1] |= is_letter[0]
    inserted[-1] |= is_letter[-1]
    return query[1:-1], np.where(is_letter, beside, -1)[1:-1].astype(np.int16), inserted[1:]
