"""CLUSTALW's alignment of a batch, stage by stage: distances, guide tree, weights, columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.clustalw.distances import pair_distances
from tropalign.clustalw.options import ClustalwOptions
from tropalign.clustalw.progressive import (
    STEP_BYTES,
    WEIGHT_SUM,
    align_along_tree,
    compat_upgma_weights,
    compat_weights,
    parse_clustalw_tree,
    read_clustalw_tree,
    root_tree,
    sequence_weights,
)
from tropalign.errors import UsageError, named
from tropalign.msa.api import FamilyArguments
from tropalign.msa.guide_tree import GuideTree
from tropalign.options.called import called_with
from tropalign.options.option import argument, but
from tropalign.resources.limits import budget_of, require
from tropalign.results.multiple import MultipleAlignment
from tropalign.results.newick import quoted
from tropalign.trees.joining import RulesName, neighbour_joining, upgma

if TYPE_CHECKING:
    from tropalign.devices.registry import DeviceLike
    from tropalign.execution.task import Device
    from tropalign.sequences.batch import SequenceBatch

#: Approximate shares of the work: full distances, quick distances, the tree.
SHARE_OF_DISTANCES, SHARE_OF_QUICK_DISTANCES, SHARE_OF_TREE = 0.8, 0.4, 0.05

#: Bytes per residue of the longest sequence: two rows per sequence, each of twice its length; two profiles per
#: thread.
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
    """Align a family as CLUSTALW does (Thompson, Higgins and Gibson 1994): progressively, along a guide tree.

    A tree without branch lengths gives only the order: identities then come from the distances, and all sequences
    have the same weight. No sequence may be empty.
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
    step_bytes = STEP_BYTES
    if memory_bytes is not None:  # steps get the memory left by rows and profiles
        longest = int(batch.lengths.max())
        held = ROW_BYTES * len(batch) * longest + n_threads * PROFILE_BYTES * longest
        remedy = f"allow more with {named('memory_bytes')}, or use fewer threads"
        require(held + n_threads * LEAST_STEP_BYTES, memory_bytes, f"the alignment of {len(batch):,} sequences", remedy)
        step_bytes = min(STEP_BYTES, (memory_bytes - held) // n_threads)
    placed = align_along_tree(
        batch,
        options,
        tree,
        family_weights(tree, options, is_upgma=options.clustering == "upgma" and not is_given),
        distances,
        n_threads=n_threads,
        step_bytes=step_bytes,
        progress=_stage(progress, "alignment", share, 1.0),
    )
    if progress is not None:
        progress("alignment", 1.0)
    found = MultipleAlignment(batch, placed.columns, placed.n_columns, tree=tree.newick(batch.names))
    return found if order == "input" else found[tree.leaf_order()]


def needs_distances(tree: GuideTree | None) -> bool:
    """True if the distances of all pairs are required: no tree is given, or one without branch lengths."""
    return tree is None or not tree.branch_lengths.any()


def guide_tree(
    distances: NDArray[np.float64],
    names: Sequence[str],
    options: ClustalwOptions,
    progress: Callable[[float], object] | None = None,
) -> GuideTree:
    """Build the rooted tree from the distances of all pairs."""
    rules: RulesName = "clustalw" if options.is_compat else "tropalign"
    told = None if progress is None else lambda joins: progress(joins / len(names))
    if options.clustering == "upgma":
        return root_tree(upgma(distances, names, rules=rules, progress=told))
    joined = neighbour_joining(distances, names, rules=rules, progress=told)
    return root_tree(joined, is_compat=options.is_compat)


def family_weights(
    tree: GuideTree, options: ClustalwOptions, *, is_upgma: bool = False
) -> NDArray[np.float64] | NDArray[np.int32]:
    """Return the sequence weights from the tree, or equal weights if the options disable them."""
    if not options.has_weights:
        return np.full(tree.n_leaves, max(1, WEIGHT_SUM // tree.n_leaves), np.int32)
    if not options.is_compat:
        return sequence_weights(tree)
    return compat_upgma_weights(tree) if is_upgma else compat_weights(tree)


def _stage(progress: Progress | None, name: str, begin: float, end: float) -> Callable[[float], object] | None:
    """Report the start of a stage, and return a callback that maps the stage's share to a share of the whole."""
    if progress is None:
        return None
    progress(name, begin)
    return lambda done: progress(name, begin + done * (end - begin))


def pair_cells(batch: SequenceBatch, options: ClustalwOptions, tree: GuideTree | None = None) -> int:
    """Return the cost of the distances in cells of a local score; 0 if only the CPU computes them."""
    if options.is_compat or options.quicktree or not needs_distances(tree):
        return 0
    lengths = batch.lengths.astype(float)
    return int((lengths.sum() ** 2 - (lengths**2).sum()) / 2)


class ClustalwArguments(FamilyArguments):
    """Arguments of `align_clustalw`."""

    options: ClustalwOptions | None = argument(
        default=None, kw_only=False, doc="Costs, matrices and rules (default: those of CLUSTAL W)."
    )
    tree: str | os.PathLike[str] | None = but(
        FamilyArguments,
        "tree",
        default=None,
        doc="The guide tree, as Newick text or a file's Path; built from the distances of all pairs by default. "
        "An unrooted tree with branch lengths, such as CLUSTAL W's ``.dnd``, gets the root that CLUSTAL W "
        "would give it. A tree without branch lengths only sets the order: identities then come from the "
        "distances, and all sequences have the same weight.",
    )
    device: DeviceLike = but(
        FamilyArguments,
        "device",
        default="auto",
        doc="Devices that compute distances, as in `align_multiple`; with ``quicktree`` or ``is_compat``, only "
        "the CPU computes them.",
    )


@called_with(ClustalwArguments)
def align_clustalw(call: ClustalwArguments) -> MultipleAlignment:
    """Align a family as CLUSTAL W does (Thompson, Higgins and Gibson 1994): progressively, along a guide tree.

    Returns
    -------
    MultipleAlignment
        With the guide tree and without confidence.

    Raises
    ------
    InputError
        No sequence, or an empty one; nucleotides among proteins; a letter outside the alphabet; a tree of other
        sequences.
    UsageError
        An option of the wrong type or out of range.
    ResourceError, DeviceError
        Not enough memory, a sequence of more than 65,535 residues, a device that cannot compute.

    Warns
    -----
    TropalignWarning
        Nucleotide sequences lie on the opposite strand to the rest, or were reversed.

    Examples
    --------
    >>> family = {"a": "MKVLAWMKT", "b": "MKILAWMT", "c": "MKVAWMKT"}
    >>> tropalign.align_clustalw(family, tropalign.ClustalwOptions(gap_open=8))
    MultipleAlignment: 3 protein sequences, 9 columns
    a  MKVLAWMKT
    b  MKILAWM-T
    c  MKV-AWMKT
    """
    method = ClustalwOptions() if call.options is None else call.options
    if not isinstance(method, ClustalwOptions):
        what = f"an object of type {type(method).__name__} is not ClustalwOptions"
        raise UsageError(f"{what}: create ClustalwOptions from its arguments")
    memory, batch, tree = budget_of(call.memory_bytes), call.batch(), call.tree
    if isinstance(tree, str):
        given: GuideTree | None = parse_clustalw_tree(tree, batch.names, method)
    else:
        given = None if tree is None else read_clustalw_tree(tree, batch.names, method)
    return align_batch(
        batch,
        method,
        given,
        order=call.row_order,
        n_threads=call.threads,
        memory_bytes=memory,
        devices=call.devices(pair_cells(batch, method, given), memory),
        progress=call.progress,
    )
