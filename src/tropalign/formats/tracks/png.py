"""Segments along sequences as a PNG picture, drawn by Pillow."""

from __future__ import annotations

from tropalign.formats.aligned.png import drawn, require
from tropalign.formats.segments import SegmentsContext
from tropalign.formats.text import concatenated
from tropalign.formats.track_picture import Tracks, track_picture
from tropalign.formats.writer import Format


def encode(tracks: Tracks, context: SegmentsContext) -> bytes:
    """The picture."""
    return drawn(track_picture(tracks))


FORMAT = Format((".png",), encode, concatenated(), is_binary=lambda context: True, require=require)
