"""From a task to its output: tiles in order, parts that survive a kill, and the file by atomic rename."""

from __future__ import annotations

import argparse
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tropalign import __version__
from tropalign.compute.parts import Parts, disk_error, write_archive
from tropalign.compute.queue import run
from tropalign.compute.shard import tiles_of_shard
from tropalign.compute.tile import Task
from tropalign.errors import InputError
from tropalign.formats.writers import Context, Writer


def write_result(task: Task, n_items: int, writer: Writer, context: Context, options: argparse.Namespace) -> None:
    """Computes the task and writes it as the options say."""
    tiles = task.tiles()
    if options.shard is not None:
        if options.output == "-":
            raise InputError("a shard goes to a file that tropalign merge reads: name it with -o")
        tiles = tiles_of_shard(tiles, options.shard)
    with _progress(sum(tile.n_items for tile in tiles), options) as progress:
        if options.output == "-":
            encoded = (
                writer.encode(table, context)
                for _, table in run(task, n_threads=options.threads, tiles=tiles, progress=progress)
            )
            writer.assemble(encoded, sys.stdout.buffer, context)
            sys.stdout.buffer.flush()
            return
        path = Path(options.output)
        _check_place(path)
        manifest: dict[str, Any] = {
            "tropalign": __version__,
            "fingerprint": task.fingerprint(),
            "format": writer.name,
            "parameters": {**context.parameters, "format": writer.name, "version": __version__},
            "matrix": [context.matrix_values, context.matrix_layout],
        }
        if options.shard is not None:
            manifest["shard"] = list(options.shard)
        parts = Parts(path.with_name(path.name + ".parts"), manifest)
        options.parts_kept = str(parts.directory)
        missing = [tile for tile in tiles if not parts.has(tile.index)]
        for tile, table in run(task, n_threads=options.threads, tiles=missing, progress=progress):
            parts.write(tile.index, writer.encode(table, context))
        try:
            if options.shard is not None:
                manifest["context"] = pickle_context(context)
                write_archive(path, manifest, parts, [tile.index for tile in tiles])
            else:
                assemble_file(path, writer, (parts.read(tile.index) for tile in tiles), context)
        except OSError as error:
            raise disk_error(error, path, 0) from None
        parts.remove()


def assemble_file(path: Path, writer: Writer, parts: Iterator[bytes], context: Context) -> None:
    """The whole file under its name, or none."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as out:
            writer.assemble(parts, out, context)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def pickle_context(context: Context) -> str:
    """The context for a shard's manifest."""
    return pickle.dumps(context).hex()


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise InputError("the output is a directory: name a file in it", file=str(path))
    folder = path.parent
    if not folder.is_dir():
        raise InputError("there is no such directory to write to: make it first", file=str(folder))
    if not os.access(folder, os.W_OK):
        raise InputError("no permission to write here", file=str(folder))


class _progress:
    """A progress bar on a terminal's standard error; as a context it gives the function to call, or None."""

    def __init__(self, total: int, options: argparse.Namespace) -> None:
        self._shown = sys.stderr.isatty() and not options.quiet
        self._total = total

    def __enter__(self) -> Any:
        if not self._shown:
            return None
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("pairs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True)
        )
        self._bar.start()
        task = self._bar.add_task("pairs", total=self._total)
        return lambda done: self._bar.update(task, completed=done)

    def __exit__(self, *error: object) -> None:
        if self._shown:
            self._bar.stop()


__all__ = ["BinaryIO", "assemble_file", "pickle_context", "write_result"]
