"""The stages of a multiple alignment (Gudys and Deorowicz 2014; docs/msa.md).

family --I--> posteriors, distances --II--> guide tree, weights --III--> consistent posteriors --IV--> columns
              tiles, over devices           a moment                     a pass at a time             and confidence

Results of a stage may be stored (`Checkpoint`), so that a killed run can resume. This module is independent of
files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import UsageError, named
from tropalign.execution.scheduler import Scheduler
from tropalign.msa.confidence import Confidence, calibrated
from tropalign.msa.consistency import CONSISTENCY_RULES, SPLITS, relax
from tropalign.msa.family import FamilyInput as FamilyInput
from tropalign.msa.family import foreign_members, is_long, require_short, tell_of_foreign
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.models import PairModel, model_of, other_models, shares
from tropalign.msa.task import (
    FOUND_BYTES,
    FOUND_MARGIN,
    MANY_ROW_ELEMENTS,
    MOST_KEPT_BYTES,
    SAMPLE_MARGIN,
    SCRATCH_SHARE,
    Checkpoint,
    MemoryEstimate,
    Meter,
    NoCheckpoint,
    Posteriors,
    PosteriorTask,
    pair_indices,
    restored,
    sampled_row_elements,
    sections,
    stage_costs,
)
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.alphabet import PROTEIN

if TYPE_CHECKING:
    from tropalign.execution.progress import StageProgress
    from tropalign.execution.task import Device, Tile

#: Cells of a local score that take as long as one cell of posteriors.
SCORE_CELLS = 30


def check_options(job: FamilyInput) -> None:
    """Reject options that exclude each other, with UsageError."""
    if job.options.drop_foreign and job.tree is not None:
        raise UsageError(
            f"{named('drop_foreign')} removes sequences, which a given tree does not allow: leave out one of the two"
        )
    if job.options.drop_foreign and not job.options.judges_members:
        raise UsageError(
            f"foreign members are only detected with effort default or accurate and with tropalign's rules: leave "
            f"{named('drop_foreign')} out, or set {named('effort')} default"
        )
    if job.options.effort == "fast" and job.tree is not None:
        raise UsageError("effort fast builds its own tree: choose effort default, or leave the tree out")


def align(
    job: FamilyInput,
    devices: Sequence[Device],
    n_threads: int,
    memory_bytes: int,
    kept: Checkpoint | None = None,
    progress: StageProgress | None = None,
) -> MultipleAlignment:
    """Align a family; `memory_bytes` excludes the family itself.

    `devices` compute posteriors, `n_threads` the other stages. An exception from `progress` stops the alignment.
    """
    check_options(job)
    if len(job.batch) == 1:
        n = len(job.batch.codes)
        ones = np.ones(n, np.float32) if job.wants_confidence else None
        leaf = GuideTree(np.zeros((0, 2), np.int32), np.zeros(1))
        return _finished(job, np.arange(n, dtype=np.int32), (ones, ones), leaf)
    if kept is None and (anchored := align_by_anchors(job, devices, n_threads, memory_bytes, progress)) is not None:
        return anchored
    require_short(job.batch)
    if job.options.effort == "fast":
        from tropalign.msa.large import align_large

        found = align_large(job.batch, job.options, devices, n_threads, memory_bytes, kept, progress)
        confidence = (found.residue_confidence, found.column_confidence) if job.wants_confidence else (None, None)
        return _finished(job, found.columns, confidence, found.tree)
    return _Stages(job, devices, n_threads, memory_bytes, kept or NoCheckpoint(), progress).run()


def align_by_anchors(
    job: FamilyInput,
    devices: Sequence[Device],
    n_threads: int,
    memory_bytes: int,
    progress: StageProgress | None = None,
    *,
    is_long_enough: bool | None = None,
) -> MultipleAlignment | None:
    """Align a family of long, similar sequences piece by piece; None if it is no such family (anchored.py).

    `is_long_enough`: whether cuts pay, by default by `is_long`. Without the members that `drop_foreign` leaves out, the
    family is aligned as a whole if it cannot be cut.
    """
    if not (is_long(job) if is_long_enough is None else is_long_enough):
        return None
    from tropalign.msa.anchored import align_anchored, is_similar, tell_of_alone
    from tropalign.msa.clades import align_clades, has_clades

    how = (devices, n_threads, memory_bytes)

    def aligned(piece: FamilyInput) -> MultipleAlignment:
        return align(piece, *how)

    found = align_anchored(job, aligned, n_threads, memory_bytes, progress) if is_similar(job.batch) else None
    by_clades = None
    if found is None or (found.is_alone.any() and has_clades(job.batch)):
        by_clades = align_clades(job, aligned, *how, progress)
    if by_clades is not None:
        found = by_clades
        if found.is_alone.any():
            tell_of_foreign(job.batch, np.flatnonzero(found.is_alone), job.options.drop_foreign)
    elif found is not None:
        tell_of_alone(job.batch, found.is_alone, job.options.drop_foreign)
    else:
        return None
    if job.options.drop_foreign and found.is_alone.any():
        rest = replace(job, batch=job.batch[np.flatnonzero(~found.is_alone)])
        anchored = align_by_anchors(rest, *how, progress, is_long_enough=True)
        if anchored is not None:
            return anchored
        return align(replace(rest, options=replace(rest.options, no_anchors=True)), *how, progress=progress)
    confidence = (found.residue_confidence, found.column_confidence) if job.wants_confidence else (None, None)
    return _finished(replace(job, is_calibrated=True), found.columns, confidence, found.tree)


def pair_cells(job: FamilyInput) -> int:
    """Return the cells of all pairs of the family."""
    lengths = job.batch.lengths.astype(float)
    return int((lengths.sum() ** 2 - (lengths**2).sum()) / 2)


def score_cells(job: FamilyInput) -> int:
    """Return the cost of the family's posteriors, in cells of a local score."""
    return pair_cells(job) * SCORE_CELLS


