"""CUDA devices (extra ``[cuda]``): kernels compiled by NVRTC to machine code, kept in the user's cache directory."""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.gpu import GpuInfo
from tropalign.errors import DeviceError

#: The share of a device's free memory that tiles may take.
MEMORY_SHARE = 0.8
#: Compute capability (as 10 major + minor) from which packed 16-bit operations are one instruction (DPX).
DPX_CAPABILITY = 90
#: Pinned memory through which results come back.
STAGING_BYTES = 8 << 20

_REMEDY = "pip install 'tropalign[cuda]'"


def _driver() -> Any:
    """The driver, initialised. Raises DeviceError when it is missing."""
    try:
        from cuda.bindings import driver
    except ImportError:
        raise DeviceError(f"CUDA devices need cuda-bindings: {_REMEDY}") from None
    try:
        (status,) = driver.cuInit(0)
    except (RuntimeError, OSError):  # the driver's library is not there
        raise DeviceError("there is no NVIDIA driver on this machine") from None
    if status == driver.CUresult.CUDA_ERROR_NO_DEVICE:
        raise DeviceError("the NVIDIA driver sees no device")
    if status != driver.CUresult.CUDA_SUCCESS:
        raise DeviceError(f"the NVIDIA driver does not start ({_text(status)})")
    return driver


def _text(status: Any) -> str:
    return str(getattr(status, "name", status)).removeprefix("CUDA_ERROR_").replace("_", " ").lower()


def _checked(answer: tuple[Any, ...], what: str) -> Any:
    """What a driver's function returned beside its status. Raises MemoryError or DeviceError."""
    status, *values = answer
    if int(status) != 0:
        kind = MemoryError if "OUT_OF_MEMORY" in getattr(status, "name", "") else DeviceError
        raise kind(f"{what} failed ({_text(status)})")
    return values[0] if len(values) == 1 else tuple(values)


def _attribute(driver: Any, device: Any, name: str) -> int:
    attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(_checked(driver.cuDeviceGetAttribute(attribute, device), f"reading {name.lower()}"))


