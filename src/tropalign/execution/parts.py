"""Directory of finished parts with the run's manifest, which survives a kill.

A part is the output of one tile: a section of bytes for each output. Sections of an output are appended to one
file, in the order in which tiles finish, and a list stores the position of each:

    list      part 0: 0..310, 0..95 | part 2: 310..512, 95..200 | part 1: ...
    section0  text of part 0 .......| text of part 2 ...........| text of part 1 ...
    section1  table of part 0 ......| ...

A part is valid once it is listed, after all its sections: a kill costs the running tiles, and their incomplete
output is cut off. Files are synced to disk soon afterwards (`PartWriting`). Damage by a power cut or a bad disk is
detected by checksums, and these parts are computed again. If parts arrived in output order and the output is their
text unchanged, the section file is renamed to the output. The list is

    tropart3 | index | group | number of sections | start, length, CRC-32 of each | CRC-32 of the entry | index | ...
    8 bytes  | 8       4       4                    8      8       4                4                   |

An entry is valid once it is complete. An entry with the index `FORGOTTEN` deletes the parts of its group.
"""

from __future__ import annotations

import errno
import os
import re
import struct
import threading
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import BinaryIO, NamedTuple

from tropalign.errors import InputError, TropalignError, TropalignWarning
from tropalign.execution.files import disk_error, hold, sync
from tropalign.execution.manifest import Manifest
from tropalign.execution.progress import OTHER_PARTS

#: Bytes that are made, written, read and checked at a time: they stay in the processor's cache.
BLOCK_BYTES = 1 << 18
#: A section in one piece, or in blocks that are made one by one.
Blocks = Iterable[bytes] | bytes
#: Bytes that the system copies per call.
COPIED_BYTES = 1 << 30


class Stretch(NamedTuple):
    """Position of a section in its file; `checksum` is its CRC-32, None if no other process writes the file."""

    begin: int
    length: int
    checksum: int | None = None

    @property
    def end(self) -> int:
        """Start of the next section."""
        return self.begin + self.length


class Sections:
    """Sections of one file in the requested order, which can be iterated several times.

    `descriptor` is the file, open for reading; `name` is the file's name in errors.
    """

    def __init__(self, descriptor: int, stretches: Sequence[Stretch], name: str) -> None:
        self._descriptor, self._stretches, self._name = descriptor, stretches, name

    def __iter__(self) -> Iterator[bytes]:
        """Yield each section in one piece; raise InputError if one is damaged."""
        return (b"".join(self._checked(stretch)) for stretch in self._stretches)

    def blocks(self) -> Iterator[bytes]:
        """Yield the concatenated sections in blocks; raise InputError if one is damaged."""
        for stretch in self._stretches:
            yield from self._checked(stretch)

    def copy_to(self, out: BinaryIO) -> None:
        """Write the concatenated sections, copied by the system if possible."""
        out.flush()
        for begin, length in _joined(self._stretches):
            end = begin + length
            try:
                while begin < end and (
                    n := os.copy_file_range(self._descriptor, out.fileno(), min(end - begin, COPIED_BYTES), begin)
                ):
                    begin += n
            except (AttributeError, OSError):  # unsupported; if the disk is full, writing reports it
                pass
            for block in blocks_at(self._descriptor, begin, end - begin):
                out.write(block)
                begin += len(block)
            if begin < end:
                raise OSError(errno.EIO, "a file of parts is truncated")

    def _checked(self, stretch: Stretch) -> Iterator[bytes]:
        checksum, n_bytes = 0, 0
        for block in blocks_at(self._descriptor, stretch.begin, stretch.length):
            checksum, n_bytes = zlib.crc32(block, checksum), n_bytes + len(block)
            yield block
        if n_bytes != stretch.length or stretch.checksum not in (None, checksum):
            raise InputError("a part in this file is damaged: repeat the run", file=self._name)


def is_whole(descriptor: int, stretch: Stretch) -> bool:
    """True if the section is intact."""
    checksum, n_bytes = 0, 0
    for block in blocks_at(descriptor, stretch.begin, stretch.length):
        checksum, n_bytes = zlib.crc32(block, checksum), n_bytes + len(block)
    return n_bytes == stretch.length and checksum == stretch.checksum


