"""Protein sequences for a search: letters as codes in Easel's order, which HMMER's tables use.

The 20 amino acids in alphabetical order are 0 to 19; then come the gap (20), the ambiguous letters B J Z O U X (21
to 26), ``*`` (27) and ``~`` (28).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, shown, warn
from tropalign.properties import cached_property
from tropalign.sequences import texts
from tropalign.sequences.alphabet import NUCLEOTIDE
from tropalign.sequences.kinds import judge_alphabet
from tropalign.sequences.reader import SequenceBlock

LETTERS: Final = "ACDEFGHIKLMNPQRSTVWY-BJZOUX*~"
#: Number of codes that are amino acids.
N_CANONICAL: Final = 20
#: Code of a byte that is not a protein letter.
UNKNOWN: Final = 255


def _codes() -> NDArray[np.uint8]:
    codes = np.full(256, UNKNOWN, np.uint8)
    for code, letter in enumerate(LETTERS):
        codes[[ord(letter), ord(letter.lower())]] = code
    codes[[ord(letter) for letter in "._"]] = LETTERS.index("-")
    codes.flags.writeable = False
    return codes


#: The code of each byte.
EASEL_CODES: Final = _codes()

#: Frequencies of amino acids in proteins: HMMER's background (of Swiss-Prot 50.8).
BACKGROUND: Final = np.array(
    [0.0787945, 0.0151600, 0.0535222, 0.0668298, 0.0397062, 0.0695071, 0.0229198, 0.0590092, 0.0594422, 0.0963728,
     0.0237718, 0.0414386, 0.0482904, 0.0395639, 0.0540978, 0.0683364, 0.0540687, 0.0673417, 0.0114135, 0.0304133],
    np.float32,
)  # fmt: skip
BACKGROUND.flags.writeable = False


def encode(letters: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return codes of letters: case is ignored, ``.`` and ``_`` are gaps, 255 is not a protein letter.

    `letters`: uint8, bytes of text in any shape. Returns uint8 of the same shape, 0 to 28, or 255.

    >>> encode(np.frombuffer(b"ACy-X*1", np.uint8)).tolist()
    [0, 1, 19, 20, 26, 27, 255]
    """
    return EASEL_CODES[letters]


#: Longer sequences are rejected, as by HMMER.
LONGEST = 100_000
#: Replacement of letters outside the protein alphabet.
WILDCARD = "X"
#: Bits that codes of letters use.
MOST_CODE_BITS = 31
#: Letters that are checked to tell whether sequences are proteins, and the minimum number for that.
JUDGED, LEAST_JUDGED = 1 << 16, 40
#: Start of the warning about targets that are probably not proteins.
LOOK_LIKE_NUCLEOTIDES = "the sequences look like nucleotides"
#: Bytes of a sequence in addition to its letters: name and description, offsets, the length order.
RECORD_BYTES = 200


