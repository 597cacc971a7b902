"""How devices are called, their kinds (each a module of this folder: docs/gpu.md), and which of them a call gets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tropalign.errors import DeviceError, UsageError
from tropalign.execution.dask_cluster import is_cluster

if TYPE_CHECKING:
    from distributed import Client

    from tropalign.execution.task import Device


#: What callers give: names of devices, addresses of clusters, a distributed.Client, or several of these.
DeviceLike: TypeAlias = "str | Client | Iterable[str | Client]"

_NUMBER = "(0|[1-9][0-9]*)"


@dataclass(frozen=True)
class Kind:
    """A kind of GPU.

    Attributes
    ----------
    package
        The module that it needs, which an extra of the same name as the kind installs.
    number
        Regular expression of what follows ``KIND:`` in a name.
    example
        A name.
    """

    package: str
    number: str
    example: str


#: By the module ``tropalign.devices.KIND``, which has `find()` and `open_device(name)`. `auto` prefers the first ones.
KINDS = {
    "cuda": Kind("cuda.bindings", _NUMBER, "cuda:0"),
    "opencl": Kind("pyopencl", rf"{_NUMBER}\.{_NUMBER}", "opencl:0.0"),
}


def check_device_name(name: str) -> str:
    """The name as it is. Raises ValueError on what cannot be one."""
    if isinstance(name, str) and name in ("auto", "cpu"):
        return name
    patterns = ["auto", "cpu", *(f"{kind}:{entry.number}" for kind, entry in KINDS.items())]
    if not isinstance(name, str) or not re.fullmatch("|".join(patterns), name):
        *examples, last = ["auto", "cpu", *(entry.example for entry in KINDS.values())]
        raise ValueError(f"{name!r} is no device: write {', '.join(examples)} or {last} (tropalign devices lists them)")
    return name


def device_names(device: Any) -> list[Any]:
    """One name or several as a list, with addresses and clients of clusters among them.

    Raises
    ------
    UsageError
        None is named, or something that cannot be one.
    """
    is_one = isinstance(device, str) or is_cluster(device) or not isinstance(device, Iterable)
    names = [device] if is_one else list(device)
    if not names:
        raise UsageError('device: none is named; "auto" takes what there is')
    try:
        return [name if is_cluster(name) else check_device_name(name) for name in names]
    except ValueError as error:
        raise UsageError(str(error)) from None


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
