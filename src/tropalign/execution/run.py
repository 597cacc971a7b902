"""A run, whatever its job: from a task to its files, with resume, shards and progress.

task --tiles--> scheduler --results--> writers --sections--> parts --> the files, each whole or not there
|
a kill leaves them: the same command goes on
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
from tropalign.execution.parts import Parts, PartWriting, parts_directory, recorded_manifest
from tropalign.execution.progress import DISK_FULL, Show, no_progress
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.sections import Blocks, Sections
from tropalign.execution.spool import Spool
from tropalign.execution.task import Device, Task, Tile
from tropalign.machine.memory import default_budget

#: Bytes before all parts, and behind them.
Frame = tuple[bytes, bytes]


class Writer(Protocol):
    """Turns results into a file, by way of parts: what each tile leaves behind, so that a killed run can go on."""

    @property
    def name(self) -> str:
        """The format's name."""

    @property
    def is_binary(self) -> bool:
        """Whether the file is no text for a terminal."""

    @property
    def needs_all(self) -> bool:
        """Whether nothing can be written before the last part is known, or `assemble` goes through them twice."""

    @property
    def frame(self) -> Frame | None:
        """What stands before and behind the parts in the file, where that is these parts one after another."""

    def encode(self, result: Any) -> bytes:
        """Makes the part that the result of one tile leaves behind."""

    def blocks(self, result: Any) -> Iterator[bytes]:
        """Makes that part block by block."""

    def assemble(self, parts: Iterable[bytes], out: BinaryIO) -> None:
        """Writes the file of all parts, in order; with a `frame` their blocks will do."""

    def describe(self) -> dict[str, Any]:
        """Says as JSON what the writer is made of again where shards are merged."""


@runtime_checkable
class InBlocks(Protocol):
    """Sections that can be had in blocks."""

    def blocks(self) -> Iterator[bytes]:
        """Every section, one after another."""


@dataclass(frozen=True)
class StageWriter:
    """Stands for a format where a part is no piece of a file, but what a later stage begins with.

    Attributes
    ----------
    encode
        What one tile leaves behind.
    """

    encode: Callable[[Any], bytes]
    name: str = "work"
    is_binary: bool = True
    needs_all: bool = True
    frame: Frame | None = None

    def blocks(self, result: Any) -> Iterator[bytes]:
        """What one tile leaves behind, in one block."""
        yield self.encode(result)

    def assemble(self, parts: Iterable[bytes], out: BinaryIO) -> None:
        """Never: the verb does it."""
        raise NotImplementedError("the parts of a stage are no file")

    def describe(self) -> dict[str, Any]:
        """Nothing: `RemainingWork` says what is to be done."""
        return {}


@dataclass(frozen=True)
class ShareWriter:
    """A writer that takes its share of results which hold what several files are made of.

    Attributes
    ----------
    share
        The name of that field.
    """

    writer: Writer
    share: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # while it is unpickled
            raise AttributeError(name)
        return getattr(self.writer, name)

    def encode(self, result: Any) -> bytes:
        """What one tile leaves behind."""
        return self.writer.encode(getattr(result, self.share))

    def blocks(self, result: Any) -> Iterator[bytes]:
        """What one tile leaves behind, block by block."""
        return self.writer.blocks(getattr(result, self.share))


@dataclass(frozen=True)
class Output:
    """A file of a run.

    Parameters
    ----------
    role
        What it holds, as shards and ``merge`` call it.
    path
        "-" is standard output.
    """

    role: str
    path: str
    writer: Writer


