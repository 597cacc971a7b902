"""Strands of reads as text: a tab-separated row per read; FASTA of reads whose strand is uncertain."""

from __future__ import annotations

import numpy as np

from tropalign.errors import shown
from tropalign.formats.clusters import ClustersContext
from tropalign.formats.clusters.tables import fasta_text
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.results.clusters import Orientations
from tropalign.results.rows import check_names


def header_text(header: Header, context: ClustersContext) -> bytes:
    """Return comment lines, then the column names."""
    return header.above(("read", "strand", "plus_kmers", "minus_kmers"))


def encode_rows(found: Orientations, context: ClustersContext) -> bytes:
    """Return a row per read, with ``?`` for an uncertain strand."""
    check_names(found.reads.names)
    columns = (found.reads.names, found.strand.tolist(), found.plus.tolist(), found.minus.tolist())
    lines = (
        f"{shown(name)}\t{'?+-'[strand]}\t{plus}\t{minus}\n" for name, strand, plus, minus in zip(*columns, strict=True)
    )
    return "".join(lines).encode("utf-8", "backslashreplace")


def encode_fasta(found: Orientations, context: ClustersContext) -> bytes:
    """Return the reads whose strand is uncertain."""
    reads = found.reads[np.flatnonzero(found.strand == 0)]
    return fasta_text(reads, reads.names)


TSV = Codec(encode_rows, Concatenated(header_text))
FASTA = Codec(encode_fasta, Concatenated())
