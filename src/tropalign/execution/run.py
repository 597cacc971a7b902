"""A run of any job: from a task to its files, with resume, shards and progress.

task --tiles--> scheduler --results--> writers --sections--> parts --> the files, each complete or absent
|
a kill leaves the parts: the same command resumes from them
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from tropalign.errors import ResourceError, UsageError
from tropalign.execution.files import is_compressed, made, output_path, renamed, write_stream, written
from tropalign.execution.manifest import Manifest, RemainingWork, Shard, hash_of
from tropalign.execution.parts import Blocks, Parts, PartWriting, Sections, Spool, parts_directory, recorded_manifest
from tropalign.execution.progress import DISK_FULL, Show, no_progress
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import Device, Task, Tile
from tropalign.resources.limits import default_budget

#: Bytes before and after all parts.
Frame = tuple[bytes, bytes]


class Writer(Protocol):
    """Converts results to a file via parts, the output of each tile, so that a killed run can resume."""

    @property
    def name(self) -> str:
        """Name of the format."""

    @property
    def is_binary(self) -> bool:
        """True if the file is not printable on a terminal."""

    @property
    def needs_all(self) -> bool:
        """True if writing must wait for the last part, or `assemble` iterates over the parts twice."""

    @property
    def frame(self) -> Frame | None:
        """Texts before and after the parts, if the file is their concatenation; otherwise None."""

    def encode(self, result: Any) -> bytes:
        """Encode a tile's result as a part."""

    def blocks(self, result: Any) -> Iterator[bytes]:
        """Yield a tile's part in blocks."""

    def assemble(self, parts: Iterable[bytes], out: BinaryIO) -> None:
        """Write the file from all parts in order; with a `frame`, any blocks of their concatenation."""

    def describe(self) -> dict[str, Any]:
        """Return a JSON-able description from which merging recreates the writer."""


@runtime_checkable
class InBlocks(Protocol):
    """Sections that can be read in blocks."""

    def blocks(self) -> Iterator[bytes]:
        """Yield the concatenated sections in blocks."""


@dataclass(frozen=True)
class StageWriter:
    """Writer whose parts are not pieces of a file but the input of a later stage; `encode` makes a tile's part."""

    encode: Callable[[Any], bytes]
    name: str = "work"
    is_binary: bool = True
    needs_all: bool = True
    frame: Frame | None = None

    def blocks(self, result: Any) -> Iterator[bytes]:
        """Yield a tile's part in one block."""
        yield self.encode(result)

    def assemble(self, parts: Iterable[bytes], out: BinaryIO) -> None:
        """Raise NotImplementedError: the verb uses the parts."""
        raise NotImplementedError("the parts of a stage do not form a file")

    def describe(self) -> dict[str, Any]:
        """Return an empty description: `RemainingWork` describes what is left."""
        return {}


@dataclass(frozen=True)
class ShareWriter:
    """Writer of the attribute `share` of results, each of which serves several files."""

    writer: Writer
    share: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # during unpickling
            raise AttributeError(name)
        return getattr(self.writer, name)

    def encode(self, result: Any) -> bytes:
        """Encode a tile's result as a part."""
        return self.writer.encode(getattr(result, self.share))

    def blocks(self, result: Any) -> Iterator[bytes]:
        """Yield a tile's part in blocks."""
        return self.writer.blocks(getattr(result, self.share))


@dataclass(frozen=True)
class Output:
    """Output file of a run; `role` is its name in shards and for ``merge``, `path` "-" is standard output."""

    role: str
    path: str
    writer: Writer


@dataclass(frozen=True)
class Encoder:
    """Callable that makes a section per output from a result, on any machine.

    `is_away` is True in another process: there sections are made at once, because they have to be sent back; here
    they are made while they are written.
    """

    writers: tuple[Writer, ...]
    is_away: bool = False

    def __call__(self, result: Any) -> list[Blocks]:
        if self.is_away:
            return [b"".join(writer.blocks(result)) for writer in self.writers]
        return [writer.blocks(result) for writer in self.writers]

    def __reduce__(self) -> tuple[type[Encoder], tuple[Any, ...]]:
        return Encoder, (self.writers, True)


@dataclass(frozen=True)
class Done:
    """Summary of a run: total items, and the `share` of the cost computed now rather than by an earlier run."""

    n_items: int
    share: float = 1.0


