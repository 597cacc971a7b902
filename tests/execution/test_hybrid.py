"""The queue over several devices, with devices that are slow, run out of memory and fail as a seed says."""

import random
import threading
import time
import warnings
from dataclasses import replace

import pytest

from tropalign.errors import DeviceError, InputError, ResourceError, TropalignError, TropalignWarning
from tropalign.execution import hybrid
from tropalign.execution.queue import run
from tropalign.execution.task import Tile


class FakeDevice:
    """Computes squares; before that it does what `plan` says of each attempt.

    Parameters
    ----------
    plan
        Called with (tile, number of the attempt): seconds to take, or what to raise.
    """

    def __init__(self, name, plan=lambda tile, attempt: 0.0, n_workers=1):
        self.name, self.plan, self.n_workers = name, plan, n_workers
        self.calls, self._lock = [], threading.Lock()

    def compute(self, task, tile, progress=None):
        with self._lock:
            self.calls.append(tile.payload)
            attempt = len(self.calls)
        outcome = self.plan(tile, attempt)
        if progress and attempt % 2:
            progress(tile.n_items // 2)
        if isinstance(outcome, BaseException):
            raise outcome
        if outcome:
            time.sleep(outcome)
        if progress:
            progress(tile.n_items // 2)
        return [value * value for value in range(*tile.payload)]


class Squares:
    """Squares of ranges of unequal sizes, which can be split."""

    def __init__(self, sizes, cells=1000):
        bounds = [0]
        for size in sizes:
            bounds.append(bounds[-1] + size)
        self._tiles = [Tile(k, size * cells, 100, size, (bounds[k], bounds[k + 1])) for k, size in enumerate(sizes)]
        self.total = bounds[-1]

    def fingerprint(self):
        return "squares"

    def tiles(self):
        return self._tiles[::-1]

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


def values(results):
    return [value for _, result in results for value in result]


def whole(task):
    return [k * k for k in range(task.total)]


def unreliable(rng, p_memory, p_failure):
    """A plan that mostly computes at once, sometimes later, and sometimes fails."""

    def plan(tile, attempt):
        luck = rng.random()
        if luck < p_memory:
            return MemoryError() if tile.n_items > 1 else 0.0
        if luck < p_memory + p_failure:
            return DeviceError("the kernel failed")
        return rng.choice([0, 0, 0, 0.0005, 0.001])

    return plan


@pytest.mark.parametrize("block", range(10))
def test_a_thousand_random_schedules(block):
    for seed in range(100 * block, 100 * (block + 1)):
        rng = random.Random(seed)
        task = Squares([rng.randint(1, 9) for _ in range(rng.randint(1, 9))], cells=rng.choice([1, 10**9]))
        devices = [FakeDevice("cpu", unreliable(random.Random(seed + 1), 0.1, 0.0))]
        for k in range(rng.randint(0, 3)):
            plan = unreliable(random.Random(seed + 2 + k), rng.random() / 3, rng.random() / 3)
            devices.insert(rng.randint(0, len(devices)), FakeDevice(f"fake:{k}", plan, rng.randint(1, 2)))
        told = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TropalignWarning)
            results = list(run(task, devices=devices, progress=told.append))
        assert [tile.index for tile, _ in results] == sorted(tile.index for tile in task.tiles())
        assert values(results) == whole(task), seed
        assert told == sorted(told) and told[-1] == task.total


def test_every_item_is_computed_once_when_nothing_fails():
    task = Squares([5, 1, 7, 3], cells=10**9)
    devices = [FakeDevice("fake:0", n_workers=2), FakeDevice("cpu"), FakeDevice("fake:1")]
    assert values(run(task, devices=devices)) == whole(task)
    computed = sorted(k for device in devices for begin, end in device.calls for k in range(begin, end))
    assert computed == list(range(task.total))


def test_gpus_take_the_costliest_tile_and_the_cpu_the_cheapest():
    task = Squares([3, 9, 1, 5, 7], cells=1)
    begun = threading.Barrier(2, timeout=10)

    def wait_for_the_other(tile, attempt):
        if attempt == 1:
            begun.wait()
        return 0.0

    gpu, cpu = FakeDevice("fake:0", wait_for_the_other), FakeDevice("cpu", wait_for_the_other)
    assert values(run(task, devices=[cpu, gpu])) == whole(task)
    assert gpu.calls[0] == (3, 12) and cpu.calls[0] == (12, 13)


def test_a_slow_device_leaves_what_the_others_will_have_done_sooner():
    task = Squares([1] * 40, cells=1)
    gpu, cpu = FakeDevice("fake:0", lambda tile, attempt: 0.002), FakeDevice("cpu", lambda tile, attempt: 0.1)
    begin = time.monotonic()
    assert values(run(task, devices=[gpu, cpu])) == whole(task)
    assert len(gpu.calls) + len(cpu.calls) == 40
    assert 1 <= len(cpu.calls) <= 3, time.monotonic() - begin


def test_a_failed_tile_is_done_by_the_cpu_with_one_warning():
    task = Squares([4, 4, 4, 4, 4, 4, 4, 4], cells=1)
    gpu = FakeDevice("fake:0", lambda tile, attempt: DeviceError("the kernel failed"))
    cpu = FakeDevice("cpu", lambda tile, attempt: 0.01)
    with pytest.warns(TropalignWarning) as warned:
        assert values(run(task, devices=[gpu, cpu])) == whole(task)
    assert [str(w.message) for w in warned] == [
        f"fake:0 failed at tile {gpu.calls[0][0] // 4} (the kernel failed): the processor computes what it cannot"
    ]
    assert len(gpu.calls) == hybrid.MOST_FAILURES


def test_without_the_cpu_a_failure_is_an_error_that_names_the_tile():
    devices = [FakeDevice("fake:0", lambda tile, attempt: DeviceError("no such kernel")), FakeDevice("fake:1")]
    devices[1].plan = lambda tile, attempt: 0.05
    with pytest.raises(DeviceError, match=r"^tile \d \(4 items, about 100 B\): no such kernel$"):
        list(run(Squares([4, 4, 4]), devices=devices))


@pytest.mark.parametrize("error", [MemoryError(), ResourceError("too much")])
def test_out_of_memory_on_one_item_goes_to_the_cpu(error):
    task = Squares([3, 3], cells=1)
    gpu, cpu = FakeDevice("fake:0", lambda tile, attempt: error), FakeDevice("cpu", lambda tile, attempt: 0.005)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TropalignWarning)
        assert values(run(task, devices=[gpu, cpu])) == whole(task)


