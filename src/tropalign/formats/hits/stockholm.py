"""Included domains as multiple alignments, one per query, in Stockholm's format (``hmmsearch -A``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from tropalign.errors import InputError
from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.hits.context import HitsContext
from tropalign.formats.hits.parts import ASSEMBLED_WITH, assembled_by, encode
from tropalign.formats.hits.queries import queries_of, raw, write_lines
from tropalign.results.found_hits import Query
from tropalign.results.hit_alignment import HitAlignment, align_hits
from tropalign.results.hits import Hits

#: Columns per block, as Easel writes them; all in one where lines of text have no bound.
COLUMNS = 200


def lines(alignment: HitAlignment, query: Query, author: str, n_columns: int = COLUMNS) -> Iterator[str]:
    """The lines of an alignment, a character per byte; rows of equal names are numbered."""
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
    yield from _blocks(alignment, names, width, n_columns)
    yield "//"


def _blocks(alignment: HitAlignment, names: list[str], width: int, n_columns: int) -> Iterator[str]:
    """Rows with their posteriors, and below them what belongs to columns."""
    has_posteriors = bool(alignment.has_posteriors.any())
    margin = max(width + 9, 13) if has_posteriors else max(width + 1, 8)  # "#=GR name PP ", "#=GC PP_cons ", "#=GC RF "
    letters = [row.tobytes().decode("latin-1") for row in alignment.letters]
    posteriors = [row.tobytes().decode("latin-1") for row in alignment.posteriors]
    columns = (("PP_cons", alignment.mean_posteriors.decode()), ("RF", alignment.reference.decode()))
    total = len(alignment.is_node)
    for begin in range(0, total, n_columns or total):
        end = begin + n_columns if n_columns else total
        if begin:
            yield ""
        for k, name in enumerate(names):
            yield f"{name:<{margin - 1}} {letters[k][begin:end]}"
            if alignment.has_posteriors[k]:
                yield f"#=GR {name:<{width}} {'PP':<{margin - width - 7}} {posteriors[k][begin:end]}"
        for tag, text in columns if has_posteriors else columns[1:]:
            yield f"#=GC {tag:<{margin - 6}} {text[begin:end]}"


def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """An alignment per query that has an included domain."""
    author = f"tropalign {header.version} (the hits of HMMER 3.4)"
    n_columns = COLUMNS if context.text_width else 0
    for found in queries_of(pieces):
        alignment = align_hits(found.hits, found.index)
        if alignment is not None:
            write_lines(lines(alignment, found.query, author, n_columns), out)


def _check(context: HitsContext) -> None:
    """Raises InputError for a scan, whose hits are of many models."""
    if context.orientation == "scan":
        raise InputError("hits of a scan make no alignment, since each has its own model: use tropalign search")


STOCKHOLM = Codec(encode, assembled_by(write), assembled_with=ASSEMBLED_WITH, check=_check)
