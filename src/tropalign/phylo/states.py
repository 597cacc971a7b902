"""Letters as sets of states: bit k of a set is state k (nucleotides A, C, G, T; 20 amino acids)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.sequences import NUCLEOTIDE, PROTEIN, Alphabet

GAP_LETTERS = "-._"
_IUPAC = {
    **{letter: letter for letter in "ACGT"},
    **{
        "R": "AG",
        "Y": "CT",
        "S": "CG",
        "W": "AT",
        "K": "GT",
        "M": "AC",
        "B": "CGT",
        "D": "AGT",
        "H": "ACT",
        "V": "ACG",
    },
    "U": "T",
}
_AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
_AMBIGUOUS = {"B": "ND", "Z": "QE", "J": "IL", "U": "C", "O": "K"}


@dataclass(frozen=True, eq=False)
class StateAlphabet:
    """States, and the set that each byte of a sequence stands for.

    Attributes
    ----------
    n_states
    sets : uint32, shape (256,)
        Of each byte, in either case; gaps and unknown letters stand for all states.
    known : bool, shape (256,)
        Bytes that are letters or gaps.
    """

    alphabet: Alphabet
    n_states: int
    sets: NDArray[np.uint32]
    known: NDArray[np.bool_]

    @property
    def all_states(self) -> int:
        """The set of all."""
        return (1 << self.n_states) - 1


def _make(alphabet: Alphabet, states: str, spelled: dict[str, str], wildcards: str) -> StateAlphabet:
    n_states = len(states)
    sets = np.full(256, (1 << n_states) - 1, np.uint32)
    known = np.zeros(256, bool)
    for letter, members in {**{state: state for state in states}, **spelled}.items():
        for byte in (ord(letter), ord(letter.lower())):
            sets[byte], known[byte] = sum(1 << states.index(member) for member in members), True
    for letter in wildcards + GAP_LETTERS:
        known[ord(letter)] = known[ord(letter.lower())] = True
    return StateAlphabet(alphabet, n_states, sets, known)


NUCLEOTIDE_STATES = _make(NUCLEOTIDE, "ACGT", _IUPAC, "N?")
PROTEIN_STATES = _make(PROTEIN, _AMINO_ACIDS, _AMBIGUOUS, "X?*")


def complement_sets(sets: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Sets of the complementary nucleotides."""
    a, c, g, t = (sets >> k & 1 for k in range(4))
    return (t | g << 1 | c << 2 | a << 3).astype(np.uint32)
