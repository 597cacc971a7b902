"""CUDA devices (extra ``[cuda]``), through the driver's own interface; nvrtc.py compiles their kernels."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices import nvrtc
from tropalign.devices.cuda_context import (
    STAGING_BYTES,
    Context,
    Stream,
    attribute_of,
    capability_of,
    checked,
    driver_version,
    load_driver,
)
from tropalign.devices.gpu import GpuInfo
from tropalign.errors import DeviceError

#: The share of a device's free memory that tiles may take.
MEMORY_SHARE = 0.8
#: Compute capability (as 10 major + minor) from which packed 16-bit operations are one instruction (DPX).
DPX_CAPABILITY = 90


def open_device(name: str) -> CudaDevice:
    """The device of that name. Raises DeviceError when there is none, or when it cannot be opened."""
    return CudaDevice(name)


def find() -> list[GpuInfo]:
    """All CUDA devices. Raises DeviceError when cuda-bindings or the driver is missing."""
    driver = load_driver()
    version = driver_version(driver)
    infos = []
    for k in range(int(checked(driver.cuDeviceGetCount(), "counting devices"))):
        device = checked(driver.cuDeviceGet(k), "finding a device")
        model = checked(driver.cuDeviceGetName(100, device), "reading a device's name").decode().strip("\0 ")
        capability = capability_of(driver, device)
        infos.append(
            GpuInfo(
                f"cuda:{k}",
                f"{model} (sm_{capability})",
                f"driver for CUDA {version[0]}.{version[1]}",
                int(checked(driver.cuDeviceTotalMem(device), "reading a device's memory")),
                _free_bytes_or_none(f"cuda:{k}"),
                is_gpu=True,
                has_dpx=capability >= DPX_CAPABILITY,
                shuffles="warps",
            )
        )
    return infos


def _free_bytes_or_none(name: str) -> int | None:
    try:
        return CudaDevice(name).free_bytes()
    except (DeviceError, MemoryError):  # full, or another's alone: its self-test says so
        return None


class CudaDevice:
    """One CUDA device. Every thread that uses it has a stream of its own.

    Raises
    ------
    DeviceError
        There is no such device, or it cannot be opened.
    """

    n_streams = 2

    def __init__(self, name: str) -> None:
        driver = load_driver()
        self.name = name
        count = int(checked(driver.cuDeviceGetCount(), "counting devices"))
        number = name.removeprefix("cuda:")
        if not number.isdigit() or int(number) >= count:
            raise DeviceError(f"there is no CUDA device {name}: there are {count}, cuda:0 the first")
        self.context = Context(driver, name, int(number))
        self.capability = capability_of(driver, self.context.device)
        self.word_bits = 16 if self.capability >= DPX_CAPABILITY else 32
        self.n_multiprocessors = attribute_of(driver, self.context.device, "MULTIPROCESSOR_COUNT")
        self._driver_version = driver_version(driver)
        self._budget_bytes = int(MEMORY_SHARE * self.context.free_at_first / self.n_streams)
        self._own = threading.local()

    @property
    def stream(self) -> Stream:
        """The calling thread's stream."""
        if not hasattr(self._own, "stream"):
            self._own.stream = Stream(self.context)
        stream: Stream = self._own.stream
        return stream

    def build(self, source: str, constants: dict[str, int]) -> CudaProgram:
        """Compiles kernels, or takes them from the cache.

        Raises
        ------
        DeviceError
            The kernels do not compile, or the card or its driver is too old for this NVRTC; with the remedy.
        """
        architecture = nvrtc.architecture_for(self.name, self.capability, self._driver_version)
        return CudaProgram(self, nvrtc.compiled(source, constants, architecture))

    def free_bytes(self) -> int:
        """Memory of the device that nobody uses."""
        return self.context.free_bytes()

    def budget_bytes(self) -> int:
        """The share of the memory free at the beginning that a tile of one stream may take."""
        return self._budget_bytes

    def upload(self, array: NDArray[Any]) -> CudaBuffer:
        """A copy of the array on the device, there for every stream."""
        buffer = self.copy(array)
        self.stream.wait()
        buffer.source = None
        return buffer

    def copy(self, array: NDArray[Any]) -> CudaBuffer:
        """A copy of the array for the calling thread's stream."""
        data = np.ascontiguousarray(array)
        buffer = CudaBuffer(self.stream, max(data.nbytes, 1))
        if data.nbytes:
            address, buffer.source = data.ctypes.data, data
            self.context.call("cuMemcpyHtoDAsync", buffer.address, address, data.nbytes, self.stream.handle)
        return buffer

    @contextmanager
    def scope(self) -> Iterator[CudaMemory]:
        """Buffers for the length of a ``with`` block."""
        memory = CudaMemory(self)
        try:
            yield memory
        finally:
            memory.release()


