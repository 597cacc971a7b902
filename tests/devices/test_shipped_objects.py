"""What lies on the workers of a cluster: what is sent once, what is sent again, and when it is let go."""

from __future__ import annotations

import gc
import weakref

import pytest
from execution.toys import Large

from tropalign.devices import cluster_pool
from tropalign.devices.cluster_pool import ShippedObjects
from tropalign.devices.remote_worker import unpacked


class Cluster:
    """Notes what is sent; a future is what stands for it."""

    n_slots, tiles_per_machine = 1, 1

    def __init__(self):
        self.n_connections, self.sent = 1, []

    def send(self, value, to_all):
        self.sent.append((value, to_all))
        return f"future {len(self.sent)}"


class Block(Large):
    is_made_anew = True


class Task:
    def __init__(self, large=None):
        self.large = large


def opener(n_threads):
    return []


@pytest.fixture
def cluster():
    return Cluster()


@pytest.fixture
def lying(cluster):
    return ShippedObjects(cluster, opener, 3)


def sent_values(cluster, kind):
    return [value for value, _ in cluster.sent if isinstance(value, kind)]


def test_tiles_name_what_was_sent_and_come_back_as_they_were(cluster, lying):
    large = Large("many words")
    parcel = lying.parcel(Task(), [large, 7, large], None)
    assert b"many words" not in parcel.tiles
    assert parcel.futures.keys() == parcel.objects.keys() and list(parcel.objects.values()) == [large]
    first, number, second = unpacked(parcel.tiles, parcel.objects)
    assert first is second is large and number == 7
    assert sent_values(cluster, Large) == [large]


def test_a_task_and_an_object_travel_once_for_all_batches(cluster, lying):
    large = Large("x")
    task = Task(Large("of the task"))
    parcels = [lying.parcel(task, [k, large], None) for k in range(50)]
    assert len({parcel.work for parcel in parcels}) == 1
    assert len({tuple(parcel.futures.items()) for parcel in parcels}) == 1
    work, *others = cluster.sent
    assert work[0].n_threads == 3 and work[1], "a work goes to all workers"
    assert [(value.words, to_all) for value, to_all in others] == [("of the task", True), ("x", False)]


def test_results_may_be_finished_in_two_ways(cluster, lying):
    task, finish = Task(), len
    assert lying.parcel(task, [0], None).work != lying.parcel(task, [0], finish).work
    assert lying.parcel(task, [0], finish).work == lying.parcel(task, [1], finish).work


def test_equal_objects_have_one_name_where_they_say_so_alone(cluster, lying):
    one, other = (lying.parcel(Task(), [Block("same")], None) for _ in range(2))
    assert one.futures == other.futures and len(sent_values(cluster, Block)) == 1
    assert lying.parcel(Task(), [Block("not the same")], None).futures != one.futures
    kept = Large("same"), Large("same")
    one, other = (lying.parcel(Task(), [value], None) for value in kept)
    assert not one.futures.keys() & other.futures.keys()


def test_what_no_batch_has_needed_for_long_is_let_go(cluster, lying, monkeypatch):
    monkeypatch.setattr(cluster_pool, "KEPT_BATCHES", 3)
    task, large = Task(Large("of the task")), Large("early")
    before = lying.parcel(task, [large], None).futures
    for k in range(3):
        assert lying.parcel(task, [large, k], None).futures == before, "it is needed"
    for k in range(4):
        lying.parcel(task, [k], None)
    after = lying.parcel(task, [large], None).futures
    assert after.keys() == before.keys(), "its name stays"
    assert len(sent_values(cluster, Large)) == 3, "it was sent again, what the task has was not"


def test_objects_are_not_kept_alive_by_their_names(cluster, lying):
    block = Block("long")
    there = weakref.ref(block)
    lying.parcel(Task(), [block], None)
    del block
    cluster.sent.clear()
    gc.collect()
    assert there() is None


def test_of_earlier_tasks_two_stay(cluster, lying):
    tasks = [Task() for _ in range(3)]
    works = [lying.parcel(task, [0], None).work for task in tasks]
    assert [lying.parcel(task, [0], None).work for task in tasks[1:]] == works[1:]
    assert lying.parcel(tasks[0], [0], None).work not in works


@pytest.mark.parametrize("way", ["forgotten", "connected anew"])
def test_what_is_lost_is_sent_again_under_its_name(way, cluster, lying):
    task, large = Task(Large("of the task")), Large("x")
    before, n_before = lying.parcel(task, [large], None), len(cluster.sent)
    if way == "forgotten":
        lying.forget()
    else:
        cluster.n_connections += 1
    after = lying.parcel(task, [large], None)
    assert len(cluster.sent) == 2 * n_before
    assert after.objects == before.objects and after.futures.keys() == before.futures.keys()
    assert not {*after.futures.values(), after.work} & {*before.futures.values(), before.work}
    lying.parcel(task, [large], None)
    assert len(cluster.sent) == 2 * n_before, "once is enough"
