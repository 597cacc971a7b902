"""Writers of clusters."""

from __future__ import annotations

import os

from tropalign.errors import UsageError
from tropalign.execution.files import output_name
from tropalign.execution.run import Output, write_outputs
from tropalign.formats.clusters import ClustersContext
from tropalign.formats.registry import format_for_path, format_names, format_of, suffix_of, write
from tropalign.results.clusters import Clusters
from tropalign.results.names import ClustersFormat
from tropalign.results.otu_table import OtuTable


def write_clusters(
    clusters: Clusters | OtuTable, path: str | os.PathLike[str], format: ClustersFormat | None = None
) -> None:
    """Write clusters or a table of counts; the file appears complete or not at all.

    Parameters
    ----------
    clusters
        The clusters or table to write.
    path
        ``-`` is standard output; a suffix such as ``.gz`` compresses.
    format
        "tsv", "uc", "html" (a web page), or "fasta" for the representatives; for a table "tsv", "biom" or "biom2".
        By default, the suffix of the path decides.

    Raises
    ------
    UsageError
        The format or suffix does not exist.
    InputError
        A name that the format cannot hold, or a path that cannot be written.
    ResourceError
        The disk is full.

    Examples
    --------
    >>> write_clusters(tropalign.cluster({"a": "ACGTACGT", "b": "ACGTACGTA"}), "-", "uc")
    S	0	9	*	*	*	*	*	b	*
    H	0	8	100.0	+	0	0	8MI	a	b
    C	0	2	*	*	*	*	*	b	*
    """
    if not isinstance(clusters, Clusters | OtuTable):
        raise UsageError(f"an object of type {type(clusters).__name__} is no Clusters")
    output = output_name(path)
    fasta = format_of("representatives", "fasta")
    is_fasta = format == fasta.name if format else suffix_of(output) in fasta.suffixes
    kind = "counts" if isinstance(clusters, OtuTable) else "representatives" if is_fasta else "clusters"
    name = format_for_path(kind, output) if format is None else format
    if name not in format_names(kind):
        known = format_names(kind) if kind == "counts" else (*format_names("clusters"), "fasta")
        raise UsageError(f"format {name!r} is none of {', '.join(known)}")
    write(kind, [clusters], output, name, "write_clusters", ClustersContext())


def write_all(clusters: Clusters | OtuTable, outputs: list[Output]) -> None:
    """Write every file completely, and only after all of them have been made."""
    write_outputs(outputs, lambda output: [output.writer.encode(clusters)])
