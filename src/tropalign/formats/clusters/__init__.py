"""Formats of clusters, of count tables, of representatives, of chimeras, and of strands of reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tropalign.formats.format import BYTES, FASTA, HTML, RESULT, TEXT, TSV, Format, PlainContext

if TYPE_CHECKING:
    from tropalign.results.clusters import Clusters, OtuTable

FORMATS = {
    "clusters": (
        Format(*TSV, "clusters.tables"),
        Format("uc", (".uc",), TEXT, "USEARCH's clusters", "clusters.tables"),
        Format("clstr", (".clstr",), TEXT, "CD-HIT's clusters", "clusters.tables"),
        Format(*HTML, "clusters.report"),
        Format(*RESULT, "clusters.tables"),
    ),
    "counts": (
        Format("tsv", (".tsv", ".txt"), TEXT, "QIIME's classic table", "clusters.otu_tables"),
        Format("biom", (".biom",), TEXT, "BIOM 1.0 for QIIME 2 and phyloseq", "clusters.otu_tables"),
        Format("biom2", (".hdf5", ".h5"), BYTES, "BIOM 2.1 (HDF5) for QIIME 2 and biom-format", "clusters.biom_hdf5"),
    ),
    "representatives": (Format(FASTA[0], (*FASTA[1], ".fna"), TEXT, "", "clusters.tables"),),
    "representatives/reads": (
        Format(FASTA[0], (*FASTA[1], ".fna"), TEXT, "", "clusters.tables"),
        Format("fastq", (".fastq", ".fq"), TEXT, "distinct reads with qualities", "clusters.tables"),
    ),
    "chimeras/table": (
        Format(*TSV, "clusters.chimeras"),
        Format("uchime", (".uchime",), TEXT, "the columns of vsearch's --uchimeout", "clusters.chimeras"),
    ),
    "chimeras/sequences": (Format(FASTA[0], (*FASTA[1], ".fna"), TEXT, "", "clusters.chimeras"),),
    "orientations/table": (Format(*TSV, "clusters.orientations"),),
    "orientations/sequences": (Format(FASTA[0], (*FASTA[1], ".fna"), TEXT, "", "clusters.orientations"),),
}


@dataclass(frozen=True)
class ClustersContext(PlainContext):
    """Context of cluster formats.

    writes_sizes: add the reads of its cluster to a representative's name, as ``;size=N``. relabel: names of
    representatives, see `tropalign.results.clusters.new_names`. has_table_names: name representatives as in tables,
    cut at the first semicolon. table_of: counts the reads of each sample in clusters. takes_unmapped: FASTA of the
    unmapped reads instead of the representatives. has_qualities: the representatives have qualities.
    """

    writes_sizes: bool = False
    relabel: str = ""
    has_table_names: bool = False
    table_of: Callable[[Clusters], OtuTable] | None = None
    takes_unmapped: bool = False
    has_qualities: bool = False


@dataclass(frozen=True)
class ChimerasContext(PlainContext):
    """Context of chimera formats; FASTA holds the rows with this `verdict`, or all rows if it is empty."""

    verdict: str = ""
