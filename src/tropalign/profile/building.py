"""Models of alignments and of single sequences, built by HMMER's own code (pyhmmer)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, shown
from tropalign.profile.denormals import denormals_as_zero
from tropalign.profile.model_files import model_of_fields
from tropalign.profile.models import Model, from_pyhmmer
from tropalign.profile.residues import LETTERS

#: What a gap in a single sequence's model is opened and extended with, as probabilities; its substitution matrix.
GAP_OPEN, GAP_EXTEND, MATRIX = 0.02, 0.4, "BLOSUM62"
#: The random sequences that models are calibrated with.
SEED = 42
#: What pyhmmer raises.
FAULTS = (ValueError, OSError, RuntimeError)


def model_of_sequence(name: str, codes: NDArray[np.uint8], description: str = "", **scores: Any) -> Model:
    """A model of one sequence, as phmmer makes it: BLOSUM62, and the same gaps everywhere.

    Parameters
    ----------
    name, description
        They become the model's.
    codes : uint8
        Residues in Easel's order; at least one.
    **scores
        ``popen``, ``pextend``, ``score_matrix`` as pyhmmer's `Builder` has them, where they are others.

    Raises
    ------
    InputError
        A sequence that no model can be made of.
    """
    from pyhmmer.easel import DigitalSequence

    _, builder, background = _tools(**scores)
    sequence = DigitalSequence(builder.alphabet, name=name, description=description, sequence=codes.tobytes())
    with denormals_as_zero():
        try:
            hmm, _, _ = builder.build(sequence, background)
        except FAULTS as error:
            raise InputError(f"no model can be made of this sequence ({_words(error)})", record=name) from None
    return replace(from_pyhmmer(hmm), description=description)


def models_of_stockholm(data: bytes, file: str, default_name: str) -> Iterator[Model]:
    """A model of each alignment of a Stockholm file, as hmmbuild makes it and hmmsearch reads it.

    Parameters
    ----------
    data
        The file's content.
    file
        What messages call it.
    default_name
        The model's name where an alignment has none.

    Raises
    ------
    InputError
        A file that holds something else, or an alignment that no model can be made of.
    """
    from pyhmmer.easel import MSAFile

    alphabet, _, _ = _tools()
    number = 0
    try:
        with MSAFile(io.BytesIO(data), "stockholm", digital=True, alphabet=alphabet) as reader:
            for number, alignment in enumerate(reader, 1):
                if not alignment.name:
                    alignment.name = default_name if number == 1 else f"{default_name}-{number}"
                yield model_of_alignment(alignment, file)
    except FAULTS as error:
        raise InputError(f"alignment {number + 1} cannot be read ({_words(error)}): mend it", file=file) from None


def model_of_alignment(alignment: Any, file: str | None = None) -> Model:
    """A model of a `pyhmmer.easel.DigitalMSA` of proteins that has a name, as hmmbuild makes it and hmmsearch reads it.

    Raises
    ------
    InputError
        An alignment that no model can be made of.
    """
    found = _native.read_model(text_of(built_of(alignment, file)))
    assert isinstance(found, dict)
    return model_of_fields(found)


def built_of(alignment: Any, file: str | None = None) -> Any:
    """The `pyhmmer.plan7.HMM` of an alignment, before its numbers are rounded to those of a file."""
    _, builder, background = _tools()
    with denormals_as_zero():
        try:
            hmm, _, _ = builder.build_msa(alignment, background)
        except FAULTS as error:
            message = f"no model can be made of this alignment ({_words(error)})"
            raise InputError(message, file=file, record=alignment.name) from None
    return hmm


def text_of(hmm: Any) -> bytes:
    """A model as HMMER's file holds it."""
    stream = io.BytesIO()
    hmm.write(stream)
    return stream.getvalue()


def _tools(**scores: Any) -> tuple[Any, Any, Any]:
    """HMMER's alphabet of proteins, builder and background."""
    from pyhmmer.easel import Alphabet
    from pyhmmer.plan7 import Background, Builder

    alphabet = Alphabet.amino()
    assert alphabet.symbols == LETTERS
    given = {"popen": GAP_OPEN, "pextend": GAP_EXTEND, "score_matrix": MATRIX, **scores}
    return alphabet, Builder(alphabet, seed=SEED, **given), Background(alphabet)


def _words(error: Exception) -> str:
    """What HMMER says, on one line."""
    told = " ".join(str(part) for part in (error, error.__cause__) if part)
    return shown(" ".join(told.split())).rstrip(".")
