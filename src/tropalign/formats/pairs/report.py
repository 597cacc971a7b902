"""Web report of pairs: a sortable, filterable table, a map with its tree, alignments and dot plots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import ScoringError
from tropalign.formats.array_files import packed_part, part_arrays
from tropalign.formats.format import Codec, Header
from tropalign.formats.pages import Report, leb128, write_report_page
from tropalign.formats.pairs.context import Labels, PairsContext
from tropalign.results.aligned_pairs import DEPTH_COLUMNS
from tropalign.results.alignments import AlignmentTable
from tropalign.results.output_columns import values_of
from tropalign.sequences.batch import in_memory

Columns = dict[str, NDArray[Any]]
"""Columns of pairs by name; `paths` has all paths, `path_sizes` the bytes of each."""

#: Rows whose paths are packed at once, at some 60 bytes per run of a CIGAR.
ROWS = 4096


def columns_of(table: AlignmentTable, has_paths: bool = False) -> Columns:
    """Return indices, score and the columns of the table's depth; also the identity if it is not per column."""
    names = ("query_index", "target_index", "score", *DEPTH_COLUMNS[table.depth])
    columns: Columns = {name: getattr(table, name) for name in names}
    for name in ("hsp", "strand"):
        if (values := getattr(table, name)) is not None:
            columns[name] = values
    is_plain = table.identity_definition in ("columns", "blast") and table.n_ignored is None
    if table.depth == "alignment" and not is_plain:
        columns["identity"] = table.identity
    if has_paths:
        columns["paths"], columns["path_sizes"] = packed_paths(table)
    return columns


def unpacked(part: bytes) -> Columns:
    """Return the columns of a part. Raises InputError if it is damaged."""
    with part_arrays(part) as arrays:
        return dict(arrays)


def joined(pieces: Sequence[Columns], depth: str) -> Columns:
    """Concatenate pieces, which are consumed; without pieces, return empty columns of this depth."""
    names = ("query_index", "target_index", "score", *DEPTH_COLUMNS[depth], "paths", "path_sizes")
    pieces = pieces or [{name: np.zeros(0, np.int64) for name in names}]
    # Only one column at a time exists twice.
    return {name: np.concatenate([piece.pop(name) for piece in pieces]) for name in list(pieces[0])}


def identity_of(columns: Columns) -> NDArray[np.float64]:
    """Return the identity of each row, equal to that of the run's other outputs."""
    if "identity" in columns:
        return columns["identity"]
    share: NDArray[np.float64] = columns["n_identical"] / np.maximum(columns["n_columns"], 1)
    return share


def near_of(columns: Columns) -> NDArray[np.float64]:
    """Return the identity; if only scores are known, score / highest score, and 0 for negative ones."""
    if "n_identical" in columns:
        return identity_of(columns)
    score = columns["score"].astype(np.float64)
    shares: NDArray[np.float64] = np.clip(score / max(score.max(initial=0), 1e-9), 0, 1)
    return shares


def of_used(columns: Columns, context: PairsContext) -> tuple[list[Labels], Columns]:
    """Drop unused sequences; return those of both sides (one list for a set), and the columns with new indices."""
    query, target = columns["query_index"], columns["target_index"]
    is_one_set = context.targets is context.queries
    named = [np.union1d(query, target)] if is_one_set else [np.unique(query), np.unique(target)]
    sides = [_chosen(batch, used) for batch, used in zip((context.queries, context.targets), named, strict=False)]
    places = {"query_index": np.searchsorted(named[0], query), "target_index": np.searchsorted(named[-1], target)}
    return sides, {**columns, **places}


def _chosen(batch: Any, used: NDArray[np.int64]) -> Labels:
    """Return names, lengths and letters of some sequences of a SequenceBatch or of Labels."""
    batch, used = in_memory(batch, used)
    lengths = batch.lengths[used]
    names = tuple(batch.names[k] for k in used.tolist())
    letters = getattr(batch, "letters", None)
    if letters is None or len(letters) != batch.lengths.sum():
        return Labels(names, lengths)
    begins = (np.cumsum(batch.lengths) - batch.lengths)[used]
    places = np.repeat(begins - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))
    return Labels(names, lengths, letters[places], batch.alphabet)


#: Kinds of the BAM operations I, D, = and X.
_KINDS = np.zeros(16, np.uint32)
_KINDS[1], _KINDS[2] = 1, 2


