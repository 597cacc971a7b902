"""Columns of text tables, in the layout that native code (native/formats/rows.hpp) joins to rows.

A column is a tuple of its kind, its arrays, and last a prefix for every value. In a text column, index -1 stands for
``*``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError
from tropalign.properties import cached_per_object
from tropalign.sequences import SequenceBatch
from tropalign.sequences.annotations import header_of
from tropalign.sequences.texts import Texts as BytesTexts

Column = tuple[Any, ...]
Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]


class Named(Protocol):
    """Names and lengths: a SequenceBatch, or its metadata without residues."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names in order."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Residues per sequence, int64, shape (n,)."""

    def __len__(self) -> int: ...


#: Texts that are encoded at once.
ENCODED_AT_ONCE = 1 << 14

#: If the rows name less than this share of the sequences, only those names are encoded, otherwise all.
FEW_NAMES = 0.125


def encoded(words: Sequence[str]) -> Texts:
    """Return concatenated UTF-8 texts and their offsets."""
    offsets = np.zeros(len(words) + 1, np.int64)
    text = bytearray()
    for begin in range(0, len(words), ENCODED_AT_ONCE):  # in parts: an object per text takes several times its size
        pieces = [word.encode() for word in words[begin : begin + ENCODED_AT_ONCE]]
        offsets[begin + 1 : begin + 1 + len(pieces)] = [len(piece) for piece in pieces]
        text += b"".join(pieces)
    np.cumsum(offsets, out=offsets)
    return np.frombuffer(text, np.uint8), offsets


def _names_of(batch: Named) -> Sequence[str]:
    """Return the names, as bytes if they have not been decoded."""
    return batch.name_texts if isinstance(batch, SequenceBatch) else batch.names


def _encoded(words: Sequence[str]) -> Texts:
    """Return texts as bytes, like `encoded`; texts of a batch, which are ASCII, are already encoded."""
    return (words.data, words.offsets) if isinstance(words, BytesTexts) else encoded(words)


@cached_per_object
def encoded_names(batch: Named) -> Texts:
    """Return the encoded names of a batch; raises InputError for a name that would break a line or a column."""
    _check_all(batch)
    return _encoded(_names_of(batch))


@cached_per_object
def _check_all(batch: Named) -> None:
    """Check the names of a batch."""
    check_names(_names_of(batch))


def check_names(words: Sequence[str]) -> None:
    """Raise InputError for a name that would break a line or a column."""
    together = bytes(words.data) if isinstance(words, BytesTexts) else "".join(words).encode("utf-8", "surrogatepass")
    if not any(letter in together for letter in b"\t\n\r"):
        return
    for name in words:
        if "\t" in name or "\n" in name or "\r" in name:
            raise InputError("the name contains a tab or a line break: rename the sequence", record=name)


def fasta_headers(words: Sequence[str]) -> list[str]:
    """Return names as FASTA headers. Raises InputError for a name without an id, or with another name's id."""
    check_names(words)
    headers = [header_of(name) for name in words]
    name_of: dict[str, str] = {}
    for name, header in zip(words, headers, strict=True):
        word = header.partition(" ")[0]
        if not word or name_of.setdefault(word, name) != name:
            raise InputError(
                "a FASTA name ends at its first blank, so this one would be empty or equal to that of another "
                "sequence: rename the sequence",
                record=name,
            )
    return headers


def header_names(batch: SequenceBatch, index: NDArray[np.int64], prefix: str = "") -> Column:
    """Return a column of the indexed names as FASTA headers."""
    known = _names_of(batch)
    if isinstance(known, BytesTexts) and not (known.data == ord(" ")).any():  # only rows of alignments have blanks
        return names(batch, index, prefix)
    return ("text", *_encoded_headers(batch), np.ascontiguousarray(index, np.int64), prefix)


@cached_per_object
def _encoded_headers(batch: Named) -> Texts:
    return encoded(fasta_headers(batch.names))


def names(batch: SequenceBatch, index: NDArray[np.int64], prefix: str = "") -> Column:
    """Return a column of the names of the indexed sequences."""
    if not encoded_names.is_kept(batch) and len(index) < FEW_NAMES * len(batch):  # e.g. the best hits in a database
        _check_all(batch)
        present, place = np.unique(index, return_inverse=True)
        known = _names_of(batch)
        return ("text", *encoded([known[k] for k in present.tolist()]), place.astype(np.int64), prefix)
    return ("text", *encoded_names(batch), np.ascontiguousarray(index, np.int64), prefix)


