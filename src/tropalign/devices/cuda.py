"""CUDA devices (extra ``[cuda]``), through the driver API, and NVRTC, which compiles their kernels."""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from tropalign.devices.gpu import GpuInfo
from tropalign.errors import DeviceError, named

#: Install commands for CUDA devices: the usual one, and one for cards or drivers that CUDA 13 no longer supports.
REMEDY, REMEDY_CUDA_12 = "pip install 'tropalign[cuda]'", "pip install 'tropalign[cuda12]'"
#: Length of the SHA-256 digest at the start of a cache file.
DIGEST_BYTES = 32


def _nvrtc() -> Any:
    """Return NVRTC; raise DeviceError if it is missing."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()  # loads the library
    except (ImportError, RuntimeError):
        raise DeviceError(f"kernels cannot be compiled, because NVRTC is missing: {REMEDY}") from None
    return nvrtc


def _checked(answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if int(status) != 0:
        raise DeviceError(f"NVRTC failed ({getattr(status, 'name', status)})")
    return values[0] if len(values) == 1 else tuple(values)


def version() -> tuple[int, int]:
    """Return NVRTC's version."""
    major, minor = _checked(_nvrtc().nvrtcVersion())
    return int(major), int(minor)


def architecture_for(name: str, capability: int, driver_version: tuple[int, int]) -> str:
    """Return the target for a card: machine code ("sm_90"), or PTX ("compute_120") if NVRTC lacks the card.

    PTX is for the highest supported architecture below the card's; the driver turns it into machine code.
    `capability` is 10 major + minor, `driver_version` the newest CUDA that the driver supports, `name` is for
    errors.
    Raises DeviceError if the card is too old for this NVRTC, or the driver too old for NVRTC's output.
    """
    known = sorted(int(number) for number in _checked(_nvrtc().nvrtcGetSupportedArchs()))
    ours, driver = version(), f"{driver_version[0]}.{driver_version[1]}"
    if capability < known[0]:
        remedy = REMEDY_CUDA_12 if ours[0] > 12 else f"add {named('device')} cpu instead"
        raise DeviceError(
            f"{name}: this card is sm_{capability}, but NVRTC {ours[0]}.{ours[1]} only compiles for sm_{known[0]} and "
            f"newer: {remedy}"
        )
    is_known = capability in known
    # Machine code runs on all drivers of the same major version, PTX only on drivers as new as the compiler.
    if driver_version[:1] < ours[:1] or (not is_known and driver_version < ours):
        also = f", or {REMEDY_CUDA_12}" if ours[0] > 12 and is_known else ""
        raise DeviceError(
            f"{name}: the driver supports CUDA {driver}, which is too old for kernels of NVRTC {ours[0]}.{ours[1]}: "
            f"update the driver{also}"
        )
    return f"sm_{capability}" if is_known else f"compute_{max(a for a in known if a < capability)}"


def compiled(source: str, constants: Mapping[str, int], architecture: str) -> bytes:
    """Return the code of kernels from the user's cache directory; compile them if the file is missing or damaged.

    Raises DeviceError if the kernels do not compile (with the compiler's message) or NVRTC is missing.
    """
    words = (source, sorted(constants.items()), architecture, version())
    key = hashlib.sha256(repr(words).encode()).hexdigest()[:32]
    path = user_cache_path("tropalign", appauthor=False) / f"{key}.code"
    code = _read(path)
    if code is None:
        code = compile_for(source, constants, architecture)
        _write(path, code)
    return code


def _read(path: Path) -> bytes | None:
    """Read code that `_write` wrote; None if the file is missing or incomplete."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, code = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write(path: Path, code: bytes) -> None:
    """Write the code to the cache, if possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        temporary.write_bytes(hashlib.sha256(code).digest() + code)
        os.replace(temporary, path)
    except OSError:  # the code is not cached
        pass


def compile_for(source: str, constants: Mapping[str, int], architecture: str) -> bytes:
    """Compile to machine code for "sm_90", or to PTX (ending in a zero byte) for "compute_90".

    Raises DeviceError with the compiler's message if the kernels do not compile.
    """
    nvrtc = _nvrtc()
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"tropalign", 0, None, None))
    try:
        options = [f"--gpu-architecture={architecture}", "-default-device", "-std=c++17"]
        options += [f"-D{name}={value}" for name, value in constants.items()]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        if int(status) != 0:
            log = bytearray(_checked(nvrtc.nvrtcGetProgramLogSize(program)))
            nvrtc.nvrtcGetProgramLog(program, log)
            words = bytes(log).decode(errors="replace").strip("\0\n ")
            raise DeviceError(f"kernels do not compile for {architecture}: {words}")
        kind = "CUBIN" if architecture.startswith("sm_") else "PTX"
        code = bytearray(_checked(getattr(nvrtc, f"nvrtcGet{kind}Size")(program)))
        _checked(getattr(nvrtc, f"nvrtcGet{kind}")(program, code))
        return bytes(code)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


