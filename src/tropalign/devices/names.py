"""Names of devices, their kinds and those of clusters: each kind is a module here (docs/gpu.md, "Adding a device")."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tropalign.errors import UsageError, shown
from tropalign.options.option import Options, argument

if TYPE_CHECKING:
    from distributed import Client

#: Devices as callers give them: names, cluster addresses, a distributed.Client, or several of these.
DeviceLike: TypeAlias = "str | Client | Iterable[str | Client]"

_NUMBER = "(0|[1-9][0-9]*)"


@dataclass(frozen=True)
class Kind:
    """Kind of GPU.

    - `package`: required module, installed by an extra that is named like the kind.
    - `number`: regular expression of the text after ``KIND:`` in a device name.
    - `example`: a device name.
    """

    package: str
    number: str
    example: str


#: Keys: the module ``tropalign.devices.KIND``, which has `find()` and `open_device(name)`. `auto` prefers the
#: first.
KINDS = {
    "cuda": Kind("cuda.bindings", _NUMBER, "cuda:0"),
    "opencl": Kind("pyopencl", rf"{_NUMBER}\.{_NUMBER}", "opencl:0.0"),
}


def check_device_name(name: str) -> str:
    """Return the name unchanged, or raise ValueError if it cannot be a device name."""
    if isinstance(name, str) and name in ("auto", "cpu"):
        return name
    patterns = ["auto", "cpu", *(f"{kind}:{entry.number}" for kind, entry in KINDS.items())]
    if not isinstance(name, str) or not re.fullmatch("|".join(patterns), name):
        *examples, last = ["auto", "cpu", *(entry.example for entry in KINDS.values())]
        raise ValueError(
            f"{name!r} is not a device: write {', '.join(examples)} or {last} (tropalign devices lists them)"
        )
    return name


def device_names(device: Any) -> list[Any]:
    """Return one or several names, cluster addresses or clients as a list; raise UsageError if empty or invalid."""
    is_one = isinstance(device, str) or is_cluster(device) or not isinstance(device, Iterable)
    names = [device] if is_one else list(device)
    if not names:
        raise UsageError('device: the list is empty; "auto" selects the available ones')
    try:
        return [name if is_cluster(name) else check_device_name(name) for name in names]
    except ValueError as error:
        raise UsageError(str(error)) from None


class ComputeArguments(Options):
    """Devices that compute, with limits on threads and memory."""

    n_threads: int = argument(
        default=0, kw_only=True, doc="Number of threads, at most 1024; 0: all that the process may use."
    )
    memory_bytes: int | None = argument(
        default=None,
        kw_only=True,
        doc="Memory for the computation, excluding the sequences; by default a share of the free memory.",
    )
    device: DeviceLike = argument(
        default="auto",
        kw_only=True,
        doc='Devices that compute, one or several of "cpu", "cuda:0", "opencl:0.0" ...; "auto": the processor, and '
        'also the GPUs if the job is large. A cluster ("tcp://host:8786", "local:4", or a distributed.Client) computes '
        "on its workers. The result does not depend on the device.",
    )


LOCAL = re.compile(r"local(?::([1-9][0-9]{0,3}))?")
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx|ucxx)://.+|.+\.json", re.DOTALL)


def check_address(text: str) -> str:
    """Return the address unchanged, or raise ValueError if it is not a cluster address."""
    if not isinstance(text, str) or not (LOCAL.fullmatch(text) or _ADDRESS.fullmatch(text)):
        raise ValueError(
            f"{shown(repr(text))} is not a cluster: write tcp://HOST:8786, the scheduler's file.json, or local:4 for "
            "four processes on this machine"
        )
    return text


def is_cluster(value: Any) -> bool:
    """True for a cluster address or a distributed.Client."""
    if isinstance(value, str):
        return bool(LOCAL.fullmatch(value) or _ADDRESS.fullmatch(value))
    return type(value).__module__.partition(".")[0] == "distributed" and hasattr(value, "scatter")
