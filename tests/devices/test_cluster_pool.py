"""Tiles over the workers of a cluster that does as it is told: no Dask, the same code on both sides."""

from __future__ import annotations

import itertools
import pickle
import random
import warnings
from collections import deque
from dataclasses import replace
from unittest.mock import patch

import pytest
from execution.toys import Large, opener
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tropalign.devices import cluster_pool, remote_worker
from tropalign.devices.cluster_pool import ClusterDevice, ClusterPool
from tropalign.devices.dask_cluster import Unreachable
from tropalign.devices.remote_worker import Work, compute, packed, unpacked
from tropalign.errors import DeviceError, InputError, ResourceError, TropalignError, TropalignWarning, options_named
from tropalign.execution.scheduler import Scheduler, ThreadPool
from tropalign.execution.task import Tile


class Squares:
    """Squares of the tile's numbers, and the large object that they were told of."""

    def __init__(self, costs, large=None, fails=None):
        self.costs, self.large, self.fails = costs, large, fails or {}

    def __getstate__(self):
        return {**vars(self), "costs": None}  # workers get tiles one by one

    def tiles(self):
        return [Tile(k, cost, 1, 2, (k, self.large)) for k, cost in enumerate(self.costs)]

    def on_cpu(self, tile, n_threads, progress=None):
        if tile.index in self.fails:
            raise self.fails[tile.index]
        return tile.payload[0] ** 2, tile.payload[1], n_threads


class Future:
    def __init__(self, key):
        self.key = key


class FakeCluster:
    """Workers that compute in this process, in an order that `rng` chooses; `script` says what befalls a batch.

    A script is called with the number of the submission and the worker, and gives None (all is well), "lost",
    "later", "silent" (the answer never comes), or what the worker fails with.
    """

    name = "tcp://fake:8786"

    def __init__(self, n_workers=3, seed=0, script=lambda number, worker: None):
        self.n_threads = {f"tcp://host{k}:1": 1 for k in range(n_workers)}
        self.shunned = set()
        self.rng, self.script = random.Random(seed), script
        self.numbers, self.waiting, self.done = itertools.count(), deque(), {}
        self.n_sent, self.n_most, self.avoided, self.n_forgotten = 0, 0, [], 0

    def look(self):
        pass

    @property
    def workers(self):
        return [worker for worker in self.n_threads if worker not in self.shunned]

    @property
    def n_slots(self):
        return sum(self.n_threads[worker] for worker in self.workers)

    tiles_per_machine, n_connections, needs_gpu = 1, 1, False
    is_unreachable = staticmethod(lambda: False)

    def send(self, value, to_all):
        self.n_sent += 1
        return value

    def submit(self, work, tiles, objects, avoid=()):
        if self.is_unreachable():
            raise Unreachable
        future = Future(next(self.numbers))
        self.avoided.append(set(avoid))
        places = [worker for worker in self.workers if worker not in avoid] or self.workers
        self.waiting.append((future.key, self.rng.choice(places), work, tiles, objects))
        self.n_most = max(self.n_most, len(self.waiting) + len(self.done))
        return future

    def finished(self, seconds):
        for _ in range(self.rng.randint(1, 3)):
            if not self.waiting:
                break
            self.waiting.rotate(self.rng.randrange(len(self.waiting)))
            key, worker, work, tiles, objects = self.waiting.popleft()
            fate = self.script(key, worker)
            if fate == "silent":
                continue
            if fate == "later":
                self.waiting.append((key, worker, work, tiles, objects))
                continue
            if fate is None:
                answer = compute(work, tiles, objects)
                self.done[key] = replace(answer, worker=worker)
            elif fate == "lost":
                self.done[key] = None
            elif isinstance(fate, tuple):  # an exception of the cluster's own
                self.done[key] = fate[0]
            else:
                self.done[key] = cluster_pool.Answer(None, 0.1, worker, fate, True)
        return list(self.done)

    def answers(self, futures):
        return [self.done.pop(future.key) for future in futures]

    def forget(self, futures):
        self.n_forgotten += len(futures)
        keys = {future.key for future in futures}
        self.waiting = deque(entry for entry in self.waiting if entry[0] not in keys)


