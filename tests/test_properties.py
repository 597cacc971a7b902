"""Values that are kept: computed once, whichever threads ask, and again in the child of a fork."""

import os
import re
import signal
import sys
import threading
from pathlib import Path

import pytest

import tropalign
from tropalign.properties import cached, cached_per_object, cached_property

SOURCE = Path(tropalign.__file__).parent
#: Modules with caches of bounded size: their values are numbers, texts or splines, which nothing compares by identity.
BOUNDED = {
    "errors.py", "resources/limits.py", "scoring/matrix.py", "pairwise/hsps.py", "pairwise/positions.py",
    "serve/web/views.py",
}  # fmt: skip


class Side:
    """An object with a property; `begin` and `go_on` stop a thread in the middle of computing it."""

    def __init__(self, length, begin=None, go_on=None):
        self.length, self.begin, self.go_on, self.n_computed = length, begin, go_on, 0

    def square(self):
        self.n_computed += 1
        if self.begin is not None:
            self.begin.set()
            self.go_on.wait(60)
        return [self.length**2]

    @cached_property
    def area(self):
        """The square."""
        return self.square()


@cached
def area_of(side, unit="m"):
    return side.square()


@cached_per_object
def area_with(side, unit="m"):
    return side.square()


#: Each way to keep a value, as a function of the object.
WAYS = {"cached": area_of, "cached_per_object": area_with, "cached_property": lambda side: side.area}
every_way = pytest.mark.parametrize("area", WAYS.values(), ids=WAYS)


@every_way
def test_computed_once_and_kept(area):
    side = Side(3)
    assert area(side) is area(side) and area(side) == [9] and side.n_computed == 1


def test_a_deleted_property_is_computed_again():
    side = Side(3)
    assert side.area == [9]
    del side.area
    assert side.area == [9] and side.n_computed == 2
    assert Side.area.__doc__ == "The square." and isinstance(Side.area, cached_property)


def test_other_arguments_have_another_value():
    side = Side(3)
    for area in (area_of, area_with):
        values = [area(side), area(side, "m"), area(side, unit="km")]
        assert len({id(value) for value in values}) == 3
        assert values == [area(side), area(side, "m"), area(side, unit="km")]
    assert side.n_computed == 6


def test_values_live_as_long_as_the_object():
    side = Side(3)
    assert not area_with.is_kept(side)
    area_with(side)
    assert area_with.is_kept(side) and not area_with.is_kept(side, "km")
    n_before = len(area_with._values)
    del side
    assert len(area_with._values) == n_before - 1


@pytest.mark.parametrize("way", [cached, cached_per_object, cached_property])
def test_exceptions_are_not_kept(way):
    class Fails:
        n = 0

        def square(self):
            self.n += 1
            if self.n == 1:
                raise ValueError("once")
            return self.n

    if way is cached_property:
        Fails.value = cached_property(Fails.square)
        Fails.value.__set_name__(Fails, "value")
        value = lambda fails: fails.value  # noqa: E731
    else:
        value = way(Fails.square)
    fails = Fails()
    with pytest.raises(ValueError, match="once"):
        value(fails)
    assert value(fails) == value(fails) == 2


@every_way
def test_threads_that_ask_meanwhile_wait_for_the_one_value(area):
    begin, go_on = threading.Event(), threading.Event()
    side, found = Side(2, begin, go_on), []
    threads = [threading.Thread(target=lambda: found.append(area(side))) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert begin.wait(60)
    assert area(Side(5)) == [25]  # another object's value waits for nobody
    assert not found
    go_on.set()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len({id(value) for value in found}) == 1 and side.n_computed == 1


@every_way
def test_threads_that_start_together_hold_one_object(area):
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for k in range(200):
            side, found, start = Side(k), [], threading.Barrier(8)

            def ask(side=side, found=found, start=start):
                start.wait()
                found.append(area(side))

            threads = [threading.Thread(target=ask) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len({id(value) for value in found}) == 1 and side.n_computed == 1
    finally:
        sys.setswitchinterval(switch)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@every_way
def test_a_child_of_a_fork_computes_what_a_thread_was_computing(area):
    begin, go_on = threading.Event(), threading.Event()
    side = Side(4, begin, go_on)
    thread = threading.Thread(target=lambda: area(side))
    thread.start()
    assert begin.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # it ends what hangs
        side.begin = None
        os._exit(0 if area(side) == [16] else 1)
    status = os.waitpid(child, 0)[1]
    go_on.set()
    thread.join()
    assert status == 0


def test_modules_keep_values_by_these_alone():
    """`functools.cache` and `lru_cache` may compute a value in each thread, and give different objects."""
    texts = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in SOURCE.rglob("*.py")}
    del texts["properties.py"]
    plain = re.compile(r"functools\.(cache|lru_cache)|from functools import .*\b(cache|cached_property)\b")
    assert [path for path, text in texts.items() if plain.search(text)] == []
    assert {path for path, text in texts.items() if "lru_cache" in text} == BOUNDED
