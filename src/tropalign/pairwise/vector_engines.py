"""Alignment of rows of pairs by the similarity of their residues' vectors: tables of some pairs at a time."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ResourceError, named
from tropalign.pairwise.engines import Rows
from tropalign.pairwise.filters import passes_shares
from tropalign.pairwise.table_rows import TableSide, columns_of, unknown_codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tropalign.execution.task import Progress
    from tropalign.pairwise.embedded import Embedded, Vectors
    from tropalign.pairwise.embedding_options import EmbeddedPairOptions, SimilarityOptions
    from tropalign.pairwise.filters import LeastScores
    from tropalign.pairwise.options import PairOptions
    from tropalign.results.alignments import AlignmentTable

#: Most cells of the tables that are held at once, per thread (a cache holds them), and their share of the memory.
TILE_CELLS, TILE_SHARE = 1 << 20, 4
#: Residues of a sequence by which `warn_of_high_scores` judges.
MOST_SAMPLED = 1000
#: Significant digits of scores.
SCORE_DIGITS = 6


class VectorEngines:
    """Aligns rows of pairs of sequences with vectors; `scratch_bytes` is the memory limit of tables and native code."""

    def __init__(self, queries: Embedded, targets: Embedded, options: EmbeddedPairOptions, scratch_bytes: int) -> None:
        self._sides, self._options, self._scratch_bytes = (queries, targets), options, scratch_bytes
        self._codes = [
            side.batch.codes if side.has_letters else unknown_codes(side.batch, k) for k, side in enumerate(self._sides)
        ]

    def native(self, n_threads: int, rows: Rows, progress: Progress | None) -> dict[str, Any]:
        """Align rows on the CPU; with ``rows.most`` above 1, "row" and "hsp" are the row and rank of each alignment."""
        lengths = [
            side.batch.lengths[index] for side, index in zip(self._sides, (rows.query, rows.target), strict=True)
        ]
        cells = np.cumsum(lengths[0] * lengths[1])
        cells_of_memory = self._scratch_bytes // TILE_SHARE // 4
        most_cells = min(TILE_CELLS * n_threads, cells_of_memory)
        begin, parts = 0, list[dict[str, Any]]()
        while begin < len(cells) or not parts:
            done = int(cells[begin - 1]) if begin else 0
            end = max(int(np.searchsorted(cells, done + most_cells, "right")), min(begin + 1, len(cells)))
            held_cells = int(cells[end - 1]) - done if end else 0
            if held_cells > cells_of_memory:
                raise ResourceError(
                    f"the scores of one pair exceed the memory: allow more with {named('memory_bytes')}"
                )
            parts.append(self._part(rows, begin, end, n_threads, self._scratch_bytes - held_cells * 4))
            if progress is not None:
                progress(end)
            begin = end
        return _joined(parts)

    def _part(self, rows: Rows, begin: int, end: int, n_threads: int, memory_bytes: int) -> dict[str, Any]:
        """Align rows [begin, end)."""
        query, target = rows.query[begin:end], rows.target[begin:end]
        vectors, options = [side.vectors for side in self._sides], self._options
        pairs = zip(query.tolist(), target.tolist(), strict=True)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite scores are reported below
            tables = [similarities(vectors[0][i], vectors[1][j], options) for i, j in pairs]
            for table in tables:
                table *= np.float32(options.scale)
                table -= np.float32(options.shift)
        sides = [
            TableSide(side.batch, index, codes)
            for side, index, codes in zip(self._sides, (query, target), self._codes, strict=True)
        ]
        try:
            columns, row, rank = columns_of(
                tables, sides, options, rows.report, rows.most, n_threads, memory_bytes, None
            )
        except InputError as error:  # with the number of the table
            k = next(k for k, table in enumerate(tables) if not np.isfinite(table).all())
            pair = f"{sides[0].batch.names[query[k]]} x {sides[1].batch.names[target[k]]}"
            remedy = f"scale the vectors, or {named('scale')} and {named('shift')}"
            raise InputError(f"a score is not finite: {remedy}", record=pair) from error
        # Digits beyond those of float32 depend on the order of additions.
        scores = columns["score"]
        digits = SCORE_DIGITS - 1 - np.floor(np.log10(np.abs(np.where(scores == 0, 1, scores))))
        factor = 10.0 ** np.clip(digits, -300, 300)
        columns["score"] = np.round(scores * factor) / factor
        return {**columns, "row": row + begin, "hsp": rank} if rows.most > 1 else columns


@dataclass(frozen=True)
class FurtherByVectors:
    """Finds several alignments of pairs, which native code does in one call."""

    options: PairOptions
    least_scores: LeastScores | None

    def added(
        self,
        table: AlignmentTable,
        align: Callable[[Rows], AlignmentTable],
        n_threads: int,
        progress: Progress | None,
    ) -> AlignmentTable:
        """Return all alignments of the table's pairs that pass the filters, grouped by pair, first ones first."""
        rows = Rows(table.query_index, table.target_index, self.options.report, None, most=self.options.max_hsps)
        table = align(rows)
        keep = passes_shares(table, self.options)
        if self.least_scores is not None:
            keep &= table.score >= self.least_scores.of(table.query_index, table.target_index)
        return table.take(np.flatnonzero(keep))


