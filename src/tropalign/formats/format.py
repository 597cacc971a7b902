"""Description of a format (its name, suffixes, media type, and the module of its writer), and the list of all formats.

Each folder for a kind of result lists its formats in ``FORMATS``. The command line, the server's forms and the
documentation use only that list, and importing it loads no writers. The codec, which writes, is in a module of the
folder.

A kind is "pairs" or "plots", "placed" or one of its outputs ("placed/rows", the alignment, "placed/table",
"placed/branches" (jplace), "placed/by_branch", "placed/taxa", "placed/sunburst", "placed/otus", "placed/report"),
"aligned", "aligned/agreement" (a page), "differences" or "confidence", "trees", "hits", "paths", "segments" or
"tracks", "clusters", "counts", "representatives" or "representatives/reads" (also FASTQ), "chimeras/table" or
"chimeras/sequences", "orientations/table" or "orientations/sequences", "models" or "models/alignments".
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Generic, Literal, Protocol, TypeVar, overload

from tropalign.errors import InputError, UsageError, named, shown
from tropalign.properties import cached


@dataclass(frozen=True)
class Header:
    r"""Version, command and parameters.

    has_comments: whether tables begin with them. has_names: whether tables have column names, and SAM its header.

    Bytes that are not UTF-8 (file names may hold any byte) are escaped as ``\xff``, so that every format can write
    them.
    """

    version: str
    command: str
    parameters: dict[str, str]
    has_comments: bool = True
    has_names: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", _utf8(self.version))
        object.__setattr__(self, "command", _utf8(self.command))
        cleaned = {_utf8(name): _utf8(value) for name, value in sorted(self.parameters.items())}
        object.__setattr__(self, "parameters", cleaned)

    def comment_lines(self, mark: str = "# ") -> list[str]:
        """Return version, command and sorted parameters, one line each; an empty list without comments."""
        return [mark + line for line in (f"tropalign {self.version}", *self.description_lines()) if self.has_comments]

    def description_lines(self) -> list[str]:
        """Return the command, then the parameters by name, one line each."""
        lines = [f"command: {self.command}"]
        lines += [f"{name}: {value}" for name, value in self.parameters.items()]
        return [one_line(line) for line in lines]

    def above(self, columns: Iterable[str]) -> bytes:
        """Return the first lines of a table: comment lines, then the column names separated by tabs."""
        names = ["\t".join(columns)] if self.has_names else []
        return "".join(line + "\n" for line in [*self.comment_lines(), *names]).encode()

    def notes(self) -> dict[str, str]:
        """Return version, command and parameters by name, for the metadata of a schema."""
        return {"tropalign": self.version, "command": self.command, **self.parameters}

    def describe(self) -> dict[str, Any]:
        """Return the header as JSON."""
        return asdict(self)

    @classmethod
    def restore(cls, entries: Any) -> Header:
        """Make a header from JSON. Raises ValueError, KeyError or TypeError if it is invalid."""
        version, command, parameters = (entries[name] for name in ("version", "command", "parameters"))
        has_comments, has_names = entries.get("has_comments", True), entries.get("has_names", True)
        words = [version, command, *parameters.keys(), *parameters.values()]
        if not all(isinstance(word, str) for word in words):
            raise TypeError("a header must contain strings")
        if not isinstance(has_comments, bool) or not isinstance(has_names, bool):
            raise TypeError("has_comments and has_names must be True or False")
        return cls(version, command, parameters, has_comments, has_names)


def one_line(text: str) -> str:
    """Return a text without line breaks and terminal escape sequences."""
    return shown(" ".join(text.split()))


def _utf8(text: str) -> str:
    """Decode as UTF-8, if valid, the bytes that the system's encoding could not decode."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


#: Compression suffixes that may follow a format's suffix (`tropalign.execution.files` compresses).
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
#: Default media types.
TEXT, BYTES = "text/plain; charset=utf-8", "application/octet-stream"


class Context(Protocol):
    """Input of a format in addition to the results."""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return these fields as JSON."""


@dataclass(frozen=True)
class PlainContext:
    """Context whose fields are JSON."""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return these fields as JSON."""
        return {name: getattr(self, name) for name in fields}


C = TypeVar("C", bound=Context)


