"""Reads in runs of neighbours: cut out of the blocks of files, and combined into those of tiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.results.otu_table import RowOwners
from tropalign.sequences.blocks import SequenceBlock

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reads:
    """A run of reads.

    `letters`: uint8, without gaps, as written. `offsets`: int64, shape (n + 1,).
    """

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    offsets: Index


@dataclass(frozen=True, eq=False)
class Texts:
    """State sets of some reads of a block, on one strand or on both.

    `chosen`: int64, indices of the reads. `sets`, `other_sets`: of all letters of the block; the latter of the
    opposite strand, or None.
    """

    block: Reads
    chosen: Index
    sets: NDArray[np.uint32]
    other_sets: NDArray[np.uint32] | None

    def own(self, k: int) -> NDArray[np.uint32]:
        """Return read k of the block as it was written."""
        return self.sets[self.block.offsets[k] : self.block.offsets[k + 1]]

    def other(self, k: int) -> NDArray[np.uint32]:
        """Return read k of the block on its opposite strand; raises TypeError if there is one strand."""
        if self.other_sets is None:
            raise TypeError("these reads have one strand")
        return self.other_sets[self.block.offsets[k] : self.block.offsets[k + 1]]

    def take(self, chosen: Index) -> Texts:
        """Choose other reads of the block."""
        return replace(self, chosen=chosen)


def part(block: Reads | SequenceBlock, begin: int, end: int) -> Reads:
    """Return a run of a block's reads."""
    first, last = int(block.offsets[begin]), int(block.offsets[end])
    return Reads(tuple(block.names[begin:end]), block.letters[first:last], block.offsets[begin : end + 1] - first)


def regrouped(
    blocks: Iterable[SequenceBlock], spans: Iterator[tuple[int, int]] | None, most_reads: int
) -> Iterator[Reads]:
    """Yield the reads of each span (start, end); or, without spans, of each block in runs of at most `most_reads`."""
    if spans is None:
        for block in blocks:
            for begin in range(0, len(block.names), most_reads):
                yield part(block, begin, min(begin + most_reads, len(block.names)))
        return
    before = 0  # reads of earlier blocks
    pieces: list[Reads] = []
    span = next(spans, None)
    for block in blocks:
        after = before + len(block.names)
        while span is not None and span[0] < after:
            begin, end = max(span[0], before), min(span[1], after)
            pieces.append(part(block, begin - before, end - before))
            if span[1] > after:
                break
            yield _together(pieces)
            pieces, span = [], next(spans, None)
        if span is None:
            return
        before = after
    raise InputError("the reads are fewer than they were when the run began: run it again")


def _together(pieces: list[Reads]) -> Reads:
    """Concatenate the reads of neighbouring blocks."""
    if len(pieces) == 1:
        return pieces[0]
    lengths: Any = np.concatenate([np.diff(piece.offsets) for piece in pieces])
    names = tuple(name for piece in pieces for name in piece.names)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Reads(names, np.concatenate([piece.letters for piece in pieces]), offsets)


def owning(blocks: Iterable[SequenceBlock], owners: RowOwners, settles: bool = True) -> Iterator[SequenceBlock]:
    """Yield the blocks and enter their reads as owners of a table's rows; settle the table at the end if `settles`.

    Raises InputError for a row that two reads have, and at the end for a row without a read.
    """
    for block in blocks:
        owners.add(block.names)
        yield block
    if settles:
        owners.settle()
