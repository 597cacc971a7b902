"""Domains and their alignments in HMMER's text."""

from __future__ import annotations

from collections.abc import Iterator

from tropalign.formats.hits.context import HitsContext
from tropalign.formats.hits.queries import QueryHits, raw
from tropalign.results.found_hits import annotation_line

#: Columns of an alignment that a line has at least, however short lines are to be.
LEAST_COLUMNS = 40
_COLUMNS = " %3s   %6s %5s %9s %9s %7s %7s %2s %7s %7s %2s %7s %7s %2s %4s"
_NUMBERS = " %3d %c %6.1f %5.1f %9.2g %9.2g"
_HEADINGS = (
    *("#", "score", "bias", "c-Evalue", "i-Evalue"),
    *("hmmfrom", "hmm to", "  ", "alifrom", "ali to", "  ", "envfrom", "env to", "  ", "acc"),
)
_RULES = (
    *("---", "------", "-----", "---------", "---------"),
    *("-------", "-------", "  ") * 3,
    "----",
)


def domain_rows(found: QueryHits, row: int, domains: list[int]) -> Iterator[str]:
    """The table of a hit's domains."""
    hits = found.hits
    n_nodes, n_residues = hits.model(row).length, _sequence_length(found, row)
    yield _COLUMNS % _HEADINGS
    yield _COLUMNS % _RULES
    for number, d in enumerate(domains, 1):
        numbers = (
            number,
            "!" if hits.domain_is_included[d] else "?",
            hits.domain_bits[d],
            hits.domain_bias[d],
            hits.domain_c_evalue[d],
            hits.domain_i_evalue[d],
        )
        spans = (
            _span(int(hits.domain_model_begin[d]), int(hits.domain_model_end[d]), n_nodes),
            _span(int(hits.domain_begin[d]), int(hits.domain_end[d]), n_residues),
            _span(int(hits.domain_envelope_begin[d]), int(hits.domain_envelope_end[d]), n_residues),
        )
        yield f"{_NUMBERS % numbers} {' '.join(spans)} {hits.domain_accuracy[d]:4.2f}"


def _sequence_length(found: QueryHits, row: int) -> int:
    return int(found.hits.length[row]) if found.hits.orientation == "search" else found.query.length


def _span(begin: int, end: int, length: int) -> str:
    """From, to, and brackets where these are the ends."""
    return f"{begin + 1:7d} {end:7d} {'[' if begin == 0 else '.'}{']' if end == length else '.'}"


def alignment_lines(found: QueryHits, row: int, d: int, context: HitsContext) -> Iterator[str]:
    """The alignment of a domain in blocks: annotation of the model, model, matches, sequence, posteriors."""
    hits, model = found.hits, found.hits.model(row)
    lines = hits.domain_lines(d)
    i, j = int(hits.domain_model_begin[d]), int(hits.domain_begin[d])
    above = [
        (mark, annotation_line(annotation, lines["model_line"], i))
        for mark, annotation in (("CS", model.structure), ("RF", model.reference))
        if annotation is not None
    ]
    model_name, sequence_name = _names(found, row, context)
    width = max(len(model_name), len(sequence_name))
    digits = max(len(str(n)) for n in (i + 1, hits.domain_model_end[d], j + 1, hits.domain_end[d]))
    n_columns = len(lines["model_line"])
    step = context.text_width - width - 2 * digits - 5 if context.text_width else n_columns
    if step < n_columns:
        step = max(step, LEAST_COLUMNS)
    margin = f"  {'':{width + digits + 1}} "
    for begin in range(0, n_columns, step):
        part = slice(begin, begin + step)
        top, bottom = lines["model_line"][part], lines["target_line"][part]
        n_model, n_target = len(top) - top.count("."), len(bottom) - bottom.count("-")
        if begin:
            yield ""
        yield from (f"{margin}{text[part]} {mark}" for mark, text in above)
        yield f"  {model_name:>{width}} {i + 1:>{digits}} {top} {i + n_model:<{digits}}"
        yield f"{margin}{lines['match_line'][part]}"
        first, last = (str(j + 1), str(j + n_target)) if n_target else ("-", "-")
        aligned = f"{last:<{digits}}" if n_target else f"{last:>{digits}}"
        yield f"  {sequence_name:>{width}} {first:>{digits}} {bottom} {aligned}"
        yield f"{margin}{lines['posterior_line'][part]} PP"
        i, j = i + n_model, j + n_target


def _names(found: QueryHits, row: int, context: HitsContext) -> tuple[str, str]:
    """The names of the model and of the sequence."""
    hits, query = found.hits, found.query
    own, other = (hits.accessions[row], hits.names[row]), (query.accession, query.name)
    target, searched = (raw((context.shows_accessions and pair[0]) or pair[1]) for pair in (own, other))
    return (searched, target) if hits.orientation == "search" else (target, searched)
