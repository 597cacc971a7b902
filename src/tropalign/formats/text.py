"""Files of text lines: a header, then the parts one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, Any

from tropalign.formats.header import Header


def concatenated(
    header_text: Callable[[Header, Any], bytes] | None = None, footer: bytes = b""
) -> Callable[[Iterable[bytes], IO[bytes], Header, Any], None]:
    """Writes header, parts and footer."""

    def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: Any) -> None:
        if header_text is not None:
            out.write(header_text(header, context))
        for part in parts:
            out.write(part)
        out.write(footer)

    return assemble
