"""Parts in a single piece, a section of bytes per output: in shards, and for results packed into others.

tropart2 | number of sections | length and CRC-32 of each | the sections one after another
8 bytes  | 4 bytes            | 8 + 4 bytes               |
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import IO

from tropalign.execution.part_list import MOST_SECTIONS
from tropalign.execution.sections import BLOCK_BYTES

MAGIC = b"tropart2"
_HEAD, _ENTRY = struct.Struct("<8sI"), struct.Struct("<QI")


def packed(sections: Sequence[bytes]) -> bytes:
    """Pack sections into one part."""
    return b"".join([part_head([(len(section), zlib.crc32(section)) for section in sections]), *sections])


def part_head(entries: Sequence[tuple[int, int]]) -> bytes:
    """Return the header for sections with these lengths and checksums (CRC-32)."""
    return b"".join([_HEAD.pack(MAGIC, len(entries)), *(_ENTRY.pack(*entry) for entry in entries)])


def unpacked(data: bytes, count: int) -> list[bytes]:
    """Return the `count` sections that `packed` joined; raise ValueError if there are too few or one is damaged."""
    return [read_section(data, number) for number in range(count)]


def read_section(data: bytes, number: int) -> bytes:
    """Return a section of a part; raise ValueError if it is missing or damaged."""
    return b"".join(section_blocks(io.BytesIO(data), len(data), number))


def section_blocks(file: IO[bytes], size: int, number: int) -> Iterator[bytes]:
    """Yield a section of a part in blocks, reading `file` (of `size` bytes) from the start to the end of the section.

    Raises ValueError if the section is missing, or after its last block if it is damaged.
    """
    entries = _entries(file, size)
    if number >= len(entries):
        raise ValueError("no such section")
    for length, _ in entries[:number]:
        for _ in _blocks(file, length):
            pass
    length, checksum = entries[number]
    found = 0
    for block in _blocks(file, length):
        found = zlib.crc32(block, found)
        yield block
    if found != checksum:
        raise ValueError("a damaged section")


def _blocks(file: IO[bytes], length: int) -> Iterator[bytes]:
    while length:
        block = file.read(min(length, BLOCK_BYTES))
        if not block:
            raise ValueError("a section that is cut short")
        length -= len(block)
        yield block


def _entries(file: IO[bytes], size: int) -> list[tuple[int, int]]:
    """Read length and checksum of each section from the start of a part."""
    head = file.read(_HEAD.size)
    magic, count = _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", 0)
    if magic != MAGIC or count > MOST_SECTIONS:
        raise ValueError("no part")
    table = file.read(_ENTRY.size * count)
    if len(table) < _ENTRY.size * count:
        raise ValueError("a part that is cut short")
    entries = [_ENTRY.unpack_from(table, _ENTRY.size * k) for k in range(count)]
    if sum(length for length, _ in entries) > size:
        raise ValueError("a part that is cut short")
    return entries
