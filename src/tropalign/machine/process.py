"""Control groups that bound this process (Linux; versions 1 and 2), and Ctrl-C while it starts others."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/")


def own_groups(controller: str, root: Path = ROOT) -> list[Path]:
    """Directories of the process's group and of those above it that `controller` ("memory", "cpu") may bound it in.

    Some may not exist: inside a container the paths that the kernel reports can be the host's.
    """
    mounts = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    groups = []
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            mount = mounts
        elif controller in controllers.split(","):
            mount = mounts / controller
        else:
            continue
        own = mount / path.strip("/")
        groups += [own, *(above for above in own.parents if above.is_relative_to(mount))]
    return groups


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
