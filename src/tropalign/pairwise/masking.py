"""Masked queries and targets, for the selection of pairs only or throughout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, UsageError, named, shown
from tropalign.execution.task import Progress, checked_progress
from tropalign.pairwise.engines import Sides
from tropalign.pairwise.options import MethodName
from tropalign.properties import cached
from tropalign.resources.limits import resolve_threads
from tropalign.scoring import SubstitutionMatrix
from tropalign.sequences import NUCLEOTIDE, PROTEIN, Alphabet, SequenceBatch
from tropalign.sequences.batch import Sequences, changed, with_letters
from tropalign.sequences.reader import batch_of
from tropalign.sequences.translation import Frames

if TYPE_CHECKING:
    from tropalign.pairwise.options import PairOptions

#: Queries or targets, or their frames.
Side = SequenceBatch | Frames


def hard_masked(queries: Side, targets: Side | None, options: PairOptions, n_threads: int) -> tuple[Side, Side | None]:
    """Return the sequences to align, with masked residues replaced if `mask_hard` is set.

    Raises the same errors as `tropalign.mask`.
    """
    if options.mask == "lower" and (isinstance(queries, Frames) or isinstance(targets, Frames)):
        raise UsageError(
            f"{named('mask')} lower depends on the case of letters, which translated frames do not have: omit it with "
            f"{named('translate')}, or choose seg or tantan"
        )
    if not options.mask_hard:
        return queries, targets
    return _masked(queries, options, n_threads), None if targets is None else _masked(targets, options, n_threads)


def _masked(side: Side, options: PairOptions, n_threads: int) -> Side:
    if isinstance(side, Frames):
        return replace(side, proteins=_batch(side.proteins, options, n_threads))
    return _batch(side, options, n_threads)


def _batch(batch: SequenceBatch, options: PairOptions, n_threads: int) -> SequenceBatch:
    assert options.mask != "none"
    mask = partial(masked, method=options.mask, n_threads=resolve_threads(n_threads))
    return changed(batch, mask)


def decisive(sides: Sides, options: PairOptions, n_threads: int) -> Sides:
    """Return the softly masked sequences by which pairs are selected and judged.

    The reverse strand has the mask of the query's plus strand.
    """
    own = _batch(sides.queries, options, n_threads)
    other = own if sides.targets is sides.queries else _batch(sides.targets, options, n_threads)
    return Sides(own, None if sides.reverse is None else own.reverse_complement(), other)


Index = NDArray[np.int64]
#: Parts (start, end) of all sequences, each relative to its sequence, and the offsets of each sequence's parts.
Masks = tuple[Index, Index]

#: SEG: residues of a window, and the bits that start and extend a segment; values of segmasker and blastp's -seg
#: yes.
SEG = (12, 2.2, 2.5)
#: DUST: residues of a window, and ten times the score above which an interval is masked; values of dustmasker.
DUST = (64, 20)
#: tantan: probabilities that a repeat starts and ends, decay per period, and the probability from which residues
#: are masked.
TANTAN = (0.005, 0.05, 0.9, 0.5)
#: tantan: longest period, in residues.
PERIODS = {PROTEIN: 50, NUCLEOTIDE: 100}
#: tantan: lambda, the factor from scores to log ratios, for the frequencies that the matrix implies.
LAMBDA = {PROTEIN: 0.3240321673480443, NUCLEOTIDE: math.log(3)}
#: tantan: score of a letter that is not a residue, against any other.
UNKNOWN_SCORE = -1
#: Residues between two calls of `progress`; longer sequences are not divided.
PART_LETTERS = 4_000_000
#: Size of the native code tables.
CODES = 32


@dataclass(frozen=True)
class Method:
    """Method that chooses the masked residues.

    `meaning` is for help texts, `alphabets` are those it supports, `found` maps (batch, thread count) to masks.
    """

    meaning: str
    alphabets: tuple[Alphabet, ...]
    found: Callable[[SequenceBatch, int], Masks]


def mask(
    sequences: Sequences,
    method: MethodName,
    *,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> list[Index]:
    """Return the parts of sequences that score high by chance against unrelated ones.

    Parameters
    ----------
    sequences
        A SequenceBatch, anything that `SequenceBatch.from_strings` accepts, or a file.
    method
        "seg": proteins in which few residues are frequent (Wootton and Federhen 1993), like segmasker and blastp's
        -seg yes; "dust": nucleotides in which triplets repeat (Morgulis and others 2006), like dustmasker and
        blastn; "tantan": tandem repeats of either, except their first unit (Frith 2011); "lower": letters in lower
        case.
    n_threads
        Number of threads; 0 for all that are available.
    progress
        Called with the number of sequences done, after every few million residues. An exception that it raises
        ends the work and propagates to the caller.

    Returns
    -------
    list of int64, shape (n_parts, 2) each
        Per sequence, start and end of each part, 0-based, half-open, in ascending order; no two overlap or touch.

    Raises
    ------
    InputError
        The sequences cannot be used, or the method does not support their alphabet.
    UsageError
        The method does not exist, or the number of threads cannot be used.

    Examples
    --------
    >>> protein = "MKVLAWEEEEEEDEEEEEEQHISTRYPGKNCFM"
    >>> [parts.tolist() for parts in tropalign.mask({"a": protein}, "seg")]
    [[[6, 19]]]
    >>> [parts.tolist() for parts in tropalign.mask(["MKVlawM"], "lower")]
    [[[3, 6]]]
    """
    batch = sequences if isinstance(sequences, SequenceBatch) else batch_of(sequences)
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
    """Yield consecutive sequences, at most `PART_LETTERS` residues or one sequence at a time."""
    begin = 0
    while begin < len(batch):
        end = max(begin + 1, int(np.searchsorted(batch.offsets, batch.offsets[begin] + PART_LETTERS, "right")) - 1)
        yield batch[begin:end]
        begin = end


def masked(batch: SequenceBatch, method: MethodName, n_threads: int) -> SequenceBatch:
    """Replace each masked residue with the unknown letter (X, N). Raises the same errors as `mask`."""
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
    """Raise UsageError if the method does not exist, InputError if it does not support the alphabet."""
    if not isinstance(method, str) or method not in METHODS:
        raise UsageError(f"{named('mask')} {shown(repr(method))} is not one of {', '.join(METHODS)}")
    if alphabet not in METHODS[method].alphabets:
        whose = " and ".join(f"{known.name}s" for known in METHODS[method].alphabets)
        others = ", ".join(name for name, other in METHODS.items() if alphabet in other.alphabets)
        raise InputError(
            f"{named('mask')} {method} is for {whose}, but these are {alphabet.name}s: choose {others or 'none'}"
        )


def _with_residues(batch: SequenceBatch) -> SequenceBatch:
    if not batch.has_residues:
        raise InputError("the batch contains only names and lengths: read the sequences again")
    return batch


@cached
def _ratios(alphabet: Alphabet) -> NDArray[np.float64]:
    """Return how much likelier each letter (row) is as a copy of another one than on its own; shape (32, 32).

    Rounded, so that all math libraries give the same values.
    """
    n = len(alphabet.states)
    scores = np.full((CODES, CODES), UNKNOWN_SCORE)
    if alphabet == PROTEIN:
        scores[:n, :n] = SubstitutionMatrix.from_name("BLOSUM62").scores[:n, :n]
    else:
        np.fill_diagonal(scores[:n, :n], 1)
    ratio = {score: round(math.exp(LAMBDA[alphabet] * score), 9) for score in np.unique(scores).tolist()}
    ratios = np.array([[ratio[score] for score in row] for row in scores.tolist()])
    ratios[CODES - 1] = ratios[:, CODES - 1] = 0  # before the first residue there is nothing to copy
    return ratios


def _lower(batch: SequenceBatch, n_threads: int) -> Masks:
    is_lower = batch.letters >= ord("a")
    is_begin = np.zeros(len(is_lower) + 1, bool)  # starts of sequences, at which a part of the previous one ends
    is_begin[batch.offsets] = True
    begins, ends = is_lower.copy(), is_lower.copy()
    begins[1:] &= is_begin[1:-1] | ~is_lower[:-1]
    ends[:-1] &= is_begin[1:-1] | ~is_lower[1:]
    at = np.flatnonzero(begins)
    sequence = np.searchsorted(batch.offsets, at, "right") - 1
    bounds = np.stack([at, np.flatnonzero(ends) + 1], 1) - batch.offsets[sequence][:, None]
    return bounds, np.searchsorted(at, batch.offsets)


#: All methods by name, for the command line and the API.
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "seg": Method(
            "regions of proteins with few different residues",
            (PROTEIN,),
            lambda batch, n_threads: _native.mask_seg(batch.codes, batch.offsets, *SEG, n_threads),
        ),
        "dust": Method(
            "regions of nucleotides with repeated triplets",
            (NUCLEOTIDE,),
            lambda batch, n_threads: _native.mask_dust(batch.codes, batch.offsets, *DUST, n_threads),
        ),
        "tantan": Method(
            "tandem repeats",
            (PROTEIN, NUCLEOTIDE),
            lambda batch, n_threads: _native.mask_tantan(
                batch.codes, batch.offsets, _ratios(batch.alphabet), PERIODS[batch.alphabet], *TANTAN, n_threads
            ),
        ),
        "lower": Method("letters in lower case", (PROTEIN, NUCLEOTIDE), _lower),
    }
)
