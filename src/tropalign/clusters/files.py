"""Writing clusters and chimeras to files from Python."""

from __future__ import annotations

import os

from tropalign.errors import UsageError
from tropalign.execution.files import output_name
from tropalign.execution.run import Output, write_outputs
from tropalign.formats.clusters import ChimerasContext, ClustersContext
from tropalign.formats.format import format_for_path, format_names, format_of, suffix_of, write
from tropalign.results.chimeras import Chimeras
from tropalign.results.clusters import Clusters, OtuTable
from tropalign.results.names import ChimerasFormat, ClustersFormat


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
        "tsv", "uc", "clstr", "html" (a web page), or "fasta" for the representatives; for a table "tsv", "biom" or
        "biom2". By default, the suffix of the path decides.

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
        raise UsageError(f"an object of type {type(clusters).__name__} is not Clusters")
    if isinstance(clusters, OtuTable):
        _write(clusters, path, format, "counts", None, "write_clusters", ClustersContext())
    else:
        _write(clusters, path, format, "clusters", "representatives", "write_clusters", ClustersContext())


def write_all(result: Clusters | OtuTable | Chimeras, outputs: list[Output]) -> None:
    """Write all files; none appears until all of them have been made."""
    write_outputs(outputs, lambda output: [output.writer.encode(result)])


TABLE, SEQUENCES = "chimeras/table", "chimeras/sequences"


def write_chimeras(chimeras: Chimeras, path: str | os.PathLike[str], format: ChimerasFormat | None = None) -> None:
    """Write a table of the rows, or their sequences; the file appears complete or not at all.

    Parameters
    ----------
    chimeras
        The results to write.
    path
        ``-`` is standard output; a suffix such as ``.gz`` compresses.
    format
        "tsv", "uchime" (like vsearch's ``--uchimeout``), or "fasta" for the sequences. By default, the suffix of the
        path decides.

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
    >>> found = tropalign.find_chimeras({"a;size=9": "ACGT", "b;size=8": "AGGT"})
    >>> write_chimeras(found, "-", "uchime")
    0.0000	a;size=9	*	*	*	*	*	*	*	*	0	0	0	0	0	0	*	N
    0.0000	b;size=8	*	*	*	*	*	*	*	*	0	0	0	0	0	0	*	N
    """
    if not isinstance(chimeras, Chimeras):
        raise UsageError(f"an object of type {type(chimeras).__name__} is not Chimeras, as find_chimeras returns")
    _write(chimeras, path, format, TABLE, SEQUENCES, "write_chimeras", ChimerasContext())


def _write(
    result: Clusters | OtuTable | Chimeras,
    path: str | os.PathLike[str],
    format: str | None,
    kind: str,
    sequences: str | None,
    call: str,
    context: ClustersContext | ChimerasContext,
) -> None:
    """Write a result in a format of its kind, or in the format fasta of the kind `sequences`."""
    output, known = output_name(path), format_names(kind)
    if sequences is not None:
        fasta = format_of(sequences, "fasta")
        known = (*known, fasta.name)
        if format == fasta.name if format else suffix_of(output) in fasta.suffixes:
            kind = sequences
    name = format_for_path(kind, output) if format is None else format
    if name not in format_names(kind):
        raise UsageError(f"format {name!r} is not one of {', '.join(known)}")
    write(kind, [result], output, name, call, context)
