"""Web report of pairs: a sortable, filterable table, a map with its tree, alignments and dot plots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ScoringError
from tropalign.formats.format import Codec, Header
from tropalign.formats.pages import Report, write_report_page
from tropalign.formats.pairs.context import PairsContext
from tropalign.formats.pairs.map import MOST_LINES, PairMap, mapped
from tropalign.formats.pairs.report_data import Columns, columns_of, joined, near_of, of_used, packed, unpacked
from tropalign.results.alignments import AlignmentTable
from tropalign.results.output_columns import values_of

PAGE = "pairs"
SCRIPTS = ("viewer/pictures.js", "viewer/hues.js", "map.js", "dots.js", "spans.js", "records.js", "pairs.js")
#: Prefixes of the arrays of both sides; a set that is aligned with itself has only the first.
ROLES = ("query", "target")
#: Limits of a page; beyond these, it shows the pairs with the best scores.
MOST_ROWS, MOST_PATH_BYTES, MOST_LETTERS = 1_000_000, 64 << 20, 32 << 20
#: Memory for making a page: per row for columns, path, order and copies, and per cell of the map.
ROW_BYTES, CELL_BYTES = 440, 48


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return columns and paths as .npz."""
    return packed(columns_of(table, has_paths=True) | _significant(table))


def _significant(table: AlignmentTable) -> Columns:
    """Return E-values and bits of local alignments; an empty dictionary if scores have no statistics."""
    if table.significance is None:
        return {}
    names = ("evalue", "bits") if table.sum_evalue is None else ("evalue", "bits", "sum_evalue")
    try:
        return {name: np.asarray(values_of(table, name), np.float64) for name in names}
    except ScoringError:  # alignments are shown without them
        return {}


def _best(columns: Columns) -> Columns:
    """Choose the pairs with the best scores that fit on a page, and keep their order."""
    sizes = columns["path_sizes"]
    if len(sizes) <= MOST_ROWS and sizes.sum() <= MOST_PATH_BYTES:
        return columns
    by_score = np.argsort(-columns["score"].astype(np.float64), kind="stable")[:MOST_ROWS]
    kept = np.sort(by_score[np.cumsum(sizes[by_score]) <= MOST_PATH_BYTES])
    is_kept = np.zeros(len(sizes), bool)
    is_kept[kept] = True
    paths = columns["paths"][np.repeat(is_kept, sizes)]
    return {**{name: values[kept] for name, values in columns.items() if name != "paths"}, "paths": paths}


def _gathered(parts: Iterable[bytes]) -> tuple[Columns, int]:
    """Return the pairs of all parts that fit on a page, and the total number of pairs."""
    waiting: list[Columns] = []
    n_rows = 0
    for part in parts:
        waiting.append(unpacked(part))
        n_rows += len(waiting[-1]["score"])
        many = sum(len(piece["score"]) for piece in waiting) > 2 * MOST_ROWS
        if many or sum(len(piece["paths"]) for piece in waiting) > 2 * MOST_PATH_BYTES:
            waiting = [_best(joined(waiting, "alignment"))]  # pairs dropped now would not be kept at the end either
    return _best(joined(waiting, "alignment")), n_rows


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Write the page."""
    columns, n_rows = _gathered(parts)
    write_report_page(out, report(columns, n_rows, header, context), header)


def report(columns: Columns, n_rows: int, header: Header, context: PairsContext) -> Report:
    """Return the report of these columns, which may be fewer than the run's pairs."""
    is_one_set = context.targets is context.queries
    sides, columns = of_used(columns, context)
    lengths = sum(int(side.lengths.sum()) for side in sides)
    has_letters = lengths <= MOST_LETTERS and all(side.letters is not None for side in sides)
    arrays = dict(columns)
    for side, role in zip(sides, ROLES, strict=False):
        arrays[f"{role}_lengths"] = side.lengths
        if has_letters:
            arrays[f"{role}_letters"] = cast("NDArray[np.uint8]", side.letters)
    if not has_letters:
        arrays["paths"] = arrays["paths"][:0]
    shape = len(sides[0]), len(sides[-1])
    has_map = max(shape) <= MOST_LINES and min(shape) > 0
    if has_map:
        near = near_of(columns)
        made = mapped(columns["query_index"], columns["target_index"], near, shape, is_one_set)
        arrays |= _map_arrays(made, is_one_set)
    alphabet = sides[0].alphabet
    every = np.arange(256, dtype=np.uint8)
    has_strands = alphabet is not None and alphabet.has_strands
    data = {
        "names": [list(side.names) for side in sides],
        "n_pairs": n_rows,
        "mode": header.parameters.get("mode"),
        "alphabet": None if alphabet is None else alphabet.name,
        "codes": None if alphabet is None else alphabet.encode(every)[0].tolist(),
        "complements": alphabet.complement_table.tolist() if alphabet is not None and has_strands else None,
    }
    return Report(PAGE, SCRIPTS, "Pairwise alignments", data, arrays)


def report_bytes(n_pairs: int, n_queries: int, n_targets: int) -> int:
    """Return an upper bound of the memory for making the page."""
    is_mapped = max(n_queries, n_targets) <= MOST_LINES
    return min(n_pairs, 2 * MOST_ROWS) * ROW_BYTES + is_mapped * n_queries * n_targets * CELL_BYTES


def _map_arrays(made: PairMap, is_one_set: bool) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {"cells": made.cells.ravel()}
    for lines, role in zip((made.rows, made.columns), ROLES[: 1 if is_one_set else 2], strict=False):
        arrays |= {f"{role}_order": lines.order, f"{role}_joins": lines.joins.ravel()}
        arrays[f"{role}_heights"] = lines.heights.astype(np.float32)
    return arrays


HTML = Codec(encode, assemble, assembled_with=("queries", "targets", "letters"), is_binary=True, needs_all=True)
