"""Stage I of an alignment in shards: the work of one shard, and the results of all shards for the later stages.

In a shard, the tiles of one model follow those of another (effort accurate has several):

    shard 1    model 0: 0 1 2 | model 1: 0 1 2        shard 2    model 0: 3 4 | model 1: 3 4      (tiles of the whole)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tropalign.errors import InputError
from tropalign.execution.manifest import Shard
from tropalign.execution.packed import packed, unpacked
from tropalign.execution.task import Progress, Tile
from tropalign.msa.checkpoint import N_SECTIONS, Checkpoint, NoCheckpoint
from tropalign.msa.models import model_of
from tropalign.msa.pipeline import Job, voting_models
from tropalign.msa.task import Posteriors, PosteriorTask, sections

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu
    from tropalign.execution.archive import Shards


class FamilyShare:
    """The posteriors of a shard of a family's pairs, by each model that the alignment needs.

    `shard`: (i, n), the i-th of n shards, from 1. `scratch_bytes` as in PosteriorTask.
    """

    def __init__(self, job: Job, shard: Shard, scratch_bytes: int | None = None) -> None:
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


def share_tasks(job: Job, shard: Shard, scratch_bytes: int | None = None) -> list[PosteriorTask]:
    """Return the task of a shard for each model."""
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

    def __init__(self, shards: Shards, job: Job, model: int = 0) -> None:
        self._shards, self._job, self._model = shards, job, model
        counts = shards.tile_counts
        tasks = [share_tasks(job, (k, len(counts))) for k in range(1, len(counts) + 1)]
        for k, (share, count) in enumerate(zip(tasks, counts, strict=True), 1):
            if sum(len(task.tiles()) for task in share) != count:
                raise InputError(f"shard {k} of {len(counts)} is cut into other tiles: write it again")
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
