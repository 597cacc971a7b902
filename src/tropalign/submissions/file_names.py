"""Sanitising of user-given file names, for display and for use in a job's folder."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from tropalign.formats.format import COMPRESSED

#: Maximum characters and bytes of a name; file systems take 255 bytes, and outputs append to it.
MOST_LETTERS, MOST_BYTES = 100, 180
DEFAULT = "sequences.fa"
_SUFFIX = re.compile(r"(\.[A-Za-z0-9_]{1,12})?(\.(gz|bz2|xz|zst))?$", re.IGNORECASE)


def sanitised(name: str, default: str = DEFAULT) -> str:
    r"""Return the last part of a path as a safe, visible file name.

    Invisible characters and leading dots, dashes and blanks are removed; suffixes stay, because readers use them.

    >>> sanitised("../../etc/passwd"), sanitised("C:\\data\\my reads.fq.gz"), sanitised("--output=x"), sanitised("..")
    ('passwd', 'my reads.fq.gz', 'output=x', 'sequences.fa')
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    seen = "".join(letter for letter in last if letter.isprintable())
    bare = seen.lstrip(".-@~ ").rstrip(". ")
    return _shortened(bare) or default


def _shortened(name: str) -> str:
    if len(name) <= MOST_LETTERS and len(name.encode()) <= MOST_BYTES:
        return name
    found = _SUFFIX.search(name)
    suffix = found.group() if found else ""
    stem = name[: len(name) - len(suffix)][: MOST_LETTERS - len(suffix)]
    while len((stem + suffix).encode()) > MOST_BYTES:
        stem = stem[:-1]
    return f"{stem.rstrip('. ')}{suffix}".lstrip(".")


def stem_of(name: str) -> str:
    """Return the name without the suffixes of format and compression.

    >>> stem_of("proteins.fa.gz"), stem_of("v1.2.tsv"), stem_of("reads")
    ('proteins', 'v1.2', 'reads')
    """
    for suffix in COMPRESSED:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
            break
    return name.rpartition(".")[0] or name


def numbered(name: str, taken: Iterable[str]) -> str:
    """Return the name, numbered if it is taken (regardless of case, as on some file systems).

    >>> numbered("x.fa.gz", ["X.fa.gz"]), numbered("x.fa", [])
    ('x-2.fa.gz', 'x.fa')
    """
    seen = {one.casefold() for one in taken}
    stem = stem_of(name)
    number, found = 1, name
    while found.casefold() in seen:
        number += 1
        found = f"{stem}-{number}{name[len(stem) :]}"
    return found
