"""What can compute here."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path

from tropalign.compute.memory import free_bytes
from tropalign.compute.threads import available_threads
from tropalign.errors import DeviceError


@dataclass(frozen=True)
class CpuInfo:
    """The processor: its model, the instruction sets whose kernels it can run (best first) and the chosen one."""

    model: str
    instruction_sets: tuple[str, ...]
    selected: str
    n_threads: int
    free_bytes: int


def cpu_info() -> CpuInfo:
    """Describes the processor. Raises DeviceError when TROPALIGN_ISA names a set that it lacks."""
    from tropalign import _native

    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        match = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text())
        model = match[1].strip() if match else model
    try:
        selected = _native.selected_isa()
    except RuntimeError as error:
        raise DeviceError(str(error)) from None
    return CpuInfo(model, tuple(_native.supported_isas()), selected, available_threads(), free_bytes())