def kept_stages(job: FamilyInput) -> tuple[int, int]:
    """Return the number of stages that store parts, and the maximum number of parts per stage."""
    if job.options.effort == "fast":
        return 2, len(job.batch)  # the tree, and a part per group
    return job.options.consistency + 2, max(1, len(_task(job).tiles()))


def _task(job: FamilyInput, scratch_bytes: int | None = None) -> PosteriorTask:
    batch, options = job.batch, job.options
    model = job.model or model_of(batch.alphabet, options.rules)
    shards = [(k, job.n_shards) for k in range(1, job.n_shards + 1)]
    return PosteriorTask(batch, model, options.cutoff, options.keep, scratch_bytes=scratch_bytes, shards=shards)


def voting_models(job: FamilyInput) -> tuple[PairModel, ...]:
    """Return the models that vote in addition to the first one; empty for most efforts."""
    return other_models(job.batch.alphabet) if job.options.votes and job.model is None else ()


def _finished(
    job: FamilyInput, columns: NDArray[np.int32], confidence: Sequence[NDArray[np.float32] | None], tree: GuideTree
) -> MultipleAlignment:
    """Return the result, its rows in the requested order."""
    if job.batch.alphabet == PROTEIN and not job.is_calibrated:  # there were no references to calibrate nucleotides
        confidence = [None if means is None else calibrated(means) for means in confidence]
    batch, n = job.batch, len(job.batch) - (0 if job.keeps_homologs else job.n_homologs)
    whole = MultipleAlignment(batch, columns, int(columns.max()) + 1, confidence[0], confidence[1])
    if n < len(batch):
        whole, tree = whole[:n].without_empty_columns(), tree.of_first(n)
    whole = replace(whole, tree=tree.newick(batch.names[:n]))
    return whole[tree.leaf_order()] if job.order == "tree" else whole


