"""Sequences of a family: reading, checks, and duplicates."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ResourceError, listed, named, warn
from tropalign.msa.guide_tree import GuideTree
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.alphabet import PROTEIN, AlphabetLike, alphabet_of
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import Source, file_name
from tropalign.sequences.inputs import named_file
from tropalign.sequences.reader import check_kinds, read_sequences

#: Most residues of a sequence: columns of posteriors have 16 bits.
MOST_RESIDUES = 65_535


def read_family(
    paths: Iterable[Source],
    alphabet: AlphabetLike | None = None,
    *,
    is_judged: bool | None = None,
    **how: Any,
) -> SequenceBatch:
    """Read the sequences of all files as one family; `how` is passed to `read_sequences`.

    `is_judged` rejects nucleotides among proteins, by default if no alphabet is named.
    """
    sources = list(paths)
    batch = read_sequences(sources, alphabet=alphabet, **how)
    file = file_name(sources[0]) if len(sources) == 1 else None
    check_family(batch, alphabet is None if is_judged is None else is_judged, file)
    return batch


def family_of(sequences: Any, alphabet: AlphabetLike | None = None, is_judged: bool | None = None) -> SequenceBatch:
    """Return a family from any Python object that `align_multiple` accepts; errors as in `read_family`."""
    is_judged = alphabet is None if is_judged is None else is_judged
    sequences = named_file(sequences)
    if isinstance(sequences, MultipleAlignment):
        batch, is_judged = sequences.sequences, False
    elif isinstance(sequences, SequenceBatch):
        batch, is_judged = sequences, False
    elif isinstance(sequences, os.PathLike):
        return read_family([sequences], alphabet, is_judged=is_judged)
    else:
        chosen = None if alphabet is None else alphabet_of(alphabet)
        batch = SequenceBatch.from_strings(sequences, alphabet=chosen)
    if not batch.has_residues:
        raise InputError("the batch knows names and lengths only: read the sequences again")
    check_family(batch, is_judged)
    return batch


def check_family(batch: SequenceBatch, is_judged: bool = True, file: str | None = None) -> None:
    """Reject sequences that cannot be aligned, with InputError or ResourceError.

    `is_judged` (no alphabet was named) also rejects nucleotides among proteins. `file`: the source of all
    sequences.
    """
    if not len(batch):
        raise InputError("there is no sequence: give one or more")
    if not batch.lengths.all():
        raise InputError("the sequence is empty: remove it", record=batch.names[int(batch.lengths.argmin())])
    longest = int(batch.lengths.argmax())
    if batch.lengths[longest] > MOST_RESIDUES:
        raise ResourceError(
            f"record {batch.names[longest]!r} has {batch.lengths[longest]:,} residues, and a family is aligned up to "
            f"{MOST_RESIDUES:,}: cut it, or align it to another one with tropalign pairs"
        )
    if is_judged:
        check_kinds(batch, file)


def unique_sequences(batch: SequenceBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first of each set of equal sequences, and for each sequence the index of its set."""
    codes, offsets = batch.codes.tobytes(), batch.offsets.tolist()
    seen: dict[bytes, int] = {}
    first: list[int] = []
    copy_of = np.zeros(len(batch), np.int64)
    for k in range(len(batch)):
        copy_of[k] = seen.setdefault(codes[offsets[k] : offsets[k + 1]], len(seen))
        if len(seen) > len(first):
            first.append(k)
    return np.array(first), copy_of


def copied(values: NDArray[Any], unique: SequenceBatch, copy_of: NDArray[np.int64]) -> NDArray[Any]:
    """Expand values per residue from unique sequences to all sequences."""
    return np.concatenate([values[unique.offsets[k] : unique.offsets[k + 1]] for k in copy_of])


def with_copies(tree: GuideTree, first: NDArray[np.int64], copy_of: NDArray[np.int64]) -> GuideTree:
    """Add the copies to a tree of unique sequences, next to their originals at distance 0."""
    n, n_unique = len(copy_of), len(first)
    node_of = np.concatenate([first, np.zeros(n_unique - 1, np.int64)])
    children: list[tuple[int, int]] = []
    lengths = np.zeros(2 * n - 1)
    is_first = np.zeros(n, bool)
    is_first[first] = True
    for k in np.flatnonzero(~is_first).tolist():
        children.append((int(node_of[copy_of[k]]), k))
        node_of[copy_of[k]] = n + len(children) - 1
    for step, (left, right) in enumerate(tree.children.tolist()):
        children.append((int(node_of[left]), int(node_of[right])))
        node_of[n_unique + step] = n + len(children) - 1
    lengths[node_of] = tree.branch_lengths
    return GuideTree(np.array(children, np.int32).reshape(-1, 2), lengths)


class Limits(NamedTuple):
    """Values from which on the distance to the nearest, its excess over the median, and the mean are due to chance."""

    nearest: float
    above_median: float
    mean: float


#: Chosen on one half of 144 families of BAliBASE 3 and BAliFam (proteins), and on parts of 16S genes (docs/msa.md).
PROTEIN_LIMITS, NUCLEOTIDE_LIMITS = Limits(0.45, 0.2, 0.8), Limits(0.45, 0.25, 0.55)
#: Fewer members do not show which one is foreign, and shorter members cannot be judged.
LEAST_MEMBERS, LEAST_RESIDUES = 4, 30


def foreign_members(distances: NDArray[np.float32], batch: SequenceBatch) -> NDArray[np.intp]:
    """Return the indices of the members that do not belong to the family.

    `distances`: float32, shape (n (n - 1) / 2,), of stage I with the rules of tropalign: (0,1), (0,2) .. (1,2) ..
    """
    n = len(batch)
    if n < LEAST_MEMBERS:
        return np.zeros(0, np.intp)
    nearest, sums = np.full(n, np.inf), np.zeros(n)
    begin = 0
    for k in range(n - 1):
        row = distances[begin : begin + n - 1 - k].astype(np.float64)
        begin += len(row)
        nearest[k] = min(nearest[k], row.min())
        nearest[k + 1 :] = np.minimum(nearest[k + 1 :], row)
        sums[k] += row.sum()
        sums[k + 1 :] += row
    limits = PROTEIN_LIMITS if batch.alphabet == PROTEIN else NUCLEOTIDE_LIMITS
    median = float(np.sort(nearest)[[(n - 1) // 2, n // 2]].mean())  # np.median would load masked arrays
    is_far = nearest >= max(limits.nearest, median + limits.above_median)
    is_far &= batch.lengths >= LEAST_RESIDUES
    return np.flatnonzero(is_far & (sums / (n - 1) >= limits.mean))


def tell_of_foreign(batch: SequenceBatch, foreign: NDArray[np.intp], are_dropped: bool) -> None:
    """Warn of the foreign members by name, and whether they are dropped."""
    verb, them = ("does", "it") if len(foreign) == 1 else ("do", "them")
    remedy = "left out" if are_dropped else f"{named('drop_foreign')} leaves {them} out"
    text = f"{len(foreign):,} of {len(batch):,} sequences {verb} not seem to belong to the family"
    names = listed([batch.names[k] for k in foreign])
    warn(f"{text}: {names}; {remedy}")
