"""Writers of runs: a format bound to a header and a context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Generic

from tropalign.formats.format import C, Codec, Concatenated, Format
from tropalign.formats.header import Header

#: Version of the parts' layout; incremented if older parts can no longer be read.
LAYOUT = 2


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
            "layout": LAYOUT,
            "kind": self.kind,
            "format": self.name,
            "header": self.header.describe(),
            "context": self.context.describe(self.codec.assembled_with),
        }
