"""CLUSTALW's alignment from Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tropalign.clustalw.given_tree import parse_clustalw_tree, read_clustalw_tree
from tropalign.clustalw.options import ClustalwOptions
from tropalign.clustalw.pipeline import align_batch, pair_cells
from tropalign.devices.names import DeviceLike, device_names
from tropalign.devices.registry import open_devices
from tropalign.errors import UsageError
from tropalign.machine.memory import budget_of
from tropalign.machine.numbers import checked_threads
from tropalign.machine.threads import resolve_threads
from tropalign.msa.family import family_of
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.options import check_order, check_tree, checked_progress
from tropalign.msa.strands import check_strand, on_one_strand
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.alphabet import Alphabet


def align_clustalw(
    sequences: Any,
    options: ClustalwOptions | None = None,
    *,
    tree: str | os.PathLike[str] | None = None,
    order: str = "input",
    strand: str = "plus",
    alphabet: Alphabet | str | None = None,
    n_threads: int = 0,
    memory_bytes: int | None = None,
    device: DeviceLike = "auto",
    progress: Callable[[str, float], object] | None = None,
) -> MultipleAlignment:
    """Aligns a family as CLUSTAL W does (Thompson, Higgins and Gibson 1994): progressively, along a guide tree.

    Parameters
    ----------
    sequences
        As `align_multiple` takes them.
    options
        Costs, matrices and rules; CLUSTAL W's defaults when not given.
    tree
        The guide tree, as Newick text or a file's Path; made of the distances of all pairs when not given. An unrooted
        one with branch lengths, such as CLUSTAL W's ``.dnd``, gets the root that CLUSTAL W gives it. One without
        branch lengths gives the order only: identities then come from the distances, and all sequences weigh the same.
    order, strand, alphabet, n_threads, memory_bytes
        As of `align_multiple`.
    device
        What computes distances, as of `align_multiple`; those of ``quicktree`` and ``is_compat`` come from the
        processor alone.
    progress
        As of `align_multiple`; the stages are "distances", "guide tree" and "alignment".

    Returns
    -------
    MultipleAlignment
        With the guide tree and without confidence.

    Raises
    ------
    InputError
        No sequence, or an empty one; nucleotides among proteins; a letter outside the alphabet; a tree of others.
    UsageError
        An option of another type or out of range.
    ResourceError, DeviceError
        Memory that does not suffice, a sequence of more than 65,535 residues, a device that cannot compute.

    Warns
    -----
    TropalignWarning
        Nucleotide sequences lie on the other strand than the rest, or were turned.

    Examples
    --------
    >>> family = {"a": "MKVLAWMKT", "b": "MKILAWMT", "c": "MKVAWMKT"}
    >>> tropalign.align_clustalw(family, tropalign.ClustalwOptions(gap_open=8))
    MultipleAlignment: 3 protein sequences, 9 columns
    a  MKVLAWMKT
    b  MKILAWM-T
    c  MKV-AWMKT
    """
    check_order(order)
    check_strand(strand)
    checked_progress(progress)
    check_tree(tree)
    method = ClustalwOptions() if options is None else options
    if not isinstance(method, ClustalwOptions):
        raise UsageError(f"an object of type {type(options).__name__} is no ClustalwOptions: make one of its arguments")
    threads, memory = checked_threads(n_threads), budget_of(memory_bytes)
    batch = on_one_strand(family_of(sequences, alphabet), strand, resolve_threads(threads))
    if isinstance(tree, str):
        given: GuideTree | None = parse_clustalw_tree(tree, batch.names, method)
    else:
        given = None if tree is None else read_clustalw_tree(tree, batch.names, method)
    return align_batch(
        batch,
        method,
        given,
        order=order,
        n_threads=resolve_threads(threads),
        memory_bytes=memory,
        devices=open_devices(device_names(device), threads, pair_cells(batch, method, given), memory),
        progress=progress,
    )