def test_out_of_memory_everywhere_is_an_error():
    devices = [FakeDevice(name, lambda tile, attempt: MemoryError()) for name in ("fake:0", "cpu")]
    with warnings.catch_warnings(), pytest.raises(ResourceError, match=r"^tile 0 .*ran out of memory"):
        warnings.simplefilter("ignore", TropalignWarning)
        list(run(Squares([1]), devices=devices))


def test_bad_input_on_the_cpu_is_an_error():
    devices = [FakeDevice("cpu", lambda tile, attempt: InputError("no good", file="a.fa")), FakeDevice("fake:0")]
    devices[1].plan = lambda tile, attempt: 0.2
    with pytest.raises(TropalignError, match=r"^tile \d .*: a.fa: no good$"):
        list(run(Squares([2, 2], cells=1), devices=devices))


def test_a_device_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(hybrid, "LATE_SECONDS", 0.2)
    task, woken = Squares([2, 2, 2], cells=1), threading.Event()

    def hangs(tile, attempt):
        woken.wait(20)
        return 0.0

    gpu = FakeDevice("fake:0", hangs)
    with pytest.warns(TropalignWarning, match=r"fake:0 failed at tile 0 \(it does not answer\)"):
        assert values(run(task, devices=[gpu, FakeDevice("cpu")])) == whole(task)
    woken.set()
    with pytest.raises(DeviceError, match="does not answer"):
        woken.clear()
        list(run(task, devices=[FakeDevice("fake:0", hangs), FakeDevice("fake:1")]))
    woken.set()


def test_results_lie_ready_for_few_tiles_only():
    task = Squares([1] * 60)
    devices = [FakeDevice("fake:0"), FakeDevice("cpu")]
    results = run(task, devices=devices)
    next(results)
    time.sleep(0.1)
    assert sum(len(device.calls) for device in devices) <= hybrid.AHEAD * 2 + 3
    assert len(values(results)) == 59


def test_an_abandoned_run_ends_its_threads():
    before = threading.active_count()
    results = run(Squares([1] * 60), devices=[FakeDevice("fake:0", n_workers=2), FakeDevice("cpu")])
    next(results)
    results.close()
    assert threading.active_count() == before


def test_the_end_of_a_run_does_not_wait_for_a_gpu_that_hangs(monkeypatch):
    monkeypatch.setattr(hybrid, "PATIENCE", 0.05)
    hangs = threading.Event()
    gpu = FakeDevice("fake:0", lambda tile, attempt: hangs.wait(20) or 0.0)
    results = run(Squares([1, 9, 1, 1], cells=1), devices=[gpu, FakeDevice("cpu")])
    next(results)
    begin = time.monotonic()
    results.close()
    assert time.monotonic() - begin < 10
    hangs.set()


def test_pieces_are_joined_without_the_lock():
    class Slow(Squares):
        def join(self, tile, results):
            free = queue._changed.acquire(timeout=5)
            assert free
            queue._changed.release()
            return super().join(tile, results)

    task = Slow([64], cells=10**9)
    queue = hybrid.Hybrid(task, task.tiles(), [FakeDevice("fake:0"), FakeDevice("cpu")], None)
    queue._changed = threading.Condition(threading.Lock())  # which its holder cannot take again
    assert values(queue.run()) == whole(task)


def test_a_join_that_fails_ends_the_run():
    class Broken(Squares):
        def join(self, tile, results):
            raise InputError("no join")

    with pytest.raises(InputError, match="no join"):
        list(run(Broken([64], cells=10**9), devices=[FakeDevice("fake:0"), FakeDevice("cpu")]))


def test_warnings_are_given_where_the_results_are_taken():
    gpu = FakeDevice("fake:0", lambda tile, attempt: DeviceError("the kernel failed"))
    cpu = FakeDevice("cpu", lambda tile, attempt: 0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TropalignWarning)
        with pytest.raises(TropalignWarning, match="fake:0 failed"):
            list(run(Squares([4] * 6, cells=1), devices=[gpu, cpu]))
