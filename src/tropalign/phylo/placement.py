"""Reads onto the branches of a reference tree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.names import device_names
from tropalign.devices.registry import Device, open_devices
from tropalign.errors import InputError, TropalignWarning, UsageError
from tropalign.execution.queue import run
from tropalign.machine.memory import default_budget, require
from tropalign.machine.threads import resolve_threads
from tropalign.phylo.reads import ReadBlock, blocks_of
from tropalign.phylo.reference import ReferencePackage
from tropalign.phylo.scoring import SCHEMES, PlacementScoring
from tropalign.phylo.task import Scorer, Scores, ScoreTask, encoded
from tropalign.results.placements import JPLACE_BRANCHES, Placements
from tropalign.sequences import NUCLEOTIDE

#: How many best scores have to be right: the second one is told.
BEST = 2
NOT_COMPUTED = -(2**31)


def place(
    package: ReferencePackage,
    reads: Any,
    *,
    scoring: PlacementScoring | str = "program",
    strand: str = "plus",
    prune: bool = True,
    n_threads: int = 0,
    device: str | Iterable[str] = "auto",
    progress: Callable[[int], None] | None = None,
) -> Iterator[Placements]:
    """Aligns each read to the profile of every branch and keeps the best branch; the first of several.

    Parameters
    ----------
    package
        The reference.
    reads
        FASTA or FASTQ files, a SequenceBatch, or pairs of name and text. They are taken block by block.
    scoring
        A PlacementScoring, "program" (PaPaRa 2.5) or "paper" (Alachiotis, Berger and Stamatakis 2012).
    strand : {"plus", "both"}
        Both: the better of a nucleotide read's two strands; plus if they are equal.
    prune
        Leaves out branches that surely score less; the result is the same.
    n_threads
        0: as many as the process may use.
    device
        What scores, one or several of "cpu", "cuda:0", "opencl:0.0" ...; "auto": the processor, and with it the GPUs if
        there is much to do. The result does not depend on it.
    progress
        Called with the number of reads done.

    Yields
    ------
    Placements
        Of each block, in input order.

    Raises
    ------
    InputError
        A file that cannot be read; both strands of proteins; with scores of whole reads one as long as the reference.
    ResourceError
        A read so long that its alignment does not fit the memory.
    UsageError
        A scheme, strand or device that does not exist or does not fit.
    """
    if isinstance(scoring, str):
        if scoring not in SCHEMES:
            raise UsageError(f"the scheme {scoring!r} is none of {', '.join(SCHEMES)}")
        scoring = SCHEMES[scoring]
    if strand not in ("plus", "both"):
        raise UsageError(f"strand {strand!r} is none of plus, both")
    if strand == "both" and package.states.alphabet is not NUCLEOTIDE:
        raise InputError("both strands were asked for, but proteins have one: leave --strand both out")
    names = device_names(device)
    if scoring.whole_read or package.states.alphabet is not NUCLEOTIDE:  # there are no kernels for these
        if any(name not in ("auto", "cpu") for name in names):
            what = "whole reads" if scoring.whole_read else "proteins"
            raise UsageError(f"{what} are placed by the processor only: leave --device out")
        names = ["cpu"]
    scorer = Scorer(package, scoring, BEST if prune else 0)
    placer = _Placer(scorer, scoring, strand == "both", names, resolve_threads(n_threads))
    return placer.run(blocks_of(reads, package.names), progress)


@dataclass(frozen=True, eq=False)
class _Best:
    """Of each read: the best score, the first vector that has it, the next score, ties, where the alignments with that
    vector lie, and the first tied branches."""

    score: NDArray[np.int32]
    row: NDArray[np.int64]
    second: NDArray[np.int32]
    ties: NDArray[np.int64]
    windows: NDArray[np.int32]
    tied: list[NDArray[np.int64]]


class _Placer:
    """One run."""

    def __init__(
        self, scorer: Scorer, scoring: PlacementScoring, both_strands: bool, device_names: list[str], n_threads: int
    ) -> None:
        self.scorer, self.package, self.scoring = scorer, scorer.package, scoring
        self.both_strands, self.n_threads = both_strands, n_threads
        self._device_names = device_names
        self._devices: list[Device] | None = None  # opened when it is known how much there is to do
        self._warned = False
        self._path_bytes = default_budget() // n_threads
        package = scorer.package
        self._order = np.argsort(package.distinct, kind="stable")  # branches by vector
        self._begin = np.concatenate([[0], np.cumsum(package.multiplicity)])

    def run(self, blocks: Iterator[ReadBlock], progress: Callable[[int], None] | None) -> Iterator[Placements]:
        done = 0
        for block in blocks:
            self._warn_of_unknown(block)
            told = None if progress is None else _after(progress, done)
            yield self._place(block, told)
            done += len(block.names)
            if progress:
                progress(done)

    def _warn_of_unknown(self, block: ReadBlock) -> None:
        unknown = ~self.package.states.known[block.letters]
        if unknown.any() and not self._warned:
            self._warned = True
            at = int(np.flatnonzero(unknown)[0])
            k = int(np.searchsorted(block.offsets, at, "right")) - 1
            alphabet = self.package.states.alphabet
            warnings.warn(
                f"read {block.names[k]!r}: {chr(block.letters[at])!r} is no {alphabet.name} letter; "
                f"such letters are read as {alphabet.wildcard}",
                TropalignWarning,
                stacklevel=4,
            )

    def _place(self, block: ReadBlock, told: Callable[[int], None] | None) -> Placements:
        states = self.package.states
        sets, letters = block.sets(states), block.letters
        usable = np.add.reduceat(
            np.concatenate([sets != states.all_states, [False]]).astype(np.int64),
            np.minimum(block.offsets[:-1], len(sets)),
        )
        usable = np.where(np.diff(block.offsets) > 0, usable, 0) > 0
        chosen = np.flatnonzero(usable)
        self._check_lengths(block, chosen)
        best = self._best(sets, block.offsets, chosen, told)
        strand = np.ones(len(block.names), np.int8)
        if self.both_strands:
            other_letters, other_sets = block.reverse_complement(states)
            other = self._best(other_sets, block.offsets, chosen, told)
            better = other.score > best.score
            best = _merged(best, other, better)
            strand[chosen[better]] = -1
            turned = np.repeat(strand < 0, np.diff(block.offsets))
            sets, letters = np.where(turned, other_sets, sets), np.where(turned, other_letters, letters)
        self._check_memory(block, chosen, best)
        column = self._paths(sets, block.offsets, chosen, best)
        return _assembled(block, letters, chosen, best, strand, column, self.package)

    def _check_lengths(self, block: ReadBlock, chosen: NDArray[np.int64]) -> None:
        if not self.scoring.whole_read:
            return
        lengths, n_columns = np.diff(block.offsets), len(self.package.columns)
        for k in chosen[lengths[chosen] >= n_columns]:
            raise InputError(
                f"its {lengths[k]} letters do not fit the {n_columns} columns of the reference, as the scheme wants",
                record=block.names[k],
            )

    def _check_memory(self, block: ReadBlock, chosen: NDArray[np.int64], best: _Best) -> None:
        """The way back takes a byte a cell, of one read a thread."""
        cells = np.diff(block.offsets)[chosen] * np.diff(best.windows, axis=1)[:, 0].astype(np.int64)
        if len(cells) and int(cells.max()) > self._path_bytes:
            k = int(chosen[cells.argmax()])
            what = f"the alignment of read {block.names[k]!r}, of {int(np.diff(block.offsets)[k])} letters,"
            require(int(cells.max()), self._path_bytes, what, "leave this read out, or use fewer threads")

    def _best(
        self, sets: NDArray[np.uint32], offsets: NDArray[np.int64], chosen: NDArray[np.int64], told: Any
    ) -> _Best:
        """Of the chosen reads; equal ones are scored once."""
        place: dict[bytes, int] = {}
        texts = [sets[offsets[k] : offsets[k + 1]] for k in chosen.tolist()]
        which = np.array([place.setdefault(text.tobytes(), len(place)) for text in texts], np.int64)
        first = np.unique(which, return_index=True)[1]
        distinct = [texts[k] for k in first.tolist()]
        score, row = np.zeros(len(distinct), np.int32), np.zeros(len(distinct), np.int64)
        second, ties = np.zeros(len(distinct), np.int32), np.zeros(len(distinct), np.int64)
        tied: list[Any] = [None] * len(distinct)
        windows = np.zeros((len(distinct), 2), np.int32)
        for some, scores in self._scores(distinct, told):
            windows[some] = scores.windows
            for k, of_read in zip(some, scores.values, strict=True):
                score[k], row[k], second[k], ties[k], tied[k] = self._summary(of_read)
        all_tied = [tied[k] for k in which.tolist()]
        return _Best(score[which], row[which], second[which], ties[which], windows[which], all_tied)

    def _scores(self, texts: list[NDArray[np.uint32]], told: Any) -> Iterator[tuple[list[int], Scores]]:
        """Scores against the distinct vectors, of some reads at a time."""
        order = sorted(range(len(texts)), key=lambda k: self.scorer.word_bits(len(texts[k])))
        task = ScoreTask(self.scorer, [texts[k] for k in order])
        if self._devices is None:
            cost_cells = sum(tile.cost_cells for tile in task.tiles())
            self._devices = open_devices(self._device_names, self.n_threads, cost_cells)
        for tile, scores in run(task, devices=self._devices, progress=told):
            begin, end = tile.payload
            yield order[begin:end], scores

    def _summary(self, scores: NDArray[np.int32]) -> tuple[int, int, int, int, NDArray[np.int64]]:
        row = int(scores.argmax())
        best = int(scores[row])
        rows = np.flatnonzero(scores == best)
        ties = int(self.package.multiplicity[rows].sum())
        second = best if ties > 1 else int(scores[scores < best].max(initial=NOT_COMPUTED))
        branches = np.concatenate([self._order[self._begin[r] : self._begin[r + 1]] for r in rows.tolist()])
        return best, row, max(second, NOT_COMPUTED + 1), ties, np.sort(branches)[:JPLACE_BRANCHES]

    def _paths(
        self, sets: NDArray[np.uint32], offsets: NDArray[np.int64], chosen: NDArray[np.int64], best: _Best
    ) -> NDArray[np.int32]:
        """Columns (of the whole alignment) of all letters; -1 of reads that were not chosen."""
        from tropalign import _native

        column = np.full(len(sets), -1, np.int32)
        if not len(chosen):
            return column
        lengths = np.diff(offsets)[chosen]
        at = np.repeat(offsets[chosen] - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
        codes, own, table = encoded([sets[offsets[k] : offsets[k + 1]] for k in chosen.tolist()])
        package = self.package
        reference = (package.planes, package.n_distinct, package.n_empty)
        where = (best.row, best.windows, self.n_threads)
        found, _ = _native.place_paths(*reference, self.scoring.numbers(), codes, own, table, *where)
        column[at] = np.where(found >= 0, package.columns[np.maximum(found, 0)], -1)
        return column


def _after(progress: Callable[[int], None], before: int) -> Callable[[int], None]:
    """Tells what is done in all."""
    return lambda done: progress(before + done)


def _merged(best: _Best, other: _Best, better: NDArray[np.bool_]) -> _Best:
    tied = [theirs if wins else own for own, theirs, wins in zip(best.tied, other.tied, better.tolist(), strict=True)]
    names = ("score", "row", "second", "ties")
    arrays = {name: np.where(better, getattr(other, name), getattr(best, name)) for name in names}
    return _Best(**arrays, windows=np.where(better[:, None], other.windows, best.windows), tied=tied)


def _assembled(
    block: ReadBlock,
    letters: NDArray[np.uint8],
    chosen: NDArray[np.int64],
    best: _Best,
    strand: NDArray[np.int8],
    column: NDArray[np.int32],
    package: ReferencePackage,
) -> Placements:
    n = len(block.names)
    branch, ties = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    score, second = np.zeros(n, np.int32), np.zeros(n, np.int32)
    tied = [np.zeros(0, np.int64)] * n
    branch[chosen], ties[chosen] = package.first_branch[best.row], best.ties
    score[chosen], second[chosen] = best.score, best.second
    for k, branches in zip(chosen.tolist(), best.tied, strict=True):
        tied[k] = branches
    listed = np.concatenate([np.zeros(0, np.int64), *tied])
    offsets = np.concatenate([[0], np.cumsum([len(branches) for branches in tied])]).astype(np.int64)
    return Placements(block.names, letters, block.offsets, branch, score, second, ties, strand, listed, offsets, column)
