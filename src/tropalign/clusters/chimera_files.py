"""Writers of chimera results."""

from __future__ import annotations

import os

from tropalign.errors import UsageError
from tropalign.execution.files import output_name
from tropalign.execution.run import Output, write_outputs
from tropalign.formats.clusters import ChimerasContext
from tropalign.formats.registry import format_for_path, format_names, format_of, suffix_of, write
from tropalign.results.chimeras import Chimeras
from tropalign.results.names import ChimerasFormat

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
        raise UsageError(f"an object of type {type(chimeras).__name__} is no Chimeras")
    output = output_name(path)
    fasta = format_of(SEQUENCES, "fasta")
    is_fasta = format == fasta.name if format else suffix_of(output) in fasta.suffixes
    kind = SEQUENCES if is_fasta else TABLE
    name = format_for_path(kind, output) if format is None else format
    if name not in format_names(kind):
        raise UsageError(f"format {name!r} is none of {', '.join((*format_names(TABLE), fasta.name))}")
    write(kind, [chimeras], output, name, "write_chimeras", ChimerasContext())


def write_all(chimeras: Chimeras, outputs: list[Output]) -> None:
    """Write every file completely, and only after all of them have been made."""
    write_outputs(outputs, lambda output: [output.writer.encode(chimeras)])
