"""A client of Dask given as device: what is asked of it, what stays its owner's, and what its futures come to."""

from __future__ import annotations

import pytest

from tropalign.errors import DeviceError, UsageError

pytest.importorskip("distributed")

from tropalign.devices.cluster_pool import ClusterDevice
from tropalign.devices.dask_cluster import Cluster, Unreachable
from tropalign.devices.registry import is_cluster, open_devices
from tropalign.devices.remote_worker import Answer


class Future:
    """Of an answer (finished), of an error, or of what was cancelled with its workers."""

    def __init__(self, key, value=None, status="finished"):
        self.key, self.value, self.status, self.callbacks = key, value, status, []

    def result(self, timeout):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    def exception(self, timeout):
        return self.value

    def add_done_callback(self, callback):
        self.callbacks.append(callback)


class Client:
    """What tropalign uses of a client."""

    __module__ = "distributed.client"
    asynchronous = False

    class scheduler:
        address = "tcp://head:8786"

    def __init__(self, threads=None, status="running"):
        self.threads, self.status = {"tcp://a:1": 4, "tcp://b:1": 2} if threads is None else threads, status
        self.submitted, self.is_closed, self.cancelled, self.fails = [], False, [], None

    def nthreads(self):
        if self.fails:
            raise self.fails
        return self.threads

    def scheduler_info(self):
        return {"workers": {worker: {"resources": {"GPU": 1.0} if n > 2 else {}} for worker, n in self.threads.items()}}

    def scatter(self, values, broadcast, hash):
        if self.fails:
            raise self.fails
        return [Future(f"scattered {broadcast}") for _ in values]

    def submit(self, function, *words, key, pure, **places):
        future = Future(key)
        self.submitted.append((future, places))
        return future

    def gather(self, futures):
        if any(isinstance(future.value, Exception) for future in futures):
            raise OSError("one of them is gone")
        return [future.value for future in futures]

    def cancel(self, futures, force):
        self.cancelled += futures

    def close(self):
        self.is_closed = True


def test_a_client_is_a_device_and_stays_open():
    client = Client()
    assert is_cluster(client) and not is_cluster(object()) and not is_cluster(Client)
    (device,) = open_devices([client, "cpu"], 0, 1)
    assert isinstance(device, ClusterDevice) and device.name == "tcp://head:8786"
    assert device.n_workers == 6
    device.cluster.close()
    assert not client.is_closed, "it is its owner's"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"status": "closed"}, "this client is closed: give a running one"),
        ({"status": "connecting"}, "this client is connecting: give a running one"),
        ({"scheduler": None}, "this client is running: give a running one"),
        ({"asynchronous": True}, "this client is asynchronous: give the address of its scheduler"),
    ],
)
def test_a_client_that_cannot_be_asked_is_refused(change, sentence):
    client = Client()
    vars(client).update(change)
    with pytest.raises(UsageError, match=sentence):
        Cluster(client)


def test_a_client_that_its_owner_has_closed_ends_the_run():
    client = Client()
    cluster = Cluster(client)
    client.status, client.fails = "closed", OSError("closed")
    with pytest.raises(DeviceError, match="the connection to tcp://head:8786 is closed: repeat the command"):
        cluster.look()


def test_a_scheduler_that_does_not_answer_has_no_workers_for_the_moment():
    client = Client()
    cluster = Cluster(client)
    client.fails = OSError("the network is away")
    cluster.look()
    assert cluster.n_slots == 0 and cluster.n_connections == 1
    with pytest.raises(Unreachable, match="the network is away"):
        cluster.send(b"", to_all=True)
    client.fails = ModuleNotFoundError("No module named 'tropalign'")
    with pytest.raises(DeviceError, match=r"a worker of tcp://head:8786 lacks a module .*: install tropalign"):
        cluster.send(b"", to_all=True)
    client.fails = TypeError("cannot pickle 'module' object")
    with pytest.raises(TypeError, match="cannot pickle"):  # a defect, and told as one
        cluster.send(b"", to_all=True)


def test_workers_without_a_gpu_count_only_where_none_is_needed():
    client = Client()
    cluster = Cluster(client, needs_gpu=True)
    cluster.look()
    assert cluster.workers == ["tcp://a:1"] and cluster.n_slots == 1
    cluster.submit("work", b"", {})
    assert client.submitted[0][1] == {"resources": {"GPU": 1}}


def test_work_goes_elsewhere_after_a_failure_as_long_as_there_is_an_elsewhere():
    client = Client()
    cluster = Cluster(client)
    cluster.look()
    cluster.submit("work", b"", {})
    cluster.submit("work", b"", {}, avoid=["tcp://a:1"])
    cluster.submit("work", b"", {}, avoid=["tcp://a:1", "tcp://b:1"])
    cluster.shunned.add("tcp://b:1")
    cluster.submit("work", b"", {})
    assert [places.get("workers") for _, places in client.submitted] == [None, ["tcp://b:1"], None, ["tcp://a:1"]]
    assert len({future.key for future, _ in client.submitted}) == 4


def test_what_has_ended_is_told_by_its_key():
    client = Client()
    cluster = Cluster(client)
    futures = [cluster.submit("work", b"", {}) for _ in range(3)]
    assert cluster.finished(0.001) == []
    for future in futures[1:]:
        future.callbacks[0](future)
    assert cluster.finished(60) == [future.key for future in futures[1:]]
    cluster.forget(futures[:1])
    cluster.forget([])
    assert client.cancelled == futures[:1]


def test_futures_come_to_an_answer_an_error_or_nothing():
    class FutureCancelledError(Exception):
        pass

    answer, wrong = Answer(b"data", 0.1, "tcp://a:1"), ValueError("wrong")
    cases = [
        (Future("0", answer), answer),
        (Future("1", wrong, "error"), wrong),
        (Future("2", FutureCancelledError("gone"), "error"), None),
        (Future("3", RuntimeError("key was lost"), "error"), None),
        (Future("4", None, "cancelled"), None),
        (Future("5", None, "pending"), None),
    ]
    cluster = Cluster(Client())
    assert cluster.answers([future for future, _ in cases]) == [found for _, found in cases]
    died = Future("6", OSError("its worker has died since"))  # gathered with others, which are asked one by one then
    assert cluster.answers([died, cases[0][0]]) == [None, answer]