class _Stages:
    """One alignment in progress."""

    def __init__(
        self,
        job: FamilyInput,
        devices: Sequence[Device],
        n_threads: int,
        memory_bytes: int,
        kept: Checkpoint,
        progress: StageProgress | None,
    ) -> None:
        self.job, self.devices, self.n_threads = job, devices, n_threads
        self.memory_bytes, self.kept, self.progress = memory_bytes, kept, progress
        self.task = _task(job, int(memory_bytes * SCRATCH_SHARE))
        self.n = len(job.batch)
        self.room = MemoryEstimate(job.batch.lengths, job.wants_confidence)
        self.meter = Meter(stage_costs(job.batch.lengths, job.options), progress)
        self._found: list[Posteriors] | None = [] if job.wants_confidence else None  # results of stage I, while small
        self.last = job.options.consistency + 1  # number of the stage that stores the alignment

    def run(self) -> MultipleAlignment:
        """Run all stages after the last stored one."""
        found = self.kept.get(self.last, 0)
        if found is not None and (found[1] or not self.job.wants_confidence):
            return self._made(np.frombuffer(found[0], np.int32), found[1:3], GuideTree.from_bytes(found[3], self.n))
        store, distances, n_done = self._restored_or_stage_one()
        if self.job.options.judges_members and not self.job.n_homologs:
            foreign = foreign_members(distances, self.job.batch)
            if len(foreign):
                tell_of_foreign(self.job.batch, foreign, self.job.options.drop_foreign)
                if self.job.options.drop_foreign:
                    # The others are aligned from the start, storing nothing: the storage belongs to the whole family.
                    del store
                    job = replace(self.job, batch=self.job.batch[np.setdiff1d(np.arange(self.n), foreign)], n_shards=1)
                    how = (self.devices, self.n_threads, self.memory_bytes, NoCheckpoint(), self.progress)
                    return _Stages(job, *how).run()
        tree, weights = self._consistent(store, distances, n_done)
        columns = self._aligned(store, tree, weights)
        del store
        if models := voting_models(self.job):
            columns = self._aligned_by_vote(columns, tree, weights, models)
        confidence = self._confidence(columns, weights) if self.job.wants_confidence else []
        parts = [part.tobytes() for part in (columns, *confidence)]
        self.kept.put(self.last, 0, [*parts, *[b""] * (3 - len(parts)), tree.to_bytes()])
        return self._made(columns, parts[1:], tree)

    def _made(self, columns: NDArray[np.int32], confidence: list[bytes], tree: GuideTree) -> MultipleAlignment:
        found = [np.frombuffer(part, np.float32) if part else None for part in (*confidence, b"", b"")[:2]]
        return _finished(self.job, columns, found, tree)

    # Stages I to III.

    def _restored_or_stage_one(self) -> tuple[Any, NDArray[np.float32], int]:
        """Return the store after the last stored consistency pass or stage I, distances, and passes done."""
        n_tiles = len(self.task.tiles())
        n_done = next((k for k in range(self.job.options.consistency, 0, -1) if self.kept.is_whole(k, n_tiles)), 0)
        if not n_done:
            return *self._posteriors(), 0
        store, distances = self._new_store(), np.zeros(self.n * (self.n - 1) // 2, np.float32)
        for tile in self.task.tiles():
            found = restored(self.task.pairs_of(tile), self.kept.get(n_done, tile.index) or [])
            store.add(found.pairs, found.row_sizes, found.columns, found.values)
            distances[pair_indices(found.pairs, self.n)] = found.distance
        return store, distances, n_done

    def _consistent(self, store: Any, distances: NDArray[np.float32], n_done: int) -> tuple[GuideTree, Any]:
        """Run the remaining consistency passes on the store; return the tree and the sequence weights."""
        options, room, n_passes = self.job.options, self.room, self.job.options.consistency
        tree = self.job.tree or GuideTree(*_native.guide_tree(distances, self.meter.stage("tree", 1)))  # stage II
        weights = _native.sequence_weights(tree.children, tree.branch_lengths)
        for number in range(n_done + 1, n_passes + 1):
            row_elements = store.n_elements / float(self.job.batch.lengths[self.task.pairs[:, 0]].sum())
            spare = self.memory_bytes - room.needed(row_elements)
            relax(
                store,
                CONSISTENCY_RULES[options.rules],
                tree.children,
                weights,
                options.cutoff,
                number == n_passes,
                max(1, min(self.n_threads, 1 + int(spare / room.of_pass(row_elements)))),
                self.meter.stage("consistency", len(self.task.pairs), n_passes),
                self.devices,
                options.through,
            )
            if isinstance(self.kept, NoCheckpoint):
                continue
            for tile in self.task.tiles():  # a pass is stored in the tiles of stage I
                taken = _taken(store, self.task.pairs_of(tile), self.n, distances)
                self.kept.put(number, tile.index, sections(taken))
            if number > 1 or not self.job.wants_confidence:
                self.kept.forget(number - 1)
        return tree, weights

    def _new_store(self) -> Any:
        return _native.PosteriorStore(self.job.batch.lengths.astype(np.int32))

    def _posteriors(self) -> tuple[Any, NDArray[np.float32]]:
        """Run stage I: compute the tiles that are not stored yet.

        Raises ResourceError before the pairs are computed if a sample shows that they will not fit, and as soon as
        the posteriors so far show it.
        """
        batch, options, room, memory_bytes = self.job.batch, self.job.options, self.room, self.memory_bytes
        if room.needed(MANY_ROW_ELEMENTS) > memory_bytes:
            how = (options.cutoff, options.keep, memory_bytes, self.n_threads)
            models = (self.task.model, *voting_models(self.job))
            row_elements = max(sampled_row_elements(batch, model, *how) for model in models)
            room.require(row_elements / SAMPLE_MARGIN, row_elements * SAMPLE_MARGIN, memory_bytes)
        store, distances = self._new_store(), np.zeros(self.n * (self.n - 1) // 2, np.float32)
        n_rows = 0

        def add(found: Posteriors) -> None:
            nonlocal n_rows
            store.add(found.pairs, found.row_sizes, found.columns, found.values)
            distances[pair_indices(found.pairs, self.n)] = found.distance
            n_rows += len(found.row_sizes)
            row_elements = store.n_elements / max(n_rows, 1)
            room.require(row_elements, row_elements * FOUND_MARGIN, memory_bytes)
            if self._found is not None:  # None: too large, computed again for the confidence
                self._found = [*self._found, found] if FOUND_BYTES * store.n_elements <= MOST_KEPT_BYTES else None

        def is_there(tile: Tile) -> bool:
            parts = self.kept.get(0, tile.index)
            if parts is not None:
                add(restored(self.task.pairs_of(tile), parts))
            return parts is not None

        scheduler = Scheduler(self.devices, self.meter.stage("posteriors", len(self.task.pairs)))
        for result in scheduler.run([self.task], is_there):
            add(result.value)
            self.kept.put(0, result.tile.index, sections(result.value))
            del result  # release it before computing the next tile
        return store, distances

    # Stage IV.

    def _aligned(
        self, store: Any, tree: GuideTree, weights: NDArray[np.float64], is_told: bool = True
    ) -> NDArray[np.int32]:
        options = self.job.options
        told = self.meter.stage("alignment", self.n - 1) if is_told else None
        columns = _native.progressive(store, tree.children, weights, self.n_threads, told)
        if options.refine:
            columns = _native.refine(
                store,
                columns,
                weights,
                *SPLITS[options.rules],
                options.refine,
                options.seed,
                self.n_threads,
                self.meter.stage("refinement", options.refine) if is_told else None,
            )
        return columns

    def _aligned_by_vote(
        self,
        columns: NDArray[np.int32],
        tree: GuideTree,
        weights: NDArray[np.float64],
        models: Sequence[PairModel],
    ) -> NDArray[np.int32]:
        """Align by the agreement of this alignment with those of other models."""
        told = self.meter.stage("other models", len(models))
        alignments = [columns]
        for k, model in enumerate(models):
            job = replace(self.job, model=model, wants_confidence=False)
            kept = self.kept.of_model(k + 1)
            member = _Stages(job, self.devices, self.n_threads, self.memory_bytes, kept, None)
            found, distances, n_done = member._restored_or_stage_one()
            alignments.append(member._aligned(found, *member._consistent(found, distances, n_done)))
            del found
            if told is not None:
                told(k + 1)
        store = self._new_store()
        for part in shares(alignments, self.job.batch.lengths):
            store.add(*part)
        return self._aligned(store, tree, weights, is_told=False)

    def _confidence(
        self, columns: NDArray[np.int32], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the means of stage I's posteriors, which are in memory, on disk, or computed again."""
        watch = self.meter.stage("confidence", len(self.task.pairs))
        confidence = Confidence(self.job.batch, columns, weights)
        if self._found:
            for found in self._found:
                confidence.add(found)
            return confidence.means()

        def is_there(tile: Tile) -> bool:
            parts = self.kept.get(0, tile.index)
            if parts is not None:
                confidence.add(restored(self.task.pairs_of(tile), parts))
            return parts is not None

        for result in Scheduler(self.devices, watch).run([self.task], is_there):
            confidence.add(result.value)
            del result
        return confidence.means()


def _taken(store: Any, pairs: NDArray[np.int32], n: int, distances: NDArray[np.float32]) -> Posteriors:
    """Return the posteriors of some pairs from the store."""
    found = [store.matrix(x, y) for x, y in pairs.tolist()]
    return Posteriors(
        pairs,
        distances[pair_indices(pairs, n)],
        np.concatenate([np.diff(starts).astype(np.uint16) for starts, _, _ in found]),
        np.concatenate([columns for _, columns, _ in found]),
        np.concatenate([values for _, _, values in found]),
    )
