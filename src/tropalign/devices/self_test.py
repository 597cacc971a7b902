"""Whether a device computes what the processor does: every job's own check, in one verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tropalign.devices.gpu import Gpu
from tropalign.devices.registry import open_gpu
from tropalign.errors import TropalignError

#: What ``self_test.check_gpu`` of a job's folder is: raises DeviceError when a result is not the processor's.
Check = Callable[[Gpu], None]


def verdict(name: str, checks: Mapping[str, Check]) -> str:
    """Says "ok", or "fails: " and why the device does not open, or which jobs' kernels are wrong on it and why.

    Parameters
    ----------
    name
        As ``--device`` calls it.
    checks
        By the verb of each job that has kernels.
    """
    try:
        gpu = open_gpu(name)
    except (TropalignError, MemoryError) as error:
        return f"fails: {_line(error)}"
    faults = []
    for verb, check in checks.items():
        try:
            check(gpu)
        except (TropalignError, MemoryError) as error:
            faults.append(f"{verb}: {_line(error)}")
    return f"fails: {'; '.join(faults)}" if faults else "ok"


def _line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