class CudaBuffer:
    """Memory of a device, allocated and freed in the order of a stream."""

    def __init__(self, stream: Stream, n_bytes: int) -> None:
        self._stream = stream
        self.source: NDArray[Any] | None = None  # what is being copied to it
        self.address = stream.context.allocate(n_bytes, stream)

    def free(self) -> None:
        """Frees it after what was queued before."""
        if self.address is not None:
            self._stream.context.free(self.address, self._stream)
            self.address = None

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self.free()


class CudaMemory:
    """Buffers of a device that are freed together."""

    def __init__(self, device: CudaDevice) -> None:
        self._device, self._buffers = device, list[CudaBuffer]()

    def upload(self, array: NDArray[Any]) -> CudaBuffer:
        """A copy of the array on the device."""
        self._buffers.append(self._device.copy(array))
        return self._buffers[-1]

    def allocate(self, n_bytes: int) -> CudaBuffer:
        """Memory whose content is not set. Raises MemoryError when there is not as much."""
        self._buffers.append(CudaBuffer(self._device.stream, n_bytes))
        return self._buffers[-1]

    def download(self, buffer: CudaBuffer, dtype: type[np.generic], count: int) -> NDArray[Any]:
        """The first items of a buffer, once all that was queued before is done."""
        array = np.empty(count, dtype)
        stream = self._device.stream
        target = array.view(np.uint8).reshape(-1)
        for begin in range(0, array.nbytes, STAGING_BYTES):
            n_bytes = min(STAGING_BYTES, array.nbytes - begin)
            source = int(buffer.address) + begin
            stream.context.call("cuMemcpyDtoHAsync", stream.staging, source, n_bytes, stream.handle)
            stream.wait()
            target[begin : begin + n_bytes] = np.ctypeslib.as_array(
                (ctypes.c_uint8 * n_bytes).from_address(stream.staging)
            )
        return array

    def wait(self) -> None:
        """Until all that was queued is done."""
        self._device.stream.wait()

    def release(self) -> None:
        """Frees the buffers, after whatever still uses them."""
        for buffer in self._buffers:
            buffer.free()


class CudaProgram:
    """Compiled kernels: machine code, or PTX that ends in a zero byte."""

    def __init__(self, device: CudaDevice, code: bytes) -> None:
        self._device = device
        self._module = device.context.call("cuModuleLoadData", np.frombuffer(code, np.uint8).ctypes.data)
        device.context.hold()
        self._functions: dict[str, Any] = {}

    def launch(self, kernel: str, groups: int, group_size: int, *arguments: CudaBuffer | int) -> None:
        """Queues a kernel; whole numbers are passed as int32."""
        call = self._device.context.call
        if kernel not in self._functions:
            self._functions[kernel] = call("cuModuleGetFunction", self._module, kernel.encode())
        values = tuple(a if isinstance(a, int) else int(a.address) for a in arguments)
        types = tuple(ctypes.c_int if isinstance(a, int) else ctypes.c_void_p for a in arguments)
        function, grid, block = self._functions[kernel], (groups, 1, 1), (group_size, 1, 1)
        self._device.context.running[threading.get_ident()] = kernel
        call("cuLaunchKernel", function, *grid, *block, 0, self._device.stream.handle, (values, types), 0)

    def __del__(self) -> None:
        if hasattr(self, "_module"):
            self._device.context.drop("cuModuleUnload", self._module)
            self._device.context.let_go()