#: Size of the pinned memory through which results are downloaded.
STAGING_BYTES = 8 << 20
#: Kernel errors after which every call of this process fails on that device (CUDA_ERROR_...).
LASTING = {
    "ASSERT",
    "ECC_UNCORRECTABLE",
    "HARDWARE_STACK_ERROR",
    "ILLEGAL_ADDRESS",
    "ILLEGAL_INSTRUCTION",
    "INVALID_ADDRESS_SPACE",
    "INVALID_PC",
    "LAUNCH_FAILED",
    "LAUNCH_TIMEOUT",
    "MISALIGNED_ADDRESS",
}


def load_driver() -> Any:
    """Return the initialised driver; raise DeviceError if it is missing."""
    try:
        from cuda.bindings import driver
    except ImportError:
        raise DeviceError(f"CUDA devices need cuda-bindings: {REMEDY}") from None
    try:
        (status,) = driver.cuInit(0)
    except (RuntimeError, OSError):  # the driver's library is missing
        raise DeviceError("there is no NVIDIA driver on this machine") from None
    if status == driver.CUresult.CUDA_ERROR_NO_DEVICE:
        raise DeviceError("the NVIDIA driver finds no device")
    if status != driver.CUresult.CUDA_SUCCESS:
        raise DeviceError(f"the NVIDIA driver does not start ({_text(status)})")
    return driver


def _name(status: Any) -> str:
    return str(getattr(status, "name", status)).removeprefix("CUDA_ERROR_")


def _text(status: Any) -> str:
    return _name(status).replace("_", " ").lower()


def checked(answer: tuple[Any, ...], what: str) -> Any:
    """Return the values of a driver call without its status; raise MemoryError or DeviceError."""
    status, *values = answer
    if int(status) != 0:
        kind = MemoryError if "OUT_OF_MEMORY" in getattr(status, "name", "") else DeviceError
        raise kind(f"{what} failed ({_text(status)})")
    return values[0] if len(values) == 1 else tuple(values)


def attribute_of(driver: Any, device: Any, name: str) -> int:
    """Return a device attribute (CU_DEVICE_ATTRIBUTE_...)."""
    attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(checked(driver.cuDeviceGetAttribute(attribute, device), f"reading {name.lower()}"))


