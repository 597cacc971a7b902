"""The scheduler over several devices, with devices that are slow, run out of memory and fail as a seed says."""

import random
import threading
import time
import warnings

import pytest
from execution.toys import Halves, run, values

from tropalign.errors import DeviceError, InputError, ResourceError, TropalignError, TropalignWarning
from tropalign.execution import scheduler as scheduling
from tropalign.execution.scheduler import Scheduler, folded
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


class Squares(Halves):
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
        return self._tiles


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


def blocks(n):
    """Of a hundred seeds: the first in every run, the others in long ones."""
    return [0, *(pytest.param(block, marks=pytest.mark.long) for block in range(1, n))]


@pytest.mark.parametrize("block", blocks(10))
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


class Waits(Squares):
    """A task that now and then waits for one of the results that are still to be handed over.

    Parameters
    ----------
    still
        Tiles of the run that were told of and not handed over; those told of are added here.
    """

    def __init__(self, sizes, cells, rng, still, skipped):
        super().__init__(sizes, cells)
        self._rng, self._still, self._skipped = rng, still, skipped

    def tiles(self):
        for tile in self._tiles:
            while self._still and self._rng.random() < 0.5:
                yield None
            if tile.index not in self._skipped:
                self._still.append(tile)
            yield tile


@pytest.mark.parametrize("block", blocks(5))
def test_random_streams_of_tasks_over_runs_of_one_scheduler(block):
    """Several tasks, tiles that have to wait, tiles to skip, and runs that are broken off half-way."""
    for seed in range(100 * block, 100 * (block + 1)):
        rng = random.Random(seed)
        devices = [FakeDevice("cpu", unreliable(random.Random(seed + 1), 0.1, 0.0))]
        for k in range(rng.randint(0, 2)):
            plan = unreliable(random.Random(seed + 2 + k), rng.random() / 3, rng.random() / 3)
            devices.insert(rng.randint(0, len(devices)), FakeDevice(f"fake:{k}", plan, rng.randint(1, 2)))
        scheduler = Scheduler(devices)
        for _ in range(rng.randint(1, 3)):
            still = []
            skipped = rng.choice([frozenset(), frozenset([0]), frozenset([1, 2])])
            sizes = [[rng.randint(1, 9) for _ in range(rng.randint(0, 5))] for _ in range(rng.randint(0, 4))]
            tasks = [Waits(of_task, rng.choice([1, 10**9]), rng, still, skipped) for of_task in sizes]
            expected = [
                (task, tile.index, [k * k for k in range(*tile.payload)])
                for task in tasks
                for tile in Squares.tiles(task)
                if tile.index not in skipped
            ]
            most = rng.choice([len(expected), len(expected), len(expected) // 2])
            found = []
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TropalignWarning)
                results = scheduler.run(iter(tasks), skip=lambda tile, skipped=skipped: tile.index in skipped)
                while len(found) < most:
                    result = next(results)
                    found.append((result.task, result.tile.index, result.value))
                    still.pop(0)
                assert most < len(expected) or next(results, None) is None
                results.close()
            assert found == expected[:most], seed


def test_a_late_result_of_a_run_that_was_broken_off_is_no_result_of_the_next(monkeypatch):
    monkeypatch.setattr(scheduling, "PATIENCE", 0.05)
    begun, woken, finished = threading.Event(), threading.Event(), threading.Event()

    class Hangs(FakeDevice):
        def compute(self, task, tile, progress=None):
            begun.set()
            assert woken.wait(20)  # and is deaf to the end of the run
            finished.set()
            return ["late"]

    scheduler = Scheduler([Hangs("fake:0"), FakeDevice("cpu", lambda tile, attempt: begun.wait(10) and 0.0)])
    first = scheduler.run([Squares([1, 9, 1, 1], cells=1)])
    next(first)
    first.close()
    second = Squares([2] * 30, cells=1)
    results = scheduler.run([second])
    found = list(next(results).value)
    woken.set()
    assert finished.wait(10)
    assert found + [k for result in results for k in result.value] == whole(second)


def test_what_is_done_before_a_failure_is_handed_over():
    done = threading.Event()

    def plan(tile, attempt):
        return InputError("bad") if tile.index == 2 and done.wait(10) else 0.0

    scheduler = Scheduler([FakeDevice("cpu", plan, n_workers=2)])
    results = scheduler.run([Squares([1, 1, 1], cells=1)])
    assert next(results).tile.index == 0
    while not scheduler._jobs.is_ready():
        time.sleep(0.001)
    done.set()
    while scheduler._pool._error is None:
        time.sleep(0.001)
    assert next(results).tile.index == 1
    with pytest.raises(InputError, match=r"^bad$"):
        next(results)


@pytest.mark.parametrize("devices", [["cpu"], ["cpu", "fake:0"]])
@pytest.mark.parametrize("error", [KeyError("broken display"), KeyboardInterrupt(), SystemExit(143)])
def test_what_the_display_raises_ends_the_run_as_it_is(devices, error):
    def told(items):
        raise error

    with pytest.raises(type(error)) as raised:
        list(run(Squares([4] * 6), devices=[FakeDevice(name) for name in devices], progress=told))
    assert raised.value is error


@pytest.mark.parametrize("devices", [["cpu"], ["cpu", "fake:0"]])
@pytest.mark.parametrize("where", ["tasks", "tiles", "skip"])
def test_what_the_callers_iterators_raise_ends_the_run_as_it_is(devices, where):
    error = InputError("the reads are damaged")

    class Broken(Squares):
        def tiles(self):
            yield from self._tiles
            if where == "tiles":
                raise error

    def tasks():
        yield Broken([1, 2])
        if where == "tasks":
            raise error
        yield Squares([1])

    def skip(tile):
        if where == "skip" and tile.index == 1:
            raise error
        return False

    before = threading.active_count()
    scheduler = Scheduler([FakeDevice(name) for name in devices])
    with pytest.raises(InputError) as raised:
        list(scheduler.run(tasks(), skip=skip))
    assert raised.value is error and threading.active_count() == before
    assert [k for result in scheduler.run([Squares([3])]) for k in result.value] == [0, 1, 4]


def test_a_gpu_without_a_processor_beside_it_fails_by_itself(monkeypatch):
    """The processor's thread could not be started: nobody takes what the GPU fails at, and nothing waits for it."""
    begin = threading.Thread.start

    def start(thread):
        if thread._args[-1].device.name == "cpu":
            raise RuntimeError("can't start new thread")
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    gpu = FakeDevice("fake:0", lambda tile, attempt: DeviceError("the kernel failed"))
    with pytest.raises(DeviceError, match="the kernel failed"):
        list(run(Squares([4] * 6), devices=[gpu, FakeDevice("cpu")]))


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
        f"fake:0 failed at tile {gpu.calls[0][0] // 4} (the kernel failed): the CPU computes the tile"
    ]
    assert len(gpu.calls) == scheduling.MOST_FAILURES


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
    with pytest.raises(TropalignError, match=r"^a.fa: no good$"):
        list(run(Squares([2, 2], cells=1), devices=devices))