def packed_paths(table: AlignmentTable) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pack the paths of all rows for a page that has the residues, without distinguishing equal and different pairs.

    Returns numbers ``length << 2 | kind`` in LEB128, uint8, with kind 0 (two residues), 1 (one of the query) or 2
    (one of the target); and the bytes of each row's path, int64, shape (n,).
    """
    found = [_packed(table.slice(row, row + ROWS)) for row in range(0, len(table), ROWS)]
    texts, sizes = zip(*found, strict=True) if found else ((np.zeros(0, np.uint8),), (np.zeros(0, np.int64),))
    return np.concatenate(texts), np.concatenate(sizes)


def _packed(table: AlignmentTable) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    ops, offsets = table.cigar_ops, table.cigar_offsets
    if not len(ops):
        return np.zeros(0, np.uint8), np.zeros(len(table), np.int64)
    kinds, lengths = _KINDS[ops & 15], (ops >> 4).astype(np.uint64)
    begins = np.ones(len(ops), bool)
    begins[1:] = kinds[1:] != kinds[:-1]
    begins[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
    firsts = np.flatnonzero(begins)
    numbers = np.add.reduceat(lengths, firsts) << np.uint64(2) | kinds[firsts]
    text, sizes = leb128(numbers)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    n_runs = np.concatenate([[0], np.cumsum(begins)])  # before each operation
    return text, np.diff(ends[n_runs[offsets]])


#: Maximum number of lines of one side of a map.
MOST_LINES = 3_000
#: Identities in maps of two sets are rounded to multiples of 1 / DIGITS.
DIGITS = 10_000


@dataclass(frozen=True)
class Lines:
    """Lines of one side in the order of their tree.

    order: sequence indices from the top or the left, int32, shape (n,). joins: the two nodes of each join, int32,
    shape (n - 1, 2); nodes below n are sequences, n + k is the k-th join. heights: their distances, float64, shape
    (n - 1,).
    """

    order: NDArray[np.int32]
    joins: NDArray[np.int32]
    heights: NDArray[np.float64]


@dataclass(frozen=True)
class PairMap:
    """A map: the table row of each cell (-1 if empty), and the lines of both sides (one object for one set)."""

    cells: NDArray[np.int32]
    rows: Lines
    columns: Lines


# Lines of one set are joined by the distance 1 - near (1 for a pair without a row); lines of two sets, by the
# Euclidean distance between their profiles against the other set.
def mapped(
    query: NDArray[np.int64],
    target: NDArray[np.int64],
    near: NDArray[np.float64],
    shape: tuple[int, int],
    is_one_set: bool,
) -> PairMap:
    """Return the map of pairs; the first row of each pair counts.

    query, target: indices. near: similarity from 0 to 1. shape: numbers of queries and targets.
    """
    cells = np.full(shape, -1, np.int32)
    _, first = np.unique(query * shape[1] + target, return_index=True)
    cells[query[first], target[first]] = first
    if is_one_set:
        cells = np.where(cells < 0, cells.T, cells)
    profiles = np.where(cells < 0, 0.0, np.append(near, 0.0)[cells])
    if is_one_set:
        rows = columns = linked(1 - np.maximum(profiles, profiles.T))
    else:
        rows, columns = linked(_between(profiles)), linked(_between(profiles.T))
    return PairMap(cells, rows, columns)


def _between(profiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return distances between lines, shape (n, n); products of integers make the sums exact in any order."""
    whole = np.rint(DIGITS * profiles)
    squares = (whole * whole).sum(1)
    between = squares[:, None] + squares[None, :] - 2 * (whole @ whole.T)
    distances: NDArray[np.float64] = np.sqrt(between) / DIGITS
    return distances


def linked(distances: NDArray[np.float64]) -> Lines:
    """Return the average linkage of lines from their distances, shape (n, n)."""
    n = len(distances)
    if n < 2:
        return Lines(np.arange(n, dtype=np.int32), np.zeros((0, 2), np.int32), np.zeros(0))
    joins, heights = _native.average_linkage(np.ascontiguousarray(distances[np.triu_indices(n, 1)]), n, None)
    sizes, children = [1] * n, joins.tolist()
    for a, b in children:
        sizes.append(sizes[a] + sizes[b])
    leaves: list[int] = []  # from the root down, the larger side of each join first
    waiting = [2 * n - 2]
    while waiting:
        node = waiting.pop()
        if node < n:
            leaves.append(node)
            continue
        a, b = children[node - n]
        waiting += (b, a) if (sizes[a], -a) >= (sizes[b], -b) else (a, b)
    return Lines(np.array(leaves, np.int32), joins, heights)


PAGE = "pairs"
SCRIPTS = ("map.js", "dots.js", "spans.js", "records.js", "pairs.js")
#: Prefixes of the arrays of both sides; a set that is aligned with itself has only the first.
ROLES = ("query", "target")
#: Limits of a page; beyond these, it shows the pairs with the best scores.
MOST_ROWS, MOST_PATH_BYTES, MOST_LETTERS = 1_000_000, 64 << 20, 32 << 20
#: Memory for making a page: per row for columns, path, order and copies, and per cell of the map.
ROW_BYTES, CELL_BYTES = 440, 48


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return columns and paths as .npz."""
    columns = columns_of(table, has_paths=True)
    if table.significance is not None:
        names = ("evalue", "bits") if table.sum_evalue is None else ("evalue", "bits", "sum_evalue")
        with suppress(ScoringError):  # alignments are shown without these
            columns |= {name: np.asarray(values_of(table, name), np.float64) for name in names}
    return packed_part(**columns)


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


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Write the page."""
    waiting: list[Columns] = []
    n_rows = 0
    for part in parts:
        waiting.append(unpacked(part))
        n_rows += len(waiting[-1]["score"])
        many = sum(len(piece["score"]) for piece in waiting) > 2 * MOST_ROWS
        if many or sum(len(piece["paths"]) for piece in waiting) > 2 * MOST_PATH_BYTES:
            waiting = [_best(joined(waiting, "alignment"))]  # pairs dropped now would not be kept at the end either
    columns = _best(joined(waiting, "alignment"))
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
        arrays["cells"] = made.cells.ravel()
        for lines, role in zip((made.rows, made.columns), ROLES[: len(sides)], strict=False):
            arrays |= {f"{role}_order": lines.order, f"{role}_joins": lines.joins.ravel()}
            arrays[f"{role}_heights"] = lines.heights.astype(np.float32)
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


HTML = Codec(encode, assemble, assembled_with=("queries", "targets", "letters"), is_binary=True, needs_all=True)
