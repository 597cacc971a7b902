"""Definitions of identity, shared by tables, matrices, pages and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.results import gapped

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable
    from tropalign.sequences import Alphabet

#: Rows whose columns are expanded at once.
ROWS = 4096


def identities(table: AlignmentTable, definition: str) -> NDArray[np.float64]:
    """Return the identity of each row of full alignments, float64, shape (n_rows,); 0 without aligned pairs."""
    identical: NDArray[np.float64] = table.n_identical.astype(np.float64)
    if definition in ("columns", "blast"):
        return identical / np.maximum(table.n_columns, 1)
    if definition == "matches":
        share: NDArray[np.float64] = identical / np.maximum(table.n_columns - table.n_gaps, 1)
        return share
    query, target = lengths(table)
    if definition == "shorter":
        return identical / np.minimum(query, target)
    longer = np.maximum(query, target)
    if definition == "longer":
        return identical / longer
    # From the first aligned pair to the last.
    internal: NDArray[np.int64] = table.n_columns - gapped.terminal_gaps(table)
    if definition == "internal":
        return identical / np.maximum(internal, 1)
    mismatches = table.n_columns - table.n_gaps - table.n_identical
    # A single division, so that 2 of 10 is exactly 0.2; 1 - 8/10 is slightly less.
    found = np.maximum(longer - mismatches - gapped.gap_openings(table) - _overhangs(table), 0) / longer
    return np.where(internal > 0, found, 0.0)


def lengths(table: AlignmentTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lengths of the queries and targets of all rows."""
    return table.queries.lengths[table.query_index], table.targets.lengths[table.target_index]


def _overhangs(table: AlignmentTable) -> NDArray[np.int64]:
    """Count the unaligned ends of both sequences; each counts as a gap."""
    query, target = lengths(table)
    bare = (table.query_start > 0, table.query_end < query, table.target_start > 0, table.target_end < target)
    found: NDArray[np.int64] = np.sum(bare, axis=0)
    return found


def residue_sets(alphabet: Alphabet) -> NDArray[np.uint32]:
    """Return the residues that each letter may stand for, as bits, uint32, by code.

    An unambiguous letter stands for itself; the wildcard for all except the stop ``*``.
    """
    letters = alphabet.letters
    sets = np.uint32(1) << np.arange(len(letters), dtype=np.uint32)
    own = dict(zip(letters, sets.tolist(), strict=True))
    for letter, states in alphabet.ambiguous.items():
        if len(states) > 1:
            sets[letters.index(letter)] = sum(own[state] for state in states)
    sets[letters.index(alphabet.wildcard)] = sum(bit for letter, bit in own.items() if letter != "*")
    return sets


def is_ambiguous(alphabet: Alphabet) -> NDArray[np.bool_]:
    """Return a mask of the letters that may stand for several residues, by code."""
    sets = residue_sets(alphabet)
    found: NDArray[np.bool_] = (sets & (sets - 1)) != 0
    return found


def compatible_columns(table: AlignmentTable) -> NDArray[np.int32]:
    """Count the columns whose letters may be the same residue, like vsearch; int32, shape (n_rows,)."""
    found = table.n_identical.copy()
    sets = residue_sets(table.queries.alphabet)
    for begin in range(0, len(table), ROWS):
        some = table.slice(begin, begin + ROWS)
        arrays = gapped.arrays(some)
        kinds, sizes = arrays["operations"] & 15, (arrays["operations"] >> 4).astype(np.int64)
        row = np.repeat(np.arange(len(some)), np.diff(arrays["offsets"]))
        differ = np.flatnonzero(kinds == gapped.DIFFERENT)
        letters = []
        for side, gap in (("query", gapped.DELETION), ("target", gapped.INSERTION)):
            before = np.concatenate([[0], np.cumsum(np.where(kinds == gap, 0, sizes))])
            first = arrays[f"{side}_begin"][row] + before[:-1] - before[arrays["offsets"][row]]
            letters.append(sets[arrays[f"{side}_codes"][_places(first[differ], sizes[differ])]])
        is_same = (letters[0] & letters[1]) != 0
        rows = np.repeat(row[differ], sizes[differ])[is_same]
        found[begin : begin + ROWS] += np.bincount(rows, minlength=len(some)).astype(np.int32)
    return found


def _places(first: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return consecutive positions: `sizes` of them from each of `first` on."""
    ends = np.cumsum(sizes)
    found: NDArray[np.int64] = np.arange(int(sizes.sum())) + np.repeat(first - (ends - sizes), sizes)
    return found
