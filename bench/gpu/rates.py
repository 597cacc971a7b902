"""How many lanes of an instruction a multiprocessor finishes a clock: the first thing to know of a card."""

from __future__ import annotations

import statistics

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.cuda import CudaDevice

#: Name -> C++ of one step on chains a (this one) and b (its neighbour), and how many instructions that is.
STEPS = {
    "add": "a + (b ^ n)",
    "viaddmax_s16x2": "__viaddmax_s16x2(a, b, n)",
    "vimax3_s16x2": "__vimax3_s16x2(a, b, n)",
    "vadd2": "__vadd2(a, b)",
    "vmaxs2": "__vmaxs2(a, b)",
    "viaddmax_s32": "__viaddmax_s32(a, b, n)",
    "byte_perm": "__byte_perm(a, b, n)",
    "shared load": "table[(a ^ b) & 1023]",
}
CHAINS, THREADS, GROUPS_A_MULTIPROCESSOR, ROUNDS = 8, 256, 8, 400
SOURCE = """
#define STEP(a, b) %s
extern "C" __global__ void __launch_bounds__(256) rate(unsigned *out, long long *clocks, int n)
{
  __shared__ unsigned table[1024];
  for (int x = threadIdx.x; x < 1024; x += 256) table[x] = x * n;
  __syncthreads();
  unsigned c[8];
  for (int k = 0; k < 8; k++) c[k] = threadIdx.x * (k + n);
  long long begin = clock64();
  for (int round = 0; round < 400; round++) {
#pragma unroll
    for (int step = 0; step < 8; step++) {
#pragma unroll
      for (int k = 0; k < 8; k++) c[k] = STEP(c[k], c[(k + 1) & 7]);
    }
  }
  long long end = clock64();
  unsigned sum = 0;
  for (int k = 0; k < 8; k++) sum ^= c[k];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
  if (threadIdx.x == 0) {
    int multiprocessor;
    asm("mov.u32 %%0, %%%%smid;" : "=r"(multiprocessor));
    clocks[3 * blockIdx.x] = multiprocessor;
    clocks[3 * blockIdx.x + 1] = begin;
    clocks[3 * blockIdx.x + 2] = end;
  }
}
"""


def measure_rates(device: CudaDevice) -> dict[str, float]:
    """Steps that a multiprocessor finishes a clock, by name; one of "add" and of "shared load" is two instructions."""
    groups = GROUPS_A_MULTIPROCESSOR * device.n_multiprocessors
    rates = {}
    for name, step in STEPS.items():
        program = device.build(SOURCE % step, {})
        with device.scope() as memory:
            out, clocks = memory.allocate(4 * groups * THREADS), memory.allocate(24 * groups)
            found: list[float] = []
            for _ in range(3):
                program.launch("rate", groups, THREADS, out, clocks, 3)
                found.append(_steps_a_clock(memory.download(clocks, np.int64, 3 * groups).reshape(-1, 3)))
        rates[name] = round(statistics.median(found), 1)
    return rates


def _steps_a_clock(clocks: NDArray[np.int64]) -> float:
    """The median over multiprocessors, each from its first group's begin to its last one's end.

    A group's own time says less: groups that wait for room on a multiprocessor have not begun yet.
    """
    rates = []
    for multiprocessor in np.unique(clocks[:, 0]):
        own = clocks[clocks[:, 0] == multiprocessor]
        rates.append(len(own) * THREADS * ROUNDS * 8 * CHAINS / float(own[:, 2].max() - own[:, 1].min()))
    return float(statistics.median(rates))


def clock_hertz(device: CudaDevice) -> float:
    """The highest clock of the multiprocessors."""
    from cuda.bindings import driver

    attribute = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLOCK_RATE
    status, kilohertz = driver.cuDeviceGetAttribute(attribute, device.context.device)
    if int(status) != 0:
        raise RuntimeError(f"reading the clock's rate: {status}")
    return 1e3 * int(kilohertz)
