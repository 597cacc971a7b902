"""Limits: free memory, threads and control groups; checks that a job fits, and of numbers from callers."""

from __future__ import annotations

import math
import operator
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from tropalign.errors import ResourceError, UsageError, named

#: Maximum number of threads: more than any machine has.
MOST_THREADS = 1024
#: Maximum number of bytes: native code can count them, and no machine has more, so a larger number is a typing error.
MOST_BYTES = 1 << 60


def whole_number(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """Convert any integer type to int; raise UsageError on other types and outside the bounds."""
    try:
        number = operator.index("" if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except TypeError:  # also raised for an array of several numbers
        raise UsageError(f"{named(name)} {value!r} is not a whole number") from None
    if (least is not None and number < least) or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{named(name)} {number} is out of range: give a number {bounds}")
    return number


def decimal_number(name: str, value: Any) -> int | float:
    """Convert a finite number to int if it is integral, else to float; raise UsageError on anything else."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, Real | Decimal) or not math.isfinite(value):
        raise UsageError(f"{named(name)} {value!r} is not a number")
    nearest = float(value)
    return int(nearest) if nearest.is_integer() else nearest


def checked_choice(name: str, value: Any) -> None:
    """Raise UsageError, with the argument's name, on anything but True and False."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise UsageError(f"{named(name)} is a {type(value).__name__}: give True or False")


def checked_threads(n_threads: Any) -> int:
    """Check that `n_threads` is from 0 (all available threads) to 1024, or raise UsageError."""
    return whole_number("n_threads", n_threads, 0, MOST_THREADS)


def checked_memory(memory_bytes: Any) -> int | None:
    """Return the maximum memory in bytes, None for a share of the free memory; raise UsageError on anything else."""
    if isinstance(memory_bytes, float) and math.isfinite(memory_bytes) and memory_bytes == int(memory_bytes):
        memory_bytes = int(memory_bytes)
    return None if memory_bytes is None else min(whole_number("memory_bytes", memory_bytes, 1), MOST_BYTES)


def environment_number(name: str, text: str) -> int:
    """Return the value of the environment variable, at least 1, or raise UsageError."""
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= 1):
        raise UsageError(f"{name}={text!r} is not a whole number above 0: unset the variable or correct it")
    return int(text)


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


UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
#: Share of the free memory that a run takes by default.
DEFAULT_SHARE = 0.6
#: Process size before any input is read: interpreter, NumPy, the compiled module, and freed memory that is
#: retained.
PROCESS_BYTES = 72 << 20
#: Assumed free memory if the system reports neither free nor total memory.
UNKNOWN_FREE = 4 << 30
#: Limit, usage, and the cached part of the usage that the kernel frees on demand: control groups version 2 and 1.
GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def parse_bytes(text: str) -> int:
    """Convert ``8G``, ``500M``, ``1.5g`` or plain bytes to bytes, or raise ValueError."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    n_bytes = float(match[1]) * UNITS[match[2].upper()] if match else 0
    if not 1 <= n_bytes <= MOST_BYTES:
        raise ValueError(f"{text!r} is not an amount of memory: write, for example, 8G or 500M")
    return int(n_bytes)


def human(n_bytes: int) -> str:
    """Format bytes for people: 1.5 GiB rather than 1610612736."""
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def _at_least(n_bytes: int) -> str:
    """Format bytes like `human`, rounded up: a need that exceeds the allowance is never shown as equal to it."""
    unit = max((unit for unit in UNITS.values() if unit <= n_bytes), default=1)
    return human(-(-10 * n_bytes // unit) * unit // 10)


def peak_bytes() -> int:
    """Return the peak memory of this process so far in bytes, 0 if the system does not report it."""
    # VmHWM starts with the program itself; getrusage starts with the usage of the parent process.
    try:
        if match := re.search(r"VmHWM:\s+(\d+) kB", (ROOT / "proc/self/status").read_text()):
            return int(match[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def free_bytes(root: Path = ROOT) -> int:
    """Return the bytes that this process may still take, within the limits of its control groups."""
    try:
        match = re.search(r"MemAvailable:\s+(\d+) kB", (root / "proc/meminfo").read_text())
    except OSError:
        match = None
    free = int(match[1]) * 1024 if match else _half_of_all()
    for group in own_groups("memory", root):
        for limit, used, cached in GROUP_FILES:
            try:
                left = int((group / limit).read_text()) - int((group / used).read_text())
            except (OSError, ValueError):  # the other version of control groups, or "max"
                continue
            try:
                match = re.search(rf"^{cached} (\d+)$", (group / "memory.stat").read_text(), re.MULTILINE)
            except OSError:
                match = None
            free = min(free, left + (int(match[1]) if match else 0))
    return max(free, 0)


def _half_of_all() -> int:
    """Return half of the installed memory in bytes: macOS reports free memory only through a separate command."""
    try:
        n_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return UNKNOWN_FREE
    return n_bytes // 2 if n_bytes > 0 else UNKNOWN_FREE


def default_budget() -> int:
    """Return the bytes that a run may take by default."""
    return int(_recent_free_bytes(int(time.monotonic())) * DEFAULT_SHARE)


def budget_of(memory_bytes: Any) -> int:
    """Return the bytes that a call may take: the checked argument, or by default a share of the free memory."""
    allowed = checked_memory(memory_bytes)
    return default_budget() if allowed is None else allowed


@lru_cache(maxsize=1)
def _recent_free_bytes(second: int) -> int:
    """Return `free_bytes`, cached per second: reading the control group files takes longer than aligning a pair."""
    return free_bytes()


def require(needed_bytes: int, allowed_bytes: int, what: str, remedy: str) -> None:
    """Raise ResourceError if a job needs more than it may take."""
    if needed_bytes > allowed_bytes:
        raise ResourceError(
            f"{what} needs {_at_least(needed_bytes)} of memory and {human(allowed_bytes)} are allowed: {remedy}",
            needed_bytes=needed_bytes,
            allowed_bytes=allowed_bytes,
        )


def left_for_job(allowed_bytes: int, held_bytes: int, least_bytes: int = 1 << 20) -> int:
    """Return the bytes of an allowance that remain after the process itself and its input (`held_bytes`).

    `least_bytes` is the minimum that the job needs. Raises ResourceError, with the bytes of the whole process, if
    less is left.
    """
    taken = PROCESS_BYTES + held_bytes
    require(
        taken + least_bytes,
        allowed_bytes,
        "tropalign with this input",
        f"allow more with {named('memory_bytes')}, or split the input",
    )
    return allowed_bytes - taken


def available_threads(root: Path = ROOT) -> int:
    """Return the number of processors by affinity, or fewer if a control group has a lower quota.

    The affinity is read at each call (1 us). Quotas are read from files (100 us), once per process.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = _threads_by_quota(os.getpid(), root)
    return count if allowed is None else min(count, allowed)


@lru_cache(maxsize=16)
def _threads_by_quota(pid: int, root: Path) -> int | None:
    """Return the number of threads that the tightest quota allows, None if there is no quota.

    `pid` is part of the cache key: a forked child may have been moved into another group before it calls this.
    """
    shares = [share for group in own_groups("cpu", root) if (share := _quota(group)) is not None]
    return max(1, math.ceil(min(shares))) if shares else None


def _quota(group: Path) -> float | None:
    """Return the number of processors that a group may use (versions 2 and 1), None if it is unlimited."""
    try:
        if (group / "cpu.max").exists():
            quota, period = (group / "cpu.max").read_text().split()
        else:
            quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else None
    except (OSError, ValueError):
        return None


def resolve_threads(n_threads: int) -> int:
    """Return `n_threads`, or all available threads for 0; raise UsageError unless it is a number from 0 to 1024."""
    return checked_threads(n_threads) or available_threads()
