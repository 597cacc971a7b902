"""A shard's parts as one file, and the parts of the whole run from all shards.

A part in a single piece, as in shards and for results packed into others, has a section of bytes per output:

    tropart2 | number of sections | length and CRC-32 of each | the sections one after another
    8 bytes  | 4 bytes            | 8 + 4 bytes               |
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from tropalign.errors import InputError, damage
from tropalign.execution.manifest import Manifest, RemainingWork
from tropalign.execution.parts import BLOCK_BYTES, MANIFEST, MOST_SECTIONS, Parts, part_name

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
        raise ValueError("missing section")
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
            raise ValueError("a truncated section")
        length -= len(block)
        yield block


def _entries(file: IO[bytes], size: int) -> list[tuple[int, int]]:
    """Read length and checksum of each section from the start of a part."""
    head = file.read(_HEAD.size)
    magic, count = _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", 0)
    if magic != MAGIC or count > MOST_SECTIONS:
        raise ValueError("not a part")
    table = file.read(_ENTRY.size * count)
    if len(table) < _ENTRY.size * count:
        raise ValueError("a truncated part")
    entries = [_ENTRY.unpack_from(table, _ENTRY.size * k) for k in range(count)]
    if sum(length for length, _ in entries) > size:
        raise ValueError("a truncated part")
    return entries


#: Timestamp of all entries: fixed, so that equal shards are equal files.
TIME = (1980, 1, 1, 0, 0, 0)
#: Entry with the run's inputs in the first shard, if merging still has to compute.
INPUTS = "inputs"
#: Maximum number of missing shards that an error lists.
SHOWN = 10


@dataclass(frozen=True)
class Description:
    """An output of a shard: its role, and the JSON-able description from which merging recreates the writer."""

    role: str
    writer: dict[str, Any]


def write_archive(
    path: Path,
    manifest: Manifest,
    outputs: Sequence[Description],
    parts: Parts,
    indices: Sequence[int],
    remaining: RemainingWork | None = None,
) -> None:
    """Write a shard's parts to an uncompressed zip file.

    `outputs` has an entry for each section of the parts, `indices` are the shard's tiles, `remaining` is the work
    that is left when all shards exist.
    """
    # Equal commands make equal shards, regardless of the memory that was free.
    whole = dataclasses.asdict(dataclasses.replace(manifest, memory_bytes=0))
    entries = {**whole, "outputs": [dataclasses.asdict(output) for output in outputs]}
    if remaining is not None:
        entries["rest"] = remaining.words
    import zipfile  # slow to load

    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(MANIFEST, TIME), json.dumps(entries))
        for index in indices:
            entry = zipfile.ZipInfo(part_name(index), TIME)
            checksums = parts.checksums(index)
            head = part_head(checksums)
            entry.file_size = len(head) + sum(length for length, _ in checksums)
            with archive.open(entry, "w") as copy:
                copy.write(head)
                for number in range(len(checksums)):
                    for block in parts.sections(number, [index]).blocks():
                        copy.write(block)
        if remaining is not None and manifest.shard is not None and manifest.shard[0] == 1:
            archive.writestr(zipfile.ZipInfo(INPUTS, TIME), packed(remaining.inputs))


class Shards:
    """All shards of a run, from files in any order.

    - `outputs`: the run's outputs, in the order of the sections.
    - `words`: command of the remaining work (`RemainingWork`), None if merging only assembles files.
    - `whole`: manifest entries that all shards share.

    Raises InputError for a file that is not a shard or damaged, shards of different runs, and missing or duplicate
    shards.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._shards: dict[int, _Shard] = {}
        first: _Shard | None = None
        for path in paths:
            shard = _Shard(path)
            first = first or shard
            difference = first.manifest.of_whole().difference(shard.manifest.of_whole())
            if difference:
                raise InputError(f"this is a shard of another run than {paths[0]} ({difference})", file=path)
            if shard.number in self._shards:
                other = self._shards[shard.number].path
                raise InputError(
                    f"shard {shard.number}/{shard.count} is given twice, also as {other}: leave one out", file=path
                )
            self._shards[shard.number] = shard
        if first is None:
            raise InputError("no shard is given: name the files that --shard wrote")
        count, n_missing = first.count, first.count - len(self._shards)
        if n_missing:
            numbers = (str(number) for number in range(1, count + 1) if number not in self._shards)
            which = ", ".join(islice(numbers, SHOWN)) + (", ..." if n_missing > SHOWN else "")
            verb = "number {} is" if n_missing == 1 else "numbers {} are"
            raise InputError(f"of {count} shards {verb.format(which)} missing: give all of them")
        self.outputs, self.words = first.outputs, first.words
        self.whole = first.manifest.of_whole()

    @property
    def tile_counts(self) -> list[int]:
        """Number of tiles of each shard."""
        return [self._shards[k].manifest.n_tiles for k in sorted(self._shards)]

    def inputs(self, count: int) -> list[bytes]:
        """Return the run's inputs as `count` sections; raise InputError if they are damaged."""
        return self._shards[1].inputs(count)

    def check_same(self, fingerprint: str) -> None:
        """Raise InputError if the inputs belong to a run with another fingerprint than the shards."""
        if fingerprint != self.whole.fingerprint:
            raise InputError("the inputs in the first shard are not those of the run: write this shard again")

    def section(self, shard: int, index: int, number: int = 0) -> bytes:
        """Return a section of one part of a shard (counted from 1); raise InputError if it is damaged."""
        return self._shards[shard].section(index, number)

    def sections(self, number: int) -> ShardSections:
        """Return section `number` of every part, in the order of the whole run; can be iterated several times."""
        return ShardSections([self._shards[k] for k in sorted(self._shards)], number)


