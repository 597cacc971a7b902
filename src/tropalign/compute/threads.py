"""How many threads this process may use."""

from __future__ import annotations

import os
from pathlib import Path


def available_threads() -> int:
    """Processors by affinity, or fewer where a control group's quota says so."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            count = min(count, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass
    return count


def resolve_threads(n_threads: int) -> int:
    """`n_threads`, or all that are available for 0. Raises ValueError when negative."""
    if n_threads < 0:
        raise ValueError(f"{n_threads} threads: give 0 for all, or a number")
    return n_threads or available_threads()
