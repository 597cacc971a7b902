"""Base of every verb (inputs, options and outputs as fields, and a run), the options that many share, and their use."""

from __future__ import annotations

import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar, cast

from tropalign.devices.registry import check_address, check_device_name
from tropalign.errors import InputError, UsageError, counted, shown
from tropalign.execution.manifest import Shard, parse_shard
from tropalign.options.option import Conditions, Kind, Option, Options, grouped, option, whole
from tropalign.resources.limits import MOST_THREADS, parse_bytes

if TYPE_CHECKING:
    from tropalign.execution.archive import Shards
    from tropalign.execution.progress import Show
    from tropalign.execution.run import Output, Run
    from tropalign.execution.task import Device
    from tropalign.formats.format import Context, Format, Header

T = TypeVar("T")
#: Sentences on options that exclude others.
WITHOUT_EFFECT = "{other} has no effect with {this}: leave {other} out"
#: Options that change how and where a run works, but not its results.
RUN_OPTIONS = (
    "output", "no_comments", "no_header", "threads", "memory", "device", "cluster", "shard", "quiet", "dry_run"
)  # fmt: skip


class Refused(UsageError):
    """Options of a command do not go together.

    `sentence` is the reason and the remedy; `verb` is the one whose help says more, such as "db build".
    """

    def __init__(self, sentence: str, verb: str) -> None:
        super().__init__(sentence)
        self.verb = verb


@dataclass(frozen=True, kw_only=True)
class Served:
    """Additional declarations for a server's forms and API.

    title: text of a button.
    kind: kind of the main output in `formats.format`; empty if there is only one format.
    format: the only format of a verb whose output has no kind.
    never_formats: formats that the verb always rejects.
    is_resumable: true if a stopped job continues with the parts that it left.
    example, example_options: files of ``examples/`` by input, and options for them.
    """

    title: str
    kind: str
    format: Format | None = None
    never_formats: tuple[str, ...] = ()
    is_resumable: bool = False
    example: Mapping[str, str] = field(default_factory=dict)
    example_options: Mapping[str, object] = field(default_factory=dict)


