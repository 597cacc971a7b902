"""Which formats there are: a folder per kind of results, in it a module per format.

A kind is the path of a folder here: ``pairs``; ``placed``, which has a folder for each of its outputs: ``placed/rows``
(the alignment), ``placed/table``, ``placed/branches`` and ``placed/taxa``; ``aligned`` (multiple alignments),
``confidence`` (their table) and ``trees`` (their guide trees); ``hits``; ``paths`` (distances); ``segments``, and
``tracks`` (their pictures); ``clusters`` and their ``representatives``. Adding a format is adding a module. Names are
read from the files, so that a command line can list them before anything is imported.
"""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from tropalign.errors import InputError, UsageError, named
from tropalign.formats.header import Header
from tropalign.formats.writer import LAYOUT, BoundWriter, Format, Writer

if TYPE_CHECKING:
    from tropalign.formats.aligned import AlignedContext
    from tropalign.formats.clusters import ClustersContext
    from tropalign.formats.hits import HitsContext
    from tropalign.formats.pairs import PairsContext
    from tropalign.formats.paths import PathsContext
    from tropalign.formats.placed import PlacedContext
    from tropalign.formats.segments import SegmentsContext

    Context = (
        AlignedContext | ClustersContext | HitsContext | PairsContext | PathsContext | PlacedContext | SegmentsContext
    )

#: The format of each kind where no suffix chooses one.
DEFAULTS = {
    "pairs": "tsv",
    "placed": "fasta",
    "placed/rows": "fasta",
    "placed/table": "tsv",
    "placed/branches": "jplace",
    "placed/taxa": "taxa",
    "placed/report": "html",
    "aligned": "fasta",
    "confidence": "tsv",
    "trees": "newick",
    "hits": "text",
    "paths": "tsv",
    "segments": "tsv",
    "tracks": "svg",
    "plots": "svg",
    "clusters": "tsv",
    "representatives": "fasta",
}
SHARD = ".shard"
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
#: Which of how many shards it is, where a name says so.
_COUNT = re.compile(r"\.\d+([-_]?of[-_]?\d+)?", re.ASCII)


@cache
def _modules(kind: str) -> dict[str, str]:
    """Modules of a kind by the names of their formats; none is imported."""
    found: dict[str, str] = {}
    for module in iter_modules([str(Path(__file__).parent / kind)]):
        if module.ispkg:
            found |= _modules(f"{kind}/{module.name}")
        else:
            found[module.name] = f"{__package__}.{kind.replace('/', '.')}.{module.name}"
    return found


def format_names(kind: str) -> tuple[str, ...]:
    """The formats of a kind, the default first, the others by the alphabet; read from the names of the files."""
    default = DEFAULTS[kind]
    return (default, *sorted(name for name in _modules(kind) if name != default))


