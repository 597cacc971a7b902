"""Reference trees from Newick or NEXUS: their nodes and branches, and the vectors of branches.

A branch's vector is derived from the rows below it, in an order that is computed here.

Gap and base are two states along a branch: Q = [[-g, g], [1 - g, g - 1]], P(t) = exp(Q t).
"""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.properties import cached, cached_property
from tropalign.results.newick import MOST_BYTES, newick_text, parse_nodes, preorder, quoted
from tropalign.sequences import Alphabet
from tropalign.sequences.alphabet import GAP_LETTERS
from tropalign.sequences.files import file_name, read_text

if TYPE_CHECKING:
    from tropalign._native import BranchMaker

#: Length of a branch without one (as in PaPaRa 2).
MISSING_LENGTH = 1.0
#: So that sums of many lengths stay finite.
MOST_LENGTH = 1e300


@dataclass(frozen=True, eq=False)
class PlacementTree:
    """An unrooted binary tree, kept as it is rooted in its file.

    Nodes are numbered parents first; node 0 is the root, with two or three children. `children`: of each node, in
    file order; empty for tips. `lengths`: float64, shape (n_nodes,), of the branch above each node; 0 above the
    root. `names`: of each tip, and label of each inner node as in its file, or "".
    """

    children: tuple[tuple[int, ...], ...]
    lengths: NDArray[np.float64]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        n = len(self.children)
        if len(self.lengths) != n or len(self.names) != n:
            raise ValueError(f"a tree of {n} nodes requires {n} lengths and {n} names")
        if self.lengths.ndim != 1 or not np.isfinite(self.lengths).all() or (self.lengths < 0).any():
            raise ValueError("branch lengths must be finite and at least 0")
        if not all(isinstance(name, str) for name in self.names):
            raise ValueError("names of nodes must be strings")
        if (
            n == 0
            or len(self.children[0]) not in (2, 3)
            or any(len(below) not in (0, 2) for below in self.children[1:])
        ):
            raise ValueError("each node must have no or two children, the root two or three")
        seen = [False] * n
        for node, below in enumerate(self.children):
            for child in below:
                if not isinstance(child, int) or not node < child < n or seen[child]:
                    raise ValueError("nodes must be numbered after their parents, and each must have one parent")
                seen[child] = True
        if not all(seen[1:]):
            raise ValueError("every node except the root must have a parent")

    @property
    def tips(self) -> list[int]:
        """Nodes without children, in file order."""
        return [node for node in preorder(self.children, 0) if not self.children[node]]

    def branches(self) -> list[int]:
        """Return the node below each branch, in the order of PaPaRa 2's numbers.

        The two branches of a root with two children are one, and belong to the second child: preorder of that
        child, then of the nodes below the first one. A root with three children: preorder of the third child, the
        first, the second.
        """
        return list(self._branches)

    @cached_property
    def _branches(self) -> tuple[int, ...]:
        root = self.children[0]
        if len(root) == 2:
            first, second = root
            return (*preorder(self.children, second), *preorder(self.children, first)[1:])
        return tuple(node for child in (root[2], root[0], root[1]) for node in preorder(self.children, child))

    def branch_lengths(self) -> NDArray[np.float64]:
        """Return the length of each branch, in the order of `branches`."""
        lengths = self.lengths[self.branches()].copy()
        if len(self.children[0]) == 2:
            first, second = self.children[0]
            lengths[0] = self.lengths[first] + self.lengths[second]
        return lengths

    def clades(self) -> list[str]:
        """Name the clade below each branch: a tip's name, or two tips whose last common ancestor it is, "A|B".

        All tips are below the branch through a root with two children, unless it is the branch of a single tip.
        """
        names = [self.names[tip] for tip in self.tips]
        return [
            names[first] if end == first + 1 else f"{names[first]}|{names[end - 1]}"
            for first, end in zip(*(bounds.tolist() for bounds in self.tips_below()), strict=True)
        ]

    def tops(self) -> list[int]:
        """Return the top node of the clade below each branch.

        For the branch through a root with two children this is the root, unless one of the two is a tip: then it
        is this tip, whose own branch it is, wherever the root lies on it: ``(a,(b,c));`` is ``(a,b,c);``.
        """
        tops = self.branches()
        if len(self.children[0]) == 2:
            tops[0] = next((child for child in self.children[0] if not self.children[child]), 0)
        return tops

    def tips_below(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return start and end of the tips below each branch (`tops`), in the order of `tips`."""
        place = {tip: k for k, tip in enumerate(self.tips)}
        begin, end = np.zeros((2, len(self.children)), np.int64)
        for node in range(len(self.children) - 1, -1, -1):  # children come after their parents
            below = self.children[node]
            begin[node] = begin[below[0]] if below else place[node]
            end[node] = end[below[-1]] if below else place[node] + 1
        tops = self.tops()
        return begin[tops], end[tops]

    def newick(self) -> str:
        """Return the unrooted tree with names of tips only, and the number of each branch in braces."""
        number = {node: k for k, node in enumerate(self.branches())}
        lengths, children = self.lengths.copy(), list(self.children)
        if len(children[0]) == 2:  # merge the root's two branches
            first, second = children[0]
            inner, outer = (first, second) if children[first] else (second, first)
            children[0] = (*children[inner], outer)
            lengths[outer] += lengths[inner]
            number[outer] = number[second]
        texts = [
            f"{'' if children[node] else quoted(name)}:{length:.10g}{{{number.get(node, '')}}}" if node else ""
            for node, (name, length) in enumerate(zip(self.names, lengths.tolist(), strict=True))
        ]
        return newick_text(children, texts, 0)

    def jplace(self) -> str:
        """Return the tree as in its file, with labels, and the number of each branch in braces (Matsen et al. 2012).

        jplace numbers both branches of a root with two children. The longer one, which contains the midpoint of
        both, has number 0; the other one has the number after the last branch, and no reads::

            (a:0.3{0},(b:0.1{1},c:0.1{2})x:0.1{3});     branches of the unrooted tree: 0 (a to x, 0.4 long), 1, 2
        """
        number = {node: k for k, node in enumerate(self.branches())}
        if len(self.children[0]) == 2:
            first, second = self.children[0]
            number |= {first: len(number), second: 0}
            if self.lengths[first] > self.lengths[second]:
                number |= {first: 0, second: number[first]}
        texts = [
            quoted(name) + (f":{repr(length).removesuffix('.0')}{{{number[node]}}}" if node else "")
            for node, (name, length) in enumerate(zip(self.names, self.lengths.tolist(), strict=True))
        ]
        return newick_text(self.children, texts, 0)


def read_tree(path: str | os.PathLike[str]) -> PlacementTree:
    """Read a tree from a Newick or NEXUS file, compressed or not.

    Polytomies are resolved with branches of length 0, nodes with one child are removed, a missing length is 1, a
    negative one 0; each with a warning. Comments are ignored. Raises InputError for fewer than three tips, or two
    tips of one name.
    """
    return parse_tree(read_text(path, MOST_BYTES), file_name(path))


def parse_tree(text: str, file: str = "the tree") -> PlacementTree:
    """Parse a tree in Newick or NEXUS format."""
    nodes = parse_nodes(text, file)
    below = nodes.children()
    children, lengths, names = list[list[int]](), list[float](), list[str]()
    resolved = missing = negative = skipped = 0

    def length_above(at: int) -> float:
        nonlocal missing, negative
        length = nodes.lengths[at]
        if length is None:
            missing += 1
            return MISSING_LENGTH
        if not abs(length) <= MOST_LENGTH:
            raise InputError(
                f"branch length {length} is out of range: give lengths of at most {MOST_LENGTH:g}", file=file
            )
        negative += length < 0
        return max(0.0, float(length))

    root = 0
    while len(below[root]) == 1:
        skipped += 1
        root = below[root][0]
    stack = [(-1, root, 0.0)]
    while stack:  # parents first
        parent, at, length = stack.pop()
        while len(below[at]) == 1:
            skipped += 1
            at = below[at][0]
            length += length_above(at)
        node, groups, most = len(children), below[at], 3 if parent < 0 else 2
        children.append([])
        lengths.append(length)
        names.append(nodes.labels[at] if groups else nodes.names[at])
        if parent >= 0:
            children[parent].append(node)
        if len(groups) > most:  # join the first two by an additional node, and so on
            resolved += 1
            group, *others = groups
            for other in others[: 1 - most]:
                below.append([group, other])
                group = nodes.add(-1)
                nodes.lengths[group] = 0.0
            groups = [group, *others[1 - most :]]
        stack.extend((node, child, length_above(child)) for child in reversed(groups))
    for count, what in (
        (resolved, "nodes with more than two children: resolved with branches of length 0"),
        (skipped, "nodes with a single child: removed, their lengths added"),
        (missing, "branches without a length: taken as 1"),
        (negative, "branches of negative length: taken as 0"),
    ):
        if count:
            warnings.warn(f"{shown(file)}: {count} {what}", TropalignWarning, stacklevel=3)
    tips = [name for name, groups in zip(names, children, strict=True) if not groups]
    if len(tips) < 3:
        raise InputError(
            f"the tree has {len(tips)} tip{'s' * (len(tips) != 1)}: at least three are required", file=file
        )
    if "" in tips:
        raise InputError("a tip has no name: give it the name of its row in the alignment", file=file)
    if len(set(tips)) != len(tips):
        twice = next(name for name in tips if tips.count(name) > 1)
        raise InputError(f"two tips have the name {twice!r}: give each its own name", file=file)
    return PlacementTree(tuple(map(tuple, children)), np.array(lengths), tuple(names))


def plain_name(name: str) -> str:
    """Return the name without quotes, and with underscores for blanks."""
    return name.strip("'\"").replace(" ", "_")


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
