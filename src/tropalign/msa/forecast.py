"""What a family will take, from small families out of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tropalign.execution.task import Device
from tropalign.msa import pipeline
from tropalign.msa.progress import work_cells

#: Work of the first sample, in cells of stage I; and seconds that the second one takes about.
FIRST_WORK, SAMPLE_SECONDS = 20_000_000.0, 1.0


def seconds_of(job: pipeline.Job, devices: Sequence[Device], n_threads: int, memory_bytes: int) -> float:
    """Seconds that the job takes: those of some of its sequences, by the work of both (`tropalign.msa.progress`).

    Raises
    ------
    TropalignError
        As the alignment of the family.
    """
    rate = FIRST_WORK / SAMPLE_SECONDS
    for _ in range(2):  # the first one warms up, and says how large the second may be
        sample = _sample(job, rate * SAMPLE_SECONDS)
        begin = time.perf_counter()
        pipeline.align(sample, devices, n_threads, memory_bytes)
        rate = _work(sample) / (time.perf_counter() - begin)
    return _work(job) / rate


def _work(job: pipeline.Job) -> float:
    return work_cells(job.batch.lengths, job.options)


def _sample(job: pipeline.Job, most_work: float) -> pipeline.Job:
    """The job with as many of its sequences, chosen by chance, as make that much work; two at the least."""
    order = np.random.default_rng(1).permutation(len(job.batch))
    least, most = min(2, len(order)), len(order)
    while least < most:
        middle = (least + most + 1) // 2
        if work_cells(job.batch.lengths[order[:middle]], job.options) <= most_work:
            least = middle
        else:
            most = middle - 1
    return replace(job, batch=job.batch[np.sort(order[:least])], tree=None)
