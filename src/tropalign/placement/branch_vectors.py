"""Order in which native code derives the vectors of a tree's branches, and gap or base along a branch.

Gap and base are two states: Q = [[-g, g], [1 - g, g - 1]], P(t) = exp(Q t).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.placement.tree import PlacementTree, plain_name
from tropalign.properties import cached
from tropalign.sequences import Alphabet
from tropalign.sequences.alphabet import GAP_LETTERS

if TYPE_CHECKING:
    from tropalign._native import BranchMaker


@dataclass(frozen=True, eq=False)
class StateAlphabet:
    """States, and the set that each byte of a sequence stands for; create one with `states_of`.

    `sets`: uint32, shape (256,), of each byte in either case; gaps and unknown letters stand for all states.
    `known`: bool, shape (256,), letters or gaps.
    """

    alphabet: Alphabet
    n_states: int
    sets: NDArray[np.uint32]
    known: NDArray[np.bool_]

    @property
    def all_states(self) -> int:
        """Set of all states."""
        return (1 << self.n_states) - 1

    def __reduce__(self) -> tuple[Any, ...]:
        return states_of, (self.alphabet,)


@cached
def states_of(alphabet: Alphabet) -> StateAlphabet:
    """Return the states of an alphabet; raises InputError if it has no states."""
    states = alphabet.states
    if not states:
        raise InputError(
            f"{alphabet.name} sequences have no model of evolution, which placement requires: give nucleotides or "
            f"proteins"
        )
    sets = np.full(256, (1 << len(states)) - 1, np.uint32)
    known = np.zeros(256, bool)
    for letter, members in {**{state: state for state in states}, **alphabet.ambiguous}.items():
        for byte in (ord(letter), ord(letter.lower())):
            sets[byte], known[byte] = sum(1 << states.index(member) for member in members), True
    for letter in alphabet.any_state + GAP_LETTERS:
        known[ord(letter)] = known[ord(letter.lower())] = True
    sets.flags.writeable = known.flags.writeable = False
    return StateAlphabet(alphabet, len(states), sets, known)


#: Names shown of each side if tree and alignment differ.
SHOWN = 10
#: Rows that are counted together: the maximum of a byte.
MOST_IN_BYTE = 255


def rows_of_tips(names: tuple[str, ...], tree: PlacementTree, file: str) -> list[int]:
    """Return the alignment's row of each tip; names also match with underscores for blanks and without quotes."""
    tips = [tree.names[tip] for tip in tree.tips]
    for change in (str, plain_name):
        row = {change(name): k for k, name in enumerate(names)}
        wanted = [change(tip) for tip in tips]
        if len(row) == len(names) and len(set(wanted)) == len(wanted) and row.keys() == set(wanted):
            return [row[name] for name in wanted]
    only_tree = [tip for tip in tips if plain_name(tip) not in {plain_name(name) for name in names}]
    only_rows = [name for name in names if plain_name(name) not in {plain_name(tip) for tip in tips}]
    parts = [
        f"{len(side)} only in the {where} ({', '.join(map(shown, side[:SHOWN]))}{', ...' if len(side) > SHOWN else ''})"
        for side, where in ((only_tree, "tree"), (only_rows, "alignment"))
        if side
    ]
    raise InputError(
        f"tree and alignment have different names: {'; '.join(parts) or 'some differ only in quotes or blanks'}; "
        "they match neither literally nor with quotes removed and blanks replaced by underscores",
        file=file,
    )


def warn_of_unknown(names: tuple[str, ...], letters: NDArray[np.uint8], states: StateAlphabet, file: str) -> None:
    """Warn of letters outside the alphabet: their number, and the first one's position."""
    unknown = ~states.known[letters]
    row, column = np.argwhere(unknown)[0]
    warnings.warn(
        f"{shown(file)}, row {names[row]!r}: {int(unknown.sum())} letters outside the {states.alphabet.name} "
        f"alphabet, the first {chr(letters[row, column])!r} in column {column + 1}; "
        f"read as {states.alphabet.wildcard}",
        TropalignWarning,
        stacklevel=4,
    )


