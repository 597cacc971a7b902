"""Number of threads that this process may use."""

from __future__ import annotations

import math
import os
from functools import lru_cache
from pathlib import Path

from tropalign.machine.numbers import checked_threads
from tropalign.machine.process import ROOT, own_groups


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
