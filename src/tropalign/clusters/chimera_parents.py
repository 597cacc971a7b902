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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.clusters.options import ChimeraRules
from tropalign.devices.registry import CpuDevice
from tropalign.execution.scheduler import Scheduler
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.results.aligned_pairs import DELETION, DIFFERENT, EQUAL
from tropalign.results.alignments import AlignmentTable
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.scoring.scores import matched, may_be_equal
from tropalign.sequences import NUCLEOTIDE, Alphabet, SequenceBatch

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
    step = max(1, SLICE_BYTES // matches.shape[1])
    slices = [slice(begin, begin + step) for begin in range(0, len(matches), step)]
    windows = [(rows, _sums(matches[rows] & is_left)) for rows in slices]
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


Codes = NDArray[np.int16]

NO, BORDERLINE, YES = "N", "?", "Y"


class Explained(NamedTuple):
    """A sequence as a join of two parents at the best breakpoint.

    score: product of both sides. is_swapped: whether the first parent is on the right side. left, right: columns of
    a side that vote yes, vote no, and abstain. model, a, b, ab: percent identity of the sequence to the model, the
    left parent and the right parent, and of the parents to each other.
    """

    score: float
    is_swapped: bool
    left: tuple[int, int, int]
    right: tuple[int, int, int]
    model: float
    a: float
    b: float
    ab: float

    def verdict(self, rules: ChimeraRules) -> str:
        """Return the verdict: chimera, borderline or not a chimera."""
        top = max(self.a, self.b)
        if rules.rule != "uchime":
            return YES if self.model == 100.0 and top < 100.0 else NO
        if self.score < rules.minh:
            return NO
        votes = min(sum(self.left), sum(self.right))
        return YES if self.model - top >= rules.mindiv and votes >= rules.mindiffs else BORDERLINE


def explained(query: Codes, a: Codes, b: Codes, counts: Booleans, rules: ChimeraRules) -> Explained | None:
    """Find the best breakpoint between a majority for one parent and one for the other; None without a breakpoint.

    query, a, b: codes of three aligned sequences. counts: mask of columns, excluding gaps, their neighbours and
    ambiguous residues.
    """
    query, a, b = query[counts], a[counts], b[counts]
    is_a, is_b, are_same = query == a, query == b, a == b
    votes_a, votes_b, abstains = is_a & ~is_b, is_b & ~is_a, ~is_a & ~is_b
    places = np.flatnonzero(votes_a | votes_b | abstains)
    if not len(places):
        return None
    before = np.cumsum(np.stack([votes_a[places], votes_b[places], abstains[places]]), axis=1, dtype=np.int64)
    behind = before[:, -1:] - before
    is_straight = (before[0] > before[1]) & (behind[1] > behind[0])
    is_swapped = (before[1] > before[0]) & (behind[0] > behind[1])
    # Votes as seen by the left parent: if swapped, a no is a yes. A split of neither kind scores nothing.
    yes = np.where(is_swapped, before[1], before[0]), np.where(is_swapped, behind[0], behind[1])
    no = np.where(is_swapped, before[0], before[1]), np.where(is_swapped, behind[1], behind[0])
    scores = [
        y / (rules.xn * (n + rules.dn) + abstained)
        for y, n, abstained in zip(yes, no, (before[2], behind[2]), strict=True)
    ]
    score = np.where(is_straight | is_swapped, scores[0] * scores[1], -1.0)
    best = int(np.argmax(score))
    if score[best] < 0:
        return None
    left, right = ((int(yes[k][best]), int(no[k][best]), int(side[2][best])) for k, side in enumerate((before, behind)))
    swapped = bool(is_swapped[best])
    if swapped:
        is_a, is_b = is_b, is_a
    split = places[best] + 1
    n_model = int(is_a[:split].sum() + is_b[split:].sum())
    numbers = (n_model, int(is_a.sum()), int(is_b.sum()), int(are_same.sum()))
    return Explained(float(score[best]), swapped, left, right, *(100.0 * n / len(query) for n in numbers))


def counted_columns(query: Codes, parents: tuple[Codes, Codes], inserted: Booleans, is_ambiguous: Booleans) -> Booleans:
    """Return the mask of query residues whose columns count, bool, shape (m,).

    parents: codes aligned to the query, -1 for a gap. inserted: bool, shape (m + 1,), whether a parent has residues
    before each query residue, and after the last one.
    """
    is_gap = (parents[0] < 0) | (parents[1] < 0)
    found = ~(is_gap | inserted[:-1] | inserted[1:])
    found[1:] &= ~is_gap[:-1]
    found[:-1] &= ~is_gap[1:]
    for codes in (query, *parents):
        found &= ~(is_ambiguous[codes] & (codes >= 0))
    return found


#: vsearch's scores for a match and a mismatch, and its inner gap; ambiguous residues score 0.
MATCH, MISMATCH, GAP = 2, -4, (18, 2)
FRONT, BEHIND = "^", "$"
WITH_ENDS = Alphabet("nucleotide with ends", NUCLEOTIDE.letters + FRONT + BEHIND, NUCLEOTIDE.wildcard)

Index = NDArray[np.int64]


# A gap of k residues costs 18 + 2k inside and 1 + k at the ends. The engines that align many pairs at once support one
# gap cost and free ends. That suffices, since other numbers give the same optimal alignments:
#
# * Every residue inside the alignment that does not overhang gets 1. So an aligned pair scores 2 more, and a residue
#   in an inner gap costs 1 less: 18 + k. An overhanging residue costs 0, 1 less than before. All scores change by
#   m + n, the residues of both sequences.
# * Both sequences get an extra character at each end, ``^`` and ``$``. If nothing overhangs, they are aligned to each
#   other and score 1; else they are aligned to a residue and score 0. So an overhang costs 1 at each end, and scores
#   change by 2.
#
#         ^ A C G T $                       ^ A C G T $      query: A overhangs and is aligned to ^
#         ^ A C G G $    2 for the ends       ^ C G T $      1 for the ends
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
            query, beside, _ = beside_query(table, k)
            is_paired = beside >= 0
            overlaps = np.zeros(len(query), bool)
            overlaps[is_paired] = self._overlap[query[is_paired], beside[is_paired]]
            found[ends[k] - lengths[k] + 1 : ends[k] - 1] = overlaps  # excludes the query's ends
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
