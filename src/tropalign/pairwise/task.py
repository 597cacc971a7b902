"""Pairs as a task of tiles: how a tile runs.

sequences (masked, translated, both strands)  ->  plan: the order of the pairs, cut into tiles
a tile: its pairs  ->  selection, if any: which are aligned, and which rows pass  ->  engines: on the CPU or a GPU
        rows       ->  corrected for composition, with further alignments, without culled ones, if requested
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named
from tropalign.execution.task import Device, Progress, Tile
from tropalign.pairwise.embedded import Embedded
from tropalign.pairwise.embedding_options import EmbeddedPairOptions
from tropalign.pairwise.engines import REPORT_COLUMNS, Engine, Engines, Rows, Sides, aligned
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.plan import Plan, checked_pairs
from tropalign.pairwise.significance import Significance
from tropalign.resources.limits import default_budget
from tropalign.results.aligned_pairs import judged_columns
from tropalign.results.alignments import AlignmentTable, concatenate
from tropalign.results.output_columns import default_names
from tropalign.sequences import SequenceBatch

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu
    from tropalign.execution.manifest import Shard
    from tropalign.pairwise.co_optimal import CoOptimal
    from tropalign.pairwise.composition import Adjusted, Scaled
    from tropalign.pairwise.engines import AnySide
    from tropalign.pairwise.gpu_plan import Shape
    from tropalign.pairwise.hsps import FurtherAlignments
    from tropalign.pairwise.selection import Selection
    from tropalign.pairwise.translated import PairFrames
    from tropalign.pairwise.vector_engines import FurtherByVectors
    from tropalign.sequences.translation import Frames

Index = NDArray[np.int64]


class PairsTask:
    """Alignment of all pairs i < j of a set, of queries against targets, or of listed pairs.

    queries, targets: without targets, all pairs i < j of `queries` (with ``options.top`` all ordered pairs, so
        that each query sees all others). Frames are aligned as proteins; the best frames of each pair of
        nucleotide sequences are kept. Embedded sequences are aligned by their vectors; both sides must be embedded,
        and the options `EmbeddedPairOptions`.
    pairs: int64, shape (n, 2); only these (query index, target index).
    memory_bytes: limit in addition to the sequences; a share of the free memory by default.
    shard: (i, n) for the i-th of n equal shares of the pairs, counted from 1.
    column_bytes: bytes of text per alignment column that are held for a whole tile, in addition to its CIGAR.
    wants_whole_queries: prefer tiles with all pairs of their queries.
    n_threads: threads that mask sequences; 0 for all.

    Raises ScoringError if the matrix does not fit the sequences, and ResourceError if the memory does not suffice.
    """

    #: Kernel sizes, if not the usual ones.
    gpu_shape: Shape | None = None

    def __init__(
        self,
        queries: AnySide,
        targets: AnySide | None,
        options: PairOptions,
        pairs: Index | None = None,
        memory_bytes: int | None = None,
        shard: Shard | None = None,
        column_bytes: float = 0.0,
        wants_whole_queries: bool = False,
        n_threads: int = 0,
    ) -> None:
        self.options = options
        self.memory_bytes = default_budget() if memory_bytes is None else memory_bytes
        self.skips_self = targets is None and pairs is None
        self.is_triangle = self.skips_self and options.top is None
        self._embedded: tuple[Embedded, Embedded] | None = None
        if isinstance(queries, Embedded):
            assert isinstance(targets, Embedded | None)
            self._embedded = queries, targets or queries
            queries, targets = queries.batch, None if targets is None else targets.batch
        assert not isinstance(targets, Embedded)
        self.has_positions = any(isinstance(side, SequenceBatch) and side.has_positions for side in (queries, targets))
        engines: type[Engines] = Engines
        if self.has_positions:
            from tropalign.pairwise.positions import PositionEngines, check_positions

            engines = PositionEngines
            check_positions(queries, targets, options)
        self.frames, self.queries, sides, decisive = _prepared(queries, targets, options, self.skips_self, n_threads)
        self.targets = sides.targets
        lengths = (self.queries.lengths, self.targets.lengths) if self.frames is None else self.frames.residues
        self.pairs = None if pairs is None else checked_pairs(pairs, *map(len, lengths))
        self.significance = None
        if options.scores_letters and not self.has_positions:
            translated = None if self.frames is None else self.frames.target
            self.significance = Significance.of_run(options, self.targets, translated)
        self.plan = Plan.of(
            sides,
            decisive,
            lengths,
            self.pairs,
            self.skips_self,
            self.frames,
            options,
            self.memory_bytes,
            shard,
            column_bytes,
            wants_whole_queries,
            1.0 if self._embedded is None else self._embedded[0].cell_cost,
        )
        self._engines: Any
        if self._embedded is None:
            self._engines = engines(sides, options, self.plan.scratch_bytes)
        else:
            from tropalign.pairwise.vector_engines import VectorEngines

            assert isinstance(options, EmbeddedPairOptions)
            self._engines = VectorEngines(*self._embedded, options, self.plan.scratch_bytes)
        self._scorers = self._engines if decisive is sides else Engines(decisive, options, self.plan.scratch_bytes)
        self._selection: Selection | None = None
        if options.selects or self.frames is not None:
            from tropalign.pairwise.selection import Selection

            how = self.frames, self.plan, self.significance, self.skips_self
            self._selection = Selection(options, decisive, *how)
        self._composition: Scaled | Adjusted | None = None
        if options.knows_composition:
            from tropalign.pairwise.composition import composition_of

            self._composition = composition_of(self._scorers)
        self._further: FurtherAlignments | FurtherByVectors | None = None
        #: Alignments per pair that an engine returns at once.
        self._most = options.max_hsps if self._embedded is not None and self._selection is None else 1
        if options.max_hsps > self._most and self._embedded is not None:
            from tropalign.pairwise.vector_engines import FurtherByVectors

            self._further = FurtherByVectors(options, None if self._selection is None else self._selection.least_scores)
        elif options.max_hsps > self._most:
            from tropalign.pairwise.hsps import FurtherAlignments

            least = None if self._selection is None else self._selection.least_scores
            self._further = FurtherAlignments(options, least, self._composition, self.frames, self.significance)
        self._co_optimal: CoOptimal | None = None
        if options.co_optimal is not None:
            from tropalign.pairwise.co_optimal import CoOptimal

            self._co_optimal = CoOptimal(options, self.plan.scratch_bytes)
        self.n_pairs = sum(tile.n_items for tile in self.plan.tiles)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "plan": replace(self.plan, tiles=[])}  # a worker gets its tiles one by one

    @property
    def has_whole_queries(self) -> bool:
        """True if each tile has all pairs of its queries, because that is preferred or their best targets are chosen.

        False for shards, which are cut alike for any memory, and if a query has more pairs than fit a tile.
        """
        return self.plan.has_whole_queries

    @property
    def given(self) -> tuple[SequenceBatch, SequenceBatch]:
        """The original queries and targets: nucleotides, if they are translated."""
        sides = self.queries, self.targets
        return sides if self.frames is None else self.frames.given(*sides)

    @property
    def n_given(self) -> tuple[int, int | None]:
        """Numbers of original queries and targets, None for one set."""
        return len(self.given[0]), None if self.targets is self.queries else len(self.given[1])

    @property
    def parameters(self) -> dict[str, str]:
        """Parameters for headers and manifests."""
        words = self.options.parameters()
        if self._embedded is not None:
            words["embeddings"] = self._embedded[0].words
            if self.targets is not self.queries:
                words["target_embeddings"] = self._embedded[1].words
        if self.has_positions:
            words["matrix"] = "position matrices"
        return words | ({} if self.frames is None else {"translate": self.frames.words})

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Default columns of tables; None if depth and strands determine them."""
        options, sides = self.options, () if self.frames is None else self.frames.sides
        has_counts = options.co_optimal is not None
        has_hsp = options.max_hsps > 1 or has_counts
        if not sides and not has_hsp:
            return None
        has_sums = options.sum_statistics
        return default_names(options.report, options.strand != "plus", sides, has_hsp, has_sums, has_counts)

    def fingerprint(self) -> str:
        """Return the SHA-256 of sequences, pairs and parameters, in hexadecimal: equal only if the results are."""
        digest = hashlib.sha256()
        digest.update(self.queries.fingerprint().encode())
        digest.update(b"self" if self.targets is self.queries else self.targets.fingerprint().encode())
        if self._embedded is None:
            digest.update(self.options.matrix.scores.tobytes())
            track = self.options.whole.track_scores
            digest.update(b"" if track is None else track.tobytes())
        else:
            digest.update("".join(side.digest for side in self._embedded).encode())
        digest.update(repr(sorted(self.parameters.items())).encode())
        digest.update(b"" if self.pairs is None else np.ascontiguousarray(self.pairs).tobytes())
        return digest.hexdigest()

    @property
    def n_cells(self) -> int:
        """Cells of all pairs."""
        return sum(tile.cost_cells for tile in self.plan.tiles) - self.n_pairs * self.plan.order.pair_cells

    def tiles(self) -> list[Tile]:
        """Return the runs of neighbouring pairs."""
        return self.plan.tiles

    def split(self, tile: Tile) -> list[Tile]:
        """Split a tile at about half its cost; [] for one pair, or for one query if its best targets are requested."""
        return self.plan.split(tile)

    def join(self, tile: Tile, results: list[AlignmentTable]) -> AlignmentTable:
        """Concatenate the tables."""
        return concatenate(results)

    def pairs_of(self, tile: Tile) -> tuple[Index, Index]:
        """Return query and target indices of a tile's pairs, int64, in order."""
        return self.plan.order.pairs(*tile.payload)

    def query_span(self, tile: Tile) -> tuple[int, int]:
        """Return the first query of a tile whose queries have all targets, and the one after the last."""
        span = self.plan.grid.queries(*tile.payload)
        return span if self.frames is None else self.frames.query_span(*span)

    def foretold(self, device: Device, encoded: Callable[[Any], list[bytes]]) -> tuple[float, tuple[float, ...]] | None:
        """Forecast total seconds and output bytes if samples of tiles would be misleading; else return None."""
        if not self.plan.in_groups or device.name != "cpu":
            return None
        from tropalign.pairwise.forecast import foretold

        return foretold(self, device, encoded)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> AlignmentTable:
        """Align the tile on the CPU, in the order of ``pairs_of``, with only the rows that the options keep."""
        scorer, engine = (partial(engines.native, n_threads) for engines in (self._scorers, self._engines))
        return self._computed(tile, scorer, engine, n_threads, progress, self.plan.in_groups)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> AlignmentTable:
        """Align the tile's pairs on a GPU."""
        both = (self._scorers, self._engines)
        scorer, engine = (partial(engines.on_gpu, device, self.gpu_shape) for engines in both)
        return self._computed(tile, scorer, engine, 1, progress, in_groups=False)

    def _computed(
        self,
        tile: Tile,
        scorer: Engine,
        engine: Engine,
        n_threads: int,
        progress: Progress | None,
        in_groups: bool,
    ) -> AlignmentTable:
        align = partial(self._aligned, engine)
        if self._selection is None:
            table = align(Rows(*self.pairs_of(tile), self.options.report, None, most=self._most), progress)
        else:
            table = self._selection.table(tile, scorer, align, n_threads, progress, in_groups)
        # All items of the tile have started: from here on, progress is only a sign of life and a way to stop.
        again = progress and (lambda _: progress(tile.n_items))
        if self._composition is not None:
            table = self._composition.corrected(table, n_threads, again)
        if self._further is not None:
            native = partial(self._engines.native, n_threads)
            table = self._further.added(table, lambda rows: self._aligned(native, rows, again), n_threads, again)
        if self._co_optimal is not None:
            table = self._co_optimal.added(table, again)
        return table if self._selection is None else self._selection.culled(table)

    def _aligned(
        self, engine: Engine, rows: Rows, progress: Progress | None, score: NDArray[np.int32] | None = None
    ) -> AlignmentTable:
        """Align the rows, which were chosen by these whole scores; query coordinates count on the original strand."""
        options = self.options
        if score is not None and rows.report == "score" and not options.is_softly_masked:
            columns: dict[str, Any] = {"score": score}
        else:
            found = engine(rows, progress)
            columns = {name: found[name] for name in REPORT_COLUMNS[rows.report]}
            if rows.most > 1:
                rows, columns["hsp"] = rows.some(found["row"]), found["hsp"]
            if score is not None and options.is_softly_masked:  # these scores do not count masked residues
                columns["corrected_score"] = options.whole.given(score)
        columns["score"] = options.whole.given(columns["score"])
        strand = np.full(len(rows.query), -1, np.int8) if options.strand == "minus" else rows.strand
        if strand is not None and rows.report != "score":
            minus = strand < 0
            lengths = self.queries.lengths[rows.query[minus]]
            begin, end = columns["query_start"][minus], columns["query_end"][minus]
            columns["query_start"][minus], columns["query_end"][minus] = lengths - end, lengths - begin
        table = AlignmentTable(
            self.queries,
            self.targets,
            rows.report,
            rows.query,
            rows.target,
            strand=strand,
            significance=self.significance,
            query_frames=None if self.frames is None else self.frames.query,
            target_frames=None if self.frames is None else self.frames.target,
            identity_definition=options.identity,
            **columns,
        )
        if rows.report == "alignment":
            table = replace(table, **judged_columns(table, options.ambiguous))
        return table


