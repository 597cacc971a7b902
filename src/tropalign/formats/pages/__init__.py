"""Self-contained web pages: no network, no other files.

Content from files is only in JSON or in arrays, where nothing is markup, and a content security policy blocks all
scripts except the page's own. The folder ``frame`` has the shared parts: ``frame.html`` (the template),
``frame.css`` and ``frame.js`` are the header, help, and light and dark colours of every page; the other files are
for reports, which are pages of cards: tables, alignments, histograms. A page adds a folder with ``body.html``,
``help.html``, ``page.css``, scripts, and ``controls.html`` for its header. ``@table@`` and ``@histogram@`` in the
``body.html`` of a report are replaced by the HTML of these parts, which ``wiring.js`` fills, and ``drawing.js`` has
the canvas that every drawing of a report extends. The folder ``viewer``
has the tree that tree pages extend.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.format import Header
from tropalign.properties import cached

PAGES = Path(__file__).parent
FRAME = PAGES / "frame"
#: Scripts shared by reports, in loading order.
REPORT_SCRIPTS = ("report.js", "drawing.js", "table.js", "histogram.js", "wiring.js", "alignment.js")


def json_text(value: Any) -> bytes:
    """Return JSON in ASCII; no name in it can close a script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").encode()


def policy(style: bytes, script: bytes) -> bytes:
    """Return the policy that blocks all loading, and all styles and scripts except these."""
    digests = [base64.b64encode(hashlib.sha256(text).digest()).decode() for text in (style, script)]
    return f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'".encode()


def _filled(frame: bytes, filled: Mapping[bytes, bytes]) -> Iterator[bytes]:
    """Yield the pieces of a template, with texts in place of its @words@."""
    for k, text in enumerate(re.split(rb"@(\w+)@", frame)):
        yield filled[text] if k % 2 else text


@cached
def page_texts(name: str, scripts: tuple[str, ...], is_report: bool = True) -> dict[bytes, bytes]:
    """Return the data-independent texts for the frame of a page.

    name: the page's folder. scripts: files of that folder in loading order; files of other folders as
    "viewer/view.js". is_report: whether it is a page of cards, whose ``body.html`` has the cards below the summary.
    """
    folder = PAGES / name
    shared = ("frame.js", *REPORT_SCRIPTS) if is_report else ("frame.js",)
    styles = ("frame.css", "report.css") if is_report else ("frame.css",)
    script = b'"use strict";\n' + b"".join(
        path.read_bytes()
        for path in (
            *(FRAME / name for name in shared),
            *(PAGES / name if "/" in name else folder / name for name in scripts),
        )
    )
    style = b"".join(path.read_bytes() for path in (*(FRAME / name for name in styles), folder / "page.css"))
    filled = {b"policy": policy(style, script), b"style": style, b"script": script, b"controls": b""}
    filled |= {b"body": (folder / "body.html").read_bytes(), b"help": (folder / "help.html").read_bytes()}
    if is_report:
        parts = {path.stem.encode(): path.read_bytes() for path in FRAME.glob("*.html")}
        parts[b"members_table"] = parts[b"table"].replace(b' id="', b' id="members-')
        filled[b"help"] += parts[b"filters"] if b"@table@" in filled[b"body"] else b""
        filled[b"help"] += parts[b"keys"]
        parts[b"cards"] = b"".join(_filled(filled[b"body"], parts))
        filled[b"body"] = b"".join(_filled(parts[b"report"], parts))
    else:
        filled[b"controls"] = (folder / "controls.html").read_bytes()
    return filled


def write_page(out: IO[bytes], texts: Mapping[bytes, bytes], header: Header, data: Mapping[str, bytes]) -> None:
    """Write a page. `texts`: from `page_texts`. `data`: JSON by element id, or base64 for "arrays"."""
    elements = []
    for name, text in data.items():
        kind = b"octet-stream" if name == "arrays" else b"json"
        elements += [b'<script type="application/%b" id="%b">' % (kind, name.encode()), text, b"</script>\n"]
    filled = {**texts, b"made": json_text(header.notes()), b"data": b"".join(elements)}
    for piece in _filled((FRAME / "frame.html").read_bytes(), filled):
        out.write(piece)


@dataclass(frozen=True)
class Report:
    """A page of cards, without the frame.

    folder: has ``body.html`` (the cards below the summary), ``help.html``, ``page.css`` and the scripts. scripts: in
    loading order; the last one calls ``openReport(Page)`` of ``frame/report.js``. data: JSON, the scripts'
    ``report.data``. arrays: one-dimensional columns of numbers, the scripts' ``report.arrays``, as typed arrays;
    floats, and integers that fit in 32 bits, stored in the narrowest type.
    """

    folder: str
    scripts: tuple[str, ...]
    title: str
    data: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def write_report_page(out: IO[bytes], report: Report, header: Header) -> None:
    """Write the page of a report."""
    layout, packed = packed_arrays(report.arrays)
    data = {"data": json_text(report.data), "title-of": json_text(report.title), "layout": json_text(layout)}
    write_page(out, page_texts(report.folder, report.scripts), header, {**data, "arrays": packed})


def packed_arrays(arrays: Mapping[str, NDArray[Any]]) -> tuple[list[tuple[str, str, int]], bytes]:
    """Return arrays concatenated, compressed, in base64; and (name, type, length) of each.

    A browser maps only aligned arrays, at multiples of their item size, so the widest types come first.
    """
    types = {name: _narrowest(values) for name, values in arrays.items()}
    ordered = sorted(types, key=lambda name: -types[name].itemsize)
    packer = zlib.compressobj(6)
    packed = bytearray()
    for name in ordered:  # copies one array at a time
        packed += packer.compress(np.ascontiguousarray(arrays[name], types[name].newbyteorder("<")).data)
    packed += packer.flush()
    return [(name, str(types[name]), len(arrays[name])) for name in ordered], base64.b64encode(packed)


def _narrowest(values: NDArray[Any]) -> np.dtype[Any]:
    """Return the narrowest browser type that holds these numbers."""
    if values.dtype.kind == "f":
        return values.dtype
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    kinds = (np.uint8, np.uint16, np.uint32) if least >= 0 else (np.int8, np.int16, np.int32)
    return np.dtype(next(kind for kind in kinds if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max))


def leb128(numbers: NDArray[np.uint64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pack numbers below 2^35 as LEB128: 7 bits per byte, lowest first, high bit set except in the last byte.

    Returns the bytes, and the number of bytes of each number.
    """
    sizes = np.ones(len(numbers), np.int64)
    for k in range(1, 5):
        sizes += numbers >> np.uint64(7 * k) > 0
    places = np.cumsum(sizes) - sizes
    text = np.zeros(int(sizes.sum()), np.uint8)
    for k in range(5):
        has = sizes > k
        digit = (numbers[has] >> np.uint64(7 * k)) & np.uint64(127)
        text[places[has] + k] = digit | np.where(sizes[has] > k + 1, 128, 0).astype(np.uint64)
    return text, sizes
