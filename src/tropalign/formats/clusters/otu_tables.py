"""Tables of counts as text: QIIME's classic one, and BIOM 1.0 (biom-format.org/documentation/format_versions)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import IO

import numpy as np

from tropalign.formats.clusters import ClustersContext
from tropalign.formats.format import Codec, concatenated
from tropalign.formats.header import Header
from tropalign.results.clusters import Clusters
from tropalign.results.otu_table import OtuTable
from tropalign.results.rows import check_names


def _counted(clusters: Clusters | OtuTable, context: ClustersContext) -> OtuTable:
    """The table of clusters."""
    if isinstance(clusters, OtuTable):
        return clusters
    assert context.table_of is not None  # who asks for a table says how
    return context.table_of(clusters)


def encode_tsv(clusters: Clusters | OtuTable, context: ClustersContext) -> bytes:
    """All lines."""
    table = _counted(clusters, context)
    check_names([*table.names, *table.samples])
    text = bytearray("\t".join(["#OTU ID", *table.samples]).encode("utf-8", "backslashreplace") + b"\n")
    ends = np.searchsorted(table.cluster, np.arange(len(table.names)), "right").tolist()
    begin = 0
    for name, end in zip(table.names, ends, strict=True):  # a row at a time: most numbers are 0
        counts = ["0"] * len(table.samples)
        for sample, reads in zip(table.sample[begin:end].tolist(), table.reads[begin:end].tolist(), strict=True):
            counts[sample] = str(reads)
        text += "\t".join([name, *counts]).encode("utf-8", "backslashreplace") + b"\n"
        begin = end
    return bytes(text)


def encode_biom(clusters: Clusters | OtuTable, context: ClustersContext) -> bytes:
    """What depends on the table, as JSON."""
    table = _counted(clusters, context)
    places = np.stack([table.cluster, table.sample, table.reads], axis=1)
    return json.dumps(
        {
            "matrix_type": "sparse",
            "matrix_element_type": "int",
            "shape": [len(table.names), len(table.samples)],
            "rows": [{"id": name, "metadata": None} for name in table.names],
            "columns": [{"id": name, "metadata": None} for name in table.samples],
            "data": places.tolist(),
        }
    ).encode()


def _assemble_biom(parts: Iterable[bytes], out: IO[bytes], header: Header, context: ClustersContext) -> None:
    about = {
        "id": None,
        "format": "Biological Observation Matrix 1.0.0",
        "format_url": "http://biom-format.org",
        "type": "OTU table",
        "generated_by": f"tropalign {header.version}",
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
    }
    (part,) = parts
    out.write(json.dumps(about)[:-1].encode() + b", " + part[1:] + b"\n")


TSV = Codec(encode_tsv, concatenated())
BIOM = Codec(encode_biom, _assemble_biom)
