"""How many sequences a record stands for, as vsearch writes it into names: ``r1;size=12``."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError

#: The annotation: at the name's begin or after a semicolon, up to the next one, the end, or the number (``_2``) that a
#: name gets which was there before.
_SIZE = re.compile(r"(?:^|;)size=([0-9]+)(?=;|$|_[0-9]+$)")
_WRITTEN = re.compile(r"(^|;)size=[0-9]+(?=;|$)")
#: A count at most, so that a sum of many fits 64 bits.
MOST_COUNT = 10**12 - 1


def counts_of(names: Sequence[str]) -> NDArray[np.int64]:
    """The number in ``;size=`` of each name, 1 where there is none.

    Raises
    ------
    InputError
        A count of 0, or one too large.
    """
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
    """Whether the name says a number."""
    return "size=" in name and _SIZE.search(name) is not None


def with_count(name: str, count: int) -> str:
    """A name with this number in place of its own.

    Examples
    --------
    >>> with_count("a;size=3;sample=x", 12), with_count("b", 2)
    ('a;sample=x;size=12', 'b;size=2')
    """
    return f"{_WRITTEN.sub('', name).rstrip(';')};size={count}"
