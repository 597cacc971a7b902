"""Translation of nucleotides in six frames."""

from __future__ import annotations

import warnings
from collections.abc import Sequence as PySequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError
from tropalign.properties import cached
from tropalign.sequences.alphabet import NUCLEOTIDE, PROTEIN
from tropalign.sequences.batch import SequenceBatch, Sequences
from tropalign.sequences.inputs import files_in
from tropalign.sequences.reader import batch_of

#: Frames in the order of `translate`: from the first, second and third nucleotide of each strand.
FRAMES = (1, 2, 3, -1, -2, -3)


@dataclass(frozen=True, eq=False)
class Frames:
    """Nucleotide sequences and the proteins of their frames.

    proteins: every frame that has a codon, grouped by sequence.
    index: int64, shape (n_frames,), sequence of each frame.
    frame: int8, shape (n_frames,), 1, 2, 3, -1, -2 or -3.
    first: int64, shape (n_sequences + 1,), sequence k has the frames ``first[k]`` to before ``first[k + 1]``.
    code: NCBI's number of the genetic code.
    """

    source: SequenceBatch
    proteins: SequenceBatch
    index: NDArray[np.int64]
    frame: NDArray[np.int8]
    first: NDArray[np.int64]
    code: int

    @classmethod
    def of(cls, source: SequenceBatch, code: int = 1) -> Frames:
        """Translate all frames of these sequences. Raises the same errors as `translate`."""
        proteins = translate(source, code)
        is_there = _codons(source.lengths, FRAMES) > 0
        index, column = np.nonzero(is_there)
        first = np.concatenate([[0], np.cumsum(is_there.sum(1))]).astype(np.int64)
        return cls(source, proteins, index.astype(np.int64), np.array(FRAMES, np.int8)[column], first, code)

    @property
    def residues(self) -> NDArray[np.int64]:
        """Residues of all frames of each sequence; int64, shape (n_sequences,)."""
        return np.diff(self.proteins.offsets[self.first])


def _codons(lengths: NDArray[np.int64], frames: PySequence[int]) -> NDArray[np.int64]:
    """Return the number of codons per sequence and frame; int64, shape (n_sequences, n_frames)."""
    found: NDArray[np.int64] = np.maximum(lengths[:, None] - (np.abs(frames) - 1), 0) // 3
    return found


