"""CLUSTALW's alignment of a batch: distances, guide tree, weights, columns, one stage after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tropalign.clustalw.distances import pair_distances
from tropalign.clustalw.options import ClustalwOptions
from tropalign.clustalw.progressive import STEP_BYTES, align_along_tree
from tropalign.clustalw.rooting import WEIGHT_SUM, compat_upgma_weights, compat_weights, root_tree, sequence_weights
from tropalign.distance_trees.averaging import upgma
from tropalign.distance_trees.joining import RulesName, neighbour_joining
from tropalign.errors import named
from tropalign.execution.task import Device
from tropalign.machine.memory import require
from tropalign.msa.guide_tree import GuideTree
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.batch import SequenceBatch
from tropalign.trees.newick import quoted

#: The share of the work that each stage takes, about: full and quick distances, then the tree.
SHARE_OF_DISTANCES, SHARE_OF_QUICK_DISTANCES, SHARE_OF_TREE = 0.8, 0.4, 0.05

#: Per residue of the longest sequence: rows of a sequence twice, of twice its length; and two profiles of a thread.
ROW_BYTES, PROFILE_BYTES = 4, 2000
LEAST_STEP_BYTES = 1 << 16

Progress = Callable[[str, float], object]


def align_batch(
    batch: SequenceBatch,
    options: ClustalwOptions,
    tree: GuideTree | None = None,
    *,
    order: str = "input",
    n_threads: int = 1,
    memory_bytes: int | None = None,
    devices: Sequence[Device] = (),
    progress: Progress | None = None,
) -> MultipleAlignment:
    """Aligns a family as CLUSTALW does (Thompson, Higgins and Gibson 1994): progressively, along a guide tree.

    Parameters
    ----------
    batch
        The family; none of its sequences is empty.
    options
        Of the method.
    tree
        The guide tree; made of the distances of all pairs when not given. One without branch lengths gives the order
        only: identities then come from the distances, and all sequences weigh the same.
    order : {"input", "tree"}
        Of the rows.
    n_threads
        The alignment does not depend on it.
    memory_bytes
        What may be taken; no bound when not given.
    devices
        What else may compute distances.
    progress
        Receives the name of the stage and the share of all work that is done, 0 to 1; what it raises ends the work.

    Returns
    -------
    MultipleAlignment
        With the guide tree and without confidence.

    Raises
    ------
    ResourceError
        Memory that does not suffice, or profiles that are too long.

    Examples
    --------
    >>> batch = tropalign.SequenceBatch.from_strings(["MKVLAWMKT", "MKILAWMT", "MKVAWMKT"], ["a", "b", "c"])
    >>> align_batch(batch, ClustalwOptions())
    MultipleAlignment: 3 protein sequences, 9 columns
    a  MKVLAWMKT
    b  MKILAWMT-
    c  MKV-AWMKT
    """
    if len(batch) == 1:
        alone = f"{quoted(batch.names[0])};"
        return MultipleAlignment(batch, np.arange(len(batch.codes), dtype=np.int32), len(batch.codes), tree=alone)
    share, distances, is_given = 0.0, None, tree is not None
    if needs_distances(tree):
        share = SHARE_OF_QUICK_DISTANCES if options.quicktree else SHARE_OF_DISTANCES
        distances = pair_distances(
            batch,
            options,
            n_threads=n_threads,
            memory_bytes=memory_bytes,
            devices=devices,
            progress=_stage(progress, "distances", 0.0, share),
        )
    if tree is None:
        assert distances is not None
        tree = guide_tree(distances, batch.names, options, _stage(progress, "guide tree", share, share + SHARE_OF_TREE))
        share += SHARE_OF_TREE
        distances = distances if options.clustering == "upgma" else None
    placed = align_along_tree(
        batch,
        options,
        tree,
        family_weights(tree, options, is_upgma=options.clustering == "upgma" and not is_given),
        distances,
        n_threads=n_threads,
        step_bytes=_step_bytes(batch, n_threads, memory_bytes),
        progress=_stage(progress, "alignment", share, 1.0),
    )
    if progress is not None:
        progress("alignment", 1.0)
    found = MultipleAlignment(batch, placed.columns, placed.n_columns, tree=tree.newick(batch.names))
    return found if order == "input" else found[tree.leaf_order()]


def needs_distances(tree: GuideTree | None) -> bool:
    """Whether a given tree, if any, leaves the distances of all pairs to be computed."""
    return tree is None or not tree.branch_lengths.any()


def guide_tree(
    distances: NDArray[np.float64],
    names: Sequence[str],
    options: ClustalwOptions,
    progress: Callable[[float], object] | None = None,
) -> GuideTree:
    """The rooted tree of the distances of all pairs."""
    rules: RulesName = "clustalw" if options.is_compat else "tropalign"
    told = None if progress is None else lambda joins: progress(joins / len(names))
    if options.clustering == "upgma":
        return root_tree(upgma(distances, names, rules=rules, progress=told))
    joined = neighbour_joining(distances, names, rules=rules, progress=told)
    return root_tree(joined, is_compat=options.is_compat)


def family_weights(
    tree: GuideTree, options: ClustalwOptions, *, is_upgma: bool = False
) -> NDArray[np.float64] | NDArray[np.int32]:
    """Weights of the sequences by the tree; all the same where the options want none."""
    if not options.has_weights:
        return np.full(tree.n_leaves, max(1, WEIGHT_SUM // tree.n_leaves), np.int32)
    if not options.is_compat:
        return sequence_weights(tree)
    return compat_upgma_weights(tree) if is_upgma else compat_weights(tree)


def _step_bytes(batch: SequenceBatch, n_threads: int, memory_bytes: int | None) -> int:
    """What each thread may take for steps, once rows and profiles are held."""
    longest = int(batch.lengths.max())
    held = ROW_BYTES * len(batch) * longest + n_threads * PROFILE_BYTES * longest
    if memory_bytes is None:
        return STEP_BYTES
    remedy = f"allow more with {named('memory_bytes')}, or use fewer threads"
    require(held + n_threads * LEAST_STEP_BYTES, memory_bytes, f"the alignment of {len(batch):,} sequences", remedy)
    return min(STEP_BYTES, (memory_bytes - held) // n_threads)


def _stage(progress: Progress | None, name: str, begin: float, end: float) -> Callable[[float], object] | None:
    """Tells that a stage begins, and gives what it tells of its own share, as a share of the whole."""
    if progress is None:
        return None
    progress(name, begin)
    return lambda done: progress(name, begin + done * (end - begin))


def pair_cells(batch: SequenceBatch, options: ClustalwOptions, tree: GuideTree | None = None) -> int:
    """What the distances cost, in cells of a local score: 0 where only the processor computes them."""
    if options.is_compat or options.quicktree or not needs_distances(tree):
        return 0
    lengths = batch.lengths.astype(float)
    return int((lengths.sum() ** 2 - (lengths**2).sum()) / 2)
