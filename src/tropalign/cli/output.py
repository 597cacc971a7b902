"""From a task to its output: tiles in order, parts that survive a kill, and the file by atomic rename."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tropalign.cli.progress import progress_bar
from tropalign.devices.registry import open_devices
from tropalign.errors import InputError, ResourceError
from tropalign.execution.archive import write_archive
from tropalign.execution.parts import Manifest, Parts, disk_error, recorded_manifest
from tropalign.execution.queue import run
from tropalign.execution.shard import tiles_of_shard
from tropalign.execution.task import Task
from tropalign.formats.writer import Writer
from tropalign.machine.memory import default_budget
from tropalign.sequences import SequenceBatch

#: Formats that are no text.
BINARY = ("arrow", "feather", "parquet")


def output_path(output: str) -> Path | None:
    """The file to make, links followed; None for what is no regular file and takes bytes as they come."""
    path = Path(output)
    if output == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
        return None
    return Path(os.path.realpath(path))


def check_output(options: argparse.Namespace, format_name: str, layout: str = "") -> None:
    """Finds what is wrong with the place to write to before anything is computed.

    Raises
    ------
    InputError
        A directory that is not there or cannot be written.
    SystemExit
        A shard, or a binary format on a terminal, without a file.
    """
    path = output_path(options.output)
    if path is None:
        if options.shard is not None:
            options.parser.error("a shard goes to a file that tropalign merge reads: name it with -o")
        if options.output == "-" and sys.stdout.isatty() and (format_name in BINARY or layout == "npz"):
            options.parser.error(f"format {layout or format_name} is no text for a terminal: name a file with -o")
        return
    if path.is_dir():
        raise InputError("the output is a directory: name a file in it", file=str(path))
    if not path.parent.is_dir():
        raise InputError("there is no such directory to write to: make it first", file=str(path.parent))
    if not os.access(path.parent, os.W_OK):
        raise InputError("no permission to write here", file=str(path.parent))


def memory_budget(options: argparse.Namespace) -> int:
    """What was asked for; else what a run that this one goes on with had, as tiles were cut to it; else the default."""
    if options.memory is not None:
        return int(options.memory)
    path = output_path(options.output)
    earlier = None if path is None else recorded_manifest(_parts_directory(path))
    return default_budget() if earlier is None else earlier.memory_bytes


def write_result(task: Task, writer: Writer, memory_bytes: int, options: argparse.Namespace) -> None:
    """Computes the task and writes it as the options say."""
    tiles = task.tiles() if options.shard is None else tiles_of_shard(task.tiles(), options.shard)
    cost_cells = sum(tile.cost_cells for tile in tiles)
    devices = open_devices(options.device or ["auto"], options.threads, cost_cells)
    path = output_path(options.output)
    with progress_bar("pairs", sum(tile.n_items for tile in tiles), options.quiet) as progress:
        if path is None:
            results = run(task, devices=devices, progress=progress)
            write_stream(options.output, writer, (writer.encode(result) for _, result in results))
            return
        manifest = Manifest(
            task.fingerprint(), len(task.tiles()), _named_parameters(writer), memory_bytes, options.shard
        )
        with Parts(_parts_directory(path), manifest) as parts:
            try:
                finished = {tile.index for tile in tiles if parts.has(tile.index)}
                results = run(task, devices=devices, shard=options.shard, skip=finished, progress=progress)
                for tile, result in results:
                    data = writer.encode(result)
                    with _resumable():
                        parts.write(tile.index, data)
                indices = [tile.index for tile in tiles]
                if options.shard is not None:
                    assembly = writer.describe()
                    write = partial(write_archive, manifest=manifest, assembly=assembly, parts=parts, indices=indices)
                else:
                    write = partial(assemble, writer=writer, parts=map(parts.read, indices))
                with _resumable():
                    write_file(path, parts.temporary, write)
            except KeyboardInterrupt:
                if parts.is_empty():
                    raise
                raise KeyboardInterrupt(
                    f"interrupted: the same command goes on where this one stopped ({parts.directory} has what is done)"
                ) from None
            parts.finish()


@contextmanager
def _resumable() -> Iterator[None]:
    """A full disk in this block costs nothing of what is done; the error says so."""
    try:
        yield
    except ResourceError as error:
        error.args = (f"{error}; the same command then goes on where this one stopped",)
        raise


def write_file(path: Path, temporary: Path, write: Callable[[Path], None]) -> None:
    """Lets `write` make a temporary file, then gives it its name: the whole file is there or none."""
    try:
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        n_bytes = temporary.stat().st_size if temporary.exists() else 0
        raise disk_error(error, path, n_bytes) from None
    finally:
        temporary.unlink(missing_ok=True)


def assemble(path: Path, writer: Writer, parts: Iterator[bytes]) -> None:
    """Makes the file of its parts."""
    with open(path, "wb") as out:
        writer.assemble(parts, out)


def write_stream(output: str, writer: Writer, parts: Iterator[bytes]) -> None:
    """Writes to standard output (``-``), or to a pipe or a device by its name, as parts come."""
    try:
        if output == "-":
            writer.assemble(parts, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            with open(output, "wb") as out:
                writer.assemble(parts, out)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise disk_error(error, "standard output" if output == "-" else output, 0) from None


def _parts_directory(path: Path) -> Path:
    return path.with_name(path.name + ".parts")


def _named_parameters(writer: Any) -> dict[str, str]:
    """All that decides the parts, by name."""
    context = writer.context
    words = {"version": writer.header.version, "format": writer.name, **writer.header.parameters}
    if writer.name == "matrix":
        words |= {"matrix_values": context.matrix_values}
    words["queries"] = _summary(context.queries)
    if context.targets is not context.queries:
        words["targets"] = _summary(context.targets)
    return words


def _summary(batch: SequenceBatch) -> str:
    return f"{len(batch)} sequences of {int(batch.offsets[-1])} residues, hash {batch.fingerprint()[:8]}"
