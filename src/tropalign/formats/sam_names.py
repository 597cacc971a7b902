"""Names as SAM can hold them: those of reads and of references, mended where they are none."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from tropalign.errors import TropalignWarning, shown
from tropalign.results.rows import Named, Texts, encoded, encoded_names

#: Letters that a name may not hold (the SAM specification, sections 1.2.1 and 1.4): anywhere, and at its begin.
NO_REFERENCE = re.compile(r"[^0-9A-Za-z!#$%&*+./:;=?@^_|~-]|^[*=]")
NO_READ = re.compile(r"[^!-?A-~]")
#: Letters of a read's name.
MOST_LETTERS = 254

_mended: dict[str, WeakKeyDictionary[Named, Texts]] = {"read": WeakKeyDictionary(), "reference": WeakKeyDictionary()}


def valid_names(batch: Named, kind: str) -> Texts:
    """The names of all sequences of a batch in UTF-8, and where each begins.

    Letters that a name of this kind may not hold become ``_``, and a number makes it differ from the others.

    Parameters
    ----------
    kind : {"read", "reference"}

    Raises
    ------
    InputError
        A name with a tab or a line break.

    Warns
    -----
    TropalignWarning
        Names were mended; once per batch.
    """
    known = _mended[kind]
    if batch not in known:
        texts = encoded_names(batch)
        bad = _bad(texts, kind)
        known[batch] = encoded(_with_mended(list(batch.names), bad, kind)) if len(bad) else texts
    return known[batch]


def _bad(texts: Texts, kind: str) -> Sequence[int]:
    """Numbers of the names that cannot stay as they are."""
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
    warnings.warn(
        f"{len(bad):,} name{'' if one else 's'} of {kind}s cannot stand in SAM and {'is' if one else 'are'} mended, "
        f"{'' if one else 'the first '}{shown(repr(first)[:80])} to {names[bad[0]]!r}",
        TropalignWarning,
        stacklevel=2,
    )
    return names
