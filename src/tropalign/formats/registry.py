"""Registry of formats by kind of result and name or suffix, and factory of their writers.

A kind is "pairs" or "plots", "placed" or one of its outputs ("placed/rows", the alignment, "placed/table",
"placed/branches" (jplace), "placed/by_branch", "placed/taxa", "placed/sunburst", "placed/otus", "placed/report"),
"aligned", "aligned/agreement" (a page), "differences" or "confidence", "trees", "hits", "paths", "segments" or
"tracks", "clusters", "counts", "representatives" or "representatives/reads" (also FASTQ), "chimeras/table" or
"chimeras/sequences", "orientations/table" or "orientations/sequences", "models" or "models/alignments". Rooms, the
folders of kinds of results, list their formats in ``FORMATS``; writers are imported only when they are needed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from tropalign.errors import InputError, UsageError
from tropalign.formats.format import COMPRESSED, DESCRIPTION_VERSION, TEXT, Context, Format, FormatWriter, Header
from tropalign.properties import cached

if TYPE_CHECKING:
    from tropalign.formats.pairs import PairsFormat

FOLDERS = ("pairs", "placed", "aligned", "hits", "paths", "segments", "clusters", "trees")
#: Folders of kinds with other names.
_FOLDER_OF_KIND = {
    "plots": "pairs",
    "confidence": "aligned",
    "differences": "aligned",
    "tracks": "segments",
    "representatives": "clusters",
    "counts": "clusters",
    "chimeras": "clusters",
    "orientations": "clusters",
    "models": "hits",
}
#: Kinds that shards may hold, and the contexts that assemble them.
_CONTEXTS = {
    "pairs": "PairsContext", "plots": "PairsContext", "placed": "PlacedContext", "hits": "HitsContext",
    "segments": "SegmentsContext", "tracks": "SegmentsContext",
}  # fmt: skip
SHARD = ".shard"
#: Number of a shard and of all shards in a file name.
_COUNT = re.compile(r"\.\d+([-_]?of[-_]?\d+)?", re.ASCII)


@cached
def _formats(kind: str) -> Mapping[str, Format]:
    """Return the formats of a kind by name, the default first."""
    folder = kind.partition("/")[0]
    forms: tuple[Format, ...] = import_module(f"{__package__}.{_FOLDER_OF_KIND.get(folder, folder)}").FORMATS[kind]
    return {form.name: form for form in forms}


def format_names(kind: str) -> tuple[str, ...]:
    """Return the format names of a kind, the default first, the others alphabetically."""
    default, *others = _formats(kind)
    return (default, *sorted(others))


@overload
def format_of(kind: Literal["pairs"], name: str) -> PairsFormat: ...
@overload
def format_of(kind: str, name: str) -> Format: ...
def format_of(kind: str, name: str) -> Format:
    """Return a format by name. Raises UsageError if it does not exist."""
    found = _formats(kind).get(name)
    if found is None:
        raise UsageError(f"format {name!r} is not one of {', '.join(format_names(kind))}")
    return found


def media_type_of(suffix: str) -> str:
    """Return the media type of files with this suffix, from the first folder that uses it; plain text by default."""
    for folder in FOLDERS:
        for forms in import_module(f"{__package__}.{folder}").FORMATS.values():
            for form in forms:
                if form.suffix == suffix:
                    found: str = form.media_type
                    return found
    return TEXT


def format_for_path(kind: str, path: str | os.PathLike[str] | None) -> str:
    """Return the format name for a path's suffix, which may be followed by a compression suffix.

    Without a path, for ``-``, a device or a pipe, and for a name without a suffix, it is the default of the kind.
    Raises UsageError for an unknown suffix.
    """
    suffix = suffix_of(path)
    if not suffix:
        return next(iter(_formats(kind)))
    for name, form in _formats(kind).items():
        if suffix in form.suffixes:
            return name
    known = {suffix for form in _formats(kind).values() for suffix in form.suffixes}
    option = (
        ", or choose the format by its option" if kind in (*FOLDERS, "models") else ""
    )  # additional outputs have no such option
    raise UsageError(
        f"{path}: no format has the suffix {suffix!r}: end the name in one of {' '.join(sorted(known))} (and "
        f"{' '.join(COMPRESSED)} to compress){option}"
    )


def suffix_of(path: str | os.PathLike[str] | None) -> str:
    """Return the suffix that selects a format, in lower case; empty if the name has no suffix.

    Suffixes of compression and shards are removed first: for ``x.paf.gz``, ``1.paf.shard`` and
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
    """Return the last suffix; empty for standard output, devices and pipes, whose names do not indicate a format."""
    named = Path("-" if path is None else path)
    is_file = os.path.isfile(named) or not os.path.exists(named)  # `os.path` also accepts invalid names
    is_device = named.parts[:2] == ("/", "dev") and named.parts[2:3] != ("shm",)  # where Linux keeps files in memory
    return named.suffix.lower() if is_file and not is_device else ""


