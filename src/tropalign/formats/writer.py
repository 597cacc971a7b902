"""A format, and a writer: the format bound to a header and to what its results are about.

A part is what one tile leaves behind, so that a killed run goes on and shards can be joined: ``encode`` makes it,
``assemble`` writes header, parts in order and footer to the output. A format's module is a pair of such functions and a
``FORMAT`` that says what they can do; the folder that the module lies in says which results it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import IO, Any, Generic, Protocol, TypeVar

from tropalign.formats.header import Header

#: The number of the parts' layout: raised when a part of an older version cannot be read any more.
LAYOUT = 2


class Writer(Protocol):
    """Turns results into a file.

    Attributes
    ----------
    name
        The format: "tsv".
    kind : {"pairs", "placed", "aligned", "confidence", "trees", "hits", "segments", "tracks", "plots", "clusters",
        "representatives"}
        Which results it takes.
    is_binary
        Whether the file is no text for a terminal.
    needs_all
        Whether nothing can be written before the last part is known, or ``assemble`` goes through its parts more than
        once.
    suffixes
        Ends of the file names that promise what it writes.
    """

    @property
    def name(self) -> str:
        """The format."""

    @property
    def kind(self) -> str:
        """Which results it takes."""

    @property
    def is_binary(self) -> bool:
        """No text for a terminal."""

    @property
    def needs_all(self) -> bool:
        """All parts before the first byte."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Ends of the file names that promise what it writes."""

    def encode(self, result: Any) -> bytes:
        """The part that the result of one tile leaves behind."""

    def assemble(self, parts: Iterable[bytes], out: IO[bytes]) -> None:
        """Writes the file; with ``needs_all`` the parts have to be iterable again and again."""

    def describe(self) -> dict[str, Any]:
        """As JSON, of which ``registry.restore`` makes a writer that assembles the same file."""


class Context(Protocol):
    """What a format needs beside the results themselves."""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON."""


C = TypeVar("C", bound=Context)


def _never(context: Any) -> bool:
    return False


def _fits(context: Any) -> None:
    return


@dataclass(frozen=True)
class Format(Generic[C]):
    """How one format is written.

    Attributes
    ----------
    suffixes
        Ends of the file names that choose it.
    encode
        (result, context) -> part.
    assemble
        (parts, out, header, context): writes the file.
    assembled_with
        Fields of the context that ``assemble`` reads; a shard carries these.
    depths
        Reports that it can show, of those that a kind of results has; empty: all of them.
    is_binary, needs_all
        As Writer's, for a context.
    column_bytes
        Bytes written per column of an alignment, so that tiles are cut to the memory; 0 where only CIGARs are.
    package_bytes
        Memory that the package takes which writes it.
    suffixes_with
        Ends of the file names that promise what is written with a context, where these are not `suffixes`.
    takes_columns, own_columns
        Of pairs: it shows the columns that are chosen, and which ones where none are; none: those of the report.
    shows_confidence
        Of multiple alignments: it shows their confidence, which is computed only where it is shown.
    wants_qualities
        Shows the queries' qualities, which are read only then.
    require
        Raises InputError with the remedy where a package is missing.
    check
        Raises InputError where the format cannot show what this context asks for.
    """

    suffixes: tuple[str, ...]
    encode: Callable[[Any, C], bytes]
    assemble: Callable[[Iterable[bytes], IO[bytes], Header, C], None]
    assembled_with: tuple[str, ...] = ()
    depths: tuple[str, ...] = ()
    is_binary: Callable[[C], bool] = _never
    needs_all: Callable[[C], bool] = _never
    column_bytes: float = 0.0
    package_bytes: int = 0
    suffixes_with: Callable[[C], tuple[str, ...]] | None = None
    takes_columns: bool = False
    own_columns: tuple[str, ...] = ()
    shows_confidence: bool = False
    wants_qualities: bool = False
    require: Callable[[], None] = lambda: None
    check: Callable[[C], None] = _fits


@dataclass(frozen=True, eq=False)
class BoundWriter(Generic[C]):
    """A format bound to its header and context: a Writer."""

    kind: str
    name: str
    format: Format[C]
    header: Header
    context: C

    def __reduce__(self) -> tuple[Any, ...]:
        from tropalign.formats.registry import bound  # formats are functions, which travel by their names

        return bound, (self.kind, self.name, self.header, self.context)

    @property
    def is_binary(self) -> bool:
        """Whether the file is no text for a terminal."""
        return self.format.is_binary(self.context)

    @property
    def needs_all(self) -> bool:
        """Whether ``assemble`` has to have every part."""
        return self.format.needs_all(self.context)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Ends of the file names that promise what it writes."""
        chosen = self.format
        return chosen.suffixes if chosen.suffixes_with is None else chosen.suffixes_with(self.context)

    def encode(self, result: Any) -> bytes:
        """The part that the result of one tile leaves behind."""
        return self.format.encode(result, self.context)

    def assemble(self, parts: Iterable[bytes], out: IO[bytes]) -> None:
        """Writes header, parts in order and footer."""
        self.format.assemble(parts, out, self.header, self.context)

    def describe(self) -> dict[str, Any]:
        """As JSON, for ``registry.restore``."""
        return {
            "layout": LAYOUT,
            "kind": self.kind,
            "format": self.name,
            "header": self.header.describe(),
            "context": self.context.describe(self.format.assembled_with),
        }
