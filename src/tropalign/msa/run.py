"""A run of `tropalign msa`: its forecast, output files, stages that survive a kill, and shards.

family --pipeline--> MultipleAlignment --writers--> the files, each complete or absent
             |
        parts of finished stages, if the work takes longer than a moment: the same command resumes it
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ResourceError, quiet
from tropalign.execution.archive import packed, unpacked
from tropalign.execution.files import output_path
from tropalign.execution.manifest import Manifest, Shard
from tropalign.execution.parts import Parts, parts_directory
from tropalign.execution.progress import StageProgress
from tropalign.execution.run import Output, write_outputs
from tropalign.execution.task import Device, Progress, Tile
from tropalign.msa import pipeline
from tropalign.msa.family import is_long, require_short
from tropalign.msa.models import model_of
from tropalign.msa.pipeline import FamilyInput, voting_models
from tropalign.msa.task import N_SECTIONS, Checkpoint, NoCheckpoint, Posteriors, PosteriorTask, sections, work_cells
from tropalign.ragged import offsets_of
from tropalign.resources.limits import environment_number
from tropalign.sequences.batch import SequenceBatch

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu
    from tropalign.execution.archive import Shards
    from tropalign.results.multiple import MultipleAlignment

#: Work of the first sample, in cells of stage I; and the approximate seconds of the second one.
FIRST_WORK, SAMPLE_SECONDS = 20_000_000.0, 1.0


def seconds_of(job: pipeline.FamilyInput, devices: Sequence[Device], n_threads: int, memory_bytes: int) -> float:
    """Forecast the seconds of the job: time some of its sequences, and scale by work (`tropalign.msa.task`).

    If even two sequences take longer than the sample may, their beginnings are aligned.
    """
    if is_long(job):
        by_anchors = _seconds_by_anchors(job, devices, n_threads, memory_bytes)
        if by_anchors is not None:
            return by_anchors
    require_short(job.batch)
    rate = FIRST_WORK / SAMPLE_SECONDS
    for most_seconds in (SAMPLE_SECONDS, SAMPLE_SECONDS / 10, SAMPLE_SECONDS * 4 / 10):
        # The first sample warms up, and each sets the size of the next: large ones are up to five times as slow.
        # Random sequences, at least two, whose work is at most that of `most_seconds` at the rate so far.
        order = np.random.default_rng(1).permutation(len(job.batch))
        least, most = min(2, len(order)), len(order)
        while least < most:
            middle = (least + most + 1) // 2
            if work_cells(job.batch.lengths[order[:middle]], job.options) <= rate * most_seconds:
                least = middle
            else:
                most = middle - 1
        chosen = job.batch[np.sort(order[:least])]
        beyond = work_cells(chosen.lengths, job.options) / (rate * most_seconds)
        if beyond > 1:
            chosen = beginnings(chosen, int(chosen.lengths.max() / np.sqrt(beyond)))
        sample = replace(job, batch=chosen, tree=None)
        begin = time.perf_counter()
        with quiet():  # members may be foreign only to the sample
            pipeline.align(sample, devices, n_threads, memory_bytes, NoCheckpoint())
        seconds = time.perf_counter() - begin
        rate = work_cells(sample.batch.lengths, job.options) / seconds
        if seconds >= SAMPLE_SECONDS * 4 / 10:
            break
    return work_cells(job.batch.lengths, job.options) / rate


#: Members and residues of a sample that is cut at anchors; how much longer the pieces of many members take.
ANCHORED_MEMBERS, ANCHORED_RESIDUES, MANY_MEMBERS = 24, 4000, 2.0
#: Members and residues of a second sample, which shows how the time of a pair grows with the length.
LONG_MEMBERS, LONG_RESIDUES = 8, 40_000


def _seconds_by_anchors(
    job: pipeline.FamilyInput, devices: Sequence[Device], n_threads: int, memory_bytes: int
) -> float | None:
    """Forecast the seconds of a family that is cut at anchors, by the beginnings of some members.

    The alignments with the centre are scaled by members and by a power of the length, the pieces by length. None if the
    family or the sample is aligned as a whole.
    """
    from tropalign.msa.anchored import fitting_threads
    from tropalign.msa.clades import may_be_cut
    from tropalign.msa.star import NEAR, Kinship, star_of

    if not may_be_cut(job):
        return None
    centre = Kinship(job.batch).centre
    fitting_threads(job.batch, centre, memory_bytes)

    whole = np.flatnonzero(job.batch.lengths >= job.batch.lengths[centre] * (1 - NEAR))  # no fragments
    n = min(len(whole), ANCHORED_MEMBERS)
    some = job.batch[whole[np.unique(np.linspace(0, len(whole) - 1, n).astype(np.int64))]]
    options = replace(job.options, drop_foreign=False)
    sizes = np.ceil(some.lengths * (ANCHORED_RESIDUES / some.lengths.mean())).astype(np.int64)
    sample = replace(job, batch=beginnings(some, sizes), tree=None, options=options)

    def seconds_of_star(batch: SequenceBatch) -> float:
        begin = time.perf_counter()
        kinship = Kinship(batch)
        model = model_of(batch.alphabet, sample.options.rules)
        star_of(batch, kinship.centre, kinship.compared().distances, model, n_threads)
        return time.perf_counter() - begin

    of_pairs = seconds_of_star(sample.batch)
    begin = time.perf_counter()
    with quiet():
        if pipeline.align_by_anchors(sample, devices, n_threads, memory_bytes, is_long_enough=True) is None:
            return None
    of_pieces = max(0.0, time.perf_counter() - begin - of_pairs)
    mean = float(sample.batch.lengths.mean())
    longer, growth, of_pair = float(job.batch.lengths.mean()) / mean, 1.0, of_pairs / len(sample.batch)
    if longer > 2:
        few = beginnings(some[np.arange(min(LONG_MEMBERS, len(some)))], LONG_RESIDUES)
        ratio = seconds_of_star(few) / len(few) / of_pair
        growth = min(max(float(np.log(ratio) / np.log(few.lengths.mean() / mean)), 1.0), 2.0)
    return float(of_pair * longer**growth * len(job.batch) + longer * of_pieces * MANY_MEMBERS)


def beginnings(batch: SequenceBatch, most: int | NDArray[np.int64]) -> SequenceBatch:
    """Return the first `most` residues of each sequence, at least one; `most` may be an array."""
    lengths = np.minimum(batch.lengths, np.maximum(1, most))
    offsets = offsets_of(lengths)
    index = np.arange(offsets[-1]) + np.repeat(batch.offsets[:-1] - offsets[:-1], lengths)
    letters = np.asarray(batch.letters)[index]
    return SequenceBatch(batch.codes[index], offsets, batch.names, batch.alphabet, letters)


#: Minimum work for storing stages, in cells of stage I: about twenty seconds of one core.
LEAST_KEPT_CELLS = 20_000_000_000


@dataclass(frozen=True)
class MsaRun:
    """An alignment job and its outputs.

    `outputs`: the first one is the alignment; parts of finished stages are stored next to it. `parameters`: all
    that determines the result, by name. `memory_bytes`: limit of the whole process. `finished`: makes what is written
    of the alignment.
    """

    job: pipeline.FamilyInput
    outputs: Sequence[Output]
    parameters: dict[str, str]
    memory_bytes: int
    finished: Callable[[MultipleAlignment], MultipleAlignment] = lambda alignment: alignment

    def compute(
        self,
        devices: Sequence[Device],
        n_threads: int,
        memory_bytes: int,
        progress: StageProgress | None = None,
        earlier: Checkpoint | None = None,
    ) -> None:
        """Align and write; `memory_bytes` excludes the family.

        `earlier`: stages stored in shards; an interrupted run then leaves no parts.
        """
        pipeline.check_options(self.job)
        if earlier is None:
            found = pipeline.align_by_anchors(self.job, devices, n_threads, memory_bytes, progress)
            if found is not None:
                self._write(found)
                return
        path = output_path(self.outputs[0].path)
        work = work_cells(self.job.batch.lengths, self.job.options)
        least = LEAST_KEPT_CELLS
        if "TROPALIGN_LEAST_KEPT_CELLS" in os.environ:
            least = environment_number("TROPALIGN_LEAST_KEPT_CELLS", os.environ["TROPALIGN_LEAST_KEPT_CELLS"])
        if earlier is not None or path is None or work < least:
            kept = NoCheckpoint() if earlier is None else earlier
            self._write(pipeline.align(self.job, devices, n_threads, memory_bytes, kept, progress))
            return
        manifest = Manifest(self.fingerprint(), "", 1, self.parameters, self.memory_bytes)
        with Parts(parts_directory(path), manifest) as parts:
            try:
                stored = PartsCheckpoint(parts, self.job)
                self._write(pipeline.align(self.job, devices, n_threads, memory_bytes, stored, progress))
            except KeyboardInterrupt:
                if parts.is_empty():
                    raise
                raise KeyboardInterrupt(
                    f"interrupted: the same command goes on where this one stopped ({parts.directory} has what is done)"
                ) from None
            except ResourceError as error:
                if not parts.is_empty():
                    error.args = (f"{error}; the same command then goes on where this one stopped",)
                raise
            parts.finish()

    def _write(self, alignment: MultipleAlignment) -> None:
        found = self.finished(alignment)
        write_outputs(self.outputs, lambda output: output.writer.parts(found))

    def fingerprint(self) -> str:
        """Return the SHA-256 of family and parameters, in hexadecimal."""
        words = repr(sorted(self.parameters.items()))
        return hashlib.sha256((words + self.job.batch.fingerprint()).encode()).hexdigest()


class PartsCheckpoint:
    """Stages of an alignment in a directory of parts: stage s has the parts s * n up to (s + 1) * n."""

    def __init__(self, parts: Parts, job: pipeline.FamilyInput) -> None:
        self._parts = parts
        n_stages, self._n_parts = pipeline.kept_stages(job)
        indices = range(self._n_parts * n_stages)
        self._finished = parts.finished(indices, N_SECTIONS)

    def _index(self, stage: int, part: int) -> int:
        return stage * self._n_parts + part

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """Return the sections of a part, or None if it is not stored."""
        index = self._index(stage, part)
        if index not in self._finished:
            return None
        return [self._parts.read(index, section) for section in range(N_SECTIONS)]

    def put(self, stage: int, part: int, sections: list[bytes]) -> None:
        """Store a part."""
        self._parts.write(self._index(stage, part), sections, stage)
        self._parts.sync()
        self._finished.add(self._index(stage, part))

    def of_model(self, number: int) -> Checkpoint:
        """Return no storage: other models start over."""
        return NoCheckpoint()

    def is_whole(self, stage: int, n_parts: int) -> bool:
        """True if all parts of a stage are stored."""
        return all(self._index(stage, part) in self._finished for part in range(n_parts))

    def forget(self, stage: int) -> None:
        """Delete the parts of a stage that no later stage needs."""
        self._parts.forget(stage)
        self._finished.difference_update(self._index(stage, part) for part in range(self._n_parts))


# Stage I in shards: the work of one shard, and the results of all shards for the later stages. In a shard, the tiles of
# one model follow those of another (effort accurate has several):
#
#   shard 1    model 0: 0 1 2 | model 1: 0 1 2        shard 2    model 0: 3 4 | model 1: 3 4      (tiles of the whole)


class FamilyShare:
    """The posteriors of a shard of a family's pairs, by each model that the alignment needs.

    `shard`: (i, n), the i-th of n shards, from 1. `scratch_bytes` as in PosteriorTask.
    """

    def __init__(self, job: FamilyInput, shard: Shard, scratch_bytes: int | None = None) -> None:
        self._tasks = share_tasks(job, shard, scratch_bytes)
        tiles = [(k, tile) for k, task in enumerate(self._tasks) for tile in task.tiles()]
        self._tiles = [replace(tile, index=index, payload=(k, tile)) for index, (k, tile) in enumerate(tiles)]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tiles": []}  # a worker gets its tiles one by one

    def tiles(self) -> list[Tile]:
        """Return the runs of neighbouring pairs, each for one model."""
        return self._tiles

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Posteriors:
        """Compute the posteriors of a tile's pairs."""
        model, own = tile.payload
        found: Posteriors = self._tasks[model].on_cpu(own, n_threads, progress)
        return found

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> Posteriors:
        """Compute the posteriors of a tile's pairs on a GPU, within 1e-4 of the CPU's."""
        model, own = tile.payload
        found: Posteriors = self._tasks[model].on_gpu(own, device, progress)
        return found


