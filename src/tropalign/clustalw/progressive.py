"""CLUSTALW's progressive stage: the root of the guide tree, weights of the sequences, and columns along the tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.clustalw.matrices import LETTERS, clustalw_codes, profile_matrix, series_of
from tropalign.clustalw.options import ClustalwOptions
from tropalign.errors import ResourceError
from tropalign.msa.guide_tree import GuideTree, own_names, parse_guide_tree
from tropalign.results.newick import MOST_BYTES
from tropalign.results.tree import Tree, parse_tree
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import file_name, read_text

#: The largest weight, unless weights are those of the original.
WEIGHT_ONE = 1 << 16
#: Bytes per thread for the steps of an alignment; steps that do not fit are computed twice.
STEP_BYTES = 32 << 20


@dataclass(frozen=True)
class ProgressiveColumns:
    """The column of each residue of a family.

    `columns`: int32, shape (n_residues,). `order`: int32, shape (n,), sequences in the order in which they were
    added, delayed ones last.
    """

    columns: NDArray[np.int32]
    n_columns: int
    order: NDArray[np.int32]


def align_along_tree(
    batch: SequenceBatch,
    options: ClustalwOptions,
    tree: GuideTree,
    weights: NDArray[np.float64] | NDArray[np.int32],
    distances: NDArray[np.float64] | None = None,
    *,
    n_threads: int = 1,
    step_bytes: int = STEP_BYTES,
    progress: Callable[[float], object] | None = None,
) -> ProgressiveColumns:
    """Align a family along its guide tree, then add the sequences that resemble no other, one by one.

    `weights`, shape (n,): integers are used as they are, floats relative to the largest. `distances`, shape
    (n (n - 1) / 2,), replace those of the tree. No sequence may be empty.
    """
    is_nucleotide = batch.alphabet.name == "nucleotide"
    series = series_of(options, is_nucleotide)
    matrices = [profile_matrix(entry.name, options) for entry in series]
    n_joins = len(batch) - 1
    try:
        columns, n_columns, order = _native.clustalw_progressive(
            clustalw_codes(batch),
            batch.offsets,
            np.ascontiguousarray(tree.children),
            np.ascontiguousarray(tree.branch_lengths),
            whole_weights(weights),
            distances,
            np.array([entry.above for entry in series], np.float64),
            np.array([entry.shorter_than for entry in series], np.int32),
            np.array([entry.scale for entry in series], np.float32),
            np.array([matrix.mismatch for matrix in matrices], np.int32),
            np.stack([matrix.scores for matrix in matrices]),
            is_compat=options.is_compat,
            is_nucleotide=is_nucleotide,
            gap_open=options.cost("gap_open", is_nucleotide),
            gap_extend=options.cost("gap_extend", is_nucleotide),
            gap_distance=options.gap_distance,
            hydrophilic=sum(1 << LETTERS.index(letter) for letter in set(options.hydrophilic.upper()) & set(LETTERS)),
            delay=options.delay,
            has_hydrophilic_gaps=options.has_hydrophilic_gaps,
            has_residue_gaps=options.has_residue_gaps,
            has_end_gaps=options.has_end_gaps,
            counts_end_gaps=options.counts_end_gaps,
            negative_matrix=options.negative_matrix,
            has_weights=options.has_weights,
            step_bytes=step_bytes,
            n_threads=n_threads,
            progress=None if progress is None else lambda done: progress(done / n_joins),
        )
    except OverflowError:
        remedy = "leave out the longest sequences, or those unrelated to all others"
        raise ResourceError(f"scores of the family's profiles do not fit 32 bits: {remedy}") from None
    return ProgressiveColumns(columns, n_columns, order)


def whole_weights(weights: NDArray[np.float64] | NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the weights as integers from 1; floats are scaled so that the largest becomes WEIGHT_ONE."""
    if weights.dtype.kind == "i":
        return np.ascontiguousarray(weights, np.int32)
    highest = float(weights.max(initial=0.0)) or 1.0
    return np.maximum(np.rint(weights / highest * WEIGHT_ONE), 1).astype(np.int32)


#: Sum of the original's integer weights.
WEIGHT_SUM = 1000


def root_tree(tree: Tree, *, is_compat: bool = False) -> GuideTree:
    """Root a neighbour-joining tree as CLUSTALW does for its guide tree; a rooted tree keeps its root.

    The leaves of both sides of the root are equally far on average; if several branches allow that, the root lies
    on the one that gives the shallowest tree (Thompson, Higgins and Gibson 1994). Nodes have the original's
    alignment order. With `is_compat`, lengths have five decimals, as in the file between the original's stages
    (five digits for two sequences), sums are float32, and the time grows with the square of the number of leaves.
    """
    children = [list(below) for below in tree.children]
    lengths = tree.lengths.tolist()
    if not tree.is_rooted:
        first, second, third = children.pop()
        joined = len(lengths) - 1
        children += [[first, second], [joined, third]]
        lengths.append(0.0)
    if any(len(below) != 2 for below in children):
        raise ValueError("a node does not have two children: give a tree made by neighbour joining")
    nodes = np.array(children, np.int32).reshape(-1, 2)
    if is_compat and len(nodes) == 1:
        lengths = [float(f"{np.float32(length):.5g}") for length in lengths]
    elif is_compat and tree.digits is not None:
        lengths = [float(f"{length:.5f}") for length in lengths]
    if tree.is_rooted:
        return GuideTree(nodes, np.array(lengths))
    if is_compat:
        nodes, floats = _native.clustalw_rooted_compat(nodes, np.array(lengths, np.float32))
        return GuideTree(nodes, floats.astype(np.float64))
    return GuideTree(*_native.clustalw_rooted(nodes, np.array(lengths)))


