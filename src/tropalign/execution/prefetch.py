"""An iterator that makes its next item in a thread of its own while the last one is worked on."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextvars import copy_context
from queue import Queue
from typing import TypeVar

T = TypeVar("T")


class _End:
    """What comes after the last item: nothing, or what was raised."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def prefetched(items: Iterator[T], waits: bool = False) -> Generator[T, None, None]:
    """Gives items as they come; while one is in use, the next one is made. What that raises is raised in its place.

    Parameters
    ----------
    items
        Asked for the next one in the thread.
    waits
        Whoever takes no more waits until the item that is being made is made: for what must not be closed meanwhile.

    Examples
    --------
    >>> list(prefetched(iter("abc")))
    ['a', 'b', 'c']
    """
    made: Queue[T | _End] = Queue(maxsize=1)
    is_wanted = threading.Semaphore(0)
    is_over = False

    def make() -> None:
        try:
            for item in items:
                made.put(item)
                is_wanted.acquire()  # so that no more than one lies ready
                if is_over:
                    return
            made.put(_End(None))
        except BaseException as error:
            made.put(_End(error))

    thread = threading.Thread(target=copy_context().run, args=(make,), daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system allows no more threads
        yield from items
        return
    try:
        while not isinstance(item := made.get(), _End):
            is_wanted.release()
            yield item
        if item.error is not None:
            raise item.error
    finally:
        is_over = True
        is_wanted.release()
        if waits:
            thread.join()