@dataclass(frozen=True)
class Run:
    """A task with its outputs and everything that makes it resumable.

    - `task`: yields the tiles of the run or shard.
    - `outputs`: the first one is the main file, next to which the parts are stored.
    - `outline`: the tiles without payloads; None if the input is a stream, so that the run cannot be resumed.
    - `parameters`: by name, for the message about how two runs differ.
    - `memory_bytes`: memory limit for which tiles were cut.
    - `shard`: (i, n): the i-th of n shards, counted from 1.
    - `unit`: name of the items that progress counts, in the plural.
    - `remaining`: for shards whose merging continues to compute: the work that is left.
    - `fingerprint`: hash of inputs and parameters, if the parameters alone do not identify the run.
    """

    task: Task
    outputs: Sequence[Output]
    outline: Sequence[Tile] | None
    parameters: dict[str, str]
    memory_bytes: int
    shard: Shard | None = None
    unit: str = "items"
    remaining: RemainingWork | None = None
    fingerprint: str | None = None

    def compute(self, devices: Sequence[Device], show: Show = no_progress) -> Done:
        """Compute and write the outputs; `show` opens the progress display (`tropalign.execution.progress`).

        Raises TropalignError from the scheduler, a writer or the disk.
        """
        path = output_path(self.outputs[0].path)
        if path is None or self.outline is None:
            if self.shard is not None:
                raise UsageError("a shard must be written to a file, for tropalign merge: name it with -o")
            total = None if self.outline is None else _n_items(self.outline)
            with show(self.unit, total) as progress:
                return _write_streams(self, Scheduler(devices, progress), path)
        with show(self.unit, _n_items(self.outline)) as progress:
            return _write_files(self, self.outline, Scheduler(devices, progress), path)

    def encoded(self, result: Any) -> list[bytes]:
        """Return a section for each output."""
        return [b"".join(section) if not isinstance(section, bytes) else section for section in self.encoder(result)]

    @property
    def encoder(self) -> Encoder:
        """Encoder of results into sections."""
        return Encoder(tuple(output.writer for output in self.outputs))


def _write_streams(run: Run, scheduler: Scheduler, path: Path | None) -> Done:
    """Compute a run with a stream as input or main output; a main output is written as results arrive if possible."""
    outputs, n_items = run.outputs, 0

    def results() -> Iterator[list[Blocks]]:
        nonlocal n_items
        for result in scheduler.run([run.task], finish=run.encoder):
            n_items += result.tile.n_items
            yield result.value

    def firsts(keeps_others: bool) -> Iterator[bytes]:
        for sections in results():
            if keeps_others:
                spool.write([b"", *sections[1:]])
            yield from [sections[0]] if isinstance(sections[0], bytes) else sections[0]

    with Spool(None if path is None else path.parent) as spool:
        late = list(outputs)
        if path is None and not outputs[0].writer.needs_all:
            first = late.pop(0)
            parts = firsts(keeps_others=bool(late))
            begun = list(islice(parts, 1))  # nothing is written if the first part cannot be computed
            write_stream(first.path, lambda out: first.writer.assemble(chain(_consumed(begun), parts), out))
        else:
            for sections in results():
                spool.write(sections)
        write_outputs(late, lambda output: spool.sections(outputs.index(output)))
    return Done(n_items)


