"""GPUs under the scheduler: what it takes for a failure, and what it does about one."""

import time

import numpy as np
import pytest
from gpu.cases import STRIPS, proteins, random_places, random_proteins, run, task
from gpu.host_device import HostDevice

from tropalign.devices.registry import CpuDevice, GpuDevice
from tropalign.errors import TropalignWarning
from tropalign.placement.gpu import ScoresOnGpu, Shape


class SlowCompiler(HostDevice):
    """A device whose kernels take a second to compile."""

    def build(self, source, constants):
        time.sleep(1)
        return super().build(source, constants)


@pytest.fixture
def impatient(monkeypatch):
    """A scheduler that gives a device up after a third of a second without a sign of life."""
    monkeypatch.setattr("tropalign.execution.scheduler.LATE_SECONDS", 0.3)
    monkeypatch.setattr("tropalign.devices.gpu.BEAT_SECONDS", 0.05)


def test_a_device_that_compiles_for_long_is_not_given_up(impatient):
    """Three programs or more of a second each; warnings are errors."""
    job = task(proteins(random_proteins(1, 20, 60)))
    job.gpu_shape = STRIPS
    device = SlowCompiler(16)
    (got,) = run(job, [GpuDevice(device)])
    assert len(device.built) >= 2
    (wanted,) = run(job, [CpuDevice(1)])
    np.testing.assert_array_equal(got.cigar_ops, wanted.cigar_ops)


def test_placement_tells_that_it_compiles(impatient):
    vectors, codes, offsets = random_places(2, 9, 30, 8, 40, 0.2, 0)
    signs = []
    scores = ScoresOnGpu(SlowCompiler(16), vectors, (2, 0, -3, 3, 1, 3, 1, 0), Shape(8, (8,)))
    scores.scores(codes, offsets, lambda done: signs.append((time.monotonic(), done)))
    times = [when for when, _ in signs]
    assert max(np.diff(times)) < 0.3 and [done for _, done in signs] == sorted(done for _, done in signs)


def test_what_would_keep_a_device_too_long_is_the_processors(monkeypatch):
    monkeypatch.setattr("tropalign.pairwise.gpu.MOST_STRIP_CELLS", 3000)
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "5")
    job = task(proteins(random_proteins(4, 6, 150)))
    job.gpu_shape = STRIPS
    words = r"^host failed at tile \d .*for minutes without progress.*: the CPU computes the tile"
    with pytest.warns(TropalignWarning, match=words):
        got = run(job, [GpuDevice(HostDevice(16)), Slow(1)])
    for table, other in zip(got, run(job, [CpuDevice(1)]), strict=True):
        np.testing.assert_array_equal(table.score, other.score)


class Slow(CpuDevice):
    """A processor that leaves some tiles to a GPU."""

    def compute(self, task, tile, progress=None):
        time.sleep(0.3)
        return super().compute(task, tile, progress)
