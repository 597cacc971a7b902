"""Devices of this machine: found, opened by name, and tested against the processor's results."""

from __future__ import annotations

import importlib
import re
import threading
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from tropalign.errors import DeviceError, TropalignError, TropalignWarning, UsageError, named, shown
from tropalign.options.option import Options, argument
from tropalign.resources.limits import available_threads, default_budget, free_bytes, resolve_threads

if TYPE_CHECKING:
    from distributed import Client

    from tropalign.devices.gpu import Gpu, GpuInfo
    from tropalign.execution.task import Device, Progress, Task, Tile

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


#: Memory below which `auto` does not look for GPUs: the drivers' libraries take about 150 MB.
AUTO_GPU_BYTES = 512 << 20
#: Cells (of a local score, or equal work) below which `auto` does not look for GPUs: the processor finishes
#: before a driver has started.
AUTO_GPU_CELLS = 100_000_000_000
#: The corresponding limit for the sums of products, paths and models.
AUTO_SUMS = 100_000_000_000


@runtime_checkable
class GpuTask(Protocol):
    """Task that has a GPU kernel."""

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> Any:
        """Return the result of one tile, equal to the processor's."""


class GpuDevice:
    """Opened GPU, for tasks that have a kernel."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu, self.name, self.n_workers = gpu, gpu.name, gpu.n_streams

    def compute(self, task: Task, tile: Tile, progress: Progress | None = None) -> Any:
        """Return the tile's result; raise DeviceError if the task has no kernel."""
        if not isinstance(task, GpuTask):
            raise DeviceError(f"{self.name}: this job has no GPU kernel: add {named('device')} cpu")
        return task.on_gpu(tile, self.gpu, progress)


class CpuDevice:
    """The processor; `n_threads` 0 means all that the process may use."""

    name = "cpu"
    n_workers = 1

    def __init__(self, n_threads: int = 0) -> None:
        self.n_threads = resolve_threads(n_threads)

    def compute(self, task: Task, tile: Tile, progress: Progress | None = None) -> Any:
        """Return the tile's result, computed in the calling thread so that Ctrl-C reaches it."""
        return task.on_cpu(tile, self.n_threads, progress)


Made = TypeVar("Made")