def sequence_weights(tree: GuideTree) -> NDArray[np.float64]:
    """Return sequence weights that sum to 1: the leaves below a branch share its length equally.

    float64, shape (n,); all equal if no branch has a length.
    """
    weights = np.maximum(_shares(tree, np.float64), 0.0)
    total = weights.sum()
    return weights / total if total > 0 else np.full(tree.n_leaves, 1 / tree.n_leaves)


def compat_weights(tree: GuideTree) -> NDArray[np.int32]:
    """Return the sequence weights of CLUSTALW 2.1: integers from 1 that sum to about 1000, int32, shape (n,)."""
    shares = (_shares(tree, np.float32).astype(np.float64) * 100.0).astype(np.float32)
    return _out_of_thousand(np.trunc(shares).astype(np.int64))


def compat_upgma_weights(tree: GuideTree) -> NDArray[np.int32]:
    """Return the weights of CLUSTALW 2.1 with UPGMA, int32, shape (n,).

    In its trees each branch is half as long as the distance of the join. A leaf's own branch does not count, and
    the branch above the root is as long as the two below it.
    """
    n = tree.n_leaves
    lengths, n_below = tree.branch_lengths.copy(), np.ones(2 * n - 1, np.int64)
    for k, (first, second) in enumerate(tree.children.tolist()):
        n_below[n + k] = n_below[first] + n_below[second]
    lengths[-1] = lengths[tree.children[-1, 0]]
    sums = np.zeros(2 * n - 1, np.float32)  # from the root down, rounded at each branch
    for node in range(2 * n - 2, n - 1, -1):
        sums[node] = np.float32(float(sums[node]) + lengths[node] / n_below[node])
        sums[tree.children[node - n]] = sums[node]
    return _out_of_thousand(np.trunc(sums[:n] * np.float32(100)).astype(np.int64))


def _out_of_thousand(weights: NDArray[np.int64]) -> NDArray[np.int32]:
    """Scale weights to a sum of about WEIGHT_SUM; each is at least 1."""
    if not weights.sum():
        weights[:] = 1
    values, divisor = weights * WEIGHT_SUM, int(weights.sum())
    quotients = np.sign(values) * np.sign(divisor) * (np.abs(values) // abs(divisor))  # rounded towards 0 as in C
    whole: NDArray[np.int32] = np.maximum(quotients, 1).astype(np.int32)
    return whole


def _shares(tree: GuideTree, dtype: type[np.floating]) -> NDArray[np.floating]:
    """Return for each leaf the sum of branch lengths divided by the leaves below, from the leaf up to the root."""
    n = tree.n_leaves
    n_below, parent = np.ones(2 * n - 1, np.int32), np.full(2 * n - 1, -1)
    for k, (first, second) in enumerate(tree.children.tolist()):
        n_below[n + k] = n_below[first] + n_below[second]
        parent[[first, second]] = n + k
    per_leaf = tree.branch_lengths.astype(dtype) / n_below.astype(dtype)
    shares, at = np.zeros(n, dtype), np.arange(n)
    while (has_parent := parent[at] >= 0).any():
        shares[has_parent] += per_leaf[at[has_parent]]
        at = np.where(has_parent, parent[at], at)
    return shares


def read_clustalw_tree(path: str | os.PathLike[str], names: Sequence[str], options: ClustalwOptions) -> GuideTree:
    """Read a guide tree for the named sequences from a Newick or NEXUS file, compressed or not.

    An unrooted tree such as CLUSTALW writes gets CLUSTALW's root: it has branch lengths, its outermost node joins
    three and all others two. Any other tree is read as by `read_guide_tree`.
    """
    return parse_clustalw_tree(read_text(path, MOST_BYTES), names, options, file_name(path))


def parse_clustalw_tree(text: str, names: Sequence[str], options: ClustalwOptions, file: str = "the tree") -> GuideTree:
    """Parse a guide tree for the named sequences from text in Newick or NEXUS format."""
    rooted = parse_guide_tree(text, names, file)
    if len(names) < 3:
        return rooted
    tree = parse_tree(text, file)
    given = np.nan_to_num(tree.lengths)
    if len(tree.children[-1]) != 3 or any(len(below) != 2 for below in tree.children[:-1]) or not given.any():
        return rooted
    number_of = {name: k for k, name in enumerate(names)}
    number_of |= {word: number_of[name] for word, name in own_names(names).items()}
    numbers = [number_of[name] for name in tree.names] + list(range(len(names), len(tree.lengths)))
    lengths = np.empty(len(given))
    lengths[numbers] = given
    children = tuple(tuple(numbers[child] for child in below) for below in tree.children)
    return root_tree(Tree(tuple(names), children, lengths), is_compat=options.is_compat)
