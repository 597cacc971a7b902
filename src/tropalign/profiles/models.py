"""Profile hidden Markov models."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, named, shown
from tropalign.execution.files import check_outputs, output_name, write_to
from tropalign.formats.format import format_for_path
from tropalign.profiles.calibration import calibrate
from tropalign.profiles.proteins import BACKGROUND, LETTERS, N_CANONICAL
from tropalign.properties import cached_property
from tropalign.results import display
from tropalign.results.columns import Result
from tropalign.sequences.alphabet import PROTEIN
from tropalign.sequences.texts import decoded

if TYPE_CHECKING:
    from tropalign.scoring.position_matrix import PositionMatrix

#: Least probability of a residue in a position matrix: models from elsewhere may have 0.
LEAST_PROBABILITY = 1e-6
#: HMMER's marker of a model without calibration.
NOT_CALIBRATED = np.float32(-99999)


def not_protein(alphabet: str) -> str:
    """Return the error text for a model of another alphabet."""
    remedy = f"leave it out, or use {named('skip_foreign')}"
    return f"the model is for {shown(alphabet)}, but search is for proteins: {remedy}"


@dataclass(frozen=True, eq=False)
class Model(Result):
    """A profile hidden Markov model of a protein family, as stored in HMMER's files.

    Parameters
    ----------
    name, accession, description
        Accession and description are empty if the file has none.
    match : float32, shape (length + 1, 20)
        Probabilities of amino acids at each node, in the order of `LETTERS`. Row 0 is not a node.
    transitions : float32, shape (length + 1, 7)
        Probabilities of M->M, M->I, M->D, I->M, I->I, D->M, D->D; row 0 leaves the begin state.
    composition : float32, shape (20,)
        Mean probabilities of amino acids over the model.
    evalue : float32, shape (6,)
        Location and slope of the scores of random sequences, for MSV, Viterbi and Forward.
    consensus : str
        A letter per node, in lower case if the family has no clear preference.
    gathering, trusted, noise
        Score thresholds of a curated family, in bits: of a target, and of a domain.
    reference, structure, mask
        Further annotation, a letter per node: reference columns, consensus structure, masked nodes.
    is_sequence
        Whether it is the model of a single sequence, whose letters are the consensus.
    text
        HMMER's text of the model, which `write` writes; None if it was not kept.
    file
        Name of its file in messages.

    Examples
    --------
    >>> for model in tropalign.read_queries("tests/fuzz/corpus/models/3f.hmm"):
    ...     print(model.name, model.length, model.gathering)
    small 10 (20.0, 18.5)
    """

    _aside = frozenset({"text", "file"})

    name: str
    accession: str
    description: str
    match: NDArray[np.float32] = field(repr=False)
    transitions: NDArray[np.float32] = field(repr=False)
    composition: NDArray[np.float32] = field(repr=False)
    evalue: NDArray[np.float32] = field(repr=False)
    consensus: str = field(repr=False)
    gathering: tuple[float, float] | None = None
    trusted: tuple[float, float] | None = None
    noise: tuple[float, float] | None = None
    reference: str | None = field(default=None, repr=False)
    structure: str | None = field(default=None, repr=False)
    mask: str | None = field(default=None, repr=False)
    is_sequence: bool = False
    text: bytes | None = field(default=None, repr=False)
    file: str | None = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        return display.record_html(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "native"}

    @property
    def length(self) -> int:
        """Number of nodes (M)."""
        return len(self.consensus)

    @cached_property
    def native(self) -> _native.ProfileModel:
        """The model in the form that searches use; created on first access."""
        return _native.ProfileModel(
            self.match, self.transitions, self.composition, BACKGROUND, self.evalue, self.consensus.encode("latin-1")
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a file that HMMER reads; the file appears complete or not at all.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.

        Raises
        ------
        InputError
            A path that cannot be written; a model from a binary file, HMMER 2 or pyhmmer, whose text is not
            available.
        UsageError
            A suffix of another format; an invalid path.
        ResourceError
            The disk is full.

        Examples
        --------
        >>> import tempfile
        >>> model = tropalign.build_model("examples/efp_aligned.fasta", name="EFP")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.write(f"{folder}/EFP.hmm")
        ...     next(tropalign.read_queries(f"{folder}/EFP.hmm")).name
        'EFP'
        """
        output = output_name(path)
        format_for_path("models", output)
        text = self.known_text
        check_outputs([output], [])
        write_to(output, lambda out: out.writelines([text]))

    def position_matrix(self, *, scale: float | None = None) -> PositionMatrix:
        """Return a position matrix of the match states: ``rint(scale * log2(match / background))``.

        The probabilities are those of the model, with its sequence weights and pseudocounts (Dirichlet mixtures for
        models of `build_model`); the background is HMMER's, Swiss-Prot 50.8. Transitions are not used.

        Parameters
        ----------
        scale
            Scores per bit; 2 by default, half bits like those of BLOSUM62.

        Returns
        -------
        PositionMatrix
            With the consensus of the model.

        Raises
        ------
        InputError
            The scale is out of range.

        Examples
        --------
        >>> model = tropalign.build_model("examples/efp_aligned.fasta", name="EFP")
        >>> model.position_matrix()
        <PositionMatrix EFP: 188 positions, protein>
        """
        from tropalign.scoring.position_matrix import PositionMatrix, log_odds

        letters = LETTERS[:N_CANONICAL]
        match = np.maximum(self.match[1:].astype(np.float64), LEAST_PROBABILITY)
        scores = log_odds(match, BACKGROUND.astype(np.float64), letters, scale, self.name)
        return PositionMatrix(scores, letters, name=self.name, alphabet=PROTEIN, consensus=self.consensus)

    @property
    def known_text(self) -> bytes:
        """HMMER's text of the model.

        Raises
        ------
        InputError
            It was not kept.
        """
        if self.text is None:
            raise InputError(
                "only models from HMMER 3's text files and models built by tropalign can be written: convert the "
                "file with hmmconvert, or write the model with the program that built it",
                file=self.file,
                record=self.name,
            )
        return self.text


