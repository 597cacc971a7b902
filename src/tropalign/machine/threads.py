"""How many threads this process may use."""

from __future__ import annotations

import math
import os
from functools import lru_cache
from pathlib import Path

from tropalign.machine.numbers import checked_threads
from tropalign.machine.process import ROOT, own_groups


def available_threads(root: Path = ROOT) -> int:
    """Processors by affinity, or fewer where a control group's quota says so.

    The affinity is asked for at each call, which takes a microsecond. Quotas are read from files, which takes a hundred
    microseconds, and are therefore those of the first call in the process.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = _threads_by_quota(os.getpid(), root)
    return count if allowed is None else min(count, allowed)


@lru_cache(maxsize=16)
def _threads_by_quota(pid: int, root: Path) -> int | None:
    """Threads that the tightest quota leaves, None where there is none.

    `pid` is part of the key: a forked child may have been moved into another group before it asks.
    """
    shares = [share for group in own_groups("cpu", root) if (share := _quota(group)) is not None]
    return max(1, math.ceil(min(shares))) if shares else None


def _quota(group: Path) -> float | None:
    """Processors that a group may use (versions 2 and 1), None when it is not bounded."""
    try:
        if (group / "cpu.max").exists():
            quota, period = (group / "cpu.max").read_text().split()
        else:
            quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else None
    except (OSError, ValueError):
        return None


def resolve_threads(n_threads: int) -> int:
    """`n_threads`, or all that are available for 0. Raises UsageError on what is not a number from 0 to 1024."""
    return checked_threads(n_threads) or available_threads()
