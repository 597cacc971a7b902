"""Pair models, which determine how likely two residues are aligned (stage I of a multiple alignment).

A model is a pair-HMM with two insert states per sequence (Do et al. 2005, ProbCons) and a partition function over
all alignments (Roshan and Livesay 2006, Probalign). docs/msa.md has the formulas, native/msa/posterior_model.hpp
the form that the kernels use.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError
from tropalign.scoring.matrix import triangle
from tropalign.sequences.alphabet import NUCLEOTIDE as NUCLEOTIDES
from tropalign.sequences.alphabet import PROTEIN as PROTEINS
from tropalign.sequences.alphabet import Alphabet

# ruff: noqa: E501 (a line per letter)


# Values from the public parameter files of ProbCons (Do et al. 2005; proteins from BLOSUM62, nucleotides from its version
# 1.1 for RNA), Probalign (Roshan and Livesay 2006) and QuickProbs 2 (Gudys and Deorowicz 2017).
def letters_of(triangle: str) -> str:
    """Return the letters at the start of a triangle's lines."""
    return "".join(line.split()[0] for line in triangle.split("\n") if line)


def symmetric(triangle: str) -> NDArray[np.float64]:
    """Return the symmetric table of a lower triangle, float64, shape (letters, letters)."""
    rows = [line.split()[1:] for line in triangle.split("\n") if line]
    table = np.zeros((len(rows), len(rows)))
    for a, row in enumerate(rows):
        table[a, : a + 1] = table[: a + 1, a] = [float(number) for number in row]
    return table


#: Frequencies of amino acids (insert states).
PROTEIN_BACKGROUND = {
    "A": 0.07831005, "R": 0.05246024, "N": 0.04433257, "D": 0.05130349, "C": 0.02189704,
    "Q": 0.03585766, "E": 0.05615771, "G": 0.07783433, "H": 0.02601093, "I": 0.06511648,
    "L": 0.09716489, "K": 0.05877077, "M": 0.02438117, "F": 0.04463228, "P": 0.03940142,
    "S": 0.05849916, "T": 0.05115306, "W": 0.01203523, "Y": 0.03124726, "V": 0.07343426,
}  # fmt: skip

#: Probabilities of pairs of amino acids in a match; the whole table sums to 1.
PROTEIN_MATCH = """\
A 0.02373072
R 0.00244502 0.01775118
N 0.00210228 0.00207782 0.01281864
D 0.00223549 0.00161657 0.00353540 0.01911178
C 0.00145515 0.00044701 0.00042479 0.00036798 0.01013470
Q 0.00219102 0.00253532 0.00158223 0.00176784 0.00032102 0.00756604
E 0.00332218 0.00268865 0.00224738 0.00496800 0.00037956 0.00345128 0.01676565
G 0.00597898 0.00194865 0.00288882 0.00235249 0.00071206 0.00142432 0.00214860 0.04062876
H 0.00114353 0.00132105 0.00141205 0.00097077 0.00026421 0.00113901 0.00131767 0.00103704 0.00867996
I 0.00318853 0.00138145 0.00104273 0.00105355 0.00094040 0.00100883 0.00124207 0.00142520 0.00059716 0.01778263
L 0.00449576 0.00246811 0.00160275 0.00161966 0.00138494 0.00180553 0.00222063 0.00212853 0.00111754 0.01071834 0.03583921
K 0.00331693 0.00595650 0.00257310 0.00252518 0.00046951 0.00312308 0.00428420 0.00259311 0.00121376 0.00157852 0.00259626 0.01612228
M 0.00148878 0.00076734 0.00063401 0.00047808 0.00037421 0.00075546 0.00076105 0.00066504 0.00042237 0.00224097 0.00461939 0.00096120 0.00409522
F 0.00165004 0.00090768 0.00084658 0.00069041 0.00052274 0.00059248 0.00078814 0.00115204 0.00072545 0.00279948 0.00533369 0.00087222 0.00116111 0.01661038
P 0.00230618 0.00106268 0.00100282 0.00125381 0.00034766 0.00090111 0.00151550 0.00155601 0.00049078 0.00103767 0.00157310 0.00154836 0.00046718 0.00060701 0.01846071
S 0.00631752 0.00224540 0.00301397 0.00285226 0.00094867 0.00191155 0.00293898 0.00381962 0.00116422 0.00173565 0.00250962 0.00312633 0.00087787 0.00119036 0.00180037 0.01346609
T 0.00389995 0.00186053 0.00220144 0.00180488 0.00073798 0.00154526 0.00216760 0.00214841 0.00077747 0.00248968 0.00302273 0.00250862 0.00093371 0.00107595 0.00147982 0.00487295 0.01299436
W 0.00039119 0.00029139 0.00021006 0.00016015 0.00010666 0.00020592 0.00023815 0.00038786 0.00019097 0.00039549 0.00076736 0.00028448 0.00016253 0.00085751 0.00015674 0.00026525 0.00024961 0.00563625
Y 0.00131840 0.00099430 0.00074960 0.00066005 0.00036626 0.00070192 0.00092548 0.00089301 0.00131038 0.00127857 0.00219713 0.00100817 0.00054105 0.00368739 0.00047608 0.00102648 0.00094759 0.00069226 0.00999315
V 0.00533241 0.00169359 0.00136609 0.00127915 0.00119152 0.00132844 0.00178697 0.00194579 0.00071553 0.01117956 0.00914460 0.00210897 0.00197461 0.00256159 0.00135781 0.00241601 0.00343452 0.00038538 0.00148001 0.02075171
"""

