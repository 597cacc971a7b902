"""Sections of parts in a file: read on demand, whole or in blocks, or copied by the system."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tropalign.errors import InputError
from tropalign.execution.files import disk_error

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
