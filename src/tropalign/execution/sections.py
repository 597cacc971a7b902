"""Sections of parts in a file: read on demand, whole or in blocks, or copied by the system."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

from tropalign.errors import InputError

#: Bytes that are made, written, read and checked at a time: they stay in the processor's cache.
BLOCK_BYTES = 1 << 18
#: A section, in blocks as it is made, or in one piece.
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
            _copy(self._descriptor, begin, length, out)

    def _checked(self, stretch: Stretch) -> Iterator[bytes]:
        checksum, n_bytes = 0, 0
        for block in blocks_at(self._descriptor, stretch.begin, stretch.length):
            checksum, n_bytes = zlib.crc32(block, checksum), n_bytes + len(block)
            yield block
        if n_bytes != stretch.length or stretch.checksum not in (None, checksum):
            raise InputError("a part in it is damaged: repeat the run", file=self._name)


def is_whole(descriptor: int, stretch: Stretch) -> bool:
    """True if the section is intact."""
    checksum, n_bytes = 0, 0
    for block in blocks_at(descriptor, stretch.begin, stretch.length):
        checksum, n_bytes = zlib.crc32(block, checksum), n_bytes + len(block)
    return n_bytes == stretch.length and checksum == stretch.checksum


def blocks_at(descriptor: int, begin: int, length: int) -> Iterator[bytes]:
    """Yield bytes of a file in blocks; fewer than `length` if the file ends early."""
    end = begin + length
    while begin < end and (block := _read_at(descriptor, min(BLOCK_BYTES, end - begin), begin)):
        begin += len(block)
        yield block


def _read_at(descriptor: int, n_bytes: int, begin: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, n_bytes, begin)
    os.lseek(descriptor, begin, os.SEEK_SET)  # Windows
    return os.read(descriptor, n_bytes)


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


def _copy(descriptor: int, begin: int, length: int, out: BinaryIO) -> None:
    """Copy bytes of a file to the position of another file, within the kernel if possible."""
    end = begin + length
    try:
        while begin < end and (
            n := os.copy_file_range(descriptor, out.fileno(), min(end - begin, COPIED_BYTES), begin)
        ):
            begin += n
    except (AttributeError, OSError):  # unsupported; if the disk is full, writing reports it
        pass
    for block in blocks_at(descriptor, begin, end - begin):
        out.write(block)
        begin += len(block)
    if begin < end:
        raise OSError(errno.EIO, "a file of parts ends too early")
