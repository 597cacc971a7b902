r"""Paired ends: two files whose records at the same position are the two mates of a pair.

A pair is passed on as one read, so that counting, cutting and distributing reads need not know about mates. Its
letters are those of both mates as written, separated by a byte that is no letter::

    r_1.fq  ACGTA    r_2.fq  GGTC    the pair's letters  A C G T A \0 G G T C
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, shown
from tropalign.sequences.blocks import READS, BlockReader, NumberedNames, Policy, SequenceBlock, sources_of
from tropalign.sequences.files import Source, file_name

#: Separator of the mates of a pair; readers replace zero bytes in files.
BETWEEN = 0
_ENDING = re.compile(r"/[12]$")


class MatedBlocks:
    """Blocks of pairs, to be iterated over once; `taken` are names in use.

    Raises UsageError if the numbers of files differ, or if a file is given as both. Raises InputError while
    iterating: for unreadable files, mates of different names, and files of different numbers of records.
    """

    def __init__(
        self,
        reads: Source | Iterable[Source],
        mates: Source | Iterable[Source],
        taken: Iterable[str] = (),
        policy: Policy = READS,
    ) -> None:
        firsts, seconds = sources_of(reads), sources_of(mates)
        if len(firsts) != len(seconds):
            raise UsageError(
                f"{len(firsts)} files of reads, but {len(seconds)} of mates: name as many, in the same order"
            )
        self._files = list(zip(firsts, seconds, strict=True))
        for first, second in self._files:
            are_paths = isinstance(first, str | os.PathLike) and isinstance(second, str | os.PathLike)
            if are_paths and file_name(first) == file_name(second):
                raise UsageError(f"{shown(file_name(second))} is named as reads and as their mates: name another file")
        self._names, self._policy = NumberedNames(taken), policy

    def __iter__(self) -> Iterator[SequenceBlock]:
        for files in self._files:
            sides = [_Side(BlockReader(file, self._policy), file_name(file)) for file in files]
            while True:
                one, other = (side.waiting() for side in sides)
                if one is None or other is None:
                    break
                n = min(len(one), len(other))
                yield self._joined(sides[0].take(n), sides[1].take(n))
            if one is not other:
                short, long = sides if one is None else sides[::-1]
                raise InputError(
                    f"it ends where {shown(long.file)} goes on: both have to hold the mates of the same reads in "
                    "the same order",
                    file=short.file,
                )

    def _joined(self, one: SequenceBlock, other: SequenceBlock) -> SequenceBlock:
        names = tuple(self._names(_pair_name(a, b, other.file)) for a, b in zip(one.names, other.names, strict=True))
        lengths, other_lengths = np.diff(one.offsets), np.diff(other.offsets)
        offsets = np.concatenate([[0], np.cumsum(lengths + 1 + other_lengths)]).astype(np.int64)
        letters = np.full(int(offsets[-1]), BETWEEN, np.uint8)
        letters[_places(offsets[:-1], one.offsets)] = one.letters
        letters[_places(offsets[:-1] + lengths + 1, other.offsets)] = other.letters
        counts = np.bincount(letters, minlength=256).astype(np.int64)
        return SequenceBlock(names, one.descriptions, letters, offsets, one.numbers, one.file, counts)


def _places(begins: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the target index of each letter, given the target start of each text."""
    return np.repeat(begins - offsets[:-1], np.diff(offsets)) + np.arange(int(offsets[-1]))


def _pair_name(one: str, other: str, file: str) -> str:
    """Return the common name of two mates, without ``/1`` and ``/2``."""
    base = _ENDING.sub("", one)
    if base != _ENDING.sub("", other) or (one != other and (one[-2:], other[-2:]) != ("/1", "/2")):
        raise InputError(
            f"it stands where the mate of {one!r} should: both files have to hold the same reads in the same order, "
            "named alike or with /1 and /2 at the end",
            file=file,
            record=other,
        )
    return base


@dataclass
class _Side:
    """One of the two files, with the remaining part of its current block."""

    reader: BlockReader
    file: str

    def __post_init__(self) -> None:
        self._blocks = iter(self.reader)
        self._rest: SequenceBlock | None = None

    def waiting(self) -> SequenceBlock | None:
        """Return the rest of the block, or the next one."""
        while self._rest is None or not len(self._rest):
            self._rest = next(self._blocks, None)
            if self._rest is None:
                return None
        return self._rest

    def take(self, n: int) -> SequenceBlock:
        """Take the first n remaining records."""
        block = self._rest
        assert block is not None
        self._rest = _part(block, n, len(block))
        return _part(block, 0, n)


def _part(block: SequenceBlock, begin: int, end: int) -> SequenceBlock:
    low, high = int(block.offsets[begin]), int(block.offsets[end])
    names: Sequence[str] = tuple(block.names[begin:end])
    offsets, numbers = block.offsets[begin : end + 1] - low, block.numbers[begin:end]
    letters = block.letters[low:high]
    return SequenceBlock(
        names, tuple(block.descriptions[begin:end]), letters, offsets, numbers, block.file, block.counts
    )
