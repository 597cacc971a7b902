"""What survives a kill: a directory of finished parts beside a manifest of the run.

A part is what one tile leaves behind: a section of bytes for each output. Sections of an output are appended to one
file, in the order in which tiles are done, and a list (`part_list`) says where each lies:

    list      part 0: 0..310, 0..95 | part 2: 310..512, 95..200 | part 1: ...
    section0  text of part 0 .......| text of part 2 ...........| text of part 1 ...
    section1  table of part 0 ......| ...

A part is there once it is listed, after all its sections: a kill costs the tiles that run, and what they had written
is cut off. Files reach the disk soon afterwards (`PartWriting`). What a power cut or a bad disk damaged is found by its
checksum, and computed again. Where parts came in the order of the output, and the file is their text as it stands, the
sections' file becomes the output by a new name.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

from tropalign.errors import InputError, TropalignError, TropalignWarning
from tropalign.execution.files import disk_error, hold, sync
from tropalign.execution.growing import GrowingFile
from tropalign.execution.manifest import Manifest
from tropalign.execution.part_list import FORGOTTEN, MAGIC, Entry, entry_bytes, listed
from tropalign.execution.progress import OTHER_PARTS
from tropalign.execution.sections import Blocks, Sections, blocks_at, is_whole

MANIFEST, LIST = "manifest.json", "list"
_SECTION = re.compile(r"section\d+(\.\d+)?")
#: Where the system has it, what waits for the bytes of a file alone.
_sync_data = getattr(os, "fdatasync", os.fsync)


class Parts:
    """Finished parts of a run in a directory, which one process at a time may hold.

    Used in a ``with`` block, whose end lets the directory go; it is removed there when it holds no part, and by
    ``finish``.

    Parameters
    ----------
    directory
        Made when it is not there.
    manifest
        What the run is; a directory of another run is refused.

    Raises
    ------
    InputError
        The directory holds the parts of another run or no parts at all, another process holds it, or it cannot be
        written.
    ResourceError
        The disk is full.

    Warns
    -----
    TropalignWarning
        The list of the parts is damaged.
    """

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.directory = directory
        self._lock = -1
        self._entries: dict[int, Entry] = {}
        self._files: dict[Path, GrowingFile] = {}
        self._changed = threading.Lock()  # which files there are, while another thread waits for the disk
        try:
            if directory.exists() and not directory.is_dir():
                raise InputError(
                    "finished parts should lie here, but this is no directory: move it away or name another file",
                    file=str(directory),
                )
            directory.mkdir(exist_ok=True)
            if os.name == "posix":  # other systems open no directories
                self._lock = os.open(directory, os.O_RDONLY)
                hold(self._lock, directory)
            found = recorded_manifest(directory)
            difference = None if found is None else found.difference(manifest)
            is_read = self._read_list()
            if difference and not (is_read and self.is_empty()):
                refused = InputError(
                    f"this holds finished parts of another run ({difference}): repeat that run to end it, or remove "
                    "the directory",
                    file=str(directory),
                )
                refused.failure = OTHER_PARTS
                raise refused
            if found is None or difference:
                self._clear()
                self._write_list()
                write_atomically(directory / MANIFEST, manifest.to_json().encode())
            elif not is_read:
                what = "the list of parts is damaged, and what it does not hold is computed again"
                warnings.warn(f"{directory}: {what}", TropalignWarning, stacklevel=2)
                self._write_list()
        except OSError as error:
            self.close()
            raise disk_error(error, directory, 0) from None
        except TropalignError:
            self.close()
            raise

    def __enter__(self) -> Parts:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._lock >= 0 and self.is_empty():
            self.finish()
        self.close()

    def close(self) -> None:
        """Lets another process have the directory."""
        for path in list(self._files):
            self._let_go(path)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def is_empty(self) -> bool:
        """Whether no part was finished."""
        return not self._entries

    def path(self, section: int, group: int = 0) -> Path:
        """Where the sections of that number lie, of the parts of a group."""
        return self.directory / (f"section{section}" + (f".{group}" if group else ""))

    @property
    def temporary(self) -> Path:
        """Where the final file is made before it gets its name, if it is not made of the sections' file."""
        return self.directory / "out.tmp"

    def finished(self, indices: Sequence[int], n_sections: int) -> set[int]:
        """Indices of the parts that are there and as they were written; others are no longer listed.

        Warns
        -----
        TropalignWarning
            Parts were damaged, and are computed again.
        """
        wanted = set(indices)
        found = {index for index in self._entries if index in wanted and self._is_whole(index, n_sections)}
        damaged = sorted(wanted.intersection(self._entries) - found)
        if damaged:
            for index in damaged:
                del self._entries[index]
            self._write_list()
            which = (
                f"part {damaged[0]} is" if len(damaged) == 1 else f"{len(damaged)} parts, the first {damaged[0]}, are"
            )
            warnings.warn(f"{self.directory}: {which} damaged and computed again", TropalignWarning, stacklevel=2)
        return found

    def write(self, index: int, sections: Sequence[Blocks], group: int = 0) -> None:
        """Keeps a finished part. Raises ResourceError when the disk is full."""
        files = [self._file(self.path(number, group)) for number in range(len(sections))]
        entry = Entry(group, tuple(file.append(section) for file, section in zip(files, sections, strict=True)))
        self._entries[index] = entry  # first, since an interrupt between the two must not hide a part that is listed
        try:
            self._add_to_list(entry_bytes(index, entry))
        except TropalignError:
            del self._entries[index]
            raise
        for file, stretch in zip(files, entry.stretches, strict=True):
            file.end = stretch.end

    def write_head(self, section: int, head: bytes) -> None:
        """Begins the file of a section, which will be an output, unless parts are in it."""
        if all(not entry.stretches[section].length for entry in self._entries.values() if entry.group == 0):
            file = self._file(self.path(section))
            file.end = 0
            file.end = file.append(head).end

    def sync(self) -> None:
        """Waits until what was written is on the disk. Raises ResourceError when that is full."""
        copies = []
        with self._changed:
            for file in sorted(self._files.values(), key=lambda file: file.path.name == LIST):
                if not file.is_synced:
                    file.is_synced = True  # before, since more may be written meanwhile
                    copies.append((file.path, os.dup(file.descriptor)))
        try:
            for path, descriptor in copies:
                try:
                    _sync_data(descriptor)
                except OSError as error:
                    raise disk_error(error, path, 0) from None
        finally:
            for _, descriptor in copies:
                os.close(descriptor)

    def read(self, index: int, section: int) -> bytes:
        """A section of a finished part. Raises InputError when it is damaged."""
        (found,) = self.sections(section, [index])
        return found

    def sections(self, number: int, indices: Sequence[int]) -> Sections:
        """That section of parts of one group, in order."""
        entries = [self._entries[index] for index in indices]
        path = self.path(number, entries[0].group if entries else 0)
        return Sections(self._file(path).descriptor, [entry.stretches[number] for entry in entries], str(path))

    def checksums(self, index: int) -> list[tuple[int, int]]:
        """Length and CRC-32 of each section of a part."""
        return [(stretch.length, stretch.checksum or 0) for stretch in self._entries[index].stretches]

    def as_file(self, section: int, indices: Sequence[int], head: bytes, foot: bytes) -> Path | None:
        """The file of a section, with its foot, where it is nothing but the head and these parts in order."""
        file, end = self._file(self.path(section)), len(head)
        for stretch in (self._entries[index].stretches[section] for index in indices):
            if stretch.length and stretch.begin != end:
                return None
            end += stretch.length
        if end != max(file.end, len(head)) or b"".join(blocks_at(file.descriptor, 0, len(head))) != head:
            return None
        file.end = end
        file.append(foot)
        self._let_go(file.path)  # a file that is open cannot be renamed everywhere
        return file.path

    def take_back(self, section: int, path: Path) -> None:
        """Makes a file the sections' file again: a run was killed when it had just given it its name."""
        own = self.path(section)
        if self.is_empty() or own.exists() or not path.is_file():
            return
        stretches = [entry.stretches[section] for entry in self._entries.values() if entry.group == 0]
        with suppress(OSError):  # it is not needed
            with open(path, "rb") as file:
                is_own = all(is_whole(file.fileno(), stretch) for stretch in stretches)
            if is_own:
                os.replace(path, own)

    def forget(self, group: int) -> None:
        """Removes the parts of a group, which nobody needs any more."""
        forgotten = {index: entry for index, entry in self._entries.items() if entry.group == group}
        if not forgotten:
            return
        self._add_to_list(entry_bytes(FORGOTTEN, Entry(group, ())))
        for index, entry in forgotten.items():
            del self._entries[index]
            for number in range(len(entry.stretches)):
                self._file(self.path(number, group)).cut(0)

    def finish(self) -> None:
        """Takes the directory away: the final file is there."""
        self.close()
        self._entries.clear()
        self._clear()
        (self.directory / MANIFEST).unlink(missing_ok=True)
        self.directory.rmdir()

    def _is_whole(self, index: int, n_sections: int) -> bool:
        entry = self._entries[index]
        files = [self._file(self.path(number, entry.group)) for number in range(len(entry.stretches))]
        return len(files) == n_sections and all(
            file.has(stretch) for file, stretch in zip(files, entry.stretches, strict=True)
        )

    def _file(self, path: Path) -> GrowingFile:
        """The file of a section or the list, which what is listed says the end of."""
        if path not in self._files:
            ends = [
                stretch.end
                for entry in self._entries.values()
                for number, stretch in enumerate(entry.stretches)
                if self.path(number, entry.group) == path
            ]
            file = GrowingFile(path, max(ends, default=0))
            with self._changed:
                self._files[path] = file
        return self._files[path]

    def _let_go(self, path: Path) -> None:
        with self._changed:
            if (file := self._files.pop(path, None)) is not None:
                os.close(file.descriptor)

    def _read_list(self) -> bool:
        """Reads which parts there are; whether the list is whole. It is not there where a kill ended `finish`."""
        try:
            data = (self.directory / LIST).read_bytes()
        except FileNotFoundError:
            data = MAGIC
        self._entries, is_read = listed(data)
        return is_read

    def _write_list(self) -> None:
        """Writes the list anew."""
        self._let_go(path := self.directory / LIST)
        write_atomically(path, MAGIC + b"".join(entry_bytes(index, entry) for index, entry in self._entries.items()))

    def _add_to_list(self, entry: bytes) -> None:
        file = self._file(self.directory / LIST)
        file.end = os.fstat(file.descriptor).st_size
        file.end = file.append(entry if file.end else MAGIC + entry).end

    def _clear(self) -> None:
        """Removes the parts, and what a killed run left half-written; refuses a directory that holds anything else."""
        names = [name for name in os.listdir(self.directory) if name != MANIFEST]
        own = {MANIFEST + ".tmp", LIST, LIST + ".tmp", self.temporary.name}
        foreign = next((name for name in sorted(names) if name not in own and not _SECTION.fullmatch(name)), None)
        if foreign is not None:
            raise InputError(
                f"finished parts should lie here, but it holds {foreign!r}: move that away or name another file",
                file=str(self.directory),
            )
        for name in sorted(names, key=lambda name: name != LIST):  # which would call what a kill leaves damaged
            (self.directory / name).unlink()
        self._entries.clear()


