"""Square and rectangular matrices of scores, identities or distances: TSV, PHYLIP or NumPy's .npz."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.table import AlignmentTable

if TYPE_CHECKING:
    from tropalign.formats.writers import Context


def encode(table: AlignmentTable, context: Context) -> bytes:
    """The indices and the values wanted, as .npz."""
    values = table.score.astype(np.float64) if context.matrix_values == "score" else table.identity
    sink = io.BytesIO()
    np.savez(sink, query=table.query_index, target=table.target_index, value=values)
    return sink.getvalue()


def assemble(parts: Iterator[bytes], out: BinaryIO, context: Context) -> None:
    """Puts the values in their places (both triangles for the pairs of a set) and writes them.

    The diagonal of a set holds identity 1, distance 0, and no score (nan in .npz, an empty cell in TSV).
    """
    matrix = np.full((len(context.queries), len(context.targets)), np.nan)
    for part in parts:
        columns = np.load(io.BytesIO(part))
        matrix[columns["query"], columns["target"]] = columns["value"]
        if context.is_triangle:
            matrix[columns["target"], columns["query"]] = columns["value"]
    if context.matrix_values != "score":
        if context.is_triangle:
            np.fill_diagonal(matrix, 1.0)
        if context.matrix_values == "distance":
            matrix = 1.0 - matrix
    {"tsv": _tsv, "phylip": _phylip, "npz": _npz}[context.matrix_layout](matrix, out, context)


def _cell(value: float, context: Context) -> str:
    if np.isnan(value):
        return ""
    return str(int(value)) if context.matrix_values == "score" else f"{value:.6f}"


def _tsv(matrix: NDArray[np.float64], out: BinaryIO, context: Context) -> None:
    out.write(("\t".join(["", *context.targets.names]) + "\n").encode())
    for name, row in zip(context.queries.names, matrix.tolist(), strict=True):
        out.write(("\t".join([name, *(_cell(value, context) for value in row)]) + "\n").encode())


def _phylip(matrix: NDArray[np.float64], out: BinaryIO, context: Context) -> None:
    if not context.is_triangle or context.matrix_values != "distance":
        raise InputError("PHYLIP holds distances of one set: use --matrix-values distance and a single file")
    out.write(f"{len(matrix)}\n".encode())
    for name, row in zip(context.queries.names, matrix.tolist(), strict=True):
        out.write(f"{name.replace(' ', '_'):<10} {' '.join(f'{value:.6f}' for value in row)}\n".encode())


def _npz(matrix: NDArray[np.float64], out: BinaryIO, context: Context) -> None:
    sink = io.BytesIO()
    np.savez_compressed(
        sink,
        **{context.matrix_values: matrix},  # type: ignore[arg-type]
        queries=np.array(context.queries.names),
        targets=np.array(context.targets.names),
    )
    out.write(sink.getvalue())