def schedule(cluster, progress=None):
    return Scheduler([ClusterDevice(cluster, opener)], progress)


def squares(found):
    return [result.value[0] for result in found]


@settings(max_examples=100)
@example([1] * 20, 3, 1, False, 0.0, 0.3)
@example([1] * 20, 3, 2, False, 0.0, 0.3)
@example([1] * 20, 3, 3, False, 0.0, 0.3)
@example([0] * 11, 1, 65865, True, 0.0, 0.5)  # the last batch finds nobody at first
@given(
    st.lists(st.integers(0, 10**9), max_size=60),
    st.integers(1, 6),
    st.integers(0, 10**6),
    st.booleans(),
    st.floats(0, 0.5),
    st.floats(0, 0.5),
)
def test_every_tile_comes_once_whatever_is_lost(costs, n_workers, seed, in_order, share, unreachable):
    """Batches, their second copies, since all are late at once, and the way to the scheduler."""
    fates = random.Random(seed + 1)
    cluster = FakeCluster(n_workers, seed, lambda *_: "lost" if fates.random() < share else None)
    cluster.is_unreachable = lambda: fates.random() < unreachable
    with patch.multiple(cluster_pool, LATE_TIMES=0.0, LATE_SECONDS=0.0, TICK=0.0):
        results = schedule(cluster).run([Squares(costs)], in_order=in_order)
        found = [(r.tile.index, r.value[0]) for r in itertools.islice(results, len(costs) + 1)]
    if in_order:
        assert found == [(k, k * k) for k in range(len(costs))]
    assert sorted(found) == [(k, k * k) for k in range(len(costs))]


def test_results_are_those_of_one_machine_and_skipped_tiles_are_not_computed():
    costs, shown = list(range(1, 40)), []
    tasks = lambda: [Squares(costs), Squares([5, 5])]  # noqa: E731
    skip = lambda tile: tile.index % 3 == 0  # noqa: E731
    ours = schedule(FakeCluster(), shown.append).run(tasks(), skip)
    theirs = Scheduler(opener(1)).run(tasks(), skip)
    assert [(r.tile.index, r.value[0]) for r in ours] == [(r.tile.index, r.value[0]) for r in theirs]
    assert shown == sorted(shown) and shown[-1] == 2 * (39 + 2)


def test_a_large_object_travels_once_and_comes_back_as_itself():
    large = Large("many words")
    cluster = FakeCluster()
    found = list(schedule(cluster).run([Squares([1] * 30, large)]))
    assert all(result.value[1] is large for result in found)
    assert cluster.n_sent == 2  # the work and the object


class OwnObjects(Squares):
    """The same with an object per tile."""

    def tiles(self):
        return [Tile(k, cost, 1, 2, (k, Large(str(k)))) for k, cost in enumerate(self.costs)]


def test_an_answer_may_come_long_after_its_objects_were_sent(monkeypatch):
    monkeypatch.setattr(cluster_pool, "KEPT_BATCHES", 0)
    monkeypatch.setattr(cluster_pool, "TARGET_SECONDS", 0.0)  # a tile per batch
    looks = itertools.count()
    cluster = FakeCluster(2, script=lambda number, _: "later" if number == 0 and next(looks) < 40 else None)
    found = list(schedule(cluster).run([OwnObjects([1] * 60)], in_order=False))
    assert sorted((r.value[0], r.value[1].words) for r in found) == sorted((k * k, str(k)) for k in range(60))


class MadeAnew(Large):
    is_made_anew = True


class EqualObjects(Squares):
    """Objects that are equal, but not the same, and live as long as their tile."""

    def tiles(self):
        return (Tile(k, cost, 1, 2, (k, MadeAnew("equal"))) for k, cost in enumerate(self.costs))