@dataclass(frozen=True)
class Codec(Generic[C]):
    """Conversion of results to a file of a format.

    A part is the output of one tile, so that an interrupted run can resume and shards can be merged: ``encode``
    makes it, ``assemble`` writes header, parts in order and footer.

    encode: (result, context) -> part. assemble: (parts, out, header, context), writes the file. assembled_with:
    fields of the context that ``assemble`` reads and a shard stores. is_binary: not printable on a terminal.
    needs_all: nothing can be written before the last part, or ``assemble`` reads its parts more than once.
    suffixes_with: suffixes for a context, if they are not the format's. blocks: like ``encode``, block by block;
    None if a part is made in one piece. require: raises InputError if a package is missing. check: raises InputError
    if the format does not support a context.
    """

    encode: Callable[[Any, C], bytes]
    assemble: Callable[[Iterable[bytes], IO[bytes], Header, C], None]
    assembled_with: tuple[str, ...] = ()
    is_binary: bool | Callable[[C], bool] = False
    needs_all: bool | Callable[[C], bool] = False
    suffixes_with: Callable[[C], tuple[str, ...]] | None = None
    blocks: Callable[[Any, C], Iterator[bytes]] | None = None
    require: Callable[[], None] = lambda: None
    check: Callable[[C], None] = lambda context: None


@dataclass(frozen=True)
class Concatenated:
    """An ``assemble`` for text: header, concatenated parts, footer."""

    header_text: Callable[[Header, Any], bytes] | None = None
    footer: bytes = b""

    def __call__(self, parts: Iterable[bytes], out: IO[bytes], header: Header, context: Any) -> None:
        before, behind = self.frame(header, context)
        out.write(before)
        for part in parts:
            out.write(part)
        out.write(behind)

    def frame(self, header: Header, context: Any) -> tuple[bytes, bytes]:
        """Return the text before and after the parts."""
        return b"" if self.header_text is None else self.header_text(header, context), self.footer


#: Bytes per block of text, which stays in the CPU cache until it is checked and written.
BLOCK_BYTES = 1 << 19
#: Rows of the first block; later blocks are sized by the bytes per row so far.
FIRST_ROWS = 64


def by_rows(encode: Callable[[Any, C], bytes]) -> Callable[[Any, C], Iterator[bytes]]:
    """Make ``blocks`` from an ``encode`` that concatenates the texts of rows."""

    def blocks(table: Any, context: C) -> Iterator[bytes]:
        return row_blocks(len(table), lambda begin, end: encode(table.slice(begin, end), context))

    return blocks


