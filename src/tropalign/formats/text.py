"""What the formats made of text lines share: a header, then the parts one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from tropalign.formats.context import Context


def concatenated(
    header: Callable[[Context], bytes] | None = None, footer: bytes = b""
) -> Callable[[Iterator[bytes], BinaryIO, Context], None]:
    """Writes header, parts and footer."""

    def assemble(parts: Iterator[bytes], out: BinaryIO, context: Context) -> None:
        if header is not None:
            out.write(header(context))
        for part in parts:
            out.write(part)
        out.write(footer)

    return assemble