class Command(Options):
    """A verb with the values of its options.

    verb: as typed: "pairs", "db build".
    summary, description, example: line in the list of verbs; start and end of the help.
    served: None if no server runs it.
    no_shards: reason for the absence of ``--shard``, if users might look for it.
    takes_stdin: true if several files are joined for it by ``cat``.
    finishes: options of the additional files that `finish` makes of shards, if the verb has such a method.
    actions: subcommands of a verb that does nothing by itself: ``db build``.
    group_texts: texts below headings of its help.
    each_input, each_power, each_refuses: for ``--each``, the input of which there are many; the exponent of the
        cost's growth with its size; options that are not available per file.
    """

    verb: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    description: ClassVar[str] = ""
    example: ClassVar[str] = ""
    served: ClassVar[Served | None] = None
    no_shards: ClassVar[str] = ""
    takes_stdin: ClassVar[bool] = False
    finishes: ClassVar[tuple[str, ...]] = ()
    actions: ClassVar[tuple[type[Command], ...]] = ()
    group_texts: ClassVar[Mapping[str, str]] = {}
    each_input: ClassVar[str] = ""
    each_power: ClassVar[int] = 1
    each_refuses: ClassVar[tuple[str, ...]] = ()

    def run(self) -> None:
        """Read, compute and write."""
        raise NotImplementedError

    def is_given(self, condition: str) -> bool:
        """True if an option of "a|b" differs from its default; for "a=x|y", if it has one of these values."""
        names, _, values = condition.partition("=")
        for name in names.split("|"):
            one, value = self.declared().get(name), getattr(self, name, None)
            is_set = one is not None and value not in (None, "", one.default) and value is not False
            if is_set and (not values or value in values.split("|")):
                return True
        return False

    def check(self) -> Any:
        """Reject options that do not go together before anything is read, by their declarations. Raises Refused."""
        from tropalign.formats.format import suffix_of

        declared = self.declared()
        given = [one for name, one in declared.items() if self.is_given(name)]
        for one in given:
            value = getattr(self, one.name)
            for condition, sentence in conditions(one.needs):
                if not self.is_given(condition):
                    names, _, values = condition.partition("=")
                    *others, last = [f"{declared[name].flag} {values}".rstrip() for name in names.split("|")]
                    needed = f"{', '.join(others)} or {last}: add one of them" if others else f"{last}: add it"
                    self.refuse(sentence or f"{one.flag} needs {needed}, or leave {one.flag} out")
            this = one.flag if one.choices is None else f"{one.flag} {value}"
            for condition, sentence in self.exclusions(one):
                if condition != one.name and self.is_given(condition):
                    other = declared[condition.partition("=")[0]].flag
                    self.refuse((sentence or WITHOUT_EFFECT).format(this=this, other=other))
            if one.role == "output" and one.suffix.endswith((".html", ".hmm")):
                ending = f".{one.suffix.rpartition('.')[2]}"
                if suffix_of(value) not in ("", ending, ending.removesuffix("l")):
                    self.refuse(
                        f"{one.flag} {value}: end the name in {ending} (or in {ending}.gz or similar to compress it)"
                    )
        self.check_stdin([path for one in given if one.role == "input" for path in listed(getattr(self, one.name))])

    def exclusions(self, one: Option) -> list[tuple[str, str]]:
        """Return the options that a given one excludes, and sentences."""
        return list(conditions(one.excludes))

    def leave_out(self, reason: str, names: Iterable[str]) -> None:
        """Reject the options that are given; `reason` depends on the values of other options."""
        for name in filter(self.is_given, names):
            self.refuse(f"{reason}: leave {self.declared()[name].flag} out")

    def check_stdin(self, paths: Sequence[str]) -> None:
        """Reject standard input that is named more than once."""
        if paths.count("-") > 1:
            self.refuse("standard input can be read only once: name - once")

    def refuse(self, sentence: str) -> NoReturn:
        """Raise `Refused`, with the verb whose help says more."""
        raise Refused(sentence, self.verb)

    def command_line(self, **settled: str | None) -> str:
        """Return the command in canonical form, for headers, without RUN_OPTIONS, which change no result.

        `settled`: values of options that follow from others, like the format from a suffix.
        """
        files, words = self._asked_for(RUN_OPTIONS, settled)
        return shlex.join(["tropalign", *self.verb.split(), *files, *(word for option in words for word in option)])

    def replayed(self, **settled: str | None) -> list[str]:
        """Return words that recreate an equal command; `settled` as in `command_line`."""
        ignored = tuple(name for name in RUN_OPTIONS if name not in ("no_comments", "no_header"))
        files, words = self._asked_for(ignored, settled)
        return [self.verb.split()[-1], *("=".join(option) for option in words), "--", *files]

    @classmethod
    def from_replayed(cls, words: Sequence[str]) -> Self:
        """Recreate a command from the words of `replayed`, without the verb. Raises ValueError for other words."""
        end = words.index("--")
        flags = {flag: one for one in cls.declared().values() for flag in one.typed}
        found: dict[str, Any] = {}
        for word in words[:end]:
            flag, equals, text = word.partition("=")
            one = flags.get(flag)
            if one is None or one.is_flag == bool(equals):
                raise ValueError(f"{flag} is not an option of {cls.verb}")
            value = True if one.is_flag else text if one.kind is None else one.kind.parse(text)
            found[one.name] = [*found.get(one.name, ()), value] if one.many is not None else value
        files = list(words[end + 1 :])
        for one in (one for one in cls.declared().values() if not one.typed):
            if one.many in (None, "?") and files:
                found[one.name] = files.pop(0)
            elif one.many not in (None, "?"):
                found[one.name], files = files or None, []
        return cls(**{name: value for name, value in found.items() if value is not None})

    def _asked_for(
        self, ignored: Sequence[str], settled: Mapping[str, str | None]
    ) -> tuple[list[str], list[list[str]]]:
        """Return the files, and each option with its value."""
        files: list[str] = []
        words: list[list[str]] = []
        for one in in_order_of_help(self.declared().values()):
            value = settled.get(one.name, getattr(self, one.name))
            if value is None or value == one.default or one.name in ignored:
                continue
            if not one.typed:
                files += map(str, listed(value))
            elif one.is_flag:
                words.append([one.typed[-1]])
            else:
                words += [[one.typed[-1], str(word)] for word in listed(value)]
        return files, words

    def places(self) -> dict[str, str]:
        """Return the paths of the output files, by the names of their options."""
        names = [
            name
            for name, one in self.declared().items()
            if name == "output" or (one.role == "output" and not one.follows_main)
        ]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def finish(self, shards: Shards, places: Mapping[str, str]) -> None:
        """Do the last stages of a run whose shards `merge` joins.

        `shards` are those of an equal command, except that output and resources are those of `merge`; `places` as
        in `places`.
        """
        raise NotImplementedError


def conditions(said: Conditions) -> Iterable[tuple[str, str]]:
    """Return each condition of an option with the sentence of its error, or ""."""
    if isinstance(said, Mapping):
        return said.items()
    return [(name, "") for name in ([said] if isinstance(said, str) else said)]


def listed(value: Any) -> list[Any]:
    """Return the values of an option that may be given several times."""
    return list(value) if isinstance(value, list | tuple) else [value]


#: Shared by the commands of one ``--each`` run while it lasts.
_read: dict[Hashable, Any] | None = None
_reading = threading.Lock()


@contextmanager
def reading_once() -> Iterator[None]:
    """Make `read_once` read nothing twice within the block, in all threads."""
    global _read
    mine: dict[Hashable, Any] = {}
    _read = mine
    try:
        yield
    finally:
        if _read is mine:
            _read = None


def read_once(key: Hashable, read: Callable[[], T]) -> T:
    """Return the result of `read`, shared for equal keys within `reading_once`; do not change it."""
    known = _read  # another run in this process may end meanwhile
    if known is None:
        return read()
    with _reading:
        if key not in known:
            known[key] = read()
        return cast("T", known[key])


def in_order_of_help(options: Iterable[Option]) -> list[Option]:
    """Sort options as in the help: positional ones first, then group by group."""
    listed = list(options)
    places = [one for one in listed if not one.typed]
    return [*places, *(one for group in grouped(listed).values() for one in group if one.typed)]


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Add the file name to errors of its content."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(str(error), file=file) from None


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
