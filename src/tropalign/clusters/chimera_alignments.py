"""Queries aligned from end to end with possible parents, by vsearch's scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.registry import CpuDevice
from tropalign.execution.scheduler import Scheduler
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.results.alignments import AlignmentTable
from tropalign.results.gapped import DELETION, DIFFERENT, EQUAL
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.scoring.letter_scores import may_be_equal
from tropalign.sequences import Alphabet, SequenceBatch

#: vsearch's defaults: letters, and gaps of k residues inside (18 + 2k) and at the ends (1 + k).
MATCH, MISMATCH, GAP, END_GAP = 2, -4, (18, 2), (1, 1)
#: Pairs whose lengths differ by no more than this share of the longer one are tried with free ends first.
ALIKE = 0.1

Index = NDArray[np.int64]
Codes = NDArray[np.uint8]


class Letters:
    """What letters of an alphabet tell of each other.

    Attributes
    ----------
    overlap : bool, shape (n_letters, n_letters)
        Whether two letters may stand for one residue.
    is_ambiguous : bool, shape (n_letters,)
        Whether a letter stands for several residues.
    """

    def __init__(self, alphabet: Alphabet) -> None:
        self.overlap = may_be_equal(alphabet)
        several = {alphabet.wildcard, *alphabet.ambiguous}
        self.is_ambiguous = np.array([letter in several for letter in alphabet.letters])

    def have_ambiguous(self, batch: SequenceBatch) -> NDArray[np.bool_]:
        """Which sequences have such a letter; bool, shape (n,)."""
        before = np.concatenate([[0], np.cumsum(self.is_ambiguous[batch.codes], dtype=np.int64)])
        found: NDArray[np.bool_] = before[batch.offsets[1:]] > before[batch.offsets[:-1]]
        return found


class ParentAligner:
    """Aligns pairs of queries and references, each pair from end to end.

    An alignment of pairs of lanes knows one gap cost, and one with costs of their own for the ends takes five times as
    long. So pairs of similar lengths are aligned with free ends first. Where that leaves no residue over at any end,
    it is the alignment that is looked for, and the same among equally good ones: every alignment scores at least as
    much with free ends, and this one no more. All other pairs are aligned again.

    Parameters
    ----------
    queries, references
        Of one alphabet.
    n_threads
        That compute.
    memory_bytes
        What alignments may take.
    """

    def __init__(
        self, queries: SequenceBatch, references: SequenceBatch, n_threads: int, memory_bytes: int
    ) -> None:
        self.queries, self.references, self._memory_bytes = queries, references, memory_bytes
        self.letters = Letters(queries.alphabet)
        matrix = SubstitutionMatrix.match_mismatch(MATCH, MISMATCH, queries.alphabet, "zero")
        self._with_free_ends = PairOptions(matrix, Gap(*GAP), mode="semiglobal")
        self._whole = PairOptions(matrix, Gap(*GAP), mode="global", end_gap=Gap(*END_GAP))
        self._scheduler = Scheduler([CpuDevice(n_threads)])
        self._is_ambiguous = self.letters.have_ambiguous(queries), self.letters.have_ambiguous(references)

    def matches(self, query: Index, reference: Index) -> NDArray[np.bool_]:
        """Whether each letter of a pair's query stands beside one that may be the same; the pairs one after another."""
        lengths = self.queries.lengths[query]
        found = np.empty(int(lengths.sum()), bool)
        for rows, table in self.alignments(query, reference):
            is_row = np.zeros(len(query), bool)
            is_row[rows] = True
            found[np.repeat(is_row, lengths)] = self._matches_of(table)
        return found

    def alignments(self, query: Index, reference: Index) -> Iterator[tuple[Index, AlignmentTable]]:
        """Alignments of pairs, some at a time, with the places of their pairs, which ascend."""
        m, n = self.queries.lengths[query], self.references.lengths[reference]
        is_alike = np.abs(m - n) <= ALIKE * np.maximum(m, n)
        others = [np.flatnonzero(~is_alike)]
        for rows, table in self._tables(self._with_free_ends, query, reference, np.flatnonzero(is_alike)):
            is_whole = (table.query_start == 0) & (table.target_start == 0)
            is_whole &= (table.query_end == m[rows]) & (table.target_end == n[rows])
            others.append(rows[~is_whole])
            yield rows[is_whole], table if is_whole.all() else table.take(is_whole)
        yield from self._tables(self._whole, query, reference, np.sort(np.concatenate(others)))

    def _tables(
        self, options: PairOptions, query: Index, reference: Index, rows: Index
    ) -> Iterator[tuple[Index, AlignmentTable]]:
        if not len(rows):
            return
        pairs = np.stack([query[rows], reference[rows]], 1)
        task = PairsTask(self.queries, self.references, options, pairs, self._memory_bytes)
        begin = 0
        for result in self._scheduler.run([task]):
            table = result.value
            yield rows[begin : begin + len(table)], table
            begin += len(table)

    def _matches_of(self, table: AlignmentTable) -> NDArray[np.bool_]:
        """Whether letters of queries stand beside letters that may be the same, row after row."""
        kinds, counts = table.cigar_ops & 15, table.cigar_ops >> 4
        of_query = kinds != DELETION
        found = np.repeat(kinds[of_query] == EQUAL, counts[of_query])
        in_query, in_reference = self._is_ambiguous
        strange = np.flatnonzero(in_query[table.query_index] | in_reference[table.target_index])
        if len(strange):
            lengths = self.queries.lengths[table.query_index]
            ends = np.cumsum(lengths)
            for k in strange.tolist():
                found[ends[k] - lengths[k] : ends[k]] = self._overlaps(table, k)
        return found

    def _overlaps(self, table: AlignmentTable, k: int) -> NDArray[np.bool_]:
        """The same of one row, by its letters."""
        query, beside = beside_query(table, k)
        is_paired = beside >= 0
        found = np.zeros(len(query), bool)
        found[is_paired] = self.letters.overlap[query[is_paired], beside[is_paired]]
        return found


def beside_query(table: AlignmentTable, k: int) -> tuple[Codes, NDArray[np.int16]]:
    """The codes of row k's query, and of the target's letters beside them, -1 for a gap."""
    query, target = _codes(table.queries, table.query_index[k]), _codes(table.targets, table.target_index[k])
    columns = _columns(table, k)
    beside = np.full(len(query), -1, np.int16)
    is_paired = (columns == EQUAL) | (columns == DIFFERENT)
    in_query = np.cumsum(columns != DELETION) - 1
    in_target = np.cumsum((columns == DELETION) | is_paired) - 1
    beside[in_query[is_paired]] = target[in_target[is_paired]]
    return query, beside


def is_inserted(table: AlignmentTable, k: int) -> NDArray[np.bool_]:
    """Whether row k's target has letters before each letter of the query, and behind the last one; shape (m + 1,)."""
    columns = _columns(table, k)
    is_target_alone = columns == DELETION
    found = np.zeros(int((~is_target_alone).sum()) + 1, bool)
    found[np.cumsum(~is_target_alone)[is_target_alone]] = True
    return found


def _columns(table: AlignmentTable, k: int) -> NDArray[np.uint32]:
    """The operation of each column of a row."""
    operations = table.cigar_ops[table.cigar_offsets[k] : table.cigar_offsets[k + 1]]
    return np.repeat(operations & 15, operations >> 4)


def _codes(batch: SequenceBatch, k: Any) -> Codes:
    return batch.codes[batch.offsets[k] : batch.offsets[k + 1]]
