"""Pages for a browser that need nothing but themselves: no network, no other file.

Whatever comes from files stands in JSON or in arrays, where nothing is markup, and a content security policy lets no
script run but the page's own. The folder ``frame`` has what reports share: header, help, colours in light and dark, and
the parts that more than one report shows (tables, alignments, histograms); ``base.css`` is the style that every page
begins with. A report adds a folder with ``body.html``, ``help.html``, ``page.css`` and scripts. ``@table@`` and
``@histogram@`` in ``body.html`` stand for the HTML of these parts, which ``wiring.js`` fills.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.header import Header

PAGES = Path(__file__).parent
FRAME = PAGES / "frame"
#: The style that every page begins with.
STYLE = FRAME / "base.css"
#: What reports share, in the order in which a browser reads it.
SCRIPTS = ("frame.js", "table.js", "histogram.js", "wiring.js", "alignment.js")
#: Parts that a report's ``body.html`` may name.
PARTS = ("table", "histogram")


def json_text(value: Any) -> bytes:
    """JSON in ASCII that ends no script element, whatever names hold."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").encode()


def policy(style: bytes, script: bytes) -> bytes:
    """Nothing is loaded, and no style or script runs but these."""
    digests = [base64.b64encode(hashlib.sha256(text).digest()).decode() for text in (style, script)]
    return f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'".encode()


def write_filled(out: IO[bytes], frame: bytes, filled: Mapping[bytes, bytes]) -> None:
    """Writes the frame, each ``@word@`` of which stands for a text."""
    for text in _filled(frame, filled):
        out.write(text)


def _filled(frame: bytes, filled: Mapping[bytes, bytes]) -> Iterator[bytes]:
    """The pieces of the frame, with the texts in place of their words."""
    for k, text in enumerate(re.split(rb"@(\w+)@", frame)):
        yield filled[text] if k % 2 else text


@dataclass(frozen=True)
class Report:
    """A report, frame aside.

    Attributes
    ----------
    folder
        Its name; in it are ``body.html`` (the cards below the summary), ``help.html``, ``page.css`` and the scripts.
    scripts
        Those of the folder in their order; the last one calls ``openReport(make)`` of ``frame/frame.js``.
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


@cache
def _frame(name: str, scripts: tuple[str, ...]) -> tuple[bytes, dict[bytes, bytes]]:
    """The frame of a report and what is set into it, whatever the data."""
    folder = PAGES / name
    paths = [*(FRAME / name for name in SCRIPTS), *(folder / script for script in scripts)]
    script = b'"use strict";\n' + b"".join(path.read_bytes() for path in paths)
    style = b"".join(path.read_bytes() for path in (STYLE, FRAME / "frame.css", folder / "page.css"))
    filled = {b"policy": policy(style, script), b"style": style, b"script": script}
    parts = {name.encode(): (FRAME / f"{name}.html").read_bytes() for name in PARTS}
    filled[b"body"] = b"".join(_filled((folder / "body.html").read_bytes(), parts))
    filled[b"help"] = (folder / "help.html").read_bytes()
    return (FRAME / "frame.html").read_bytes(), filled


def write_report_page(out: IO[bytes], report: Report, header: Header) -> None:
    """Writes the page."""
    frame, filled = _frame(report.folder, report.scripts)
    layout, packed = packed_arrays(report.arrays)
    texts = {b"data": json_text(report.data), b"made": json_text(header.notes()), b"title": json_text(report.title)}
    write_filled(out, frame, {**filled, **texts, b"layout": json_text(layout), b"arrays": packed})


def packed_arrays(arrays: Mapping[str, NDArray[Any]]) -> tuple[list[tuple[str, str, int]], bytes]:
    """Arrays one after another, compressed, in base64; and (name, type, length) of each.

    A browser maps arrays whose places are multiples of their items' sizes: the widest come first.
    """
    plain = {name: _narrow(values) for name, values in arrays.items()}
    ordered = sorted(plain, key=lambda name: -plain[name].itemsize)
    little = [plain[name].astype(plain[name].dtype.newbyteorder("<"), copy=False) for name in ordered]
    packer = zlib.compressobj(6)
    pieces = [*(packer.compress(values.tobytes()) for values in little), packer.flush()]
    layout = [(name, str(plain[name].dtype), len(plain[name])) for name in ordered]
    return layout, base64.b64encode(b"".join(pieces))


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The narrowest type that browsers have and these numbers fit in."""
    if values.dtype.kind == "f":
        return values
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    kinds = (np.uint8, np.uint16, np.uint32) if least >= 0 else (np.int8, np.int16, np.int32)
    return values.astype(next(kind for kind in kinds if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max))


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
