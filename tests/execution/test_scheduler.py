import threading
import weakref

import pytest
from execution.toys import Halves, run, values

from tropalign.devices.registry import CpuDevice
from tropalign.errors import DeviceError, InputError, ResourceError, TropalignError, UsageError
from tropalign.execution.task import Tile


class Squares:
    """Squares of ranges."""

    def __init__(self, n_tiles=6, size=4):
        self.size = size
        self._tiles = [Tile(k, 100 + k, 1 << 20, size, (k * size, (k + 1) * size)) for k in range(n_tiles)]
        self.calls = []

    def fingerprint(self):
        return "squares"

    def tiles(self):
        return self._tiles

    def on_cpu(self, tile, n_threads, progress=None):
        self.calls.append((tile.index, n_threads, threading.current_thread()))
        begin, end = tile.payload
        if progress:
            progress((end - begin) // 2)
        return [value * value for value in range(begin, end)]


class Narrow(Halves, Squares):
    """Runs out of memory on more than `most` items, and splits."""

    def __init__(self, error, most=1, **sizes):
        super().__init__(**sizes)
        self.error, self.most = error, most

    def on_cpu(self, tile, n_threads, progress=None):
        if tile.n_items > self.most:
            raise self.error
        return super().on_cpu(tile, n_threads, progress)


def test_results_come_in_tile_order():
    task = Squares()
    results = list(run(task, n_threads=3))
    assert [tile.index for tile, _ in results] == list(range(6))
    assert values(results) == [k * k for k in range(24)]
    assert [call[1] for call in task.calls] == [3] * 6


def test_the_cpu_works_in_the_calling_thread_tile_by_tile():
    task = Squares()
    results = run(task, n_threads=1)
    next(results)
    assert [call[0] for call in task.calls] == [0]  # nothing is computed ahead of its reader
    assert task.calls[0][2] is threading.current_thread()


def test_zero_threads_are_all():
    assert CpuDevice(0).n_threads >= 1


def test_skipped_tiles_are_not_computed_but_count_as_done():
    task, told = Squares(), []
    results = list(run(task, n_threads=1, skip={0, 1, 4}, progress=told.append))
    assert [tile.index for tile, _ in results] == [2, 3, 5]
    assert told == [14, 16, 18, 20, 22, 24]


@pytest.mark.parametrize("error", [MemoryError(), ResourceError("too much")])
@pytest.mark.parametrize("size", [1, 4, 7])
def test_out_of_memory_splits_the_tile(error, size):
    task, told = Narrow(error, size=size), []
    results = list(run(task, n_threads=1, progress=told.append))
    assert [tile.index for tile, _ in results] == list(range(6))
    assert values(results) == [k * k for k in range(6 * size)]
    assert told == sorted(told) and told[-1] == 6 * size


def test_a_failed_attempt_keeps_no_memory_while_its_pieces_run():
    class Block:
        pass

    blocks = []

    class Greedy(Narrow):
        def on_cpu(self, tile, n_threads, progress=None):
            if tile.n_items > self.most:
                block = Block()
                blocks.append(weakref.ref(block))
                raise MemoryError
            assert all(block() is None for block in blocks)
            return super().on_cpu(tile, n_threads, progress)

    assert len(list(run(Greedy(None), n_threads=1))) == 6


def test_what_cannot_be_split_names_its_tile():
    class Stuck(Squares):
        def on_cpu(self, tile, n_threads, progress=None):
            raise MemoryError

    with pytest.raises(ResourceError) as caught:
        list(run(Stuck(), n_threads=1))
    assert str(caught.value) == (
        "tile 0 (4 items, about 1.0 MiB) ran out of memory: allow less with memory_bytes, so that tiles are smaller"
    )
    with pytest.raises(ResourceError, match=r"^tile 0 \(1 item, .* run it on a machine with more memory"):
        list(run(Stuck(size=1), n_threads=1))
    with pytest.raises(ResourceError, match=r"tile 0 .* ran out of memory"):
        list(run(Narrow(MemoryError(), most=0), n_threads=1))


@pytest.mark.parametrize(
    ("raised", "kind", "text"),
    [
        (InputError("no good", file="a.fa"), InputError, "a.fa: no good"),
        (UsageError("no good"), UsageError, "no good"),
        (DeviceError("no good"), DeviceError, "tile 3 (4 items, about 1.0 MiB): no good"),
        (KeyError("x"), TropalignError, "tile 3 (4 items, about 1.0 MiB) failed with KeyError: 'x'"),
    ],
)
def test_a_failing_tile_names_itself_after_the_good_ones(raised, kind, text):
    class Failing(Squares):
        def on_cpu(self, tile, n_threads, progress=None):
            if tile.index == 3:
                raise raised
            return super().on_cpu(tile, n_threads, progress)

    results = run(Failing(), n_threads=1)
    assert [next(results)[0].index for _ in range(3)] == [0, 1, 2]
    with pytest.raises(kind) as caught:
        next(results)
    assert str(caught.value) == text


def test_an_interrupt_passes_as_it_is():
    class Interrupted(Squares):
        def on_cpu(self, tile, n_threads, progress=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run(Interrupted(), n_threads=1))
