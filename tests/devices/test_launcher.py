"""Programs, pace, room and caches, over a device that only counts."""

import gc
import threading
import time
import weakref

import pytest

from tropalign.devices import gpu
from tropalign.devices.gpu import Pace, Programs, require_room, with_constants
from tropalign.devices.registry import DeviceCache
from tropalign.errors import DeviceError, ResourceError


class Device:
    """A device whose compiler waits until it may."""

    name = "slow:0"

    def __init__(self):
        self.built, self.may_compile, self.error = [], threading.Event(), None

    def build(self, source, constants):
        self.may_compile.wait(10)
        self.built.append(constants)
        if self.error:
            raise self.error
        return object()


def test_compiling_gives_signs_of_life(monkeypatch):
    """Also to the thread that waits for a program which another one has begun."""
    monkeypatch.setattr(gpu, "BEAT_SECONDS", 0.01)
    device = Device()
    programs, signs, got = Programs(device, "source"), ([], []), [None, None]

    def work(k):
        got[k] = programs.get({"SIZE": 1}, lambda: signs[k].append(None))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    begin = time.monotonic()
    while min(map(len, signs)) < 3 and time.monotonic() < begin + 10:
        time.sleep(0.01)
    assert not device.built
    device.may_compile.set()
    for thread in threads:
        thread.join()
    assert min(map(len, signs)) >= 3 and got[0] is got[1] is not None
    assert device.built == [{"SIZE": 1}]
    assert programs.get({"SIZE": 1}) is got[0]
    assert programs.get({"SIZE": 2}) is not got[0]


def test_a_wait_for_the_compiler_can_be_stopped():
    device = Device()

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Programs(device, "source").get({}, stop)
    device.may_compile.set()


def test_a_failed_program_is_tried_again():
    device = Device()
    device.may_compile.set()
    device.error = DeviceError("the compiler's words")
    programs = Programs(device, "source")
    for _ in range(2):
        with pytest.raises(DeviceError, match="the compiler's words"):
            programs.get({})
    device.error = None
    programs.get({})
    assert len(device.built) == 3


def test_without_threads_the_caller_compiles(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    device = Device()
    device.may_compile.set()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert Programs(device, "source").get({"SIZE": 1}) is not None


def test_the_pace_is_the_rate_measured_last(monkeypatch):
    now = iter([0.0, 2.0, 10.0, 10.0])
    monkeypatch.setattr(gpu.time, "perf_counter", lambda: next(now))
    pace = Pace(100)
    with pace.measured(1000):
        pass
    assert pace.cells == 251  # 500 per second, for half a second
    with pace.measured(1000):
        pass
    assert pace.cells > 10**6  # in no time at all


def test_what_does_not_fit():
    require_room(Device(), 10, 10, "64 pairs")
    with pytest.raises(
        ResourceError, match=r"^slow:0: 64 pairs computed together need .* are free: add device cpu$"
    ) as error:
        require_room(Device(), 11, 10, "64 pairs")
    assert (error.value.needed_bytes, error.value.allowed_bytes) == (11, 10)


def test_a_cache_makes_each_thing_once_per_device():
    cache, made, devices = DeviceCache(), [], (Device(), Device())
    barrier = threading.Barrier(8)

    def make(device):
        time.sleep(0.01)
        made.append(device)
        return len(made)

    def work(k):
        barrier.wait()
        cache.get(devices[k % 2], "thing", lambda: make(devices[k % 2]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 2 and set(made) == set(devices)
    cache.get(devices[0], "another thing", lambda: make(devices[0]))
    assert len(made) == 3


def test_a_cache_keeps_nothing_that_failed():
    cache, device = DeviceCache(), Device()
    with pytest.raises(DeviceError):
        cache.get(device, "thing", lambda: (_ for _ in ()).throw(DeviceError("full")))
    assert cache.get(device, "thing", lambda: 1) == 1


def test_a_cache_lets_go_of_its_devices():
    cache, device = DeviceCache(), Device()
    cache.get(device, "thing", lambda: 1)
    gone = weakref.ref(device)
    del cache, device
    gc.collect()
    assert gone() is None


def test_constants_come_before_the_source():
    assert with_constants("source", "JOB", {"ROWS": 8, "PAD": 31}) == "#define JOB_ROWS 8\n#define JOB_PAD 31\nsource"
