"""Alignment of position matrices: checks, and an engine for rows whose queries or targets are position matrices.

Scores alone come from the scan of `best_targets`, in lanes of 8 or 16 bits. Ends and whole alignments come
from a table of each pair, the scores of the positions with the residues of the sequence (`align_tables`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, ResourceError, ScoringError, UsageError, named
from tropalign.execution.task import Progress
from tropalign.pairwise.engines import Engines, Rows, Sides, Taken
from tropalign.ragged import gathered, offsets_of
from tropalign.results.aligned_pairs import COUNT_COLUMNS, DEPTH_COLUMNS, DEPTHS, END_COLUMNS
from tropalign.scoring import SubstitutionMatrix
from tropalign.scoring.position_matrix import PositionBatch
from tropalign.scoring.scores import MOST
from tropalign.sequences.batch import SequenceBatch, in_memory
from tropalign.sequences.reader import batch_of, read_as

if TYPE_CHECKING:
    from tropalign.pairwise.options import PairOptions
    from tropalign.sequences.alphabet import Alphabet, AlphabetLike

Index = NDArray[np.int64]
Scores = NDArray[np.int32]

#: Fewest pairs of a matrix that are scored together; longest sequence, as in native code.
LEAST_TOGETHER, LONGEST_TOGETHER = 16, 1 << 16
#: Most cells of the tables that are held at once.
TABLE_CELLS = 1 << 26
#: Bytes per cell of a table: of the table, and of native code's copy.
CELL_BYTES = 8
#: Score of a residue pair that further alignments must not reuse.
NEVER = {2: -(2**15) + 1, 4: -(2**30)}


def stand_in_matrix(alphabet: Alphabet) -> SubstitutionMatrix:
    """Return a matrix of the alphabet, for options that need one; position matrices have scores of their own."""
    if alphabet.match_mismatch is None and alphabet.matrix is None:
        return SubstitutionMatrix.match_mismatch(1, -1, alphabet)
    return SubstitutionMatrix.default(alphabet)


def sequences_for(matrices: PositionBatch, given: Any, alphabet: AlphabetLike | None = None) -> SequenceBatch:
    """Return the sequences of the other side, in the alphabet of the matrices. Raises InputError for another one."""
    own = matrices.alphabet
    try:
        batch = batch_of(given, alphabet if own.judged else own)
    except InputError:
        if alphabet is not None:
            raise
        batch = batch_of(given, own)  # short ones alone may look like another kind
    return of_alphabet(matrices, read_as(own, batch) if alphabet is None and batch.alphabet.judged else batch)


def of_alphabet(matrices: PositionBatch, batch: SequenceBatch, file: str | None = None) -> SequenceBatch:
    """Return the batch. Raises InputError if it has another alphabet than the matrices."""
    own = matrices.alphabet
    if batch.alphabet != own or batch.alphabet.letters != own.letters:
        raise InputError(
            f"the position matrices have {own.name} letters, but these are {batch.alphabet.name} sequences: give "
            "sequences of the same kind",
            file=file,
        )
    return batch


def check_positions(queries: Any, targets: Any, options: PairOptions) -> bool:
    """Return whether a side has position matrices. Raises UsageError or ScoringError for options without them."""
    batches = [side for side in (queries, targets) if isinstance(side, PositionBatch)]
    if not batches:
        return False
    if len(batches) == 2 or targets is None:
        raise UsageError("position matrices are aligned with sequences: give sequences on one side")
    for name, is_given, remedy in (
        ("translate", not all(isinstance(side, SequenceBatch) for side in (queries, targets)), "translate before"),
        ("mask", options.mask != "none", "mask the sequences before"),
        ("composition", options.knows_composition, "choose ignored"),
        ("co_optimal", options.co_optimal is not None, "leave it out"),
        ("sum_statistics", options.sum_statistics, "leave it out"),
        *((limit, getattr(options, limit) is not None, f"use {named('min_score')} or {named('top')}")
          for limit in ("max_evalue", "min_bits", "db_size")),
    ):  # fmt: skip
        if is_given:
            raise UsageError(f"{named(name)} does not support position matrices: {remedy}")
    whole = options.whole
    if not whole.is_affine:
        raise ScoringError("position matrices support one gap cost, Gap(open, extend), also at the ends")
    highest = int(np.abs(batches[0].scores.astype(np.int64)).max()) * whole.scale
    longest = max(int(side.lengths.max()) for side in (queries, targets))
    most = (highest + 4 * whole.gap_open + 2 * whole.gap_extend) * (2 * longest + 2)
    if highest > MOST or most > 2**30:
        raise ScoringError(
            f"scores of sequences of {longest} residues may exceed {2**30} with this position matrix and these gap "
            "costs: divide all of them by a common factor"
        )
    return True


def scaled(batch: SequenceBatch | None, options: PairOptions) -> Scores | None:
    """Return the scores of position matrices in the engines' units; None for other sequences."""
    return batch.scores * np.int32(options.whole.scale) if isinstance(batch, PositionBatch) else None