def test_an_object_outlives_its_equals(monkeypatch):
    monkeypatch.setattr(cluster_pool, "KEPT_BATCHES", 0)
    monkeypatch.setattr(cluster_pool, "TARGET_SECONDS", 0.0)
    looks = itertools.count()
    cluster = FakeCluster(
        2, script=lambda number, _: ("later" if next(looks) < 40 else "lost") if number == 0 else None
    )
    assert sorted(squares(schedule(cluster).run([EqualObjects([1] * 60)], in_order=False))) == [
        k * k for k in range(60)
    ]


class Told(Squares):
    """The task itself has the large object."""

    def tiles(self):
        return [Tile(k, 1, 1, 2, (k, None)) for k in range(len(self.costs))]

    def on_cpu(self, tile, n_threads, progress=None):
        return tile.payload[0] ** 2, self.large, n_threads


def test_a_worker_that_reads_a_large_object_again_names_it_in_answers():
    """As Dask does when memory is scarce: the task still has the one that was read first."""
    sizes, large = [], Large("many words" * 1000)
    cluster = FakeCluster()
    submit = cluster.submit

    def submit_copies(work, tiles, objects, *avoid):
        return submit(work, tiles, {name: Large(value.words) for name, value in objects.items()}, *avoid)

    cluster.submit = submit_copies
    answers = cluster.answers
    cluster.answers = lambda futures: [sizes.append(len(found.data)) or found for found in answers(futures)]
    found = list(schedule(cluster).run([Told([1] * 30, large)]))
    assert all(result.value[1] is large for result in found)
    assert max(sizes) < 1000


def test_what_is_lost_is_sent_anew():
    cluster = FakeCluster(script=lambda number, _: "lost" if number == 4 else None)
    assert squares(schedule(cluster).run([Squares([1] * 30, Large(""))])) == [k * k for k in range(30)]
    assert cluster.n_sent == 4


def test_an_error_of_the_work_ends_the_run_and_names_the_tile():
    task = Squares([1] * 9, fails={5: InputError("a name without letters")})
    with pytest.raises(InputError, match=r"^a name without letters"):
        list(schedule(FakeCluster()).run([task]))
    with pytest.raises(TropalignError, match=r"tile 5 .*KeyError"):
        list(schedule(FakeCluster()).run([Squares([1] * 9, fails={5: KeyError("x")})]))


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError(), ResourceError("no room")])
def test_a_sick_worker_gets_no_more(error):
    sick = "tcp://host1:1"
    cluster = FakeCluster(script=lambda _, worker: error if worker == sick else None)
    with pytest.warns(TropalignWarning, match="host1:1 gets no more tiles"):
        assert squares(schedule(cluster).run([Squares([1] * 60)])) == [k * k for k in range(60)]
    assert cluster.shunned == {sick}
    assert any(sick in avoided for avoided in cluster.avoided)


def test_a_worker_that_fails_now_and_then_stays():
    """Three failures in a row are too many; three among successes are none of its fault."""
    fates = itertools.cycle([OSError("for a moment"), None, OSError("for a moment"), None, None])
    cluster = FakeCluster(3, script=lambda number, worker: next(fates) if worker == "tcp://host1:1" else None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TropalignWarning)
        assert squares(schedule(cluster).run([Squares([10**9] * 60)])) == [k * k for k in range(60)]
    assert not cluster.shunned


def test_the_last_worker_is_not_shunned():
    fates = iter([OSError("ill")] * 3)
    cluster = FakeCluster(1, script=lambda *_: next(fates, None))
    assert squares(schedule(cluster).run([Squares([1] * 8)])) == [k * k for k in range(8)]
    assert not cluster.shunned


def test_an_error_of_the_work_is_not_tried_again():
    cluster = FakeCluster()
    with pytest.raises(InputError, match="wrong"):
        list(schedule(cluster).run([Squares([1], fails={0: InputError("wrong")})]))
    assert next(cluster.numbers) == 1


