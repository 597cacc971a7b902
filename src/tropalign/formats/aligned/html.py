"""The alignment as one page for a browser, which needs nothing but itself: no network, no other file.

The folder ``page`` has its parts: ``page.html``, into which the others are set, ``page.css`` (after the style of every
page) and the scripts. Whatever comes from files stands in JSON, where nothing is markup, and a content security policy
lets no other script run.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.header import Header
from tropalign.formats.web_page import STYLE, json_text, policy, write_filled
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment
from tropalign.results.multiple_display import rules

PAGE = Path(__file__).parent / "page"
#: In the order in which a browser reads them.
SCRIPTS = ("alignment.js", "colours.js", "sheet.js", "tracks.js", "strip.js", "text.js", "controls.js")


@cache
def _parts() -> tuple[bytes, bytes, bytes]:
    """The frame of the page, its style and its script."""
    script = b'"use strict";\n' + b"".join((PAGE / name).read_bytes() for name in SCRIPTS)
    return (PAGE / "page.html").read_bytes(), STYLE.read_bytes() + (PAGE / "page.css").read_bytes(), script


def _bytes(values: NDArray[np.float32] | None) -> str | None:
    """Numbers from 0 to 1 as bytes (255 is 1) in base64."""
    if values is None:
        return None
    return base64.b64encode(np.rint(255 * np.clip(np.nan_to_num(values), 0, 1)).astype(np.uint8).tobytes()).decode()


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The alignment as the page's JSON."""
    return json_text(
        {
            "title": context.title,
            "kind": "nucleotide" if alignment.sequences.alphabet.has_strands else "protein",
            "n_columns": alignment.n_columns,
            "names": list(alignment.names),
            "descriptions": list(alignment.sequences.descriptions or ()),
            "letters": alignment.letters.tobytes().decode("latin-1"),
            "confidence": _bytes(alignment.residue_confidence),
            "column_confidence": _bytes(alignment.column_confidence),
            "tree": alignment.tree,
        }
    )


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: AlignedContext) -> None:
    """The page: its frame with data, style and script set in."""
    frame, style, script = _parts()
    filled = {b"policy": policy(style, script), b"style": style, b"script": script, b"data": b"".join(parts)}
    filled |= {b"made": json_text(header.notes()), b"rules": json_text(rules())}
    write_filled(out, frame, filled)


FORMAT = Format((".html", ".htm"), encode, assemble, is_binary=lambda context: True, shows_confidence=True)
