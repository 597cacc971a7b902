r"""``--each``: a verb over many files in one process, with the results of one command per file.

    files --a command each--> tiles of one --> slots of a thread each --> outputs in a folder
                |                                                     \-> rows of a table
                +-- the largest one after another, with all threads

Files that take more than their share of the time run alone, with all threads and all memory; the others run one
per thread, the largest first, each with a share of the memory. A file that does not fit its share runs again
alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tropalign import __version__
from tropalign.errors import InputError, ResourceError, TropalignError, counted, shown
from tropalign.execution.files import disk_error, hold, release_outputs, write_to
from tropalign.execution.manifest import hash_of
from tropalign.execution.progress import DISK_FULL, Show, progress_bar, status_only, unwatched
from tropalign.execution.task import Progress, Tile
from tropalign.resources.limits import PROCESS_BYTES
from tropalign.verbs.command import Command, reading_once

if TYPE_CHECKING:
    from tropalign.execution.manifest import Shard

#: Approximate ratio of decompressed to compressed size.
PACKED_TIMES = 4
#: Suffixes that `stem_of` removes before the last one.
PACKED = (".gz", ".bz2", ".xz", ".zst")


class SomeFailed(TropalignError):
    """Some of the files could not be used; all others are done."""

    exit_code = 5


class Work(NamedTuple):
    """A file, the command that makes its outputs, and its relative cost."""

    file: str
    command: Command
    cost: int


class EachTask:
    """Task with a tile per file."""

    def __init__(self, works: Sequence[Work], memory_bytes: int) -> None:
        self._works, self._memory_bytes = list(works), memory_bytes
        self._folder = os.getcwd()

    def tiles(self) -> Iterator[Tile]:
        """Yield the files in the given order."""
        for index, work in enumerate(self._works):
            yield Tile(index, work.cost, 0, 1, None)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Outcome:
        """Process a file and return the outcome; errors are not raised, so that the other files continue."""
        if os.getcwd() != self._folder:  # on a remote worker: paths are relative to the original folder
            try:
                os.chdir(self._folder)
            except OSError:
                sentence = f"a worker has no access to {self._folder}: --each needs a folder that all machines share"
                return Outcome(3, sentence)
        work = self._works[tile.index]
        return outcome_of(work.command, work.file, n_threads, self._memory_bytes)


class Slots:
    """The CPU as `n_workers` slots, each with one thread and file."""

    name = "cpu"

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers

    def compute(self, task: Any, tile: Tile, progress: Progress | None = None) -> Any:
        """Process a file and return the outcome."""
        return task.on_cpu(tile, 1, progress)


#: The file of the current thread, for its warnings.
_current = threading.local()


def outcome_of(command: Command, file: str, n_threads: int, memory_bytes: int) -> Outcome:
    """Hash a file, then run its command. Errors become sentences, except those that concern no file."""
    content = hash_of_file(file)
    return _run_file(command, file, n_threads, memory_bytes)._replace(content=content)


def _run_file(command: Command, file: str, n_threads: int, memory_bytes: int) -> Outcome:
    from tropalign.execution.parts import parts_directory, recorded_manifest

    _current.file = file
    try:
        earlier = recorded_manifest(parts_directory(Path(os.path.realpath(getattr(command, "output")))))  # noqa: B009
        if earlier is not None and earlier.memory_bytes <= memory_bytes:  # its tiles were cut for that memory
            memory_bytes = earlier.memory_bytes
        with unwatched():
            command.replaced(**_known(command, threads=n_threads, memory=memory_bytes)).run()
        return Outcome()
    except TropalignError as error:
        is_full = error.failure == DISK_FULL
        return Outcome(error.exit_code, str(error), isinstance(error, ResourceError) and not is_full, is_full)
    except MemoryError:
        return Outcome(4, "out of memory: give a lower limit with --memory, so that less is held at once", True)
    except OSError as error:
        return Outcome(4, f"{error.filename or file}: operating system error ({error.strerror or error})")
    except Exception as error:
        return Outcome(1, f"{type(error).__name__}: {error}: this is a defect of tropalign")
    finally:
        _current.file = None
        release_outputs()


def _known(command: Command, **values: Any) -> dict[str, Any]:
    """Return the values of the options that the verb has."""
    return {name: value for name, value in values.items() if name in command.declared()}


def stem_of(file: str) -> str:
    """Return the name of a file without folders, compression suffix, and the last other suffix."""
    path = Path(file)
    while path.suffix.lower() in PACKED:
        path = path.with_suffix("")
    return path.stem


def stems_of(files: Sequence[str]) -> dict[str, str]:
    """Return the name of each file's outputs: its stem, with folders if another file has this stem.

    Folders that all of these files share are omitted. Files without different folders keep their stem.

    >>> list(stems_of(["run1/x.fa", "run2/x.fa", "run1/y.fa"]).values())
    ['run1_x', 'run2_x', 'y']
    """
    by_stem: dict[str, list[str]] = {}
    for file in files:
        by_stem.setdefault(stem_of(file), []).append(file)
    found = {file: stem_of(file) for file in files}
    for alike in by_stem.values():
        folders = [Path(os.path.abspath(file)).parent for file in alike]
        if len(set(folders)) == len(alike) > 1:
            shared = os.path.commonpath(folders)
            for file, folder in zip(alike, folders, strict=True):
                found[file] = "_".join((*folder.relative_to(shared).parts, found[file]))
    return found


class Each:
    """A verb over many files; in `command`, the input is the first of them."""

    def __init__(self, command: Command, files: Sequence[str]) -> None:
        self._command, self._asked = command, list(files)
        self._folder = Path(self._value("output"))
        self._hashes: dict[str, str] = {}  # hashes of the files that all commands read
        self._stems: dict[str, str] = {}  # output stem of each file

    def run(self) -> None:
        """Process all files that are not done yet. Raises SomeFailed after the last one."""
        self._check()
        files = self._files()
        self._stems = stems_of(files)
        works = [Work(file, self._command_for(file), self._cost(file)) for file in files]
        self._check_names(works)
        works[0].command.check()
        if self._value("shard") is not None:
            number, count = self._value("shard")
            works = works[number - 1 :: count]
        if not self._value("dry_run"):
            self._make_folder()
        records = Records(self._folder, self._value("shard"))
        self._hashes = {path: hash_of_file(path) for path in self._read_by_all()}
        if self._value("dry_run"):
            left = self._unfinished(works, records, lambda done: None)
            n_bytes = sum(os.path.getsize(work.file) for work in left if os.path.isfile(work.file))
            print(f"files    {len(works):,}, {len(works) - len(left):,} of them done; {n_bytes:,} bytes remain")
            print(f"output   {self._folder}")
            return
        found = dict.fromkeys((work.file for work in works), Outcome())
        begin = time.perf_counter()
        with self._watched(len(works)) as progress, _prefixing_warnings(), reading_once(), records.held():
            left = self._unfinished(works, records, progress)
            try:
                for work, outcome in self._outcomes(left, len(works) - len(left), progress):
                    if outcome.ends_all:
                        goes_on = "the same command continues where this one stopped"
                        error = ResourceError(f"{outcome.message}; {goes_on}")
                        error.failure = DISK_FULL
                        raise error
                    found[work.file] = outcome
                    if not outcome.code:
                        records.add(work.file, self._work_hash(work, outcome.content), self._outputs(work.command))
            except KeyboardInterrupt:
                raise KeyboardInterrupt("interrupted: the same command continues where this one stopped") from None
        outputs = {work.file: Path(getattr(work.command, "output")) for work in works}  # noqa: B009
        records.finish([work.file for work in works], outputs, found)
        self._tell(records, found, len(left), time.perf_counter() - begin)

    def _unfinished(self, works: Sequence[Work], records: Records, progress: Callable[[int], None]) -> list[Work]:
        """Return the works that no earlier run has done; only files with a record are hashed now."""
        left: list[Work] = []
        for n_seen, work in enumerate(works):
            file = work.file
            if not (records.is_known(file) and records.is_done(file, self._work_hash(work, hash_of_file(file)))):
                left.append(work)
            progress(n_seen + 1 - len(left))
        return left

    def _tell(self, records: Records, found: dict[str, Outcome], n_left: int, seconds: float) -> None:
        from tropalign.verbs.command import print_summary

        n_failed = sum(outcome.code != 0 for outcome in found.values())
        if n_failed:
            sentences = {outcome.message for outcome in found.values() if outcome.code}
            why = sentences.pop() if len(sentences) == 1 else f"see {records.table}"
            raise SomeFailed(f"{n_failed:,} of {counted(len(found), 'files')} failed: {why}")
        if not self._value("quiet"):
            print_summary(f"{n_left:,} of {counted(len(found), 'files')}", seconds, 0, [str(records.table)])

    def _value(self, name: str) -> Any:
        """Return the value of an option, or None if the verb does not have it."""
        return getattr(self._command, name, None)

    # Checks and preparation.

    def _check(self) -> None:
        refuse = self._command.refuse
        if self._value("output") == "-":
            refuse("--each writes files into a folder: name it with -o")
        if "-" in self._asked:
            refuse("--each takes files, not standard input: leave - out")
        for name in self._command.each_refuses:
            if self._value(name) != self._command.declared()[name].default:
                refuse(f"{self._command.declared()[name].typed[-1]} is not supported with --each: leave it out")
        for path in self._read_by_all():
            if path == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):
                named = "standard input" if path == "-" else path
                refuse(f"{named} can be read only once, but each of the files needs it: write it to a file")
        for name in self._side_outputs():
            one, ending = self._command.declared()[name], self._value(name)
            if ending is not None and (ending[:1] not in (".", "_", "-") or "/" in ending or len(ending) < 2):
                flag = one.typed[-1]
                refuse(f"{flag} {ending}: with --each, give the suffix of these files, as in {flag} {one.suffix}")

    def _read_by_all(self) -> list[str]:
        """Return the input files that all commands read."""
        read: list[str] = []
        for one in self._command.declared().values():
            if one.role == "input" and one.name != self._command.each_input:
                value = self._value(one.name)
                read += [value] if isinstance(value, str) else value or []
        return read

    def _side_outputs(self) -> list[str]:
        """Return the options of additional output files."""
        declared = self._command.declared().values()
        return [one.name for one in declared if one.role == "output" and not one.follows_main]

    def _files(self) -> list[str]:
        """Return the files without the output folder, which a shell pattern may include."""
        folder = os.path.realpath(self._folder)
        files = [file for file in self._asked if os.path.realpath(file) != folder]
        inside = next((file for file in files if Path(os.path.realpath(file)).is_relative_to(folder)), None)
        if inside is not None:
            self._command.refuse(f"{inside} is in the output folder {self._folder}: name another folder with -o")
        if not files:
            self._command.refuse("no file is named besides the folder of -o: name input files")
        return files

    def _command_for(self, file: str) -> Command:
        """Return the command for a file."""
        base = str(self._folder / self._stems[file])
        values: dict[str, Any] = {
            name: f"{base}{self._value(name)}" for name in self._side_outputs() if self._value(name) is not None
        }
        single = self._command.declared()[self._command.each_input].many is None
        values[self._command.each_input] = file if single else [file]
        own = {"each": False, "shard": None, "cluster": None, "quiet": True, "output": f"{base}{self._ending}"}
        return self._command.replaced(**values, **_known(self._command, **own))

    @property
    def _ending(self) -> str:
        """Suffix of main outputs: that of the format, or of the verb's first one."""
        from tropalign.formats.format import format_names, format_of

        served = self._command.served
        assert served is not None
        name = self._value("format") or format_names(served.kind)[0]
        return format_of(served.kind, name).suffix

    def _check_names(self, works: Sequence[Work]) -> None:
        """Reject files whose outputs share a name, or have the name of the folder's table."""
        taken: dict[str, str] = {}
        for work in works:
            for path in self._outputs(work.command):
                if is_of_records(path.name):
                    self._command.refuse(
                        f"the output {path} of {work.file} has the name of the table of --each: rename the file"
                    )
                if path.name in taken:
                    both = f"{taken[path.name]} and {work.file}"
                    if taken[path.name] == work.file:
                        both = f"{work.file}, named twice" if self._asked.count(work.file) > 1 else work.file
                    remedy = "leave one out, or rename one"
                    self._command.refuse(f"two outputs would have the name {path} (of {both}): {remedy}")
                taken[path.name] = work.file

    def _outputs(self, command: Command) -> list[Path]:
        """Return the files that a command may make."""
        main = getattr(command, "output")  # noqa: B009
        follow = [one for one in command.declared().values() if one.follows_main and getattr(command, one.name)]
        return [*map(Path, command.places().values()), *(Path(f"{main}{one.suffix}") for one in follow)]

    def _cost(self, file: str) -> int:
        try:
            n_bytes = os.path.getsize(file) if os.path.isfile(file) else 0
        except OSError:
            n_bytes = 0
        n_bytes *= PACKED_TIMES if file.lower().endswith(PACKED) else 1
        cost: int = max(1, n_bytes) ** self._command.each_power
        return cost

    def _work_hash(self, work: Work, content: str) -> str:
        """Hash everything that determines the outputs of a file with this hash; empty if it has no hash."""
        if not content:
            return ""
        words = {"version": __version__, "command": repr(work.command.replayed()), "input": content}
        words["output"] = str(getattr(work.command, "output"))  # noqa: B009
        return hash_of({**words, **{f"file {path}": value for path, value in self._hashes.items()}})

    def _make_folder(self) -> None:
        from tropalign.execution.files import disk_error

        try:
            self._folder.mkdir(exist_ok=True)
        except FileExistsError:
            raise InputError(
                "this is a file, but --each needs a folder: name another one with -o", file=str(self._folder)
            ) from None
        except FileNotFoundError:
            raise InputError(
                "there is no such folder: create it, or name another one with -o", file=str(self._folder.parent)
            ) from None
        except OSError as error:
            raise disk_error(error, self._folder, 0) from None
        if not os.access(self._folder, os.W_OK):
            raise InputError("no permission to write here: name another folder with -o", file=str(self._folder))

    @contextmanager
    def _watched(self, n_files: int) -> Iterator[Callable[[int], None]]:
        show: Show = status_only if self._value("quiet") else progress_bar
        with show("files", n_files) as progress:
            yield progress if progress is not None else lambda done: None

    # Execution.

    def _outcomes(
        self, works: Sequence[Work], n_done: int, progress: Callable[[int], None]
    ) -> Iterator[tuple[Work, Outcome]]:
        """Yield each file with its outcome, as they finish."""
        from tropalign.devices.registry import open_devices
        from tropalign.execution.scheduler import Scheduler
        from tropalign.resources.limits import default_budget, resolve_threads
        from tropalign.verbs.command import devices_of

        n_threads = resolve_threads(self._command.threads)  # type: ignore[attr-defined]
        allowed = self._value("memory") or default_budget()
        ordered = sorted(works, key=lambda work: -work.cost)
        again: list[Work] = []
        devices: Sequence[Any]
        if self._value("cluster") is not None:
            devices = open_devices(devices_of(self._command), 1, 0, allowed)  # type: ignore[arg-type]
            alone: list[Work] = []
        else:
            most = sum(work.cost for work in ordered) / (2 * n_threads) if n_threads > 1 else 0
            alone = [work for work in ordered if n_threads > 1 and work.cost > most]
            devices = [Slots(n_threads)]
        together = [work for work in ordered if work not in alone] if alone else ordered
        n_slots = min(sum(device.n_workers for device in devices), max(len(together), 1))
        share = PROCESS_BYTES + max(allowed - PROCESS_BYTES, 0) // n_slots if n_slots > 1 else allowed
        for work in alone:
            outcome = outcome_of(work.command, work.file, n_threads, allowed)
            n_done += 1
            progress(n_done)
            yield work, outcome
        task = EachTask(together, share)
        for result in Scheduler(devices).run([task], in_order=False) if together else ():
            work = together[result.tile.index]
            if result.value.needs_memory and n_slots > 1:
                again.append(work)
                continue
            n_done += 1
            progress(n_done)
            yield work, result.value
        for work in again:
            outcome = outcome_of(work.command, work.file, n_threads, allowed)
            n_done += 1
            progress(n_done)
            yield work, outcome


