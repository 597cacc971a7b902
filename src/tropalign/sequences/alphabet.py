"""Alphabets: all knowledge about the letters of a kind of sequence.

`ALPHABETS` holds them by name. An alphabet that is added there (and described in docs/pairs.md) is supported by
all readers, matrices, options and saved files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.errors import InputError
from tropalign.properties import cached_property

if TYPE_CHECKING:  # help lists the alphabets without NumPy
    import numpy as np
    from numpy.typing import NDArray

#: Code of a byte that is not a letter of the alphabet.
UNKNOWN = 255
#: Maximum number of letters: native code pads with code 31.
MOST_LETTERS = 31
#: Gap characters of alignments. Unaligned sequences must not contain them.
GAP_LETTERS = "-._~"
#: Formats of files of position matrices.
PositionFormat = Literal["meme", "jaspar", "transfac", "psiblast"]
#: Scores of ambiguous letters for match and mismatch scores.
IupacRule = Literal["mismatch", "zero", "match"]
IUPAC_RULES = get_args(IupacRule)


@dataclass(frozen=True, eq=False)
class Alphabet:
    """Letters that a sequence may contain; the code of a letter is its position.

    Alphabets are equal if their names are, so that equality survives pickling and copying.

    Parameters
    ----------
    name
        Name shown to users.
    letters
        Upper-case letters, digits or other characters, at most 31 (native code pads with code 31). Sequences and
        matrices may also use lower case, which means the same letter.
    wildcard
        The letter that stands for any other; unknown letters become it. Without one, unknown letters are an error.
    synonyms
        Letters that are read as another one (``U`` as ``T``).
    complement
        The letter on the other strand for each upper-case letter; empty if sequences have a single strand.
    stand_ins
        For letters that a substitution matrix may lack: letters whose scores to use, the first one that the matrix
        has.
    match_mismatch, matrix
        Default scores: match and mismatch, or the name of a matrix.
    gap_cost
        Default (open, extend): a gap of k residues costs ``open + k * extend``.
    states, ambiguous, any_state
        For placement: the states of the model of evolution (at most 31), the states that each ambiguous letter
        stands for, and further letters that stand for any of them. Without states, reads cannot be placed.
    judged
        True if sequences can be recognised as this alphabet by their letters (`tropalign.sequences.kinds`).

    Examples
    --------
    >>> tropalign.NUCLEOTIDE.letters, tropalign.NUCLEOTIDE.wildcard
    ('ACGTRYSWKMBDHVN', 'N')
    >>> shapes = tropalign.Alphabet("shapes", "HEC")
    >>> tropalign.align("hheeec", "hheec", matrix=(3, -1), gap=tropalign.Gap(1, 1), alphabet=shapes).cigar
    '2=1I3='
    """

    name: str
    letters: str
    wildcard: str = ""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    complement: Mapping[str, str] = field(default_factory=dict)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    match_mismatch: tuple[int, int] | None = None
    matrix: str | None = None
    gap_cost: tuple[int, int] = (10, 1)
    states: str = ""
    ambiguous: Mapping[str, str] = field(default_factory=dict)
    any_state: str = ""
    judged: bool = False

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (self.name, self.letters, self.wildcard)):
            raise ValueError("the name, the letters and the wildcard of an alphabet must be strings")
        if not 0 < len(self.letters) <= MOST_LETTERS or len(set(self.letters)) < len(self.letters):
            raise ValueError(f"an alphabet must have 1 to {MOST_LETTERS} different letters, not {self.letters!r}")
        if self.letters != self.letters.upper() or not self.letters.isascii():
            raise ValueError(f"the letters of an alphabet must be upper-case ASCII letters, not {self.letters!r}")
        if not self.letters.isprintable() or set(self.letters) & {*GAP_LETTERS, *" >;"}:
            raise ValueError(
                f"the letters of an alphabet must not include {GAP_LETTERS} > ; or blanks: {self.letters!r}"
            )
        if self.wildcard not in ("", *self.letters) or not set(self.synonyms.values()) <= set(self.letters):
            raise ValueError(f"the wildcard and the synonyms must be letters of the alphabet {self.name}")
        for letter in (*self.synonyms, *self.complement, *self.complement.values()):
            if not isinstance(letter, str) or len(letter) != 1 or not letter.isascii():
                raise ValueError(
                    f"a synonym or complement of the alphabet {self.name} must be a single letter, not {letter!r}"
                )

    def __repr__(self) -> str:
        return f"<Alphabet {self.name}: {self.letters}>"

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, Alphabet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, tuple(getattr(self, entry.name) for entry in fields(self))

    @property
    def saved(self) -> str:
        """Text for files, from which `alphabet_saved` makes the alphabet: its name if it is in `ALPHABETS`, or JSON."""
        known = ALPHABETS.get(self.name)
        if known is not None and known.letters == self.letters:
            return self.name
        import json

        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return json.dumps(
            {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}
        )

    @property
    def has_strands(self) -> bool:
        """True if sequences have a reverse complement."""
        return bool(self.complement)

    @cached_property
    def codes_by_letter(self) -> Mapping[str, int]:
        """Code of each letter and synonym, in either case."""
        spelled = {letter: code for code, letter in enumerate(self.letters)}
        spelled.update((letter, spelled[other]) for letter, other in self.synonyms.items())
        return {**{letter.lower(): code for letter, code in spelled.items()}, **spelled}

    @cached_property
    def _codes(self) -> NDArray[np.uint8]:
        import numpy as np

        table = np.full(256, UNKNOWN, np.uint8)
        for letter, code in self.codes_by_letter.items():
            table[ord(letter)] = code
        return table

    @cached_property
    def complement_table(self) -> NDArray[np.uint8]:
        """The complement of each byte, uint8, shape (256,): case is kept, unknown bytes stay."""
        import numpy as np

        table = np.arange(256, dtype=np.uint8)
        for letter, other in self.complement.items():
            table[ord(letter)], table[ord(letter.lower())] = ord(other), ord(other.lower())
        return table

    def has_letters(self, letters: str) -> bool:
        """True if all of these are letters of the alphabet, its synonyms, or ``*``, which any matrix may have.

        Parameters
        ----------
        letters
            Upper-case letters.

        Returns
        -------
        bool

        Examples
        --------
        >>> tropalign.NUCLEOTIDE.has_letters("ACGU"), tropalign.NUCLEOTIDE.has_letters("MKVL")
        (True, False)
        """
        return set(letters) <= {*self.letters, *self.synonyms, "*"}

    def code(self, letter: str) -> int:
        """Return the code of a letter of the alphabet.

        Parameters
        ----------
        letter
            One of `letters`, in upper case.

        Returns
        -------
        int
            Its position in `letters`.

        Examples
        --------
        >>> tropalign.NUCLEOTIDE.code("G")
        2
        """
        return self.letters.index(letter)

    def encode(self, letters: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Encode raw bytes, ignoring case; unknown bytes get the wildcard's code, or 0 without a wildcard.

        Parameters
        ----------
        letters : uint8
            Bytes of ASCII letters.

        Returns
        -------
        codes : uint8, shape of `letters`
        unknown : bool, shape of `letters`
            True for bytes that are not letters of the alphabet.

        Examples
        --------
        >>> import numpy as np
        >>> codes, unknown = tropalign.NUCLEOTIDE.encode(np.frombuffer(b"acgu!", np.uint8))
        >>> codes.tolist(), unknown.tolist()
        ([0, 1, 2, 3, 14], [False, False, False, False, True])
        """
        codes = self._codes[letters]
        unknown = codes == UNKNOWN
        if unknown.any():
            codes[unknown] = self.code(self.wildcard)
        return codes, unknown

    def codes_of(self, letters: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], int, int]:
        """Encode like `encode`, and count the unknown letters; allocate no memory besides the codes.

        Parameters
        ----------
        letters : uint8, shape (n,)
            Bytes of ASCII letters.

        Returns
        -------
        codes : uint8, shape (n,)
        n_unknown, first_unknown : int
            Number of unknown letters, and position of the first one (-1 if all letters are known).

        Examples
        --------
        >>> import numpy as np
        >>> codes, n_unknown, first = tropalign.NUCLEOTIDE.codes_of(np.frombuffer(b"acgu!", np.uint8))
        >>> codes.tolist(), n_unknown, first
        ([0, 1, 2, 3, 14], 1, 4)
        """
        from tropalign import _native

        return _native.encode_letters(letters, self._codes, self.code(self.wildcard))

    def decode(self, codes: NDArray[np.uint8]) -> str:
        """Return the upper-case letters of codes.

        Parameters
        ----------
        codes : uint8
            Positions in `letters`.

        Returns
        -------
        str
            One letter per code.

        Examples
        --------
        >>> import numpy as np
        >>> tropalign.NUCLEOTIDE.decode(np.array([0, 1, 2, 3], np.uint8))
        'ACGT'
        """
        import numpy as np

        return np.frombuffer(self.letters.encode(), np.uint8)[codes].tobytes().decode()


