"""CUDA devices (extra ``[cuda]``), through the driver API; nvrtc.py compiles their kernels."""

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

#: Share of a device's free memory that tiles may take.
MEMORY_SHARE = 0.8
#: Compute capability (as 10 major + minor) from which packed 16-bit operations are one instruction (DPX).
DPX_CAPABILITY = 90


def open_device(name: str) -> CudaDevice:
    """Open the device of that name; raise DeviceError if it does not exist or cannot be opened."""
    return CudaDevice(name)


def find() -> list[GpuInfo]:
    """Return all CUDA devices; raise DeviceError if cuda-bindings or the driver is missing."""
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
    except (DeviceError, MemoryError):  # full, or in exclusive use: its self-test reports it
        return None


class CudaDevice:
    """CUDA device with a stream per thread; raises DeviceError if it does not exist or cannot be opened."""

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
        """Stream of the calling thread."""
        if not hasattr(self._own, "stream"):
            self._own.stream = Stream(self.context)
        stream: Stream = self._own.stream
        return stream

    def build(self, source: str, constants: dict[str, int]) -> CudaProgram:
        """Compile kernels, or take them from the cache.

        Raises DeviceError, with the remedy, if they do not compile or the card or its driver is too old for this
        NVRTC.
        """
        architecture = nvrtc.architecture_for(self.name, self.capability, self._driver_version)
        return CudaProgram(self, nvrtc.compiled(source, constants, architecture))

    def free_bytes(self) -> int:
        """Return the free memory of the device in bytes."""
        return self.context.free_bytes()

    def budget_bytes(self) -> int:
        """Return the bytes that a tile of one stream may take: a share of the memory that was free at the start."""
        return self._budget_bytes

    def upload(self, array: NDArray[Any]) -> CudaBuffer:
        """Copy an array to the device, for use by all streams."""
        buffer = self.copy(array)
        self.stream.wait()
        buffer.source = None
        return buffer

    def copy(self, array: NDArray[Any]) -> CudaBuffer:
        """Copy an array to the device, for the calling thread's stream."""
        data = np.ascontiguousarray(array)
        buffer = CudaBuffer(self.stream, max(data.nbytes, 1))
        if data.nbytes:
            address, buffer.source = data.ctypes.data, data
            self.context.call("cuMemcpyHtoDAsync", buffer.address, address, data.nbytes, self.stream.handle)
        return buffer

    @contextmanager
    def scope(self) -> Iterator[CudaMemory]:
        """Yield an allocator whose buffers are freed at the end of the ``with`` block."""
        memory = CudaMemory(self)
        try:
            yield memory
        finally:
            memory.release()


class CudaBuffer:
    """Device memory that is allocated and freed in stream order."""

    def __init__(self, stream: Stream, n_bytes: int) -> None:
        self._stream = stream
        self.source: NDArray[Any] | None = None  # keeps the array alive while it is copied
        self.address = stream.context.allocate(n_bytes, stream)

    def free(self) -> None:
        """Free the memory after the work that is already queued."""
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
        """Copy an array to the device."""
        self._buffers.append(self._device.copy(array))
        return self._buffers[-1]

    def allocate(self, n_bytes: int) -> CudaBuffer:
        """Allocate uninitialised memory; raise MemoryError if there is not enough."""
        self._buffers.append(CudaBuffer(self._device.stream, n_bytes))
        return self._buffers[-1]

    def download(self, buffer: CudaBuffer, dtype: type[np.generic], count: int) -> NDArray[Any]:
        """Return the first `count` items of a buffer after all queued work is done."""
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
        """Wait until all queued work is done."""
        self._device.stream.wait()

    def release(self) -> None:
        """Free the buffers after the queued work that uses them."""
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
        """Queue a kernel; integers are passed as int32."""
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
