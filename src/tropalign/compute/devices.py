"""What can compute here."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tropalign.compute.memory import default_budget, free_bytes
from tropalign.compute.threads import available_threads, resolve_threads
from tropalign.compute.tile import Progress, Task, Tile
from tropalign.errors import DeviceError


class Device(Protocol):
    """What takes tiles and computes them."""

    @property
    def name(self) -> str:
        """As ``--device`` calls it."""

    def fits(self, tile: Tile) -> bool:
        """Whether it can hold that tile."""

    def compute(self, task: Task, tile: Tile, progress: Progress | None = None) -> Any:
        """The tile's result."""


class CpuDevice:
    """The processor.

    Parameters
    ----------
    n_threads
        0: as many as the process may use.
    """

    name = "cpu"

    def __init__(self, n_threads: int = 0) -> None:
        self.n_threads = resolve_threads(n_threads)

    def fits(self, tile: Tile) -> bool:
        """Always: a task cuts its tiles to the memory that the run may take."""
        return True

    def compute(self, task: Task, tile: Tile, progress: Progress | None = None) -> Any:
        """The tile's result, in the calling thread, so that Ctrl-C reaches it."""
        return task.on_cpu(tile, self.n_threads, progress)


@dataclass(frozen=True)
class CpuInfo:
    """The processor: its model, the instruction sets whose kernels it can run (best first) and the chosen one."""

    model: str
    instruction_sets: tuple[str, ...]
    selected: str
    n_threads: int
    free_bytes: int
    default_budget_bytes: int


def selected_isa() -> str:
    """The instruction set whose kernels run. Raises DeviceError when TROPALIGN_ISA names one that is not there."""
    try:
        from tropalign import _native

        return str(_native.selected_isa())
    except (ImportError, RuntimeError) as error:
        raise DeviceError(str(error)) from None


def cpu_info() -> CpuInfo:
    """Describes the processor. Raises DeviceError when TROPALIGN_ISA names a set that it lacks."""
    selected = selected_isa()
    from tropalign import _native

    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        match = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text())
        model = match[1].strip() if match else model
    return CpuInfo(
        model, tuple(_native.supported_isas()), selected, available_threads(), free_bytes(), default_budget()
    )