def from_pyhmmer(hmm: Any, file: str | None = None) -> Model:
    """Convert a `pyhmmer.plan7.HMM` to a model, and calibrate it if necessary; messages name `file`.

    Raises InputError for a model of nucleotides, or one that gives random sequences no scores.
    """
    name = text_of(hmm.name)
    if hmm.alphabet.K != N_CANONICAL:
        raise InputError(not_protein(hmm.alphabet.type), file=file, record=name)
    match, transitions, composition = tables_of(hmm)
    evalue = np.array(hmm.evalue_parameters.as_vector(), np.float32)
    if evalue[0] == NOT_CALIBRATED:
        evalue = calibrate(match, transitions, composition)
    if not np.isfinite(evalue).all():
        raise InputError("random sequences get no scores from the model: leave it out", file=file, record=name)
    return Model(
        name=name,
        accession=text_of(hmm.accession),
        description=text_of(hmm.description),
        match=match,
        transitions=transitions,
        composition=composition,
        evalue=evalue,
        consensus=hmm.consensus or consensus_of(match),
        gathering=hmm.cutoffs.gathering,
        trusted=hmm.cutoffs.trusted,
        noise=hmm.cutoffs.noise,
        reference=hmm.reference,
        structure=hmm.consensus_structure,
        mask=hmm.model_mask,
    )


def tables_of(hmm: Any) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return match and transition probabilities and the composition (or zeros) of a `pyhmmer.plan7.HMM`."""
    composition = np.zeros(N_CANONICAL, np.float32)
    if hmm.composition is not None:
        composition[:] = hmm.composition
    return np.array(hmm.match_emissions, np.float32), np.array(hmm.transition_probabilities, np.float32), composition


def consensus_of(match: NDArray[np.float32]) -> str:
    """Return the likeliest residue of each node, in upper case if its probability is at least 0.5.

    `match`: float32, shape (length + 1, 20); row 0 is not a node.
    """
    best, is_clear = match[1:].argmax(axis=1), match[1:].max(axis=1) >= np.float32(0.5)
    letters = zip(best.tolist(), is_clear.tolist(), strict=True)
    return "".join(LETTERS[x] if clear else LETTERS[x].lower() for x, clear in letters)


def text_of(value: str | bytes | None) -> str:
    """Return a text of pyhmmer, such as a name, as str."""
    return decoded(value) if isinstance(value, bytes) else value or ""
