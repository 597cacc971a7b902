"""Letters as sets of states: bit k of a set is state k (nucleotides A, C, G, T; 20 amino acids)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.sequences import Alphabet
from tropalign.sequences.alphabet import GAP_LETTERS


@dataclass(frozen=True, eq=False)
class StateAlphabet:
    """States, and the set that each byte of a sequence stands for. Make one with `states_of`.

    Attributes
    ----------
    n_states
    sets : uint32, shape (256,)
        The set of each byte, in either case; gaps and unknown letters stand for all states.
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

    def __reduce__(self) -> tuple[Any, ...]:
        return states_of, (self.alphabet,)


@cache
def states_of(alphabet: Alphabet) -> StateAlphabet:
    """The states of an alphabet. Raises InputError where it has none."""
    states = alphabet.states
    if not states:
        raise InputError(f"{alphabet.name} sequences have no model of evolution, which placing reads needs")
    sets = np.full(256, (1 << len(states)) - 1, np.uint32)
    known = np.zeros(256, bool)
    for letter, members in {**{state: state for state in states}, **alphabet.ambiguous}.items():
        for byte in (ord(letter), ord(letter.lower())):
            sets[byte], known[byte] = sum(1 << states.index(member) for member in members), True
    for letter in alphabet.any_state + GAP_LETTERS:
        known[ord(letter)] = known[ord(letter.lower())] = True
    sets.flags.writeable = known.flags.writeable = False
    return StateAlphabet(alphabet, len(states), sets, known)