def _write_files(run: Run, tiles: Sequence[Tile], scheduler: Scheduler, path: Path) -> Done:
    """Compute a run whose parts survive a kill: resume an earlier one if there is one, and make the files."""
    outputs, indices = run.outputs, [tile.index for tile in tiles]
    cut = hashlib.sha256(repr([(tile.index, tile.n_items, tile.cost_cells) for tile in tiles]).encode()).hexdigest()
    mark = run.fingerprint or hash_of(run.parameters)
    manifest = Manifest(mark, cut, len(tiles), run.parameters, run.memory_bytes, run.shard)
    frames: dict[int, tuple[Path, Frame]] = {}  # uncompressed outputs in the folder: renamed section files
    for number, output in enumerate(() if run.shard else outputs):
        place, frame = output_path(output.path), output.writer.frame
        if place is not None and frame is not None and place.parent == path.parent and not is_compressed(place):
            frames[number] = place, frame
    with Parts(parts_directory(path), manifest) as parts:
        try:
            for number, (place, _) in frames.items():
                parts.take_back(number, place)
            finished = parts.finished(indices, len(outputs))
            with _resumable():
                for number, (_, frame) in frames.items():
                    parts.write_head(number, frame[0])
            results = scheduler.run(
                [run.task], skip=lambda tile: tile.index in finished, finish=run.encoder, in_order=False
            )
            with _resumable(), PartWriting(parts) as writing:
                for result in results:
                    writing.put(result.tile.index, result.value)
                    del result  # frees the result's table before the next one is made
            with _resumable():
                if run.shard is not None:
                    from tropalign.execution.archive import Description, write_archive

                    described = [Description(output.role, output.writer.describe()) for output in outputs]
                    with made(path, parts.temporary):
                        write_archive(parts.temporary, manifest, described, parts, indices, run.remaining)
                else:
                    found = [parts.sections(number, indices) for number in range(len(outputs))]
                    complete = {number: parts.as_file(number, indices, *frame) for number, (_, frame) in frames.items()}
                    ready = {number: file for number, file in complete.items() if file is not None}
                    write_outputs(outputs, lambda output: found[outputs.index(output)], parts.temporary, ready)
        except BrokenPipeError:  # the reader of a stream output has ended: the files are complete
            parts.finish()
            raise
        except KeyboardInterrupt:
            if parts.is_empty():
                raise
            raise KeyboardInterrupt(
                f"interrupted: the same command goes on where this one stopped ({parts.directory} has what is done)"
            ) from None
        parts.finish()
    whole = sum(tile.cost_cells for tile in tiles)
    done_before = sum(tile.cost_cells for tile in tiles if tile.index in finished)
    return Done(_n_items(tiles), 1 - done_before / whole if whole else 1.0)


def _consumed(items: list[Any]) -> Iterator[Any]:
    """Yield the items, and release each when it is yielded."""
    while items:
        yield items.pop(0)


def _n_items(tiles: Sequence[Tile]) -> int:
    return sum(tile.n_items for tile in tiles)


def write_outputs(
    outputs: Sequence[Output],
    sections: Any,
    temporary: Path | None = None,
    ready: Mapping[int, Path] | None = None,
) -> None:
    """Write files from their sections; no file is renamed before all are complete.

    `sections` returns an output's sections, which can be iterated several times. `temporary` is the first file's
    path meanwhile, by default next to it; `ready` are files that are already complete, by output number.
    Raises BrokenPipeError, with all files complete, if the reader of a stream stopped.
    """
    stopped: BrokenPipeError | None = None
    with ExitStack() as files:
        # Streams come last: nothing is printed if a file cannot be made.
        for number, output in sorted(enumerate(outputs), key=lambda each: output_path(each[1].path) is None):
            path = output_path(output.path)
            parts = sections(output)
            if path is None:
                try:
                    write_stream(output.path, lambda out, w=output.writer, p=parts: _assemble(w, p, out))  # type: ignore[misc]
                except BrokenPipeError as error:
                    stopped = error
            elif ready is not None and number in ready:
                files.enter_context(renamed(ready[number], path))
            else:
                out = files.enter_context(written(path, temporary if number == 0 else None))
                _assemble(output.writer, parts, out, may_copy=not is_compressed(path))
    if stopped is not None:
        raise stopped


def _assemble(writer: Writer, parts: Any, out: BinaryIO, may_copy: bool = False) -> None:
    """Write a file from its parts, which are read in blocks or copied if the file contains them unchanged."""
    frame = writer.frame
    if frame is not None and may_copy and isinstance(parts, Sections):
        out.write(frame[0])
        parts.copy_to(out)
        out.write(frame[1])
    else:
        writer.assemble(parts.blocks() if frame is not None and isinstance(parts, InBlocks) else parts, out)


@contextmanager
def _resumable() -> Iterator[None]:
    """Add to disk-full errors in this block that finished work is kept."""
    try:
        yield
    except ResourceError as error:
        if error.failure == DISK_FULL:
            error.args = (f"{error}; the same command then goes on where this one stopped",)
        raise


def memory_allowed(asked_bytes: int | None, output: str) -> int:
    """Return the requested memory, else the resumed run's, to which its tiles were cut, else the default."""
    if asked_bytes is not None:
        return asked_bytes
    path = output_path(output)
    earlier = None if path is None else recorded_manifest(parts_directory(path))
    return default_budget() if earlier is None else earlier.memory_bytes