def capability_of(driver: Any, device: Any) -> int:
    """Return the compute capability of a device as 10 major + minor."""
    major, minor = (attribute_of(driver, device, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
    return 10 * major + minor


def driver_version(driver: Any) -> tuple[int, int]:
    """Return the newest CUDA version that the driver supports."""
    version = int(checked(driver.cuDriverGetVersion(), "reading the driver's version"))
    return version // 1000, version % 1000 // 10


class Context:
    """Primary context of a device, held while any object that was made in it lives.

    In reference cycles the interpreter runs finalizers in any order, so a context may be finalized before its
    streams. Therefore every object made in a context holds it, and the last release gives it back.

    - `pool`: memory pool of the device; None if it has none (some virtual GPUs).
    - `running`: by thread, the last kernel that it launched and has not waited for.
    - `is_ending`: True if the interpreter is exiting. The driver then frees everything by itself and must not be
      called: cuda-bindings' modules may be cleared before the last objects that use them, and their functions then
      read freed memory.
    """

    is_ending = False

    def __init__(self, driver: Any, name: str, number: int) -> None:
        self.driver, self.name = driver, name
        self.running: dict[int, str] = {}
        self.pool: Any = None
        self._fault: str | None = None
        # A stack whose bottom item is the context's own hold: push and pop are atomic across threads.
        self._holds = ["the context"]
        self.device = checked(driver.cuDeviceGet(number), f"{name}: finding the device")
        try:
            # By default two host threads per card would spin while they wait, in addition to the CPU's own tiles.
            with suppress(DeviceError):
                _, is_active = checked(driver.cuDevicePrimaryCtxGetState(self.device), "reading the context")
                if not is_active:  # otherwise another library of this process has chosen
                    flags = int(driver.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC)
                    checked(driver.cuDevicePrimaryCtxSetFlags(self.device, flags), "setting the flags of the context")
            self._handle = checked(driver.cuDevicePrimaryCtxRetain(self.device), f"{name}: opening the device")
            if attribute_of(driver, self.device, "MEMORY_POOLS_SUPPORTED"):
                self.pool = self.call("cuDeviceGetDefaultMemPool", self.device)
                # Freed memory stays for the next allocation instead of returning to the driver at the next wait.
                most = driver.cuuint64_t(2**64 - 1)
                self.call("cuMemPoolSetAttribute", self.pool, self._of_pool("RELEASE_THRESHOLD"), most)
            self.free_at_first = self.free_bytes()
        except MemoryError as error:
            raise DeviceError(f"{name} cannot be opened: {error}") from None

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a driver function in this context and return its result.

        Raises MemoryError if the device is out of memory, else DeviceError. A kernel's error is reported by some
        later call and by every call after it, always with the first message, which names the kernels that were
        running.
        """
        checked(self.driver.cuCtxSetCurrent(self._handle), f"{self.name}: setting the context")
        answer = getattr(self.driver, function)(*arguments)
        if _name(answer[0]) in LASTING:
            kernels = sorted(set(self.running.copy().values()))  # other threads launch meanwhile
            ran = f" while {' and '.join(kernels)} ran" if kernels else ""
            lost = "this process can no longer use the device"
            self._fault = self._fault or f"{self.name}: {function} failed ({_text(answer[0])}){ran}: {lost}"
            raise DeviceError(self._fault)
        return checked(answer, f"{self.name}: {function}")

    def drop(self, function: str, *arguments: Any) -> None:
        """Call a function that frees something, ignoring errors, because finalizers cannot report them."""
        if not self.is_ending:
            with suppress(Exception):
                self.call(function, *arguments)

    def hold(self) -> None:
        """Keep the context until a matching `let_go`."""
        self._holds.append("what was made in it")

    def let_go(self) -> None:
        """End a hold, the context's own or another; the last one releases the context."""
        if self._holds.pop() == "the context":
            if self.pool is not None:
                self.drop("cuMemPoolTrimTo", self.pool, 0)
            self.drop("cuDevicePrimaryCtxRelease", self.device)

    def allocate(self, n_bytes: int, stream: Stream) -> Any:
        """Return the address of new memory for work that the stream is given from now on."""
        if self.pool is None:
            address = self.call("cuMemAlloc", n_bytes)
        else:
            address = self.call("cuMemAllocAsync", n_bytes, stream.handle)
        self.hold()
        return address

    def free(self, address: Any, stream: Stream) -> None:
        """Free memory after the work that the stream has been given so far."""
        if stream.handle is None:  # the stream has ended, and all its work with it
            self.drop("cuMemFree", address)
        elif self.pool is None:
            self.drop("cuStreamSynchronize", stream.handle)
            self.drop("cuMemFree", address)
        else:
            self.drop("cuMemFreeAsync", address, stream.handle)
        self.let_go()

    def free_bytes(self) -> int:
        """Return the free bytes of the device, including unused memory in our pool."""
        ready = 0
        if self.pool is not None:
            reserved, used = (
                int(self.call("cuMemPoolGetAttribute", self.pool, self._of_pool(f"{kind}_MEM_CURRENT")))
                for kind in ("RESERVED", "USED")
            )
            ready = reserved - used
        return int(self.call("cuMemGetInfo")[0]) + ready

    def _of_pool(self, attribute: str) -> Any:
        return getattr(self.driver.CUmemPool_attribute, f"CU_MEMPOOL_ATTR_{attribute}")

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            self.let_go()


@atexit.register
def _leave_freeing_to_the_driver() -> None:
    Context.is_ending = True


class Stream:
    """Stream with its pinned memory, destroyed when its thread has ended and its buffers are freed."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.handle = context.call("cuStreamCreate", 1)  # 1: does not wait for the default stream
        context.hold()
        self._staging: Any = None

    @property
    def staging(self) -> int:
        """Address of STAGING_BYTES of pinned memory."""
        if self._staging is None:
            self._staging = self.context.call("cuMemHostAlloc", STAGING_BYTES, 0)
        return int(self._staging)

    def wait(self) -> None:
        """Wait until all queued work is done."""
        self.context.call("cuStreamSynchronize", self.handle)
        self.context.running.pop(threading.get_ident(), None)

    def __del__(self) -> None:
        if not hasattr(self, "handle"):
            return
        if self._staging is not None:
            self.context.drop("cuMemFreeHost", self._staging)
        self.context.drop("cuStreamSynchronize", self.handle)
        self.context.drop("cuStreamDestroy", self.handle)
        self.handle = None
        self.context.let_go()


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
        capability, n_free = capability_of(driver, device), None
        with suppress(DeviceError, MemoryError):  # the device is full or in exclusive use: its self-test reports that
            n_free = CudaDevice(f"cuda:{k}").free_bytes()
        infos.append(
            GpuInfo(
                f"cuda:{k}",
                f"{model} (sm_{capability})",
                f"driver for CUDA {version[0]}.{version[1]}",
                int(checked(driver.cuDeviceTotalMem(device), "reading a device's memory")),
                n_free,
                is_gpu=True,
                has_dpx=capability >= DPX_CAPABILITY,
                shuffles="warps",
            )
        )
    return infos


class CudaDevice:
    """CUDA device with a stream per thread; raises DeviceError if it does not exist or cannot be opened."""

    n_streams = 2

    def __init__(self, name: str) -> None:
        driver = load_driver()
        self.name = name
        count = int(checked(driver.cuDeviceGetCount(), "counting devices"))
        number = name.removeprefix("cuda:")
        if not number.isdigit() or int(number) >= count:
            raise DeviceError(f"there is no CUDA device {name}: {count} are found, the first is cuda:0")
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
        architecture = architecture_for(self.name, self.capability, self._driver_version)
        return CudaProgram(self, compiled(source, constants, architecture))

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
