"""Clusters whole, with their sequences: what `read_result` reads."""

from __future__ import annotations

from tropalign.formats.clusters import ClustersContext
from tropalign.formats.result_file import Packed, result_format
from tropalign.formats.saved_results import batch_packed
from tropalign.results.clusters import Clusters

_COLUMNS = ("labels", "representative_index", "rank", "sizes", "identity", "strand", "score")


def pack(clusters: Clusters, context: ClustersContext) -> Packed:
    """All of them."""
    notes, arrays = batch_packed(clusters.sequences, "sequences")
    return {"cigars": list(clusters.cigars), **notes}, arrays | {name: getattr(clusters, name) for name in _COLUMNS}


FORMAT = result_format("clusters", pack)
