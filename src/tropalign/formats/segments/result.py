"""Segments whole, with all sequences: what `read_result` reads."""

from __future__ import annotations

import numpy as np

from tropalign.formats.result_file import Packed, result_format
from tropalign.formats.segments import SegmentsContext
from tropalign.results.segments import Segments


def pack(segments: Segments, context: SegmentsContext) -> Packed:
    """All of them; which sequence a segment is of follows from how many each has."""
    offsets = np.searchsorted(segments.sequence, np.arange(len(segments.names) + 1)).astype(np.int64)
    columns = ("lengths", "log_likelihoods", "n_unlabelled", "start", "end", "label", "support")
    arrays = {name: getattr(segments, name) for name in columns} | {"segment_offsets": offsets}
    return {"names": list(segments.names), "labels": list(segments.labels)}, arrays


FORMAT = result_format("segments", pack)