def format_of(kind: str, name: str) -> Format[Any]:
    """The format itself. Raises UsageError where there is none of this name."""
    modules = _modules(kind)
    if name not in modules:
        raise UsageError(f"format {name!r} is none of {', '.join(format_names(kind))}")
    found: Format[Any] = import_module(modules[name]).FORMAT
    return found


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
        return DEFAULTS[kind]
    known: list[str] = []
    for name in format_names(kind):  # the default first: formats are imported up to the one that is wanted
        suffixes = format_of(kind, name).suffixes
        if suffix in suffixes:
            return name
        known += suffixes
    raise UsageError(
        f"{path}: no format has the suffix {suffix!r}: end the name in one of {' '.join(sorted(known))} (and "
        f"{' '.join(COMPRESSED)} to compress), or choose the format by its option"
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
    """Empty for standard output, devices and pipes, whose names tell nothing of what goes there."""
    named = Path("-" if path is None else path)
    is_file = os.path.isfile(named) or not os.path.exists(named)  # which take a name that no file can have, too
    return named.suffix.lower() if is_file and named.parts[:2] != ("/", "dev") else ""


def check_format(kind: str, name: str, depth: str | None = None) -> None:
    """Finds what is wrong with a choice before anything is read or computed.

    Raises
    ------
    UsageError
        There is no such format.
    InputError
        It cannot show that report, or lacks a package.
    """
    chosen = format_of(kind, name)
    if depth is not None and chosen.depths and depth not in chosen.depths:
        raise InputError(
            f"format {name} shows alignments: use {named('report')} alignment, or format tsv for report {depth}"
        )
    chosen.require()


def pairs_writer(name: str, header: Header, context: PairsContext) -> Writer:
    """A writer of alignment tables.

    Raises
    ------
    UsageError
        There is no such format.
    InputError
        The format cannot show what is asked for, or lacks a package.
    """
    check_format("pairs", name, context.report)
    return bound("pairs", name, header, context)


def plots_writer(name: str, header: Header, context: PairsContext) -> Writer:
    """A writer of pictures of alignment tables. Raises what `pairs_writer` does."""
    check_format("plots", name)
    return bound("plots", name, header, context)


def placed_writer(name: str, header: Header, context: PlacedContext) -> Writer:
    """A writer of placements: the alignment, the table or the best branches. Raises what `pairs_writer` does."""
    check_format("placed", name)
    return bound("placed", name, header, context)


def aligned_writer(kind: str, name: str, header: Header, context: AlignedContext) -> Writer:
    """A writer of multiple alignments (kind "aligned"), of their "confidence" or "trees"; raises as `pairs_writer`."""
    check_format(kind, name)
    return bound(kind, name, header, context)


def hits_writer(name: str, header: Header, context: HitsContext) -> Writer:
    """A writer of hits: tables, text, alignments. Raises what `pairs_writer` does."""
    check_format("hits", name)
    return bound("hits", name, header, context)


def paths_writer(name: str, header: Header, context: PathsContext) -> Writer:
    """A writer of distances and paths. Raises what `pairs_writer` does."""
    check_format("paths", name)
    return bound("paths", name, header, context)


def segments_writer(kind: str, name: str, header: Header, context: SegmentsContext) -> Writer:
    """A writer of segments (kind "segments"), or of pictures of them ("tracks"). Raises what `pairs_writer` does."""
    check_format(kind, name)
    return bound(kind, name, header, context)


def clusters_writer(kind: str, name: str, header: Header, context: ClustersContext) -> Writer:
    """A writer of clusters (kind "clusters") or "representatives". Raises what `pairs_writer` does."""
    check_format(kind, name)
    return bound(kind, name, header, context)


def shows_confidence(kind: str, name: str) -> bool:
    """Whether the format shows how sure an alignment is, where that is known."""
    return format_of(kind, name).shows_confidence


def bound(kind: str, name: str, header: Header, context: Context) -> Writer:
    """The format bound to header and context. Raises InputError where it cannot show what the context asks for."""
    chosen = format_of(kind, name)
    chosen.check(context)
    return BoundWriter(kind, name, chosen, header, context)


def restore(description: Any) -> Writer:
    """The writer that `Writer.describe` described; it assembles but does not encode, as it knows no letters.

    Parameters
    ----------
    description
        From a file, which may hold anything.

    Raises
    ------
    InputError
        It is not what this version writes, or damaged; a package is missing.
    """
    from tropalign.formats.hits import HitsContext
    from tropalign.formats.pairs import PairsContext
    from tropalign.formats.placed import PlacedContext
    from tropalign.formats.segments import SegmentsContext

    contexts: dict[str, type[HitsContext] | type[PairsContext] | type[PlacedContext] | type[SegmentsContext]] = {
        "hits": HitsContext, "pairs": PairsContext, "placed": PlacedContext, "plots": PairsContext,
        "segments": SegmentsContext, "tracks": SegmentsContext,
    }  # fmt: skip
    try:
        layout, kind, name = (description[key] for key in ("layout", "kind", "format"))
        if layout != LAYOUT or kind not in contexts or name not in format_names(kind):
            raise ValueError("unknown layout, kind or format")
        header = Header.restore(description["header"])
        context = contexts[kind].restore(description["context"])
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        raise InputError(
            "another version of tropalign wrote this, or it is damaged: merge with that version, or write it again"
        ) from None
    format_of(kind, name).require()
    return bound(kind, name, header, context)
