"""Distances as tab-separated text: a row per source and target, or a matrix."""

from __future__ import annotations

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.paths.context import SEPARATOR, PathsContext, numbers_as_text
from tropalign.formats.text import concatenated
from tropalign.results import rows


def tsv_header(header: Header, context: PathsContext) -> bytes:
    """Comment lines, then the names of the columns."""
    names = ["from", "to", "distance", *(["path"] if context.with_paths else [])]
    return ("\n".join([*header.comment_lines(), "\t".join(names)]) + "\n").encode()


def encode_tsv(part: range, context: PathsContext) -> bytes:
    """The rows of some sources, targets in order."""
    n_targets = len(context.targets)
    distances = context.distances(part).ravel()
    distinct, place = np.unique(distances, return_inverse=True)
    data, offsets = context.encoded_names
    sources = np.repeat(context.paths.sources[part.start : part.stop], n_targets)
    columns: list[rows.Column] = [
        ("text", data, offsets, np.ascontiguousarray(sources, np.int64), ""),
        ("text", data, offsets, np.tile(context.targets, len(part)), ""),
        rows.choices(place, numbers_as_text(distinct)),
    ]
    if context.with_paths:
        columns.append(rows.words([text for row in part for text in _texts(context, row)]))
    return rows.join(columns, len(distances))


def _texts(context: PathsContext, row: int) -> list[str]:
    """The paths to the targets as text; empty where there is none."""
    vertices, lengths = context.paths.row_paths(row, context.targets)
    named = [context.names[vertex] for vertex in vertices.tolist()]
    ends = np.cumsum(lengths).tolist()
    return [SEPARATOR.join(named[end - n : end]) for end, n in zip(ends, lengths.tolist(), strict=True)]


def matrix_header(header: Header, context: PathsContext) -> bytes:
    """Comment lines, then the names of the targets."""
    assert context.encoded_names
    names = ["from", *(context.names[target] for target in context.targets.tolist())]
    return ("\n".join([*header.comment_lines(), "\t".join(names)]) + "\n").encode()


def encode_matrix(part: range, context: PathsContext) -> bytes:
    """The rows of some sources."""
    lines = [
        "\t".join([context.names[int(source)], *numbers_as_text(row)]) + "\n"
        for source, row in zip(context.paths.sources[part.start : part.stop], context.distances(part), strict=True)
    ]
    return "".join(lines).encode()


def check(context: PathsContext) -> None:
    """Raises InputError where paths are wanted."""
    if context.with_paths:
        raise InputError("a matrix has no room for paths: write tsv, npz or parquet, or leave --paths out")


TSV = Codec(encode_tsv, concatenated(tsv_header))
MATRIX = Codec(encode_matrix, concatenated(matrix_header), check=check)
