#!/usr/bin/env python3
"""Filters of a search on a GPU: equality with the processor, and speed.

    python bench/gpu/search.py                         on cuda:0; a table, and JSON with --output
    python bench/gpu/search.py --device opencl:0.0 --targets 200 --nodes 60 200

TCUPS are cells (residues times nodes) over time, of each kernel alone; MSV and Viterbi see the targets that SSV leaves
them. "whole": cells of SSV over the time of FiltersOnGpu.survivors, with transfers and decisions; "processor": of the
same filters there, all threads. Models and proteins are made up; of these one in 100 is a relative of the model.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from measure import TimedGpu

from tropalign.devices.gpu import Gpu
from tropalign.devices.registry import open_gpu
from tropalign.errors import TropalignError
from tropalign.profiles.gpu import FiltersOnGpu, on_processor, proteins_of, random_model

NODES = (60, 150, 400, 1000, 2000)
F1 = 0.02


def measure(gpu: Gpu, n_nodes: int, n_targets: int) -> dict[str, float]:
    """One size of model."""
    rng = np.random.default_rng(n_nodes)
    model, consensus = random_model(rng, n_nodes)
    texts = [rng.integers(0, 20, n).astype(np.uint8) for n in rng.gamma(2, 180, n_targets).astype(int) + 20]
    for k in range(0, n_targets, 100):
        texts[k] = np.where(rng.random(n_nodes) < 0.7, consensus, rng.integers(0, 20, n_nodes)).astype(np.uint8)
    proteins, timed = proteins_of(texts), TimedGpu(gpu)
    filters = FiltersOnGpu(timed)
    got = filters.survivors([model], proteins, F1)  # compiles
    begin = time.perf_counter()
    wanted = on_processor([model], proteins, F1)
    of_processor = time.perf_counter() - begin
    timed.seconds.clear()
    begin = time.perf_counter()
    filters.survivors([model], proteins, F1)
    wall, cells = time.perf_counter() - begin, float(len(proteins.codes) * n_nodes)
    passed = float(proteins.lengths[got[1]].sum() * n_nodes)
    seconds = timed.seconds
    return {
        "nodes": n_nodes,
        "differs": float(not all(map(np.array_equal, got, wanted))),
        "ssv": cells / seconds["filter_ssv"] / 1e12,
        "viterbi": passed / seconds["filter_viterbi"] / 1e12 if "filter_viterbi" in seconds else 0.0,
        "msv_seconds": seconds.get("filter_msv", 0.0),
        "whole": cells / wall / 1e12,
        "processor": cells / of_processor / 1e12,
    }


def main() -> int:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--targets", type=int, default=200_000)
    parser.add_argument("--nodes", type=int, nargs="*", default=NODES)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    try:
        gpu = open_gpu(options.device)
    except TropalignError as error:
        print(f"nothing measured: {error}")
        return 4
    rows = []
    print("nodes  differs      SSV  Viterbi    whole  processor  TCUPS     MSV, seconds")
    for n_nodes in options.nodes:
        row = measure(gpu, n_nodes, options.targets)
        rows.append(row)
        figures = " ".join(f"{row[name]:8.4f}" for name in ("ssv", "viterbi", "whole", "processor"))
        print(f"{n_nodes:5d} {row['differs']:8.0f} {figures} {row['msv_seconds']:18.4f}", flush=True)
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any(row["differs"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
