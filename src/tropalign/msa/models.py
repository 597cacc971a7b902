"""Pair models, which determine how likely two residues are aligned (stage I of a multiple alignment).

A model is a pair-HMM with two insert states per sequence (Do et al. 2005, ProbCons) and a partition function over
all alignments (Roshan and Livesay 2006, Probalign). docs/msa.md has the formulas, native/msa/posterior_model.hpp
the form that the kernels use.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError
from tropalign.msa import model_tables as tables
from tropalign.scoring.names import triangle
from tropalign.sequences.alphabet import NUCLEOTIDE as NUCLEOTIDES
from tropalign.sequences.alphabet import PROTEIN as PROTEINS
from tropalign.sequences.alphabet import Alphabet

#: Emissions of a letter outside the HMM's alphabet (``*``): alone, and in a pair.
UNKNOWN_INSERT, UNKNOWN_MATCH = 1e-5, 1e-10


@dataclass(frozen=True, eq=False)
class PairModel:
    """Parameters of posterior probabilities, for an alphabet of A letters.

    `transitions`: float64, shape (8,), of the pair-HMM: initial probabilities of the match state and of the two
    kinds of insert states, probabilities of opening and of extending either kind, and the weight of an overhang of
    any length before the first match or after the last one (0: overhangs are ordinary insertions). Both sequences
    share them. `match`: float64, shape (A, A), emission of a pair. `insert`: float64, shape (A,), emission of a
    letter. `boltzmann`: float64, shape (A, A), exp(score / temperature). `gap`: float64, shape (2,), the same for
    a gap's first and every further residue; gaps at the ends are free. `hmm_share`: s in the posterior sqrt(s
    P_hmm^2 + (1 - s) P_partition^2).
    """

    name: str
    alphabet: Alphabet
    transitions: NDArray[np.float64]
    match: NDArray[np.float64]
    insert: NDArray[np.float64]
    boltzmann: NDArray[np.float64]
    gap: NDArray[np.float64]
    hmm_share: float = 0.5

    def arguments(self) -> dict[str, Any]:
        """Return the model's arguments for `_native.pair_posteriors`, by parameter name."""
        names = ("transitions", "match", "insert", "boltzmann", "gap", "hmm_share")
        return {name: getattr(self, name) for name in names}


def model_of(alphabet: Alphabet, rules: str = "tropalign") -> PairModel:
    """Return the model of the protein or nucleotide alphabet; raises ScoringError for others.

    ``quickprobs1`` has MSAProbs' parameters. Nucleotides have one model.
    """
    models = {
        "tropalign": (PROTEIN, NUCLEOTIDE),
        "quickprobs1": (PROTEIN_1, NUCLEOTIDE),
        "quickprobs2": (PROTEIN_2, NUCLEOTIDE),
    }
    if rules not in models:
        raise ScoringError(f"there are no rules {rules!r}: name one of {', '.join(models)}")
    for model in models[rules]:
        if model.alphabet == alphabet and model.alphabet.letters == alphabet.letters:
            return model
    raise ScoringError(f"there is no pair model for the alphabet {alphabet.name}: only for protein and nucleotide")


def _members(alphabet: Alphabet) -> list[str]:
    """Return the states that each letter of an alphabet stands for; ``*`` has no states."""
    every = alphabet.states
    plain = {**{letter: letter for letter in every}, **alphabet.ambiguous, alphabet.wildcard: every}
    return [plain.get(letter, "") for letter in alphabet.letters]