#: Scores of MSAProbs and QuickProbs 1. Missing letters score 0.
GONNET160 = """\
A 4.6
R -1.6 7.1
N -1.2 -0.4 6.5
D -1.1 -1.6 2.6 7
C 0.3 -3.5 -3.1 -5.3 13.5
Q -0.7 1.7 0.5 0.6 -4.2 5.6
E -0.4 -0.3 0.5 3.4 -5.2 2.3 5.9
G 0.2 -2.1 -0.2 -0.7 -3.4 -2.1 -2.1 8.2
H -1.8 0.3 1.5 -0.1 -2.3 1.7 -0.1 -2.7 9.3
I -1.8 -4.1 -4.4 -6.2 -2.5 -3.2 -4.3 -7 -3.7 5.9
L -2.2 -3.5 -4.8 -6.5 -2.9 -2.4 -4.5 -6.7 -3.2 3 5.7
K -1.2 3.5 0.8 -0.1 -4.8 2 1.3 -2.4 0.2 -3.5 -3.4 5.5
M -1.2 -2.9 -3.6 -5 -1.9 -1.2 -3.1 -5.2 -2.1 2.9 3.4 -2.1 7.6
F -3.8 -5.3 -4.7 -7 -1.8 -4.1 -6.2 -7.6 -0.7 0.3 1.9 -5.3 1.4 9.1
P -0.1 -2.1 -2.2 -1.9 -5.2 -0.8 -1.4 -3 -2.2 -4.3 -3.5 -1.6 -4.2 -5.8 9.6
S 1.6 -0.9 1.1 0 -0.2 -0.2 -0.3 -0.1 -0.8 -3.3 -3.6 -0.4 -2.3 -4.5 0 4.4
T 0.5 -0.9 0.3 -0.6 -1.4 -0.4 -0.8 -2.4 -0.8 -1.2 -2.4 -0.2 -1.1 -3.6 -0.4 2.3 5
W -5.5 -2.4 -5.5 -7.8 -2.1 -4 -6.4 -5.5 -1.9 -3.4 -2 -5.4 -2.2 3.2 -7.4 -4.7 -5.4 15.8
Y -3.7 -2.9 -2.2 -4.2 -1.3 -2.9 -4.4 -6 2.7 -2 -1.1 -3.5 -1.3 5.6 -4.8 -2.8 -3.2 3.8 10
V 0.1 -3.4 -3.8 -4.9 -0.6 -2.7 -3 -5.2 -3.5 4 1.7 -3 1.4 -0.8 -3.2 -2 0 -4.5 -2.4 5.3
"""

NUCLEOTIDE_BACKGROUND = {"A": 0.2270790040, "C": 0.2422080040, "G": 0.2839320004, "T": 0.2464679927}

NUCLEOTIDE_MATCH = """\
A 0.1487240046
C 0.0184142999 0.1583919972
G 0.0361397006 0.0275536999 0.1979320049
T 0.0238473993 0.0389291011 0.0244289003 0.1557479948
"""