@dataclass(frozen=True)
class Encoder:
    """Makes a section per output of a result, wherever it was computed.

    Attributes
    ----------
    is_away
        Whether it has travelled to another process, whose sections have to come back: they are made at once. Here
        they are made as they are written.
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
    """What a run came to.

    Attributes
    ----------
    n_items
        Of the whole.
    share
        How much of the whole, by cost, was computed now and not by an earlier run.
    """

    n_items: int
    share: float = 1.0


@dataclass(frozen=True)
class Run:
    """What to compute, and where it goes.

    Parameters
    ----------
    task
        Yields the tiles of the run, or of the shard.
    outputs
        The first one is the run's main file, beside which its parts lie.
    outline
        The tiles, payloads aside; None when the input is a stream, so that the run cannot be taken up again.
    parameters
        By name, for the sentence that says how two runs differ.
    memory_bytes
        What tiles were cut to.
    shard
        (i, n): this is the i-th of n shards, counted from 1.
    unit
        What progress counts, in the plural.
    remaining
        Of a shard whose merging goes on computing: what that has to know.
    fingerprint
        Hash of inputs and parameters, where the parameters alone do not decide the run.
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
        """Computes and writes.

        Parameters
        ----------
        show
            Opens the display of progress (`tropalign.execution.progress`).

        Raises
        ------
        TropalignError
            What the scheduler, a writer or the disk says.
        """
        path = output_path(self.outputs[0].path)
        if path is None or self.outline is None:
            if self.shard is not None:
                raise UsageError("a shard goes to a file that tropalign merge reads: name it with -o")
            total = None if self.outline is None else _n_items(self.outline)
            with show(self.unit, total) as progress:
                return _Stream(self, Scheduler(devices, progress)).write(path)
        with show(self.unit, _n_items(self.outline)) as progress:
            return _Resumable(self, self.outline, Scheduler(devices, progress)).write(path)

    def encoded(self, result: Any) -> list[bytes]:
        """A section for each output."""
        return [b"".join(section) if not isinstance(section, bytes) else section for section in self.encoder(result)]

    @property
    def encoder(self) -> Encoder:
        """What makes sections of results."""
        return Encoder(tuple(output.writer for output in self.outputs))


class _Stream:
    """A run whose result goes to a stream, or whose input is one."""

    def __init__(self, run: Run, scheduler: Scheduler) -> None:
        self.run, self.scheduler = run, scheduler
        self._n_items = 0

    def write(self, path: Path | None) -> Done:
        """Writes the main output as results come where that is possible, the others at the end."""
        outputs = self.run.outputs
        results = self._results()
        with Spool(None if path is None else path.parent) as spool:
            late = list(outputs)
            if path is None and not outputs[0].writer.needs_all:
                late = late[1:]
                self._write_first(results, spool if late else None)
            else:
                for sections in results:
                    spool.write(sections)
            write_outputs(late, lambda output: spool.sections(outputs.index(output)))
        return Done(self._n_items)

    def _results(self) -> Iterator[list[Blocks]]:
        for result in self.scheduler.run([self.run.task], finish=self.run.encoder):
            self._n_items += result.tile.n_items
            yield result.value

    def _write_first(self, results: Iterator[list[Blocks]], spool: Spool | None) -> None:
        first = self.run.outputs[0]

        def firsts() -> Iterator[bytes]:
            for sections in results:
                if spool is not None:
                    spool.write([b"", *sections[1:]])
                yield from [sections[0]] if isinstance(sections[0], bytes) else sections[0]

        parts = firsts()
        begun = list(islice(parts, 1))  # nothing is written where that cannot be computed
        write_stream(first.path, lambda out: first.writer.assemble(chain(_taken(begun), parts), out))


