"""Matrices of scores, identities or distances: TSV, PHYLIP (square) or NumPy's ``.npz``."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import IO

import numpy as np

from tropalign.errors import InputError, said, shown
from tropalign.formats.array_files import packed_part, part_arrays
from tropalign.formats.distance_matrix import phylip_names
from tropalign.formats.format import Codec, Header
from tropalign.formats.pairs import MATRIX_LAYOUTS
from tropalign.formats.pairs.context import PairsContext
from tropalign.results import aligned_pairs, rows
from tropalign.results.alignments import AlignmentTable


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return indices and requested values of each pair's best alignment as .npz."""
    table = table if table.hsp is None else table.take(table.hsp == 1)
    values = table.score if context.matrix_values == "score" else table.identity
    (_, query), (_, target) = (aligned_pairs.given(table, side) for side in ("query", "target"))
    return packed_part(query=query, target=target, value=values)


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Fill the matrix (both triangles for a set) and write it; InputError if a pair is missing.

    Distance is 1 - identity. The diagonal of a set has identity 1, distance 0 and no score (nan in .npz, an empty
    cell in TSV), since sequences are not aligned with themselves.
    """
    matrix = np.full((len(context.queries), len(context.targets)), np.nan)
    for part in parts:
        with part_arrays(part) as columns:
            matrix[columns["query"], columns["target"]] = columns["value"]
            if context.is_triangle:
                matrix[columns["target"], columns["query"]] = columns["value"]
    missing = np.isnan(matrix)
    if context.is_triangle:
        np.fill_diagonal(missing, False)
    if missing.any():
        query, target = (int(k) for k in np.argwhere(missing)[0])
        names = f"{shown(context.queries.names[query])} with {shown(context.targets.names[target])}"
        raise InputError(
            f"a matrix requires every pair, but {int(missing.sum())} of its cells are empty (the first is {names}): "
            "omit options that select pairs, or choose format tsv"
        )
    if context.matrix_values != "score":
        if context.is_triangle:
            np.fill_diagonal(matrix, 1.0)
        if context.matrix_values == "distance":
            matrix = 1.0 - matrix
    labels: Sequence[str] = context.queries.names
    if context.matrix_layout == "npz":
        columns = {"queries": np.array(labels), "targets": np.array(context.targets.names)}
        sink = io.BytesIO()
        np.savez_compressed(sink, allow_pickle=False, **{context.matrix_values: matrix}, **columns)
        out.write(sink.getvalue())
        return
    form, separator = "{:.6f}", "\t"
    if context.matrix_layout == "tsv":
        rows.encoded_names(context.queries)
        if context.matrix_values == "score":
            form = "{}" if context.decimal_scores else "{:.0f}"
        comments = [*header.comment_lines(), f"# values: {context.matrix_values}"] if header.has_comments else []
        out.write(("\n".join([*comments, "\t".join(["", *context.targets.names])]) + "\n").encode())
    else:  # relaxed PHYLIP: names of any length, ended by a space, as FastME, RapidNJ and IQ-TREE read them
        labels, separator = phylip_names(context.queries.names), " "
        out.write(f"{len(matrix)}\n".encode())
    for name, row in zip(labels, matrix.tolist(), strict=True):
        cells = separator.join("" if value != value else form.format(value) for value in row)
        out.write(f"{name}{separator}{cells}\n".encode())


def suffixes(context: PairsContext) -> tuple[str, ...]:
    """Return the file suffixes of the layout."""
    return MATRIX_LAYOUTS[context.matrix_layout]


def check_layout(context: PairsContext) -> None:
    """Raise InputError if the layout cannot hold the values, or two rows or two columns would have one name."""
    for batch in (context.queries, context.targets):
        seen = set[str]()
        for name in batch.names:
            if name in seen:
                how = said("duplicate_names", "number")
                what = "rows and columns of a matrix are identified by name, but several sequences have this one"
                raise InputError(f"{what}: give each its own name, or use {how}", record=name)
            seen.add(name)
    if context.matrix_layout == "tsv":
        rows.check_names([*context.queries.names, *context.targets.names])
    if context.matrix_layout == "phylip" and (not context.is_triangle or context.matrix_values != "distance"):
        raise InputError(
            "PHYLIP contains the distances of a single set: request distances of a single file, or another layout"
        )


MATRIX = Codec(
    encode,
    assemble,
    assembled_with=("queries", "targets", "is_triangle", "matrix_values", "matrix_layout", "decimal_scores"),
    is_binary=lambda context: context.matrix_layout == "npz",
    needs_all=True,
    suffixes_with=suffixes,
    check=check_layout,
)
