"""Clusters as a tab-separated table, a row per sequence."""

from __future__ import annotations

from tropalign.errors import shown
from tropalign.formats.clusters import ClustersContext
from tropalign.formats.header import Header
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.clusters import Clusters
from tropalign.results.rows import check_names

COLUMNS = ("cluster", "representative", "member", "identity", "strand", "score", "length", "size")


def header_text(header: Header, context: ClustersContext) -> bytes:
    """Comment lines, then the names of the columns."""
    return ("\n".join([*header.comment_lines(), "\t".join(COLUMNS)]) + "\n").encode()


def encode(clusters: Clusters, context: ClustersContext) -> bytes:
    """The rows, cluster by cluster, its representative first, whose score with itself is left open."""
    check_names(clusters.sequences.names)
    names = [shown(name) for name in clusters.sequences.names]
    rows = []
    lengths = clusters.sequences.lengths.tolist()
    for k in clusters.row_order.tolist():
        label = clusters.labels[k]
        of = int(clusters.representative_index[label])
        score = "*" if of == k else f"{clusters.score[k]:.12g}"
        strand = "-" if clusters.strand[k] < 0 else "+"
        rows.append(
            f"{label}\t{names[of]}\t{names[k]}\t{clusters.identity[k]:.4f}\t{strand}\t{score}\t{lengths[k]}\t"
            f"{clusters.sizes[k]}\n"
        )
    return "".join(rows).encode("utf-8", "backslashreplace")


FORMAT = Format((".tsv", ".txt"), encode, concatenated(header_text))