#: Chiaromonte, Yap and Miller 2002.
HOXD70 = """\
A 91
C -114 100
G -31 -125 100
T -123 -31 -114 91
"""


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
        raise ScoringError(f"rules {rules!r} do not exist: choose one of {', '.join(models)}")
    for model in models[rules]:
        if model.alphabet == alphabet and model.alphabet.letters == alphabet.letters:
            return model
    raise ScoringError(f"the alphabet {alphabet.name} has no pair model: use protein or nucleotide")


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
    pairs, states = symmetric(triangle), letters_of(triangle)
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
    table, letters = symmetric(triangle), letters_of(triangle)
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
_PROTEIN_EMISSIONS = _emissions(PROTEINS, PROTEIN_MATCH, PROTEIN_BACKGROUND)

#: MSAProbs and QuickProbs 1: Gonnet 160, where letters other than the twenty amino acids score 0.
PROTEIN_1 = _model(
    "protein, QuickProbs 1",
    PROTEINS,
    _PROTEIN_TRANSITIONS,
    _PROTEIN_EMISSIONS,
    _scores(PROTEINS, GONNET160, missing=0.0),
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
    _emissions(NUCLEOTIDES, NUCLEOTIDE_MATCH, NUCLEOTIDE_BACKGROUND),
    _scores(NUCLEOTIDES, HOXD70),
    (-414.0, -27.0),
    100.0,
)


#: Integer for a posterior of 1, as in native/msa/sparse.hpp.
ONE = 32767
#: Models whose alignments vote; the first one of an alphabet is that of the rules.
ENSEMBLE = (PROTEIN, PROTEIN_2, PROTEIN_GONNET, NUCLEOTIDE)


# Different pair models err at different positions. Effort accurate therefore aligns a family by each model of
# `ENSEMBLE`, and once more by the shares of these alignments that agree (compare M-Coffee, Wallace et al. 2006,
# which combines alignments by other programs).
class Shares(NamedTuple):
    """Shares of the pairs x < y of one x, as `PosteriorStore.add` takes them."""

    pairs: NDArray[np.int32]
    row_sizes: NDArray[np.uint16]
    columns: NDArray[np.uint16]
    values: NDArray[np.uint16]


def other_models(alphabet: Alphabet) -> tuple[PairModel, ...]:
    """Return the voting models of an alphabet, excluding its first one."""
    return tuple(model for model in ENSEMBLE if model.alphabet == alphabet)[1:]


def shares(alignments: Sequence[NDArray[np.int32]], lengths: NDArray[np.int64]) -> Iterator[Shares]:
    """Yield for each sequence x, with all y > x, the share of the alignments that have two residues in one column.

    `alignments`: for each the column of each residue, sequences one after another.
    """
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    residue_in = [_residues(columns, offsets) for columns in alignments]
    for x in range(len(lengths) - 1):
        mine = slice(offsets[x], offsets[x + 1])
        # [alignment][y][i]: the residue of y in the column of residue i of x, -1 for a gap
        beside = np.stack(
            [table[x + 1 :, columns[mine]] for table, columns in zip(residue_in, alignments, strict=True)]
        )
        beside.sort(axis=0)
        begins = np.ones(beside.shape, bool)
        begins[1:] = beside[1:] != beside[:-1]
        begins &= beside >= 0
        votes = sum((beside == beside[k : k + 1]).astype(np.int64) for k in range(len(beside)))
        y, i, k = np.nonzero(begins.transpose(1, 2, 0))
        others = np.arange(x + 1, len(lengths), dtype=np.int32)
        yield Shares(
            np.stack([np.full_like(others, x), others], 1),
            begins.sum(axis=0).astype(np.uint16).ravel(),
            beside[k, y, i].astype(np.uint16),
            np.rint(np.asarray(votes)[k, y, i] * (ONE / len(alignments))).astype(np.uint16),
        )


def _residues(columns: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return [sequence][column]: the index of the residue within its sequence, -1 for a gap."""
    table = np.full((len(offsets) - 1, int(columns.max()) + 1), -1, np.int32)
    lengths = np.diff(offsets)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    table[rows, columns] = np.arange(len(columns)) - np.repeat(offsets[:-1], lengths)
    return table