def test_a_tile_that_is_always_lost_ends_the_run_and_is_named():
    """As one does that crashes each worker together with what was sent there."""
    cluster, deadly = FakeCluster(2), set()

    def crashes(work, tiles, objects, *avoid):
        future = FakeCluster.submit(cluster, work, tiles, objects, *avoid)
        if any(tile.index == 37 for tile in unpacked(tiles, objects)):
            deadly.add(future.key)
        return future

    cluster.submit = crashes
    cluster.script = lambda number, _: "lost" if number in deadly else None
    found = set()
    with pytest.raises(DeviceError, match=r"tile 37 .*ended 25 times while they had it"):
        for result in schedule(cluster).run([Squares([1] * 60)], in_order=False):
            found.add(result.tile.index)
    assert len(found) > 40


def test_a_run_that_is_broken_off_calls_its_batches_back():
    cluster = FakeCluster()
    results = schedule(cluster).run([Squares([1] * 60)])
    next(results)
    n_waiting = len(cluster.waiting)
    results.close()
    assert n_waiting and not cluster.waiting


def test_results_do_not_pile_up_before_one_that_is_missing(monkeypatch):
    """The first tile is in flight for long; the others wait, for what lies ready takes memory."""
    monkeypatch.setattr(cluster_pool, "TARGET_SECONDS", 0.0)  # a tile per batch
    monkeypatch.setattr(cluster_pool, "BATCHES_PER_SECOND", 1e12)
    looks, most = itertools.count(), []
    cluster = FakeCluster(2, script=lambda number, _: "later" if number == 0 and next(looks) < 200 else None)
    scheduler = schedule(cluster)
    for result in scheduler.run([Squares([1] * 400)]):
        most.append(scheduler._jobs.n_ready)
        del result
    assert len(most) == 400
    assert max(most) <= 40


