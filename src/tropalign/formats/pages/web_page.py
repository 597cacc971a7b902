"""Pages for a browser that need nothing but themselves: no network, no other file.

Whatever comes from files stands in JSON or in arrays, where nothing is markup, and a content security policy lets no
script run but the page's own. The folder ``frame`` has what pages share: ``frame.html`` (into which the rest is set),
``frame.css`` and ``frame.js`` the header, help and colours in light and dark of every page; the others what reports
share, which are pages of cards: tables, alignments, histograms. A page adds a folder with ``body.html``, ``help.html``,
``page.css``, scripts, and ``controls.html`` for its header. ``@table@`` and ``@histogram@`` in the ``body.html`` of a
report stand for the HTML of these parts, which ``wiring.js`` fills. The folder ``viewer`` has the tree that pages of
trees extend.
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

from tropalign.formats.header import Header
from tropalign.properties import cached

PAGES = Path(__file__).parent
FRAME = PAGES / "frame"
#: What reports share, in the order in which a browser reads it.
REPORT_SCRIPTS = ("report.js", "table.js", "histogram.js", "wiring.js", "alignment.js")
#: Parts that a report's ``body.html`` may name.
PARTS = ("table", "histogram")


def json_text(value: Any) -> bytes:
    """JSON in ASCII that ends no script element, whatever names hold."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").encode()


def policy(style: bytes, script: bytes) -> bytes:
    """The policy by which nothing is loaded, and no style or script runs but these."""
    digests = [base64.b64encode(hashlib.sha256(text).digest()).decode() for text in (style, script)]
    return f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'".encode()


def _filled(frame: bytes, filled: Mapping[bytes, bytes]) -> Iterator[bytes]:
    """The pieces of the frame, with the texts in place of their words."""
    for k, text in enumerate(re.split(rb"@(\w+)@", frame)):
        yield filled[text] if k % 2 else text


@cached
def page_texts(name: str, scripts: tuple[str, ...], is_report: bool = True) -> dict[bytes, bytes]:
    """Collects what is set into the frame of a page, whatever its data.

    Parameters
    ----------
    name
        The page's folder.
    scripts
        Those of the folder in their order; of another folder with its name, as "viewer/view.js".
    is_report
        Whether it is a page of cards, whose ``body.html`` has those below the summary.
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
        parts = {part.encode(): (FRAME / f"{part}.html").read_bytes() for part in PARTS}
        cards = b"".join(_filled(filled[b"body"], parts))
        filled[b"body"] = b"".join(_filled((FRAME / "report.html").read_bytes(), {b"cards": cards}))
        filled[b"help"] += (FRAME / "keys.html").read_bytes()
    else:
        filled[b"controls"] = (folder / "controls.html").read_bytes()
    return filled


def write_page(out: IO[bytes], texts: Mapping[bytes, bytes], header: Header, data: Mapping[str, bytes]) -> None:
    """Writes a page.

    Parameters
    ----------
    texts
        What `page_texts` gives.
    data
        What scripts read, by the names of their elements: JSON, or base64 for "arrays".
    """
    elements = []
    for name, text in data.items():
        kind = b"octet-stream" if name == "arrays" else b"json"
        elements += [b'<script type="application/%b" id="%b">' % (kind, name.encode()), text, b"</script>\n"]
    filled = {**texts, b"made": json_text(header.notes()), b"data": b"".join(elements)}
    for piece in _filled((FRAME / "frame.html").read_bytes(), filled):
        out.write(piece)


@dataclass(frozen=True)
class Report:
    """A page of cards, frame aside.

    Attributes
    ----------
    folder
        Its name; in it are ``body.html`` (the cards below the summary), ``help.html``, ``page.css`` and the scripts.
    scripts
        Those of the folder in their order; the last one calls ``openReport(make)`` of ``frame/report.js``.
    title
        The page's heading.
    data
        As JSON: the scripts' ``report.data``.
    arrays
        Columns of numbers, one-dimensional: the scripts' ``report.arrays``, as typed arrays. Integers of up to 32 bits
        and floats; those of 64 bits have to fit into 32, and the narrowest type that holds them is taken.
    """

    folder: str
    scripts: tuple[str, ...]
    title: str
    data: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def write_report_page(out: IO[bytes], report: Report, header: Header) -> None:
    """Writes the page."""
    layout, packed = packed_arrays(report.arrays)
    data = {"data": json_text(report.data), "title-of": json_text(report.title), "layout": json_text(layout)}
    write_page(out, page_texts(report.folder, report.scripts), header, {**data, "arrays": packed})


def packed_arrays(arrays: Mapping[str, NDArray[Any]]) -> tuple[list[tuple[str, str, int]], bytes]:
    """Arrays one after another, compressed, in base64; and (name, type, length) of each.

    A browser maps arrays whose places are multiples of their items' sizes: the widest come first.
    """
    types = {name: _narrowest(values) for name, values in arrays.items()}
    ordered = sorted(types, key=lambda name: -types[name].itemsize)
    packer = zlib.compressobj(6)
    packed = bytearray()
    for name in ordered:  # one at a time is copied
        packed += packer.compress(np.ascontiguousarray(arrays[name], types[name].newbyteorder("<")).data)
    packed += packer.flush()
    return [(name, str(types[name]), len(arrays[name])) for name in ordered], base64.b64encode(packed)


def _narrowest(values: NDArray[Any]) -> np.dtype[Any]:
    """The narrowest type that browsers have and these numbers fit in."""
    if values.dtype.kind == "f":
        return values.dtype
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    kinds = (np.uint8, np.uint16, np.uint32) if least >= 0 else (np.int8, np.int16, np.int32)
    return np.dtype(next(kind for kind in kinds if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max))


def leb128(numbers: NDArray[np.uint64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Packs numbers below 2^35 in bytes of 7 bits, the lowest first, each but the last with its highest bit set.

    Returns
    -------
    text, sizes
        The bytes, and how many each number takes.
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