def translate(
    batch: Sequences | str, genetic_code: int = 1, frames: PySequence[int] = FRAMES, **former: Any
) -> SequenceBatch:
    """Translate nucleotide sequences in several frames.

    Frame +1 starts at the first nucleotide, +2 and +3 at the next ones; -1 to -3 at those of the other strand, as
    in BLAST. Residues a to b (0-based, half-open) of frame +f are nucleotides ``f - 1 + 3 a`` to ``f - 1 + 3 b``;
    those of frame -f of L nucleotides are ``L - (f - 1) - 3 b`` to ``L - (f - 1) - 3 a``.

    Parameters
    ----------
    batch
        Nucleotide sequences: a text, a SequenceBatch, anything that `SequenceBatch.from_strings` accepts, or a file.
    genetic_code
        NCBI's number of a genetic code: 1 is the standard one, 11 that of bacteria.
    frames
        Some of 1, 2, 3, -1, -2, -3.
    **former
        ``code``, the former name of `genetic_code`, which gives a FutureWarning.

    Returns
    -------
    SequenceBatch
        Proteins, grouped by sequence, in the order of ``frames``: ``read1/+1``, ``read1/-3``. A stop is ``*``. An
        ambiguous codon is a residue if all codons that it can stand for agree, else X. Frames without a codon are
        omitted.

    Raises
    ------
    InputError
        The sequences cannot be read or are not nucleotides, or one is shorter than a codon in all of these frames.
    UsageError
        There is no such code or frame.

    Examples
    --------
    >>> for protein in tropalign.translate({"read1": "ATGAAATAG"}):
    ...     print(protein.name, protein)
    read1/+1 MK*
    read1/+2 *N
    read1/+3 EI
    read1/-1 LFH
    read1/-2 YF
    read1/-3 IS
    """
    if not isinstance(batch, SequenceBatch):
        batch = batch_of([batch] if isinstance(batch, str) and not files_in(batch) else batch)
    if batch.alphabet != NUCLEOTIDE:
        raise InputError("only nucleotides can be translated: give nucleotide sequences")
    asked = tuple(frames)
    if not asked or len(set(asked)) < len(asked) or not set(asked) <= set(FRAMES):
        raise UsageError(f"frames {asked}: choose from 1, 2, 3, -1, -2, -3, each at most once")
    table = codon_table(_by_todays_name(genetic_code, former))
    n_codons = _codons(batch.lengths, asked)
    if (is_short := ~n_codons.any(1)).any():
        record = batch.names[int(is_short.argmax())]
        raise InputError("the sequence is shorter than a codon in every requested frame: remove it", record=record)
    ends = np.cumsum(n_codons.ravel()).reshape(n_codons.shape)
    made = np.empty(int(ends[-1, -1]), np.uint8)
    for strand in {np.sign(frame) for frame in asked}:
        source = batch if strand > 0 else batch.reverse_complement()
        for column, frame in enumerate(asked):
            if np.sign(frame) == strand:
                n, start = n_codons[:, column], abs(frame) - 1
                places = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)  # 0 1 2 ... per sequence
                at, first = np.repeat(ends[:, column] - n, n) + places, np.repeat(source.offsets[:-1] + start, n)
                codes, first = source.codes, first + 3 * places
                made[at] = table[codes[first], codes[first + 1], codes[first + 2]]
    offsets = np.concatenate([[0], ends.ravel()[n_codons.ravel() > 0]]).astype(np.int64)
    names = tuple(f"{batch.names[k]}/{asked[column]:+d}" for k, column in np.argwhere(n_codons).tolist())
    letters = np.frombuffer(PROTEIN.letters.encode("ascii"), np.uint8)[made]
    return SequenceBatch(made, offsets, names, PROTEIN, letters)


def _by_todays_name(genetic_code: int, former: dict[str, Any]) -> int:
    """Return the genetic code by its present or former name; the latter gives a warning."""
    if not former:
        return genetic_code
    if unknown := former.keys() - {"code"}:
        raise TypeError(f"translate() got an unexpected keyword argument {min(unknown)!r}")
    if genetic_code != 1:
        raise TypeError("translate() got multiple values for argument 'genetic_code'")
    warnings.warn("the argument code is now called genetic_code", FutureWarning, stacklevel=3)
    found: int = former["code"]
    return found


def codon_table(code: int) -> NDArray[np.uint8]:
    """Return the residue of each codon: codes of PROTEIN by three codes of NUCLEOTIDE, uint8, shape (15, 15, 15).

    Codons that are a residue or a stop depending on their context are residues. Raises UsageError for unknown
    codes.
    """
    from Bio.Data.CodonTable import unambiguous_dna_by_id

    if isinstance(code, bool) or not isinstance(code, int) or code not in unambiguous_dna_by_id:
        known = ", ".join(map(str, sorted(unambiguous_dna_by_id)))
        raise UsageError(f"there is no genetic code {code!r}: use one of NCBI's numbers {known}")
    return _residues_of_codons(code)


@cached
def _residues_of_codons(code: int) -> NDArray[np.uint8]:
    from Bio.Data.CodonTable import unambiguous_dna_by_id

    residues = unambiguous_dna_by_id[code].forward_table
    letters = NUCLEOTIDE.letters
    bases_of = {letter: NUCLEOTIDE.ambiguous.get(letter, letter) for letter in letters} | {"N": "ACGT"}
    table = np.empty((len(letters),) * 3, np.uint8)
    for codon in product(letters, repeat=3):
        meant = {residues.get("".join(bases), "*") for bases in product(*(bases_of[letter] for letter in codon))}
        residue = meant.pop() if len(meant) == 1 else "X"
        table[tuple(letters.index(letter) for letter in codon)] = PROTEIN.letters.index(residue)
    table.flags.writeable = False
    return table
