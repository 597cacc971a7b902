#!/usr/bin/env python3
"""Posteriors of pairs and their consistency on a GPU: equality with the processor, and speed.

    python bench/gpu/msa.py                            on cuda:0; a table, and JSON with --output
    python bench/gpu/msa.py --device opencl:0.0 --pairs 20 --checked 20 --lengths 60

TCUPS are cells (products of lengths) over time. "ends" and "posteriors": of the two sweeps alone, each waited for;
"kernels": of both together; "whole": of PosteriorsOnGpu.posteriors, transfers and the order of the results included.
A pass of consistency over --family sequences: seconds of the kernel, of the whole pass, and of the processor.
Families are made up: mutated copies of one random protein, a fifth longer or shorter.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from measure import ROOT, TimedGpu

from tropalign import _native
from tropalign.devices.gpu import Gpu
from tropalign.devices.registry import open_gpu
from tropalign.errors import TropalignError
from tropalign.msa.consistency import ProductsOnGpu
from tropalign.msa.gpu import PosteriorsOnGpu, difference
from tropalign.msa.models import PROTEIN_2
from tropalign.msa.task import all_pairs
from tropalign.resources.limits import resolve_threads

sys.path.insert(0, str(ROOT / "tests"))
from gpu.cases import random_family

CUTOFF = 0.01
LENGTHS = (60, 150, 300, 600, 1500)


def measure(gpu: Gpu, length: int, options: argparse.Namespace) -> dict[str, float]:
    """One average length."""
    n_sequences = int((2 * options.pairs) ** 0.5) + 1
    lengths = np.random.default_rng(length).integers(length * 4 // 5, length * 6 // 5 + 1, n_sequences)
    codes, offsets, _ = random_family(length, lengths)
    pairs = all_pairs(lengths)[: options.pairs]
    timed = TimedGpu(gpu)
    posteriors = PosteriorsOnGpu(timed, PROTEIN_2, CUTOFF)
    posteriors.posteriors(codes, offsets, pairs)  # compiles
    some = np.ascontiguousarray(pairs[:: max(len(pairs) // options.checked, 1)])
    wanted = _native.pair_posteriors(
        codes, offsets, some, **PROTEIN_2.arguments(), cutoff=CUTOFF, keep=0.0, n_threads=resolve_threads(0)
    )
    distance, posterior = difference(posteriors.posteriors(codes, offsets, some), wanted, CUTOFF)
    timed.seconds.clear()
    begin = time.perf_counter()
    posteriors.posteriors(codes, offsets, pairs)
    wall, cells = time.perf_counter() - begin, float((lengths[pairs[:, 0]] * lengths[pairs[:, 1]]).sum())
    rates = {name: cells / seconds / 1e12 for name, seconds in timed.seconds.items() if name != "pack"}
    kernels = cells / sum(timed.seconds.values()) / 1e12
    return {
        "length": length, "distance": distance, "posterior": posterior, **rates, "kernels": kernels,
        "whole": cells / wall / 1e12,
    }  # fmt: skip


def measure_consistency(gpu: Gpu, length: int, options: argparse.Namespace) -> dict[str, float]:
    """A pass over a family of one average length."""
    lengths = np.random.default_rng(length).integers(length * 4 // 5, length * 6 // 5 + 1, options.family)
    codes, offsets, _ = random_family(length, lengths)
    pairs, threads = all_pairs(lengths), resolve_threads(0)
    found = _native.pair_posteriors(
        codes, offsets, pairs, **PROTEIN_2.arguments(), cutoff=CUTOFF, keep=0.0, n_threads=threads
    )
    rule = (np.ones(len(lengths)), np.zeros(len(lengths), np.int32), 0.01, CUTOFF, threads, None)
    stores, seconds, timed = [], [], TimedGpu(gpu)
    for device in (timed, None):
        store = _native.PosteriorStore(lengths.astype(np.int32))
        store.add(pairs, *found[1:])
        begin = time.perf_counter()
        store.relax(*rule, ProductsOnGpu(device, store).sums if device else None)
        seconds.append(time.perf_counter() - begin)
        stores.append(store)
    some = pairs[:: max(len(pairs) // options.checked, 1)].tolist()
    arrays = [np.concatenate([np.concatenate(store.matrix(x, y)) for x, y in some]) for store in stores]
    return {
        "length": length, "differs": float(not np.array_equal(*arrays)), "kernel_seconds": timed.seconds["relax"],
        "whole_seconds": seconds[0], "processor_seconds": seconds[1],
    }  # fmt: skip


def main() -> int:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--checked", type=int, default=500, help="pairs compared with the processor")
    parser.add_argument("--family", type=int, default=200, help="sequences for consistency")
    parser.add_argument("--lengths", type=int, nargs="*", default=LENGTHS)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    try:
        gpu = open_gpu(options.device)
    except TropalignError as error:
        print(f"nothing measured: {error}")
        return 4
    rows: dict[str, list[dict[str, float]]] = {"posteriors": [], "consistency": []}
    print("length  distances and posteriors differ by    ends  posteriors  kernels   whole  TCUPS")
    for length in options.lengths:
        row = measure(gpu, length, options)
        rows["posteriors"].append(row)
        figures = " ".join(f"{row[name]:9.4f}" for name in ("ends", "posteriors", "kernels", "whole"))
        print(f"{length:6d} {row['distance']:19.1e} {row['posterior']:15.1e} {figures}", flush=True)
    print("length  differs  kernel    pass  processor's pass, seconds")
    for length in options.lengths[:3]:
        row = measure_consistency(gpu, length, options)
        rows["consistency"].append(row)
        figures = " ".join(f"{row[name]:8.3f}" for name in ("kernel_seconds", "whole_seconds", "processor_seconds"))
        print(f"{length:6d} {row['differs']:8.0f} {figures}", flush=True)
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")
    apart = [max(row["distance"], row["posterior"]) for row in rows["posteriors"]]
    return 1 if max(apart) > 1e-4 or any(row["differs"] for row in rows["consistency"]) else 0


if __name__ == "__main__":
    sys.exit(main())
