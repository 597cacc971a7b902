"""Items made one ahead."""

import threading
import time

import pytest

from tropalign.sequences.files import prefetched


def test_items_come_in_order():
    assert list(prefetched(iter(range(100)))) == list(range(100))
    assert list(prefetched(iter(()))) == []


def test_the_next_item_is_made_meanwhile_and_no_other():
    made = []

    def items():
        for k in range(5):
            made.append(k)
            yield k

    for k in prefetched(items()):
        deadline = time.monotonic() + 10
        while len(made) < min(k + 2, 5) and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(0.02)
        assert made == list(range(min(k + 2, 5)))


def test_an_error_comes_in_its_place():
    def items():
        yield 1
        raise KeyError("two")

    found = prefetched(items())
    assert next(found) == 1
    with pytest.raises(KeyError, match="two"):
        next(found)


def test_the_thread_ends_with_its_reader():
    before = threading.active_count()
    found = prefetched(iter(range(10**9)))
    assert next(found) == 0
    found.close()
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert threading.active_count() == before


def test_the_end_waits_for_what_is_being_made():
    is_making, events = threading.Event(), []

    def items():
        yield 1
        is_making.set()
        time.sleep(0.05)
        events.append("made")
        yield 2

    found = prefetched(items(), waits=True)
    assert next(found) == 1 and is_making.wait(10)
    found.close()
    events.append("closed")
    assert events == ["made", "closed"]


def test_items_come_where_no_thread_can_be_started(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert list(prefetched(iter(range(3)))) == [0, 1, 2]