class PositionEngines(Engines):
    """Aligns rows of pairs of position matrices and sequences."""

    def __init__(self, sides: Sides, options: PairOptions, scratch_bytes: int) -> None:
        super().__init__(sides, options, scratch_bytes)
        self._is_query = isinstance(sides.queries, PositionBatch)

    def native(self, n_threads: int, rows: Rows, progress: Progress | None) -> dict[str, Any]:
        """Align rows on the CPU."""
        parts, places, done = [], [], 0
        order = np.arange(len(rows.query))
        minus = np.zeros(len(order), bool) if rows.strand is None else rows.strand < 0
        for strand in (False, True):
            chosen = order[minus == strand]
            if not len(chosen):
                continue
            queries = self.sides.reverse if strand and self.sides.reverse is not None else self.sides.queries
            for some in self._together(rows, chosen):
                report = progress and partial(_after, progress, done)
                parts.append(self._part(queries, n_threads, rows, some, report))
                places.append(some)
                done += len(some)
        return _joined(parts, places, rows.report)

    def _together(self, rows: Rows, chosen: Index) -> Iterator[Index]:
        """Yield the rows that are aligned in one call: for scores those of a matrix, else as many as memory allows."""
        matrix = rows.query if self._is_query else rows.target
        if rows.report == "score" and rows.taken is None:
            by_matrix = chosen[np.argsort(matrix[chosen], kind="stable")]
            lengths = (self.sides.targets if self._is_query else self.sides.queries).lengths
            other = rows.target if self._is_query else rows.query
            for some in np.split(by_matrix, np.flatnonzero(np.diff(matrix[by_matrix])) + 1):
                is_short = lengths[other[some]] <= LONGEST_TOGETHER
                if is_short.sum() >= LEAST_TOGETHER:
                    yield some[is_short]
                    some = some[~is_short]
                yield from self._in_memory(rows, some)
            return
        yield from self._in_memory(rows, chosen)

    def _in_memory(self, rows: Rows, chosen: Index) -> Iterator[Index]:
        """Yield the rows in parts whose tables fit the memory. Raises ResourceError if one table does not."""
        cells = self.sides.queries.lengths[rows.query[chosen]] * self.sides.targets.lengths[rows.target[chosen]]
        most = min(TABLE_CELLS, self.scratch_bytes // CELL_BYTES)
        if len(cells) and cells.max() > self.scratch_bytes // CELL_BYTES:
            raise ResourceError(
                f"the scores of one pair, {int(cells.max()) * CELL_BYTES} bytes, exceed the memory: allow more with "
                f"{named('memory_bytes')}, or cut the sequence"
            )
        before = np.concatenate([[0], np.cumsum(cells)])
        begin = 0
        while begin < len(chosen):
            end = max(int(np.searchsorted(before, before[begin] + most, "right")) - 1, begin + 1)
            yield chosen[begin:end]
            begin = end

    def _part(
        self, queries: SequenceBatch, n_threads: int, rows: Rows, some: Index, progress: Progress | None
    ) -> dict[str, Any]:
        """Align some rows, with these queries of one strand."""
        is_scan = rows.report == "score" and rows.taken is None and len(some) >= LEAST_TOGETHER
        lengths = (self.sides.targets if self._is_query else queries).lengths
        other = (rows.target if self._is_query else rows.query)[some]
        if is_scan and lengths[other].max() <= LONGEST_TOGETHER:
            return {"score": self._scan(queries, n_threads, rows.query[some], rows.target[some], progress)}
        return self._by_tables(queries, n_threads, rows, some, progress)

    def _scan(
        self, queries: SequenceBatch, n_threads: int, query: Index, target: Index, progress: Progress | None
    ) -> Scores:
        """Return the scores of one matrix with sequences of at most `LONGEST_TOGETHER` residues."""
        options = self.options
        matrices, others = (queries, self.sides.targets) if self._is_query else (self.sides.targets, queries)
        k, index = (int(query[0]), target) if self._is_query else (int(target[0]), query)
        assert isinstance(matrices, PositionBatch)
        used, place = np.unique(index, return_inverse=True)
        codes, offsets = _residues(others, used)
        own = matrices.codes[matrices.offsets[k] : matrices.offsets[k + 1]]
        free = options.freed() if self._is_query else (*options.freed()[2:], *options.freed()[:2])
        cells = len(own) * int(np.diff(offsets).max())
        found = _native.best_targets(
            own,
            np.array([0, len(own)], np.int64),
            None,
            codes,
            offsets,
            (0, 1),
            False,
            len(used),
            np.full((1, 1), np.iinfo(np.int32).min, np.int32),
            np.zeros(len(used), np.int32),
            options.whole.scores,
            options.whole.gap_open,
            options.whole.gap_extend,
            options.recurrence,
            free,
            threads_for(n_threads, cells, self.scratch_bytes),
            self.scratch_bytes,
            progress,
            np.ascontiguousarray(matrices.rows(k) * np.int32(options.whole.scale)),
        )
        score = np.empty(len(used), np.int32)
        score[found["target"]] = found["score"]
        return score[place]

    def _by_tables(
        self, queries: SequenceBatch, n_threads: int, rows: Rows, some: Index, progress: Progress | None
    ) -> dict[str, Any]:
        """Align rows by a table of scores each."""
        options, scale = self.options, np.int32(self.options.whole.scale)
        query, query_place = np.unique(rows.query[some], return_inverse=True)
        target, target_place = np.unique(rows.target[some], return_inverse=True)
        (query_codes, query_offsets), (target_codes, target_offsets) = (
            _residues(queries, query),
            _residues(self.sides.targets, target),
        )
        tables = []
        taken = None if rows.taken is None else rows.taken.some(some)
        rows_of = lru_cache(1)(lambda matrices, k: _narrow(matrices.rows(k) * scale))
        for k, (i, j) in enumerate(zip(query_place.tolist(), target_place.tolist(), strict=True)):
            q = query_codes[query_offsets[i] : query_offsets[i + 1]]
            t = target_codes[target_offsets[j] : target_offsets[j + 1]]
            if isinstance(queries, PositionBatch):
                table = rows_of(queries, int(query[i])).take(t, 1)
            else:
                assert isinstance(self.sides.targets, PositionBatch)
                table = np.ascontiguousarray(rows_of(self.sides.targets, int(target[j])).T)[q]
            if taken is not None:
                _take(table, taken, k)
            tables.append(table)
        found = _native.align_tables(
            tables,
            query_codes,
            query_offsets,
            target_codes,
            target_offsets,
            query_place.astype(np.int64),
            target_place.astype(np.int64),
            float(options.whole.gap_open),
            float(options.whole.gap_extend),
            options.recurrence,
            options.freed(),
            DEPTHS.index(rows.report),
            1,
            threads_for(n_threads, max(table.size for table in tables), self.scratch_bytes),
            self.scratch_bytes,
            progress,
        )
        return found if taken is None else _at_least(found, taken.least)


def threads_for(n_threads: int, cells: int, scratch_bytes: int) -> int:
    """Return the number of threads, at least 1, whose tables of this many cells fit the memory."""
    return max(1, min(n_threads, scratch_bytes // (CELL_BYTES * cells)))


def _after(progress: Progress, before: int, items: int) -> None:
    progress(before + items)


def _residues(batch: SequenceBatch, used: Index) -> tuple[NDArray[np.uint8], Index]:
    """Return codes and offsets of some sequences, ascending, alone."""
    batch, used = in_memory(batch, used)
    if len(used) == len(batch):
        return batch.codes, batch.offsets
    return gathered([batch.codes], batch.offsets, used)[0], offsets_of(batch.lengths[used])


def _narrow(scores: Scores) -> NDArray[Any]:
    """Return scores in 16 bits if they fit, for twice the speed."""
    return scores.astype(np.int16) if np.abs(scores).max() < -NEVER[2] else scores


def _take(table: NDArray[Any], taken: Taken, row: int) -> None:
    """Give residue pairs of earlier alignments of a row a score that no alignment can have."""
    never = NEVER[table.itemsize]
    for a in range(int(taken.offsets[row]), int(taken.offsets[row + 1])):
        i, j = int(taken.query_start[a]), int(taken.target_start[a])
        for operation in taken.path[taken.path_offsets[a] : taken.path_offsets[a + 1]].tolist():
            kind, length = operation & 15, operation >> 4
            if kind not in (1, 2):
                steps = np.arange(length)
                table[i + steps, j + steps] = never
            i += length * (kind != 2)
            j += length * (kind != 1)


def _at_least(found: dict[str, Any], least: Scores) -> dict[str, Any]:
    """Remove the alignments of rows that score less than `least`."""
    low = found["score"] < least
    sizes = np.diff(found["cigar_offsets"])
    kept = np.repeat(~low, sizes)
    columns = {name: np.where(low, 0, found[name]).astype(np.int32) for name in ("score", *END_COLUMNS, *COUNT_COLUMNS)}
    return {
        **columns,
        "cigar_ops": found["cigar_ops"][kept],
        "cigar_offsets": offsets_of(np.where(low, 0, sizes)),
    }


def _joined(parts: list[dict[str, Any]], places: list[Index], report: str) -> dict[str, Any]:
    """Return the columns of all parts in the order of their rows."""
    order = np.argsort(np.concatenate([np.zeros(0, np.int64), *places]), kind="stable")
    columns: dict[str, Any] = {}
    for name in ("score", *DEPTH_COLUMNS[report]):
        columns[name] = np.concatenate([np.zeros(0, np.int32), *(part[name] for part in parts)])[order]
    if report == "alignment":
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(part["cigar_offsets"]) for part in parts)])
        ops = np.concatenate([np.zeros(0, np.uint32), *(part["cigar_ops"] for part in parts)])
        columns["cigar_offsets"] = offsets_of(sizes[order])
        columns["cigar_ops"] = gathered([ops], offsets_of(sizes), order)[0]
    return columns
