"""Many texts in one array of bytes: they become Python's one by one, when they are asked for.

Half a million names as Python's objects take 40 MB, and as long to make as to read their sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray


class Texts(Sequence[str]):
    """Texts that lie one after another. Equal to any sequence of the same texts.

    Parameters
    ----------
    data : uint8, shape (n_bytes,)
        ASCII.
    offsets : int64, shape (n + 1,)
        Text k is ``data[offsets[k]:offsets[k + 1]]``.
    """

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self._data, self._offsets = data, offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[str, ...]: ...
    def __getitem__(self, key: int | slice) -> str | tuple[str, ...]:
        if isinstance(key, slice):
            begin, end, step = key.indices(len(self))
            if step != 1:
                return tuple(self[k] for k in range(begin, end, step))
            return tuple(self.part(begin, max(begin, end)))
        k = range(len(self))[key]
        return self._data[self._offsets[k] : self._offsets[k + 1]].tobytes().decode("latin-1")

    def __iter__(self) -> Iterator[str]:
        first, last = self._offsets[0], self._offsets[-1]
        text, bounds = self._data[first:last].tobytes().decode("latin-1"), (self._offsets - first).tolist()
        return (text[a:b] for a, b in pairwise(bounds))

    def __contains__(self, text: object) -> bool:
        if text == "":
            return bool((self._offsets[1:] == self._offsets[:-1]).any())
        return text in tuple(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def part(self, begin: int, end: int) -> Texts:
        """Texts `begin` to `end`, still as bytes."""
        return Texts(self._data, self._offsets[begin : end + 1])


def part(texts: Sequence[str], begin: int, end: int) -> Sequence[str]:
    """Texts `begin` to `end` of some; they stay bytes where they are."""
    return texts.part(begin, end) if isinstance(texts, Texts) else texts[begin:end]


def joined(pieces: Iterable[Sequence[str]]) -> Sequence[str]:
    """Texts of several sequences, one after another."""
    every = list(pieces)
    of_bytes = [piece for piece in every if isinstance(piece, Texts)]
    if not of_bytes or len(of_bytes) < len(every):
        return tuple(text for piece in every for text in piece)
    data = np.concatenate([piece._data[piece._offsets[0] : piece._offsets[-1]] for piece in of_bytes])
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(piece._offsets) for piece in of_bytes)])
    return Texts(data, np.cumsum(lengths))
