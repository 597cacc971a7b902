"""Printable picture of an alignment: blocks of columns with names, residue numbers and a confidence track.

`picture` computes the layout once; `tropalign.formats.picture` draws it. If an alignment is too large for readable
characters, the picture shows only colours, a box per cell.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import shown
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.format import Codec, Concatenated
from tropalign.formats.picture import (
    BAR,
    FAINT,
    INK,
    LETTER,
    MARGIN,
    QUIET,
    TEXT,
    Box,
    Picture,
    Text,
    as_png,
    as_svg,
    require_pillow,
)
from tropalign.results.multiple import GAP, MultipleAlignment, cell_colours

#: Columns per block; maximum number of lines, over all blocks, of a picture with characters, so that programs can
#: open it.
BLOCK, MOST_LINES = 80, 1_000
#: Maximum length of a name.
MOST_NAME = 32
#: Most rows and columns without characters; larger alignments are sampled.
MOST_ROWS, MOST_COLUMNS = 600, 1_200
#: In pixels; an SVG file scales.
CELL_WIDTH, ROW_HEIGHT, TRACK = 11, 16, 24


def picture(alignment: MultipleAlignment, title: str) -> Picture:
    """Lay out names, residues, colours and confidence of an alignment of any size, below a title."""
    n_rows, n_columns = alignment.shape
    words = f"{n_rows:,} sequence{'s' * (n_rows != 1)}, {n_columns:,} column{'s' * (n_columns != 1)}"
    has_letters = -(-n_columns // BLOCK) * (n_rows + 4) <= MOST_LINES
    made = _blocks(alignment) if has_letters else _overview(alignment)
    made.texts.append(Text((MARGIN,), MARGIN + 4, shown(title), "start", TEXT + 3, INK))
    made.texts.append(Text((MARGIN,), MARGIN + 24, words, "start", TEXT, QUIET))
    made.height += MARGIN
    made.width = max(made.width, 2 * MARGIN + LETTER * (TEXT + 3) * max(len(shown(title)), len(words)))
    return made


def _blocks(alignment: MultipleAlignment) -> Picture:
    names = [name if len(name) <= MOST_NAME else name[: MOST_NAME - 1] + "…" for name in map(shown, alignment.names)]
    left = MARGIN + 8 + LETTER * TEXT * max(len("confidence"), *map(len, names))
    widest = min(BLOCK, alignment.n_columns)
    made = Picture(width=left + CELL_WIDTH * widest + 64, height=MARGIN + 44)
    colours = cell_colours(alignment)
    numbers = np.cumsum(alignment.letters != GAP, axis=1)
    for begin in range(0, alignment.n_columns, BLOCK):
        span = slice(begin, min(begin + BLOCK, alignment.n_columns))
        for number in range(span.start // 10 * 10 + 10, span.stop + 1, 10):
            x = left + CELL_WIDTH * (number - span.start - 0.5)
            made.texts.append(Text((x,), made.height + 5, str(number), "middle", TEXT - 2, QUIET))
        made.height += ROW_HEIGHT
        for k, name in enumerate(names):
            y = made.height + ROW_HEIGHT / 2
            made.texts.append(Text((left - 8,), y, name, "end", TEXT, INK))
            _row(made, alignment.letters[k, span], colours[0][k, span], colours[1], left)
            last = str(numbers[k, span.stop - 1])
            end = left + CELL_WIDTH * (span.stop - span.start) + 8
            made.texts.append(Text((end,), y, last, "start", TEXT - 2, QUIET))
            made.height += ROW_HEIGHT
        if alignment.column_confidence is not None:
            made.texts.append(Text((left - 8,), made.height + TRACK / 2 + 2, "confidence", "end", TEXT - 2, QUIET))
            for k, value in enumerate(np.clip(np.nan_to_num(alignment.column_confidence[span]), 0, 1).tolist()):
                height = round(TRACK * value, 1)
                x = left + CELL_WIDTH * k
                made.boxes.append(Box(x, made.height + 2 + TRACK - height, CELL_WIDTH - 1, height, BAR))
            made.height += TRACK + 2
        made.height += ROW_HEIGHT
    return made


def _row(
    made: Picture, letters: NDArray[np.uint8], numbers: NDArray[np.uint8], palette: list[str], left: float
) -> None:
    """Add residues on coloured boxes; neighbours of equal colour share a box."""
    at = 0
    for number, run in groupby(numbers.tolist()):
        n = len(list(run))
        if number:
            made.boxes.append(Box(left + CELL_WIDTH * at, made.height, CELL_WIDTH * n, ROW_HEIGHT, palette[number]))
        at += n
    for gaps, colour in (False, INK), (True, FAINT):
        places = np.flatnonzero((letters == GAP) == gaps)
        if len(places):
            xs = tuple((left + CELL_WIDTH * (places + 0.5)).tolist())
            text = letters[places].tobytes().decode("latin-1")
            made.texts.append(Text(xs, made.height + ROW_HEIGHT / 2, text, "letters", TEXT, colour))


def _overview(alignment: MultipleAlignment) -> Picture:
    """Return a picture with a box per run of equal cells; too many rows or columns are sampled evenly."""
    chosen = [
        distinct(np.linspace(0, size - 1, min(size, most)).round().astype(np.int64))
        for size, most in zip(alignment.shape, (MOST_ROWS, MOST_COLUMNS), strict=True)
    ]
    numbers, palette = cell_colours(alignment)
    is_residue = alignment.letters != GAP
    shades = np.where(is_residue, numbers.astype(np.int64) + 1, 0)[np.ix_(*chosen)]
    hues = ["", "#dfe3ea", *palette[1:]]
    size = max(1, min(6, 1_800 // shades.shape[1]))
    made = Picture(width=2 * MARGIN + size * shades.shape[1], height=MARGIN + 44)
    for row in shades.tolist():
        at = 0
        for shade, run in groupby(row):
            n = len(list(run))
            if shade:
                made.boxes.append(Box(MARGIN + size * at, made.height, size * n, size, hues[shade]))
            at += n
        made.height += size
    return made


def encode_svg(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the picture as SVG."""
    return as_svg(picture(alignment, context.title), context.title)


def encode_png(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the picture as PNG."""
    return as_png(picture(alignment, context.title))


SVG = Codec(encode_svg, Concatenated())
PNG = Codec(encode_png, Concatenated(), is_binary=True, require=require_pillow)
