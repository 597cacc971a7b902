"""How much memory there is, and whether a job fits it."""

from __future__ import annotations

import re
from pathlib import Path

from tropalign.errors import ResourceError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
#: The share of free memory that a run takes by default.
DEFAULT_SHARE = 0.6


def parse_bytes(text: str) -> int:
    """``8G``, ``500M``, ``1.5g`` or plain bytes. Raises ValueError on anything else."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if not match or float(match[1]) == 0:
        raise ValueError(f"{text!r} is no amount of memory: write 8G or 500M")
    return int(float(match[1]) * UNITS[match[2].upper()])


def human(n_bytes: int) -> str:
    """1.5 GiB rather than 1610612736."""
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def free_bytes() -> int:
    """Memory that this process may still take: the system's, or less where a control group says so."""
    free = 4 << 30
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        match = re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text())
        free = int(match[1]) * 1024 if match else free
    for limit_file, used_file in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            free = min(free, int(Path(limit_file).read_text()) - int(Path(used_file).read_text()))
        except (OSError, ValueError):
            continue
    return max(free, 0)


def default_budget() -> int:
    """What a run takes when nothing else is said."""
    return int(free_bytes() * DEFAULT_SHARE)


def require(needed_bytes: int, allowed_bytes: int, what: str, remedy: str) -> None:
    """Raises ResourceError when a job needs more than it may take."""
    if needed_bytes > allowed_bytes:
        raise ResourceError(
            f"{what} needs {human(needed_bytes)} of memory and {human(allowed_bytes)} are allowed: {remedy}",
            needed_bytes=needed_bytes,
            allowed_bytes=allowed_bytes,
        )