def test_a_device_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(scheduling, "LATE_SECONDS", 0.2)
    task, woken = Squares([2, 2, 2], cells=1), threading.Event()

    def hangs(tile, attempt):
        woken.wait(20)
        return 0.0

    gpu = FakeDevice("fake:0", hangs)
    with pytest.warns(TropalignWarning, match=r"fake:0 failed at tile 0 \(it does not respond\)"):
        assert values(run(task, devices=[gpu, FakeDevice("cpu", lambda tile, attempt: 0.1)])) == whole(task)
    woken.set()
    with pytest.raises(DeviceError, match="does not respond"):
        woken.clear()
        list(run(task, devices=[FakeDevice("fake:0", hangs), FakeDevice("fake:1", lambda tile, attempt: 0.1)]))
    woken.set()


def test_results_lie_ready_for_few_tiles_only():
    task = Squares([1] * 60)
    devices = [FakeDevice("fake:0"), FakeDevice("cpu")]
    results = run(task, devices=devices)
    next(results)
    time.sleep(0.1)
    assert sum(len(device.calls) for device in devices) <= scheduling.AHEAD * 2 + 3
    assert len(values(results)) == 59


def test_an_abandoned_run_ends_its_threads():
    before = threading.active_count()
    results = run(Squares([1] * 60), devices=[FakeDevice("fake:0", n_workers=2), FakeDevice("cpu")])
    next(results)
    results.close()
    assert threading.active_count() == before


def test_the_end_of_a_run_does_not_wait_for_a_gpu_that_hangs(monkeypatch):
    monkeypatch.setattr(scheduling, "PATIENCE", 0.05)
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
            free = scheduler._jobs.changed.acquire(timeout=5)
            assert free
            scheduler._jobs.changed.release()
            return super().join(tile, results)

    task = Slow([64], cells=10**9)
    scheduler = Scheduler([FakeDevice("fake:0"), FakeDevice("cpu")])
    scheduler._jobs.changed = threading.Condition(threading.Lock())  # which its holder cannot take again
    assert [k for result in scheduler.run([task]) for k in result.value] == whole(task)


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


def test_a_dead_device_is_tried_three_times_and_warned_of_once_in_a_run_of_eight_tasks():
    tasks = [Squares([4] * 3, cells=1) for _ in range(8)]
    gpu = FakeDevice("fake:0", lambda tile, attempt: DeviceError("the kernel failed"))
    scheduler = Scheduler([gpu, FakeDevice("cpu", lambda tile, attempt: 0.01)])
    with pytest.warns(TropalignWarning) as warned:
        results = [result for task in tasks for result in scheduler.run([task])]
    assert [value for result in results for value in result.value] == whole(tasks[0]) * 8
    assert len(gpu.calls) == 3 and len(warned) == 1