class PartWriting:
    """Parts on their way to the disk: one thread waits for it, while the next parts are made.

    Used in a ``with`` block, whose end waits until all of them are there.

    Parameters
    ----------
    parts
        Where they are kept.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._written: SimpleQueue[bool] = SimpleQueue()  # True for each part, False at the end
        self._error: TropalignError | OSError | None = None
        self._thread = threading.Thread(target=self._sync, daemon=True)

    def __enter__(self) -> PartWriting:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._written.put(False)
        self._thread.join()
        if error[0] is None:
            self._raise()

    def put(self, index: int, sections: Sequence[Blocks]) -> None:
        """Keeps a finished part; raises what the disk said of an earlier one."""
        self._raise()
        self._parts.write(index, sections)
        self._written.put(True)

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _sync(self) -> None:
        try:
            while self._written.get():
                self._parts.sync()
        except (TropalignError, OSError) as error:
            self._error = error


def part_name(index: int) -> str:
    """Name of a tile's part in a shard."""
    return f"part{index:06d}"


def parts_directory(path: Path) -> Path:
    """Where the parts of the run that makes that file lie."""
    return path.with_name(path.name + ".parts")


def recorded_manifest(directory: Path) -> Manifest | None:
    """The manifest of an earlier run in that directory, if there is one. Raises InputError when it is damaged."""
    try:
        return Manifest.from_json((directory / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise disk_error(error, directory / MANIFEST, 0) from None
    except ValueError:
        raise InputError(
            f"the manifest is damaged: remove {directory} to start anew", file=str(directory / MANIFEST)
        ) from None


def write_atomically(path: Path, data: bytes) -> None:
    """Either the whole file under its name, on the disk, or none; ResourceError when the disk is full."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_bytes(data)
        sync(temporary)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(error, path, len(data)) from None
