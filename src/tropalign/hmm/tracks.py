"""Segments and posteriors of sequences as tracks of a picture."""

from __future__ import annotations

import numpy as np

from tropalign.formats.segments.tracks import Track, bounds_of
from tropalign.hmm.decoding import Decoder
from tropalign.results.segments import Segments
from tropalign.sequences.blocks import SequenceBlock


def tracks_of(decoder: Decoder, block: SequenceBlock, found: Segments, most: int) -> list[Track]:
    """The first sequences of a block, at most `most`, with the segments of the label that the decoder shows."""
    tracks, label = [], decoder.shown_label
    for number, name in enumerate(found.names[:most]):
        begin, end = block.offsets[number : number + 2]
        letters, offsets = block.letters[begin:end], np.array([0, end - begin])
        gaps = decoder.long_runs(letters, offsets)
        codes = decoder.codes((name,), letters, offsets, block.file)
        is_shown = (found.sequence == number) & (found.label == label)
        spans = np.stack([found.start[is_shown], found.end[is_shown]], axis=1)
        tracks.append(Track(name, len(codes), spans, decoder.curve(codes, bounds_of(len(codes)), label), gaps))
    return tracks
