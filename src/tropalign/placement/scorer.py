"""Scores of reads against all branches, on the CPU or a GPU, and the best branches."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import Gpu
from tropalign.devices.registry import DeviceCache, is_cluster
from tropalign.errors import DeviceError, InputError, ScoringError, UsageError, named
from tropalign.execution.task import Progress
from tropalign.placement.reference import ReferencePackage
from tropalign.placement.scoring import SCHEMES, PlacementScoring, StrandName
from tropalign.ragged import offsets_of
from tropalign.sequences import NUCLEOTIDE

#: State set of each letter of a read.
Sets = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of some reads.

    `values`: int32, shape (n_reads, n_distinct), scores against the distinct vectors; with pruning the lowest
    int32 for vectors that are surely not among the best. `windows`: int32, shape (n_reads, 2), start and end of
    the columns (of those that take part) of the best alignments with the best vector, the first of several.
    `strands`: int8, shape (n_reads,), 1 for scores of the opposite strand, else 0.
    """

    values: NDArray[np.int32]
    windows: NDArray[np.int32]
    strands: NDArray[np.int8]

    def better(self, other: Scores) -> Scores:
        """Return for each read the scores of the opposite strand if its best score is higher."""
        wins = other.values.max(axis=1) > self.values.max(axis=1)
        values = np.where(wins[:, None], other.values, self.values)
        return Scores(values, np.where(wins[:, None], other.windows, self.windows), wins.astype(np.int8))


class Scorer:
    """Scoring of reads, set up once for all blocks.

    `n_best`: how many of the best scores must be exact; 0 for all of them.
    """

    def __init__(self, package: ReferencePackage, scoring: PlacementScoring, n_best: int) -> None:
        self.package, self.numbers, self.n_best = package, scoring.numbers(), n_best
        self.cells = 0
        self._lock = threading.Lock()
        self._on_devices = DeviceCache()
        self._by_vector = np.argsort(package.distinct, kind="stable")  # branches, ordered by vector
        self._begin = offsets_of(package.multiplicity)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def word_bits(self, n_letters: int) -> int:
        """Return the bits that hold every score of a read of that length; raises ScoringError above 32 bits."""
        try:
            return _native.place_word_bits(self.numbers, n_letters, len(self.package.columns))
        except ValueError:
            raise ScoringError(
                f"scores of reads of {n_letters} residues may exceed 32 bits: divide all scores and costs by a "
                "common factor"
            ) from None

    def on_cpu(self, texts: list[Sets], others: list[Sets], n_threads: int, progress: Progress | None) -> Scores:
        """Score reads with equal word width.

        `others`: empty, or the opposite strand of each read: then the scores are those of the better one, in a tie
        the read's own.
        """
        package, word_bits = self.package, self.word_bits(max(map(len, texts)))
        can_prune = self.n_best and word_bits <= 16 and _native.can_prune(self.numbers)
        if others and not can_prune:
            one = self.on_cpu(texts, [], n_threads, progress)
            return one.better(self.on_cpu(others, [], n_threads, _at_end(progress, len(texts))))
        reference = (package.planes, package.n_distinct, package.n_empty, self.numbers)
        bounds = package.bounds if can_prune else None
        scores, windows, strands, cells = _native.place_scores(
            *reference,
            *encoded([*texts, *others]),
            word_bits,
            bounds,
            self.n_best,
            1 + bool(others),
            n_threads,
            progress,
        )
        with self._lock:
            self.cells += cells
        return Scores(scores[:, : package.n_distinct], windows, strands)

    def on_gpu(self, texts: list[Sets], others: list[Sets], device: Gpu, progress: Progress | None) -> Scores:
        """Score reads against all branches on a GPU."""
        from tropalign.placement.gpu import ScoresOnGpu

        on_device = self._on_devices.get(
            device, "scores", lambda: ScoresOnGpu(device, self.package.vectors(), self.numbers)
        )
        codes = np.concatenate(texts).astype(np.uint8)
        offsets = offsets_of([len(text) for text in texts])
        scores = on_device.scores(codes, offsets, progress)
        with self._lock:
            self.cells += len(codes) * self.package.n_distinct * len(self.package.columns)
        windows = np.tile(np.array([0, len(self.package.columns)], np.int32), (len(texts), 1))
        found = Scores(scores, windows, np.zeros(len(texts), np.int8))
        return found.better(self.on_gpu(others, [], device, _at_end(progress, len(texts)))) if others else found

    def best(self, scores: Scores) -> Best:
        """Return the best branches of the scored reads."""
        n = len(scores.values)
        score, second = np.zeros(n, np.int32), np.zeros(n, np.int32)
        row, ties = np.zeros(n, np.int64), np.zeros(n, np.int64)
        tied: list[NDArray[np.int64]] = []
        for k, values in enumerate(scores.values):
            row[k] = values.argmax()
            score[k] = values[row[k]]
            rows = np.flatnonzero(values == score[k])
            ties[k] = self.package.multiplicity[rows].sum()
            following = score[k] if ties[k] > 1 else values[values < score[k]].max(initial=NOT_COMPUTED)
            second[k] = max(following, NOT_COMPUTED + 1)
            branches = [self._by_vector[self._begin[r] : self._begin[r + 1]] for r in rows.tolist()]
            tied.append(np.sort(np.concatenate(branches)))
        return Best(score, second, row, ties, scores.windows, tied, scores.strands)


