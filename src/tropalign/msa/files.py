"""Reading and writing of multiple alignments."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import TropalignWarning, UsageError, listed, shown
from tropalign.execution.files import output_name
from tropalign.formats.aligned import AlignedContext, title_of
from tropalign.formats.format import format_for_path, write
from tropalign.results.multiple import MultipleAlignment
from tropalign.results.names import MultipleFormat
from tropalign.sequences import aligned_files
from tropalign.sequences.alphabet import Alphabet, AlphabetLike, alphabet_of
from tropalign.sequences.files import file_name
from tropalign.sequences.kinds import alphabet_of_rows
from tropalign.sequences.reader import check_kinds

if TYPE_CHECKING:
    from tropalign.sequences.files import Source


def read_alignment(path: Source, *, alphabet: AlphabetLike | None = None) -> MultipleAlignment:
    """Read a multiple alignment: FASTA, Clustal, Stockholm, PHYLIP, NEXUS, MSF, SELEX or PSI-BLAST.

    Parameters
    ----------
    path
        The file (gzip, bzip2, xz or zstd by content; ``-`` is standard input).
    alphabet
        An Alphabet or its name; inferred from the letters if not given.

    Returns
    -------
    MultipleAlignment

    Raises
    ------
    InputError
        No alignment, rows of unequal lengths, two rows of one name; nucleotides and proteins without an
        ``alphabet``.

    Examples
    --------
    >>> tropalign.read_alignment("examples/16s/ref.phy.gz").shape
    (802, 3644)
    """
    return _made(*aligned_files.read_described(path), alphabet, file_name(path))


def _made(
    names: tuple[str, ...],
    letters: NDArray[np.uint8],
    descriptions: tuple[str, ...],
    alphabet: AlphabetLike | None,
    file: str,
) -> MultipleAlignment:
    kind = alphabet_of_rows(names, letters, file) if alphabet is None else alphabet_of(alphabet)
    made = MultipleAlignment.from_rows(names, letters, kind)
    return replace(made, sequences=replace(made.sequences, descriptions=descriptions)) if any(descriptions) else made


def read_to_extend(path: Source, *, alphabet: AlphabetLike | None = None) -> MultipleAlignment:
    """Read an alignment that will be extended; warn that Stockholm annotation is not kept."""
    names, letters, descriptions, annotation = aligned_files.annotation_of(path)
    if annotation:
        text = f"{shown(file_name(path))}: annotation is not kept: {listed(annotation)}"
        warnings.warn(text, TropalignWarning, stacklevel=2)
    return _made(names, letters, descriptions, alphabet, file_name(path))


def alignment_of(given: Any, alphabet: Alphabet | None = None) -> MultipleAlignment:
    """Return an alignment, or read one from a file with that alphabet and reject rows of another kind."""
    if isinstance(given, str | os.PathLike):
        found = read_to_extend(given, alphabet=alphabet)
        check_kinds(found.sequences, file_name(given))
        return found
    if not isinstance(given, MultipleAlignment):
        what = f"an object of type {type(given).__name__} is not a MultipleAlignment"
        raise UsageError(f"{what}: create one with read_alignment, align_multiple or MultipleAlignment.from_rows")
    return given


def write_alignment(
    alignment: MultipleAlignment, path: str | os.PathLike[str], format: MultipleFormat | None = None
) -> None:
    """Write a multiple alignment; the file appears complete or not at all.

    Parameters
    ----------
    alignment
        The alignment to write.
    path
        ``-`` is standard output; a suffix such as ``.gz`` compresses.
    format
        "fasta", "clustal", "stockholm", "phylip", "msf", "a3m", "nexus" ...: by the suffix of the path if not
        given.

    Raises
    ------
    UsageError
        An unknown format or suffix.
    InputError
        A name that the format cannot hold; a path that cannot be written.
    ResourceError
        The disk is full.

    Examples
    --------
    >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MKVILA-"])
    >>> tropalign.write_alignment(alignment, "-", "phylip")
    2 7
    a MKV-LAW
    b MKVILA-
    """
    if not isinstance(alignment, MultipleAlignment):
        raise UsageError(f"an object of type {type(alignment).__name__} is not a MultipleAlignment")
    output = output_name(path)
    name = format_for_path("aligned", output) if format is None else format
    write("aligned", [alignment], output, name, "write_alignment", AlignedContext(title_of(output)))
