"""A run from the command line: executed, with a final line of what was done, or estimated (``--dry-run``)."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tropalign.errors import counted, shown

if TYPE_CHECKING:
    from tropalign.execution.progress import Show
    from tropalign.execution.run import Run
    from tropalign.execution.task import Device
    from tropalign.verbs.run_options import DeviceOptions, RunOptions


def carry_out(run: Run, devices: Sequence[Device], options: RunOptions, show: Show, n_cells: int) -> None:
    """Compute and write, or only print a forecast.

    `n_cells`: cells of the dynamic program, for the rate; 0 if unknown.
    """
    if options.dry_run:
        _foretell(run, devices, n_cells, options)
        return
    begin = time.perf_counter()
    done = run.compute(devices, show)
    if not options.quiet:
        paths = [options.output] if options.shard is not None else [output.path for output in run.outputs]
        tell_of(counted(done.n_items, run.unit), time.perf_counter() - begin, done.share * n_cells, paths, done.share)


def tell_of(what: str, seconds: float, n_cells: float, paths: Sequence[str], share: float = 1.0) -> None:
    """Print the final line, on a terminal: what was computed, time, rate, and files.

    `share`: the part that was computed now, if an earlier run had done the rest.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        return
    rate = f" ({n_cells / seconds / 1e9:.1f} GCUPS)" if n_cells and seconds > 0 else ""
    earlier = "" if share == 1 else f", {1 - share:.0%} of it by an earlier run"
    files = [f"{path} ({_size(os.path.getsize(path))})" for path in paths if path != "-" and os.path.isfile(path)]
    where = f": {', '.join(files)}" if files else ""
    print(shown(f"{what} in {_duration(seconds)}{rate}{earlier}{where}"), file=sys.stderr)


def where_foretold(devices: Sequence[Device], options: DeviceOptions) -> str:
    """Return the subject of a forecast: the CPU, which is the last device; the workers of a cluster are not asked."""
    cluster = getattr(options, "cluster", None)
    name = devices[-1].name
    return name if cluster is None else f"{name} of this machine alone (a forecast does not ask {cluster})"


def _foretell(run: Run, devices: Sequence[Device], n_cells: int, options: RunOptions) -> None:
    """Print the forecast of a run."""
    from tropalign.execution.forecast import forecast
    from tropalign.machine.memory import peak_bytes

    before = peak_bytes()
    found = forecast(run, devices[-1])  # the CPU is the last device
    workers = sum(device.n_workers for device in devices)
    needed = max(peak_bytes(), before + min(found.n_tiles, workers) * found.most_tile_bytes)
    cells = n_cells or found.cost_cells
    where = where_foretold(devices, options)
    sizes = found.output_bytes or (0.0,) * len(run.outputs)
    print_forecast(cells, (found.n_items, run.unit), found.seconds, where, needed, run.memory_bytes, sizes=sizes)
    for output, size in zip(run.outputs, sizes, strict=True):
        where = "standard output" if output.path == "-" else output.path
        print(f"output   {_size(size)} of {output.writer.name}{_unless_packed(output.path)}: {where}")
    print(f"tiles    {found.n_tiles:,}")


def print_forecast(
    n_cells: int,
    what: tuple[int, str],
    seconds: float | None,
    device: str,
    needed_bytes: int | None,
    allowed_bytes: int,
    sizes: Sequence[float] = (),
) -> None:
    """Print cells, time and memory, a line each; write the same to the status file.

    what: number and unit of the items: (666, "pairs").
    seconds, needed_bytes: None if unknown.
    sizes: bytes of each output, if known.
    """
    from tropalign.execution.progress import tell_forecast

    n_items, unit = what
    output_bytes = [int(size) for size in sizes]
    tell_forecast(
        {
            "cells": int(n_cells),
            "items": int(n_items),
            "seconds": None if seconds is None else float(seconds),
            "memory_bytes": None if needed_bytes is None else int(needed_bytes),
            "output_bytes": output_bytes,
        }
    )
    print(f"cells    {n_cells:,} for {counted(n_items, unit)}")
    if seconds is None:
        print("time     not known: a single one of them takes longer than the trial")
    else:
        rate = n_cells / max(seconds, 1e-9) / 1e9
        print(f"time     {_duration(seconds)} on {device}, {rate:.1f} billion cells per second")
    needed = "" if needed_bytes is None else f"{_size(needed_bytes)}; "
    print(f"memory   {needed}at most {_size(allowed_bytes)} is allowed")


def _unless_packed(path: str) -> str:
    from tropalign.formats.format import COMPRESSED

    return " before it is compressed" if path.endswith(COMPRESSED) else ""


def _size(n_bytes: float) -> str:
    from tropalign.machine.memory import human

    return human(int(n_bytes))


def _duration(seconds: float) -> str:
    """Format a duration: 3.2 s, 4 min 10 s, 5 h 20 min."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds:.2f} s"
    minutes = seconds / 60
    if minutes < 100:
        return f"{int(minutes)} min {int(seconds % 60)} s"
    return f"{int(minutes // 60):,} h {int(minutes % 60)} min"
