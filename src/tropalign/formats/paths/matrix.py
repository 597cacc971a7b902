"""A matrix of distances as tab-separated text: a row per source, a column per target."""

from __future__ import annotations

from tropalign.errors import InputError
from tropalign.formats.header import Header
from tropalign.formats.paths import PathsContext, numbers_as_text
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format


def header_text(header: Header, context: PathsContext) -> bytes:
    """Comment lines, then the names of the targets."""
    assert context.encoded_names
    names = ["from", *(context.names[target] for target in context.targets.tolist())]
    return ("\n".join([*header.comment_lines(), "\t".join(names)]) + "\n").encode()


def encode(part: range, context: PathsContext) -> bytes:
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


FORMAT = Format((), encode, concatenated(header_text), check=check)