_IUPAC = {
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
}

#: IUPAC codes; ``U`` is read as ``T``.
NUCLEOTIDE = Alphabet(
    "nucleotide",
    "ACGTRYSWKMBDHVN",
    "N",
    synonyms={"U": "T"},
    complement=dict(zip("ACGTURYSWKMBDHVN", "TGCAAYRSWMKVHDBN", strict=True)),
    stand_ins={"T": "U", **dict.fromkeys("RYSWKMBDHV", "N")},
    match_mismatch=(5, -4),
    gap_cost=(10, 1),
    states="ACGT",
    ambiguous={**_IUPAC, "U": "T"},
    any_state="N?",
    judged=True,
)
#: In the order of NCBI's matrices, then letters that most matrices lack; selenocysteine (U) is scored like
#: cysteine.
PROTEIN = Alphabet(
    "protein",
    "ARNDCQEGHILKMFPSTWYVBZX*JUO",
    "X",
    stand_ins={"U": "CX", "J": "X", "O": "X", "B": "X", "Z": "X", "*": "X"},
    matrix="BLOSUM62",
    gap_cost=(11, 1),
    states="ARNDCQEGHILKMFPSTWYV",
    ambiguous={"B": "ND", "Z": "QE", "J": "IL", "U": "C", "O": "K"},
    any_state="X?*",
    judged=True,
)

