"""Python API of placement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Literal

from tropalign.devices.registry import ComputeArguments, device_names, open_devices
from tropalign.errors import InputError, UsageError
from tropalign.execution.scheduler import Scheduler
from tropalign.options.called import called_with
from tropalign.options.option import argument, but
from tropalign.placement.reads import opened
from tropalign.placement.reference import ReferencePackage
from tropalign.placement.scorer import N_BEST, check_mates, check_place
from tropalign.placement.scoring import PlacementScoring, ReadOptions, Scheme, scheme_of
from tropalign.placement.task import PlaceTask
from tropalign.resources.limits import checked_memory, default_budget, resolve_threads, whole_number
from tropalign.sequences.batch import SequenceBatch, Sequences
from tropalign.sequences.files import Source
from tropalign.sequences.inputs import numbered

if TYPE_CHECKING:
    from tropalign.results.placements import Placements


class PlaceArguments(ReadOptions, ComputeArguments):
    """Arguments of `place`."""

    package: ReferencePackage = argument(kw_only=False, doc="The reference.")
    reads: Sequences | Source = argument(
        kw_only=False,
        doc="FASTA or FASTQ files, a SequenceBatch, texts, pairs of name and text, or a mapping. Reads are processed "
        "block by block.",
    )
    mates: Source | Iterable[Source] | None = argument(
        default=None,
        kw_only=True,
        doc="Files of second mates, one for each file of first mates in `reads`. Both mates of a pair become one "
        "read and are placed on one branch by the sum of their scores (paired ends: one mate on each strand).",
    )
    scoring: PlacementScoring | Scheme = argument(
        default="program",
        kw_only=True,
        doc='A PlacementScoring, "program" (PaPaRa 2.5) or "paper" (Alachiotis, Berger and Stamatakis 2012).',
    )
    gaps: Literal["refuse", "remove"] = argument(
        default="refuse",
        kw_only=True,
        doc="Gap characters (``-``, ``.``, ``_``, ``~``) in reads: raise an error, or remove them.",
    )
    prune: bool = argument(
        default=True, kw_only=True, doc="Skip branches that provably score less; results are identical."
    )
    memory_bytes: int | None = but(
        ComputeArguments,
        "memory_bytes",
        default=None,
        doc="Memory limit in bytes, excluding the reference (default: a share of the free memory).",
    )
    progress: Callable[[int], None] | None = argument(
        default=None, kw_only=True, doc="Called with the number of reads that have been started."
    )


@called_with(PlaceArguments)
def place(call: PlaceArguments) -> Iterator[Placements]:
    """Align each read to the profile of every branch, and keep the best branch; ties go to the first one.

    Yields
    ------
    Placements
        Some reads each, in input order.

    Raises
    ------
    InputError
        A file that cannot be read; mates that do not match each other, or of proteins; both strands of proteins;
        with scores of whole reads a read as long as the reference.
    ResourceError
        A read so long that its alignment does not fit the memory.
    UsageError
        A scheme, strand or device that does not exist or is not applicable.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
    >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
    >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
    >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
    >>> placed.names, placed.score.tolist()
    (('x', 'y'), [10, 6])
    """
    package, reads, mates = call.package, numbered(call.reads), call.mates
    if not isinstance(package, ReferencePackage):
        what = f"an object of type {type(package).__name__} is not a ReferencePackage"
        raise UsageError(f"{what}: create one with ReferencePackage.build, .read or .load")
    scoring, memory_bytes = scheme_of(call.scoring), checked_memory(call.memory_bytes)
    if isinstance(reads, SequenceBatch) and not reads.has_residues:
        raise InputError("the batch holds only names and lengths: read the sequences again")
    names = check_place(package, scoring, call.strand, device_names(call.device))
    if mates is not None:
        check_mates(package)
    blocks = opened(reads, mates, package.names, call.gaps)
    first = next(blocks, None)
    if first is None:
        return iter(())
    task = PlaceTask(
        package,
        lambda: chain([first], blocks),
        scoring,
        n_best=N_BEST if call.prune and mates is None else 0,
        paired=mates is not None,
        both_strands=call.strand == "both",
        adjusts_strand=call.strand == "adjust",
        min_score=None if call.min_score is None else whole_number("min_score", call.min_score),
        n_threads=resolve_threads(call.n_threads),
        memory_bytes=default_budget() if memory_bytes is None else memory_bytes,
    )
    # The amount of work beyond the first block is unknown: if one block takes a CPU seconds, it is worth starting
    # a driver.
    devices = open_devices(names, call.n_threads, task.cost_cells(len(first.letters)))
    return (result.value for result in Scheduler(devices, call.progress).run([task]))
