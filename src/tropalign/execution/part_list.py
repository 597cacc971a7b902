"""The list of a run's parts: which there are, and where their sections lie.

    tropart3 | index | group | number of sections | begin, length, CRC-32 of each | CRC-32 of the entry | index | ...
    8 bytes  | 8       4       4                    8      8       4                4                   |

An entry counts as soon as it is there whole. One of the index `FORGOTTEN` says that its group's parts are no more.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tropalign.execution.sections import Stretch

MAGIC = b"tropart3"
#: Outputs that one run can have.
MOST_SECTIONS = 64
FORGOTTEN = (1 << 64) - 1
_HEAD, _STRETCH, _CHECKSUM = struct.Struct("<QII"), struct.Struct("<QQI"), struct.Struct("<I")


class Entry(NamedTuple):
    """A part: the group of files that it is in, and where its sections lie in them."""

    group: int
    stretches: tuple[Stretch, ...]


def entry_bytes(index: int, entry: Entry) -> bytes:
    """An entry as the list holds it."""
    stretches = [_STRETCH.pack(*stretch) for stretch in entry.stretches]
    text = b"".join([_HEAD.pack(index, entry.group, len(stretches)), *stretches])
    return text + _CHECKSUM.pack(zlib.crc32(text))


def listed(data: bytes) -> tuple[dict[int, Entry], bool]:
    """The parts of a list, and whether all of it could be read."""
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
    """Index, entry and its end, up to the first that is not whole."""
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
