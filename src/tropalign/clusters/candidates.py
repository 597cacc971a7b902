"""Aligner of pairs of a set, and the filter that skips pairs that cannot be similar enough.

Proofs. A pair is skipped if its identity is certainly below t = `min_identity` > 0. Let the sequences have m and n
residues, and their alignment x identical columns in r runs (of neighbouring identical columns).

k-mers. A run of k identical columns holds k - q + 1 common q-mers, each at its own position. So the sequences have
s >= x - r (q - 1) q-mers in common, counted with the smaller number of copies. (Hash collisions only add to s.)

Runs. Between two runs there is a column that is not identical. By `columns` and `internal`, a sufficient alignment has
at most x/t columns (from the first pair to the last), hence r <= 1 + x/t - x and, with a = 1 - (q - 1)(1/t - 1),

    x <= (s + q - 1) / a

q is chosen so that a is at least 1/2. By `openings`, at most e = (1 - t) max(m, n) columns or gaps interrupt runs, so
that x <= s + (1 + e)(q - 1).

Required x. By `columns`, a global alignment has at least max(m, n) columns: x >= t max(m, n). With a coverage F, at
least p = F max(m, n) columns pair two residues (or F times the residues of the covered sequence), so that x >= t p by
`internal` and x >= p - e by `openings`. If the two bounds of x exclude each other, the pair is skipped.

Other alignments. Without a coverage, `internal` does not bound the length between the end gaps. But a global alignment
that pairs only P <= x/t (or x + e) residues pays for m + n - 2P residues in gaps, at least two gaps if P < min(m, n),
and scores at most

    P * (the highest score of the matrix) - (m + n - 2P) extend - 2 open

with the lowest of all gap costs (inner, end, both pieces). The reported alignment has the best score of all; if even
one without an inner gap, along one of a few diagonals, scores more than that, the pair is skipped. See "Cheap
ends" for a better one.

Cheap ends. Let a gap at an end cost E + k e, at most as much as an inner one, O + k o. An alignment of P pairs and I
residues in inner gaps has m + n - 2P - I residues in end gaps. So its score plus e (m + n), plus E for each of at most
two end gaps, equals its score with 2 e added to each pair, inner gaps of O + k (o - e), and free ends. The best score
of that kind is found by the engine of affine costs, which takes an eighth of the time of the one of other costs for a
cell. It gives the best score but for 2 E: enough to skip the pair as above, or to see which strand is not reported.

Subsequences. By `shorter`, gaps in the shorter sequence are free and neither bound holds, nor for `longer` and
`matches`. But x is at most the length of the longest common subsequence (native/msa/lcs.hpp). A pair is skipped if that
is less than t min(m, n) (t max(m, n) by `longer`, t p by `matches`), or if min(m, n) pairs of residues cannot reach the
coverage.

Side by side. Before that, the target of n residues is cut into floor(n/q) q-mers. A residue of it outside identical
columns spoils at most one of them, and a residue of the query outside identical columns spoils at most one, by standing
between two of its residues. All others occur in the query, each at its own position. So a pair is skipped if it has
fewer than floor(n/q) - (n - x) - (m - x) of them in common, where x is t min(m, n), rounded up. The index has an eighth
of the entries of all q-mers, and a lookup takes an eighth of the time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import places_of
from tropalign.clusters.options import ClusterOptions
from tropalign.errors import InputError, TropalignWarning, named
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device
from tropalign.pairwise.task import PairsTask
from tropalign.results.aligned_pairs import aligned_lengths, identities, is_ambiguous
from tropalign.results.alignments import AlignmentTable
from tropalign.sequences import Alphabet, SequenceBatch
from tropalign.sequences.annotations import counts_of, has_count


def processing_order(batch: SequenceBatch, sizes: NDArray[np.int64], order: str) -> NDArray[np.int64]:
    """Return the indices of the sequences in processing order; ties are in input order."""
    if order == "input":
        return np.arange(len(batch))
    keys = sizes if order == "abundance" else batch.lengths
    return np.argsort(-keys, kind="stable").astype(np.int64)


Index = NDArray[np.int64]
Reals = NDArray[np.float64]
#: Replaces the identity of uncovered pairs: less than any min-identity, even 0.
NOT_COVERED = -1.0
#: Overhead per sequence in bytes, share of the memory for copied sequences, and lower bound of the pair limit per
#: task.
SEQUENCE_BYTES, COPIED_SHARE, LEAST_PAIRS = 256, 0.3, 256
#: A sequence this many times longer than the median causes a warning.
GIANT = 1000


def check_set(batch: SequenceBatch, options: ClusterOptions) -> None:
    """Check that scores and order suit the sequences; warn of one that is far longer than all others.

    Each of the others may fit in it, as reads fit in a chromosome.
    """
    usual, longest = float(np.median(batch.lengths)), int(batch.lengths.max())
    if not options.min_coverage and longest >= GIANT * usual:
        name = batch.names[int(batch.lengths.argmax())]
        warnings.warn(
            f"record {name!r} has {longest:,} residues, {longest / usual:,.0f} times the median: aligning others with "
            f"all of it is slow, and most will match somewhere: leave it out, or set {named('min_coverage')}",
            TropalignWarning,
            stacklevel=3,
        )
    options.pairs.matrix.check(batch)
    options.pairs.check_range(longest)
    if options.order == "abundance" and not options.n_given and not any(map(has_count, batch.names)):
        raise InputError("no name has an abundance such as ;size=12: add abundances, or choose order length or input")


@dataclass
class Tally:
    """Compared pairs and cells, and the time taken."""

    n_pairs: int = 0
    n_cells: int = 0
    seconds: float = 0.0


class Comparison:
    """Aligner of pairs of a set during a run; the query is always the member, on which ties may depend.

    `sizes`: int64, shape (n,), reads per sequence. `order`, `rank`: int64, shape (n,), sequences in processing order,
    and the position of each. `tally`: alignments so far.
    """

    def __init__(
        self, batch: SequenceBatch, options: ClusterOptions, devices: Sequence[Device], memory_bytes: int
    ) -> None:
        self.batch, self.options, self.tally = batch, options, Tally()
        self.sizes = np.zeros(len(batch), np.int64)  # counts of given representatives are ignored, even size=0
        self.sizes[options.n_given :] = counts_of(batch.names[options.n_given :])
        self.order = processing_order(batch, self.sizes, "input" if options.n_given else options.order)
        self.rank = np.empty(len(batch), np.int64)
        self.rank[self.order] = np.arange(len(batch))
        self._scheduler, self._memory_bytes = Scheduler(devices), memory_bytes
        # Both sequences of each pair may be copied, and the reverse complement.
        copied = 3 * (float(batch.lengths.mean()) + SEQUENCE_BYTES)
        self._most_pairs = max(LEAST_PAIRS, int(COPIED_SHARE * memory_bytes / copied))

    def similarities(self, members: Index, representatives: Index) -> Reals:
        """Return the identity of each pair, -1 if too little is covered; float64, shape (n,)."""
        found, least = [np.zeros(0)], self.options.min_coverage
        for table, identity in self.alignments(members, representatives):
            is_covered = True if least is None else coverages(table, self.options.coverage_of) >= least
            found.append(np.where(is_covered, identity, NOT_COVERED))
        return np.concatenate(found)

    def pair_similarities(self, first: Index, second: Index) -> Reals:
        """Return the identity of pairs of sequences; the one later in processing order is the member, as in results."""
        is_later = self.rank[first] > self.rank[second]
        return self.similarities(np.where(is_later, first, second), np.where(is_later, second, first))

    def alignments(self, members: Index, representatives: Index) -> Iterator[tuple[AlignmentTable, Reals]]:
        """Yield alignments and identities of pairs, in order and in parts; the members are the queries."""
        n_strands = 2 if self.options.pairs.strand == "both" else 1
        for first in range(0, len(members), self._most_pairs):
            begin, some = time.perf_counter(), slice(first, first + self._most_pairs)
            queries, query = np.unique(members[some], return_inverse=True)
            targets, target = np.unique(representatives[some], return_inverse=True)
            self.tally.n_pairs += len(query)
            lengths = self.batch.lengths
            self.tally.n_cells += n_strands * int(lengths[members[some]] @ lengths[representatives[some]])
            pairs = np.stack([query, target], 1).astype(np.int64)
            task = PairsTask(self.batch[queries], self.batch[targets], self.options.pairs, pairs, self._memory_bytes)
            for result in self._scheduler.run([task]):
                self.tally.seconds += time.perf_counter() - begin
                yield result.value, identities(result.value, self.options.identity)
                begin = time.perf_counter()


def coverages(table: AlignmentTable, of: str) -> Reals:
    """Return the share of aligned residues per row of full alignments, float64; members are the queries."""
    return (table.n_columns - table.n_gaps) / covered_length(*aligned_lengths(table), of)


def covered_length(member: NDArray[np.int64], representative: NDArray[np.int64], of: str) -> NDArray[np.int64]:
    """Return the length of the sequence to which coverage refers."""
    if of == "member":
        return member
    if of == "representative":
        return representative
    return np.maximum(member, representative) if of == "longer" else np.minimum(member, representative)


#: Codes and offsets of the queries and of the targets.
Codes = tuple[NDArray[np.uint8], Index, NDArray[np.uint8], Index]

#: Longest k-mers, for nucleotides (True) and proteins (False).
MOST_WORD = {True: 8, False: 4}
#: Each differing column destroys some of the k-mers that identical columns would share. k is chosen so that at most
#: half are lost in this way.
LEAST_LEFT = 0.5
#: With `shorter` identity, this share of the k-mers must be left between two sequences of equal length at the
#: threshold. k-mers shorter than LEAST_WORD occur in most sequences; then the longest common subsequence is computed
#: at once.
LEAST_WORDS = 0.25
LEAST_WORD = {True: 5, False: 3}
#: Larger than any alphabet.
N_CODES = 32
#: Above this product of two lengths, a common subsequence takes minutes and cannot be interrupted: the pair is
#: aligned instead.
MOST_LETTERS = 1 << 40
#: Pairs whose common subsequences are checked at once; each takes 60 bytes meanwhile.
AT_ONCE = 1 << 18
#: Memory for scores of pairs.
SCORING_BYTES = 64 << 20
#: Bound of rounding errors.
ROUNDING = 1e-6


class CandidateFilter:
    """Filter that removes pairs that cannot be similar enough; `tally` counts the pairs that it has checked."""

    def __init__(self, options: ClusterOptions, alphabet: Alphabet, n_threads: int) -> None:
        self._options, self._n_threads, self.tally = options, n_threads, Tally()
        share = options.min_identity
        self._word, self._left = 0, 0.0
        self._has_bound = share > 0
        #: Residues that may be equal to others, or are ignored; None if only equal residues count as identical.
        self._ambiguous = is_ambiguous(alphabet) if options.pairs.ambiguous != "differ" else None
        most = MOST_WORD[bool(alphabet.complement)]
        if self._has_bound and options.identity == "matches":
            self._word = 0  # gaps, which interrupt runs of identical columns, do not count
        elif self._has_bound and options.identity in ("shorter", "longer"):
            longest = (1 - LEAST_WORDS) / (2 * max(1 - share, ROUNDING))
            self._word = min(most, int(longest)) if longest >= LEAST_WORD[bool(alphabet.complement)] else 0
        elif self._has_bound:
            lost = 1 / share - 1  # differing columns per identical column
            self._word = most if not lost else min(most, 1 + int((1 - LEAST_LEFT) / lost))
            self._left = 1 - (self._word - 1) * lost
        self._pays_ends = options.pairs.pays_ends
        whole = options.pairs.whole
        (*inner, open2, extend2), (*end, end_open2, end_extend2) = whole.gap, whole.end_gap
        is_simple = inner == [open2, extend2] and end == [end_open2, end_extend2]
        self._has_cheap_ends = (
            self._pays_ends
            and is_simple
            and inner != end
            and all(cost <= most for cost, most in zip(end, inner, strict=True))
        )

    def within(
        self, queries: SequenceBatch, targets: SequenceBatch, asked: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """Return the pairs that may be similar enough, bool, shape (len(queries), len(targets)).

        asked: pairs to check, of the same shape; all by default.
        """
        if not self._has_bound:
            return np.ones((len(queries), len(targets)), bool) if asked is None else asked
        begin, n_strands = time.perf_counter(), 2 if self._options.pairs.strand == "both" else 1
        keep = self._on_strand(queries, targets, asked)
        if n_strands == 2:
            reverse = queries.reverse_complement()
            other = self._on_strand(reverse, targets, asked)
            if self._has_cheap_ends:
                self._drop_weaker(keep, other, queries, reverse, targets)
                self._drop_weaker(other, keep, reverse, queries, targets)
            keep |= other
        if self._ambiguous is not None:  # the bounds count equal residues only
            may_match = self._have_ambiguous(queries)[:, None] | self._have_ambiguous(targets)[None, :]
            keep |= may_match if asked is None else may_match & asked
        self.tally.n_pairs += keep.size
        self.tally.n_cells += n_strands * int(queries.lengths.sum()) * int(targets.lengths.sum())
        self.tally.seconds += time.perf_counter() - begin
        return keep

    def _drop_weaker(
        self,
        keep: NDArray[np.bool_],
        other: NDArray[np.bool_],
        queries: SequenceBatch,
        reverse: SequenceBatch,
        targets: SequenceBatch,
    ) -> None:
        """Drop pairs that may be similar on only one strand if the other strand certainly scores more."""
        query, target = places_of(keep & ~other)
        most = self._scores((queries.codes, queries.offsets, targets.codes, targets.offsets), query, target)
        found = self._scores((reverse.codes, reverse.offsets, targets.codes, targets.offsets), query, target)
        least = found - 2 * self._options.pairs.whole.end_gap[0]
        keep[query, target] = (least <= most) | np.isinf(found)

    def _have_ambiguous(self, batch: SequenceBatch) -> NDArray[np.bool_]:
        """Return a mask of the sequences with an ambiguous residue, bool, shape (len(batch),)."""
        assert self._ambiguous is not None
        before = np.concatenate([[0], np.cumsum(self._ambiguous[batch.codes])])
        found: NDArray[np.bool_] = np.diff(before[batch.offsets]) > 0
        return found

    def _on_strand(
        self, queries: SequenceBatch, targets: SequenceBatch, asked: NDArray[np.bool_] | None
    ) -> NDArray[np.bool_]:
        codes = (queries.codes, queries.offsets, targets.codes, targets.offsets)
        if self._options.identity in ("shorter", "longer", "matches"):
            return self._by_subsequences(queries, targets, codes, asked)
        options, query, target = self._options, queries.lengths[:, None], targets.lengths[None, :]
        longer = np.maximum(query, target)
        # Bounds of a similar pair's identical columns: upper, by common k-mers, and lower.
        shared = _native.shared_words(*codes, self._word, self._n_threads)
        least = (options.min_coverage or 0.0) * covered_length(query, target, options.coverage_of)
        if options.identity == "openings":
            different = (1 - options.min_identity) * longer
            most = shared + (1 + different) * (self._word - 1)
            least = np.maximum(0.0, least - different)
        else:
            most = (shared + (self._word - 1)) / self._left
            if options.identity in ("columns", "blast") and self._pays_ends:
                least = np.maximum(least, longer)
            least = options.min_identity * least
        keep: NDArray[np.bool_] = most >= least - ROUNDING
        if asked is not None:
            keep &= asked
        if self._pays_ends and not options.pairs.has_track:  # the bounds are those of one matrix
            query, target = places_of(keep)
            keep[query, target] = self._may_be_best(codes, query, target, most[query, target])
        return keep

    def _by_subsequences(
        self, queries: SequenceBatch, targets: SequenceBatch, codes: Codes, asked: NDArray[np.bool_] | None
    ) -> NDArray[np.bool_]:
        """Return the pairs with a long enough common subsequence, computed only for pairs with enough common k-mers."""
        options, share, n_threads = self._options, self._options.min_identity, self._n_threads
        query, target = queries.lengths[:, None], targets.lengths[None, :]
        similar = np.ones((len(queries), len(targets)), bool)
        if options.min_coverage:
            longest = np.minimum(query, target) + ROUNDING
            similar = options.min_coverage * covered_length(query, target, options.coverage_of) <= longest
        if asked is not None:
            similar &= asked
        if self._word:
            similar &= _native.similar_by_words(*codes, self._word, share, ROUNDING, n_threads).view(bool)
        wanted = similar
        if int(query.max()) * int(target.max()) > MOST_LETTERS:
            wanted = similar & (query * target <= MOST_LETTERS)
        # Lengths of the longest common subsequences.
        n, n_all = len(queries), len(queries) + len(targets)
        common = _native.lcs_lengths(
            np.concatenate([queries.codes, targets.codes]),
            np.concatenate([queries.offsets, targets.offsets[1:] + queries.offsets[-1]]),
            N_CODES,
            np.arange(n, dtype=np.int32),
            np.arange(n, n_all, dtype=np.int32),
            n_threads,
            wanted=None if wanted.all() else wanted.view(np.uint8),
        )
        places = np.flatnonzero(wanted)
        for begin in range(0, len(places), AT_ONCE):
            some = places[begin : begin + AT_ONCE]
            row, column = np.divmod(some, len(targets))
            lengths = queries.lengths[row], targets.lengths[column]
            # Lower limit of the divisor of the identical columns.
            if options.identity == "matches":  # pairs of residues
                divisor = (options.min_coverage or 0.0) * covered_length(*lengths, options.coverage_of)
            else:
                divisor = (np.minimum if options.identity == "shorter" else np.maximum)(*lengths)
            np.put(similar, some, np.take(common, some) >= share * divisor - ROUNDING)
        return similar

    def _may_be_best(
        self,
        codes: Codes,
        query: Index,
        target: Index,
        identical: Reals,
    ) -> NDArray[np.bool_]:
        """Return a mask of pairs in which a sufficiently similar alignment may score as high as a known alternative."""
        pairs = self._options.pairs
        m, n = np.diff(codes[1])[query], np.diff(codes[3])[target]
        shorter = np.minimum(m, n)
        if self._options.identity == "openings":
            paired = identical + (1 - self._options.min_identity) * np.maximum(m, n)
        else:
            paired = identical / self._options.min_identity
        paired = np.minimum(shorter, np.floor(paired + ROUNDING))
        n_gaps = np.where(paired < shorter, 2, m != n)
        whole = pairs.whole
        costs = (whole.scores, *whole.end_gap[:2])  # the only gaps are at the ends and cost at most this
        every = (*whole.gap, *whole.end_gap)
        highest = max(int(whole.scores.max()), 0)
        most = highest * paired - min(every[::2]) * n_gaps - min(every[1::2]) * (m + n - 2 * paired)
        enough = most.astype(np.int32)
        keep: NDArray[np.bool_] = _native.score_floors(*codes, query, target, enough, *costs, self._n_threads) <= most
        if self._has_cheap_ends:
            may = np.flatnonzero(keep)
            found = self._scores(codes, query[may], target[may])
            keep[may] = (found - 2 * whole.end_gap[0] <= most[may]) | np.isinf(found)
        return keep

    def _scores(self, codes: Codes, query: Index, target: Index) -> Reals:
        """Return upper bounds of the scores of pairs with cheap end gaps, float64, shape (n,).

        They exceed the scores by at most two costs of opening an end gap. They are infinite if a pair is too long.
        """
        whole = self._options.pairs.whole
        m, n = np.diff(codes[1])[query], np.diff(codes[3])[target]
        extend, found = whole.end_gap[1], np.full(len(query), np.inf)
        fits = np.flatnonzero(m * n <= MOST_LETTERS)
        scores, gap = whole.scores + np.int32(2 * extend), (whole.gap[0], whole.gap[1] - extend)
        how: tuple[Any, ...] = (scores, *gap, "global", (True,) * 4, 0, self._n_threads, SCORING_BYTES, None)
        for begin in range(0, len(fits), AT_ONCE):
            some = fits[begin : begin + AT_ONCE]
            with suppress(MemoryError):  # very long sequences
                free = _native.align_pairs(*codes, query[some], target[some], *how)["score"]
                found[some] = np.maximum(free, 0) - extend * (m + n)[some]
        return found