def column_counts(
    letters: NDArray[np.uint8], counts: NDArray[np.int64], states: StateAlphabet
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of rows with a letter in each column, and of rows with "-".

    `counts`: int64, shape (256,), occurrences of each byte.
    """
    n_rows, n_columns = letters.shape
    n_letters, n_gaps = np.full(n_columns, n_rows, np.int64), np.zeros(n_columns, np.int64)
    without = np.flatnonzero((counts > 0) & (states.sets == states.all_states)).tolist()
    for begin in range(0, n_rows, MOST_IN_BYTE):
        rows = letters[begin : begin + MOST_IN_BYTE]
        for byte in without:
            n_here = (rows == byte).sum(axis=0, dtype=np.uint8)
            n_letters -= n_here
            if byte == ord("-"):
                n_gaps += n_here
    return n_letters, n_gaps


Matrix = list[list[float]]


def exact_transitions(share: float, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P of each length in closed form, float64, shape (n, 4); `share` is g, the share of gaps.

    Columns: from base to base and gap, from gap to base and gap.
    """
    moved = -np.expm1(-lengths)
    to_gap, to_base = share * moved, (1 - share) * moved
    return np.stack([1 - to_gap, to_gap, to_base, 1 - to_base], axis=1)


def compatible_transitions(share: float, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P of each length through eigenvectors, by JAMA's operations in order (NIST, public domain), as PaPaRa 2.

    On branches of length 0 the result is the identity except for its last bits, and these decide flags there.
    """
    values, vectors = _eigen([[-share, share], [1 - share, -(1 - share)]])
    inverse = _inverse(vectors)
    out = np.empty((len(lengths), 4))
    for k, length in enumerate(lengths.tolist()):
        grown = [math.exp(value * length) for value in values]
        scaled = [[vectors[i][j] * grown[j] for j in range(2)] for i in range(2)]
        out[k] = [scaled[i][0] * inverse[0][j] + scaled[i][1] * inverse[1][j] for i in range(2) for j in range(2)]
    return out


def _eigen(h: Matrix) -> tuple[list[float], Matrix]:
    """Return eigenvalues and eigenvectors of a 2 x 2 matrix with real ones (JAMA's hqr2; EISPACK)."""
    h = [row[:] for row in h]
    v = [[1.0, 0.0], [0.0, 1.0]]
    norm = sum(abs(h[i][j]) for i in range(2) for j in range(max(i - 1, 0), 2))
    epsilon = 2.0**-52
    w = h[1][0] * h[0][1]
    p = (h[0][0] - h[1][1]) / 2.0
    q = p * p + w
    z = math.sqrt(abs(q))
    x = h[1][1]
    z = p + z if p >= 0 else p - z
    values = [x + z, x + z]
    if z != 0.0:
        values[1] = x - w / z
    x = h[1][0]
    s = abs(x) + abs(z)
    p, q = x / s, z / s
    r = math.sqrt(p * p + q * q)
    p, q = p / r, q / r
    for j in range(2):
        z = h[0][j]
        h[0][j], h[1][j] = q * z + p * h[1][j], q * h[1][j] - p * z
    for matrix in (h, v):
        for i in range(2):
            z = matrix[i][0]
            matrix[i][0], matrix[i][1] = q * z + p * matrix[i][1], q * matrix[i][1] - p * z
    # Back substitution, from the last column.
    h[1][1] = 1.0
    w = h[0][0] - values[1]
    r = h[0][1] * h[1][1]
    h[0][1] = -r / w if w != 0.0 else -r / (epsilon * norm)
    h[0][0] = 1.0
    for j in (1, 0):
        for i in range(2):
            v[i][j] = sum(v[i][k] * h[k][j] for k in range(j + 1))
    return values, v


def _inverse(a: Matrix) -> Matrix:
    """Invert a matrix by LU decomposition with partial pivoting (JAMA)."""
    swap = abs(a[1][0]) > abs(a[0][0])
    lu = [a[1][:], a[0][:]] if swap else [a[0][:], a[1][:]]
    lu[1][0] /= lu[0][0]
    lu[1][1] -= lu[1][0] * lu[0][1]
    x = [[0.0, 1.0], [1.0, 0.0]] if swap else [[1.0, 0.0], [0.0, 1.0]]
    for j in range(2):
        x[1][j] -= x[0][j] * lu[1][0]
        x[1][j] /= lu[1][1]
        x[0][j] -= x[1][j] * lu[0][1]
        x[0][j] /= lu[0][0]
    return x


def branch_maker(
    tree: PlacementTree,
    letters: NDArray[np.uint8],
    row: list[int],
    columns: NDArray[np.int64],
    states: StateAlphabet,
    gap_flags: str,
    share: float,
    n_threads: int,
) -> BranchMaker:
    """Return the maker of branch vectors, each from two directional vectors: below the branch, and all the rest.

    `letters`: uint8, shape (n_rows, n_columns). `row`: the alignment's row of each tip. `columns`: int64, columns
    that take part. `gap_flags`: how a branch's column becomes a gap column. `share`: share of gaps in the
    alignment.
    """
    plan = _Plan(tree)
    lengths = np.array(plan.lengths)
    table = exact_transitions(share, lengths) if gap_flags == "exact" else compatible_transitions(share, lengths)
    joints, branches = np.array(plan.joints, np.int32).reshape(-1, 5), np.array(plan.branches, np.int32)
    alignment = (np.ascontiguousarray(letters), np.array(row, np.int64), columns, states.sets, states.n_states)
    return _native.BranchMaker(*alignment, joints, branches, table, gap_flags == "discrete", n_threads)


class _Plan:
    """Dependencies between directional vectors, in native form."""

    def __init__(self, tree: PlacementTree) -> None:
        self.tree, self.joints, self.branches = tree, list[tuple[int, ...]](), list[tuple[int, int, int]]()
        self.lengths: list[float] = []
        self._of_length: dict[float, int] = {}
        tips = tree.tips
        self.n_vectors = len(tips)
        self._below = {tip: k for k, tip in enumerate(tips)}
        self._above: dict[int, int] = {}
        for node in range(len(tree.children) - 1, 0, -1):
            if tree.children[node]:
                one, other = tree.children[node]
                self._below[node] = self._join(one, self._below[one], other, self._below[other])
        root = tree.children[0]
        if len(root) == 2:
            one, other = root
            self._above[one], self._above[other] = self._below[other], self._below[one]
        else:
            for k, child in enumerate(root):
                one, other = (node for j, node in enumerate(root) if j != k)
                self._above[child] = self._join(one, self._below[one], other, self._below[other])
        for node in range(1, len(tree.children)):
            if tree.children[node]:
                one, other = tree.children[node]
                self._above[one] = self._join(node, self._above[node], other, self._below[other])
                self._above[other] = self._join(node, self._above[node], one, self._below[one])
        for node, length in zip(tree.branches(), tree.branch_lengths().tolist(), strict=True):
            self.branches.append((self._below[node], self._above[node], self._transition(length)))

    def _join(self, one: int, of_one: int, other: int, of_other: int) -> int:
        """Add a vector from those at the far ends of the branches above two nodes; return its index."""
        self.joints.append((self.n_vectors, of_one, self._above_node(one), of_other, self._above_node(other)))
        self.n_vectors += 1
        return self.n_vectors - 1

    def _above_node(self, node: int) -> int:
        length = float(self.tree.lengths[node])
        root = self.tree.children[0]
        if len(root) == 2 and node in root:
            length = float(self.tree.lengths[root[0]] + self.tree.lengths[root[1]])
        return self._transition(length)

    def _transition(self, length: float) -> int:
        if length not in self._of_length:
            self._of_length[length] = len(self.lengths)
            self.lengths.append(length)
        return self._of_length[length]
