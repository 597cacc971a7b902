"""What the formats made of text lines share: a header, then the parts one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from tropalign.formats.header import Header


def concatenated(
    header_text: Callable[[Header, Any], bytes] | None = None, footer: bytes = b""
) -> Callable[[Iterable[bytes], BinaryIO, Header, Any], None]:
    """Writes header, parts and footer."""

    def assemble(parts: Iterable[bytes], out: BinaryIO, header: Header, context: Any) -> None:
        if header_text is not None:
            out.write(header_text(header, context))
        for part in parts:
            out.write(part)
        out.write(footer)

    return assemble