#: All alphabets by name.
ALPHABETS: dict[str, Alphabet] = {alphabet.name: alphabet for alphabet in (NUCLEOTIDE, PROTEIN)}

#: Names of alphabets.
AlphabetName = Literal["nucleotide", "protein"]
#: An alphabet or its name.
AlphabetLike = Alphabet | AlphabetName


def alphabet_named(name: str) -> Alphabet:
    """Return the alphabet of this name. Raises InputError if it does not exist."""
    if name not in ALPHABETS:
        raise InputError(f"there is no alphabet {name!r}: use one of {', '.join(ALPHABETS)}")
    return ALPHABETS[name]


def alphabet_saved(text: str) -> Alphabet:
    """Return the alphabet of `Alphabet.saved`. Raises ValueError, LookupError or TypeError for another text."""
    import json

    if not str(text).startswith("{"):
        return ALPHABETS[text]
    values = json.loads(text)
    pairs = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return Alphabet(**{**values, **pairs})


def own_alphabet(letters: str) -> Alphabet:
    """Return the alphabet of ``--letters``, which may be lower case. Raises ValueError with the reason."""
    return Alphabet("custom", letters.upper() if letters.isascii() else letters)


def alphabet_of(alphabet: AlphabetLike) -> Alphabet:
    """Return an alphabet as it is, or the one of this name. Raises InputError for anything else."""
    if isinstance(alphabet, Alphabet):
        return alphabet
    if not isinstance(alphabet, str):
        raise InputError(
            f"an object of type {type(alphabet).__name__} is not an alphabet: give an Alphabet or its name"
        )
    return alphabet_named(alphabet)


def _known(name: str, *rest: Any) -> Alphabet:
    """Unpickle an alphabet: return the registered one of this name if its letters agree, else a new one."""
    made, known = Alphabet(name, *rest), ALPHABETS.get(name)
    return made if known is None or known.letters != made.letters else known


def alphabet_of_letters(letters: str) -> Alphabet:
    """Return the first judged alphabet that has all these letters, or the last judged one if none does."""
    judged = [alphabet for alphabet in ALPHABETS.values() if alphabet.judged]
    return next((alphabet for alphabet in judged if alphabet.has_letters(letters)), judged[-1])


def byte_counts(letters: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Count each byte; int64, shape (256,)."""
    from tropalign import _native

    return _native.count_bytes(letters)


#: Letters whose indices are computed at a time.
PIECE = 1 << 18


def reverse_complement(letters: NDArray[np.uint8], offsets: NDArray[np.int64], alphabet: Alphabet) -> NDArray[np.uint8]:
    """Reverse-complement each of several concatenated sequences; their order, case and non-letters stay.

    A sequence written with U and without T gets U as the complement of A, and so for other synonyms.

    `letters`: uint8, shape (n_letters,); sequence k is ``letters[offsets[k]:offsets[k + 1]]``. Raises InputError
    if sequences of the alphabet have a single strand.
    """
    import numpy as np

    if not alphabet.has_strands:
        raise InputError(f"{alphabet.name} sequences have no reverse strand: use the plus strand only")
    made = mirrored(letters, offsets, alphabet.complement_table)
    for synonym, letter in alphabet.synonyms.items():
        has_synonym = _has_letter(letters, offsets, synonym)
        if letter in alphabet.complement.values() and has_synonym.any():
            chosen = has_synonym & ~_has_letter(letters, offsets, letter)
            of_chosen = np.repeat(chosen, np.diff(offsets))
            for old, new in ((letter, synonym), (letter.lower(), synonym.lower())):
                made[of_chosen & (made == ord(old))] = ord(new)
    return made


def _has_letter(letters: NDArray[np.uint8], offsets: NDArray[np.int64], letter: str) -> NDArray[np.bool_]:
    """Return for each sequence whether it has a letter, of either case."""
    import numpy as np

    places = np.flatnonzero((letters == ord(letter)) | (letters == ord(letter.lower())))
    return np.diff(np.searchsorted(places, offsets)) > 0


def mirrored(
    values: NDArray[np.uint8], offsets: NDArray[np.int64], table: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """Reverse each of several concatenated byte sequences, and map bytes by a table of 256 if one is given.

    `values`: uint8, shape (n_values,); sequence k is ``values[offsets[k]:offsets[k + 1]]``.
    """
    import numpy as np

    made = np.empty_like(values)
    n, begin = len(offsets) - 1, 0
    while begin < n:  # in pieces, because an index takes eight times the memory of a letter
        end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + PIECE, "right")) - 1)
        low, high = int(offsets[begin]), int(offsets[end])
        if end == begin + 1:
            turned = values[low:high][::-1]
        else:
            ends = offsets[begin : end + 1]
            turned = values[np.repeat(ends[:-1] + ends[1:] - 1, np.diff(ends)) - np.arange(low, high)]
        made[low:high] = turned if table is None else table[turned]
        begin = end
    return made
