"""What a job hands to the scheduler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu

#: Receives the number of items begun so far; what it raises ends the computation.
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Tile:
    """A part of a task that one device computes at a time.

    Attributes
    ----------
    index
        Its place among the task's tiles, and so in the output.
    cost_cells
        Cells of the dynamic program.
    n_bytes
        Memory that it takes while it runs, its result included.
    n_items
        What progress counts (pairs, reads, ...).
    payload
        What the task needs to know of it.
    """

    index: int
    cost_cells: int
    n_bytes: int
    n_items: int
    payload: Any


class Task(Protocol):
    """What to compute, whatever the device."""

    def fingerprint(self) -> str:
        """Hash of inputs and parameters: equal only when the results are."""

    def tiles(self) -> list[Tile]:
        """The parts, in the order of the output."""

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Any:
        """The result of one part; `progress` receives the items begun."""


@runtime_checkable
class GpuTask(Protocol):
    """A task that has a kernel."""

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> Any:
        """The result of one part, equal to that of the CPU."""


@runtime_checkable
class SplittableTask(Protocol):
    """A task that can also compute a tile in smaller steps, when memory does not suffice for it at once."""

    def split(self, tile: Tile) -> list[Tile]:
        """Smaller tiles (with the index of the whole one) that make it up, in order; none when it cannot be split."""

    def join(self, tile: Tile, results: list[Any]) -> Any:
        """The result of the whole tile from those of its pieces."""
