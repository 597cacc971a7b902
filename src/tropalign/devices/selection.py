"""Where a computation runs: on the processor, or with GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tropalign.devices.names import device_names
from tropalign.errors import DeviceError, UsageError
from tropalign.execution.dask_cluster import is_cluster

if TYPE_CHECKING:
    from tropalign.execution.task import Device

#: Sums below which `auto` looks for no GPU: the processor is done before a driver has started.
AUTO_SUMS = 100_000_000_000


def devices_for(
    device: str | Iterable[str],
    n_threads: int,
    n_sums: int,
    without_kernel: str | None = None,
    *,
    is_same: bool = True,
) -> list[Device] | None:
    """The devices that share a computation; None where it is the processor's alone.

    Parameters
    ----------
    device
        As ``--device`` takes them.
    n_threads
        Of the processor.
    n_sums
        The cost.
    without_kernel
        What this computation is (in the plural), where no GPU has it.
    is_same
        Whether a GPU finds the processor's very bits: "auto" takes one only where it does, so that results do not
        depend on the machine.

    Raises
    ------
    UsageError
        What cannot be a device, and a cluster.
    DeviceError
        A GPU that was named is not there, or does not open, or has no kernel for it.
    """
    names = device_names(device)
    if any(map(is_cluster, names)):
        raise UsageError(
            "products, paths and models are computed on one machine, where their arrays are: name no cluster as device"
        )
    named = [name for name in names if name not in ("cpu", "auto")]
    if without_kernel is not None and named:
        raise _no_kernel(named[0], without_kernel)
    may_look = "auto" in names and is_same and n_sums >= AUTO_SUMS
    if n_sums == 0 or without_kernel is not None or not (named or may_look):
        return None
    from tropalign.devices.registry import open_devices

    devices = open_devices(names, n_threads, n_sums)
    return None if [found.name for found in devices] == ["cpu"] else devices


def require_processor(devices: Sequence[Device], what: str) -> None:
    """Raises DeviceError where only GPUs may compute what no GPU can."""
    if all(device.name != "cpu" for device in devices):
        raise _no_kernel(devices[0].name, what)


def _no_kernel(name: str, what: str) -> DeviceError:
    return DeviceError(f"{name}: {what} are computed on the CPU only: choose the device cpu")
