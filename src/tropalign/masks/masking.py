"""Which letters of sequences are masked, by each method."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, UsageError, named, shown
from tropalign.execution.task import Progress, checked_progress
from tropalign.machine.threads import resolve_threads
from tropalign.masks.names import MethodName
from tropalign.properties import cached
from tropalign.scoring import SubstitutionMatrix
from tropalign.sequences import NUCLEOTIDE, PROTEIN, Alphabet, SequenceBatch
from tropalign.sequences.batch import with_letters

Index = NDArray[np.int64]
#: Parts of all sequences one after another, (begin, end) within their sequence, and where those of each begin.
Masks = tuple[Index, Index]

#: SEG: residues of a window, and the bits that begin and extend a segment; those of segmasker and blastp's -seg yes.
SEG = (12, 2.2, 2.5)
#: DUST: letters of a window, and ten times the score above which an interval is masked; those of dustmasker.
DUST = (64, 20)
#: tantan: the chance of a repeat to begin and to end, the decay per period, and the chance at which a letter is masked.
TANTAN = (0.005, 0.05, 0.9, 0.5)
#: tantan: the longest period.
PERIODS = {PROTEIN: 50, NUCLEOTIDE: 100}
#: tantan: lambda of the matrix, which makes scores logarithms of ratios, by the frequencies that the matrix implies.
LAMBDA = {PROTEIN: 0.3240321673480443, NUCLEOTIDE: math.log(3)}
#: tantan: what a letter that is no residue scores beside any other.
UNKNOWN_SCORE = -1
#: Letters between two calls of who is told how far the work is, longer sequences aside.
PART_LETTERS = 4_000_000
#: Codes that native code knows.
CODES = 32


@dataclass(frozen=True)
class Method:
    """A way to choose the letters that are masked.

    Attributes
    ----------
    meaning
        For help texts.
    alphabets
        Whose sequences it masks.
    found
        Masks of a batch, by so many threads.
    """

    meaning: str
    alphabets: tuple[Alphabet, ...]
    found: Callable[[SequenceBatch, int], Masks]


def mask(
    sequences: SequenceBatch | Iterable[Any] | Mapping[str, Any],
    method: MethodName,
    *,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> list[Index]:
    """The masked parts of sequences, which score high by chance beside unrelated ones.

    Parameters
    ----------
    sequences
        A SequenceBatch, or what `SequenceBatch.from_strings` takes.
    method
        "seg": proteins in which few residues are frequent (Wootton and Federhen 1993), as segmasker and blastp's -seg
        yes have them; "dust": nucleotides in which triplets repeat (Morgulis and others 2006), as dustmasker and blastn
        have them; "tantan": tandem repeats of either but their first unit (Frith 2011); "lower": letters in lower case.
    n_threads
        All that there are where 0.
    progress
        Called with the number of sequences done, after every few million letters. What it raises ends the work and
        comes out of the call.

    Returns
    -------
    list of int64, shape (n_parts, 2) each
        Per sequence begin and end of each part, 0-based, half-open, in their order; no two overlap or touch.

    Raises
    ------
    InputError
        Sequences that cannot be used, or of an alphabet that the method does not mask.
    UsageError
        There is no such method, or not so many threads.

    Examples
    --------
    >>> protein = "MKVLAWEEEEEEDEEEEEEQHISTRYPGKNCFM"
    >>> [parts.tolist() for parts in tropalign.mask({"a": protein}, "seg")]
    [[[6, 19]]]
    >>> [parts.tolist() for parts in tropalign.mask(["MKVlawM"], "lower")]
    [[[3, 6]]]
    """
    batch = sequences if isinstance(sequences, SequenceBatch) else SequenceBatch.from_strings(sequences)
    check_method(method, batch.alphabet)
    threads, told = resolve_threads(n_threads), checked_progress(progress)
    found: list[Index] = []
    for part in _parts(_with_residues(batch)) if told else [batch]:
        bounds, first = METHODS[method].found(_with_residues(part), threads)
        found += [bounds[begin:end] for begin, end in pairwise(first.tolist())]
        if told:
            told(len(found))
    return found


def _parts(batch: SequenceBatch) -> Iterator[SequenceBatch]:
    """Neighbouring sequences of some million letters in all."""
    begin = 0
    while begin < len(batch):
        end = max(begin + 1, int(np.searchsorted(batch.offsets, batch.offsets[begin] + PART_LETTERS, "right")) - 1)
        yield batch[begin:end]
        begin = end


def masked(batch: SequenceBatch, method: MethodName, n_threads: int) -> SequenceBatch:
    """The sequences with an unknown letter (X, N) in place of each masked one. Raises what `mask` raises."""
    check_method(method, batch.alphabet)
    bounds, first = METHODS[method].found(_with_residues(batch), n_threads)
    whole = bounds + np.repeat(batch.offsets[:-1], np.diff(first))[:, None]
    steps = np.zeros(len(batch.codes) + 1, np.int8)
    steps[whole[:, 0]] += 1
    steps[whole[:, 1]] -= 1
    is_masked = np.cumsum(steps[:-1], dtype=np.int8) > 0
    unknown = batch.alphabet.wildcard
    codes = np.where(is_masked, np.uint8(batch.alphabet.code(unknown)), batch.codes)
    letters = np.where(is_masked, np.uint8(ord(unknown)), batch.letters)
    return with_letters(batch, codes, letters, batch.qualities)


def check_method(method: str, alphabet: Alphabet) -> None:
    """Raises what `mask` does of a method that there is not, or that does not mask these sequences."""
    if not isinstance(method, str) or method not in METHODS:
        raise UsageError(f"{named('mask')} {shown(repr(method))} is none of {', '.join(METHODS)}")
    if alphabet not in METHODS[method].alphabets:
        whose = " and ".join(f"{known.name}s" for known in METHODS[method].alphabets)
        others = ", ".join(name for name, other in METHODS.items() if alphabet in other.alphabets)
        raise InputError(
            f"{named('mask')} {method} is for {whose}, and these are {alphabet.name}s: choose {others or 'none'}"
        )


def _with_residues(batch: SequenceBatch) -> SequenceBatch:
    if not batch.has_residues:
        raise InputError("the batch knows names and lengths only: read the sequences again")
    return batch


def _seg(batch: SequenceBatch, n_threads: int) -> Masks:
    return _native.mask_seg(batch.codes, batch.offsets, *SEG, n_threads)


def _dust(batch: SequenceBatch, n_threads: int) -> Masks:
    return _native.mask_dust(batch.codes, batch.offsets, *DUST, n_threads)


def _tantan(batch: SequenceBatch, n_threads: int) -> Masks:
    alphabet = batch.alphabet
    return _native.mask_tantan(batch.codes, batch.offsets, _ratios(alphabet), PERIODS[alphabet], *TANTAN, n_threads)


@cached
def _ratios(alphabet: Alphabet) -> NDArray[np.float64]:
    """How much likelier each letter (row) is beside another one as its copy than by itself; shape (32, 32).

    Rounded, so that they are the same with every library of logarithms.
    """
    n = len(alphabet.states)
    scores = np.full((CODES, CODES), UNKNOWN_SCORE)
    if alphabet == PROTEIN:
        scores[:n, :n] = SubstitutionMatrix.from_name("BLOSUM62").scores[:n, :n]
    else:
        np.fill_diagonal(scores[:n, :n], 1)
    ratio = {score: round(math.exp(LAMBDA[alphabet] * score), 9) for score in np.unique(scores).tolist()}
    ratios = np.array([[ratio[score] for score in row] for row in scores.tolist()])
    ratios[CODES - 1] = ratios[:, CODES - 1] = 0  # before the first letter there is none to copy
    return ratios


def _lower(batch: SequenceBatch, n_threads: int) -> Masks:
    is_lower = batch.letters >= ord("a")
    is_begin = np.zeros(len(is_lower) + 1, bool)  # of a sequence, where a part of the one before ends
    is_begin[batch.offsets] = True
    begins, ends = is_lower.copy(), is_lower.copy()
    begins[1:] &= is_begin[1:-1] | ~is_lower[:-1]
    ends[:-1] &= is_begin[1:-1] | ~is_lower[1:]
    at = np.flatnonzero(begins)
    sequence = np.searchsorted(batch.offsets, at, "right") - 1
    bounds = np.stack([at, np.flatnonzero(ends) + 1], 1) - batch.offsets[sequence][:, None]
    return bounds, np.searchsorted(at, batch.offsets)


#: Every method by name; the command line and the API read them here.
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "seg": Method("proteins in which few residues are frequent", (PROTEIN,), _seg),
        "dust": Method("nucleotides in which triplets repeat", (NUCLEOTIDE,), _dust),
        "tantan": Method("tandem repeats", (PROTEIN, NUCLEOTIDE), _tantan),
        "lower": Method("letters in lower case", (PROTEIN, NUCLEOTIDE), _lower),
    }
)
