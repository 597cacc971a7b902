"""Clusters as text (a row per sequence, USEARCH's table, CD-HIT's list), complete results, and representatives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from tropalign.errors import InputError, shown
from tropalign.formats.array_files import Packed, batch_packed, result_format
from tropalign.formats.clusters import ClustersContext
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.results.clusters import RUN, Clusters, new_names, otu_names
from tropalign.results.rows import check_names, fasta_headers
from tropalign.sequences import SequenceBatch
from tropalign.sequences.annotations import with_count

COLUMNS = ("cluster", "representative", "member", "identity", "strand", "score", "length", "size")


def header_text(header: Header, context: ClustersContext) -> bytes:
    """Return comment lines, then the column names."""
    return header.above(COLUMNS)


def encode_tsv(clusters: Clusters, context: ClustersContext) -> bytes:
    """Return the rows by cluster, the representative first, with ``*`` as its score."""
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


#: USEARCH's operations transform the member into the representative.
_LETTERS = {"=": "M", "X": "M", "I": "D", "D": "I"}


def encode_uc(clusters: Clusters, context: ClustersContext) -> bytes:
    """Return all lines; with given representatives, one per read as in vsearch --usearch_global (N: unmapped)."""
    check_names(clusters.sequences.names)
    names = [shown(name) for name in clusters.sequences.names]
    lengths, sizes = clusters.sequences.lengths.tolist(), clusters.cluster_sizes.tolist()
    lines = []
    for k in np.argsort(clusters.rank).tolist():
        label, cigar = clusters.labels[k], clusters.cigars[k]
        if label < 0:
            lines.append(f"N\t*\t*\t*\t.\t*\t*\t*\t{names[k]}\t*\n")
            continue
        if cigar is None and clusters.n_given:
            continue
        if cigar is None:
            lines.append(f"S\t{label}\t{lengths[k]}\t*\t*\t*\t*\t*\t{names[k]}\t*\n")
            continue
        of = names[clusters.representative_index[label]]
        strand, identity = "-" if clusters.strand[k] < 0 else "+", 100 * clusters.identity[k]
        path = compact(cigar)
        lines.append(f"H\t{label}\t{lengths[k]}\t{identity:.1f}\t{strand}\t0\t0\t{path}\t{names[k]}\t{of}\n")
    for label, k in enumerate([] if clusters.n_given else clusters.representative_index.tolist()):
        lines.append(f"C\t{label}\t{sizes[label]}\t*\t*\t*\t*\t*\t{names[k]}\t*\n")
    return "".join(lines).encode("utf-8", "backslashreplace")


def encode_clstr(clusters: Clusters, context: ClustersContext) -> bytes:
    """Return CD-HIT's list of clusters with names in full (its ``-d 0``), the representative first.

    Identities are in per cent; those of nucleotides follow the strand, as in cd-hit-est.
    """
    check_names(clusters.sequences.names)
    names = [shown(name) for name in clusters.sequences.names]
    is_stranded = clusters.sequences.alphabet.has_strands
    unit, lengths = "nt" if is_stranded else "aa", clusters.sequences.lengths.tolist()
    lines, label, number = [], -1, 0
    for k in clusters.row_order.tolist():
        if clusters.labels[k] != label:
            label, number = int(clusters.labels[k]), 0
            lines.append(f">Cluster {label}\n")
        strand = ("-/" if clusters.strand[k] < 0 else "+/") if is_stranded else ""
        is_first = int(clusters.representative_index[label]) == k
        similarity = "*" if is_first else f"at {strand}{100 * clusters.identity[k]:.2f}%"
        lines.append(f"{number}\t{lengths[k]}{unit}, >{names[k]}... {similarity}\n")
        number += 1
    return "".join(lines).encode("utf-8", "backslashreplace")


def compact(cigar: str) -> str:
    """Return a CIGAR in USEARCH's form.

    >>> compact("2I3=1X4=1D"), compact("8=")
    ('2D8MI', '=')
    """
    runs = [(_LETTERS[kind], int(count), kind) for count, kind in RUN.findall(cigar)]
    if [kind for _, _, kind in runs] == ["="]:
        return "="
    pieces = []
    for letter, group in groupby(runs, key=lambda run: run[0]):
        count = sum(run[1] for run in group)
        pieces.append(letter if count == 1 else f"{count}{letter}")
    return "".join(pieces) or "*"


_RESULT_COLUMNS = (
    "labels", "representative_index", "rank", "sizes", "identity", "strand", "score", "member_start",
    "representative_start",
)  # fmt: skip


def pack(clusters: Clusters, context: ClustersContext) -> Packed:
    """Pack the clusters with their sequences."""
    notes, arrays = batch_packed(clusters.sequences, "sequences")
    return {"cigars": list(clusters.cigars), "n_given": clusters.n_given, **notes}, arrays | {
        name: getattr(clusters, name) for name in _RESULT_COLUMNS
    }


def encode_fasta(clusters: Clusters, context: ClustersContext) -> bytes:
    """Return the representatives that have reads, in cluster order; or the unmapped reads."""
    if context.takes_unmapped:
        return fasta_text(clusters.unmapped, clusters.unmapped.names)
    return fasta_text(*_representatives(clusters, context))


def encode_fastq(clusters: Clusters, context: ClustersContext) -> bytes:
    """Return the representatives with their qualities, in cluster order."""
    batch, names = _representatives(clusters, context)
    assert batch.qualities is not None
    scores, offsets = (batch.qualities + np.uint8(ord("!"))).tobytes(), batch.offsets.tolist()
    text = bytearray()
    for k, label in enumerate(fasta_headers(names)):
        text += f"@{label}\n{batch.text(k)}\n+\n".encode("utf-8", "backslashreplace")
        text += scores[offsets[k] : offsets[k + 1]] + b"\n"
    return bytes(text)


def _representatives(clusters: Clusters, context: ClustersContext) -> tuple[SequenceBatch, list[str]]:
    """Return the representatives that have reads, and their new names."""
    in_tables = otu_names if context.has_table_names else new_names
    names = in_tables(clusters, context.relabel) or clusters.representatives.names
    sizes = clusters.cluster_sizes
    if context.writes_sizes:
        names = tuple(with_count(name, size) for name, size in zip(names, sizes.tolist(), strict=True))
    kept = np.flatnonzero(sizes > 0)
    return clusters.sequences[clusters.representative_index[kept]], [names[k] for k in kept.tolist()]


def check_qualities(context: ClustersContext) -> None:
    """Raise InputError if the sequences have no qualities."""
    if not context.has_qualities:
        raise InputError(
            "FASTQ needs the qualities of all reads: give FASTQ files only, or end the name of the output in .fasta"
        )


def fasta_text(batch: SequenceBatch, names: Sequence[str]) -> bytes:
    """Return the sequences as FASTA under these names."""
    text = bytearray()  # incrementally: a list of records takes several times the memory
    for k, label in enumerate(fasta_headers(names)):
        text += f">{label}\n{batch.text(k)}\n".encode("utf-8", "backslashreplace")
    return bytes(text)


TSV = Codec(encode_tsv, Concatenated(header_text))
UC = Codec(encode_uc, Concatenated())
CLSTR = Codec(encode_clstr, Concatenated())
RESULT = result_format("clusters", pack)
FASTA = Codec(encode_fasta, Concatenated())
FASTQ = Codec(encode_fastq, Concatenated(), check=check_qualities)