@dataclass(frozen=True, eq=False)
class Proteins:
    """A run of sequences.

    `codes`: uint8, in Easel's order (`tropalign.profiles.proteins`). `offsets`: int64, shape (n + 1,); sequence k
    is ``codes[offsets[k]:offsets[k + 1]]``. `first`: index of the first one among all. `accessions`: of each, ""
    if it has no accession; empty if no sequence has one.
    """

    #: For transfer to remote workers (`tropalign.devices.remote_worker`): every batch of models needs each block,
    #: and each pass over sequences that are not kept creates it again.
    is_sent_once = is_made_anew = True

    names: Sequence[str]
    descriptions: Sequence[str]
    codes: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    first: int = 0
    accessions: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return Proteins, (self.names, self.descriptions, self.codes, self.offsets, self.first, self.accessions)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Residues per sequence."""
        return np.diff(self.offsets)

    @cached_property
    def native(self) -> _native.TargetBlock:
        """The block in native form."""
        return _native.TargetBlock(self.codes, self.offsets)

    def held_bytes(self) -> int:
        """Return the approximate bytes in memory."""
        return len(self.codes) + RECORD_BYTES * len(self)

    def part(self, begin: int, end: int) -> Proteins:
        """Return sequences `begin` to `end`."""
        if (begin, end) == (0, len(self)):
            return self
        at, to = int(self.offsets[begin]), int(self.offsets[end])
        offsets = self.offsets[begin : end + 1] - at
        names, descriptions = (texts.part(every, begin, end) for every in (self.names, self.descriptions))
        accessions = self.accessions[begin:end]
        return Proteins(names, descriptions, self.codes[at:to], offsets, self.first + begin, accessions)


class Collected:
    """Consecutive proteins, collected into one block.

    Memory that was never written to costs nothing: so there is room for `n_expected` codes from the start.
    """

    def __init__(self, n_expected: int = 1 << 26) -> None:
        self._codes = np.empty(n_expected, np.uint8)
        self._n_codes = 0
        self._pieces: list[Proteins] = []

    def add(self, piece: Proteins) -> None:
        """Append a piece; only its names are referenced afterwards."""
        end = self._n_codes + len(piece.codes)
        if end > len(self._codes):
            larger = np.empty(2 * end, np.uint8)
            larger[: self._n_codes] = self._codes[: self._n_codes]
            self._codes = larger
        self._codes[self._n_codes : end] = piece.codes
        self._n_codes = end
        self._pieces.append(replace(piece, codes=piece.codes[:0]))

    @property
    def n_codes(self) -> int:
        """Number of codes so far."""
        return self._n_codes

    @property
    def n(self) -> int:
        """Number of proteins so far."""
        return sum(map(len, self._pieces))

    def whole(self) -> Proteins:
        """Return the proteins of all pieces as one set."""
        lengths = np.concatenate([np.zeros(1, np.int64), *(piece.lengths for piece in self._pieces)])
        return Proteins(
            names=texts.joined(piece.names for piece in self._pieces),
            descriptions=texts.joined(piece.descriptions for piece in self._pieces),
            codes=self._codes[: self._n_codes],
            offsets=np.cumsum(lengths),
            first=self._pieces[0].first if self._pieces else 0,
            accessions=_accessions(self._pieces),
        )


def _accessions(pieces: Sequence[Proteins]) -> tuple[str, ...]:
    if not any(piece.accessions for piece in pieces):
        return ()
    return tuple(chain.from_iterable(piece.accessions or ("",) * len(piece) for piece in pieces))


class Encoder:
    """Conversion of blocks of letters to consecutively numbered Proteins; warns once of letters outside the alphabet.

    `are_proteins`: the alphabet was named, so do not warn of nucleotides. `encode` raises InputError for sequences
    that are too long for HMMER.
    """

    def __init__(self, are_proteins: bool = False) -> None:
        self.n, self._are_proteins = 0, are_proteins
        self._is_warned = False
        self._codes = np.empty(0, np.uint8)

    def encode(self, block: SequenceBlock) -> Proteins:
        """Return the block's sequences; the next block overwrites their codes."""
        if len(self._codes) < len(block.letters):  # fresh memory costs more than the work
            self._codes = np.empty(2 * len(block.letters), np.uint8)
        codes = self._codes[: len(block.letters)]
        bits = _native.recode(block.letters, EASEL_CODES, codes)
        if not self.n and not self._are_proteins:  # are the letters of the first sequences those of DNA or RNA?
            begin = block.letters[:JUDGED]
            if len(begin) >= LEAST_JUDGED and judge_alphabet(begin) == NUCLEOTIDE:
                warn(
                    f"{shown(block.file)}: {LOOK_LIKE_NUCLEOTIDES}, but are read as proteins: translate them "
                    f"first (in Python: tropalign.translate)"
                )
        lengths = np.diff(block.offsets)
        if len(lengths) and int(lengths.max()) > LONGEST:
            k = int(lengths.argmax())
            raise InputError(
                f"the sequence has {lengths[k]:,} residues, but a protein may have at most {LONGEST:,} (is it "
                f"DNA?): leave it out, or shorten it",
                file=block.file,
                record=block.names[k],
            )
        if bits > MOST_CODE_BITS:
            self._settle(block, codes)
        found = Proteins(block.names, block.descriptions, codes, block.offsets, self.n, block.accessions)
        self.n += len(block)
        return found

    def _settle(self, block: SequenceBlock, codes: NDArray[np.uint8]) -> None:
        """Replace letters outside the protein alphabet by the wildcard."""
        unknown = codes == UNKNOWN
        codes[unknown] = LETTERS.index(WILDCARD)
        if not self._is_warned:
            self._is_warned = True
            at = int(unknown.argmax())
            name = block.names[int(np.searchsorted(block.offsets, at, "right")) - 1]
            where = f"{shown(block.file)}, record {shown(name)!r}"
            what = f"{chr(block.letters[at])!r} is not a protein letter; such letters are read as {WILDCARD}"
            warn(f"{where}: {what}")
