"""OpenCL devices (extra ``[opencl]``): any vendor's GPU, and processors through PoCL."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.gpu import Buffer, GpuInfo
from tropalign.errors import DeviceError
from tropalign.resources.limits import free_bytes

#: Share of a device's memory that tiles may take.
MEMORY_SHARE = 0.8
#: Minimal kernel that every driver must compile.
PROBE = "__kernel void probe(__global int *out) { out[get_global_id(0)] = 1; }"


def _library() -> Any:
    """Return pyopencl; raise DeviceError if it is missing."""
    try:
        import pyopencl
    except ImportError:
        raise DeviceError("OpenCL devices need pyopencl: pip install 'tropalign[opencl]'") from None
    return pyopencl


def _devices() -> list[tuple[str, Any]]:
    cl = _library()
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:  # no driver is installed
        return []
    named = []
    for p, platform in enumerate(platforms):
        try:
            devices = platform.get_devices()
        except cl.RuntimeError:
            continue
        named += [(f"opencl:{p}.{d}", device) for d, device in enumerate(devices)]
    return named


def find() -> list[GpuInfo]:
    """Return all OpenCL devices; raise DeviceError if pyopencl is missing."""
    cl = _library()
    known = {"cl_khr_subgroup_shuffle": "sub-groups", "cl_intel_subgroups": "Intel sub-groups"}
    return [
        GpuInfo(
            name,
            device.name.strip(),
            f"{device.platform.name.strip()}, driver {device.driver_version}",
            int(device.global_mem_size),
            None,
            is_gpu=bool(device.type & cl.device_type.GPU),
            has_dpx=False,
            shuffles=next((how for extension, how in known.items() if extension in device.extensions), "local memory"),
        )
        for name, device in _devices()
    ]


def open_device(name: str) -> OpenClDevice:
    """Open the device of that name; raise DeviceError if it does not exist or cannot be used."""
    return OpenClDevice(name)


class OpenClDevice:
    """OpenCL device with a queue per thread.

    Raises DeviceError if it does not exist, cannot be opened, or its driver compiles no kernel.
    """

    word_bits = 16
    n_streams = 2

    def __init__(self, name: str) -> None:
        self._cl = _library()
        found = dict(_devices())
        if name not in found:
            raise DeviceError(f"there is no OpenCL device {name}: {_names(list(found))}")
        self.name, self._device = name, found[name]
        try:
            self._context = self._cl.Context([self._device])
        except self._cl.Error as error:
            raise DeviceError(f"{name} cannot be opened ({error})") from None
        self.n_multiprocessors = int(self._device.max_compute_units)
        self._own = threading.local()
        try:
            self.build(PROBE, {})  # because some drivers list devices that their compiler does not support
        except DeviceError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            why = next((line for line in lines if "error:" in line), lines[-1])
            raise DeviceError(
                f"{self.name}: its driver cannot compile kernels ({why}): update it or install another OpenCL driver"
            ) from None

    @property
    def _queue(self) -> Any:
        if not hasattr(self._own, "queue"):
            self._own.queue = self._cl.CommandQueue(self._context)
        return self._own.queue

    def build(self, source: str, constants: dict[str, int]) -> OpenClProgram:
        """Compile kernels; the driver or pyopencl may cache them in the user's cache directory."""
        options = ["-w", *(f"-D{name}={value}" for name, value in constants.items())]
        try:
            with warnings.catch_warnings():  # some compilers print remarks
                warnings.simplefilter("ignore", self._cl.CompilerWarning)
                return OpenClProgram(self, self._cl.Program(self._context, source).build(options))
        except (self._cl.Error, RuntimeError) as error:  # RuntimeError: another process holds the cache
            raise DeviceError(f"{self.name}: kernels do not compile: {error}") from None

    def upload(self, array: NDArray[Any]) -> Buffer:
        """Copy an array to the device."""
        data = np.ascontiguousarray(array)
        if not data.nbytes:
            return self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, 1)
        with self._errors():
            flags = self._cl.mem_flags.READ_WRITE | self._cl.mem_flags.COPY_HOST_PTR
            return self._cl.Buffer(self._context, flags, hostbuf=data)

    def budget_bytes(self) -> int:
        """Return the bytes that a tile may take: a share of the memory, since OpenCL does not report how much is free.

        If the device shares the host's memory, the share is limited by the host's free memory.
        """
        total = int(self._device.global_mem_size)
        if self._device.host_unified_memory:
            total = min(total, free_bytes())
        return int(MEMORY_SHARE * min(total / self.n_streams, int(self._device.max_mem_alloc_size)))

    @contextmanager
    def scope(self) -> Iterator[OpenClMemory]:
        """Yield an allocator whose buffers are freed at the end of the ``with`` block."""
        memory = OpenClMemory(self)
        with self._errors():
            try:
                yield memory
            finally:
                memory.release()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Convert OpenCL errors to MemoryError or DeviceError."""
        cl = self._cl
        try:
            yield
        except cl.MemoryError as error:
            raise MemoryError(f"{self.name}: {error}") from None
        except cl.Error as error:
            if getattr(error, "code", None) == cl.status_code.OUT_OF_RESOURCES:
                raise MemoryError(f"{self.name}: {error}") from None
            raise DeviceError(f"{self.name}: {error}") from None


class OpenClMemory:
    """Buffers of a device that are freed together."""

    def __init__(self, device: OpenClDevice) -> None:
        self._device, self._buffers = device, list[Any]()

    def upload(self, array: NDArray[Any]) -> Buffer:
        """Copy an array to the device."""
        self._buffers.append(self._device.upload(array))
        return self._buffers[-1]

    def allocate(self, n_bytes: int) -> Buffer:
        """Allocate uninitialised memory; raise MemoryError if there is not enough."""
        cl = self._device._cl
        self._buffers.append(cl.Buffer(self._device._context, cl.mem_flags.READ_WRITE, n_bytes))
        return self._buffers[-1]

    def download(self, buffer: Buffer, dtype: type[np.generic], count: int) -> NDArray[Any]:
        """Return the first `count` items of a buffer after all queued work is done."""
        array = np.empty(count, dtype)
        if count:
            self._device._cl.enqueue_copy(self._device._queue, array, buffer)
        return array

    def wait(self) -> None:
        """Wait until all queued work is done."""
        self._device._queue.finish()

    def release(self) -> None:
        """Free the buffers after the queued work that uses them."""
        try:
            self._device._queue.finish()
        finally:
            for buffer in self._buffers:
                buffer.release()


class OpenClProgram:
    """Compiled kernels."""

    def __init__(self, device: OpenClDevice, program: Any) -> None:
        self._device, self._program = device, program

    def launch(self, kernel: str, groups: int, group_size: int, *arguments: Buffer | int) -> None:
        """Queue a kernel; integers are passed as int32."""
        passed = [np.int32(a) if isinstance(a, int) else a for a in arguments]
        entry = self._device._cl.Kernel(self._program, kernel)  # a new object per call, because arguments are its state
        entry(self._device._queue, (groups * group_size,), (group_size,), *passed)


def _names(names: list[str]) -> str:
    return f"the devices are {', '.join(names)}" if names else "no OpenCL driver has a device"
