#!/usr/bin/env python3
"""Placement scores on a GPU: equality with the processor, and speed.

    python bench/gpu/place.py                          on cuda:0; a table, and JSON with --output
    python bench/gpu/place.py --device opencl:0.0 --reads 4 --branches 64 --columns 300 --checked 4

TCUPS are cells (bases times columns times branches) over time. "kernel": of the sweep alone, waited for; "whole": of
ScoresOnGpu.scores, transfers and the reads' couples included. Branches are random, of the shape of the gg1604
reference: 1,601 branches, 3,644 columns, of which 1,400 have no gap flag; the work does not depend on the letters.
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
from tropalign.placement.gpu import ScoresOnGpu
from tropalign.resources.limits import resolve_threads

sys.path.insert(0, str(ROOT / "tests"))
from gpu.cases import lane_planes

SCORING = (2, 0, -3, 3, 1, 3, 1, 0)
LENGTHS = (100, 150, 250, 1450)


def measure(gpu: Gpu, length: int, options: argparse.Namespace) -> dict[str, float]:
    """One read length."""
    rng = np.random.default_rng(length)
    shape = (options.branches, options.columns)
    vectors = (rng.integers(1, 16, shape) | 16 * (rng.random(shape) > 1400 / 3644)).astype(np.uint8)
    n_reads = max(options.reads * LENGTHS[0] // length, options.checked)
    codes = (1 << rng.integers(0, 4, n_reads * length)).astype(np.uint8)
    offsets = np.arange(0, len(codes) + 1, length)
    timed = TimedGpu(gpu)
    scores = ScoresOnGpu(timed, vectors, SCORING)
    scores.scores(codes[:length], offsets[:2])  # compiles
    few = offsets[: options.checked + 1]
    planes, sets, threads = lane_planes(vectors, 4), np.arange(16, dtype=np.uint32), resolve_threads(0)
    checked = codes[: few[-1]]
    wanted, *_ = _native.place_scores(
        planes, len(vectors), -options.columns % 4, SCORING, checked, few, sets, 16, None, 0, 1, threads
    )
    differs = int((scores.scores(checked, few) != wanted[:, : len(vectors)]).sum())
    timed.seconds.clear()
    begin = time.perf_counter()
    scores.scores(codes, offsets)
    wall, cells = time.perf_counter() - begin, vectors.size * len(codes)
    return {
        "length": length,
        "differs": differs,
        "kernel_tcups": cells / timed.seconds["place"] / 1e12,
        "whole_tcups": cells / wall / 1e12,
    }


def main() -> int:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--reads", type=int, default=20_000, help="of 100 bases; fewer of longer ones")
    parser.add_argument("--branches", type=int, default=1601)
    parser.add_argument("--columns", type=int, default=3644)
    parser.add_argument("--checked", type=int, default=64, help="reads compared with the processor")
    parser.add_argument("--lengths", type=int, nargs="*", default=LENGTHS)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    try:
        gpu = open_gpu(options.device)
    except TropalignError as error:
        print(f"nothing measured: {error}")
        return 4
    rows = []
    print("length  scores that differ  kernel   whole  TCUPS")
    for length in options.lengths:
        row = measure(gpu, length, options)
        rows.append(row)
        print(f"{length:6d} {row['differs']:19d} {row['kernel_tcups']:7.3f} {row['whole_tcups']:7.3f}", flush=True)
        if options.output:
            options.output.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any(row["differs"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
