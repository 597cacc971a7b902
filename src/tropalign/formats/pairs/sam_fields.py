"""Fields of SAM: valid names of reads and references, and letters and qualities of reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import shown, warn
from tropalign.properties import cached_per_object
from tropalign.results.alignments import AlignmentTable
from tropalign.results.gapped import aligned_queries
from tropalign.results.rows import Column, Named, Texts, encoded, encoded_names
from tropalign.sequences import SequenceBatch
from tropalign.sequences.alphabet import byte_counts
from tropalign.sequences.batch import NO_QUALITY
from tropalign.sequences.records import FIRST_QUALITY, HIGHEST_QUALITY
from tropalign.sequences.strands import mirrored

#: Characters that a name may not hold (SAM specification, sections 1.2.1 and 1.4): anywhere, and at its start.
NO_REFERENCE = re.compile(r"[^0-9A-Za-z!#$%&*+./:;=?@^_|~-]|^[*=]")
NO_READ = re.compile(r"[^!-?A-~]")
#: Maximum length of a read's name.
MOST_LETTERS = 254


@cached_per_object
def valid_names(batch: Named, kind: str) -> Texts:
    """Return the names of a batch in UTF-8 and their offsets; warns once per batch if names were changed.

    Invalid characters for this kind, "read" or "reference", become ``_``, and a number makes names unique. Raises
    InputError for a name with a tab or a line break.
    """
    texts = encoded_names(batch)
    bad = _bad(texts, kind)
    return encoded(_with_mended(list(batch.names), bad, kind)) if len(bad) else texts


def _bad(texts: Texts, kind: str) -> Sequence[int]:
    """Return indices of names that have to be changed."""
    data, offsets = texts
    pattern = NO_READ if kind == "read" else NO_REFERENCE
    is_bad = np.array([bool(pattern.match("_" + chr(k), 1)) or k > 127 for k in range(256)])[data]
    found = set(np.searchsorted(offsets, np.flatnonzero(is_bad), "right") - 1)
    if kind == "read":
        found |= set(np.flatnonzero(np.diff(offsets) > MOST_LETTERS))
    else:
        found |= set(np.flatnonzero(np.isin(data[offsets[:-1]], list(b"*="))))
    return sorted(int(k) for k in found)


def _with_mended(names: list[str], bad: Sequence[int], kind: str) -> list[str]:
    pattern = NO_READ if kind == "read" else NO_REFERENCE
    first = names[bad[0]]
    taken = set(names)
    for k in bad:
        plain = pattern.sub("_", names[k])[: MOST_LETTERS if kind == "read" else None]
        made, number = plain, 1
        while made in taken:
            number += 1
            ending = f"_{number}"
            made = plain[: MOST_LETTERS - len(ending) if kind == "read" else None] + ending
        taken.add(made)
        names[k] = made
    one = len(bad) == 1
    warn(
        f"{len(bad):,} name{'' if one else 's'} of {kind}s cannot stand in SAM and {'is' if one else 'are'} mended, "
        f"{'' if one else 'the first '}{shown(repr(first)[:80])} to {names[bad[0]]!r}"
    )
    return names


Bytes = NDArray[np.uint8]
#: Bytes that SEQ may hold: letters, ``=`` and ``.``.
IN_SEQ = np.array([(chr(k).isalpha() and k < 128) or chr(k) in "=." for k in range(256)])


def letters(table: AlignmentTable, prefix: str, has_u: bool = True) -> Column:
    """Return the full query of each row on the aligned strand; non-letters become wildcards, with a warning per batch.

    Without `has_u`, U is written as T.
    """
    text, _, offsets, index = aligned_queries(table)
    shown = _shown(table.queries, has_u)
    if shown is not None:
        pieces = [text[begin:end] for begin, end in zip(offsets[index], offsets[index + 1], strict=True)]
        offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces], dtype=np.int64)])
        text, index = shown[np.concatenate([*pieces, np.zeros(0, np.uint8)])], np.arange(len(pieces))
    return ("text", np.ascontiguousarray(text), offsets, np.ascontiguousarray(index), prefix)


@cached_per_object
def _shown(batch: SequenceBatch, has_u: bool) -> Bytes | None:
    """Return the output character of each byte; None if all characters of the batch stay unchanged."""
    n_of = byte_counts(batch.letters)
    table = np.arange(256, dtype=np.uint8)
    table[~IN_SEQ] = ord(batch.alphabet.wildcard)
    if not has_u:
        table[list(b"Uu")] = list(b"Tt")
    if n_of[~IN_SEQ].any():
        n, first = int(n_of[~IN_SEQ].sum()), chr(int(np.argmax(n_of * ~IN_SEQ > 0)))
        what = f"{n:,} letter{'s' * (n > 1)} such as {first!r}"
        warn(f"{what} cannot stand in SAM: written as {batch.alphabet.wildcard}")
    return table if n_of[table != np.arange(256)].any() else None


def qualities(table: AlignmentTable, prefix: str) -> Column:
    """Return the qualities of each row's query on the aligned strand; ``*`` if unknown."""
    batch = table.queries
    if batch.qualities is None:
        return ("constant", prefix + "*")
    text, offsets, is_unknown = _quality_text(batch)
    minus: Any = 0 if table.strand is None else table.strand < 0
    index = np.where(is_unknown[table.query_index], 2 * len(batch), table.query_index + len(batch) * minus)
    return ("text", text, offsets, index, prefix)


@cached_per_object
def _quality_text(batch: SequenceBatch) -> tuple[Bytes, NDArray[np.int64], NDArray[np.bool_]]:
    """Return qualities of forward strands, of reverse strands, and ``*``; and a mask of sequences without them."""
    values, offsets = batch.qualities, batch.offsets
    assert values is not None
    text = np.minimum(values, HIGHEST_QUALITY) + np.uint8(FIRST_QUALITY)
    n_unknown = np.concatenate([[0], np.cumsum(values == NO_QUALITY)])[offsets]
    other = mirrored(text, offsets) if batch.alphabet.has_strands else text
    places = np.concatenate([offsets, offsets[1:] + offsets[-1], [2 * offsets[-1] + 1]])
    whole = np.concatenate([text, other, np.frombuffer(b"*", np.uint8)])
    return whole, places, np.diff(n_unknown) > 0
