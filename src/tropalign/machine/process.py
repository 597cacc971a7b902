"""Control groups that limit this process (Linux; versions 1 and 2), and protection of child processes from Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/")


def own_groups(controller: str, root: Path = ROOT) -> list[Path]:
    """Return directories of this process's control group and its ancestors for `controller` ("memory", "cpu").

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
    """Ignore Ctrl-C in this block, and permanently in the processes that are started in it.

    A terminal sends SIGINT to all processes of a command, but child processes must end only when this process ends
    them; they inherit the ignored signal. Outside the main thread this block has no effect.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
