"""Options that many verbs share: output, devices, memory and shards; and functions that interpret them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tropalign.devices.registry import check_address, check_device_name
from tropalign.errors import counted, shown
from tropalign.execution.manifest import Shard, parse_shard
from tropalign.options.option import Kind, Options, option, whole
from tropalign.resources.limits import MOST_THREADS, parse_bytes
from tropalign.verbs.command import Command

if TYPE_CHECKING:
    from tropalign.execution.progress import Show
    from tropalign.execution.run import Output, Run
    from tropalign.execution.task import Device
    from tropalign.formats.format import Context, Header

GROUP = "output and resources"
#: Supported sequence files (`tropalign.sequences.records`), for the verbs' help.
SEQUENCE_FILES = "FASTA, FASTQ, UniProt, EMBL, GenBank or an alignment, compressed or not; - is standard input"


class OutputOptions(Options, group=GROUP):
    """Output file and verbosity."""

    output: str = option(
        default="-",
        flags=("-o", "--output"),
        metavar="FILE",
        role="machine",
        help="output file; - (default) is stdout",
    )
    quiet: bool = option(
        default=False, flags=("-q", "--quiet"), role="machine", help="show no progress and no warnings"
    )


class CommentOptions(Options, group=GROUP):
    """Comment lines of tables."""

    no_comments: bool = option(
        default=False,
        label="No comment lines",
        help="leave out comment lines (#) before tables: for parsers without comment support, or names with a #",
    )


class ThreadOptions(Options, group=GROUP):
    """Number of threads."""

    threads: int = option(
        default=0,
        flags=("-t", "--threads"),
        kind=whole(0, MOST_THREADS),
        metavar="N",
        role="machine",
        help="number of threads; 0 (default): all available",
    )


class DeviceOptions(ThreadOptions, group=GROUP):
    """Threads and devices."""

    device: list[str] | None = option(
        default=None,
        kind=Kind("text", check_device_name),
        many="append",
        metavar="NAME",
        role="machine",
        help="device: cpu, cuda:0, opencl:0.0 (tropalign devices lists them); may be repeated; auto (default): the "
        "CPU, and the GPUs if the job is large",
    )


class ClusterOptions(Options, group=GROUP):
    """Workers on other machines."""

    cluster: str | None = option(
        default=None,
        kind=Kind("text", check_address),
        metavar="ADDRESS",
        role="machine",
        help="compute on the workers of this Dask scheduler: tcp://HOST:8786 or its file.json; local:4 starts four "
        "processes on this machine",
    )


class MemoryOptions(Options, group=GROUP):
    """Memory limit of the process."""

    memory: int | None = option(
        default=None,
        kind=Kind("text", parse_bytes),
        metavar="SIZE",
        role="machine",
        help="memory limit, such as 8G (default: 60% of the free memory)",
    )


class ShardOptions(Options, group=GROUP):
    """A share of a run."""

    shard: Shard | None = option(
        default=None,
        kind=Kind("text", parse_shard),
        metavar="I/N",
        role="machine",
        help="compute only the I-th of N shares, into a file for tropalign merge",
    )


class DryRunOptions(Options, group=GROUP):
    """A forecast instead of the run."""

    dry_run: bool = option(
        default=False,
        role="machine",
        help="check everything, run a trial of a second, and estimate time, memory and output size; nothing is written",
    )


class EachOption(Options, group=GROUP):
    """Many files, each as if it were given alone."""

    each: bool = option(
        default=False,
        role="private",
        help="process each file by itself, all in one run: -o is then a folder, options of additional outputs give "
        "the suffix of their files (--html .html), and each.tsv lists the outcome of each file (exit code 5 if some "
        "failed)",
    )


class RunOptions(
    OutputOptions, CommentOptions, DeviceOptions, ClusterOptions, MemoryOptions, ShardOptions, DryRunOptions
):
    """Options of verbs that compute in tiles."""


def devices_of(options: DeviceOptions) -> list[str]:
    """Return device names for `open_devices`; a forecast runs locally, without the cluster."""
    cluster = getattr(options, "cluster", None)
    names = list(options.device or ["auto"])
    return names if cluster is None or getattr(options, "dry_run", False) else [*names, cluster]


def checked_progress(
    command: Command, outputs: Sequence[str], inputs: Sequence[str | None], holds: bool = False
) -> Show:
    """Check outputs, inputs and the CPU before anything is read, and return the progress display.

    `holds`: outputs are written at the very end and there is no parts folder that marks them as in use, so hold
    them for the length of the run. Raises TropalignError.
    """
    from tropalign.devices.registry import selected_isa
    from tropalign.execution.files import check_outputs, hold_outputs
    from tropalign.execution.progress import progress_bar, status_only

    shard = getattr(command, "shard", None)
    if "" in (*outputs, *inputs):
        command.refuse("the name of a file is empty: name one, or check whether a variable of a script is unset")
    if shard is not None and command.output == "-":  # type: ignore[attr-defined]
        command.refuse("a shard must be a file for tropalign merge: name it with -o")
    check_outputs(outputs, [path for path in inputs if path is not None])
    selected_isa()
    if holds and shard is None and not getattr(command, "dry_run", False):
        hold_outputs(outputs)
    return status_only if getattr(command, "quiet", False) else progress_bar


def header_of(command: OutputOptions, parameters: dict[str, str], **settled: str | None) -> Header:
    """Return the header of a command's outputs; `settled` as in `Command.command_line`."""
    from tropalign import __version__
    from tropalign.formats.format import Header

    assert isinstance(command, Command)
    has_comments = not getattr(command, "no_comments", False)
    has_names = not getattr(command, "no_header", False)
    return Header(__version__, command.command_line(**settled), parameters, has_comments and has_names, has_names)


