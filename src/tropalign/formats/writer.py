"""A format bound to a header and to what its results are about: the writers of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Generic

from tropalign.formats.format import C, Codec, Concatenated, Format
from tropalign.formats.header import Header

#: The number of the parts' layout: raised when a part of an older version cannot be read any more.
LAYOUT = 2


@dataclass(frozen=True, eq=False)
class FormatWriter(Generic[C]):
    """A format bound to its header and context: a `tropalign.execution.run.Writer`.

    Attributes
    ----------
    kind
        Which results it takes, as `tropalign.formats.registry` calls them.
    """

    kind: str
    format: Format
    header: Header
    context: C

    @property
    def name(self) -> str:
        """The format's name: "tsv"."""
        return self.format.name

    @property
    def codec(self) -> Codec[C]:
        """The codec of the format."""
        return self.format.codec

    @property
    def is_binary(self) -> bool:
        """Whether the file is no text for a terminal."""
        found = self.codec.is_binary
        return found(self.context) if callable(found) else found

    @property
    def needs_all(self) -> bool:
        """Whether ``assemble`` has to have every part."""
        found = self.codec.needs_all
        return found(self.context) if callable(found) else found

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Ends of the file names that promise what it writes."""
        found = self.codec.suffixes_with
        return self.format.suffixes if found is None else found(self.context)

    @property
    def frame(self) -> tuple[bytes, bytes] | None:
        """What stands before and behind the parts in the file, where that is these parts one after another."""
        assemble = self.codec.assemble
        if self.needs_all or not isinstance(assemble, Concatenated):
            return None
        return assemble.frame(self.header, self.context)

    def encode(self, result: Any) -> bytes:
        """The part that the result of one tile leaves behind."""
        return self.codec.encode(result, self.context)

    def blocks(self, result: Any) -> Iterator[bytes]:
        """The part block by block, where the format makes it so; in one block otherwise."""
        if self.codec.blocks is None:
            yield self.encode(result)
        else:
            yield from self.codec.blocks(result, self.context)

    def parts(self, result: Any) -> Iterable[bytes]:
        """The parts of a run of one result, for `assemble`: block by block where it goes through them once."""
        return [self.encode(result)] if self.needs_all else self.blocks(result)

    def assemble(self, parts: Iterable[bytes], out: IO[bytes]) -> None:
        """Writes header, parts in order and footer; with ``needs_all`` it goes through the parts more than once."""
        self.codec.assemble(parts, out, self.header, self.context)

    def describe(self) -> dict[str, Any]:
        """The writer as JSON, of which ``registry.restore`` makes one that assembles the same file."""
        return {
            "layout": LAYOUT,
            "kind": self.kind,
            "format": self.name,
            "header": self.header.describe(),
            "context": self.context.describe(self.codec.assembled_with),
        }