def quoted_names(batch: Named, index: NDArray[np.int64], quote: Callable[[str], str], prefix: str = "") -> Column:
    """Return a column of the names of the indexed sequences, each converted by `quote`."""
    return ("text", *_quoted(batch, quote), np.ascontiguousarray(index, np.int64), prefix)


@cached_per_object
def _quoted(batch: Named, quote: Callable[[str], str]) -> Texts:
    return encoded([quote(name) for name in batch.names])


def numbers(values: NDArray[Any], prefix: str = "") -> Column:
    """Return a column of integers, or of decimals (float64) with at least one decimal place."""
    if values.dtype == np.float64:
        distinct, place = np.unique(values, return_inverse=True)
        return choices(place, [np.format_float_positional(value, trim="0") for value in distinct], prefix)
    kind = "int32" if values.dtype == np.int32 else "int64"
    return (kind, np.ascontiguousarray(values, np.int32 if kind == "int32" else np.int64), prefix)


def score_tags(score: NDArray[Any], before: str = "") -> list[Column]:
    """Return score tags of SAM and PAF: ``AS`` is an integer, so scores with decimals are repeated in ``as``."""
    if score.dtype != np.float64:
        return [numbers(score, f"{before}AS:i:")]
    return [numbers(np.rint(score).astype(np.int32), f"{before}AS:i:"), numbers(score, f"{before}as:f:")]


def fractions(values: NDArray[Any], prefix: str = "") -> Column:
    """Return a column of numbers with four decimals."""
    return ("real", np.ascontiguousarray(values, np.float64), 4, prefix)


def shortest(values: NDArray[Any], prefix: str = "") -> Column:
    """Return a column of numbers with enough digits to restore the same double; ``null`` for nan."""
    return ("shortest", np.ascontiguousarray(values, np.float64), prefix)


def evalues(values: NDArray[Any], prefix: str = "") -> Column:
    """Return a column of E-values, rounded as in BLAST's tables."""
    return ("evalue", np.ascontiguousarray(values, np.float64), prefix)


def bits(values: NDArray[Any], prefix: str = "") -> Column:
    """Return a column of bits, rounded as in BLAST's tables."""
    return ("bits", np.ascontiguousarray(values, np.float64), prefix)


def words(texts: Sequence[str], prefix: str = "") -> Column:
    """Return a column with a text per row."""
    return ("text", *encoded(texts), None, prefix)


def choices(values: NDArray[Any], choice: Sequence[str], prefix: str = "") -> Column:
    """Return a column that maps each value to the text with that index."""
    return ("text", *encoded(choice), np.ascontiguousarray(values, np.int64), prefix)


def each(values: NDArray[Any], form: str, zero: str, prefix: str = "") -> Column:
    """Return a column of ``form.format(value)``, with `zero` for 0."""
    distinct, place = np.unique(values, return_inverse=True)
    return choices(place, [form.format(value) if value else zero for value in distinct.tolist()], prefix)


def where(column: Column, has_text: NDArray[np.bool_]) -> Column:
    """Expand a text column of some rows to all rows, with ``*`` in the others; constant columns stay."""
    if column[0] == "constant":
        return column
    kind, data, offsets, index, prefix = column
    every = np.full(len(has_text), -1, np.int64)
    every[has_text] = np.arange(int(has_text.sum())) if index is None else index
    return (kind, data, offsets, every, prefix)


def constant(text: str) -> Column:
    """Return a column with one text in every row."""
    return ("constant", text)


def join(columns: list[Column], n_rows: int, separator: str = "\t", terminator: str = "\n") -> bytes:
    """Return the rows as text, with separated columns and terminated rows."""
    text: bytes = _native.join_rows(columns, n_rows, separator, terminator)
    return text


def column_text(column: Column, n_rows: int) -> tuple[bytes, NDArray[np.int64]]:
    """Return one column's text, and the offset of each row in it."""
    text: tuple[bytes, NDArray[np.int64]] = _native.column_text(column, n_rows)
    return text