def _emissions(
    alphabet: Alphabet, triangle: str, background: Mapping[str, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the tables of match and insert states; an ambiguous letter emits the sum of its members.

    So B is N or D, and X carries no information. ProbCons gives X the emissions of an unknown letter, which hardly
    ever aligns.
    """
    pairs, states = tables.symmetric(triangle), tables.letters_of(triangle)
    members = [[states.index(letter) for letter in letters] for letters in _members(alphabet)]
    insert = np.array([sum(background[states[k]] for k in ks) if ks else UNKNOWN_INSERT for ks in members])
    is_known = np.array([len(ks) > 0 for ks in members])
    sums = _sums(pairs, members)
    match = np.where(is_known[:, None] & is_known, (sums + sums.T) / 2, UNKNOWN_MATCH)  # sums depend on their order
    return match, np.minimum(insert, 1.0)


def _sums(table: NDArray[np.float64], members: list[list[int]]) -> NDArray[np.float64]:
    """Return for each two lists the sum of the table's entries between their members; 0 if a list is empty."""
    there = [k for k, ks in enumerate(members) if ks]
    begins = np.cumsum([0, *(len(members[k]) for k in there)])[:-1]
    every = [member for ks in members for member in ks]
    sums = np.zeros((len(members),) * 2)
    rows = np.add.reduceat(table[np.ix_(every, every)], begins, 0)
    sums[np.ix_(there, there)] = np.add.reduceat(rows, begins, 1)
    return sums


def _scores(alphabet: Alphabet, triangle: str, missing: float | None = None) -> NDArray[np.float64]:
    """Return the scores of letters: the table's own, else `missing` or the mean over the letter's states."""
    table, letters = tables.symmetric(triangle), tables.letters_of(triangle)
    rows = [
        [letters.index(letter)] if letter in letters else [letters.index(k) for k in members]
        for letter, members in zip(alphabet.letters, _members(alphabet), strict=True)
    ]
    counts = np.array([len(row) or np.nan for row in rows])
    scores: NDArray[np.float64] = _sums(table, rows) / (counts[:, None] * counts)
    if missing is not None:
        plain = np.array([letter in letters for letter in alphabet.letters])
        scores[~(plain[:, None] & plain)] = missing
    return scores


def _model(
    name: str,
    alphabet: Alphabet,
    transitions: tuple[float, ...],
    emissions: tuple[NDArray[np.float64], NDArray[np.float64]],
    scores: NDArray[np.float64],
    gap_scores: tuple[float, float],
    temperature: float,
) -> PairModel:
    match, insert = emissions
    gap, boltzmann = _exponentials(np.array(gap_scores) / temperature), _exponentials(scores / temperature)
    numbers = (_with_overhang(np.array(transitions), 0.0), match, insert, boltzmann, gap)
    for array in numbers:
        array.flags.writeable = False
    return PairModel(name, alphabet, *numbers)


def _exponentials(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return correctly rounded exponentials; NumPy's last bits depend on the CPU's vector instructions."""
    distinct, where = np.unique(values, return_inverse=True)
    return np.array([float(Decimal(value).exp()) for value in distinct.tolist()])[where].reshape(values.shape)


def _with_overhang(transitions: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    made = np.append(transitions[:7], weight)
    made.flags.writeable = False
    return made


_PROTEIN_TRANSITIONS = (
    *(0.6814756989, 8.615339902e-05, 0.1591759622),
    *(0.0119511066, 0.008008334786),
    *(0.3965826333, 0.8988758326),
)
#: Probability of an overhang of the pair-HMM. QuickProbs and MSAProbs lack overhangs: the surroundings of a domain
#: within long sequences then cost as much as insertions. On 85 families of BAliBASE and BAliFam TC gains 1.2, 1.4,
#: 1.5 and 1.1 points with 0.001, 0.003, 0.01 and 0.1, SP 0.3, 0.3, 0.2 and 0.1.
OVERHANG = 0.003
_NUCLEOTIDE_TRANSITIONS = (
    *(0.9615409374, 4.538e-07, 0.0192291681),
    *(0.0082473317, 0.0107844425),
    *(0.3210460842, 0.3298229277),
)
_PROTEIN_EMISSIONS = _emissions(PROTEINS, tables.PROTEIN_MATCH, tables.PROTEIN_BACKGROUND)

#: MSAProbs and QuickProbs 1: Gonnet 160, where letters other than the twenty amino acids score 0.
PROTEIN_1 = _model(
    "protein, QuickProbs 1",
    PROTEINS,
    _PROTEIN_TRANSITIONS,
    _PROTEIN_EMISSIONS,
    _scores(PROTEINS, tables.GONNET160, missing=0.0),
    (-22.0, -1.0),
    5.0,
)
#: QuickProbs 2: VTML200.
PROTEIN_2 = _model(
    "protein, QuickProbs 2",
    PROTEINS,
    _PROTEIN_TRANSITIONS,
    _PROTEIN_EMISSIONS,
    _scores(PROTEINS, triangle("VTML200")),
    (-25.3549, -1.30113),
    5.6007,
)
#: Protein models with overhangs; the second one has the scores of Gonnet 160.
PROTEIN, PROTEIN_GONNET = (
    dataclasses.replace(model, name=name, transitions=_with_overhang(model.transitions, OVERHANG))
    for name, model in (("protein", PROTEIN_2), ("protein, Gonnet 160", PROTEIN_1))
)
#: ProbCons' parameters for RNA with two kinds of gaps, and HOXD70.
NUCLEOTIDE = _model(
    "nucleotide",
    NUCLEOTIDES,
    _NUCLEOTIDE_TRANSITIONS,
    _emissions(NUCLEOTIDES, tables.NUCLEOTIDE_MATCH, tables.NUCLEOTIDE_BACKGROUND),
    _scores(NUCLEOTIDES, tables.HOXD70),
    (-414.0, -27.0),
    100.0,
)
