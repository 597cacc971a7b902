"""A driver of CUDA in Python, over the host's kernels: what devices/cuda.py calls of cuda.bindings.driver.

Addresses are those of host memory. Work of a stream is done at once, in the calling thread; contexts, frees and pinned
memory are checked as the real driver would.
"""

import ctypes
import threading
from enum import IntEnum

import numpy as np
from gpu.host_device import ONE_AT_A_TIME


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


class CUdevice_attribute(IntEnum):
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115


class CUctx_flags(IntEnum):
    CU_CTX_SCHED_BLOCKING_SYNC = 4


class CUmemPool_attribute(IntEnum):
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4
    CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7


class FakeDriver:
    """`memory_bytes` of device memory; `compiled` is set by the test's compiler before a module is loaded.

    `has_pools` False: a device without memory pools. `flags`: how waits behave, as set before the context was made.
    """

    CUresult, CUdevice_attribute, CUmemPool_attribute = CUresult, CUdevice_attribute, CUmemPool_attribute
    CUctx_flags, cuuint64_t = CUctx_flags, int

    def __init__(self, capability=90, memory_bytes=1 << 28, count=1, version=13010, has_pools=True):
        self.capability, self.memory_bytes, self.count = capability, memory_bytes, count
        self.version, self.has_pools, self.flags = version, has_pools, 0
        self.blocks, self.pinned, self.streams, self.compiled = {}, {}, set(), None
        self.contexts = self.modules = self.n_streams = self.cached = 0
        self.launched, self.is_idle = [], True
        self._thread = threading.local()

    def _in_context(self):
        return getattr(self._thread, "context", None) == "context"

    def cuInit(self, flags):
        return (CUresult.CUDA_SUCCESS if self.count else CUresult.CUDA_ERROR_NO_DEVICE,)

    def cuDriverGetVersion(self):
        return 0, self.version

    def cuDeviceGetCount(self):
        return 0, self.count

    def cuDeviceGet(self, k):
        return 0, k

    def cuDeviceGetName(self, length, device):
        return 0, b"Fake card" + b"\0" * (length - 9)

    def cuDeviceTotalMem(self, device):
        return 0, self.memory_bytes

    def cuDeviceGetAttribute(self, attribute, device):
        values = {75: self.capability // 10, 76: self.capability % 10, 16: 1, 115: int(self.has_pools)}
        return 0, values[attribute.value]

    def cuDevicePrimaryCtxGetState(self, device):
        return 0, self.flags, int(self.contexts > 0)

    def cuDevicePrimaryCtxSetFlags(self, device, flags):
        assert self.contexts == 0
        self.flags = flags
        return (0,)

    def cuDevicePrimaryCtxRetain(self, device):
        self.contexts += 1
        return 0, "context"

    def cuDevicePrimaryCtxRelease(self, device):
        assert self.contexts > 0 and (self.contexts > 1 or not (self.blocks or self.pinned or self.streams))
        self.contexts -= 1
        return (0,)

    def cuDeviceGetDefaultMemPool(self, device):
        assert self.has_pools
        return 0, "pool"

    def cuMemPoolSetAttribute(self, pool, attribute, value):
        assert pool == "pool" and attribute.name.endswith("RELEASE_THRESHOLD") and value == 2**64 - 1
        return (0,)

    def cuMemPoolGetAttribute(self, pool, attribute):
        used = sum(block.nbytes for block in list(self.blocks.values()))  # which other threads add to
        return 0, used + (self.cached if "RESERVED" in attribute.name else 0)

    def cuMemPoolTrimTo(self, pool, n_bytes):
        self.cached = n_bytes
        return (0,)

    def cuCtxSetCurrent(self, context):
        self._thread.context = context
        return (0,)

    def cuStreamCreate(self, flags):
        assert self._in_context() and flags == 1
        self.n_streams += 1
        self.streams.add(f"stream {self.n_streams}")
        return 0, f"stream {self.n_streams}"

    def cuStreamDestroy(self, stream):
        assert self._in_context()
        self.streams.remove(stream)
        return (0,)

    def cuStreamSynchronize(self, stream):
        self.is_idle = True
        return (0,)

    def cuMemGetInfo(self):
        assert self._in_context()
        used = sum(block.nbytes for block in self.blocks.values())
        return 0, self.memory_bytes - used - self.cached, self.memory_bytes

    def cuMemAlloc(self, n_bytes):
        assert self._in_context()
        return self._allocate(n_bytes)

    def cuMemFree(self, address):
        assert self._in_context() and self.is_idle
        del self.blocks[int(address)]
        return (0,)

    def cuMemAllocAsync(self, n_bytes, stream):
        assert stream in self.streams and self.has_pools
        return self._allocate(n_bytes)

    def _allocate(self, n_bytes):
        assert n_bytes > 0
        if n_bytes > self.cuMemGetInfo()[1] + self.cached:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        self.cached = max(self.cached - n_bytes, 0)
        block = np.full(n_bytes, 0xAB, np.uint8)
        self.blocks[block.ctypes.data] = block
        return 0, block.ctypes.data

    def cuMemFreeAsync(self, address, stream):
        assert stream in self.streams and self.has_pools and self._in_context()
        self.cached += self.blocks.pop(int(address)).nbytes
        return (0,)

    def cuMemHostAlloc(self, n_bytes, flags):
        block = np.zeros(n_bytes, np.uint8)
        self.pinned[block.ctypes.data] = block
        return 0, block.ctypes.data

    def cuMemFreeHost(self, address):
        del self.pinned[int(address)]
        return (0,)

    def cuMemcpyHtoDAsync(self, to, source, n_bytes, stream):
        assert n_bytes <= self.blocks[int(to)].nbytes
        ctypes.memmove(int(to), int(source), n_bytes)
        return (0,)

    def cuMemcpyDtoHAsync(self, to, source, n_bytes, stream):
        assert int(to) in self.pinned and n_bytes <= self.pinned[int(to)].nbytes
        assert any(a <= int(source) and int(source) + n_bytes <= a + b.nbytes for a, b in self.blocks.items())
        ctypes.memmove(int(to), int(source), n_bytes)
        return (0,)

    def cuModuleLoadData(self, image):
        assert self._in_context() and image
        self.modules += 1
        return 0, self.compiled

    def cuModuleUnload(self, module):
        self.modules -= 1
        return (0,)

    def cuModuleGetFunction(self, module, name):
        return 0, getattr(module, f"host_{name.decode()}")

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters, extra):
        assert (gy, gz, by, bz, shared_bytes, extra) == (1, 1, 1, 1, 0, 0) and self._in_context()
        values, types = parameters
        for value, kind in zip(values, types, strict=True):
            assert kind is ctypes.c_int or any(a == value for a in self.blocks), "no device memory"
        with ONE_AT_A_TIME:
            function(gx, bx, *(kind(value) for value, kind in zip(values, types, strict=True)))
        self.launched.append(stream)
        self.is_idle = False
        return (0,)
