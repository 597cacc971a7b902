"""How much memory there is, and whether a job fits it."""

from __future__ import annotations

import os
import re
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from tropalign.errors import ResourceError, named
from tropalign.machine.numbers import checked_memory
from tropalign.machine.process import ROOT, own_groups

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
#: More than any machine has is a slip of the pen.
MOST_BYTES = 1 << 60
#: The share of free memory that a run takes by default.
DEFAULT_SHARE = 0.6
#: What the process takes before any input is read: interpreter, NumPy, the compiled module, freed memory that is kept.
PROCESS_BYTES = 72 << 20
#: What is taken to be free where the system says neither that nor how much memory there is.
UNKNOWN_FREE = 4 << 30
#: Limit, use, and the cached part of that use which the kernel gives back on demand: group versions 2 and 1.
GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def parse_bytes(text: str) -> int:
    """``8G``, ``500M``, ``1.5g`` or plain bytes. Raises ValueError on anything else."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    n_bytes = float(match[1]) * UNITS[match[2].upper()] if match else 0
    if not 1 <= n_bytes <= MOST_BYTES:
        raise ValueError(f"{text!r} is no amount of memory: write 8G or 500M")
    return int(n_bytes)


def human(n_bytes: int) -> str:
    """1.5 GiB rather than 1610612736."""
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def _at_least(n_bytes: int) -> str:
    """Bytes, readable, not less than there are: so that a need is never what is allowed and too little."""
    unit = max((unit for unit in UNITS.values() if unit <= n_bytes), default=1)
    return human(-(-10 * n_bytes // unit) * unit // 10)


def peak_bytes() -> int:
    """The most memory that this process has held so far; 0 where the system does not say."""
    # The system's usage of a process begins with that of its parent, and VmHWM with the program itself.
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
    """Memory that this process may still take: the system's, or less where a control group says so."""
    try:
        match = re.search(r"MemAvailable:\s+(\d+) kB", (root / "proc/meminfo").read_text())
    except OSError:
        match = None
    free = int(match[1]) * 1024 if match else _half_of_all()
    for group in own_groups("memory", root):
        for limit, used, cached in GROUP_FILES:
            try:
                left = int((group / limit).read_text()) - int((group / used).read_text())
            except (OSError, ValueError):  # another version of groups, or "max"
                continue
            free = min(free, left + _statistic(group / "memory.stat", cached))
    return max(free, 0)


def _half_of_all() -> int:
    """Half of the memory that is built in: macOS tells no more without a command of its own."""
    try:
        n_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return UNKNOWN_FREE
    return n_bytes // 2 if n_bytes > 0 else UNKNOWN_FREE


def _statistic(path: Path, name: str) -> int:
    try:
        match = re.search(rf"^{name} (\d+)$", path.read_text(), re.MULTILINE)
    except OSError:
        match = None
    return int(match[1]) if match else 0


def default_budget() -> int:
    """What a run takes when nothing else is said."""
    return int(_recent_free_bytes(int(time.monotonic())) * DEFAULT_SHARE)


def budget_of(memory_bytes: Any) -> int:
    """Bytes that a call may take: those that are given, checked, or a share of what is free."""
    allowed = checked_memory(memory_bytes)
    return default_budget() if allowed is None else allowed


@lru_cache(maxsize=1)
def _recent_free_bytes(second: int) -> int:
    """Reading the files of the control groups takes longer than aligning a pair: once a second will do."""
    return free_bytes()


def require(needed_bytes: int, allowed_bytes: int, what: str, remedy: str) -> None:
    """Raises ResourceError when a job needs more than it may take."""
    if needed_bytes > allowed_bytes:
        raise ResourceError(
            f"{what} needs {_at_least(needed_bytes)} of memory and {human(allowed_bytes)} are allowed: {remedy}",
            needed_bytes=needed_bytes,
            allowed_bytes=allowed_bytes,
        )


def left_for_job(allowed_bytes: int, held_bytes: int, least_bytes: int = 1 << 20) -> int:
    """What a job may take of an allowance for the whole process.

    Parameters
    ----------
    held_bytes
        The input, which is read.
    least_bytes
        What the job itself takes at the least: errors then speak of the whole process, as the allowance does.

    Raises
    ------
    ResourceError
        The process and its input take all of it.
    """
    taken = PROCESS_BYTES + held_bytes
    require(
        taken + least_bytes,
        allowed_bytes,
        "tropalign with this input",
        f"allow more with {named('memory_bytes')}, or split the input",
    )
    return allowed_bytes - taken
