"""Tab-separated tables of distances: a row per source and target."""

from __future__ import annotations

import numpy as np

from tropalign.formats.header import Header
from tropalign.formats.paths import SEPARATOR, PathsContext, numbers_as_text
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import rows


def header_text(header: Header, context: PathsContext) -> bytes:
    """Comment lines, then the names of the columns."""
    names = ["from", "to", "distance", *(["path"] if context.with_paths else [])]
    return ("\n".join([*header.comment_lines(), "\t".join(names)]) + "\n").encode()


def encode(part: range, context: PathsContext) -> bytes:
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


FORMAT = Format((".tsv", ".txt"), encode, concatenated(header_text))
