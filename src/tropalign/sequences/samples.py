"""Which sample a read is of, as usearch and vsearch write it into names: ``r1;sample=gut``, ``gut.17``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import file_name

_SAID = re.compile(r"(?:^|;)(?:sample|barcodelabel)=([^;]*)(?=;|$)")
_FILE = re.compile(r"[^\s;\x00-\x1f\x7f]+")
_START = re.compile(r"[A-Za-z0-9_]*")


def said_in(name: str) -> str:
    """What ``;sample=`` or ``;barcodelabel=`` says in a name; empty where it says neither.

    Examples
    --------
    >>> said_in("r5;sample=gut-3;size=2"), said_in("gut.17")
    ('gut-3', '')
    """
    found = _SAID.search(name) if "=" in name else None
    return "" if found is None else found[1]


def by_label(name: str) -> str:
    """What ``;sample=`` or ``;barcodelabel=`` says, else the letters, digits and underscores that the name begins with.

    Examples
    --------
    >>> by_label("r5;sample=gut-3;size=2"), by_label("gut.17"), by_label("S1_2;size=3")
    ('gut-3', 'gut', 'S1_2')
    """
    start = _START.match(name)
    assert start is not None  # it may be empty
    return said_in(name) if _SAID.search(name) else start[0]


def by_underscore(name: str) -> str:
    """The name up to its last underscore, without what follows a semicolon, as QIIME 1 wrote names.

    Examples
    --------
    >>> by_underscore("gut-3_17;size=2")
    'gut-3'
    """
    return name.partition(";")[0].rpartition("_")[0]


#: How names tell samples.
NameRule = Literal["label", "underscore"]
RULES: Mapping[NameRule, Callable[[str], str]] = MappingProxyType({"label": by_label, "underscore": by_underscore})


def samples_of(names: Iterable[str], rule: NameRule) -> list[str]:
    """The sample of each read, by one of `RULES`. Raises InputError where a name tells none."""
    tell = RULES[rule]
    found = []
    for name in names:
        sample = tell(name)
        if not sample:
            raise InputError(
                "its name tells no sample: write ;sample=NAME behind it, or give a file per sample", record=name
            )
        found.append(sample)
    return found


def pooled(batches: Iterable[SequenceBatch], paths: Iterable[str]) -> SequenceBatch:
    """Reads of files, each of a sample that has the file's name up to its first dot: ``r1`` becomes ``r1;sample=gut``.

    Raises
    ------
    InputError
        Two files of one name; nucleotides beside proteins; a read whose name tells another sample.
    """
    all_batches, names = list(batches), list[str]()
    path_of: dict[str, str] = {}
    for batch, path in zip(all_batches, paths, strict=True):
        sample = Path(file_name(path)).name.partition(".")[0]
        if not _FILE.fullmatch(sample):
            raise InputError(
                f"a sample cannot be called {sample!r}: give the file a name that begins without blanks or semicolons",
                file=file_name(path),
            )
        if sample in path_of:
            other = shown(path_of[sample])
            raise InputError(
                f"this is sample {sample!r}, as {other}: name each file after its sample", file=file_name(path)
            )
        path_of[sample] = file_name(path)
        for name in batch.names:
            if _SAID.search(name) is not None:
                raise InputError(
                    "its name tells a sample, and so does its file's: choose --samples label",
                    file=file_name(path),
                    record=name,
                )
            names.append(f"{name};sample={sample}")
        if batch.alphabet != all_batches[0].alphabet:
            kinds = f"{batch.alphabet.name}s beside {all_batches[0].alphabet.name}s"
            raise InputError(f"{kinds}: say what all are with --alphabet", file=file_name(path))
    lengths = np.concatenate([batch.lengths for batch in all_batches])
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    codes, letters = (np.concatenate([getattr(batch, what) for batch in all_batches]) for what in ("codes", "letters"))
    return SequenceBatch(codes, offsets, tuple(names), all_batches[0].alphabet, letters)


def numbered(texts: list[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The distinct texts in the order of their bytes, and the number of each of them; int64, shape (n,)."""
    distinct = sorted(set(texts), key=str.encode)
    number = {text: k for k, text in enumerate(distinct)}
    return tuple(distinct), np.fromiter((number[text] for text in texts), np.int64, len(texts))
