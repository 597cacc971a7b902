"""A driver of CUDA in Python, over the host's kernels: what compute/cuda.py calls of cuda.bindings.driver.

Addresses are those of host memory. Work of a stream is done at once, in the calling thread; contexts, frees and pinned
memory are checked as the real driver would.
"""

import ctypes
import threading
from enum import IntEnum

import numpy as np


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_CONTEXT = 201


class CUdevice_attribute(IntEnum):
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76


class FakeDriver:
    """`memory_bytes` of device memory; `library` is set by the test's compiler before a module is loaded."""

    CUresult, CUdevice_attribute = CUresult, CUdevice_attribute

    def __init__(self, capability=90, memory_bytes=1 << 28, count=1):
        self.capability, self.memory_bytes, self.count = capability, memory_bytes, count
        self.blocks, self.pinned, self.streams, self.library = {}, {}, 0, None
        self.launched = []
        self._thread = threading.local()

    def _in_context(self):
        return getattr(self._thread, "context", None) == "context"

    def cuInit(self, flags):
        return (CUresult.CUDA_SUCCESS if self.count else CUresult.CUDA_ERROR_NO_DEVICE,)

    def cuDriverGetVersion(self):
        return 0, 13010

    def cuDeviceGetCount(self):
        return 0, self.count

    def cuDeviceGet(self, k):
        return 0, k

    def cuDeviceGetName(self, length, device):
        return 0, b"Fake card" + b"\0" * (length - 9)

    def cuDeviceTotalMem(self, device):
        return 0, self.memory_bytes

    def cuDeviceGetAttribute(self, attribute, device):
        return 0, self.capability // 10 if "MAJOR" in attribute.name else self.capability % 10

    def cuDevicePrimaryCtxRetain(self, device):
        return 0, "context"

    def cuCtxSetCurrent(self, context):
        self._thread.context = context
        return (0,)

    def cuStreamCreate(self, flags):
        assert self._in_context()
        self.streams += 1
        return 0, f"stream {self.streams}"

    def cuStreamSynchronize(self, stream):
        return (0,)

    def cuMemGetInfo(self):
        assert self._in_context()
        used = sum(block.nbytes for block in self.blocks.values())
        return 0, self.memory_bytes - used, self.memory_bytes

    def cuMemAllocAsync(self, n_bytes, stream):
        assert n_bytes > 0 and stream
        if n_bytes > self.cuMemGetInfo()[1]:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        block = np.full(n_bytes, 0xAB, np.uint8)
        self.blocks[block.ctypes.data] = block
        return 0, block.ctypes.data

    def cuMemFreeAsync(self, address, stream):
        del self.blocks[int(address)]
        return (0,)

    def cuMemHostAlloc(self, n_bytes, flags):
        block = np.zeros(n_bytes, np.uint8)
        self.pinned[block.ctypes.data] = block
        return 0, block.ctypes.data

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
        return 0, self.library

    def cuModuleGetFunction(self, module, name):
        return 0, getattr(module, f"host_{name.decode()}")

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters, extra):
        assert (gy, gz, by, bz, shared_bytes, extra) == (1, 1, 1, 1, 0, 0) and self._in_context()
        values, types = parameters
        for value, kind in zip(values, types, strict=True):
            assert kind is ctypes.c_int or any(a == value for a in self.blocks), "no device memory"
        with _ONE_AT_A_TIME:
            function(gx, bx, *(kind(value) for value, kind in zip(values, types, strict=True)))
        self.launched.append(stream)
        return (0,)


#: The fibres of the host shim are one process's.
_ONE_AT_A_TIME = threading.Lock()
