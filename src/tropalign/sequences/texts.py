"""Many texts in one byte array, decoded one by one on access.

Half a million names as Python objects take 40 MB, and as long to make as to read their sequences.

Texts from files (names, descriptions) are UTF-8. Bytes that are not UTF-8 are read as Latin-1, so that every text
can be written to any format: only `decoded` and `mended` decide this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import ne
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

#: Python's surrogates of bytes that are not UTF-8 -> Latin-1.
_LATIN_1 = {0xDC00 + byte: byte for byte in range(128, 256)}


class Texts(Sequence[str]):
    """Texts stored one after another, equal to any sequence of the same texts.

    `data`: UTF-8 bytes, uint8; text k is ``data[offsets[k]:offsets[k + 1]]``.
    """

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self._data, self._offsets = data, offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __reduce__(self) -> tuple[Any, ...]:
        return Texts, (self.data, self.offsets)  # only the bytes of this part

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
        return decoded(self._data[self._offsets[k] : self._offsets[k + 1]].tobytes())

    def __iter__(self) -> Iterator[str]:
        data, bounds = self.data.tobytes(), self.offsets.tolist()
        if not data.isascii():
            return (decoded(data[a:b]) for a, b in pairwise(bounds))
        text = data.decode("ascii")
        return (text[a:b] for a, b in pairwise(bounds))

    def __contains__(self, text: object) -> bool:
        if text == "":
            return bool((self._offsets[1:] == self._offsets[:-1]).any())
        return text in tuple(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __bool__(self) -> bool:
        return len(self) > 0

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Convert texts to bytes."""
        if isinstance(texts, Texts):
            return texts
        return cls.of_bytes([text.encode("utf-8", "backslashreplace") for text in texts])

    @classmethod
    def of_bytes(cls, pieces: Sequence[bytes]) -> Texts:
        """Make texts of UTF-8 bytes."""
        offsets = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(pieces), np.uint8), offsets)

    @property
    def is_ascii(self) -> bool:
        """True if all texts are ASCII."""
        return len(self.data) == 0 or int(self.data.max()) < 128

    @property
    def data(self) -> NDArray[np.uint8]:
        """The bytes of all texts, one after another, uint8."""
        return self._data[self._offsets[0] : self._offsets[-1]]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Start of each text in `data`, and the end of the last one, int64, shape (n + 1,)."""
        return self._offsets - self._offsets[0] if self._offsets[0] else self._offsets

    def part(self, begin: int, end: int) -> Texts:
        """Return texts `begin` to `end`, still as bytes."""
        return Texts(self._data, self._offsets[begin : end + 1])


def lines_in(text: str) -> Iterator[str]:
    """Yield the lines one by one: a list of them may take eight times the text."""
    begin = 0
    while (end := text.find("\n", begin)) >= 0:
        yield text[begin:end]
        begin = end + 1
    yield text[begin:]


def decoded(data: bytes) -> str:
    """Decode a text from a file: UTF-8, and every other byte as Latin-1."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape").translate(_LATIN_1)


def mended(texts: Sequence[str]) -> tuple[Sequence[str], int]:
    """Return the texts in UTF-8, and the number of those that were not."""
    if not isinstance(texts, Texts) or texts.is_ascii:
        return texts, 0
    data, bounds = texts.data.tobytes(), texts.offsets.tolist()
    pieces = [data[a:b] for a, b in pairwise(bounds)]
    made = [decoded(piece).encode() for piece in pieces]
    n_mended = sum(map(ne, made, pieces))
    return (Texts.of_bytes(made), n_mended) if n_mended else (texts, 0)


def part(texts: Sequence[str], begin: int, end: int) -> Sequence[str]:
    """Return texts `begin` to `end`, undecoded if they are bytes."""
    return texts.part(begin, end) if isinstance(texts, Texts) else texts[begin:end]


def chosen(texts: Sequence[str], index: NDArray[np.int64]) -> Sequence[str]:
    """Return texts by index, undecoded if they are bytes."""
    if not isinstance(texts, Texts):
        return tuple(texts[k] for k in index.tolist())
    lengths = np.diff(texts.offsets)[index]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    places = np.arange(offsets[-1]) + np.repeat(texts.offsets[index] - offsets[:-1], lengths)
    return Texts(texts.data[places], offsets)


def joined(pieces: Iterable[Sequence[str]]) -> Sequence[str]:
    """Concatenate several sequences of texts."""
    every = list(pieces)
    of_bytes = [piece for piece in every if isinstance(piece, Texts)]
    if not of_bytes or len(of_bytes) < len(every):
        return tuple(text for piece in every for text in piece)
    data = np.concatenate([piece.data for piece in of_bytes])
    offsets = np.zeros(1 + sum(map(len, of_bytes)), np.int64)
    if len(data):  # untouched zeros take no memory
        np.cumsum(np.concatenate([np.diff(piece._offsets) for piece in of_bytes]), out=offsets[1:])
    return Texts(data, offsets)


def lengths_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return the length of each text, int64, shape (n,): in bytes, or in characters for Python strings."""
    if isinstance(texts, Texts):
        return np.diff(texts.offsets)
    return np.fromiter(map(len, texts), np.int64, len(texts))


def joined_by(texts: Sequence[str], separator: str) -> memoryview:
    """Join all texts in UTF-8 with a one-byte separator."""
    if not isinstance(texts, Texts):
        return memoryview(separator.join(texts).encode("utf-8", "surrogatepass"))
    from tropalign import _native

    column = ("text", texts.data, texts.offsets, None, "")
    return memoryview(_native.join_rows([column], len(texts), "", separator))[:-1]
