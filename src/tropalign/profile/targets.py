"""Protein sequences as a search takes them: in Easel's codes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.profile.residues import EASEL_CODES, LETTERS, UNKNOWN
from tropalign.sequences.blocks import SequenceBlock

#: Longer sequences are refused, as HMMER refuses them.
LONGEST = 100_000
#: What stands for a letter that no protein has.
WILDCARD = "X"
#: Bytes that a sequence takes beside its letters: name and description as Python objects, offsets, the length order.
RECORD_BYTES = 300


@dataclass(frozen=True, eq=False)
class Proteins:
    """Some neighbouring sequences.

    Attributes
    ----------
    names, descriptions : tuple of str
    codes : uint8
        In Easel's order (`tropalign.profile.residues`).
    offsets : int64, shape (n + 1,)
        Sequence k is ``codes[offsets[k]:offsets[k + 1]]``.
    first
        The number of the first one among all.
    """

    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    codes: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    first: int = 0

    def __len__(self) -> int:
        return len(self.names)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Residues of each."""
        return np.diff(self.offsets)

    @cached_property
    def native(self) -> _native.TargetBlock:
        """The block as native code takes it."""
        return _native.TargetBlock(self.codes, self.offsets)

    def held_bytes(self) -> int:
        """What it takes in memory, about."""
        return len(self.codes) + RECORD_BYTES * len(self)

    def part(self, begin: int, end: int) -> Proteins:
        """Sequences `begin` to `end` of it."""
        if (begin, end) == (0, len(self)):
            return self
        at, to = int(self.offsets[begin]), int(self.offsets[end])
        offsets = self.offsets[begin : end + 1] - at
        names, descriptions = self.names[begin:end], self.descriptions[begin:end]
        return Proteins(names, descriptions, self.codes[at:to], offsets, self.first + begin)


def joined(pieces: list[Proteins]) -> Proteins:
    """Neighbouring pieces as one."""
    if len(pieces) == 1:
        return pieces[0]
    lengths = np.concatenate([np.zeros(1, np.int64), *(piece.lengths for piece in pieces)])
    return Proteins(
        names=tuple(name for piece in pieces for name in piece.names),
        descriptions=tuple(text for piece in pieces for text in piece.descriptions),
        codes=np.concatenate([np.zeros(0, np.uint8), *(piece.codes for piece in pieces)]),
        offsets=np.cumsum(lengths),
        first=pieces[0].first if pieces else 0,
    )


class Encoder:
    """Blocks of letters as Proteins, numbered one after another; tells of letters that no protein has, once.

    Raises
    ------
    InputError
        From `encode`: a sequence with gaps, or a longer one than HMMER takes.

    Warns
    -----
    TropalignWarning
        The first letter that no protein has.
    """

    def __init__(self) -> None:
        self.n = 0
        self._is_warned = False

    def encode(self, block: SequenceBlock) -> Proteins:
        """The block's sequences."""
        codes = EASEL_CODES[block.letters]
        lengths = np.diff(block.offsets)
        if len(lengths) and int(lengths.max()) > LONGEST:
            k = int(lengths.argmax())
            raise InputError(
                f"the sequence has {lengths[k]:,} residues, and a protein may have {LONGEST:,} at most (is it DNA?): "
                "leave it out, or cut it",
                file=block.file,
                record=block.names[k],
            )
        self._check_letters(block, codes)
        found = Proteins(block.names, block.descriptions, codes, block.offsets, self.n)
        self.n += len(block)
        return found

    def _check_letters(self, block: SequenceBlock, codes: NDArray[np.uint8]) -> None:
        if (gaps := block.letters == ord("-")).any():
            raise InputError(
                "the sequence holds gaps (-): give sequences that are not aligned",
                file=block.file,
                record=_holder(block, int(gaps.argmax())),
            )
        unknown = codes == UNKNOWN
        if not unknown.any():
            return
        codes[unknown] = LETTERS.index(WILDCARD)
        if not self._is_warned:
            self._is_warned = True
            at = int(unknown.argmax())
            where = f"{shown(block.file)}, record {shown(_holder(block, at))!r}"
            what = f"{chr(block.letters[at])!r} is no letter of a protein; such letters are read as {WILDCARD}"
            warnings.warn(f"{where}: {what}", TropalignWarning, stacklevel=2)


def _holder(block: SequenceBlock, position: int) -> str:
    """The name of the sequence that holds this letter."""
    return block.names[int(np.searchsorted(block.offsets, position, "right")) - 1]