class ShardSections:
    """One section of the parts of several shards."""

    def __init__(self, shards: Sequence[_Shard], number: int) -> None:
        self._shards, self._number = shards, number

    def __iter__(self) -> Iterator[bytes]:
        for shard in self._shards:
            for index in range(shard.manifest.n_tiles):
                yield shard.section(index, self._number)

    def blocks(self) -> Iterator[bytes]:
        """Yield the concatenated sections in blocks."""
        for shard in self._shards:
            for index in range(shard.manifest.n_tiles):
                yield from shard.section_blocks(index, self._number)


class _Shard:
    """One shard file."""

    def __init__(self, path: str) -> None:
        import zipfile

        self.path = path
        if os.path.exists(path) and not os.path.isfile(path):  # a device has no end to seek to
            raise _no_shard(path)
        try:
            self._archive = zipfile.ZipFile(path)
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in self._archive.infolist()):
                raise ValueError("compressed")  # tropalign does not compress, so that declared sizes are real sizes
            entries = json.loads(self._archive.read(MANIFEST))
            self.manifest = Manifest.from_entries(entries)
            self.outputs = [Description(str(output["role"]), dict(output["writer"])) for output in entries["outputs"]]
            self.words = None if entries.get("rest") is None else [str(word) for word in entries["rest"]]
        except FileNotFoundError:
            raise InputError("there is no such file", file=path) from None
        except PermissionError:
            raise InputError("no permission to read this file", file=path) from None
        except damage():
            raise _no_shard(path) from None
        if self.manifest.shard is None or not self.outputs:
            raise _no_shard(path)
        self.number, self.count = self.manifest.shard
        names, n_tiles = self._archive.namelist(), self.manifest.n_tiles
        others = {MANIFEST, INPUTS} if self.words is not None and self.number == 1 else {MANIFEST}
        # Compare the numbers first: a forged manifest may claim any number of tiles.
        if len(names) != n_tiles + len(others) or set(names) != {*others, *map(part_name, range(n_tiles))}:
            raise InputError("tiles of this shard are missing: write the shard again", file=path)

    def section(self, index: int, number: int) -> bytes:
        """Return a section of a part; raise InputError if it is damaged."""
        return self._read(part_name(index), number, f"tile {index}")

    def section_blocks(self, index: int, number: int) -> Iterator[bytes]:
        """Yield a section of a part in blocks; raise InputError if it is damaged."""
        try:
            entry = self._archive.getinfo(part_name(index))
            with self._archive.open(entry) as part:
                yield from section_blocks(part, entry.file_size, number)
        except damage():
            raise self._damaged(f"tile {index}") from None

    def inputs(self, count: int) -> list[bytes]:
        """Return the run's inputs as `count` sections; raise InputError if they are damaged."""
        return [self._read(INPUTS, number, "the input") for number in range(count)]

    def _read(self, name: str, number: int, what: str) -> bytes:
        try:
            return read_section(self._archive.read(name), number)
        except damage():  # the entry is encrypted, patched, ...
            raise self._damaged(what) from None

    def _damaged(self, what: str) -> InputError:
        return InputError(f"{what} of this shard is damaged: write the shard again", file=self.path)


def _no_shard(path: str) -> InputError:
    return InputError("this is not a shard, or an incomplete one: write it again with --shard", file=path)
