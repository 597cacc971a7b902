"""Segments along sequences as an SVG picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from tropalign.formats.aligned.svg import drawn
from tropalign.formats.header import Header
from tropalign.formats.segments import SegmentsContext
from tropalign.formats.track_picture import encoded_tracks, track_picture, tracks_of_parts
from tropalign.formats.writer import Format


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: SegmentsContext) -> None:
    """The picture of all tracks."""
    tracks = tracks_of_parts(parts, context)
    out.write(drawn(track_picture(tracks), tracks.title))


FORMAT = Format((".svg",), encoded_tracks, assemble, assembled_with=("title", "label"), needs_all=lambda context: True)