class DeviceCache:
    """Objects that a task keeps on each device: the first thread that needs one makes it while the others wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[Gpu, threading.Lock] = {}
        self._made: dict[tuple[Gpu, Hashable], Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return DeviceCache, ()  # device objects do not travel with the task

    def get(self, device: Gpu, what: Hashable, make: Callable[[], Made]) -> Made:
        """Return the cached result of the first `make`; errors are not cached.

        `make` must not use the cache for the same device.
        """
        with self._lock:
            lock = self._locks.setdefault(device, threading.Lock())
        with lock:
            if (device, what) not in self._made:
                self._made[device, what] = make()
            made: Made = self._made[device, what]
            return made


@dataclass(frozen=True)
class CpuInfo:
    """The processor: model, the instruction sets whose kernels it can run (best first), and the selected one."""

    model: str
    instruction_sets: tuple[str, ...]
    selected: str
    n_threads: int
    free_bytes: int
    default_budget_bytes: int


def selected_isa() -> str:
    """Return the instruction set of the kernels in use; raise DeviceError if TROPALIGN_ISA names an unavailable one."""
    try:
        from tropalign import _native

        return str(_native.selected_isa())
    except (ImportError, RuntimeError) as error:
        raise DeviceError(str(error)) from None


def cpu_info() -> CpuInfo:
    """Describe the processor; raise DeviceError if TROPALIGN_ISA names a set that it lacks."""
    selected = selected_isa()
    import platform

    from tropalign import _native

    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        match = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text())
        model = match[1].strip() if match else model
    return CpuInfo(
        model, tuple(_native.supported_isas()), selected, available_threads(), free_bytes(), default_budget()
    )


def find_gpus() -> tuple[list[GpuInfo], list[str]]:
    """Return all GPUs and other OpenCL devices, and a sentence for each kind that cannot be used."""
    infos: list[GpuInfo] = []
    reasons: list[str] = []
    for kind in KINDS:
        try:
            infos += _module(kind).find()
        except DeviceError as error:
            reasons.append(str(error))
    return infos, reasons


def open_gpu(name: str) -> Gpu:
    """Open the GPU of that name; raise DeviceError if it does not exist or cannot be used."""
    kind = name.partition(":")[0]
    if kind not in KINDS:
        raise DeviceError(f"{name!r} is not a kind of GPU: the kinds are {', '.join(KINDS)}")
    gpu: Gpu = _module(kind).open_device(name)
    return gpu


def _module(kind: str) -> Any:
    """Return the module of a kind of GPU, imported on first use."""
    return importlib.import_module(f"tropalign.devices.{kind}")


def open_devices(
    names: Sequence[str], n_threads: int, cost_cells: int, memory_bytes: int | None = None
) -> list[Device]:
    """Open devices of these names.

    "auto" means the processor, and GPUs if the job (`cost_cells`, at most `memory_bytes`) is worth starting a
    driver. If a cluster is named (its address, or a distributed.Client), the other names are the devices of its
    workers.
    Raises DeviceError if a named device does not exist or does not open.
    """
    clusters = [name for name in names if is_cluster(name)]
    if clusters:
        from tropalign.devices.cluster_pool import ClusterDevice
        from tropalign.devices.dask_cluster import Cluster

        others = [name for name in names if not is_cluster(name)] or ["auto"]
        opener = partial(open_devices, others, cost_cells=cost_cells, memory_bytes=memory_bytes)
        needs_gpu = not {"auto", "cpu"} & set(others)
        return [ClusterDevice(Cluster(clusters[0], needs_gpu), opener, n_threads)]
    devices: list[Device] = []
    for name in dict.fromkeys(names):
        if name == "cpu":
            devices.append(CpuDevice(n_threads))
        elif name == "auto":
            if memory_bytes is None or memory_bytes >= AUTO_GPU_BYTES:
                devices += _auto_gpus(cost_cells)
            devices.append(CpuDevice(n_threads))
        else:
            devices.append(GpuDevice(open_gpu(name)))
    return list({device.name: device for device in devices}.values())


def _auto_gpus(cost_cells: int) -> list[Device]:
    """Return the GPUs of this machine, each once; a GPU that does not open is skipped with a warning."""
    if cost_cells < AUTO_GPU_CELLS or not any(_is_installed(kind.package) for kind in KINDS.values()):
        return []
    found = [info for info in find_gpus()[0] if info.is_gpu]
    has_cuda = any(info.name.startswith("cuda:") for info in found)
    devices: list[Device] = []
    for info in found:
        if has_cuda and info.name.startswith("opencl:") and "NVIDIA" in info.driver:
            continue  # the same card, listed by CUDA
        try:
            devices.append(GpuDevice(open_gpu(info.name)))
        except DeviceError as error:
            warnings.warn(f"{error}: the other devices are used instead", TropalignWarning, stacklevel=2)
    return devices


def _is_installed(library: str) -> bool:
    import importlib.util

    try:
        return importlib.util.find_spec(library) is not None
    except ModuleNotFoundError:
        return False


#: Type of a job's ``check_gpu`` (verbs/devices.py): raises DeviceError if a result differs from the processor's.
Check: TypeAlias = "Callable[[Gpu], None]"


def verdict(name: str, checks: Mapping[str, Check]) -> str:
    """Return "ok", or "fails: " with the reason that the device does not open, or with each wrong job and reason.

    `checks` are by the verb of each job that has kernels.
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


def devices_for(
    device: str | Iterable[str],
    n_threads: int,
    n_sums: int,
    without_kernel: str | None = None,
    *,
    is_same: bool = True,
) -> list[Device] | None:
    """Return the devices that share a computation, None for the processor alone.

    `n_sums` is the cost; `without_kernel` names the computation (in the plural) if no GPU kernel exists. `is_same`
    is True if a GPU gives bit-identical results: "auto" takes a GPU only then, so results do not depend on the
    machine.
    Raises UsageError for an invalid device or a cluster, DeviceError if a named GPU is missing or has no kernel
    for it.
    """
    names = device_names(device)
    if any(map(is_cluster, names)):
        raise UsageError("products, paths and models cannot be computed on a cluster: choose a device of this machine")
    named = [name for name in names if name not in ("cpu", "auto")]
    if without_kernel is not None and named:
        raise _no_kernel(named[0], without_kernel)
    may_look = "auto" in names and is_same and n_sums >= AUTO_SUMS
    if n_sums == 0 or without_kernel is not None or not (named or may_look):
        return None
    devices = open_devices(names, n_threads, n_sums)
    return None if [found.name for found in devices] == ["cpu"] else devices


def require_processor(devices: Sequence[Device], what: str) -> None:
    """Raise DeviceError if only GPUs may compute, but no GPU kernel exists for `what`."""
    if all(device.name != "cpu" for device in devices):
        raise _no_kernel(devices[0].name, what)


def _no_kernel(name: str, what: str) -> DeviceError:
    return DeviceError(f"{name}: {what} are computed on the CPU only: choose the device cpu")
