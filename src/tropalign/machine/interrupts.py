"""Ctrl-C, while other processes start and end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Ctrl-C does nothing in this block, nor ever to the processes that are started in it.

    A terminal sends it to all processes of a command; those that this one has started end when this one says so. What
    is ignored here they ignore, too, from their first moment on. In another thread than the first nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