def with_version(**parameters: str) -> dict[str, str]:
    """Return the parameters that determine a run's parts, with the version."""
    from tropalign import __version__

    return {"version": __version__, **parameters}


def output_of(role: str, kind: str, path: str, header: Header, context: Context, name: str | None = None) -> Output:
    """Return an output in the format `name`, by default that of the path; no binary format goes to a terminal."""
    from tropalign.execution.files import check_terminal
    from tropalign.execution.run import Output
    from tropalign.formats.format import format_for_path, make_writer

    writer = make_writer(kind, name or format_for_path(kind, path), header, context)
    if writer.is_binary:
        check_terminal(writer.name, path)
    return Output(role, path, writer)


def run_or_forecast(run: Run, devices: Sequence[Device], options: RunOptions, show: Show, n_cells: int) -> None:
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
        print_summary(
            counted(done.n_items, run.unit), time.perf_counter() - begin, done.share * n_cells, paths, done.share
        )


def print_summary(what: str, seconds: float, n_cells: float, paths: Sequence[str], share: float = 1.0) -> None:
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


def forecast_device(devices: Sequence[Device], options: DeviceOptions) -> str:
    """Return the subject of a forecast: the CPU, which is the last device; the workers of a cluster are not asked."""
    cluster = getattr(options, "cluster", None)
    name = devices[-1].name
    return name if cluster is None else f"{name} of this machine only (a forecast does not use {cluster})"


def _foretell(run: Run, devices: Sequence[Device], n_cells: int, options: RunOptions) -> None:
    """Print the forecast of a run."""
    from tropalign.execution.forecast import forecast
    from tropalign.formats.format import COMPRESSED
    from tropalign.resources.limits import peak_bytes

    before = peak_bytes()
    found = forecast(run, devices[-1])  # the CPU is the last device
    workers = sum(device.n_workers for device in devices)
    needed = max(peak_bytes(), before + min(found.n_tiles, workers) * found.most_tile_bytes)
    cells = n_cells or found.cost_cells
    where = forecast_device(devices, options)
    sizes = found.output_bytes or (0.0,) * len(run.outputs)
    print_forecast(cells, (found.n_items, run.unit), found.seconds, where, needed, run.memory_bytes, sizes=sizes)
    for output, size in zip(run.outputs, sizes, strict=True):
        packed = " before it is compressed" if output.path.endswith(COMPRESSED) else ""
        where = "standard output" if output.path == "-" else output.path
        print(f"output   {_size(size)} of {output.writer.name}{packed}: {where}")
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
        print("time     unknown: a single one of them takes longer than the trial")
    else:
        rate = n_cells / max(seconds, 1e-9) / 1e9
        print(f"time     {_duration(seconds)} on {device}, {rate:.1f} billion cells per second")
    needed = "" if needed_bytes is None else f"{_size(needed_bytes)}; "
    print(f"memory   {needed}at most {_size(allowed_bytes)} is allowed")


def _size(n_bytes: float) -> str:
    from tropalign.resources.limits import human

    return human(int(n_bytes))


def _duration(seconds: float) -> str:
    """Format a duration: 3.2 s, 4 min 10 s, 5 h 20 min."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds:.2f} s"
    minutes = seconds / 60
    if minutes < 100:
        return f"{int(minutes)} min {int(seconds % 60)} s"
    return f"{int(minutes // 60):,} h {int(minutes % 60)} min"