class _Resumable:
    """A run whose parts survive a kill."""

    def __init__(self, run: Run, tiles: Sequence[Tile], scheduler: Scheduler) -> None:
        self.run, self.tiles, self.scheduler = run, tiles, scheduler
        cut = hashlib.sha256(repr([(tile.index, tile.n_items, tile.cost_cells) for tile in tiles]).encode()).hexdigest()
        mark = run.fingerprint or hash_of(run.parameters)
        self.manifest = Manifest(mark, cut, len(tiles), run.parameters, run.memory_bytes, run.shard)

    def write(self, path: Path) -> Done:
        """Goes on where an earlier run stopped, and makes the files of all parts."""
        outputs = self.run.outputs
        indices = [tile.index for tile in self.tiles]
        frames = {} if self.run.shard else _frames_of_parts(outputs, path.parent)
        with Parts(parts_directory(path), self.manifest) as parts:
            try:
                for number in frames:
                    parts.take_back(number, _path_of(outputs[number]))
                finished = parts.finished(indices, len(outputs))
                with _resumable():
                    for number, frame in frames.items():
                        parts.write_head(number, frame[0])
                self._compute(parts, finished)
                with _resumable():
                    if self.run.shard is not None:
                        from tropalign.execution.archive import Description, write_archive

                        described = [Description(output.role, output.writer.describe()) for output in outputs]
                        with made(path, parts.temporary):
                            write_archive(parts.temporary, self.manifest, described, parts, indices, self.run.remaining)
                    else:
                        found = [parts.sections(number, indices) for number in range(len(outputs))]
                        ready = _ready_files(parts, indices, frames)
                        write_outputs(outputs, lambda output: found[outputs.index(output)], parts.temporary, ready)
            except BrokenPipeError:  # of an output beside the files, which are made
                parts.finish()
                raise
            except KeyboardInterrupt:
                if parts.is_empty():
                    raise
                raise KeyboardInterrupt(
                    f"interrupted: the same command goes on where this one stopped ({parts.directory} has what is done)"
                ) from None
            parts.finish()
        whole = sum(tile.cost_cells for tile in self.tiles)
        done_before = sum(tile.cost_cells for tile in self.tiles if tile.index in finished)
        return Done(_n_items(self.tiles), 1 - done_before / whole if whole else 1.0)

    def _compute(self, parts: Parts, finished: set[int]) -> None:
        results = self.scheduler.run(
            [self.run.task], skip=lambda tile: tile.index in finished, finish=self.run.encoder, in_order=False
        )

        with _resumable(), PartWriting(parts) as writing:
            for result in results:
                writing.put(result.tile.index, result.value)
                del result  # whose table would stay while the next one is made


def _taken(items: list[Any]) -> Iterator[Any]:
    """The items, each let go when it is given."""
    while items:
        yield items.pop(0)


def _n_items(tiles: Sequence[Tile]) -> int:
    return sum(tile.n_items for tile in tiles)


def _path_of(output: Output) -> Path:
    path = output_path(output.path)
    assert path is not None
    return path


def _frames_of_parts(outputs: Sequence[Output], folder: Path) -> dict[int, Frame]:
    """What stands before and behind the parts of each output whose file can be that of its parts, in that folder."""
    found = {}
    for number, output in enumerate(outputs):
        path, frame = output_path(output.path), output.writer.frame
        if path is not None and frame is not None and path.parent == folder and not is_compressed(path):
            found[number] = frame
    return found


def _ready_files(parts: Parts, indices: Sequence[int], frames: dict[int, Frame]) -> dict[int, Path]:
    """The files of sections which are whole outputs now, by the outputs' numbers."""
    found = {}
    for number, frame in frames.items():
        path = parts.as_file(number, indices, *frame)
        if path is not None:
            found[number] = path
    return found


def write_outputs(
    outputs: Sequence[Output],
    sections: Any,
    temporary: Path | None = None,
    ready: Mapping[int, Path] | None = None,
) -> None:
    """Makes files of their sections; none has its name before all are made.

    Parameters
    ----------
    sections
        Gives the sections of an output; they can be gone through several times.
    temporary
        Where the first file is made; beside it by default.
    ready
        Files that are made already, by the numbers of their outputs.

    Raises
    ------
    BrokenPipeError
        The reader of a stream stopped; all files are made.
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
    """Writes a file of its parts, which may be read in blocks or copied where they stand in it as they are."""
    frame = writer.frame
    if frame is not None and may_copy and isinstance(parts, Sections):
        out.write(frame[0])
        parts.copy_to(out)
        out.write(frame[1])
    else:
        writer.assemble(parts.blocks() if frame is not None and isinstance(parts, InBlocks) else parts, out)


@contextmanager
def _resumable() -> Iterator[None]:
    """A full disk in this block costs nothing of what is done; the error says so."""
    try:
        yield
    except ResourceError as error:
        if error.failure == DISK_FULL:
            error.args = (f"{error}; the same command then goes on where this one stopped",)
        raise


def memory_allowed(asked_bytes: int | None, output: str) -> int:
    """What was asked for; else what a run that this one goes on with had, as tiles were cut to it; else the default."""
    if asked_bytes is not None:
        return asked_bytes
    path = output_path(output)
    earlier = None if path is None else recorded_manifest(parts_directory(path))
    return default_budget() if earlier is None else earlier.memory_bytes
