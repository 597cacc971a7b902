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
        texts: list[str] = []
        for row in part:
            found = _texts(context.paths.predecessors[row].tolist(), int(context.paths.sources[row]), context.names)
            texts += [found[target] or "" for target in context.targets.tolist()]
        columns.append(rows.words(texts))
    return rows.join(columns, len(distances))


def _texts(before: list[int], source: int, names: tuple[str, ...]) -> list[str | None]:
    """The path to each vertex as text, that of the vertex before it continued; None where there is none."""
    texts: list[str | None] = [None] * len(before)
    texts[source] = names[source]
    for target in range(len(before)):
        waiting, v = [], target
        while texts[v] is None and before[v] >= 0:
            waiting.append(v)
            v = before[v]
        text = texts[v]
        for v in reversed(waiting):
            texts[v] = text = f"{text}{SEPARATOR}{names[v]}"
    return texts


FORMAT = Format((".tsv", ".txt"), encode, concatenated(header_text))