def row_blocks(
    n_rows: int, text_of: Callable[[int, int], bytes], end_of_run: Callable[[int], int] = int
) -> Iterator[bytes]:
    """Yield the text of all rows in blocks of about `BLOCK_BYTES`; ``text_of`` converts a range of rows.

    ``end_of_run`` moves a boundary to the end of rows that must stay in the same block.
    """
    begin, count, n_bytes = 0, FIRST_ROWS, 0
    while begin < n_rows:
        end = end_of_run(min(begin + count, n_rows))
        text = text_of(begin, end)
        if text:
            yield text
        begin, n_bytes = end, n_bytes + len(text)
        count = min(max(BLOCK_BYTES * begin // max(n_bytes, 1), 1), 4 * count)


@dataclass(frozen=True)
class Format:
    """A format, as known before its writer is imported.

    name: shown to users; the codec has the same name in capitals. words: short description, empty if the name
    suffices. module: of its codec, within `tropalign.formats`. own_suffix: suffix of generated file names, if not
    the first of `suffixes`. package_bytes: memory of the package that writes it.
    """

    name: str
    suffixes: tuple[str, ...]
    media_type: str = TEXT
    words: str = ""
    module: str = ""
    own_suffix: str = ""
    package_bytes: int = 0

    @property
    def suffix(self) -> str:
        """Suffix of generated file names."""
        return self.own_suffix or self.suffixes[0]

    @property
    def codec(self) -> Codec[Any]:
        """The codec; its module is imported now."""
        found: Codec[Any] = getattr(import_module(f"tropalign.formats.{self.module}"), self.name.upper())
        return found

    def check_report(self, report: str) -> None:
        """Raise InputError if the format cannot show a report of this kind; most show all."""


@dataclass(frozen=True)
class PairsFormat(Format):
    """A format of aligned pairs.

    shows_all_reports: also supports scores or ends without alignments. column_bytes: bytes of text per alignment
    column that are held for a whole tile, to cut tiles to the memory (for bam, residues, qualities and MD).
    wants_whole_queries: is made in blocks if each tile has all pairs of its queries. is_in_blocks: text is made by
    the codec's ``blocks``, so that no tile's text is held. takes_columns, own_columns: supports a choice of columns,
    and its default (empty: those of the report). wants_qualities: shows query qualities, which are read only then.
    """

    shows_all_reports: bool = True
    column_bytes: float = 0.0
    is_in_blocks: bool = False
    wants_whole_queries: bool = False
    takes_columns: bool = False
    own_columns: tuple[str, ...] = ()
    wants_qualities: bool = False

    def check_report(self, report: str) -> None:
        """Raise InputError if the format cannot show this report."""
        if report != "alignment" and not self.shows_all_reports:
            raise InputError(
                f"format {self.name} requires alignments: use {named('report')} alignment, or format tsv for report "
                f"{report}"
            )


#: Names, suffixes, media types and words shared by several kinds of results: ``Format(*TSV, "hits.tables")``.
TSV = ("tsv", (".tsv", ".txt"), "text/tab-separated-values; charset=utf-8", "tab-separated table")
FASTA = ("fasta", (".fasta", ".fa"), TEXT, "")
PHYLIP = ("phylip", (".phy", ".phylip"), TEXT, "")
HTML = ("html", (".html", ".htm"), "text/html; charset=utf-8", "page for the browser")
SVG = ("svg", (".svg",), "image/svg+xml", "scalable picture")
PNG = ("png", (".png",), "image/png", "picture")
PDF = ("pdf", (".pdf",), "application/pdf", "picture for print")
PARQUET = ("parquet", (".parquet",), "application/vnd.apache.parquet", "Parquet")
RESULT = ("result", (".result",), BYTES, "for tropalign in Python")
#: Memory of pyarrow and matplotlib, which write several formats.
PYARROW_BYTES, MATPLOTLIB_BYTES = 72 << 20, 60 << 20
#: Media types of Arrow's IPC formats.
ARROW_FILE, ARROW_STREAM = "application/vnd.apache.arrow.file", "application/vnd.apache.arrow.stream"


#: Version of the description of a writer in parts; incremented if older descriptions can no longer be read.
DESCRIPTION_VERSION = 2


@dataclass(frozen=True, eq=False)
class FormatWriter(Generic[C]):
    """A format bound to its header and context: a `tropalign.execution.run.Writer`.

    kind: of its results, as in `tropalign.formats.format`.
    """

    kind: str
    format: Format
    header: Header
    context: C

    @property
    def name(self) -> str:
        """Name of the format, such as "tsv"."""
        return self.format.name

    @property
    def codec(self) -> Codec[C]:
        """Codec of the format."""
        return self.format.codec

    @property
    def is_binary(self) -> bool:
        """True if the file is not printable on a terminal."""
        found = self.codec.is_binary
        return found(self.context) if callable(found) else found

    @property
    def needs_all(self) -> bool:
        """True if ``assemble`` needs all parts."""
        found = self.codec.needs_all
        return found(self.context) if callable(found) else found

    @property
    def suffixes(self) -> tuple[str, ...]:
        """File suffixes that match the output."""
        found = self.codec.suffixes_with
        return self.format.suffixes if found is None else found(self.context)

    @property
    def frame(self) -> tuple[bytes, bytes] | None:
        """Texts before and after the parts, if the file is their concatenation; otherwise None."""
        assemble = self.codec.assemble
        if self.needs_all or not isinstance(assemble, Concatenated):
            return None
        return assemble.frame(self.header, self.context)

    def encode(self, result: Any) -> bytes:
        """Return the part of one tile's result."""
        return self.codec.encode(result, self.context)

    def blocks(self, result: Any) -> Iterator[bytes]:
        """Yield the part block by block if the format supports it, otherwise in one block."""
        if self.codec.blocks is None:
            yield self.encode(result)
        else:
            yield from self.codec.blocks(result, self.context)

    def parts(self, result: Any) -> Iterable[bytes]:
        """Return the parts of a run with one result, for `assemble`: in blocks if they are read only once."""
        return [self.encode(result)] if self.needs_all else self.blocks(result)

    def assemble(self, parts: Iterable[bytes], out: IO[bytes]) -> None:
        """Write header, parts in order and footer; with ``needs_all``, the parts may be read more than once."""
        self.codec.assemble(parts, out, self.header, self.context)

    def describe(self) -> dict[str, Any]:
        """Return the writer as JSON, from which `restore` makes one that assembles the same file."""
        return {
            "layout": DESCRIPTION_VERSION,
            "kind": self.kind,
            "format": self.name,
            "header": self.header.describe(),
            "context": self.context.describe(self.codec.assembled_with),
        }


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
    "pairs": "pairs.context:PairsContext", "plots": "pairs.context:PairsContext",
    "placed": "placed.context:PlacedContext", "hits": "hits.context:HitsContext",
    "segments": "segments:SegmentsContext", "tracks": "segments:SegmentsContext",
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
    from tropalign.execution.parts import Spool

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
        module, _, context_name = _CONTEXTS[kind].partition(":")
        context = getattr(import_module(f"{__package__}.{module}"), context_name).restore(description["context"])
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        raise InputError(
            "this was written by another version of tropalign, or it is damaged: merge with that version, or write it "
            "again"
        ) from None
    return make_writer(kind, name, header, context)
