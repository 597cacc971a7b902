"""Description of a format: its name, suffixes, media type, and the module of its writer.

Each folder for a kind of result lists its formats in ``FORMATS``. The command line, the server's forms and the
documentation use only that list, and importing it loads no writers. The codec, which writes, is in a module of the
folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any, Generic, Protocol, TypeVar

from tropalign.formats.header import Header

#: Compression suffixes that may follow a format's suffix (`tropalign.execution.files` compresses).
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
#: Default media types.
TEXT, BYTES = "text/plain; charset=utf-8", "application/octet-stream"


class Context(Protocol):
    """Input of a format in addition to the results."""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return these fields as JSON."""


C = TypeVar("C", bound=Context)


def _fits(context: Any) -> None:
    return


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
    check: Callable[[C], None] = _fits


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


def concatenated(header_text: Callable[[Header, Any], bytes] | None = None, footer: bytes = b"") -> Concatenated:
    """Make an ``assemble`` for text."""
    return Concatenated(header_text, footer)


#: Bytes of text that are made at once, so that they stay in the CPU cache until they are checked and written.
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
    """Yield the text of all rows in blocks of about `BLOCK_BYTES`; ``text_of`` returns that of a range.

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
TSV = ("tsv", (".tsv", ".txt"), "text/tab-separated-values; charset=utf-8", "table with tabs")
FASTA = ("fasta", (".fasta", ".fa"), TEXT, "")
PHYLIP = ("phylip", (".phy", ".phylip"), TEXT, "")
HTML = ("html", (".html", ".htm"), "text/html; charset=utf-8", "page for the browser")
SVG = ("svg", (".svg",), "image/svg+xml", "picture, scalable")
PNG = ("png", (".png",), "image/png", "picture")
PDF = ("pdf", (".pdf",), "application/pdf", "picture for print")
PARQUET = ("parquet", (".parquet",), "application/vnd.apache.parquet", "Parquet")
RESULT = ("result", (".result",), BYTES, "for tropalign in Python")
#: Memory of pyarrow and matplotlib, which write several formats.
PYARROW_BYTES, MATPLOTLIB_BYTES = 72 << 20, 60 << 20
#: Media types of Arrow's IPC formats.
ARROW_FILE, ARROW_STREAM = "application/vnd.apache.arrow.file", "application/vnd.apache.arrow.stream"