def blocks_at(descriptor: int, begin: int, length: int) -> Iterator[bytes]:
    """Yield bytes of a file in blocks; fewer than `length` if the file ends early."""
    end = begin + length
    while begin < end:
        size = min(BLOCK_BYTES, end - begin)
        if hasattr(os, "pread"):
            block = os.pread(descriptor, size, begin)
        else:  # Windows
            os.lseek(descriptor, begin, os.SEEK_SET)
            block = os.read(descriptor, size)
        if not block:
            return
        begin += len(block)
        yield block


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, since the system may take only some per call."""
    done = os.write(descriptor, data)
    while done < len(data):
        done += os.write(descriptor, memoryview(data)[done:])


def _joined(stretches: Iterable[Stretch]) -> Iterator[tuple[int, int]]:
    """Yield start and length of stretches, with neighbours joined."""
    begin, length = 0, 0
    for stretch in stretches:
        if stretch.begin != begin + length:
            if length:
                yield begin, length
            begin, length = stretch.begin, 0
        length += stretch.length
    if length:
        yield begin, length


class GrowingFile:
    """File to which sections are appended, created if missing.

    `end` is the end of valid data. The next section is written there, over anything that a kill left behind; the
    caller of `append` moves it once the section is valid.
    """

    def __init__(self, path: Path, end: int) -> None:
        self.path, self.end = path, end
        self.is_synced = True
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            self.descriptor = os.open(path, flags, 0o666)
        except OSError as error:
            raise disk_error(error, path, 0) from None

    def append(self, section: Blocks) -> Stretch:
        """Write a section at the end; an incomplete write leaves nothing."""
        end, checksum = self.end, 0
        try:
            if os.lseek(self.descriptor, 0, os.SEEK_END) != end:
                self.cut(end)
            for block in [section] if isinstance(section, bytes) else section:
                end += len(block)
                write_all(self.descriptor, block)
                checksum = zlib.crc32(block, checksum)
        except BaseException as error:
            with suppress(OSError):
                self.cut(self.end)
            if isinstance(error, OSError):
                raise disk_error(error, self.path, end) from None
            raise
        self.is_synced = False
        return Stretch(self.end, end - self.end, checksum)

    def has(self, stretch: Stretch) -> bool:
        """True if a section is intact."""
        try:
            return is_whole(self.descriptor, stretch)
        except OSError as error:  # a disk error
            raise disk_error(error, self.path, 0) from None

    def cut(self, end: int) -> None:
        """Truncate the file at `end`."""
        os.ftruncate(self.descriptor, end)
        os.lseek(self.descriptor, end, os.SEEK_SET)
        self.end = end


class Spool:
    """Parts of a run that cannot be resumed, in an unnamed file that disappears with the process.

    `directory` is on a disk with enough room; None means the system's temporary directory.
    """

    def __init__(self, directory: Path | None) -> None:
        import tempfile  # slow to import

        self._place, self._remedy = "standard output's parts", "set TMPDIR to another folder"
        try:
            if directory is not None:
                self._place, self._remedy = f"{directory} (folder of the output)", "write elsewhere with -o"
            else:
                self._place = f"{tempfile.gettempdir()} (folder of temporary files)"
            self._file = tempfile.TemporaryFile(dir=directory, buffering=0)
        except OSError as error:
            raise disk_error(error, self._place, 0, self._remedy) from None
        self._places: list[list[Stretch]] = []
        self._end = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def write(self, sections: Sequence[Blocks]) -> None:
        """Store a part; raise ResourceError if the disk is full."""
        try:
            places = []
            for section in sections:
                begin = self._end
                for block in [section] if isinstance(section, bytes) else section:
                    write_all(self._file.fileno(), block)
                    self._end += len(block)
                places.append(Stretch(begin, self._end - begin))
            self._places.append(places)
        except OSError as error:
            raise disk_error(error, self._place, 0, self._remedy) from None

    def sections(self, number: int) -> Sections:
        """Return section `number` of every part, in order."""
        return Sections(self._file.fileno(), [places[number] for places in self._places], self._place)


MAGIC = b"tropart3"
#: Maximum number of outputs of a run.
MOST_SECTIONS = 64
FORGOTTEN = (1 << 64) - 1
_HEAD, _STRETCH, _CHECKSUM = struct.Struct("<QII"), struct.Struct("<QQI"), struct.Struct("<I")


class Entry(NamedTuple):
    """A part: its group of files, and the positions of its sections in them."""

    group: int
    stretches: tuple[Stretch, ...]


def entry_bytes(index: int, entry: Entry) -> bytes:
    """Encode an entry of the list."""
    stretches = [_STRETCH.pack(*stretch) for stretch in entry.stretches]
    text = b"".join([_HEAD.pack(index, entry.group, len(stretches)), *stretches])
    return text + _CHECKSUM.pack(zlib.crc32(text))


def listed(data: bytes) -> tuple[dict[int, Entry], bool]:
    """Return the parts of a list, and whether all of it could be read."""
    found: dict[int, Entry] = {}
    if not data.startswith(MAGIC):
        return found, False
    at = len(MAGIC)
    for index, entry, end in _entries(data, at):
        if index == FORGOTTEN:
            found = {known: other for known, other in found.items() if other.group != entry.group}
        else:
            found[index] = entry
        at = end
    return found, at == len(data)


def _entries(data: bytes, at: int) -> Iterator[tuple[int, Entry, int]]:
    """Yield index, entry and its end, up to the first incomplete entry."""
    while at + _HEAD.size <= len(data):
        index, group, count = _HEAD.unpack_from(data, at)
        begin, end = at + _HEAD.size, at + _HEAD.size + count * _STRETCH.size
        if count > MOST_SECTIONS or end + _CHECKSUM.size > len(data):
            return
        if _CHECKSUM.unpack_from(data, end)[0] != zlib.crc32(data[at:end]):
            return
        stretches: Sequence[Stretch] = [
            Stretch(*_STRETCH.unpack_from(data, k)) for k in range(begin, end, _STRETCH.size)
        ]
        at = end + _CHECKSUM.size
        yield index, Entry(group, tuple(stretches)), at


MANIFEST, LIST = "manifest.json", "list"
_SECTION = re.compile(r"section\d+(\.\d+)?")
#: Syncs only the file's data if the system supports it.
_sync_data = getattr(os, "fdatasync", os.fsync)


class Parts:
    """Finished parts of a run in a directory that one process at a time may hold.

    Use it in a ``with`` block. Its end releases the directory, and removes it if it holds no part; so does
    ``finish``. The directory is created if missing. Raises InputError if it holds parts of another run or other
    files, is held by another process or cannot be written; ResourceError if the disk is full. Warns if the list of
    parts is damaged.
    """

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.directory = directory
        self._lock, self._is_open = -1, True  # systems other than POSIX have no lock
        self._entries: dict[int, Entry] = {}
        self._files: dict[Path, GrowingFile] = {}
        self._changed = threading.Lock()  # protects the set of files while another thread syncs
        try:
            if directory.exists() and not directory.is_dir():
                raise InputError(
                    "finished parts need a directory of this name, but this is a file: move it away or name another "
                    "output",
                    file=str(directory),
                )
            directory.mkdir(exist_ok=True)
            if os.name == "posix":  # other systems cannot open directories
                self._lock = os.open(directory, os.O_RDONLY)
                hold(self._lock, directory)
            found = recorded_manifest(directory)
            difference = None if found is None else found.difference(manifest)
            try:
                data = (directory / LIST).read_bytes()
            except FileNotFoundError:  # a kill during `finish` leaves no list
                data = MAGIC
            self._entries, is_read = listed(data)
            if difference and not (is_read and self.is_empty()):
                refused = InputError(
                    f"this directory holds finished parts of another run ({difference}): repeat that run to complete "
                    "it, or remove the directory",
                    file=str(directory),
                )
                refused.failure = OTHER_PARTS
                raise refused
            if found is None or difference:
                self._clear()
                self._write_list()
                write_atomically(directory / MANIFEST, manifest.to_json().encode())
            elif not is_read:
                what = "the list of parts is damaged: parts that it does not list are computed again"
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
        if self._is_open and self.is_empty():
            self.finish()
        self.close()

    def close(self) -> None:
        """Release the directory for other processes."""
        for path in list(self._files):
            self._let_go(path)
        self._is_open = False
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def is_empty(self) -> bool:
        """True if no part is finished."""
        return not self._entries

    def path(self, section: int, group: int = 0) -> Path:
        """Return the file of a section for the parts of a group."""
        return self.directory / (f"section{section}" + (f".{group}" if group else ""))

    @property
    def temporary(self) -> Path:
        """Path of the unfinished final file, unless that is made by renaming a section file."""
        return self.directory / "out.tmp"

    def finished(self, indices: Sequence[int], n_sections: int) -> set[int]:
        """Return indices of intact parts; drop damaged ones from the list, with a warning."""
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
        """Store a finished part; raise ResourceError if the disk is full."""
        files = [self._file(self.path(number, group)) for number in range(len(sections))]
        entry = Entry(group, tuple(file.append(section) for file, section in zip(files, sections, strict=True)))
        self._entries[index] = entry  # before the list: an interrupt must not hide a listed part
        try:
            self._add_to_list(entry_bytes(index, entry))
        except TropalignError:
            del self._entries[index]
            raise
        for file, stretch in zip(files, entry.stretches, strict=True):
            file.end = stretch.end

    def write_head(self, section: int, head: bytes) -> None:
        """Start the file of a section that may become an output, unless it already has parts."""
        if all(not entry.stretches[section].length for entry in self._entries.values() if entry.group == 0):
            file = self._file(self.path(section))
            file.end = 0
            file.end = file.append(head).end

    def sync(self) -> None:
        """Wait until all written data is on disk; raise ResourceError if the disk is full."""
        copies = []
        with self._changed:
            for file in sorted(self._files.values(), key=lambda file: file.path.name == LIST):
                if not file.is_synced:
                    file.is_synced = True  # set before syncing, since more may be written meanwhile
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
        """Return a section of a finished part; raise InputError if it is damaged."""
        (found,) = self.sections(section, [index])
        return found

    def sections(self, number: int, indices: Sequence[int]) -> Sections:
        """Return section `number` of parts of one group, in order."""
        entries = [self._entries[index] for index in indices]
        path = self.path(number, entries[0].group if entries else 0)
        return Sections(self._file(path).descriptor, [entry.stretches[number] for entry in entries], str(path))

    def checksums(self, index: int) -> list[tuple[int, int]]:
        """Return length and CRC-32 of each section of a part."""
        return [(stretch.length, stretch.checksum or 0) for stretch in self._entries[index].stretches]

    def as_file(self, section: int, indices: Sequence[int], head: bytes, foot: bytes) -> Path | None:
        """Append the foot to a section's file and return its path, if it is exactly the head and these parts."""
        file, end = self._file(self.path(section)), len(head)
        for stretch in (self._entries[index].stretches[section] for index in indices):
            if stretch.length and stretch.begin != end:
                return None
            end += stretch.length
        if end != max(file.end, len(head)) or b"".join(blocks_at(file.descriptor, 0, len(head))) != head:
            return None
        file.end = end
        file.append(foot)
        self._let_go(file.path)  # some systems cannot rename an open file
        return file.path

    def take_back(self, section: int, path: Path) -> None:
        """Move an output back to its section file, if a run was killed just after renaming it."""
        own = self.path(section)
        if self.is_empty() or own.exists() or not path.is_file():
            return
        stretches = [entry.stretches[section] for entry in self._entries.values() if entry.group == 0]
        with suppress(OSError):  # only an optimisation
            with open(path, "rb") as file:
                is_own = all(is_whole(file.fileno(), stretch) for stretch in stretches)
            if is_own:
                os.replace(path, own)

    def forget(self, group: int) -> None:
        """Remove the parts of a group that is no longer needed."""
        forgotten = {index: entry for index, entry in self._entries.items() if entry.group == group}
        if not forgotten:
            return
        self._add_to_list(entry_bytes(FORGOTTEN, Entry(group, ())))
        for index, entry in forgotten.items():
            del self._entries[index]
            for number in range(len(entry.stretches)):
                self._file(self.path(number, group)).cut(0)

    def finish(self) -> None:
        """Remove the directory after the final file is complete."""
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
        """Return the file of a section or the list; its end follows from the listed parts."""
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

    def _write_list(self) -> None:
        """Rewrite the list."""
        self._let_go(path := self.directory / LIST)
        write_atomically(path, MAGIC + b"".join(entry_bytes(index, entry) for index, entry in self._entries.items()))

    def _add_to_list(self, entry: bytes) -> None:
        file = self._file(self.directory / LIST)
        file.end = os.fstat(file.descriptor).st_size
        file.end = file.append(entry if file.end else MAGIC + entry).end

    def _clear(self) -> None:
        """Remove the parts and remains of a killed run; reject a directory that contains anything else."""
        names = [name for name in os.listdir(self.directory) if name != MANIFEST]
        own = {MANIFEST + ".tmp", LIST, LIST + ".tmp", self.temporary.name}
        foreign = next((name for name in sorted(names) if name not in own and not _SECTION.fullmatch(name)), None)
        if foreign is not None:
            raise InputError(
                f"this directory for finished parts holds {foreign!r}: move that away or name another output",
                file=str(self.directory),
            )
        for name in sorted(names, key=lambda name: name != LIST):  # first the list: it must not outlast the parts
            (self.directory / name).unlink()
        self._entries.clear()


class PartWriting:
    """Writer of parts, with a thread that waits for the disk while the next parts are made.

    Use it in a ``with`` block, whose end waits until all parts are on disk.
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
        """Store a finished part; raise the disk error of an earlier one."""
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
    """Return the name of a tile's part in a shard."""
    return f"part{index:06d}"


def parts_directory(path: Path) -> Path:
    """Return the directory of parts for the run that makes this file."""
    return path.with_name(path.name + ".parts")


def recorded_manifest(directory: Path) -> Manifest | None:
    """Return the manifest of an earlier run in the directory, or None; raise InputError if it is damaged."""
    try:
        return Manifest.from_json((directory / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise disk_error(error, directory / MANIFEST, 0) from None
    except ValueError:
        raise InputError(
            f"the manifest is damaged: remove {directory} to start again", file=str(directory / MANIFEST)
        ) from None


def write_atomically(path: Path, data: bytes) -> None:
    """Write a synced file completely or not at all; raise ResourceError if the disk is full."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_bytes(data)
        sync(temporary)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(error, path, len(data)) from None
