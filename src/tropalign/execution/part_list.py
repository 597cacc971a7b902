"""List of a run's parts and the positions of their sections.

    tropart3 | index | group | number of sections | start, length, CRC-32 of each | CRC-32 of the entry | index | ...
    8 bytes  | 8       4       4                    8      8       4                4                   |

An entry is valid once it is complete. An entry with the index `FORGOTTEN` deletes the parts of its group.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tropalign.execution.sections import Stretch

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
