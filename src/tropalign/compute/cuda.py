"""CUDA devices (extra ``[cuda]``): kernels compiled by NVRTC to machine code, kept in the user's cache directory."""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.compute.gpu import GpuInfo
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
                CudaDevice(f"cuda:{k}").free_bytes(),
                is_gpu=True,
                has_dpx=capability >= DPX_CAPABILITY,
                shuffles="warps",
            )
        )
    return infos


class CudaDevice:
    """One CUDA device. Every thread that uses it has a stream of its own.

    Raises
    ------
    DeviceError
        There is no such device, or it cannot be opened.
    """

    n_streams = 2

    def __init__(self, name: str) -> None:
        self._driver = _driver()
        self.name = name
        count = int(_checked(self._driver.cuDeviceGetCount(), "counting devices"))
        number = name.removeprefix("cuda:")
        if not number.isdigit() or int(number) >= count:
            raise DeviceError(f"there is no CUDA device {name}: there are {count}, cuda:0 the first")
        self._device = _checked(self._driver.cuDeviceGet(int(number)), f"{name}: finding it")
        self.capability = _capability(self._driver, self._device)
        self.word_bits = 16 if self.capability >= DPX_CAPABILITY else 32
        self._context = _checked(self._driver.cuDevicePrimaryCtxRetain(self._device), f"{name}: opening it")
        self._own = threading.local()

    @property
    def _stream(self) -> Any:
        """The calling thread's stream; makes the device's context current there."""
        if not hasattr(self._own, "stream"):
            _checked(self._driver.cuCtxSetCurrent(self._context), f"{self.name}: entering it")
            self._own.stream = _checked(self._driver.cuStreamCreate(0), f"{self.name}: a stream")
        return self._own.stream

    def _call(self, function: str, *arguments: Any) -> Any:
        return _checked(getattr(self._driver, function)(*arguments), f"{self.name}: {function}")

    def build(self, source: str, constants: dict[str, int]) -> CudaProgram:
        """Compiles kernels, or takes them from the cache. Raises DeviceError with the compiler's words."""
        self._stream  # noqa: B018 (enters the context)
        return CudaProgram(self, cached_cubin(source, constants, self.capability))

    def free_bytes(self) -> int:
        """Memory of the device that nobody uses."""
        self._stream  # noqa: B018
        return int(self._call("cuMemGetInfo")[0])

    def budget_bytes(self) -> int:
        """The share of free memory that a tile of one stream may take."""
        return int(MEMORY_SHARE * self.free_bytes() / self.n_streams)

    def upload(self, array: NDArray[Any]) -> CudaBuffer:
        """A copy of the array on the device, there for every stream."""
        buffer = self.copy(array)
        self._call("cuStreamSynchronize", self._stream)
        return buffer

    def copy(self, array: NDArray[Any]) -> CudaBuffer:
        """A copy of the array for the calling thread's stream."""
        data = np.ascontiguousarray(array)
        buffer = CudaBuffer(self, max(data.nbytes, 1))
        if data.nbytes:
            # From pageable memory the call returns when the data has been taken, so `data` need not live on.
            self._call("cuMemcpyHtoDAsync", buffer.address, data.ctypes.data, data.nbytes, self._stream)
        return buffer

    @contextmanager
    def scope(self) -> Iterator[CudaMemory]:
        """Buffers for the length of a ``with`` block."""
        memory = CudaMemory(self)
        try:
            yield memory
        finally:
            memory.release()

    def staging(self) -> Any:
        """The calling thread's pinned memory, STAGING_BYTES of it: its address."""
        if not hasattr(self._own, "staging"):
            self._own.staging = self._call("cuMemHostAlloc", STAGING_BYTES, 0)
        return self._own.staging


class CudaBuffer:
    """Memory of a device, allocated and freed in the order of the calling thread's stream."""

    def __init__(self, device: CudaDevice, n_bytes: int) -> None:
        self._device, self._stream = device, device._stream
        self.address = device._call("cuMemAllocAsync", n_bytes, self._stream)

    def free(self) -> None:
        """Frees it after what was queued before."""
        if self.address is not None:
            self._device._driver.cuMemFreeAsync(self.address, self._stream)
            self.address = None

    def __del__(self) -> None:
        if getattr(self, "address", None) is not None:
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
        self._buffers.append(CudaBuffer(self._device, n_bytes))
        return self._buffers[-1]

    def download(self, buffer: CudaBuffer, dtype: type[np.generic], count: int) -> NDArray[Any]:
        """The first items of a buffer, once all that was queued before is done."""
        array = np.empty(count, dtype)
        device, stage = self._device, self._device.staging()
        target = array.view(np.uint8).reshape(-1)
        for begin in range(0, array.nbytes, STAGING_BYTES):
            n_bytes = min(STAGING_BYTES, array.nbytes - begin)
            device._call("cuMemcpyDtoHAsync", int(stage), int(buffer.address) + begin, n_bytes, device._stream)
            device._call("cuStreamSynchronize", device._stream)
            target[begin : begin + n_bytes] = np.ctypeslib.as_array((ctypes.c_uint8 * n_bytes).from_address(int(stage)))
        return array

    def release(self) -> None:
        """Frees the buffers, after whatever still uses them."""
        for buffer in self._buffers:
            buffer.free()


class CudaProgram:
    """Compiled kernels."""

    def __init__(self, device: CudaDevice, cubin: bytes) -> None:
        self._device = device
        self._module = device._call("cuModuleLoadData", np.frombuffer(cubin, np.uint8).ctypes.data)
        self._functions: dict[str, Any] = {}

    def launch(self, kernel: str, groups: int, group_size: int, *arguments: CudaBuffer | int) -> None:
        """Queues a kernel; whole numbers are passed as int32."""
        device = self._device
        if kernel not in self._functions:
            self._functions[kernel] = device._call("cuModuleGetFunction", self._module, kernel.encode())
        values = tuple(a if isinstance(a, int) else int(a.address) for a in arguments)
        types = tuple(ctypes.c_int if isinstance(a, int) else ctypes.c_void_p for a in arguments)
        function, grid, block = self._functions[kernel], (groups, 1, 1), (group_size, 1, 1)
        device._call("cuLaunchKernel", function, *grid, *block, 0, device._stream, (values, types), 0)


def cached_cubin(source: str, constants: dict[str, int], capability: int) -> bytes:
    """Machine code from the user's cache directory, compiled the first time."""
    try:
        from cuda.bindings import nvrtc

        version = ".".join(str(part) for part in nvrtc.nvrtcVersion()[1:])
    except (ImportError, RuntimeError):
        raise DeviceError(f"kernels cannot be compiled without NVRTC: {_REMEDY}") from None
    words = (source, sorted(constants.items()), capability, version)
    key = hashlib.sha256(repr(words).encode()).hexdigest()[:32]
    directory = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tropalign"
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
