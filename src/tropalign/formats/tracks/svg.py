"""Segments along sequences as an SVG picture."""

from __future__ import annotations

from tropalign.formats.aligned.svg import drawn
from tropalign.formats.segments import SegmentsContext
from tropalign.formats.text import concatenated
from tropalign.formats.track_picture import Tracks, track_picture
from tropalign.formats.writer import Format


def encode(tracks: Tracks, context: SegmentsContext) -> bytes:
    """The picture."""
    return drawn(track_picture(tracks), tracks.title)


FORMAT = Format((".svg",), encode, concatenated())
