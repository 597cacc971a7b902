"""Picture of segments along sequences: a bar with the segments above the curve of their label's posterior."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import shown
from tropalign.formats.format import Codec, Header
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
from tropalign.formats.segments import SegmentsContext

#: In pixels: width of a track, heights of bar and curve, and space below.
WIDTH, BAR_HEIGHT, CURVE_HEIGHT, SPACE = 800, 10, 48, 34
GROUND, SEGMENT, GAP = "#eceef2", "#2f6f9f", "#c4c8d0"


@dataclass(frozen=True, eq=False)
class Track:
    """One sequence.

    spans: start and end of its segments of the label, int64, shape (n, 2). curve: mean posterior of the label in
    bins of equal width, float64, shape (n_bins,); NaN for bins without a value. gaps: start and end of unlabelled
    parts, int64, shape (n_gaps, 2).
    """

    name: str
    length: int
    spans: NDArray[np.int64]
    curve: NDArray[np.float64]
    gaps: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tracks:
    """Tracks of one label for several sequences, with a title."""

    label: str
    tracks: tuple[Track, ...]
    title: str


def encoded_tracks(tracks: Iterable[Track], context: SegmentsContext) -> bytes:
    """Return the part of some tracks: a line of JSON for each."""
    rows = (
        [
            track.name,
            track.length,
            track.spans.tolist(),
            [None if value != value else value for value in track.curve.tolist()],
            track.gaps.tolist(),
        ]
        for track in tracks
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def tracks_of_parts(parts: Iterable[bytes], context: SegmentsContext) -> Tracks:
    """Return all tracks of a picture. Raises ValueError or TypeError for a part that `encoded_tracks` did not make."""
    tracks = []
    for line in (line for part in parts for line in part.splitlines()):
        name, length, spans, curve, gaps = json.loads(line)
        of_spans, of_gaps = (np.array(values, np.int64).reshape(-1, 2) for values in (spans, gaps))
        of_curve = np.array(curve, np.float64)
        if not isinstance(name, str) or not isinstance(length, int) or of_curve.ndim != 1:
            raise ValueError("not a track")
        tracks.append(Track(name, length, of_spans, of_curve, of_gaps))
    return Tracks(context.label, tuple(tracks), context.title)


def bounds_of(length: int) -> NDArray[np.int64]:
    """Return the bounds of a curve's bins: one per pixel, or per position if these are fewer."""
    return distinct(np.linspace(0, length, min(length, WIDTH) + 1).round().astype(np.int64))


def track_picture(shown_tracks: Tracks) -> Picture:
    """Lay out bars, segments and curves."""
    made = Picture(width=2 * MARGIN + 36 + WIDTH, height=MARGIN + 30)
    title = shown(f"{shown_tracks.title}: {shown_tracks.label}")
    made.texts.append(Text((MARGIN,), MARGIN + 4, title, "start", TEXT + 3, INK))
    for track in shown_tracks.tracks:
        _draw(made, track)
    made.width = max(made.width, 2 * MARGIN + LETTER * (TEXT + 3) * len(title))
    made.height += MARGIN
    return made


def _draw(made: Picture, track: Track) -> None:
    left, scale = MARGIN + 36, WIDTH / max(track.length, 1)
    words = (
        f"{shown(track.name)}   {track.length:,} letters, {len(track.spans):,} segment{'s' * (len(track.spans) != 1)}"
    )
    if len(track.gaps):
        words += f", {int(np.diff(track.gaps).sum()):,} letters unlabelled"
    made.texts.append(Text((left,), made.height + 6, words, "start", TEXT, INK))
    top = made.height + 18
    made.boxes.append(Box(left, top, WIDTH, BAR_HEIGHT, GROUND))
    for begin, end in track.gaps.tolist():
        made.boxes.append(Box(left + scale * begin, top, scale * (end - begin), BAR_HEIGHT, GAP))
    for begin, end in track.spans.tolist():
        made.boxes.append(Box(left + scale * begin, top, max(1.0, scale * (end - begin)), BAR_HEIGHT, SEGMENT))
    bottom = top + BAR_HEIGHT + 4 + CURVE_HEIGHT
    made.boxes.append(Box(left, bottom, WIDTH, 1, FAINT))
    width = WIDTH / max(len(track.curve), 1)
    for k, value in enumerate(track.curve.tolist()):
        height = round(CURVE_HEIGHT * min(max(value, 0.0), 1.0), 1)
        if height > 0:  # false for NaN
            made.boxes.append(Box(left + width * k, bottom - height, width, height, BAR))
    for value, text in (0, "0"), (1, "1"):
        made.texts.append(Text((left - 6,), bottom - CURVE_HEIGHT * value, text, "end", TEXT - 2, QUIET))
    step = 1
    while track.length / step > 8:  # round positions with at most eight intervals
        step *= 5 if str(step)[0] == "1" else 2
    for position in range(0, track.length + 1, step):
        x = left + scale * position
        made.boxes.append(Box(x, bottom, 1, 4, FAINT))
        made.texts.append(Text((x,), bottom + 11, f"{position:,}", "middle", TEXT - 2, QUIET))
    made.height = bottom + SPACE


def assemble_svg(parts: Iterable[bytes], out: IO[bytes], header: Header, context: SegmentsContext) -> None:
    """Write the picture of all tracks as SVG."""
    tracks = tracks_of_parts(parts, context)
    out.write(as_svg(track_picture(tracks), tracks.title))


def assemble_png(parts: Iterable[bytes], out: IO[bytes], header: Header, context: SegmentsContext) -> None:
    """Write the picture of all tracks as PNG."""
    out.write(as_png(track_picture(tracks_of_parts(parts, context))))


SVG = Codec(encoded_tracks, assemble_svg, assembled_with=("title", "label"), needs_all=True)
PNG = Codec(
    encoded_tracks,
    assemble_png,
    assembled_with=("title", "label"),
    is_binary=True,
    needs_all=True,
    require=require_pillow,
)