@contextmanager
def _prefixing_warnings() -> Iterator[None]:
    """Prefix the warnings of a file's command with its name."""
    show = warnings.showwarning

    def named(message: Warning | str, *where: Any, **more: Any) -> None:
        file = getattr(_current, "file", None)
        show(f"{file}: {message}" if file is not None and file not in str(message) else message, *where, **more)

    with ExitStack() as stack:
        stack.callback(setattr, warnings, "showwarning", show)
        warnings.showwarning = named
        yield


COLUMNS = ("file", "output", "state", "code", "message")
DONE, FAILED = "done", "failed"


#     DIR/each.tsv          file, output, state, code, message: a row per file, in the order of the command
#     DIR/.each.jsonl       file, hash of all that decides its outputs, and their checksums: a line per finished file
#
# Shards have an ``each.2-of-8.tsv`` and ``.each.2-of-8.jsonl``. A kill may truncate the last line, which is then
# ignored; outputs are on the disk before their line is written.
def is_of_records(name: str) -> bool:
    """True if a file name is that of a table or of records."""
    return re.fullmatch(r"each(\.\d+-of-\d+)?\.tsv|\.each.*\.jsonl", name) is not None


class Outcome(NamedTuple):
    """Outcome of a file.

    code: exit code of a command with this file alone.
    message: the error message, if it failed.
    needs_memory: more than the file's share would be needed.
    ends_all: all other files would fail as well.
    content: hash of the file before it was read, or "".
    """

    code: int = 0
    message: str = ""
    needs_memory: bool = False
    ends_all: bool = False
    content: str = ""


