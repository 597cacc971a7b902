"""Representatives as FASTA, a line of letters each."""

from __future__ import annotations

import re

from tropalign.formats.clusters import ClustersContext
from tropalign.formats.format import Codec
from tropalign.formats.text import concatenated
from tropalign.results.clusters import Clusters
from tropalign.results.rows import check_names

_SIZE = re.compile(r"(^|;)size=[0-9]+(?=;|$)")


def encode(clusters: Clusters, context: ClustersContext) -> bytes:
    """The records, in the order of the clusters."""
    batch = clusters.representatives
    check_names(batch.names)
    records = []
    for k, (name, size) in enumerate(zip(batch.names, clusters.cluster_sizes.tolist(), strict=True)):
        label = with_size(name, size) if context.writes_sizes else name
        records.append(f">{label}\n{batch.text(k)}\n")
    return "".join(records).encode("utf-8", "backslashreplace")


def with_size(name: str, size: int) -> str:
    """A name with this abundance in place of its own.

    Examples
    --------
    >>> with_size("a;size=3;sample=x", 12), with_size("b", 2)
    ('a;sample=x;size=12', 'b;size=2')
    """
    return f"{_SIZE.sub('', name).rstrip(';')};size={size}"


FASTA = Codec(encode, concatenated())
