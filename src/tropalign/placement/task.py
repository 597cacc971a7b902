"""Placement as a task of tiles: the reads of a tile, and how they are placed.

    reads --survey--> outline of tiles;  blocks of reads --> state sets --> scores of branches --> best ones --> columns

1. `ReferencePackage.read` has read alignment and tree and computed a vector per branch; equal vectors are stored once.
2. `survey` reads the reads once, for lengths and a hash, so that the task knows its tiles in advance, as required for
   shards and resuming. Reads from a stream have no outline.
3. Blocks of reads are regrouped to the outline's spans. Letters become state sets; equal reads are placed once, as far
   as `KnownReads` has room.
4. `Scorer` scores reads against all branches, a lane per branch: bounds first, then the branches that they leave. With
   both strands the scores are those of the better one.
5. `Scorer.best` chooses branches, and native code traces chosen reads back, to a column per base: `Placements`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native, ragged
from tropalign.arrays import distinct
from tropalign.errors import InputError, TropalignWarning, named
from tropalign.execution.task import CostList, Progress, Tile, cuts, share
from tropalign.placement.reads import (
    BETWEEN,
    N_BASES,
    KnownRead,
    KnownReads,
    Mates,
    OtherStrand,
    Reads,
    are_usable,
    best_of,
    key_of,
    known_of,
    merged,
    part,
    regrouped,
    sums,
)
from tropalign.placement.reference import ReferencePackage
from tropalign.placement.scorer import Best, Scorer, Scores, Sets, encoded, joined
from tropalign.resources.limits import environment_number, require
from tropalign.results.placements import Placements, concatenate
from tropalign.sequences.alphabet import reverse_complement
from tropalign.sequences.kinds import Evidence, Kind

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu
    from tropalign.execution.manifest import Shard
    from tropalign.placement.scoring import PlacementScoring
    from tropalign.sequences.reader import SequenceBlock, Survey

Index = NDArray[np.int64]
#: Function that scores texts; if the second list holds their opposite strands, the better strand of each.
Engine = Callable[[list[Sets], list[Sets], "Progress | None"], Scores]

#: Limits of a tile: scores (reads by distinct branches, 4 bytes each), cost (some seconds of one core), reads.
TILE_SCORES = 1_000_000
TILE_CELLS = 60_000_000_000
TILE_READS = 4096
#: Bytes of a read's base while its tile is computed and written, and of a read, excluding its bases and scores.
BASE_BYTES, READ_BYTES = 64, 2_000
#: Share of the memory for a tile's reads; the rest is for the traceback (a byte per cell, a read per thread).
READS_SHARE = 0.5
#: Share of the memory for placed reads, which are kept for later equal ones.
KNOWN_SHARE = 0.125
#: Reads in which a larger share of the letters is outside the reference's alphabet are of another kind (in
#: proteins some 35 % are not letters of nucleotides); fewer letters than LEAST_JUDGED are not judged.
MOST_UNKNOWN, LEAST_JUDGED = 0.2, 40


class PlaceTask:
    """Placement of reads on the branches of a reference.

    `blocks` opens the reads, which are read once per call of `tiles`. `n_best`: how many of the best scores must be
    exact (0: all, without pruning). `both_strands`: place the better of a nucleotide read's two strands.
    `adjusts_strand`: place the reverse complements of reads that `OtherStrand` finds. `min_score`: reads with lower
    scores are not placed. `n_threads`: for the traceback of reads that a GPU has scored. `memory_bytes` excludes
    the reference. `found`: lengths and hashes of the reads if known in advance, as shards and resumed runs require.
    `shard`: (i, n), the i-th of n equal shards, from 1. `paired`: each read is two mates, as in
    `tropalign.placement.reads`; every branch is scored (`n_best` must be 0). `n_unusable`: reads without a usable
    letter among those that `tiles` has read.
    """

    def __init__(
        self,
        package: ReferencePackage,
        blocks: Callable[[], Iterable[SequenceBlock]],
        scoring: PlacementScoring,
        *,
        n_best: int,
        both_strands: bool,
        adjusts_strand: bool = False,
        min_score: int | None = None,
        n_threads: int,
        memory_bytes: int,
        found: Survey | None = None,
        shard: Shard | None = None,
        paired: bool = False,
    ) -> None:
        self.package, self.scoring, self.both_strands, self.paired = package, scoring, both_strands, paired
        self.scorer = Scorer(package, scoring, n_best)
        self.adjusts_strand, self.min_score, self.n_threads = adjusts_strand, min_score, n_threads
        self._blocks = blocks
        self._base_cells = package.n_distinct * len(package.columns) * (2 if both_strands else 1)
        kept = int(KNOWN_SHARE * memory_bytes)
        self._memory_bytes, self._known = memory_bytes - kept, KnownReads(kept)
        self._is_warned = False
        self.n_unusable = 0
        self._spans = None if found is None else self._cut(found, shard)

    def __getstate__(self) -> dict[str, Any]:
        only_for_tiles = ("_blocks", "_spans")
        return {name: value for name, value in vars(self).items() if name not in only_for_tiles}

    def cost_cells(self, n_letters: int) -> int:
        """Return the cells of this number of letters."""
        return n_letters * self._base_cells

    def _most_reads(self) -> int:
        """Return the maximum number of reads of a tile."""
        most = TILE_READS
        if "TROPALIGN_TILE_READS" in os.environ:
            most = environment_number("TROPALIGN_TILE_READS", os.environ["TROPALIGN_TILE_READS"])
        by_memory = int(READS_SHARE * self._memory_bytes / self._tile_bytes(1))
        return max(1, min(most, TILE_SCORES // (self.package.n_distinct * self._rows_per_read()), by_memory))

    def _rows_per_read(self) -> int:
        """Return the rows of scores per read: a pair has one per mate and one for the sum, on either strand."""
        return 3 * (1 + self.both_strands) if self.paired else 1

    def _cut(self, found: Survey, shard: Shard | None) -> list[tuple[int, int, int]]:
        """Return start and end of each tile, in reads, and its cost."""
        # A read without letters also has a cost; otherwise many of them would be one tile.
        costs = found.lengths.astype(np.float64) + 1
        begin, end = share(CostList(costs), shard)
        letters = CostList(costs.copy())
        if not self.paired:  # repeats of an earlier read in this shard cost as little as an empty read
            is_repeat = np.ones(end - begin, bool)
            is_repeat[np.unique(found.hashes[begin:end], return_index=True)[1]] = False
            costs[begin:end][is_repeat] = 1
        order = CostList(costs * self._base_cells)
        by_cost = cuts(order, begin, end, self._most_reads(), TILE_CELLS)
        most_letters = READS_SHARE * self._memory_bytes / BASE_BYTES
        parts = (cuts(letters, a, b, b - a, most_letters)[1:] for a, b in pairwise(by_cost))
        bounds = [begin, *(cut for part in parts for cut in part)]
        before = [order.cost_before(k) for k in bounds]
        return [(a, b, int(y - x)) for (a, b), (x, y) in zip(pairwise(bounds), pairwise(before), strict=True)]

    def outline(self) -> list[Tile] | None:
        """Return the tiles without their reads, or None if the lengths of the reads are not known in advance."""
        if self._spans is None:
            return None
        return [Tile(k, cells, self._tile_bytes(b - a), b - a, None) for k, (a, b, cells) in enumerate(self._spans)]

    def _tile_bytes(self, n_reads: int) -> int:
        return (4 * self.package.n_distinct * self._rows_per_read() + READ_BYTES) * n_reads

    def tiles(self) -> Iterator[Tile]:
        """Yield runs of neighbouring reads, as the reads come in."""
        states, self.n_unusable, n_reads = self.package.states, 0, 0
        other_strand = None
        if states.alphabet.has_strands and states.n_states == N_BASES and not self.both_strands:
            other_strand = OtherStrand(self.package.letters, states.alphabet, self.paired, self.adjusts_strand)
        spans = None if self._spans is None else iter([(a, b) for a, b, _ in self._spans])
        for index, reads in enumerate(regrouped(map(self._checked, self._blocks()), spans, self._most_reads())):
            self._warn_of_unknown(reads)
            self.n_unusable += len(reads.names) - int(
                are_usable(states.sets[reads.letters], reads.offsets, states).sum()
            )
            cells = self.cost_cells(len(reads.letters)) if self._spans is None else self._spans[index][2]
            n_reads += len(reads.names)
            if other_strand is not None:
                reads = other_strand.add(reads)
            yield self._tile(index, reads, cells)
        if other_strand is not None:
            other_strand.tell(n_reads)

    def _tile(self, index: int, reads: Reads, cells: int) -> Tile:
        return Tile(index, cells, self._tile_bytes(len(reads.names)), len(reads.names), reads)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Placements:
        """Place the tile's reads."""

        def engine(texts: list[Sets], others: list[Sets], progress: Progress | None) -> Scores:
            return self.scorer.on_cpu(texts, others, n_threads, progress)

        return self._place(tile.payload, engine, n_threads, progress)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> Placements:
        """Place the tile's reads by the scores of a GPU."""

        def engine(texts: list[Sets], others: list[Sets], progress: Progress | None) -> Scores:
            return self.scorer.on_gpu(texts, others, device, progress)

        return self._place(tile.payload, engine, self.n_threads, progress)

    def split(self, tile: Tile) -> list[Tile]:
        """Return two tiles of half the reads each; an empty list for a single read."""
        n = len(tile.payload.names)
        if n < 2:
            return []
        halves = (part(tile.payload, a, b) for a, b in ((0, n // 2), (n // 2, n)))
        return [self._tile(tile.index, half, tile.cost_cells // 2) for half in halves]

    def join(self, tile: Tile, results: list[Placements]) -> Placements:
        """Concatenate the results of split tiles."""
        return concatenate(results)

    def _checked(self, block: SequenceBlock) -> SequenceBlock:
        """Return the block; raises InputError for proteins with a reference of nucleotides, and vice versa."""
        alphabet, evidence = self.package.states.alphabet, Evidence()
        if not alphabet.judged:
            return block
        evidence.add(block.names, block.letters, block.offsets, block.counts)
        wrong = Kind.PROTEIN if alphabet.has_strands else Kind.NUCLEOTIDE
        if wrong in evidence.certain:
            raise InputError(
                f"according to its letters, the read is a {wrong.name.lower()} sequence, but the reference holds "
                f"{alphabet.name} sequences: give reads of the same kind, or another reference",
                file=block.file,
                record=evidence.certain[wrong][0],
            )
        return block

    def _warn_of_unknown(self, block: Reads) -> None:
        states = self.package.states
        unknown = ~states.known[block.letters] & (block.letters != BETWEEN)
        if self._is_warned or not unknown.any():
            return
        self._is_warned = True
        if len(unknown) >= LEAST_JUDGED and unknown.mean() > MOST_UNKNOWN:
            raise InputError(
                f"{unknown.mean():.0%} of the reads' letters are not {states.alphabet.name} letters, as in the "
                f"reference: give reads of the same kind, or another reference"
            )
        at = int(np.flatnonzero(unknown)[0])
        k = int(np.searchsorted(block.offsets, at, "right")) - 1
        warnings.warn(
            f"read {block.names[k]!r}: {chr(block.letters[at])!r} is not a {states.alphabet.name} letter; such "
            f"letters are read as {states.alphabet.wildcard}",
            TropalignWarning,
            stacklevel=4,
        )

    def _place(self, block: Reads, engine: Engine, n_threads: int, progress: Progress | None) -> Placements:
        if self.paired:
            return self._place_pairs(block, engine, n_threads, progress)
        states = self.package.states
        sets, letters = states.sets[block.letters], block.letters
        chosen = np.flatnonzero(are_usable(sets, block.offsets, states))
        self._check_lengths(block, chosen)
        other_letters = reverse_complement(letters, block.offsets, states.alphabet) if self.both_strands else None
        other_sets = None if other_letters is None else states.sets[other_letters]
        found = self._placed(block, chosen, sets, other_sets, engine, n_threads, progress)
        best = best_of(found)
        strand, column = np.ones(len(block.names), np.int8), np.full(len(letters), -1, np.int32)
        strand[chosen[best.strands > 0]] = -1
        if other_letters is not None:
            letters = np.where(np.repeat(strand < 0, np.diff(block.offsets)), other_letters, letters)
        for k, read in zip(chosen.tolist(), found, strict=True):
            column[block.offsets[k] : block.offsets[k + 1]] = read.column
        return self._assembled(block, letters, chosen, best, strand, column)

    def _placed(
        self,
        block: Reads,
        chosen: Index,
        sets: Sets,
        other_sets: Sets | None,
        engine: Engine,
        n_threads: int,
        progress: Progress | None,
    ) -> list[KnownRead]:
        """Place the chosen reads, by the sets of all letters (`other_sets`: on the other strand); equal reads once."""
        spans = {k: slice(int(block.offsets[k]), int(block.offsets[k + 1])) for k in chosen.tolist()}
        keys = [key_of(sets[span]) for span in spans.values()]
        known: dict[bytes, KnownRead] = {}
        new: dict[bytes, int] = {}
        for k, key in zip(spans, keys, strict=True):
            if key in known or key in new:
                continue
            if (read := self._known.get(key)) is not None:
                known[key] = read
            else:
                new[key] = k
        if new:
            own = [sets[spans[k]] for k in new.values()]
            others = [] if other_sets is None else [other_sets[spans[k]] for k in new.values()]
            best = self._best(own, others, engine, progress)
            self._check_memory(block, np.array(list(new.values())), best, n_threads)
            of_strand = [others[k] if other else own[k] for k, other in enumerate(best.strands.tolist())]
            offsets = ragged.offsets_of([len(text) for text in own])
            columns = self._paths(np.concatenate(of_strand), offsets, np.arange(len(own)), best, n_threads)
            of_new = dict(zip(new, known_of(best, columns, offsets), strict=True))
            self._known.keep(of_new)
            known |= of_new
        return [known[key] for key in keys]

    def _place_pairs(self, block: Reads, engine: Engine, n_threads: int, progress: Progress | None) -> Placements:
        states, n = self.package.states, len(block.names)
        mates = Mates.of(block.letters, block.offsets, states)
        of_mates = Reads(tuple(name for name in block.names for _ in (1, 2)), mates.own, mates.offsets)
        self._check_lengths(of_mates, np.flatnonzero(mates.is_usable))
        chosen = np.flatnonzero(mates.is_usable.reshape(n, 2).any(axis=1))
        if not len(chosen):
            scores = Scores(np.zeros((0, 1), np.int32), np.zeros((0, 2), np.int32), np.zeros(0, np.int8))
        else:
            n_columns, score = len(self.package.columns), partial(self._all_scores, engine=engine)
            scores = sums(mates, chosen, states, self.both_strands, n_columns, score)
        best, strand = self.scorer.best(scores), np.ones(n, np.int8)
        strand[chosen[best.strands > 0]] = -1
        letters = mates.turned(strand)
        pair_of = np.full(n, -1, np.int64)
        pair_of[chosen] = np.arange(len(chosen))
        usable = np.flatnonzero(mates.is_usable)
        of_usable = best.take(pair_of[usable // 2])
        self._check_memory(of_mates, usable, of_usable, n_threads)
        column = self._paths(states.sets[letters], mates.offsets, usable, of_usable, n_threads)
        spans = [slice(a, b) for a, b in pairwise(mates.offsets.tolist())]
        sides = [(letters[span], column[span]) for span in spans]
        rows = [merged(one, other, states) for one, other in zip(sides[::2], sides[1::2], strict=True)]
        offsets = ragged.offsets_of([len(row) for row, _ in rows])
        whole = Reads(
            block.names, np.concatenate([np.zeros(0, np.uint8), *(row for row, _ in rows)]), offsets, block.is_turned
        )
        columns = np.concatenate([np.zeros(0, np.int32), *(at for _, at in rows)])
        if progress is not None:
            progress(n)
        return self._assembled(whole, whole.letters, chosen, best, strand, columns)

    def _by_width(self, texts: list[Sets]) -> list[Index]:
        """Return indices of texts whose words are equally wide, and which therefore are scored together."""
        bits = np.array([self.scorer.word_bits(len(text)) for text in texts], np.int64)
        return [np.flatnonzero(bits == width) for width in distinct(bits).tolist()]

    def _all_scores(self, texts: list[Sets], engine: Engine) -> NDArray[np.int32]:
        """Return the scores of texts against all distinct vectors."""
        values = np.zeros((len(texts), self.package.n_distinct), np.int32)
        for taken in self._by_width(texts):
            values[taken] = engine([texts[k] for k in taken.tolist()], [], None).values[:, : self.package.n_distinct]
        return values

    def _check_lengths(self, block: Reads, chosen: Index) -> None:
        if not self.scoring.whole_read:
            return
        lengths, n_columns = np.diff(block.offsets), len(self.package.columns)
        for k in chosen[lengths[chosen] >= n_columns]:
            raise InputError(
                f"the scheme aligns whole reads, but {lengths[k]} residues do not fit the {n_columns} columns of "
                f"the reference: leave the read out",
                record=block.names[k],
            )

    def _check_memory(self, block: Reads, chosen: Index, best: Best, n_threads: int) -> None:
        """Raise ResourceError if the traceback needs too much memory: a byte per cell, of one read per thread."""
        cells = np.diff(block.offsets)[chosen] * np.diff(best.windows, axis=1)[:, 0].astype(np.int64)
        allowed = int((1 - READS_SHARE) * self._memory_bytes) // n_threads
        if len(cells) and int(cells.max()) > allowed:
            k = int(chosen[cells.argmax()])
            what = f"the alignment of read {block.names[k]!r}, of {int(np.diff(block.offsets)[k])} residues,"
            require(
                int(cells.max()),
                allowed,
                what,
                f"leave this read out, use fewer threads or allow more with {named('memory_bytes')}",
            )

    def _best(self, texts: list[Sets], others: list[Sets], engine: Engine, progress: Progress | None) -> Best:
        """Return the best branches of different reads; there is at least one read."""
        groups, parts, done = self._by_width(texts), list[Best](), 0
        for taken in groups:
            of_width, turned = ([side[k] for k in taken.tolist()] if side else [] for side in (texts, others))
            parts.append(self.scorer.best(engine(of_width, turned, progress and partial(_after, progress, done))))
            done += len(taken)
        return joined(parts).take(np.argsort(np.concatenate(groups)))

    def _paths(self, sets: Sets, offsets: Index, chosen: Index, best: Best, n_threads: int) -> NDArray[np.int32]:
        """Return the columns (of the whole alignment) of all letters; -1 for reads that were not chosen."""
        column = np.full(len(sets), -1, np.int32)
        if not len(chosen):
            return column
        at = ragged.chosen(offsets, chosen)[1]
        codes, own, table = encoded([sets[offsets[k] : offsets[k + 1]] for k in chosen.tolist()])
        package = self.package
        reference = (package.planes, package.n_distinct, package.n_empty)
        where = (best.row, best.windows, n_threads)
        found, _ = _native.place_paths(*reference, self.scoring.numbers(), codes, own, table, *where)
        column[at] = np.where(found >= 0, package.columns[np.maximum(found, 0)], -1)
        return column

    def _assembled(
        self,
        block: Reads,
        letters: NDArray[np.uint8],
        chosen: Index,
        best: Best,
        strand: NDArray[np.int8],
        column: NDArray[np.int32],
    ) -> Placements:
        n = len(block.names)
        if block.is_turned is not None:
            strand = np.where(block.is_turned, np.int8(-1), strand)
        branch, ties = np.full(n, -1, np.int64), np.zeros(n, np.int64)
        score, second = np.zeros(n, np.int32), np.zeros(n, np.int32)
        n_tied = np.zeros(n, np.int64)
        branch[chosen], ties[chosen] = self.package.first_branch[best.row], best.ties
        score[chosen], second[chosen] = best.score, best.second
        tied = best.tied
        if self.min_score is not None:
            is_low = best.score < self.min_score
            branch[chosen[is_low]], ties[chosen[is_low]] = -1, 0
            tied = [branches[:0] if low else branches for branches, low in zip(tied, is_low.tolist(), strict=True)]
            column = np.where(np.repeat(branch, np.diff(block.offsets)) < 0, np.int32(-1), column)
        n_tied[chosen] = [len(branches) for branches in tied]
        return Placements(
            names=block.names,
            letters=letters,
            offsets=block.offsets,
            branch=branch,
            score=score,
            second_score=second,
            ties=ties,
            strand=strand,
            tied_branches=np.concatenate([np.zeros(0, np.int64), *tied]),
            tied_offsets=np.concatenate([[0], np.cumsum(n_tied)]).astype(np.int64),
            column=column,
        )


def _after(progress: Progress, before: int, items: int) -> None:
    """Report `items` in addition to those of earlier calls."""
    progress(before + items)
