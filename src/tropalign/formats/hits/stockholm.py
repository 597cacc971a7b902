"""Included domains as multiple alignments, one per query, in Stockholm format (``hmmsearch -A``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from tropalign.errors import InputError
from tropalign.formats.aligned.profile import COLUMNS, blocks
from tropalign.formats.format import Codec, Header
from tropalign.formats.hits.context import HitsContext, queries_of, raw, write_lines
from tropalign.formats.hits.parts import ASSEMBLED_WITH, assembled_by, encode
from tropalign.results.found_hits import Query
from tropalign.results.hit_alignment import HitAlignment, align_hits
from tropalign.results.hits import Hits


def lines(alignment: HitAlignment, query: Query, author: str, n_columns: int = COLUMNS) -> Iterator[str]:
    """Yield the lines of an alignment, a character per byte; rows with equal names are numbered.

    If `n_columns` is 0, all columns are in one block.
    """
    yield "# STOCKHOLM 1.0"
    names = [raw(name) for name in alignment.names]
    if len(set(names)) < len(names):
        yield '# WARNING: seq names have been made unique by adding a prefix of "<seq#>|"'
        digits = len(str(len(names)))
        names = [f"{k:0{digits}d}|{name}" for k, name in enumerate(names)]
    for tag, text in (("ID", query.name), ("AC", query.accession), ("DE", query.description), ("AU", author)):
        if text:
            yield f"#=GF {tag} {raw(text)}"
    yield ""
    width = max(map(len, names))
    for tag, texts in (("AC", alignment.accessions), ("DE", alignment.descriptions)):
        if any(texts):
            yield from (
                f"#=GS {name:<{width}} {tag} {raw(text)}" for name, text in zip(names, texts, strict=True) if text
            )
            yield ""
    yield from _blocks(alignment, names, n_columns)
    yield "//"


def _blocks(alignment: HitAlignment, names: list[str], n_columns: int) -> Iterator[str]:
    """Yield rows with their posteriors, followed by the column annotation."""
    columns = ((b"PP_cons", alignment.mean_posteriors), (b"RF", alignment.reference))
    total = len(alignment.is_node)
    made = blocks(
        [name.encode("latin-1") for name in names],
        lambda first, last, begin, end: alignment.letters[first:last, begin:end],
        lambda first, last, begin, end: alignment.posteriors[first:last, begin:end],
        alignment.has_posteriors,
        columns if alignment.has_posteriors.any() else columns[1:],
        n_columns or total,
        total,
    )
    for lines_made in made:
        yield from lines_made[:-1].decode("latin-1").split("\n")


def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write an alignment per query with an included domain."""
    author = f"tropalign {header.version} (the hits of HMMER 3.4)"
    n_columns = COLUMNS if context.text_width else 0
    for found in queries_of(pieces):
        alignment = align_hits(found.hits, found.index)
        if alignment is not None:
            write_lines(lines(alignment, found.query, author, n_columns), out)


def _check(context: HitsContext) -> None:
    """Raise InputError for a scan, whose hits belong to different models."""
    if context.orientation == "scan":
        raise InputError("hits of a scan make no alignment, since each has its own model: use tropalign search")


STOCKHOLM = Codec(encode, assembled_by(write), assembled_with=ASSEMBLED_WITH, check=_check)
