"""Annotations in names: ``;size=12``, the number of sequences that a record stands for, and the sample of a read.

The sample is that of ``r1;sample=gut``, the part of ``gut-1.17`` before the delimiter ``.``, or the name of the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named, shown
from tropalign.sequences.batch import SequenceBatch, concatenated
from tropalign.sequences.files import file_name
from tropalign.sequences.reader import of_two_kinds

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
                    f"its ;size= count is {'0' if not digits else 'too large'}: write an integer from 1 to "
                    f"{MOST_COUNT}, or omit it",
                    record=name,
                )
            counts[k] = int(digits)
    return counts


def header_of(name: str) -> str:
    """Return a name for FASTA: annotations follow the first word, at which readers end the name.

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


_SAMPLE_LABEL = re.compile(r"(?:^|;)(?:sample|barcodelabel)=([^;]*)(?=;|$)")
_FILE = re.compile(r"[^\s;\x00-\x1f\x7f]+")
_START = re.compile(r"[A-Za-z0-9_]*")


def labelled_sample(name: str) -> str:
    """Return the value of ``;sample=`` or ``;barcodelabel=`` in a name, or ""."""
    found = _SAMPLE_LABEL.search(name) if "=" in name else None
    return "" if found is None else found[1]


def by_vsearch(name: str) -> str:
    """Return the value of ``;sample=`` or ``;barcodelabel=``, else the leading letters, digits and underscores."""
    start = _START.match(name)
    assert start is not None  # the expression also matches an empty text
    return labelled_sample(name) if _SAMPLE_LABEL.search(name) else start[0]


def by_underscore(name: str) -> str:
    """Return the sample in ``;sample=``, or the name up to its last underscore or semicolon, as in QIIME 1.

    >>> by_underscore("gut-3_17;size=2"), by_underscore("r_17;sample=gut-3")
    ('gut-3', 'gut-3')
    """
    return labelled_sample(name) if _SAMPLE_LABEL.search(name) else name.partition(";")[0].rpartition("_")[0]


#: Ways to find the sample in a name, excluding delimiters and regular expressions.
NameRule = Literal["label", "vsearch", "underscore"]
RULES: Mapping[NameRule, Callable[[str], str]] = MappingProxyType(
    {"label": labelled_sample, "vsearch": by_vsearch, "underscore": by_underscore}
)
#: Returns the sample in a name, or "" if the name has none.
Teller = Callable[[str], str]


def teller(samples: Any = None, delimiter: Any = None, regex: Any = None, of_file: str = "") -> Teller:
    """Return a function that finds the sample in a name, by a rule of `RULES`, a delimiter or a regular expression.

    `delimiter`: the sample precedes it; ``;sample=`` goes first. `regex`: the sample is its first group, or the whole
    match. `of_file`: the sample of names without ``;sample=``, by default. Raises UsageError for two of these or
    an invalid one.
    """
    given = {"samples": samples, "sample_delimiter": delimiter, "sample_regex": regex}
    asked = [name for name, value in given.items() if value is not None]
    for name in asked:
        if not isinstance(given[name], str) or not given[name]:
            raise UsageError(f"{named(name)} must be a non-empty string, not {given[name]!r}")
    if len(asked) > 1:
        raise UsageError(f"{named(asked[0])} and {named(asked[1])} both set the sample: give only one of them")
    if samples is not None and samples not in RULES:
        raise UsageError(f"{named('samples')} {samples!r} is not one of {', '.join(RULES)}")
    if delimiter is not None:
        return partial(_text_before, delimiter)
    if regex is not None:
        try:
            return partial(_regex_sample, re.compile(regex))
        except re.error as error:
            raise UsageError(f"{named('sample_regex')} {regex!r} is not a regular expression: {error}") from None
    if samples is not None:
        return RULES[cast(NameRule, samples)]
    return partial(_labelled_or_file_sample, of_file)


def _labelled_or_file_sample(of_file: str, name: str) -> str:
    """Return the sample in ``;sample=``, else that of the file."""
    return labelled_sample(name) if _SAMPLE_LABEL.search(name) else of_file


def _text_before(delimiter: str, name: str) -> str:
    """Return the sample in ``;sample=``, or the text before the first delimiter.

    >>> _text_before(".", "gut-1.r1;size=2.5"), _text_before("_", "gut-1.r1;size=2_5")
    ('gut-1', '')
    """
    if _SAMPLE_LABEL.search(name):
        return labelled_sample(name)
    text = name if ";" in delimiter else name.partition(";")[0]
    before, found, _ = text.partition(delimiter)
    return before if found else ""


def _regex_sample(regex: re.Pattern[str], name: str) -> str:
    """Return the match of the first group, or the whole match."""
    found = regex.search(name)
    return "" if found is None else found[1 if regex.groups else 0] or ""


def samples_of(names: Iterable[str], tell: Teller) -> list[str]:
    """Return the sample of each read. Raises InputError if a name has none."""
    found = []
    for name in names:
        sample = tell(name)
        if not sample:
            raise InputError(
                "its name contains no sample: append ;sample=NAME to it, set the delimiter after the sample with "
                f"{named('sample_delimiter')}, or give one file per sample",
                record=name,
            )
        found.append(sample)
    return found


def sample_of_file(path: str) -> str:
    """Return a file's name up to its first dot. Raises InputError if that cannot be a sample's name."""
    sample = Path(file_name(path)).name.partition(".")[0]
    if not _FILE.fullmatch(sample):
        raise InputError(
            f"{sample!r} is not a valid sample name: rename the file so that its name begins without blanks or "
            "semicolons",
            file=file_name(path),
        )
    return sample


def pooled(batches: Iterable[SequenceBatch], paths: Iterable[str], keeps_labels: bool = False) -> SequenceBatch:
    """Pool reads, and name each one's sample after its file (up to the first dot): ``r1`` becomes ``r1;sample=gut``.

    `keeps_labels`: names may have other samples, with ``;sample=``. Raises InputError for two files of one name,
    mixed alphabets, and reads whose names have other samples.
    """
    all_batches, names = list(batches), list[str]()
    path_of: dict[str, str] = {}
    for batch, path in zip(all_batches, paths, strict=True):
        sample = sample_of_file(path)
        if sample in path_of:
            other = shown(path_of[sample])
            raise InputError(
                f"this file and {other} have the same sample name, {sample!r}: rename one of them", file=file_name(path)
            )
        path_of[sample] = file_name(path)
        for name in batch.names:
            if _SAMPLE_LABEL.search(name) is not None and keeps_labels:
                names.append(name)
                continue
            if _SAMPLE_LABEL.search(name) is not None:
                raise InputError(
                    "both its name and its file name give a sample: omit --samples file",
                    file=file_name(path),
                    record=name,
                )
            names.append(f"{name};sample={sample}")
        if batch.alphabet != all_batches[0].alphabet:
            first = next(iter(path_of.values()))
            raise of_two_kinds([(all_batches[0], first), (batch, file_name(path))])
    return concatenated(all_batches, names)


def numbered(texts: list[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the distinct texts in byte order, and the number of each text among them; int64, shape (n,)."""
    distinct = sorted(set(texts), key=str.encode)
    number = {text: k for k, text in enumerate(distinct)}
    return tuple(distinct), np.fromiter((number[text] for text in texts), np.int64, len(texts))
