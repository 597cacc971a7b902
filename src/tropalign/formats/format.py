"""A format: what it is called, which suffixes choose it, what its files are to others, and who writes it.

Each room (a folder per kind of result) lists its formats in ``FORMATS``. That list is all that a command line, a
server's forms and the documentation know of a format, and reading it imports nothing that writes. The codec, which
does, stands in a module of the room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any, Generic, Protocol, TypeVar

from tropalign.formats.header import Header

#: Suffixes that compress, behind that of a format (`tropalign.execution.files` does it).
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
#: Media types of what has none of its own.
TEXT, BYTES = "text/plain; charset=utf-8", "application/octet-stream"


class Context(Protocol):
    """What a format needs beside the results themselves."""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON."""


C = TypeVar("C", bound=Context)


def _fits(context: Any) -> None:
    return


@dataclass(frozen=True)
class Codec(Generic[C]):
    """How results become a file of a format.

    A part is what one tile leaves behind, so that a killed run goes on and shards can be joined: ``encode`` makes it,
    ``assemble`` writes header, parts in order and footer.

    Attributes
    ----------
    encode
        (result, context) -> part.
    assemble
        (parts, out, header, context): writes the file.
    assembled_with
        Fields of the context that ``assemble`` reads; a shard carries these.
    is_binary
        Whether the file is no text for a terminal; a function where the context decides.
    needs_all
        Whether nothing can be written before the last part is known, or ``assemble`` goes through its parts more than
        once; a function where the context decides.
    suffixes_with
        Ends of the file names that promise what is written with a context, where these are not the format's.
    blocks
        (result, context) -> what ``encode`` makes, block by block; None where a part is made in one piece.
    require
        Raises InputError with the remedy where a package is missing.
    check
        Raises InputError where the format cannot show what this context asks for.
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
    """An ``assemble`` of text: header, the parts one after another, footer."""

    header_text: Callable[[Header, Any], bytes] | None = None
    footer: bytes = b""

    def __call__(self, parts: Iterable[bytes], out: IO[bytes], header: Header, context: Any) -> None:
        before, behind = self.frame(header, context)
        out.write(before)
        for part in parts:
            out.write(part)
        out.write(behind)

    def frame(self, header: Header, context: Any) -> tuple[bytes, bytes]:
        """What stands before the parts, and behind them."""
        return b"" if self.header_text is None else self.header_text(header, context), self.footer


def concatenated(header_text: Callable[[Header, Any], bytes] | None = None, footer: bytes = b"") -> Concatenated:
    """Makes an ``assemble`` of text."""
    return Concatenated(header_text, footer)


#: Bytes of text that are made at a time: they stay in the processor's cache until they are checked and written.
BLOCK_BYTES = 1 << 19
#: Rows of the first block; then as many as the rows before would have made a block of.
FIRST_ROWS = 64


def by_rows(encode: Callable[[Any, C], bytes]) -> Callable[[Any, C], Iterator[bytes]]:
    """Makes ``blocks`` of an ``encode`` whose part of a table is those of its rows one after another."""

    def blocks(table: Any, context: C) -> Iterator[bytes]:
        return row_blocks(len(table), lambda begin, end: encode(table.slice(begin, end), context))

    return blocks


def row_blocks(
    n_rows: int, text_of: Callable[[int, int], bytes], end_of_run: Callable[[int], int] = int
) -> Iterator[bytes]:
    """The text of all rows, of which ``text_of`` makes that of some, in blocks of about `BLOCK_BYTES`.

    ``end_of_run`` says where the rows end that have to be in one block with the row before a place.
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
    """A format, as it is known before anything that writes it is imported.

    Attributes
    ----------
    name
        What users call it; its codec has the same name in capitals.
    suffixes
        Ends of the file names that choose it.
    media_type
        What its files are to a browser.
    words
        What it is to people who do not know its name; empty where the name says it.
    module
        The module of its codec, within `tropalign.formats`.
    own_suffix
        The suffix of files that are named for their users, where that is not the first of `suffixes`.
    package_bytes
        Memory that the package takes which writes it.
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
        """The suffix of files that are named for their users."""
        return self.own_suffix or self.suffixes[0]

    @property
    def codec(self) -> Codec[Any]:
        """The codec, whose module is imported now."""
        found: Codec[Any] = getattr(import_module(f"tropalign.formats.{self.module}"), self.name.upper())
        return found

    def check_report(self, report: str) -> None:
        """Raises InputError where the format cannot show a report of its kind; most show all."""


#: Names, suffixes, media types and words that rooms share: ``Format(*TSV, "hits.tables")``.
TSV = ("tsv", (".tsv", ".txt"), "text/tab-separated-values; charset=utf-8", "table with tabs")
FASTA = ("fasta", (".fasta", ".fa"), TEXT, "")
PHYLIP = ("phylip", (".phy", ".phylip"), TEXT, "")
HTML = ("html", (".html", ".htm"), "text/html; charset=utf-8", "page for the browser")
SVG = ("svg", (".svg",), "image/svg+xml", "picture, scalable")
PNG = ("png", (".png",), "image/png", "picture")
PDF = ("pdf", (".pdf",), "application/pdf", "picture for print")
PARQUET = ("parquet", (".parquet",), "application/vnd.apache.parquet", "Parquet")
RESULT = ("result", (".result",), BYTES, "for tropalign in Python")
#: Memory that pyarrow and matplotlib take, which formats of several rooms are written with.
PYARROW_BYTES, MATPLOTLIB_BYTES = 72 << 20, 60 << 20
#: Media types of Arrow's IPC formats.
ARROW_FILE, ARROW_STREAM = "application/vnd.apache.arrow.file", "application/vnd.apache.arrow.stream"
