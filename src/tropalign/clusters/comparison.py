"""Aligner of pairs of a set, with the processing order of sequences and the similarity of pairs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.clusters.options import ClusterOptions
from tropalign.errors import InputError, TropalignWarning, named
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device
from tropalign.pairwise.task import PairsTask
from tropalign.results.alignments import AlignmentTable
from tropalign.results.gapped import identities, lengths
from tropalign.sequences import SequenceBatch
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
    return (table.n_columns - table.n_gaps) / covered_length(*lengths(table), of)


def covered_length(member: NDArray[np.int64], representative: NDArray[np.int64], of: str) -> NDArray[np.int64]:
    """Return the length of the sequence to which coverage refers."""
    if of == "member":
        return member
    if of == "representative":
        return representative
    return np.maximum(member, representative) if of == "longer" else np.minimum(member, representative)