def share_tasks(job: FamilyInput, shard: Shard, scratch_bytes: int | None = None) -> list[PosteriorTask]:
    """Return the task of a shard for each model."""
    require_short(job.batch)
    models = [job.model or model_of(job.batch.alphabet, job.options.rules), *voting_models(job)]
    cut: Any = {"scratch_bytes": scratch_bytes, "shards": [shard]}
    return [PosteriorTask(job.batch, model, job.options.cutoff, job.options.keep, **cut) for model in models]


def encoded(found: Posteriors) -> bytes:
    """Return the result of a tile as bytes for a shard."""
    return packed(sections(found))


class ShardsKept(NoCheckpoint):
    """Stage I as stored in shards; results of later stages are not stored.

    `model`: number of the model, 0 for the first one. Raises InputError if the shards are cut into other tiles.
    """

    def __init__(self, shards: Shards, job: FamilyInput, model: int = 0) -> None:
        self._shards, self._job, self._model = shards, job, model
        counts = shards.tile_counts
        tasks = [share_tasks(job, (k, len(counts))) for k in range(1, len(counts) + 1)]
        for k, (share, count) in enumerate(zip(tasks, counts, strict=True), 1):
            if sum(len(task.tiles()) for task in share) != count:
                raise InputError(f"shard {k} of {len(counts)} is divided into different tiles: compute it again")
        self._own = [len(share[model].tiles()) for share in tasks]
        self._begins = list(accumulate(self._own, initial=0))

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """Return the sections of a part of stage I, or None for other stages."""
        if stage:
            return None
        shard = next(k for k, begin in enumerate(self._begins[1:]) if part < begin)
        local = part - self._begins[shard] + self._model * self._own[shard]
        return unpacked(self._shards.section(shard + 1, local), N_SECTIONS)

    def of_model(self, number: int) -> Checkpoint:
        """Return stage I by another model, as stored in the shards."""
        return ShardsKept(self._shards, self._job, number)
