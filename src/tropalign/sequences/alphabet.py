"""Letters and their codes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

#: The code of a byte that is no letter of the alphabet.
UNKNOWN = 255


@dataclass(frozen=True, eq=False)
class Alphabet:
    """Letters that a sequence may hold; a letter's code is its position.

    Parameters
    ----------
    name
        As it is said to users.
    letters
        Upper-case letters, at most 31 (native code pads with code 31).
    wildcard
        The letter that stands for any other; unknown letters become it.
    synonyms
        Letters read as another one (``U`` as ``T``).
    """

    name: str
    letters: str
    wildcard: str
    synonyms: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        table = np.full(256, UNKNOWN, np.uint8)
        spelled = {letter: code for code, letter in enumerate(self.letters)}
        for letter, other in self.synonyms.items():
            spelled[letter] = spelled[other]
        for letter, code in spelled.items():
            table[ord(letter)] = table[ord(letter.lower())] = code
        object.__setattr__(self, "_codes", table)

    def code(self, letter: str) -> int:
        """Code of a letter of the alphabet."""
        return self.letters.index(letter)

    def encode(self, letters: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Codes of raw bytes, case ignored, and which bytes were unknown (these get the wildcard's code)."""
        codes = self._codes[letters]  # type: ignore[attr-defined]
        unknown = codes == UNKNOWN
        if unknown.any():
            codes[unknown] = self.code(self.wildcard)
        return codes, unknown

    def decode(self, codes: NDArray[np.uint8]) -> str:
        """The upper-case letters of codes."""
        return np.frombuffer(self.letters.encode(), np.uint8)[codes].tobytes().decode()


#: The order of NCBI's matrices, then the letters that most matrices lack.
PROTEIN = Alphabet("protein", "ARNDCQEGHILKMFPSTWYVBZX*JUO", "X")
#: IUPAC codes; ``U`` is read as ``T``.
NUCLEOTIDE = Alphabet("nucleotide", "ACGTRYSWKMBDHVN", "N", {"U": "T"})

COMPLEMENT_LETTERS = bytes.maketrans(b"ACGTURYSWKMBDHVNacgturyswkmbdhvn", b"TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")
