"""Python API for building models."""

from __future__ import annotations

import io
from itertools import islice

from tropalign.errors import InputError, UsageError, shown
from tropalign.profile.build_options import BuildOptions
from tropalign.profile.build_task import BuildTask
from tropalign.profile.building import model_of_text, stockholm_of
from tropalign.profile.models import Model
from tropalign.profile.options import QueryAlphabet
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.files import Source, file_name


def build_model(
    alignment: Source | MultipleAlignment,
    *,
    name: str | None = None,
    alphabet: QueryAlphabet = "auto",
    options: BuildOptions | None = None,
) -> Model:
    """Build the profile hidden Markov model of an alignment of proteins, as hmmbuild does.

    Parameters
    ----------
    alignment
        A `MultipleAlignment`, a file's name ("-" is standard input) or an open file: Stockholm, FASTA, A2M, A3M,
        Clustal, PHYLIP or MSF.
    name
        Name of the model; by default the alignment's own (Stockholm), else that of its file.
    alphabet : {"auto", "protein"}
        With "auto" the letters decide whether the sequences are proteins.
    options
        Options of the model.

    Returns
    -------
    Model
        For `search`; `Model.write` writes it.

    Raises
    ------
    InputError
        A file that cannot be read or holds several alignments; an alignment of nucleotides, or one from which no
        model can be built; an alignment without a name; pyhmmer is missing.
    UsageError
        An invalid option value.

    Examples
    --------
    >>> alignment = tropalign.read_alignment("examples/efp_aligned.fasta")
    >>> model = tropalign.build_model(alignment, name="EFP")
    >>> model.name, model.length
    ('EFP', 188)
    >>> len(tropalign.search(model, "examples/efp.fasta"))
    37
    """
    given = options or BuildOptions()
    if not isinstance(given, BuildOptions):
        raise UsageError(f"{shown(repr(given)[:80])} is not a BuildOptions: make one, as tropalign.BuildOptions()")
    source: Source = alignment  # type: ignore[assignment]
    if isinstance(alignment, MultipleAlignment):
        source = io.BytesIO(stockholm_of(alignment.letters, None))
        if given.single and name is None and len(alignment) == 1:
            name = alignment.names[0]
    task = BuildTask(source, given, alphabet, name)
    found = list(islice(task.alignments(), 2))
    if len(found) > 1:
        raise InputError(
            "the file holds several alignments: read_queries makes a model of each, or give one alone",
            file=file_name(source),
        )
    if not task.is_of_proteins:
        raise InputError(
            "this is an alignment of nucleotides, and a Model is one of proteins: tropalign build writes such models",
            file=file_name(source),
        )
    text = task.model_text(found[0])
    return model_of_text(text, file_name(source), name)