def encoded(texts: list[Sets]) -> tuple[NDArray[np.uint8], NDArray[np.int64], Sets]:
    """Return reads as codes, their offsets, and the set of states of each code."""
    offsets = offsets_of([len(text) for text in texts])
    table, codes = np.unique(np.concatenate(texts) if texts else np.zeros(0, np.uint32), return_inverse=True)
    return codes.astype(np.uint8), offsets, table.astype(np.uint32)


def _at_end(progress: Progress | None, n_items: int) -> Progress | None:
    """Report all items as started: a second pass over them does not count."""
    return progress and (lambda items: progress(n_items))


#: Number of best scores that must be exact: outputs show the second one.
N_BEST = 2
NOT_COMPUTED = -(2**31)
#: The arrays of `Best`.
_ARRAYS = ("score", "second", "row", "ties", "windows", "strands")


@dataclass(frozen=True, eq=False)
class Best:
    """Per read: the best score, the first vector with it, and further data for outputs.

    `score`, `second`: int32, shape (n,), the best score and the next one (equal if several branches are best).
    `row`: int64, shape (n,), first distinct vector with the best score. `ties`: int64, shape (n,), number of
    branches with the best score. `windows`: int32, shape (n, 2), columns of the best alignments with that vector.
    `tied`: all branches with the best score, ascending. `strands`: int8, shape (n,), 1 if the opposite strand is
    better, else 0.
    """

    score: NDArray[np.int32]
    second: NDArray[np.int32]
    row: NDArray[np.int64]
    ties: NDArray[np.int64]
    windows: NDArray[np.int32]
    tied: list[NDArray[np.int64]]
    strands: NDArray[np.int8]

    def take(self, which: NDArray[np.int64]) -> Best:
        """Return the best branches of the reads with these indices, in that order."""
        arrays = {name: getattr(self, name)[which] for name in _ARRAYS}
        return Best(**arrays, tied=[self.tied[k] for k in which.tolist()])


def joined(parts: list[Best]) -> Best:
    """Concatenate the results of several parts."""
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS}
    return Best(**arrays, tied=[branches for part in parts for branches in part.tied])


def check_mates(package: ReferencePackage) -> None:
    """Raise InputError if sequences have no opposite strand for the second mate."""
    alphabet = package.states.alphabet
    if not alphabet.has_strands:
        raise InputError(
            f"mates lie on opposite strands, but {alphabet.name}s have only one: place the reads without "
            f"{named('mates')}"
        )


def check_place(package: ReferencePackage, scoring: PlacementScoring, strand: str, devices: list[str]) -> list[str]:
    """Return the devices that may score; raises UsageError or InputError if reference and options do not fit."""
    alphabet = package.states.alphabet
    if not isinstance(strand, str) or strand not in get_args(StrandName):
        raise UsageError(f"strand {strand!r} is not one of {', '.join(get_args(StrandName))}")
    if strand != "plus" and not alphabet.has_strands:
        raise InputError(f"{alphabet.name}s have no opposite strand: leave {named('strand')} {strand} out")
    if package.states.n_states <= 4 and not scoring.whole_read:
        return devices
    clusters = [name for name in devices if is_cluster(name)]
    if any(name not in ("auto", "cpu", *clusters) for name in devices):  # GPUs have no kernel for this placement
        what = "whole reads" if scoring.whole_read else f"{alphabet.name}s"
        raise UsageError(f"{what} are placed on the CPU only: leave {named('device')} out")
    return ["cpu", *clusters]


#: Tips (so that branches make two work-groups), columns, and reads of the synthetic reference.
N_TIPS, N_COLUMNS, N_READS = 48, 90, 24


def check_gpu(gpu: Gpu) -> None:
    """Score reads against a small tree, in words of both widths; raises DeviceError if they differ from the CPU's."""
    rng = np.random.default_rng(7)
    package = _reference(rng)
    sets = 1 << rng.integers(0, 4, (N_READS, N_COLUMNS), np.uint32)
    reads = [row[: rng.integers(1, N_COLUMNS)] for row in sets]
    # Multiplied by a thousand, the scores exceed 16 bits.
    for scoring in (SCHEMES["program"], PlacementScoring(2000, 0, -3000, 3000, 1000, 3000, 1000)):
        scorer = Scorer(package, scoring, 0)
        if not np.array_equal(scorer.on_gpu(reads, [], gpu, None).values, scorer.on_cpu(reads, [], 1, None).values):
            raise DeviceError(f"{gpu.name}: its scores of reads differ from those of the CPU")


def _reference(rng: np.random.Generator) -> ReferencePackage:
    """Return a reference whose rows change a little from tip to tip of a comb-like tree."""
    letters = np.frombuffer(b"ACGT-", np.uint8)
    rows = np.empty((N_TIPS, N_COLUMNS), np.uint8)
    rows[0] = rng.choice(letters[:4], N_COLUMNS)
    for k in range(1, N_TIPS):
        rows[k] = np.where(rng.random(N_COLUMNS) < 0.1, rng.choice(letters, N_COLUMNS), rows[k - 1])
    tree = "t0:0.1"
    for k in range(1, N_TIPS):
        tree = f"({tree},t{k}:0.1):0.1"
    names = tuple(f"t{k}" for k in range(N_TIPS))
    return ReferencePackage.build(names, rows, f"{tree};", alphabet=NUCLEOTIDE, n_threads=1)