def hash_of_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file in hexadecimal, or "" if it cannot be read."""
    try:
        if not os.path.isfile(path):  # a pipe would be consumed
            return ""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


class Records:
    """The records of a folder; this run (or this `shard`, None for a whole run) writes one of their files."""

    def __init__(self, folder: Path, shard: Shard | None) -> None:
        name = "each" if shard is None else f"each.{shard[0]}-of-{shard[1]}"
        self.table, self._path = folder / f"{name}.tsv", folder / f".{name}.jsonl"
        self._folder = folder
        self._known: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob(".each*.jsonl")):
            self._read(path)
        self._raw: BinaryIO | None = None

    def _read(self, path: Path) -> None:
        try:
            lines = path.read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):  # the end of a killed run
                continue
            if isinstance(entry, dict) and isinstance(entry.get("file"), str):
                self._known[entry["file"]] = entry

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the run's file within the block. Raises InputError if another run holds it, or it cannot be made."""
        try:
            self._raw = open(self._path, "ab", buffering=0)
        except OSError as error:
            raise disk_error(error, self._path, 0) from None
        with self._raw as raw:
            hold(raw.fileno(), self._folder)
            if os.fstat(raw.fileno()).st_size:
                self._append(b"\n")  # after a truncated line
            yield

    def is_known(self, file: str) -> bool:
        """True if an earlier run has finished the file, as it was then."""
        return file in self._known

    def is_done(self, file: str, mark: str) -> bool:
        """True if an earlier run has made the outputs of a file with equal options, and they are unchanged."""
        entry = self._known.get(file)
        if not mark or entry is None or entry.get("mark") != mark or not isinstance(entry.get("outputs"), dict):
            return False
        return all(value and hash_of_file(self._folder / name) == value for name, value in entry["outputs"].items())

    def add(self, file: str, mark: str, outputs: Iterable[Path]) -> None:
        """Record that a file is done."""
        made = {path.name: hash_of_file(path) for path in outputs if path.is_file()}
        self._known[file] = {"file": file, "mark": mark, "outputs": made}
        self._append(_line(self._known[file]))

    def _append(self, line: bytes) -> None:
        assert self._raw is not None
        try:
            self._raw.write(line)
        except OSError as error:
            raise disk_error(error, self._path, 0) from None

    def finish(self, files: Sequence[str], outputs: Mapping[str, Path], found: Mapping[str, Outcome]) -> None:
        """Write the table, and rewrite the records in the order of the files."""
        lines = ["\t".join(COLUMNS)]
        for file in files:
            outcome = found[file]
            words = (file, str(outputs[file]), FAILED if outcome.code else DONE, str(outcome.code), outcome.message)
            lines.append("\t".join(map(shown, words)))
        kept = [self._known.get(file) for file in files if not found[file].code]
        write_to(str(self.table), lambda out: _write(out, "".join(f"{line}\n" for line in lines).encode()))
        write_to(str(self._path), lambda out: _write(out, b"".join(_line(entry) for entry in kept if entry)))


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, sort_keys=True).encode() + b"\n"


def _write(out: BinaryIO, data: bytes) -> None:
    out.write(data)
