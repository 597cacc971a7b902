#!/usr/bin/env python3
"""Tropical algebra on a GPU: equality with the processor, and speed.

    python bench/gpu/tropical.py                         on cuda:0; a table, and JSON with --output
    python bench/gpu/tropical.py --device opencl:0.0 --sizes 256 --states 8 --sequences 40 --steps 100

Products and closures: sums (an addition and a comparison each) per second, in 10^12. "kernel": over the time of the
kernels alone; "whole": with transfers and conversions; "processor": `tropalign.tropical` there, all threads. Models:
sums of Viterbi with the way back, and of forward, per second. A row of "differs" that is not 0 is a fault.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import TimedGpu

from tropalign import _native
from tropalign.decoding.gpu import ModelsOnGpu
from tropalign.decoding.observations import Observations
from tropalign.devices.gpu import Gpu
from tropalign.devices.registry import open_gpu
from tropalign.errors import TropalignError
from tropalign.resources.limits import available_threads
from tropalign.tropical import closure, matmul
from tropalign.tropical.gpu import Kind, Layout, ProductsOnGpu

SIZES, STATES = (1024, 4096, 16_384), (8, 64, 256)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and its seconds."""
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def row_of(
    gpu: TimedGpu, what: str, size: int, sums: float, on_gpu: Callable[[], Any], on_cpu: Callable[[], Any]
) -> dict[str, Any]:
    """A computation that has run once, so that its kernels are compiled."""
    gpu.seconds.clear()
    found, whole = timed(on_gpu)
    kernels = sum(gpu.seconds.values())
    wanted, processor = timed(on_cpu)
    return {
        "what": what,
        "size": size,
        "differs": float(not _is_near(found, wanted)),
        "kernel": sums / kernels / 1e12,
        "whole": sums / whole / 1e12,
        "processor": sums / processor / 1e12,
    }


def _is_near(found: Any, wanted: Any) -> bool:
    if isinstance(found, tuple):
        return all(map(np.array_equal, found, wanted))
    return bool(np.allclose(found, wanted, rtol=1e-6, atol=0))


def matrices(gpu: TimedGpu, n: int) -> list[dict[str, Any]]:
    """Products and closures of one size, in every kind of number."""
    rng, rows = np.random.default_rng(n), []
    layouts = {
        f"int{gpu.word_bits}": Layout(Kind.WORDS, gpu.word_bits),
        "float32, 0 or more": Layout(Kind.POSITIVE, 32),
        "float32": Layout(Kind.FLOATS, 32),
    }
    for name, layout in layouts.items():
        a, b = (rng.integers(0, 1000, (n, n)).astype(layout.dtype) for _ in range(2))
        products = ProductsOnGpu(gpu)
        held = products.held(b, layout)
        products.times(a[:64], held)
        products.closure(a[:300, :300], layout)
        on_gpu = partial(products.times, a, held), partial(products.closure, a, layout)
        on_cpu = partial(matmul, a, b, device="cpu"), partial(closure, a, device="cpu")
        for what, mine, theirs in zip(("product", "closure"), on_gpu, on_cpu, strict=True):
            rows.append(row_of(gpu, f"{what}, {name}", n, n**3, mine, theirs))
    return rows


def models(gpu: TimedGpu, n_states: int, n_sequences: int, n_steps: int) -> list[dict[str, Any]]:
    """Viterbi and forward of one number of states."""
    rng = np.random.default_rng(n_states)
    start, transition = rng.dirichlet(np.ones(n_states)), rng.dirichlet(np.ones(n_states), n_states)
    emission = rng.dirichlet(np.ones(20), n_states)
    offsets = np.arange(n_sequences + 1, dtype=np.int64) * n_steps
    steps = Observations.of(rng.integers(0, 20, offsets[-1]).astype(np.uint8), offsets)
    logs = np.log(start), np.log(transition), np.log(emission)
    given, sums, decoder = (start, transition, emission), float(offsets[-1]) * n_states**2, ModelsOnGpu(gpu)
    few = Observations.of(steps.steps[: 2 * n_steps], offsets[:3])
    decoder.paths(*logs, few)
    decoder.forward(*given, few)
    seen = steps.steps, offsets, available_threads()
    return [
        row_of(
            gpu,
            "Viterbi",
            n_states,
            sums,
            partial(decoder.paths, *logs, steps),
            partial(_native.viterbi_codes, *logs, *seen),
        ),
        row_of(
            gpu,
            "forward",
            n_states,
            sums,
            partial(decoder.forward, *given, steps),
            partial(_native.hmm_forward_codes, *given, *seen),
        ),
    ]


def main() -> int:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="of matrices")
    parser.add_argument("--states", type=int, nargs="*", default=STATES)
    parser.add_argument("--sequences", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    try:
        gpu: Gpu = open_gpu(options.device)
    except TropalignError as error:
        print(f"nothing measured: {error}")
        return 4
    rows: list[dict[str, Any]] = []
    print(f"{'':26s}   size differs   kernel    whole  processor   10^12 sums per second")
    for measure in (
        *(lambda n=n: matrices(TimedGpu(gpu), n) for n in options.sizes),
        *(lambda n=n: models(TimedGpu(gpu), n, options.sequences, options.steps) for n in options.states),
    ):
        for row in measure():
            rows.append(row)
            figures = " ".join(f"{row[name]:8.4f}" for name in ("kernel", "whole", "processor"))
            print(f"{row['what']:26s} {row['size']:6d} {row['differs']:7.0f} {figures}", flush=True)
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any(row["differs"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