def check_format(kind: str, name: str, report: str = "alignment") -> None:
    """Check a choice of format before anything is read or computed.

    Raises UsageError if it does not exist, InputError if it cannot show the report or a package is missing.
    """
    chosen = format_of(kind, name)
    chosen.check_report(report)
    chosen.codec.require()


def make_writer(kind: str, name: str, header: Header, context: Context) -> FormatWriter[Any]:
    """Bind a format to its header and the context of its kind, such as a PairsContext for "pairs" and "plots".

    Raises UsageError if the format does not exist, InputError if it cannot show the context or a package is missing.
    """
    check_format(kind, name, getattr(context, "report", "alignment"))
    chosen = format_of(kind, name)
    chosen.codec.check(context)
    return FormatWriter(kind, chosen, header, context)


def write(kind: str, results: Iterable[Any], output: str, name: str, function: str, context: Context) -> None:
    """Write results to a file or to standard output, complete or not at all, for this function of the package.

    Results of a list are encoded before anything is written; others one at a time, in a temporary file if the format
    needs all of them. Raises the errors of `make_writer`, and those of an output that cannot be written.
    """
    from tropalign import __version__
    from tropalign.execution.files import check_outputs, check_terminal, output_path, write_to
    from tropalign.execution.sections import Spool

    writer = make_writer(kind, name, Header(__version__, f"tropalign.{function}", {}), context)
    check_outputs([output], [])
    if writer.is_binary:
        check_terminal(name, output)
    if isinstance(results, list):
        parts = list(map(writer.encode, results))
        write_to(output, lambda out: writer.assemble(parts, out))
    elif not writer.needs_all:
        pieces = (piece for result in results for piece in writer.parts(result))
        write_to(output, lambda out: writer.assemble(pieces, out))
    else:
        place = output_path(output)
        with Spool(None if place is None else place.parent) as spool:
            for result in results:
                spool.write([writer.blocks(result)])
            write_to(output, lambda out: writer.assemble(spool.sections(0), out))


def restore(description: Any) -> FormatWriter[Any]:
    """Restore a writer from `FormatWriter.describe`; it assembles but cannot encode, having no residues.

    The description may be untrusted. Raises InputError if it is damaged or from another version, or a package is
    missing.
    """
    try:
        layout, kind, name = (description[key] for key in ("layout", "kind", "format"))
        if layout != DESCRIPTION_VERSION or kind not in _CONTEXTS or name not in format_names(kind):
            raise ValueError("unknown layout, kind or format")
        header = Header.restore(description["header"])
        folder = _FOLDER_OF_KIND.get(kind, kind)
        context = getattr(import_module(f"{__package__}.{folder}.context"), _CONTEXTS[kind]).restore(
            description["context"]
        )
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        raise InputError(
            "this was written by another version of tropalign, or it is damaged: merge with that version, or write it "
            "again"
        ) from None
    return make_writer(kind, name, header, context)
