"""CUDA driver: calls and their errors, the context of a device, and streams."""

from __future__ import annotations

import atexit
import threading
from contextlib import suppress
from typing import Any

from tropalign.devices import nvrtc
from tropalign.errors import DeviceError

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
        raise DeviceError(f"CUDA devices need cuda-bindings: {nvrtc.REMEDY}") from None
    try:
        (status,) = driver.cuInit(0)
    except (RuntimeError, OSError):  # the driver's library is missing
        raise DeviceError("there is no NVIDIA driver on this machine") from None
    if status == driver.CUresult.CUDA_ERROR_NO_DEVICE:
        raise DeviceError("the NVIDIA driver sees no device")
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
        self.device = checked(driver.cuDeviceGet(number), f"{name}: finding it")
        try:
            self._let_waits_sleep()
            self._handle = checked(driver.cuDevicePrimaryCtxRetain(self.device), f"{name}: opening it")
            if attribute_of(driver, self.device, "MEMORY_POOLS_SUPPORTED"):
                self.pool = self.call("cuDeviceGetDefaultMemPool", self.device)
                # Freed memory stays for the next allocation instead of returning to the driver at the next wait.
                most = driver.cuuint64_t(2**64 - 1)
                self.call("cuMemPoolSetAttribute", self.pool, self._of_pool("RELEASE_THRESHOLD"), most)
            self.free_at_first = self.free_bytes()
        except MemoryError as error:
            raise DeviceError(f"{name} cannot be opened: {error}") from None

    def _let_waits_sleep(self) -> None:
        """Let waiting host threads sleep: by default two per card would spin while the processor computes tiles."""
        with suppress(DeviceError):
            _, is_active = checked(self.driver.cuDevicePrimaryCtxGetState(self.device), "asking for the context")
            if not is_active:  # otherwise another library of this process has chosen
                flags = int(self.driver.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC)
                checked(self.driver.cuDevicePrimaryCtxSetFlags(self.device, flags), "choosing how to wait")

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a driver function in this context and return its result.

        Raises MemoryError if the device is out of memory, else DeviceError. A kernel's error is reported by some
        later call and by every call after it, always with the first message, which names the kernels that were
        running.
        """
        checked(self.driver.cuCtxSetCurrent(self._handle), f"{self.name}: entering it")
        answer = getattr(self.driver, function)(*arguments)
        if _name(answer[0]) in LASTING:
            kernels = sorted(set(self.running.copy().values()))  # other threads launch meanwhile
            ran = f" while {' and '.join(kernels)} ran" if kernels else ""
            lost = "this process can compute nothing more on it"
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