def test_what_fails_on_every_worker_fails():
    task = Squares([1] * 9, fails={3: ResourceError("no room")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TropalignWarning)
        with pytest.raises(ResourceError, match=r"tile 3 .*no room"):
            list(schedule(FakeCluster()).run([task]))
    killed = FakeCluster(script=lambda number, _: (RuntimeError("KilledWorker"),) if number == 2 else None)
    assert squares(schedule(killed).run([Squares([1] * 9)])) == [k * k for k in range(9)]
    always = FakeCluster(script=lambda *_: (RuntimeError("killed 4 workers"),))
    with pytest.raises(DeviceError, match=r"tile \d .*ended while they computed this tile .killed 4 workers"):
        list(schedule(always).run([Squares([1] * 9)]))


@pytest.mark.parametrize("in_order", [True, False])
def test_a_late_batch_is_computed_twice(in_order, monkeypatch):
    monkeypatch.setattr(cluster_pool, "LATE_SECONDS", 0.0)
    monkeypatch.setattr(cluster_pool, "LATE_TIMES", 0.0)
    cluster = FakeCluster(script=lambda number, _: "silent" if number == 1 else None)
    found = squares(schedule(cluster).run([Squares([1] * 20)], in_order=in_order))
    assert sorted(found) == [k * k for k in range(20)]
    assert cluster.n_forgotten


def test_without_workers_the_run_waits_and_then_ends(monkeypatch):
    monkeypatch.setattr(cluster_pool, "PATIENCE", 0.05)
    monkeypatch.setattr(cluster_pool, "TICK", 0.01)
    with pytest.raises(DeviceError, match="has had no worker"):
        list(schedule(FakeCluster(0)).run([Squares([1])]))


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_lost_or_doubled_when_workers_come_and_go(in_order, seed, monkeypatch):
    """The last batches of a run are lost with all workers; what is late is refused by those that it is sent to."""
    for name in ("TICK", "LATE_SECONDS", "LATE_TIMES"):
        monkeypatch.setattr(cluster_pool, name, 0.0)
    fates = random.Random(seed)

    class Unsteady(FakeCluster):
        @property
        def n_slots(self):
            return 0 if fates.random() < 0.4 else super().n_slots

        def submit(self, *words, **more):
            if fates.random() < 0.4:
                raise Unreachable("for the moment")
            return super().submit(*words, **more)

    def fate(number, worker):
        return "lost" if fates.random() < 0.3 else None

    for n in (1, 2, 3, 20):
        found = squares(schedule(Unsteady(2, seed, fate)).run([Squares([1] * n)], in_order=in_order))
        assert sorted(found) == [k * k for k in range(n)]


def test_workers_that_take_nothing_are_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(cluster_pool, "PATIENCE", 0.05)
    monkeypatch.setattr(cluster_pool, "TICK", 0.01)

    class Deaf(FakeCluster):
        def send(self, value, to_all):
            raise Unreachable("no room")

    with pytest.raises(DeviceError, match=r"has had no worker that takes tiles .no room. for"):
        list(schedule(Deaf()).run([Squares([1])]))


def test_who_waits_for_workers_says_so(monkeypatch):
    monkeypatch.setattr(cluster_pool, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(cluster_pool, "TICK", 0.01)
    monkeypatch.setattr(cluster_pool, "PATIENCE", 1.0)
    cluster = FakeCluster(0)
    cluster.needs_gpu = True
    with (
        pytest.warns(TropalignWarning, match=r"waits until one is started with --resources GPU=1") as said,
        pytest.raises(DeviceError, match="start workers with --resources GPU=1"),
    ):
        list(schedule(cluster).run([Squares([1])]))
    assert len(said) == 1


def test_a_batch_waits_for_a_worker_when_all_have_died(monkeypatch):
    """The last batch is lost with the last worker, and another worker comes."""
    monkeypatch.setattr(cluster_pool, "TICK", 0.0)
    cluster, looks = FakeCluster(1), itertools.count()

    def script(number, worker):
        if number:
            return None
        there = dict(cluster.n_threads)
        cluster.n_threads.clear()
        monkeypatch.setattr(cluster, "look", lambda: next(looks) > 3 and cluster.n_threads.update(there))
        return "lost"

    cluster.script = script
    assert squares(schedule(cluster).run([Squares([1])])) == [0]


def test_batches_are_of_some_seconds_and_few_are_on_their_way():
    cluster = FakeCluster(2)
    assert len(list(schedule(cluster).run([Squares([1] * 5000)]))) == 5000
    assert next(cluster.numbers) < 500  # each computes in microseconds
    assert cluster.n_most <= 4


def test_tiles_share_the_processors_of_a_machine(monkeypatch):
    monkeypatch.setattr(remote_worker, "available_threads", lambda: 8)
    cluster = FakeCluster()
    cluster.tiles_per_machine = 4
    for asked, wanted in ((0, 2), (3, 3)):
        (found,) = Scheduler([ClusterDevice(cluster, opener, asked)]).run([Squares([1])])
        assert found.value[2] == wanted


class Waits:
    """A tile that is made of the result before it."""

    def __init__(self):
        self.last = None

    def tiles(self):
        yield Tile(0, 1, 1, 1, 3)
        for k in range(1, 4):
            while self.last is None:
                yield None
            last, self.last = self.last, None
            yield Tile(k, 1, 1, 1, last + 1)

    def on_cpu(self, tile, n_threads, progress=None):
        return tile.payload * 2


def test_a_cluster_that_cannot_be_reached_for_a_while_loses_nothing(monkeypatch):
    monkeypatch.setattr(cluster_pool, "TICK", 0.001)
    cluster, failures = FakeCluster(), iter([False, True, False] + 4 * [True] + 200 * [False])
    submit, look = cluster.submit, cluster.look

    def sometimes(*words):
        if next(failures):
            raise cluster_pool.Unreachable("it is gone")
        return submit(*words)

    def looked():
        if cluster.rng.random() < 0.2:  # it was joined again, and has no workers yet
            cluster.n_connections += 1
            cluster.waiting.clear()
            cluster.done.clear()
            cluster.n_threads = {} if cluster.n_threads else dict.fromkeys(["tcp://a:1", "tcp://b:1"], 1)
        look()

    monkeypatch.setattr(cluster, "submit", sometimes)
    monkeypatch.setattr(cluster, "look", looked)
    assert squares(schedule(cluster).run([Squares([1] * 12)])) == [k * k for k in range(12)]


def test_a_batch_that_is_lost_after_a_new_connection_is_computed_again(monkeypatch):
    """What it had on the old one counts no more: else the run would wait for that."""
    monkeypatch.setattr(cluster_pool, "TICK", 0.001)
    cluster = FakeCluster(1, script=lambda number, _: {0: "later", 1: "lost"}.get(number))
    looks = itertools.count()

    def looked():
        if next(looks) == 1:
            cluster.n_connections += 1
            cluster.waiting.clear()

    monkeypatch.setattr(cluster, "look", looked)
    assert squares(schedule(cluster).run([Squares([1])])) == [0]
    assert next(cluster.numbers) == 3


def test_what_was_lost_together_is_sent_anew_once():
    cluster = FakeCluster(8, script=lambda number, _: "lost" if 10 <= number < 18 else None)
    assert squares(schedule(cluster).run([Squares([10**9] * 60, Large(""))])) == [k * k for k in range(60)]
    assert cluster.n_sent < 2 * 8


def test_a_tile_may_wait_for_a_result():
    task, found = Waits(), []
    for result in schedule(FakeCluster()).run([task]):
        task.last = result.value
        found.append(result.value)
    assert found == [6, 14, 30, 62]
    with pytest.raises(RuntimeError, match="waits for a result"):
        list(schedule(FakeCluster()).run([Waits()]))


def test_devices_choose_what_fills_their_slots():
    assert isinstance(schedule(FakeCluster())._pool, ClusterPool)
    assert isinstance(Scheduler(opener(1))._pool, ThreadPool)


def test_errors_of_a_worker_name_what_the_sender_knows():
    """Options of the command line, arguments of Python's functions."""
    task, tiles = Squares([1], fails={0: MemoryError()}), packed([Tile(0, 1, 2, 2, (0, None))], lambda value: None)
    data = packed((task, None, opener), lambda value: None)
    with options_named():
        by_command = pickle.dumps(Work(data, 1, 1))
    assert "allow less with --memory," in str(compute(pickle.loads(by_command), tiles, {}).error)
    assert "allow less with memory_bytes," in str(compute(Work(data, 1, 1), tiles, {}).error)


def test_another_version_is_refused(monkeypatch):
    work_of_another = FakeCluster()
    send = work_of_another.send

    def sent(value, to_all):
        if hasattr(value, "version"):
            value.version = "0.0.1"
        return send(value, to_all)

    monkeypatch.setattr(work_of_another, "send", sent)
    with pytest.raises(TropalignError, match=r"the worker has tropalign .*, but this machine has 0\.0\.1"):
        list(schedule(work_of_another).run([Squares([1])]))


@pytest.mark.parametrize("n_tiles", [1, 5])
def test_the_last_tile_is_submitted_again(n_tiles, monkeypatch):
    monkeypatch.setattr(cluster_pool, "TICK", 0.001)
    cluster, failures = FakeCluster(1), iter((n_tiles - 1) * [False] + 9 * [True] + 9 * [False])
    submit = cluster.submit

    def sometimes(*words):
        if next(failures):
            raise cluster_pool.Unreachable("it is gone")
        return submit(*words)

    monkeypatch.setattr(cluster, "submit", sometimes)
    assert squares(schedule(cluster).run([Squares([1] * n_tiles)])) == [k * k for k in range(n_tiles)]
