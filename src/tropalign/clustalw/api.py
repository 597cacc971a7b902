"""Python API of CLUSTALW's alignment."""

from __future__ import annotations

import os

from tropalign.clustalw.given_tree import parse_clustalw_tree, read_clustalw_tree
from tropalign.clustalw.options import ClustalwOptions
from tropalign.clustalw.pipeline import align_batch, pair_cells
from tropalign.devices.names import DeviceLike
from tropalign.errors import UsageError
from tropalign.machine.memory import budget_of
from tropalign.msa.arguments import FamilyArguments
from tropalign.msa.guide_tree import GuideTree
from tropalign.options.called import called_with
from tropalign.options.option import argument, but
from tropalign.results.multiple import MultipleAlignment


class ClustalwArguments(FamilyArguments):
    """Arguments of `align_clustalw`."""

    options: ClustalwOptions | None = argument(
        default=None, kw_only=False, doc="Costs, matrices and rules; CLUSTAL W's defaults when not given."
    )
    tree: str | os.PathLike[str] | None = but(
        FamilyArguments,
        "tree",
        default=None,
        doc="The guide tree, as Newick text or a file's Path; made of the distances of all pairs when not given. An "
        "unrooted one with branch lengths, such as CLUSTAL W's ``.dnd``, gets the root that CLUSTAL W gives it. One "
        "without branch lengths gives the order only: identities then come from the distances, and all sequences weigh "
        "the same.",
    )
    device: DeviceLike = but(
        FamilyArguments,
        "device",
        default="auto",
        doc="What computes distances, as of `align_multiple`; those of ``quicktree`` and ``is_compat`` come from the "
        "processor alone.",
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
        what = f"an object of type {type(method).__name__} is no ClustalwOptions"
        raise UsageError(f"{what}: make one of its arguments")
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
