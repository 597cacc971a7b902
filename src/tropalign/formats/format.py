"""Description of a format: its name, suffixes, media type, and the module of its writer.

Each folder for a kind of result lists its formats in ``FORMATS``. The command line, the server's forms and the
documentation use only that list, and importing it loads no writers. The codec, which writes, is in a module of the
folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import IO, Any, Generic, Protocol, TypeVar

from tropalign.errors import shown


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

    kind: of its results, as in `tropalign.formats.registry`.
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
        """Return the writer as JSON, from which ``registry.restore`` makes one that assembles the same file."""
        return {
            "layout": DESCRIPTION_VERSION,
            "kind": self.kind,
            "format": self.name,
            "header": self.header.describe(),
            "context": self.context.describe(self.codec.assembled_with),
        }
