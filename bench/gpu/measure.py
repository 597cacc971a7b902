#!/usr/bin/env python3
"""Pairwise alignment on a GPU: instruction rates, equality with the processor, and speed by kernel and case.

    python bench/gpu/measure.py                          everything on cuda:0; a table, and JSON with --output
    python bench/gpu/measure.py --device opencl:0.0 --checked-pairs 50 --pairs 300 --tiles 1 --seconds 0

GCUPS are cells of H (products of lengths) over time. "kernels": the sum of the kernels' times, each waited for, median
of the loops of --seconds. "whole": wall time of tropalign's scheduler over all tiles, planning, transfers and CIGARs in
order included. The limit is what the sweep's integer instructions allow (machine code of tests/gpu/machine_code.json
and the rate of viaddmax_s16x2 measured here); the walk and memory come on top.

Sequences: the proteins of bench/data by average length, repeated until they make --pairs pairs. Exit status: 0, 1 where
something differs from the processor's results, 3 where data are missing, 4 where the device cannot work.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections import defaultdict
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

import tropalign
from tropalign.devices.gpu import Gpu, Memory, Program
from tropalign.devices.registry import GpuDevice, find_gpus, open_gpu
from tropalign.errors import TropalignError
from tropalign.execution.scheduler import Scheduler
from tropalign.pairwise.engines import REPORT_COLUMNS
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.resources.limits import resolve_threads

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from sets import load, missing  # noqa: E402

LENGTHS = (154, 257, 459, 1103)
MODES = ("local", "global", "semiglobal")
REPORTS = ("score", "alignment")
WAYS = ("all-vs-all", "one-to-many")


class TimedGpu:
    """A device that waits for every kernel and notes how long it took."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.name, self.word_bits, self.n_streams = gpu.name, gpu.word_bits, gpu.n_streams
        self.n_multiprocessors = gpu.n_multiprocessors
        self.seconds: dict[str, float] = defaultdict(float)
        self.upload, self.budget_bytes = gpu.upload, gpu.budget_bytes
        self._probe = gpu.upload(np.zeros(1, np.uint8))

    def scope(self) -> AbstractContextManager[Memory]:
        """As the device's."""
        return self._gpu.scope()

    def wait(self) -> None:
        """Wait until all queued work is done."""
        with self._gpu.scope() as memory:
            memory.download(self._probe, np.uint8, 1)

    def build(self, source: str, constants: dict[str, int]) -> Program:
        """As the device's."""
        return _TimedProgram(self, self._gpu.build(source, constants))


class _TimedProgram:
    def __init__(self, device: TimedGpu, program: Program) -> None:
        self._device, self._program = device, program

    def launch(self, kernel: str, groups: int, group_size: int, *arguments: Any) -> None:
        """Launches and waits."""
        self._device.wait()
        begin = time.perf_counter()
        self._program.launch(kernel, groups, group_size, *arguments)
        self._device.wait()
        self._device.seconds[kernel] += time.perf_counter() - begin