def warn_of_high_scores(queries: Embedded, targets: Embedded, options: SimilarityOptions) -> None:
    """Warn if the mean score of the first query and the last target is above 0: local alignments would not end."""
    query, target = queries.vectors[0][:MOST_SAMPLED], targets.vectors[-1][:MOST_SAMPLED]
    mean = float(similarities(query, target, options).mean(dtype=np.float64)) * options.scale
    if mean > options.shift:
        warnings.warn(
            f"residues of {queries.batch.names[0]} and {targets.batch.names[-1]} score {mean - options.shift:.2g} on "
            "average, but local alignments need scores below 0 for unrelated residues: increase --shift to more than "
            f"{mean:.2g}, or choose another --mode",
            UserWarning,
            stacklevel=2,
        )


def similarities(query: Vectors, target: Vectors, options: SimilarityOptions) -> Vectors:
    """Return the similarities of all pairs of residues, float32, shape (query length, target length)."""
    if options.similarity == "euclidean":
        wide = query.astype(np.float64), target.astype(np.float64)  # differences of large squares
        squares = [np.einsum("ij,ij->i", side, side) for side in wide]
        distances = wide[0] @ wide[1].T  # in place from here on: 8 bytes per cell
        distances *= -2
        distances += squares[0][:, None]
        distances += squares[1]
        # What is left of nearly equal vectors is rounding errors: from their differences instead.
        suspects = distances.min(axis=1) < 1e-8 * (squares[0] + squares[1].max())
        for i in np.flatnonzero(suspects):
            near = np.flatnonzero(distances[i] < 1e-8 * (squares[0][i] + squares[1]))
            differences = wide[1][near] - wide[0][i]
            distances[i, near] = np.einsum("ij,ij->i", differences, differences)
        np.sqrt(np.maximum(distances, 0, out=distances), out=distances)
        found = np.exp(np.negative(distances, out=distances), out=distances).astype(np.float32)
    else:
        found = query @ target.T
    return _z_scores(found) if options.z_scores else found


def _z_scores(found: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the means of the z-scores in rows and in columns, in place."""
    least = 1e-5 * max(float(found.max()), -float(found.min()))  # below this, differences are rounding errors
    means = [found.mean(axis, keepdims=True) for axis in (1, 0)]
    spreads = [found.std(axis, keepdims=True) for axis in (1, 0)]
    spreads = [np.where(spread > least, spread, np.float32(np.inf)) for spread in spreads]
    by_column = found - means[1]
    by_column /= spreads[1]
    found -= means[0]
    found /= spreads[0]
    found += by_column
    found /= 2
    return found


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Concatenate the columns of parts."""
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name != "cigar_offsets"}
    if "cigar_offsets" in parts[0]:
        lengths = np.concatenate([np.diff(part["cigar_offsets"]) for part in parts])
        columns["cigar_offsets"] = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return columns
