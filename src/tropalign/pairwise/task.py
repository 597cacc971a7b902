"""Pairs as a task of tiles: which pairs a tile holds, and how it is computed on the CPU or a GPU."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named
from tropalign.execution.manifest import Shard
from tropalign.execution.task import Device, Progress, Tile, cuts, share
from tropalign.pairwise import selection
from tropalign.pairwise.composition import STRETCH, composition_of
from tropalign.pairwise.engines import REPORT_COLUMNS, Engine, Engines, Rows
from tropalign.pairwise.hsps import FurtherAlignments, LinkedAlignments
from tropalign.pairwise.masking import decisive, hard_masked
from tropalign.pairwise.options import PairOptions, checked_pairs
from tropalign.pairwise.plan import PAIR_CELLS, Grid, Listed, PairOrder
from tropalign.pairwise.selection import (
    BestPassing,
    Bounds,
    best_targets,
    namesakes,
    not_culled,
    passes_shares,
    rank,
    selected,
    some,
    some_pairs,
    suits_groups,
)
from tropalign.pairwise.significance import LeastScores, Significance
from tropalign.pairwise.translated import PairFrames, aligned
from tropalign.properties import cached_property
from tropalign.resources.limits import default_budget, require, resolve_threads
from tropalign.resources.numbers import environment_number
from tropalign.results.alignments import AlignmentTable, concatenate
from tropalign.results.gapped import compatible_columns
from tropalign.results.output_columns import default_names
from tropalign.sequences import SequenceBatch
from tropalign.sequences.batch import TAKEN_BYTES
from tropalign.sequences.translation import FRAMES, Frames

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu
    from tropalign.pairwise.gpu_plan import Shape

#: Bytes of a pair while its tile is computed and written, without its path, by depth: indices, columns, short
#: texts.
ROW_BYTES = {"score": 140, "ends": 240, "alignment": 340}
#: Bytes of a path per residue of the shorter sequence, a cautious mean: its operations (twice) and its CIGAR.
PATH_BYTES = 8.0
#: Memory of all alignments of a pair, as a multiple of the first one's: further ones are usually shorter.
MOST_PATHS = 8
#: Cost of a tile in cells, and its most pairs. A kill loses the tiles in progress: a few seconds of work at the 4
#: billion cells per second of a slow core, and a tenth of a second on a large machine.
TILE_CELLS = 15_000_000_000
TILE_PAIRS = 600_000
#: Most bytes of a tile's rows, even if more memory is allowed: 57,000 alignments of 250 residues, half a second of
#: a core, which took 43 MB although 128 MB are budgeted. Tiles four times as large were no faster.
TILE_BYTES = 128 << 20
#: Factor for more candidates of a query if too few have passed: each time all targets are scored.
GROUP_GROWTH = 16
#: Per-sequence overhead in bytes, excluding the batch: lengths, sums, indices.
SEQUENCE_BYTES = 48
#: Share of the remaining memory for a tile's rows; kernels use the rest.
ROWS_SHARE = 0.5
#: Freed memory that native code keeps, as a share of its allowance (kKeptShare in native/pairwise/tile.cpp).
KEPT_SHARE = 0.25
#: Smallest memory allowance of native code.
LEAST_SCRATCH_BYTES = 1 << 20

Index = NDArray[np.int64]


class PairsTask:
    """Alignment of all pairs i < j of a set, of queries against targets, or of listed pairs.

    queries, targets: without targets, all pairs i < j of `queries` (with ``options.top`` all ordered pairs, so
        that each query sees all others). Frames are aligned as proteins; the best frames of each pair of
        nucleotide sequences are kept.
    pairs: int64, shape (n, 2); only these (query index, target index).
    memory_bytes: limit in addition to the sequences; a share of the free memory by default.
    shard: (i, n) for the i-th of n equal shares of the pairs, counted from 1.
    column_bytes: bytes of text per alignment column that are held for a whole tile, in addition to its CIGAR.
    wants_whole_queries: prefer tiles with all pairs of their queries.
    n_threads: threads that mask sequences; 0 for all.
    has_whole_queries: true if each tile has all pairs of its queries, because that is preferred or the best
        targets of each query are chosen. False for shards, which are cut alike for any memory, and if a query has
        more pairs than fit a tile.

    Raises ScoringError if the matrix does not fit the sequences, and ResourceError if the memory does not suffice.
    """

    #: Kernel sizes, if not the usual ones.
    gpu_shape: Shape | None = None

    def __init__(
        self,
        queries: SequenceBatch | Frames,
        targets: SequenceBatch | Frames | None,
        options: PairOptions,
        pairs: Index | None = None,
        memory_bytes: int | None = None,
        shard: Shard | None = None,
        column_bytes: float = 0.0,
        wants_whole_queries: bool = False,
        n_threads: int = 0,
    ) -> None:
        self.options = options
        n_threads = resolve_threads(n_threads)
        queries, targets = hard_masked(queries, targets, options, n_threads)
        self.frames = PairFrames.of(queries, targets)
        queries, targets = aligned(queries), None if targets is None else aligned(targets)
        self.queries = queries
        sides = (queries, queries if targets is None else targets)
        lengths = tuple(batch.lengths for batch in sides) if self.frames is None else self.frames.residues
        self.pairs = None if pairs is None else checked_pairs(pairs, *map(len, lengths))
        self.is_triangle = targets is None and pairs is None and options.top is None
        self.skips_self = targets is None and pairs is None
        self.targets = queries if targets is None else targets
        self.memory_bytes = default_budget() if memory_bytes is None else memory_bytes
        options.matrix.check(queries)
        if self.targets is not queries:
            options.matrix.check(self.targets)
        if self.skips_self and len(queries) < 2:
            raise InputError("the set holds one sequence, which makes no pair: give two or more, or a second file")
        if options.strand == "both" and not queries.alphabet.has_strands:
            name = f"{queries.alphabet.name}s"
            raise InputError(f"both strands were asked for, but {name} have one: leave {named('strand')} both out")
        if options.knows_composition and self.frames is not None:
            raise UsageError(
                f"{named('composition')} {options.composition} goes by the residues of whole sequences, and a frame is "
                f"none: leave it out with {named('translate')}"
            )
        self._reverse = queries.reverse_complement() if options.strand == "both" else None
        # Sequences for decisions, in which softly masked residues are unknown.
        self._decisive = decisive(queries, self._reverse, self.targets, options, n_threads)
        self.significance = Significance.of_run(
            options, self.targets, None if self.frames is None else self.frames.target
        )
        stretch = STRETCH if options.composition == "adjusted" else 1.0
        given = (queries, self.targets) if self.frames is None else self.frames.given(queries, self.targets)
        self._namesakes = namesakes(*given) if options.exclude_self else None
        self._least_scores = LeastScores.of_run(options, queries, self.targets, self.significance, stretch)
        options.check_range(int(max(queries.lengths.max(), self.targets.lengths.max())))
        # With enough targets, the best ones of a query are found without a list of its pairs.
        self._in_groups = options.top is not None and pairs is None and suits_groups(self.targets)
        self._in_groups &= options.whole.is_affine and (self.frames is None or self.frames.target is None)
        self._order = self._ordered(*lengths)
        self._column_bytes = column_bytes
        self._most_pairs, self._scratch_bytes = self._room()
        self.has_whole_queries = shard is None and (wants_whole_queries or options.top is not None)
        self._tiles = self._cut(shard)
        how = (options, self._scratch_bytes)
        self._engines = Engines(queries, self._reverse, self.targets, *how)
        self._scorers = Engines(*self._decisive, *how) if options.is_softly_masked else self._engines
        self._composition = composition_of(self._scorers)
        self._linked = self._linked_alignments()
        self.n_pairs = sum(tile.n_items for tile in self._tiles)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tiles": []}  # a worker gets its tiles one by one

    @property
    def parameters(self) -> dict[str, str]:
        """Parameters for headers and manifests."""
        return self.options.parameters() | ({} if self.frames is None else {"translate": self.frames.words})

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Default columns of tables; None if depth and strands determine them."""
        options, sides = self.options, () if self.frames is None else self.frames.sides
        if not sides and options.max_hsps == 1:
            return None
        has_sums = options.sum_statistics
        return default_names(options.report, options.strand == "both", sides, options.max_hsps > 1, has_sums)

    def fingerprint(self) -> str:
        """Return the SHA-256 of sequences, pairs and parameters, in hexadecimal: equal only if the results are."""
        digest = hashlib.sha256()
        digest.update(self.queries.fingerprint().encode())
        digest.update(b"self" if self.targets is self.queries else self.targets.fingerprint().encode())
        digest.update(self.options.matrix.scores.tobytes())
        digest.update(repr(sorted(self.parameters.items())).encode())
        digest.update(b"" if self.pairs is None else np.ascontiguousarray(self.pairs).tobytes())
        return digest.hexdigest()

    def tiles(self) -> list[Tile]:
        """Return the runs of neighbouring pairs."""
        return self._tiles

    @property
    def n_cells(self) -> int:
        """Cells of all pairs."""
        return sum(tile.cost_cells for tile in self._tiles) - self.n_pairs * self._order.pair_cells

    def _linked_alignments(self) -> LinkedAlignments | None:
        """Return the object that judges sets of alignments, or None without sum statistics."""
        sides = () if self.frames is None else self.frames.sides
        if self.options.max_intron is not None and len(sides) != 1:
            raise UsageError(
                f"{named('max_intron')} is for nucleotides against proteins: add {named('translate')} query or target, "
                "or leave it out"
            )
        if not self.options.sum_statistics:
            return None
        assert self.significance is not None
        return LinkedAlignments(self.options, self.significance, sides)

    def _ordered(self, query_lengths: Index, target_lengths: Index) -> PairOrder:
        if self.pairs is not None:
            return Listed(self.pairs, query_lengths, target_lengths)
        form = "triangle" if self.is_triangle else "no diagonal" if self.skips_self else "all"
        pair_cells = selection.PAIR_CELLS if self._in_groups else PAIR_CELLS
        return Grid(query_lengths, target_lengths, form, pair_cells)

    def _room(self) -> tuple[int, int]:
        """Return the most pairs of a tile, and the memory of native code, within the allowed memory.

        Both depend on the inputs and the limit alone, so that a resumed run is cut in the same way.
        """
        batches = [self.queries, self._reverse, None if self.targets is self.queries else self.targets]
        if self.options.is_softly_masked:
            own, reverse, others = self._decisive
            batches += [own, reverse, None if others is own else others]
        least = least_bytes([batch for batch in batches if batch is not None])
        require(
            least, self.memory_bytes, "this run", f"allow more with {named('memory_bytes')}, or split the sequences"
        )
        left = self.memory_bytes - (least - 2 * LEAST_SCRATCH_BYTES)
        most = TILE_PAIRS
        if "TROPALIGN_TILE_PAIRS" in os.environ:
            most = environment_number("TROPALIGN_TILE_PAIRS", os.environ["TROPALIGN_TILE_PAIRS"])
        most = max(1, min(most, int(min(left * ROWS_SHARE, TILE_BYTES) / self._row_bytes())))
        left -= int(min(most, self._order.n) * self._row_bytes())
        return most, int(left / (1 + KEPT_SHARE))

    def _row_bytes(self) -> float:
        """Return the bytes of a pair's rows."""
        report = self.options.report
        taken = TAKEN_BYTES * float(self.targets.lengths.mean()) if self.targets.is_stored else 0.0
        if report != "alignment":
            return ROW_BYTES[report] + taken
        shorter, longer = sorted(float(batch.lengths.mean()) for batch in (self.queries, self.targets))
        rows, paths = self.options.max_hsps, min(self.options.max_hsps, MOST_PATHS)
        return taken + rows * ROW_BYTES[report] + paths * (PATH_BYTES * shorter + 2 * self._column_bytes * longer)

    def _cut(self, shard: Shard | None) -> list[Tile]:
        order = self._order
        # The best targets of a query are chosen among all its pairs, so these stay in one tile.
        snap = order.query_begin if self.options.top is not None or self.has_whole_queries else int
        begin, end = share(order, shard, snap)
        most, cells = self._most_pairs, TILE_CELLS
        if self._in_groups:
            # The rows that a tile keeps need memory, not those that it examines; each frame of a query keeps its
            # own best.
            kept = min(self.options.top or 1, len(self.targets)) * (1 if self.frames is None else len(FRAMES))
            most, cells = max(most // kept, 1) * len(self.targets), selection.TILE_CELLS
        bounds = cuts(order, begin, end, most, cells, snap)
        if self.has_whole_queries and self.options.top is None and max(np.diff(bounds), default=0) > most:
            self.has_whole_queries = False
            bounds = cuts(order, begin, end, most, cells)
        return [self._tile(k, *span) for k, span in enumerate(pairwise(bounds))]

    def _tile(self, index: int, begin: int, end: int) -> Tile:
        cells = int(self._order.cost_before(end) - self._order.cost_before(begin))
        n_listed = min(end - begin, self._most_pairs) if self.options.top is not None else end - begin
        return Tile(index, cells, int(self._row_bytes() * n_listed), end - begin, (begin, end))

    def pairs_of(self, tile: Tile) -> tuple[Index, Index]:
        """Return query and target indices of a tile's pairs, int64, in order."""
        return self._order.pairs(*tile.payload)

    def query_span(self, tile: Tile) -> tuple[int, int]:
        """Return the first query of a tile that has all targets, and the one after the last."""
        span = self._grid.queries(*tile.payload)
        return span if self.frames is None else self.frames.query_span(*span)

    @property
    def _grid(self) -> Grid:
        """The order of the pairs, if they are not listed."""
        if not isinstance(self._order, Grid):
            raise TypeError("a tile of listed pairs has no span of queries")
        return self._order

    def foretold(self, device: Device, encoded: Callable[[Any], list[bytes]]) -> tuple[float, tuple[float, ...]] | None:
        """Forecast total seconds and output bytes if samples of tiles would be misleading; else return None."""
        if not self._in_groups or device.name != "cpu":
            return None
        from tropalign.pairwise.forecast import foretold

        return foretold(self, device, encoded)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> AlignmentTable:
        """Align the tile on the CPU, in the order of ``pairs_of``, with only the rows that the options keep."""
        scorer, engine = (partial(engines.native, n_threads) for engines in (self._scorers, self._engines))
        if not self._in_groups:
            return self._whole(tile, self._align(tile, scorer, engine, progress, n_threads), n_threads, progress)
        if self._counts_after:
            passing = self._best_passing(tile, engine, progress)
            self._offer_groups(passing, tile, scorer, progress, n_threads)
            return self._whole(tile, passing.table(self._no_rows), n_threads, progress)
        top = self.options.top or len(self.targets)
        report = progress and partial(
            _after, progress, 0, tile.n_items, per_pair=1 if self.frames is None else len(FRAMES)
        )
        rows, score = self._best_of(self._grid.queries(*tile.payload), top, n_threads, report)
        return self._whole(tile, self._kept(tile, rows, score, engine, progress), n_threads, progress)

    def _best_of(
        self, queries: tuple[int, int], top: int, n_threads: int, progress: Progress | None
    ) -> tuple[Rows, NDArray[np.int32]]:
        """Find the best targets of queries [first, last) by score; indices are those of the original sequences."""
        with_self = top if self._namesakes is None else top + 1  # room for the query's namesake
        found = best_targets(
            *self._decisive,
            queries if self.frames is None else self.frames.query_span(*queries),
            self.skips_self,
            with_self,
            self.options,
            self._least_scores,
            n_threads,
            self._scratch_bytes,
            progress,
        )
        if self.frames is not None:
            found = self.frames.best_found(found, with_self)
        if self._namesakes is not None:
            found = self._without_namesakes(found, top)
        strand = None if self._reverse is None else found["strand"]
        return Rows(found["query"], found["target"], self.options.report, strand), found["score"]

    @property
    def _counts_after(self) -> bool:
        """True if the best targets are counted among those that pass identity and coverage."""
        return self.options.top is not None and self.options.asks_shares and not self.options.top_first

    def _best_passing(self, tile: Tile, engine: Engine, progress: Progress | None) -> BestPassing:
        align = partial(self._kept, tile, engine=engine, progress=progress)
        return BestPassing(self.options, align, self._source, self._most_pairs)

    def _source(self, query: Index) -> Index:
        return query if self.frames is None else self.frames.source(query)

    @property
    def _no_rows(self) -> Rows:
        none = np.zeros(0, np.int64)
        return Rows(none, none, self.options.report, None if self._reverse is None else np.zeros(0, np.int8))

    def _offer_groups(
        self, passing: BestPassing, tile: Tile, scorer: Engine, progress: Progress | None, n_threads: int
    ) -> None:
        """Offer the best targets of each query by score, and more of them if too few pass.

        If a query has too many candidates to be held at once, it is scored again, some of its pairs at a time.
        """
        top, before = self.options.top or 1, 0
        wanted, runs, lengths = top, [self._grid.queries(*tile.payload)], (self.queries.lengths, self.targets.lengths)
        while runs:
            step, short = max(1, self._most_pairs // wanted), list[tuple[int, int]]()
            for first, last in ((k, min(k + step, end)) for begin, end in runs for k in range(begin, end, step)):
                if before and wanted > self._most_pairs:
                    passing.forget(first)
                    pairs = self._tile(tile.index, *self._grid.span_of(first))
                    for part in self._scored_parts(pairs, scorer, None, n_threads):
                        passing.add(*part, lengths)
                    continue
                report = progress and partial(_repeated, progress, 0 if not before else tile.n_items)
                rows, score = self._best_of((first, last), wanted, n_threads, report)
                source = self._source(rows.query)
                new = np.flatnonzero(rank(source) >= before)
                passing.add(some(rows, new), score[new], lengths)
                queries = np.arange(first, last)
                n_found = np.bincount(source - first, minlength=len(queries))
                more = queries[(n_found >= wanted) & (passing.count(queries) < top)]
                short += [(int(part[0]), int(part[-1]) + 1) for part in _runs(more)]
            before, wanted, runs = wanted, min(GROUP_GROWTH * wanted, len(self.targets)), short
            if before == wanted:
                break

    def _without_namesakes(self, found: dict[str, Any], top: int) -> dict[str, Any]:
        """Remove each query's namesake from the best targets found, which contain it at most once."""
        assert self._namesakes is not None
        query, target = found["query"], found["target"]
        query = query if self.frames is None else self.frames.source(query)
        other = np.flatnonzero(self._namesakes[query] != target)
        best = other[selected(query[other], found["score"][other], None, top)]
        return {name: values[best] for name, values in found.items()}

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> AlignmentTable:
        """Align the tile's pairs on a GPU."""
        both = (self._scorers, self._engines)
        scorer, engine = (partial(engines.on_gpu, device, self.gpu_shape) for engines in both)
        return self._whole(tile, self._align(tile, scorer, engine, progress, 1), 1, progress)

    def split(self, tile: Tile) -> list[Tile]:
        """Split a tile at about half its cost; [] for one pair, or for one query if its best targets are requested."""
        begin, end = tile.payload
        order = self._order
        middle = order.position_at((order.cost_before(begin) + order.cost_before(end)) / 2)
        middle = min(max(middle, begin + 1), end - 1)
        if self.options.top is not None:
            middle = order.query_begin(middle)
        if not begin < middle < end:
            return []
        return [self._tile(tile.index, begin, middle), self._tile(tile.index, middle, end)]

    def join(self, tile: Tile, results: list[AlignmentTable]) -> AlignmentTable:
        """Concatenate the tables."""
        return concatenate(results)

    def _align(
        self, tile: Tile, scorer: Engine, engine: Engine, progress: Progress | None, n_threads: int
    ) -> AlignmentTable:
        options = self.options
        chooses = options.top is not None or self._least_scores is not None or options.is_softly_masked
        if not chooses and self._reverse is None and self.frames is None:
            first, last = tile.payload
            query, target = self._within_reach(first, last, n_threads)
            return self._table(Rows(query, target, options.report, None), engine, progress)
        if self._counts_after:
            passing = self._best_passing(tile, engine, progress)
            for part in self._scored_parts(tile, scorer, progress, n_threads):
                passing.add(*part, (self.queries.lengths, self.targets.lengths))
            return passing.table(self._no_rows)
        # Scores alone cost a third of an alignment: only rows that will be kept, on their better strand, are
        # aligned.
        return self._kept(tile, *self._scored(tile, scorer, progress, n_threads), engine, progress)

    @cached_property
    def _bounds(self) -> Bounds | None:
        options = self.options
        if (self._least_scores is None and not options.asks_shares) or not self._order.n or self.frames is not None:
            return None
        own, _, others = self._decisive
        return Bounds(own, others, options, self._least_scores, some_pairs(self._order))

    def _within_reach(self, begin: int, end: int, n_threads: int) -> tuple[Index, Index]:
        """Return the indices of the pairs from position `begin` to before `end` that bounds do not exclude."""
        query, target = self._pairs(begin, end)
        return (query, target) if self._bounds is None else self._bounds.within_reach(query, target, n_threads)

    def _pairs(self, begin: int, end: int) -> tuple[Index, Index]:
        """Return the pairs from position `begin` to before `end`, without excluded pairs of one name."""
        query, target = self._order.pairs(begin, end)
        if self._namesakes is None:
            return query, target
        differs = self._namesakes[query] != target
        return query[differs], target[differs]

    def _kept(
        self, tile: Tile, rows: Rows, score: NDArray[np.int32], engine: Engine, progress: Progress | None
    ) -> AlignmentTable:
        """Report the rows that were kept by score."""
        report = progress and partial(_repeated, progress, tile.n_items)
        if self.options.is_softly_masked:  # these scores do not count masked residues, alignments do
            return self._table(rows, engine, report, {"corrected_score": self.options.whole.given(score)})
        if rows.report == "score":
            return self._of_columns(rows, {"score": score})
        return self._table(rows, engine, report)

    def _table(
        self, rows: Rows, engine: Engine, progress: Progress | None, more: Mapping[str, Any] | None = None
    ) -> AlignmentTable:
        """Align the rows, add `more` columns, and filter by identity and coverage."""
        table = self._aligned(rows, engine, progress, more)
        return table.take(passes_shares(table, self.options)) if self.options.asks_shares else table

    def _aligned(
        self, rows: Rows, engine: Engine, progress: Progress | None, more: Mapping[str, Any] | None = None
    ) -> AlignmentTable:
        """Align the rows and add `more` columns; query coordinates count on the original strand."""
        found = engine(rows, progress)
        columns = {name: found[name] for name in REPORT_COLUMNS[rows.report]} | dict(more or {})
        if rows.strand is not None and rows.report != "score":
            minus = rows.strand < 0
            lengths = self.queries.lengths[rows.query[minus]]
            begin, end = columns["query_start"][minus], columns["query_end"][minus]
            columns["query_start"][minus], columns["query_end"][minus] = lengths - end, lengths - begin
        table = self._of_columns(rows, columns)
        if self.options.ambiguous == "match" and rows.report == "alignment":
            return replace(table, n_identical=compatible_columns(table))
        return table

    def _least(self, query: Index, target: Index) -> Index | None:
        """Return the least scores of pairs; None if any score will do."""
        return None if self._least_scores is None else self._least_scores.of(query, target)

    def _judged(self, tile: Tile, table: AlignmentTable, n_threads: int, progress: Progress | None) -> AlignmentTable:
        """Add composition-corrected scores, if requested, and drop rows that fail with them."""
        composition = self._composition
        if composition is None:
            return table
        whole, top = self.options.whole, self.options.top
        before = table.score if table.corrected_score is None else table.corrected_score
        raw = np.rint(before * whole.scale).astype(np.int32)
        report = progress and partial(_repeated, progress, tile.n_items)
        suffices = partial(self._suffices, table)
        rows, scores = composition.judged(_rows_of(table), raw, suffices, n_threads, report)
        if top is not None:  # the best first, as by raw scores
            order = np.lexsort((-scores, table.query_index[rows]))
            rows, scores = rows[order], scores[order]
        return replace(table.take(rows), corrected_score=whole.given(scores))

    def _whole(self, tile: Tile, table: AlignmentTable, n_threads: int, progress: Progress | None) -> AlignmentTable:
        """Judge the table, add further alignments of its pairs and their sums, and remove culled rows."""
        table = self._judged(tile, table, n_threads, progress)
        if self.options.max_hsps > 1:
            report = progress and partial(_repeated, progress, tile.n_items)
            align = partial(self._aligned, engine=partial(self._engines.native, n_threads), progress=report)
            least = self._least if self._linked is None else self._least_of_linked
            further = FurtherAlignments(self.options, least, self._composition, self._suffices, self.frames)
            table = further.added(table, align, n_threads, report)
        if self._linked is not None:
            table = self._linked.added(table)
        return table if self.options.culling is None else table.take(not_culled(table, self.options.culling))

    def _least_of_linked(self, query: Index, target: Index) -> Index:
        """Return the least scores of further alignments if sets of them are judged."""
        assert self._linked is not None
        return self._linked.least(query, target, self._least, (self.queries.lengths, self.targets.lengths))

    def _suffices(self, table: AlignmentTable, rows: Index, scores: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of these rows have sufficient bits and E-value with these whole scores."""
        significance, options, scores = self.significance, self.options, self.options.whole.given(scores)
        assert significance is not None
        is_kept = np.ones(len(rows), bool)
        if options.sought_evalue is not None:
            lengths = self.queries.lengths[table.query_index[rows]], self.targets.lengths[table.target_index[rows]]
            is_kept &= significance.evalues(scores, *lengths) <= options.sought_evalue
        if options.min_bits is not None:
            is_kept &= significance.bits(scores) >= options.min_bits
        return is_kept

    def _of_columns(self, rows: Rows, columns: dict[str, Any]) -> AlignmentTable:
        """Make the table of these rows, with scores in the user's units."""
        columns["score"] = self.options.whole.given(columns["score"])
        batches, places = (self.queries, self.targets), (rows.query, rows.target)
        of_run: dict[str, Any] = {"strand": rows.strand, "significance": self.significance}
        of_run["identity_definition"] = self.options.identity
        if self.frames is not None:
            of_run |= {"query_frames": self.frames.query, "target_frames": self.frames.target}
        return AlignmentTable(*batches, rows.report, *places, **(of_run | columns))

    def _scored(
        self, tile: Tile, engine: Engine, progress: Progress | None, n_threads: int
    ) -> tuple[Rows, NDArray[np.int32]]:
        """Return the pairs that pass by score (the `top` of them), with their better strand, and the scores."""
        kept: list[tuple[Rows, NDArray[np.int32]]] = []
        for part in self._scored_parts(tile, engine, progress, n_threads):
            kept.append(part)
            rows = Rows(
                np.concatenate([rows.query for rows, _ in kept]),
                np.concatenate([rows.target for rows, _ in kept]),
                self.options.report,
                None if self._reverse is None else np.concatenate([rows.strand for rows, _ in kept]),
            )
            score = np.concatenate([score for _, score in kept])
            best = selected(self._source(rows.query), score, None, self.options.top)
            kept = [(some(rows, best), score[best])]
        return kept[0]

    def _scored_parts(
        self, tile: Tile, engine: Engine, progress: Progress | None, n_threads: int
    ) -> Iterator[tuple[Rows, NDArray[np.int32]]]:
        """Yield, in their order, the pairs with sufficient scores, with their better strand, and the scores.

        A query with very many targets, whose best are requested, is scored some pairs at a time.
        """
        if self.frames is not None:
            yield from self._frame_parts(self.frames, tile, engine, progress)
            return
        first, last = tile.payload
        for begin in range(first, last, self._most_pairs):
            end = min(begin + self._most_pairs, last)
            report = progress and partial(_after, progress, begin - first, end - begin)
            query, target = self._within_reach(begin, end, n_threads)
            strand = np.ones(len(query), np.int8)
            score = engine(Rows(query, target, "score", None if self._reverse is None else strand), report)["score"]
            if self._reverse is not None:
                report = report and partial(_repeated, report, len(query))
                other = engine(Rows(query, target, "score", -strand), report)["score"]
                strand = np.where(other > score, -1, 1).astype(np.int8)
                score = np.maximum(score, other)
            rows = Rows(query, target, self.options.report, strand if self._reverse is not None else None)
            enough = selected(query, score, self._least(query, target), None)
            yield some(rows, enough), score[enough]

    def _frame_parts(
        self, frames: PairFrames, tile: Tile, engine: Engine, progress: Progress | None
    ) -> Iterator[tuple[Rows, NDArray[np.int32]]]:
        """Yield rows of translated sequences: for each pair the frames with the best score."""
        first, last = tile.payload
        step = max(self._most_pairs // frames.most, 1)
        for begin in range(first, last, step):
            end = min(begin + step, last)
            report = progress and partial(_after, progress, begin - first, end - begin, per_pair=frames.most)
            query, target, begins = frames.expanded(*self._pairs(begin, end))
            score = engine(Rows(query, target, "score", None), report)["score"]
            best = frames.best(query, score, begins, self._least(query, target))
            yield Rows(query[best], target[best], self.options.report, None), score[best]


def least_bytes(batches: Sequence[SequenceBatch]) -> int:
    """Return the least memory for aligning pairs of these sequences, for any number of pairs.

    Kernels need margins around the codes, so native code copies them; lengths, costs and indices take some numbers
    per sequence.
    """
    copies = sum(2 * batch.most_codes + SEQUENCE_BYTES * len(batch) for batch in batches)
    return copies + 2 * LEAST_SCRATCH_BYTES


def _runs(numbers: Index) -> list[Index]:
    """Split ascending numbers into runs of consecutive ones."""
    return np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1) if len(numbers) else []


def _rows_of(table: AlignmentTable) -> Rows:
    """Return a table's rows for rescoring."""
    return Rows(table.query_index, table.target_index, "score", table.strand)


def _after(progress: Progress, before: int, most: int, items: int, per_pair: int = 1) -> None:
    """Report the items of a part of a tile; `per_pair` items of an engine count as one."""
    progress(before + min(items // per_pair, most))


def _repeated(progress: Progress, n_items: int, items: int) -> None:
    """Report a second pass over a tile whose items have all started; it can be stopped here."""
    progress(n_items)
