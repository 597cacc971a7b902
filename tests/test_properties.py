"""Properties that are kept: computed once per object, and never behind a lock."""

import os
import signal
import threading

import pytest

from tropalign.properties import cached_property


class Squares:
    """Counts how often its property is computed; `begin` and `go_on` hold one that is."""

    def __init__(self, side, begin=None, go_on=None):
        self.side, self.begin, self.go_on, self.n_computed = side, begin, go_on, 0

    @cached_property
    def area(self):
        self.n_computed += 1
        if self.begin is not None:
            self.begin.set()
            self.go_on.wait(60)
        return [self.side**2]


def test_computed_once_and_kept():
    squares = Squares(3)
    assert squares.area is squares.area and squares.area == [9] and squares.n_computed == 1
    del squares.area
    assert squares.area == [9] and squares.n_computed == 2
    assert Squares.area.__doc__ == "The square." and isinstance(Squares.area, cached_property)


def test_what_is_raised_is_not_kept():
    class Fails:
        n = 0

        @cached_property
        def value(self):
            self.n += 1
            if self.n == 1:
                raise ValueError("once")
            return self.n

    fails = Fails()
    with pytest.raises(ValueError, match="once"):
        fails.value  # noqa: B018
    assert fails.value == 2


def test_threads_do_not_wait_for_each_other_and_get_one_value():
    begin, go_on = threading.Event(), threading.Event()
    squares, found = Squares(2, begin, go_on), []
    thread = threading.Thread(target=lambda: found.append(squares.area))
    thread.start()
    assert begin.wait(60)
    assert Squares(5).area == [25]  # while the thread computes that of another object
    squares.begin = None
    mine = squares.area
    go_on.set()
    thread.join()
    assert found[0] is mine and squares.area is mine and squares.n_computed == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_of_a_fork_computes_what_a_thread_was_computing():
    begin, go_on = threading.Event(), threading.Event()
    squares = Squares(4, begin, go_on)
    thread = threading.Thread(target=lambda: squares.area)
    thread.start()
    assert begin.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # it ends what hangs
        squares.begin = None
        os._exit(0 if squares.area == Squares(4).area == [16] else 1)
    status = os.waitpid(child, 0)[1]
    go_on.set()
    thread.join()
    assert status == 0
