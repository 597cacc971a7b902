"""Python API of placement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Literal

from tropalign.devices.names import ComputeArguments, device_names, is_cluster
from tropalign.devices.registry import open_devices
from tropalign.errors import InputError, UsageError, named
from tropalign.execution.scheduler import Scheduler
from tropalign.options.called import called_with
from tropalign.options.option import argument, but
from tropalign.placement.reads import MatedBlocks
from tropalign.placement.reference import ReferencePackage
from tropalign.placement.scorer import N_BEST
from tropalign.placement.scoring import SCHEMES, PlacementScoring, Scheme, StrandOption
from tropalign.placement.task import PlaceTask
from tropalign.resources.limits import default_budget, resolve_threads
from tropalign.resources.numbers import checked_memory
from tropalign.results.placements import Placements
from tropalign.sequences import SequenceBatch
from tropalign.sequences.batch import Sequences
from tropalign.sequences.blocks import READS, ReadBlocks, with_gaps
from tropalign.sequences.files import Source


class PlaceArguments(StrandOption, ComputeArguments):
    """Arguments of `place`."""

    package: ReferencePackage = argument(kw_only=False, doc="The reference.")
    reads: Sequences | Source = argument(
        kw_only=False,
        doc="FASTA or FASTQ files, a SequenceBatch, or pairs of name and text. They are taken block by block.",
    )
    mates: Source | Iterable[Source] | None = argument(
        default=None,
        kw_only=True,
        doc="Files of second mates, as many as `reads` then has to name of first ones: both mates of a pair are placed "
        "on one branch, by the sum of their scores, and become one read (paired ends: one mate on each strand).",
    )
    scoring: PlacementScoring | Scheme = argument(
        default="program",
        kw_only=True,
        doc='A PlacementScoring, "program" (PaPaRa 2.5) or "paper" (Alachiotis, Berger and Stamatakis 2012).',
    )
    gaps: Literal["refuse", "remove"] = argument(
        default="refuse", kw_only=True, doc="Gap letters (``-``, ``.``, ``_``, ``~``) in reads: an error, or removed."
    )
    prune: bool = argument(
        default=True, kw_only=True, doc="Leaves out branches that surely score less; the result is the same."
    )
    memory_bytes: int | None = but(
        ComputeArguments,
        "memory_bytes",
        default=None,
        doc="What may be taken beside the reference; a share of the free memory by default.",
    )
    progress: Callable[[int], None] | None = argument(
        default=None, kw_only=True, doc="Called with the number of reads begun."
    )


@called_with(PlaceArguments)
def place(call: PlaceArguments) -> Iterator[Placements]:
    """Align each read to the profile of every branch and keep the best branch, the first of several.

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
    package, reads, mates = call.package, call.reads, call.mates
    if not isinstance(package, ReferencePackage):
        what = f"an object of type {type(package).__name__} is no ReferencePackage"
        raise UsageError(f"{what}: make one with ReferencePackage.build, .read or .load")
    scoring, memory_bytes = scheme_of(call.scoring), checked_memory(call.memory_bytes)
    if isinstance(reads, SequenceBatch) and not reads.has_residues:
        raise InputError("the batch knows names and lengths only: read the sequences again")
    names = check_place(package, scoring, call.strand, device_names(call.device))
    if mates is not None:
        check_mates(package)
    files: Any = reads
    policy = with_gaps(READS, call.gaps)
    blocks = iter(
        ReadBlocks(reads, package.names, policy) if mates is None else MatedBlocks(files, mates, package.names, policy)
    )
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
        n_threads=resolve_threads(call.n_threads),
        memory_bytes=default_budget() if memory_bytes is None else memory_bytes,
    )
    # The amount of work beyond the first block is unknown: if one block takes a CPU seconds, it is worth starting
    # a driver.
    devices = open_devices(names, call.n_threads, task.cost_cells(len(first.letters)))
    return (result.value for result in Scheduler(devices, call.progress).run([task]))


def scheme_of(scoring: PlacementScoring | Scheme) -> PlacementScoring:
    """Return the scoring, or the scheme of that name; raises UsageError for an unknown one."""
    if isinstance(scoring, PlacementScoring):
        return scoring
    if not isinstance(scoring, str):
        raise UsageError(f"an object of type {type(scoring).__name__} is no PlacementScoring, nor the name of a scheme")
    if scoring not in SCHEMES:
        raise UsageError(f"the scheme {scoring!r} is none of {', '.join(SCHEMES)}")
    return SCHEMES[scoring]


def check_mates(package: ReferencePackage) -> None:
    """Raise InputError if sequences have no opposite strand for the second mate."""
    alphabet = package.states.alphabet
    if not alphabet.has_strands:
        raise InputError(
            f"mates lie on both strands, but {alphabet.name}s have one: place them without {named('mates')}"
        )


def check_place(package: ReferencePackage, scoring: PlacementScoring, strand: str, devices: list[str]) -> list[str]:
    """Return the devices that may score; raises UsageError or InputError if reference and options do not fit."""
    alphabet = package.states.alphabet
    if not isinstance(strand, str) or strand not in ("plus", "both"):
        raise UsageError(f"strand {strand!r} is none of plus, both")
    if strand == "both" and not alphabet.has_strands:
        raise InputError(
            f"both strands were asked for, but {alphabet.name}s have one: leave {named('strand')} both out"
        )
    if package.states.n_states <= 4 and not scoring.whole_read:
        return devices
    clusters = [name for name in devices if is_cluster(name)]
    if any(name not in ("auto", "cpu", *clusters) for name in devices):  # there are no kernels for these
        what = "whole reads" if scoring.whole_read else f"{alphabet.name}s"
        raise UsageError(f"{what} are placed by the processor only: leave {named('device')} out")
    return ["cpu", *clusters]