def batch(texts: list[str], count: int) -> tropalign.SequenceBatch:
    """That many of them, repeated as often as it takes."""
    return tropalign.SequenceBatch.from_strings((texts * (count // len(texts) + 1))[:count], alphabet=tropalign.PROTEIN)


def make_task(texts: list[str], mode: str, report: str, how: str, n_pairs: int) -> PairsTask:
    """All pairs of a set, or one query against many."""
    options = PairOptions(
        tropalign.SubstitutionMatrix.from_name("BLOSUM62"), tropalign.Gap(11, 1), mode=mode, report=report
    )
    if how == "one-to-many":
        return PairsTask(batch(texts[:1], 1), batch(texts[1:], n_pairs), options)
    return PairsTask(batch(texts, max(2, math.isqrt(2 * n_pairs))), None, options)


def check(gpu: Gpu, n_pairs: int) -> list[str]:
    """What differs between the device and the processor, by case: nothing, if all is well."""
    texts = load("257")
    wrong = []
    for mode in MODES:
        for report in REPORTS:
            for how in WAYS:
                task = make_task(texts, mode, report, how, n_pairs)
                for tile in task.tiles():
                    got, wanted = task.on_gpu(tile, gpu), task.on_cpu(tile, resolve_threads(0))
                    names = [
                        n for n in REPORT_COLUMNS[report] if not np.array_equal(getattr(got, n), getattr(wanted, n))
                    ]
                    wrong += [f"{mode} {report} {how}: {name}" for name in names]
    return wrong


def measure_case(
    gpu: Gpu, texts: list[str], mode: str, report: str, how: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Times of one case."""
    task = make_task(texts, mode, report, how, options.pairs)
    timed, tile = TimedGpu(gpu), next(iter(task.tiles()))
    task.on_gpu(tile, timed)  # compiles, and the sequences go to the device
    loops: list[dict[str, float]] = []
    begin = time.perf_counter()
    while len(loops) < 3 or time.perf_counter() - begin < options.seconds:
        timed.seconds = defaultdict(float)
        task.on_gpu(tile, timed)
        loops.append(dict(timed.seconds))
    kernels = {name: statistics.median(loop[name] for loop in loops) for name in loops[0]}
    whole = make_task(texts, mode, report, how, options.pairs * options.tiles)
    devices = [GpuDevice(gpu)]
    begin = time.perf_counter()
    cells = sum(result.tile.cost_cells for result in Scheduler(devices).run([whole]))
    wall = time.perf_counter() - begin
    return {
        "mode": mode, "report": report, "how": how, "cells": tile.cost_cells, "pairs": tile.n_items,
        "kernel_seconds": kernels, "kernel_gcups": tile.cost_cells / sum(kernels.values()) / 1e9,
        "sweep_gcups": tile.cost_cells / kernels["sweep"] / 1e9, "whole_gcups": cells / wall / 1e9,
    }  # fmt: skip


def limits(machine: dict[str, Any]) -> dict[tuple[str, str, str], float]:
    """GCUPS that the sweep's integer instructions allow, by mode, report and case; empty without rates."""
    rate = machine.get("rates", {}).get("viaddmax_s16x2")
    if rate is None or machine["word_bits"] != 16:
        return {}
    table = json.loads((ROOT / "tests" / "gpu" / "machine_code.json").read_text())
    out = {}
    for mode in MODES:
        for report in REPORTS:
            for how, suffix in (("all-vs-all", ""), ("one-to-many", ", one query")):
                row = table.get(f"{'local' if mode == 'local' else 'global'} {report}{suffix}, sm_90")
                if row:
                    cells = machine["multiprocessors"] * machine["clock_hertz"] * rate * 2 / row["alu_a_cell"]
                    out[mode, report, how] = cells / 1e9
    return out


def print_table(results: dict[str, Any]) -> None:
    """One line per case."""
    bound = limits(results["machine"])
    print(f"{'case':38s} {'length':>6s} {'sweep':>8s} {'kernels':>8s} {'whole':>8s}  GCUPS; sweep's share of its limit")
    for row in results["cases"]:
        limit = bound.get((row["mode"], row["report"], row["how"]))
        share = f"{row['sweep_gcups'] / limit:.0%}" if limit else "-"
        name = f"{row['mode']} {row['report']}, {row['how']}"
        figures = " ".join(f"{row[key]:8.1f}" for key in ("sweep_gcups", "kernel_gcups", "whole_gcups"))
        print(f"{name:38s} {row['length']:6d} {figures}  {share}", flush=True)


def machine_of(name: str, gpu: Gpu) -> dict[str, Any]:
    """What the device is, and its instruction rates where it is a CUDA device."""
    info = next(info for info in find_gpus()[0] if info.name == name)
    machine: dict[str, Any] = {
        "name": info.model,
        "driver": info.driver,
        "word_bits": gpu.word_bits,
        "multiprocessors": gpu.n_multiprocessors,
    }
    if name.startswith("cuda:"):
        from rates import clock_hertz, measure_rates

        machine |= {
            "clock_hertz": clock_hertz(gpu),
            "rates": measure_rates(gpu),
        }
    return machine


def main() -> int:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--pairs", type=int, default=600_000, help="of a tile")
    parser.add_argument("--tiles", type=int, default=6, help="as many pairs for the whole run")
    parser.add_argument("--checked-pairs", type=int, default=20_000, help="compared with the processor, per case")
    parser.add_argument("--seconds", type=float, default=0.3, help="of a case's loops")
    parser.add_argument("--lengths", type=int, nargs="*", default=LENGTHS)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if absent := missing([*map(str, options.lengths), "257"]):
        print(f"the data are missing: {', '.join(map(str, absent))}", file=sys.stderr)
        return 3
    try:
        gpu = open_gpu(options.device)
    except TropalignError as error:
        print(f"nothing measured: {error}")
        return 4
    begin = time.time()
    results: dict[str, Any] = {"machine": machine_of(options.device, gpu), "cases": []}
    results["checked_pairs"] = options.checked_pairs
    print(json.dumps(results["machine"], indent=1), flush=True)
    results["differs"] = check(gpu, options.checked_pairs)
    print(f"differs from the processor: {', '.join(results['differs']) or 'nothing'}", flush=True)
    for length in options.lengths:
        texts = load(str(length))
        for report in REPORTS:
            for mode in MODES:
                for how in WAYS:
                    row = measure_case(gpu, texts, mode, report, how, options)
                    results["cases"].append({"length": length, **row})
        if options.output:
            options.output.write_text(json.dumps({**results, "seconds": round(time.time() - begin)}, indent=1) + "\n")
    print_table(results)
    print(f"{time.time() - begin:.0f} s")
    return 1 if results["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
