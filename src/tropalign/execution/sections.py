"""Sections of parts that lie in a file: read as they are wanted, whole or in blocks, or copied by the system."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

from tropalign.errors import InputError

#: Bytes that are made, written, read and checked at a time: they stay in the processor's cache.
BLOCK_BYTES = 1 << 18
#: A section as it is made, block by block, or in one piece.
Blocks = Iterable[bytes] | bytes
#: Bytes that the system is asked to copy at a time.
COPIED_BYTES = 1 << 30


class Stretch(NamedTuple):
    """Where a section lies in its file.

    Attributes
    ----------
    checksum
        Its CRC-32; None where nothing else writes the file.
    """

    begin: int
    length: int
    checksum: int | None = None

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.begin + self.length


class Sections:
    """Sections that lie in one file, in the order in which they are wanted; can be gone through several times.

    Parameters
    ----------
    descriptor
        The file, open for reading.
    stretches
        Where each lies.
    name
        What errors call the file.
    """

    def __init__(self, descriptor: int, stretches: Sequence[Stretch], name: str) -> None:
        self._descriptor, self._stretches, self._name = descriptor, stretches, name

    def __iter__(self) -> Iterator[bytes]:
        """Each section in one piece. Raises InputError where one is damaged."""
        return (b"".join(self._checked(stretch)) for stretch in self._stretches)

    def blocks(self) -> Iterator[bytes]:
        """All sections one after another, in blocks. Raises InputError where one is damaged."""
        for stretch in self._stretches:
            yield from self._checked(stretch)

    def copy_to(self, out: BinaryIO) -> None:
        """Writes all sections one after another; the system copies them where it can."""
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
    """Whether the section is as it was written."""
    checksum, n_bytes = 0, 0
    for block in blocks_at(descriptor, stretch.begin, stretch.length):
        checksum, n_bytes = zlib.crc32(block, checksum), n_bytes + len(block)
    return n_bytes == stretch.length and checksum == stretch.checksum


def blocks_at(descriptor: int, begin: int, length: int) -> Iterator[bytes]:
    """Bytes of a file in blocks; fewer of them where the file ends before."""
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
    """Writes all of the bytes, of which the system may take some at a time."""
    done = os.write(descriptor, data)
    while done < len(data):
        done += os.write(descriptor, memoryview(data)[done:])


def _joined(stretches: Iterable[Stretch]) -> Iterator[tuple[int, int]]:
    """Begins and lengths, neighbours in one."""
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
    """Copies bytes of one file to where another one is written, without bringing them here where the system can."""
    end = begin + length
    try:
        while begin < end and (
            n := os.copy_file_range(descriptor, out.fileno(), min(end - begin, COPIED_BYTES), begin)
        ):
            begin += n
    except (AttributeError, OSError):  # another system, or a file system that does not: if it is full, writing says so
        pass
    for block in blocks_at(descriptor, begin, end - begin):
        out.write(block)
        begin += len(block)
    if begin < end:
        raise OSError(errno.EIO, "a file of parts ends too early")
