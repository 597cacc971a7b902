"""Pfam's tables (``hmmsearch --pfamtblout``): the hits of a query, then its domains, the best first."""

from __future__ import annotations

from collections.abc import Iterator

from tropalign.formats.hit_parts import ASSEMBLED_WITH, assembled_by, encode_without_lines
from tropalign.formats.hit_rows import QueryHits, raw, table_of
from tropalign.formats.writer import Format

_HIT = "%6.1f %9.2g %3d %5.1f %5.1f"
_DOMAIN = "%6.1f %9.2g %5d %5.1f %6d %6d %6d %6d %6d %6d"
_DOMAIN_WORDS = "%6s %9s %5s %5s %6s %6s %6s %6s %6s %6s"
_DOMAIN_HEADINGS = ("bits", "E-value", "hit", "bias", "env-st", "env-en", "ali-st", "ali-en", "hmm-st", "hmm-en")
_DOMAIN_RULES = tuple("-" * n for n in (6, 9, 5, 5, 6, 6, 6, 6, 6, 6))


def lines(found: QueryHits) -> Iterator[str]:
    """Both tables of a query."""
    hits, width = found.hits, max(20, found.widths[0])
    yield from ("# Sequence scores", "# ---------------", "#")
    yield f"# {'name':<{width - 1}} {' bits':>6} {'  E-value':>9} {'n':>3} {'exp':>5} {' bias':>5}    description"
    yield f"# {'-' * 19:>{width - 1}} {'-' * 6} {'-' * 9} --- {'-' * 5} {'-' * 5}    {'-' * 21}"
    for row in found.rows:
        numbers = (hits.bits[row], hits.evalue[row], hits.n_domains[row], hits.n_expected[row], hits.bias[row])
        yield f"{raw(hits.names[row]):<{width}}  {_HIT % numbers}    {raw(hits.descriptions[row]) or '-'}"
    yield ""
    yield from ("# Domain scores", "# -------------", "#")
    yield f"# {' name':<{width - 1}} {_DOMAIN_WORDS % _DOMAIN_HEADINGS}     description"
    yield f"# {'-' * 19:>{width - 1}} {_DOMAIN_WORDS % _DOMAIN_RULES}      {'-' * 21}"
    for row, number, d in _sorted(found):
        domain = (
            hits.domain_bits[d],
            hits.domain_i_evalue[d],
            number,
            hits.domain_bias[d],
            hits.domain_envelope_begin[d] + 1,
            hits.domain_envelope_end[d],
            hits.domain_begin[d] + 1,
            hits.domain_end[d],
            hits.domain_model_begin[d] + 1,
            hits.domain_model_end[d],
        )
        yield f"{raw(hits.names[row]):<{width}}  {_DOMAIN % domain}     {raw(hits.descriptions[row]) or '-'}"


def _sorted(found: QueryHits) -> list[tuple[int, int, int]]:
    """Hit, number within the hit and index of each reported domain, sorted as hits are."""
    hits = found.hits
    key = hits.domain_bits if hits.thresholds.sorts_by_score else -hits.domain_log_p

    def place(entry: tuple[int, int, int]) -> tuple[float, str, bool, int]:
        row, _, d = entry
        begin, end = int(hits.domain_begin[d]), int(hits.domain_end[d])
        return -float(key[d]), hits.names[row], begin + 1 >= end, begin

    return sorted(((row, n, d) for row in found.rows for n, d in enumerate(found.domains(row), 1)), key=place)


FORMAT = Format(
    (".pfamtbl", ".pfamtblout"), encode_without_lines, assembled_by(table_of(lines)), assembled_with=ASSEMBLED_WITH
)
