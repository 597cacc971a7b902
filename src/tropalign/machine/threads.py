"""How many threads this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

from tropalign.machine.cgroup import ROOT, own_groups
from tropalign.machine.numbers import checked_threads


def available_threads(root: Path = ROOT) -> int:
    """Processors by affinity, or fewer where a control group's quota says so."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for group in own_groups("cpu", root):
        share = _quota(group)
        if share is not None:
            count = min(count, max(1, math.ceil(share)))
    return count


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
    """`n_threads`, or all that are available for 0. Raises UsageError on what is no number from 0 to 1024."""
    return checked_threads(n_threads) or available_threads()
