"""Segments along sequences as a PNG picture, drawn by Pillow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from tropalign.formats.aligned.png import drawn, require
from tropalign.formats.header import Header
from tropalign.formats.segments import SegmentsContext
from tropalign.formats.track_picture import encoded_tracks, track_picture, tracks_of_parts
from tropalign.formats.writer import Format


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: SegmentsContext) -> None:
    """The picture of all tracks."""
    out.write(drawn(track_picture(tracks_of_parts(parts, context))))


FORMAT = Format(
    (".png",),
    encoded_tracks,
    assemble,
    assembled_with=("title", "label"),
    is_binary=lambda context: True,
    needs_all=lambda context: True,
    require=require,
)
