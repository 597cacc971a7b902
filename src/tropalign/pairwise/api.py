"""Pairwise alignment from Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.names import device_names
from tropalign.devices.registry import open_devices
from tropalign.errors import ScoringError
from tropalign.execution.scheduler import Scheduler
from tropalign.pairwise.options import FREE_ENDS, PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.results.alignments import Alignment, AlignmentTable
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.sequences import NUCLEOTIDE, Alphabet, SequenceBatch

#: Gap costs where none are given: NCBI's for BLOSUM62, and 5/-4 with 10 + 1 a residue for nucleotides.
DEFAULT_PROTEIN_GAP = Gap(11, 1)
DEFAULT_NUCLEOTIDE_GAP = Gap(10, 1)


def default_scoring(
    alphabet: Alphabet, matrix: str | SubstitutionMatrix | None, gap: Gap | None
) -> tuple[SubstitutionMatrix, Gap]:
    """The matrix and gap cost to use: BLOSUM62 with 11 + k, or match 5, mismatch -4 with 10 + k, unless given."""
    nucleotide = alphabet is NUCLEOTIDE
    if matrix is None:
        matrix = (
            SubstitutionMatrix.match_mismatch(5, -4, NUCLEOTIDE)
            if nucleotide
            else SubstitutionMatrix.from_name("BLOSUM62")
        )
    elif isinstance(matrix, str):
        matrix = SubstitutionMatrix.load(matrix)
    if gap is None:
        gap = DEFAULT_NUCLEOTIDE_GAP if nucleotide else DEFAULT_PROTEIN_GAP
    if not isinstance(gap, Gap):
        raise ScoringError("the gap cost has to be a Gap(open, extend): a gap of k residues costs open + k * extend")
    return matrix, gap


def align_all(
    queries: SequenceBatch | Iterable[str],
    targets: SequenceBatch | Iterable[str] | None = None,
    *,
    mode: str = "local",
    matrix: str | SubstitutionMatrix | None = None,
    gap: Gap | None = None,
    report: str = "alignment",
    free_ends: Iterable[str] = FREE_ENDS,
    pairs: NDArray[np.int64] | None = None,
    strand: str = "plus",
    top: int | None = None,
    min_score: int | None = None,
    min_identity: float | None = None,
    n_threads: int = 0,
    memory_bytes: int | None = None,
    device: str | Iterable[str] = "auto",
) -> Iterator[AlignmentTable]:
    """Aligns every pair of a set, or every query with every target; tables come as they are ready, in input order.

    Parameters
    ----------
    queries, targets
        Sequences, or strings. Without `targets`: all pairs i < j of `queries`.
    mode : {"local", "global", "semiglobal"}
        Smith and Waterman 1981; Needleman and Wunsch 1970; global with free ends. All with affine gaps (Gotoh 1982).
    matrix
        A SubstitutionMatrix, the name of one, or a file; BLOSUM62, or 5/-4 for nucleotides, by default.
    gap
        A gap of k residues costs ``gap.open + k * gap.extend``; Gap(11, 1), for nucleotides Gap(10, 1), by default.
    report : {"score", "ends", "alignment"}
        How much is computed.
    free_ends
        Of "query-start", "query-end", "target-start", "target-end": where residues of that sequence hang over at no
        cost in semiglobal mode.
    pairs : int64, shape (n, 2), optional
        Only these (query index, target index).
    strand, top, min_score, min_identity
        See PairOptions.
    n_threads
        0: as many as the process may use.
    memory_bytes
        What may be taken beside the sequences; a share of the free memory by default.
    device
        What computes, one or several of "cpu", "cuda:0", "opencl:0.0" ...; "auto": the processor, and with it the GPUs
        if the job is large. The result does not depend on it.

    Yields
    ------
    AlignmentTable

    Raises
    ------
    InputError, ScoringError, ResourceError, DeviceError
    """
    batch = queries if isinstance(queries, SequenceBatch) else SequenceBatch.from_strings(queries)
    others = targets if targets is None or isinstance(targets, SequenceBatch) else SequenceBatch.from_strings(targets)
    matrix, gap = default_scoring(batch.alphabet, matrix, gap)
    options = PairOptions(matrix, gap, mode, report, frozenset(free_ends), strand, top, min_score, min_identity)
    task = PairsTask(batch, others, options, pairs, memory_bytes)
    names = device_names(device)
    devices = open_devices(names, n_threads, sum(tile.cost_cells for tile in task.tiles()))
    return (result.value for result in Scheduler(devices).run([task]))


def align(
    query: str,
    target: str,
    *,
    mode: str = "global",
    matrix: str | SubstitutionMatrix | None = None,
    gap: Gap | None = None,
    report: str = "alignment",
    free_ends: Iterable[str] = FREE_ENDS,
    strand: str = "plus",
    alphabet: Alphabet | None = None,
) -> Alignment:
    """Aligns two sequences; for many, `align_all` is far faster.

    Parameters are those of `align_all`; `alphabet` is judged by the letters when not given. ``print`` shows the result.
    """
    if alphabet is None and isinstance(matrix, SubstitutionMatrix):
        alphabet = matrix.alphabet
    both = SequenceBatch.from_strings([query, target], ["query", "target"], alphabet)
    pairs = np.array([[0, 1]], np.int64)
    tables = align_all(
        both,
        mode=mode,
        matrix=matrix,
        gap=gap,
        report=report,
        free_ends=free_ends,
        pairs=pairs,
        strand=strand,
        n_threads=1,
    )
    return next(tables).row(0)
