"""The sequences of a family: read, checked for what no alignment can use, and equal ones as one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ResourceError
from tropalign.msa.guide_tree import GuideTree
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.alphabet import AlphabetLike, alphabet_of
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import Source, file_name
from tropalign.sequences.inputs import named_file
from tropalign.sequences.kinds import check_kinds
from tropalign.sequences.reader import read_sequences

#: Residues of a sequence at most: columns of posteriors have 16 bits.
MOST_RESIDUES = 65_535


def read_family(
    paths: Iterable[Source],
    alphabet: AlphabetLike | None = None,
    *,
    is_judged: bool | None = None,
    **how: Any,
) -> SequenceBatch:
    """The sequences of all files as one family.

    Parameters
    ----------
    is_judged
        Sequences of two kinds are told apart; where no alphabet is named, when not given.
    how
        Further arguments of `read_sequences`.

    Raises
    ------
    InputError
        What `read_sequences` raises, and what `check_family` does.
    """
    sources = list(paths)
    batch = read_sequences(sources, alphabet=alphabet, **how)
    file = file_name(sources[0]) if len(sources) == 1 else None
    check_family(batch, alphabet is None if is_judged is None else is_judged, file)
    return batch


def family_of(sequences: Any, alphabet: AlphabetLike | None = None, is_judged: bool | None = None) -> SequenceBatch:
    """A family of what Python code may give: see `align_multiple`. Raises what `read_family` does."""
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
    """Refuses what cannot be aligned.

    Parameters
    ----------
    is_judged
        Nobody named the alphabet: sequences of two kinds are told apart.
    file
        Where all of them are from.

    Raises
    ------
    InputError
        No sequence, an empty one, nucleotides among proteins or the other way round.
    ResourceError
        A sequence of more than MOST_RESIDUES residues.
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
    """The first of each kind of equal sequences, and for each sequence the position of its equal among those."""
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
    """What belongs to the residues of unique sequences, for all sequences."""
    return np.concatenate([values[unique.offsets[k] : unique.offsets[k + 1]] for k in copy_of])


def with_copies(tree: GuideTree, first: NDArray[np.int64], copy_of: NDArray[np.int64]) -> GuideTree:
    """A tree of unique sequences with their copies beside them, at no distance."""
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
