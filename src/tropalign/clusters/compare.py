"""Pairs of a set aligned, and how similar they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tropalign.clusters.identity import coverages, identities
from tropalign.clusters.options import ClusterOptions
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device
from tropalign.pairwise.task import PairsTask
from tropalign.results.alignments import AlignmentTable, concatenate
from tropalign.sequences import SequenceBatch

Index = NDArray[np.int64]
Reals = NDArray[np.float64]
#: In place of an identity: less than any min-identity, 0 too.
NOT_COVERED = -1.0


class Comparison:
    """Aligns pairs of a set, for the length of a run.

    Parameters
    ----------
    batch
        The set.
    options
        How pairs are aligned, and what identity is.
    devices
        What computes.
    memory_bytes
        What aligning may take beside the set.
    """

    def __init__(
        self, batch: SequenceBatch, options: ClusterOptions, devices: Sequence[Device], memory_bytes: int
    ) -> None:
        self.batch, self.options = batch, options
        self._scheduler, self._memory_bytes = Scheduler(devices), memory_bytes

    def similarities(self, members: Index, representatives: Index) -> Reals:
        """Identity of each pair, -1 where too little is covered; float64, shape (n,)."""
        found = [self._similarity(table) for table in self._tables(members, representatives)]
        return np.concatenate(found) if found else np.zeros(0)

    def alignments(self, members: Index, representatives: Index) -> tuple[AlignmentTable, Reals]:
        """Alignment and identity of each of one or more pairs, in their order; the members are the queries."""
        table = concatenate(list(self._tables(members, representatives)))
        return table, identities(table, self.options.identity)

    def _tables(self, members: Index, representatives: Index) -> Iterator[AlignmentTable]:
        if not len(members):
            return
        queries, query = np.unique(members, return_inverse=True)
        targets, target = np.unique(representatives, return_inverse=True)
        pairs = np.stack([query, target], 1).astype(np.int64)
        task = PairsTask(self.batch[queries], self.batch[targets], self.options.pairs, pairs, self._memory_bytes)
        for result in self._scheduler.run([task]):
            yield result.value

    def _similarity(self, table: AlignmentTable) -> Reals:
        found = identities(table, self.options.identity)
        least = self.options.min_coverage
        return (
            found
            if least is None
            else np.where(coverages(table, self.options.coverage_of) >= least, found, NOT_COVERED)
        )
