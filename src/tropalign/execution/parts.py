"""What survives a kill: a directory of finished parts beside a manifest of the run.

A part is what one tile leaves behind: a section of bytes for each output. Its file:

    tropart2 | number of sections | length and CRC-32 of each | the sections one after another
    8 bytes  | 4 bytes            | 8 + 4 bytes               |

It is on the disk before it gets its name. A part that a power cut or a bad disk damaged is found, and computed again.
"""

from __future__ import annotations

import io
import os
import re
import struct
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO

from tropalign.errors import InputError, TropalignError, TropalignWarning
from tropalign.execution.files import disk_error, hold, sync
from tropalign.execution.manifest import Manifest
from tropalign.execution.progress import OTHER_PARTS

MANIFEST = "manifest.json"
PART = re.compile(r"part\d{6,}")
MAGIC = b"tropart2"
#: Parts that are written at a time: where a disk takes 6 ms for one, it takes 0.7 ms per part for many (docs/scale.md).
WRITERS = 8
#: Bytes of those that wait for the disk, which no tile has accounted for (`--memory`); a larger part waits alone.
WAITING_BYTES = 16 << 20
#: Outputs that one run can have.
MOST_SECTIONS = 64
_HEAD, _ENTRY = struct.Struct("<8sI"), struct.Struct("<QI")


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
    """

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.directory = directory
        self._lock = -1
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
            if difference and not self.is_empty():
                refused = InputError(
                    f"this holds finished parts of another run ({difference}): repeat that run to end it, or remove "
                    "the directory",
                    file=str(directory),
                )
                refused.failure = OTHER_PARTS
                raise refused
            if found is None or difference:
                self._clear()
                write_atomically(directory / MANIFEST, manifest.to_json().encode())
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
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def is_empty(self) -> bool:
        """Whether no part was finished."""
        return not any(PART.fullmatch(name) for name in os.listdir(self.directory))

    def path(self, index: int) -> Path:
        """Where a part lies."""
        return self.directory / part_name(index)

    @property
    def temporary(self) -> Path:
        """Where the final file is made before it gets its name."""
        return self.directory / "out.tmp"

    def finished(self, indices: Sequence[int], n_sections: int) -> set[int]:
        """Indices of the parts that are there and as they were written; damaged ones are removed.

        Warns
        -----
        TropalignWarning
            Parts were damaged, and are computed again.
        """
        found, damaged = set(), []
        for index in indices:
            try:
                with open(self.path(index), "rb") as file:
                    is_whole = _is_whole(file, n_sections)
            except FileNotFoundError:
                continue
            except OSError:
                is_whole = False
            if is_whole:
                found.add(index)
            else:
                _remove(self.path(index))
                damaged.append(index)
        if damaged:
            which = (
                f"part {damaged[0]} is" if len(damaged) == 1 else f"{len(damaged)} parts, the first {damaged[0]}, are"
            )
            warnings.warn(f"{self.directory}: {which} damaged and computed again", TropalignWarning, stacklevel=2)
        return found

    def write(self, index: int, sections: Sequence[bytes]) -> None:
        """Keeps a finished part. Raises ResourceError when the disk is full."""
        write_atomically(self.path(index), packed(sections))

    def read(self, index: int, section: int) -> bytes:
        """A section of a finished part. Raises InputError when it is damaged."""
        with open(self.path(index), "rb") as file:
            found = read_section(file, section)
        if found is None:
            raise InputError("this part is damaged: remove it and repeat the run", file=str(self.path(index)))
        return found

    def finish(self) -> None:
        """Takes the directory away: the final file is there."""
        self._clear()
        (self.directory / MANIFEST).unlink(missing_ok=True)
        self.close()
        self.directory.rmdir()

    def _clear(self) -> None:
        """Removes the parts, and what a killed run left half-written; refuses a directory that holds anything else."""
        names = [name for name in os.listdir(self.directory) if name != MANIFEST]
        unfinished = {MANIFEST + ".tmp", self.temporary.name}
        foreign = next(
            (
                name
                for name in sorted(names)
                if name not in unfinished and not PART.fullmatch(name.removesuffix(".tmp"))
            ),
            None,
        )
        if foreign is not None:
            raise InputError(
                f"finished parts should lie here, but it holds {foreign!r}: move that away or name another file",
                file=str(self.directory),
            )
        for name in names:
            (self.directory / name).unlink()


class PartWriting:
    """Parts on their way to the disk: several at a time, since each waits until the disk has it.

    Used in a ``with`` block, whose end waits for all of them.

    Parameters
    ----------
    write
        `Parts.write`, or what calls it.
    """

    def __init__(self, write: Callable[[int, Sequence[bytes]], None]) -> None:
        self._write = write
        self._pool = ThreadPoolExecutor(WRITERS)
        self._waiting: deque[tuple[Future[None], int]] = deque()  # with the bytes of each
        self._n_bytes = 0

    def __enter__(self) -> PartWriting:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()
        if error[0] is None:
            self._settle(0, 0)

    def put(self, index: int, sections: Sequence[bytes]) -> None:
        """Keeps a finished part, as soon as there is room for it; raises what `write` raised of an earlier one."""
        size = sum(map(len, sections))
        self._settle(WRITERS - 1, WAITING_BYTES - size)
        self._waiting.append((self._pool.submit(self._write, index, sections), size))
        self._n_bytes += size

    def _settle(self, most: int, most_bytes: int) -> None:
        """Waits until no more parts, and no more bytes of them, are on their way."""
        while self._waiting and (len(self._waiting) > most or self._n_bytes > most_bytes or self._waiting[0][0].done()):
            future, size = self._waiting.popleft()
            self._n_bytes -= size
            future.result()


class Spool:
    """Parts of a run that cannot be resumed, in a file without a name, which goes with the process.

    Parameters
    ----------
    directory
        On a disk with room for them; the system's for temporary files when None.
    """

    def __init__(self, directory: Path | None) -> None:
        import tempfile  # which takes a while to load

        self._place, self._remedy = "standard output's parts", "name another folder of temporary files with TMPDIR"
        try:
            if directory is not None:
                self._place, self._remedy = f"{directory}, the folder of the output", "write elsewhere with -o"
            else:
                self._place = f"{tempfile.gettempdir()}, the folder of temporary files"
            self._file = tempfile.TemporaryFile(dir=directory)
        except OSError as error:
            raise disk_error(error, self._place, 0, self._remedy) from None
        self._places: list[list[tuple[int, int]]] = []

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def write(self, sections: Sequence[bytes]) -> None:
        """Keeps a part. Raises ResourceError when the disk is full."""
        try:
            self._file.seek(0, os.SEEK_END)
            places = []
            for section in sections:
                places.append((self._file.tell(), len(section)))
                self._file.write(section)
            self._places.append(places)
        except OSError as error:
            raise disk_error(error, self._place, 0, self._remedy) from None

    def sections(self, number: int) -> Sections:
        """That section of every part, in order."""
        return Sections(lambda k: self._read(*self._places[k][number]), range(len(self._places)))

    def _read(self, begin: int, length: int) -> bytes:
        self._file.seek(begin)
        return self._file.read(length)


class Sections:
    """One section of several parts, in order; can be gone through several times."""

    def __init__(self, read: Callable[[int], bytes], indices: Sequence[int]) -> None:
        self._read, self._indices = read, indices

    def __iter__(self) -> Iterator[bytes]:
        return (self._read(index) for index in self._indices)


def packed(sections: Sequence[bytes]) -> bytes:
    """A part as its file holds it."""
    entries = [_ENTRY.pack(len(section), _checksum(section)) for section in sections]
    return b"".join([_HEAD.pack(MAGIC, len(sections)), *entries, *sections])


def unpacked(data: bytes, count: int) -> list[bytes]:
    """The sections of which `packed` made these bytes. Raises ValueError where they are not so many, and whole."""
    found = [read_section(io.BytesIO(data), number) for number in range(count)]
    whole = [section for section in found if section is not None]
    if len(whole) != count:
        raise ValueError(f"no part of {count} sections")
    return whole


def read_section(file: IO[bytes], number: int) -> bytes | None:
    """A section of a part; None where the part is damaged."""
    entries = _entries(file)
    if entries is None or number >= len(entries):
        return None
    before = sum(length for length, _ in entries[:number])
    file.seek(before, os.SEEK_CUR)
    length, checksum = entries[number]
    section = file.read(length)
    return section if len(section) == length and _checksum(section) == checksum else None


def _is_whole(file: IO[bytes], n_sections: int) -> bool:
    entries = _entries(file)
    if entries is None or len(entries) != n_sections:
        return False
    for length, checksum in entries:
        section = file.read(length)
        if len(section) != length or _checksum(section) != checksum:
            return False
    return not file.read(1)


def _entries(file: IO[bytes]) -> list[tuple[int, int]] | None:
    """Length and checksum of each section, read from the beginning of a part; None where it has no such beginning."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    magic, count = _HEAD.unpack(head)
    if magic != MAGIC or count > MOST_SECTIONS:
        return None
    table = file.read(_ENTRY.size * count)
    if len(table) < _ENTRY.size * count:
        return None
    entries = [_ENTRY.unpack_from(table, _ENTRY.size * k) for k in range(count)]
    is_long_enough = sum(length for length, _ in entries) <= size
    return entries if is_long_enough else None


def _checksum(data: bytes) -> int:
    return zlib.crc32(data)


def part_name(index: int) -> str:
    """Name of a tile's part."""
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


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:  # a directory, say
        raise disk_error(error, path, 0) from None


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
