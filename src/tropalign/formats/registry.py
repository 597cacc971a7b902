"""Finds formats by the kind of results that they take and their name or suffix, and binds them to what they write.

A kind is "pairs" or "plots", "placed" or one of its outputs ("placed/rows", the alignment, "placed/table",
"placed/branches", "placed/taxa", "placed/sunburst", "placed/otus", "placed/report"), "aligned", "aligned/agreement" (a
page) or "confidence", "trees", "hits", "paths", "segments" or "tracks", "clusters", "counts" or "representatives",
"chimeras/table" or "chimeras/sequences", "models". Rooms list their formats in ``FORMATS``; nothing that writes is
imported before it is needed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from tropalign.errors import InputError, UsageError
from tropalign.formats.format import COMPRESSED, TEXT, Context, Format
from tropalign.formats.header import Header
from tropalign.formats.writer import LAYOUT, FormatWriter
from tropalign.properties import cached

if TYPE_CHECKING:
    from tropalign.formats.pairs import PairsFormat

ROOMS = ("pairs", "placed", "aligned", "hits", "paths", "segments", "clusters", "chimeras", "trees", "models")
#: Rooms of the kinds that are not called after theirs.
_ROOMS = {
    "plots": "pairs",
    "confidence": "aligned",
    "tracks": "segments",
    "representatives": "clusters",
    "counts": "clusters",
}
#: Kinds that shards may hold, with the contexts that they are assembled with.
_CONTEXTS = {
    "pairs": "PairsContext", "plots": "PairsContext", "placed": "PlacedContext", "hits": "HitsContext",
    "segments": "SegmentsContext", "tracks": "SegmentsContext",
}  # fmt: skip
SHARD = ".shard"
#: Which of how many shards it is, where a name says so.
_COUNT = re.compile(r"\.\d+([-_]?of[-_]?\d+)?", re.ASCII)


@cached
def _formats(kind: str) -> Mapping[str, Format]:
    """The formats of a kind by their names, the default first."""
    room = _ROOMS.get(kind, kind.partition("/")[0])
    forms: tuple[Format, ...] = import_module(f"{__package__}.{room}").FORMATS[kind]
    return {form.name: form for form in forms}


def format_names(kind: str) -> tuple[str, ...]:
    """The formats of a kind, the default first, the others by the alphabet."""
    default, *others = _formats(kind)
    return (default, *sorted(others))


@overload
def format_of(kind: Literal["pairs"], name: str) -> PairsFormat: ...
@overload
def format_of(kind: str, name: str) -> Format: ...
def format_of(kind: str, name: str) -> Format:
    """The format itself. Raises UsageError where there is none of this name."""
    found = _formats(kind).get(name)
    if found is None:
        raise UsageError(f"format {name!r} is none of {', '.join(format_names(kind))}")
    return found


def media_type_of(suffix: str) -> str:
    """The media type of files with this suffix, by the first room that names its files so; else plain text."""
    for room in ROOMS:
        for forms in import_module(f"{__package__}.{room}").FORMATS.values():
            for form in forms:
                if form.suffix == suffix:
                    found: str = form.media_type
                    return found
    return TEXT


def format_for_path(kind: str, path: str | os.PathLike[str] | None) -> str:
    """Name of the format that a path's suffix chooses, which may be followed by that of a compression.

    Without a path, for ``-``, a device or a pipe, and for a name without a suffix it is the default of the kind.

    Raises
    ------
    UsageError
        A suffix that no format has.
    """
    suffix = suffix_of(path)
    if not suffix:
        return next(iter(_formats(kind)))
    for name, form in _formats(kind).items():
        if suffix in form.suffixes:
            return name
    known = {suffix for form in _formats(kind).values() for suffix in form.suffixes}
    option = ", or choose the format by its option" if kind in ROOMS else ""  # files beside the main one have none
    raise UsageError(
        f"{path}: no format has the suffix {suffix!r}: end the name in one of {' '.join(sorted(known))} (and "
        f"{' '.join(COMPRESSED)} to compress){option}"
    )


def suffix_of(path: str | os.PathLike[str] | None) -> str:
    """The suffix that chooses a format, in lower case; empty where the name has none.

    Those of a compression and of a shard are left out before: of ``x.paf.gz``, ``1.paf.shard`` and
    ``x.paf.1-of-3.shard`` it is ``.paf``.
    """
    suffix = _last_suffix(path)
    if suffix not in (*COMPRESSED, SHARD):
        return suffix
    rest = Path(str(path)).with_suffix("")
    if suffix == SHARD and _COUNT.fullmatch(_last_suffix(rest)):
        rest = rest.with_suffix("")
    return _last_suffix(rest)


def _last_suffix(path: str | os.PathLike[str] | None) -> str:
    """The last suffix; empty for standard output, devices and pipes, whose names tell nothing of what goes there."""
    named = Path("-" if path is None else path)
    is_file = os.path.isfile(named) or not os.path.exists(named)  # which take a name that no file can have, too
    is_device = named.parts[:2] == ("/", "dev") and named.parts[2:3] != ("shm",)  # where Linux keeps files in memory
    return named.suffix.lower() if is_file and not is_device else ""


def check_format(kind: str, name: str, report: str = "alignment") -> None:
    """Finds what is wrong with a choice before anything is read or computed.

    Raises
    ------
    UsageError
        There is no such format.
    InputError
        It cannot show that report, or lacks a package.
    """
    chosen = format_of(kind, name)
    chosen.check_report(report)
    chosen.codec.require()


def make_writer(kind: str, name: str, header: Header, context: Context) -> FormatWriter[Any]:
    """Binds a format to its header and to what its results are about.

    Parameters
    ----------
    context
        That of the kind: a PairsContext for "pairs" and "plots", an AlignedContext for "aligned", ...

    Raises
    ------
    UsageError
        There is no such format.
    InputError
        The format cannot show what is asked for, or lacks a package.
    """
    check_format(kind, name, getattr(context, "report", "alignment"))
    chosen = format_of(kind, name)
    chosen.codec.check(context)
    return FormatWriter(kind, chosen, header, context)


def restore(description: Any) -> FormatWriter[Any]:
    """The writer that `FormatWriter.describe` described; it assembles but does not encode, as it knows no letters.

    Parameters
    ----------
    description
        From a file, which may hold anything.

    Raises
    ------
    InputError
        It is not what this version writes, or damaged; a package is missing.
    """
    try:
        layout, kind, name = (description[key] for key in ("layout", "kind", "format"))
        if layout != LAYOUT or kind not in _CONTEXTS or name not in format_names(kind):
            raise ValueError("unknown layout, kind or format")
        header = Header.restore(description["header"])
        room = _ROOMS.get(kind, kind)
        context = getattr(import_module(f"{__package__}.{room}.context"), _CONTEXTS[kind]).restore(
            description["context"]
        )
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        raise InputError(
            "another version of tropalign wrote this, or it is damaged: merge with that version, or write it again"
        ) from None
    return make_writer(kind, name, header, context)