def _prepared(
    queries: SequenceBatch | Frames,
    targets: SequenceBatch | Frames | None,
    options: PairOptions,
    is_set: bool,
    n_threads: int,
) -> tuple[PairFrames | None, SequenceBatch, Sides, Sides]:
    """Check sequences; return frames, if any, queries on the plus strand, sides to align, and sides to select by."""
    frames: PairFrames | None = None
    if options.mask != "none":
        from tropalign.pairwise.masking import hard_masked

        queries, targets = hard_masked(queries, targets, options, n_threads)
    if not (isinstance(queries, SequenceBatch) and isinstance(targets, SequenceBatch | None)):
        from tropalign.pairwise.translated import PairFrames

        frames = PairFrames.of(queries, targets)
        queries, targets = aligned(queries), None if targets is None else aligned(targets)
    sides_given = {id(side): side for side in (queries, targets) if side is not None}.values()
    has_positions = any(side.has_positions for side in sides_given)
    for side in () if has_positions else sides_given:
        options.matrix.check(side)
    targets = queries if targets is None else targets
    if is_set and len(queries) < 2:
        raise InputError("the set contains only one sequence, so there is no pair: give at least two, or a second file")
    if options.strand != "plus" and not queries.alphabet.has_strands:
        what = "both strands were" if options.strand == "both" else "the minus strand was"
        raise InputError(
            f"{what} requested, but {queries.alphabet.name}s have only one: omit {named('strand')} {options.strand}"
        )
    if options.has_track and any(side.track is None for side in (queries, targets)):
        raise UsageError(f"{named('track_matrix')} scores a second track: add {named('track')}")
    if options.knows_composition and frames is not None:
        raise UsageError(
            f"{named('composition')} {options.composition} uses the residues of whole sequences and does not support "
            f"translated frames: omit it with {named('translate')}"
        )
    if not has_positions:
        options.check_range(int(max(queries.lengths.max(), targets.lengths.max())))
    given = Sides(queries, queries.reverse_complement() if options.strand != "plus" else None, targets)
    sides = given.on(options.strand)
    if not options.is_softly_masked:
        return frames, queries, sides, sides
    from tropalign.pairwise.masking import decisive

    return frames, queries, sides, decisive(given, options, n_threads).on(options.strand)
