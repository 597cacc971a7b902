"""Iterator that makes the next item in a separate thread while the current one is in use."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextvars import copy_context
from queue import Queue
from typing import TypeVar

T = TypeVar("T")


class _End:
    """End of the items, with the exception if one was raised."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def prefetched(items: Iterator[T], waits: bool = False) -> Generator[T, None, None]:
    """Yield items while a thread makes the next one; its exceptions are raised when their item is due.

    With `waits`, closing the generator waits for the item that is being made, for sources that must not be closed
    meanwhile.

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
                is_wanted.acquire()  # so that at most one item is ready
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