def test_three_failures_in_a_row_are_what_counts():
    task = Squares([4] * 40, cells=1)
    gpu = FakeDevice("fake:0", lambda tile, attempt: DeviceError("luck") if attempt % 3 else 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TropalignWarning)
        assert values(run(task, devices=[gpu, FakeDevice("cpu", lambda tile, attempt: 0.003)])) == whole(task)
    assert len(gpu.calls) > scheduling.MOST_FAILURES


def test_a_late_device_stays_lost_for_the_run(monkeypatch):
    monkeypatch.setattr(scheduling, "LATE_SECONDS", 0.2)
    woken = threading.Event()
    gpu = FakeDevice("fake:0", lambda tile, attempt: woken.wait(20) and 0.0)
    scheduler = Scheduler([gpu, FakeDevice("cpu", lambda tile, attempt: 0.1)])
    runs = (scheduler.run([Squares([2, 2], cells=1)]) for _ in range(3))
    with pytest.warns(TropalignWarning, match="does not respond"):
        results = [k for run_results in runs for result in run_results for k in result.value]
    assert results == [0, 1, 4, 9] * 3
    woken.set()
    assert len(gpu.calls) == 1


def test_the_next_task_begins_before_the_last_one_ends():
    slow = threading.Event()

    def plan(tile, attempt):
        if tile.payload == (0, 9):  # the first task's only tile
            assert slow.wait(10)
        else:
            slow.set()
        return 0.0

    tasks = [Squares([9], cells=1), Squares([1, 1], cells=1)]
    scheduler = Scheduler([FakeDevice("fake:0", plan), FakeDevice("cpu", plan)])
    results = list(scheduler.run(tasks))
    assert [(result.task, result.tile.index) for result in results] == [(tasks[0], 0), (tasks[1], 0), (tasks[1], 1)]


@pytest.mark.parametrize("devices", [["cpu"], ["cpu", "fake:0"]])
def test_tiles_that_wait_for_results(devices):
    class Stages(Squares):
        """The number of tiles of the second stage comes out of the first."""

        def tiles(self):
            yield self._tiles[0]
            while not seen:
                yield None
            yield from self._tiles[1 : 1 + seen[0]]

    seen = []
    task = Stages([1, 2, 2, 2, 2])
    results = Scheduler([FakeDevice(name) for name in devices]).run([task])
    while next(results, None) is not None:
        seen.append(3)
    assert len(seen) == 4


@pytest.mark.parametrize("devices", [["cpu"], ["cpu", "fake:0"]])
@pytest.mark.parametrize("n_finished", range(5))
def test_tiles_that_wait_for_a_skipped_one(devices, n_finished):
    """As when a run goes on after a kill: `skip` hands over what it knows of finished tiles."""

    class Stages(Squares):
        def tiles(self):
            yield self._tiles[0]
            while not seen:
                yield None
            yield from self._tiles[1 : 1 + seen[0]]

    seen, kept = [], []

    def is_finished(tile):
        if tile.index < n_finished:
            seen.append(3)
            kept.append(tile.index)
        return tile.index < n_finished

    results = Scheduler([FakeDevice(name) for name in devices]).run([Stages([1, 2, 2, 2, 2])], is_finished)
    computed = []
    for result in results:
        seen.append(3)
        computed.append(result.tile.index)
    assert kept + computed == [0, 1, 2, 3] and len(kept) == min(n_finished, 4)


def test_tiles_that_wait_for_nothing_are_a_defect_and_no_hang():
    class Never(Squares):
        def tiles(self):
            yield self._tiles[0]
            while True:
                yield None

    with pytest.raises(RuntimeError, match="have been handed over"):
        list(run(Never([1]), devices=[FakeDevice("cpu")]))


def test_tiles_are_asked_for_as_they_are_needed():
    asked = []

    class Endless(Squares):
        def tiles(self):
            for k in range(10**6):
                asked.append(k)
                yield Tile(k, 1, 1, 1, (k, k + 1))

    results = run(Endless([1]), devices=[FakeDevice("cpu"), FakeDevice("fake:0")])
    assert [next(results)[1] for _ in range(5)] == [[k * k] for k in range(5)]
    results.close()
    assert len(asked) < 100


def test_results_fold():
    class Sum(Squares):
        def fold(self, kept, result):
            return (kept or 0) + sum(result)

    tasks = [Sum([3, 4]), Sum([5])]
    sums = [value for _, value in folded(Scheduler([FakeDevice("cpu")]).run(tasks))]
    assert sums == [sum(whole(task)) for task in tasks]
    with pytest.raises(TropalignError, match="cannot be folded"):
        list(folded(Scheduler([FakeDevice("cpu")]).run([Squares([1])])))


def test_without_threads_the_caller_works(monkeypatch):
    def fails(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fails)
    task = Squares([4] * 6)
    assert values(run(task, devices=[FakeDevice("fake:0"), FakeDevice("cpu")])) == whole(task)
    with pytest.raises(DeviceError, match="starts no thread"):
        list(run(task, devices=[FakeDevice("fake:0", n_workers=2)]))
