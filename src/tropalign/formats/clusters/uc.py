"""Clusters in USEARCH's format of ten columns, as vsearch writes it.

S a representative, H a sequence that joined one, both in the order in which they were looked at, then C per cluster:

    S  cluster  length  *         *       *  *  *      name  *
    H  cluster  length  identity  strand  0  0  CIGAR  name  representative
    C  cluster  size    *         *       *  *  *      name  *

Identity is in percent. In the CIGAR M is a pair of residues, D a residue of the member alone and I one of the
representative alone; a count of 1 is left out, and "=" stands for an alignment without a difference.
"""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np

from tropalign.errors import shown
from tropalign.formats.clusters import ClustersContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.clusters import Clusters
from tropalign.results.rows import check_names

_RUN = re.compile(r"([0-9]+)([=XID])")
#: USEARCH's operations say what happens to the member, on the way to the representative.
_LETTERS = {"=": "M", "X": "M", "I": "D", "D": "I"}


def encode(clusters: Clusters, context: ClustersContext) -> bytes:
    """All lines."""
    check_names(clusters.sequences.names)
    names = [shown(name) for name in clusters.sequences.names]
    lengths, sizes = clusters.sequences.lengths.tolist(), clusters.cluster_sizes.tolist()
    lines = []
    for k in np.argsort(clusters.rank).tolist():
        label, cigar = clusters.labels[k], clusters.cigars[k]
        if cigar is None:
            lines.append(f"S\t{label}\t{lengths[k]}\t*\t*\t*\t*\t*\t{names[k]}\t*\n")
            continue
        of = names[clusters.representative_index[label]]
        strand, identity = "-" if clusters.strand[k] < 0 else "+", 100 * clusters.identity[k]
        path = compact(cigar)
        lines.append(f"H\t{label}\t{lengths[k]}\t{identity:.1f}\t{strand}\t0\t0\t{path}\t{names[k]}\t{of}\n")
    for label, k in enumerate(clusters.representative_index.tolist()):
        lines.append(f"C\t{label}\t{sizes[label]}\t*\t*\t*\t*\t*\t{names[k]}\t*\n")
    return "".join(lines).encode("utf-8", "backslashreplace")


def compact(cigar: str) -> str:
    """A CIGAR as USEARCH has it.

    Examples
    --------
    >>> compact("2I3=1X4=1D"), compact("8=")
    ('2D8MI', '=')
    """
    runs = [(_LETTERS[kind], int(count), kind) for count, kind in _RUN.findall(cigar)]
    if [kind for _, _, kind in runs] == ["="]:
        return "="
    pieces = []
    for letter, group in groupby(runs, key=lambda run: run[0]):
        count = sum(run[1] for run in group)
        pieces.append(letter if count == 1 else f"{count}{letter}")
    return "".join(pieces) or "*"


FORMAT = Format((".uc",), encode, concatenated())