def _capability(driver: Any, device: Any) -> int:
    major, minor = (_attribute(driver, device, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
    return 10 * major + minor


def find() -> list[GpuInfo]:
    """All CUDA devices. Raises DeviceError when cuda-bindings or the driver is missing."""
    driver = _driver()
    version = int(_checked(driver.cuDriverGetVersion(), "reading the driver's version"))
    infos = []
    for k in range(int(_checked(driver.cuDeviceGetCount(), "counting devices"))):
        device = _checked(driver.cuDeviceGet(k), "finding a device")
        model = _checked(driver.cuDeviceGetName(100, device), "reading a device's name").decode().strip("\0 ")
        capability = _capability(driver, device)
        infos.append(
            GpuInfo(
                f"cuda:{k}",
                f"{model} (sm_{capability})",
                f"driver for CUDA {version // 1000}.{version % 1000 // 10}",
                int(_checked(driver.cuDeviceTotalMem(device), "reading a device's memory")),
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
    except DeviceError:  # full, or another's alone: its self-test says so
        return None


class _Context:
    """A device's primary context, held while anything made in it lives."""

    def __init__(self, driver: Any, name: str, number: int) -> None:
        self.driver, self.name = driver, name
        self.device = _checked(driver.cuDeviceGet(number), f"{name}: finding it")
        try:
            self._handle = _checked(driver.cuDevicePrimaryCtxRetain(self.device), f"{name}: opening it")
            self.pool = self.call("cuDeviceGetDefaultMemPool", self.device)
            # What is freed stays for the next allocation, instead of going back to the driver at the next wait.
            most = driver.cuuint64_t(2**64 - 1)
            self.call("cuMemPoolSetAttribute", self.pool, self._of_pool("RELEASE_THRESHOLD"), most)
        except MemoryError as error:
            raise DeviceError(f"{name} cannot be opened: {error}") from None

    def call(self, function: str, *arguments: Any) -> Any:
        """What a function of the driver returns, in this context. Raises MemoryError or DeviceError."""
        _checked(self.driver.cuCtxSetCurrent(self._handle), f"{self.name}: entering it")
        return _checked(getattr(self.driver, function)(*arguments), f"{self.name}: {function}")

    def drop(self, function: str, *arguments: Any) -> None:
        """The same for what frees something, in a finalizer, where nobody hears of an error."""
        with suppress(Exception):
            self.call(function, *arguments)

    def free_bytes(self) -> int:
        """Memory that nobody uses: the device's, and what our pool holds ready."""
        reserved, used = (
            int(self.call("cuMemPoolGetAttribute", self.pool, self._of_pool(f"{kind}_MEM_CURRENT")))
            for kind in ("RESERVED", "USED")
        )
        return int(self.call("cuMemGetInfo")[0]) + reserved - used

    def _of_pool(self, attribute: str) -> Any:
        return getattr(self.driver.CUmemPool_attribute, f"CU_MEMPOOL_ATTR_{attribute}")

    def __del__(self) -> None:
        if hasattr(self, "pool"):
            self.drop("cuMemPoolTrimTo", self.pool, 0)
        if hasattr(self, "_handle"):
            self.drop("cuDevicePrimaryCtxRelease", self.device)


class _Stream:
    """A stream and its pinned memory. It goes when its thread has ended and its buffers are freed."""

    def __init__(self, context: _Context) -> None:
        self.context = context
        self.handle = context.call("cuStreamCreate", 1)  # which does not wait for the default stream
        self._staging: Any = None

    @property
    def staging(self) -> int:
        """Address of STAGING_BYTES of pinned memory."""
        if self._staging is None:
            self._staging = self.context.call("cuMemHostAlloc", STAGING_BYTES, 0)
        return int(self._staging)

    def wait(self) -> None:
        """Until all that was queued is done."""
        self.context.call("cuStreamSynchronize", self.handle)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.context.drop("cuStreamDestroy", self.handle)
        if getattr(self, "_staging", None) is not None:
            self.context.drop("cuMemFreeHost", self._staging)


class CudaDevice:
    """One CUDA device. Every thread that uses it has a stream of its own.

    Raises
    ------
    DeviceError
        There is no such device, or it cannot be opened.
    """

    n_streams = 2

    def __init__(self, name: str) -> None:
        driver = _driver()
        self.name = name
        count = int(_checked(driver.cuDeviceGetCount(), "counting devices"))
        number = name.removeprefix("cuda:")
        if not number.isdigit() or int(number) >= count:
            raise DeviceError(f"there is no CUDA device {name}: there are {count}, cuda:0 the first")
        self.context = _Context(driver, name, int(number))
        self.capability = _capability(driver, self.context.device)
        self.word_bits = 16 if self.capability >= DPX_CAPABILITY else 32
        self.n_multiprocessors = _attribute(driver, self.context.device, "MULTIPROCESSOR_COUNT")
        self._budget_bytes = int(MEMORY_SHARE * self.free_bytes() / self.n_streams)
        self._own = threading.local()

    @property
    def stream(self) -> _Stream:
        """The calling thread's stream."""
        if not hasattr(self._own, "stream"):
            self._own.stream = _Stream(self.context)
        stream: _Stream = self._own.stream
        return stream

    def build(self, source: str, constants: dict[str, int]) -> CudaProgram:
        """Compiles kernels, or takes them from the cache. Raises DeviceError with the compiler's words."""
        return CudaProgram(self, cached_cubin(source, constants, self.capability))

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

    def __init__(self, stream: _Stream, n_bytes: int) -> None:
        self._stream = stream
        self.source: NDArray[Any] | None = None  # what is being copied to it
        self.address = stream.context.call("cuMemAllocAsync", n_bytes, stream.handle)

    def free(self) -> None:
        """Frees it after what was queued before."""
        if self.address is not None:
            self._stream.context.drop("cuMemFreeAsync", self.address, self._stream.handle)
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
    """Compiled kernels."""

    def __init__(self, device: CudaDevice, cubin: bytes) -> None:
        self._device = device
        self._module = device.context.call("cuModuleLoadData", np.frombuffer(cubin, np.uint8).ctypes.data)
        self._functions: dict[str, Any] = {}

    def launch(self, kernel: str, groups: int, group_size: int, *arguments: CudaBuffer | int) -> None:
        """Queues a kernel; whole numbers are passed as int32."""
        call = self._device.context.call
        if kernel not in self._functions:
            self._functions[kernel] = call("cuModuleGetFunction", self._module, kernel.encode())
        values = tuple(a if isinstance(a, int) else int(a.address) for a in arguments)
        types = tuple(ctypes.c_int if isinstance(a, int) else ctypes.c_void_p for a in arguments)
        function, grid, block = self._functions[kernel], (groups, 1, 1), (group_size, 1, 1)
        call("cuLaunchKernel", function, *grid, *block, 0, self._device.stream.handle, (values, types), 0)

    def __del__(self) -> None:
        if hasattr(self, "_module"):
            self._device.context.drop("cuModuleUnload", self._module)


def cached_cubin(source: str, constants: dict[str, int], capability: int) -> bytes:
    """Machine code from the user's cache directory, compiled the first time."""
    try:
        from cuda.bindings import nvrtc

        version = ".".join(str(part) for part in nvrtc.nvrtcVersion()[1:])
    except (ImportError, RuntimeError):
        raise DeviceError(f"kernels cannot be compiled without NVRTC: {_REMEDY}") from None
    words = (source, sorted(constants.items()), capability, version)
    key = hashlib.sha256(repr(words).encode()).hexdigest()[:32]
    directory = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "tropalign"
    path = directory / f"{key}.cubin"
    try:
        return path.read_bytes()
    except OSError:
        pass
    cubin = compile_cubin(source, constants, capability)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        temporary.write_bytes(cubin)
        os.replace(temporary, path)
    except OSError:  # no cache, then
        pass
    return cubin


def compile_cubin(source: str, constants: dict[str, int], capability: int) -> bytes:
    """Machine code for a compute capability (90 for sm_90); needs no device and no driver."""
    from cuda.bindings import nvrtc

    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"tropalign", 0, None, None), "NVRTC")
    options = [f"--gpu-architecture=sm_{capability}", "-default-device", "-std=c++17"]
    options += [f"-D{name}={value}" for name, value in constants.items()]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
    if int(status) != 0:
        log = bytearray(_checked(nvrtc.nvrtcGetProgramLogSize(program), "NVRTC"))
        nvrtc.nvrtcGetProgramLog(program, log)
        raise DeviceError(
            f"kernels do not compile for sm_{capability}: {bytes(log).decode(errors='replace').strip(chr(0))}"
        )
    cubin = bytearray(_checked(nvrtc.nvrtcGetCUBINSize(program), "NVRTC"))
    _checked(nvrtc.nvrtcGetCUBIN(program, cubin), "NVRTC")
    nvrtc.nvrtcDestroyProgram(program)
    return bytes(cubin)
