"""Number of sequences that a record stands for, which vsearch writes into names: ``r1;size=12``."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError

#: The annotation at the start of the name or after a semicolon, up to the next one, the end, or the number
#: (``_2``) that a repeated name gets.
_SIZE = re.compile(r"(?:^|;)size=([0-9]+)(?=;|$|_[0-9]+$)")
_WRITTEN = re.compile(r"(^|;)size=[0-9]+(?=;|$)")
#: Largest count, so that sums of many fit 64 bits.
MOST_COUNT = 10**12 - 1


def counts_of(names: Sequence[str]) -> NDArray[np.int64]:
    """Return the number in ``;size=`` of each name, 1 by default. Raises InputError for 0 or a huge count."""
    counts = np.ones(len(names), np.int64)
    for k, name in enumerate(names):
        if "size=" in name and (found := _SIZE.search(name)) is not None:
            digits = found[1].lstrip("0")
            if not 0 < len(digits) <= len(str(MOST_COUNT)):
                raise InputError(
                    f"its count is {'0' if not digits else 'too large'}: write ;size= and a whole number from 1 to "
                    f"{MOST_COUNT}, or leave it out",
                    record=name,
                )
            counts[k] = int(digits)
    return counts


def header_of(name: str) -> str:
    """A name as FASTA holds it: annotations stand behind the first word, where readers end the name.

    Examples
    --------
    >>> header_of("Homo sapiens;size=3"), header_of("a;size=3")
    ('Homo;size=3 sapiens', 'a;size=3')
    """
    word, _, more = name.partition(" ")
    rest, semicolon, annotations = more.partition(";")
    return f"{word.rstrip(';')};{annotations} {rest}".rstrip(" ") if semicolon else name


def has_count(name: str) -> bool:
    """True if the name has a count."""
    return "size=" in name and _SIZE.search(name) is not None


def with_count(name: str, count: int) -> str:
    """Replace or add the count of a name: ``a;size=3;sample=x`` becomes ``a;sample=x;size=12``."""
    return f"{_WRITTEN.sub('', name).rstrip(';')};size={count}"
