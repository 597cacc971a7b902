"""Devices and tasks of tests, which compute at once."""

from __future__ import annotations

from dataclasses import replace

from tropalign.devices.registry import CpuDevice
from tropalign.execution.scheduler import Scheduler


class OneThread:
    """A device that computes where it is."""

    name, n_workers = "cpu", 1

    def __init__(self, n_threads=1):
        self.n_threads = n_threads

    def compute(self, task, tile, progress=None):
        return task.on_cpu(tile, self.n_threads, progress)


def opener(n_threads):
    return [OneThread(n_threads)]


class Large:
    """Something that travels once."""

    is_sent_once = True

    def __init__(self, words):
        self.words = words


class Halves:
    """Tiles of ranges, which can be halved."""

    def split(self, tile):
        begin, end = tile.payload
        if end - begin < 2:
            return []
        middle = (begin + end) // 2
        return [
            replace(tile, cost_cells=tile.cost_cells * (b - a) // (end - begin), n_items=b - a, payload=(a, b))
            for a, b in ((begin, middle), (middle, end))
        ]

    def join(self, tile, results):
        return [value for result in results for value in result]


def run(task, *, n_threads=0, devices=None, skip=frozenset(), progress=None):
    """Tiles and results of a task in a run of its own."""
    scheduler = Scheduler([CpuDevice(n_threads)] if devices is None else devices, progress)
    for result in scheduler.run([task], skip=lambda tile: tile.index in skip):
        yield result.tile, result.value


def values(results):
    return [value for _, result in results for value in result]
