"""HMMER's tables of hits: a line per hit or per domain, columns separated by spaces."""

from __future__ import annotations

from collections.abc import Iterator

from tropalign.formats.format import Codec
from tropalign.formats.hits.context import QueryHits, raw, table_of
from tropalign.formats.hits.parts import ASSEMBLED_WITH, assembled_by, encode_without_lines

_HIT_NUMBERS = "%9.2g %6.1f %5.1f %9.2g %6.1f %5.1f %5.1f %3d %3d %3d %3d %3d %3d %3d"
_HIT_WORDS = "%9s %6s %5s %9s %6s %5s %5s %3s %3s %3s %3s %3s %3s %3s"
_HIT_HEADINGS = (
    "  E-value",
    " score",
    " bias",
    "  E-value",
    " score",
    " bias",
    "exp",
    "reg",
    "clu",
    " ov",
    "env",
    "dom",
)
_HIT_RULES = ("-" * 9, "-" * 6, "-" * 5, "-" * 9, "-" * 6, "-" * 5, *("---",) * 8)


def hit_lines(found: QueryHits) -> Iterator[str]:
    """Yield the hit lines of a query; the first query's are preceded by headings in the widths of its columns."""
    hits, name, accession = found.hits, raw(found.query.name), raw(found.query.accession) or "-"
    target_width, target_accession_width = max(20, found.widths[0]), max(10, found.widths[1])
    width, accession_width = max(20, len(name)), max(10, len(accession))
    if found.is_first:
        yield (
            f"#{'':{target_width + width + target_accession_width + accession_width + 2}} "
            f"{'--- full sequence ----':>22} {'--- best 1 domain ----':>22} {'--- domain number estimation ----':>33}"
        )
        yield (
            f"#{' target name':<{target_width - 1}} {'accession':<{target_accession_width}} {'query name':<{width}} "
            f"{'accession':<{accession_width}} {_HIT_WORDS % (*_HIT_HEADINGS, 'rep', 'inc')} description of target"
        )
        yield (
            f"#{'-' * 19:>{target_width - 1}} {'-' * 10:>{target_accession_width}} {'-' * 20:>{width}} "
            f"{'-' * 10:>{accession_width}} {_HIT_WORDS % _HIT_RULES} {'-' * 21}"
        )
    for row in found.rows:
        best = found.best_domain(row)
        numbers = (
            hits.evalue[row],
            hits.bits[row],
            hits.bias[row],
            hits.domain_i_evalue[best],
            hits.domain_bits[best],
            hits.domain_bias[best],
            hits.n_expected[row],
            hits.n_regions[row],
            hits.n_clustered[row],
            hits.n_overlaps[row],
            hits.n_envelopes[row],
            hits.n_domains[row],
            hits.n_reported[row],
            hits.n_included[row],
        )
        yield (
            f"{raw(hits.names[row]):<{target_width}} {raw(hits.accessions[row]) or '-':<{target_accession_width}} "
            f"{name:<{width}} {accession:<{accession_width}} {_HIT_NUMBERS % numbers} "
            f"{raw(hits.descriptions[row]) or '-'}"
        )


_HIT = "%9.2g %6.1f %5.1f"
_DOMAIN = "%3d %3d %9.2g %9.2g %6.1f %5.1f %5d %5d %5d %5d %5d %5d %4.2f"
_WORDS = "%9s %6s %5s %3s %3s %9s %9s %6s %5s %5s %5s %5s %5s %5s %5s %4s"
_HEADINGS = (
    *("E-value", "score", "bias", "#", "of", "c-Evalue", "i-Evalue", "score", "bias"),
    *("from", "to") * 3,
    "acc",
)
_RULES = tuple("-" * n for n in (9, 6, 5, 3, 3, 9, 9, 6, 5, 5, 5, 5, 5, 5, 5, 4))


def domain_lines(found: QueryHits) -> Iterator[str]:
    """Yield the domain lines of a query; the first query's are preceded by headings in the widths of its columns."""
    hits, name, accession = found.hits, raw(found.query.name), raw(found.query.accession) or "-"
    target_width, target_accession_width = max(20, found.widths[0]), max(10, found.widths[1])
    width, accession_width = max(20, len(name)), max(10, len(accession))
    if found.is_first:
        yield (
            f"#{'':{target_width + width - 1 + 15 + target_accession_width + accession_width}} "
            f"{'--- full sequence ---':>22} {'-------------- this domain -------------':>40} {'hmm coord':>11} "
            f"{'ali coord':>11} {'env coord':>11}"
        )
        yield (
            f"#{' target name':<{target_width - 1}} {'accession':<{target_accession_width}} {'tlen':>5} "
            f"{'query name':<{width}} {'accession':<{accession_width}} {'qlen':>5} {_WORDS % _HEADINGS} "
            "description of target"
        )
        yield (
            f"#{'-' * 19:>{target_width - 1}} {'-' * 10:>{target_accession_width}} {'-----':>5} "
            f"{'-' * 20:>{width}} {'-' * 10:>{accession_width}} {'-----':>5} {_WORDS % _RULES} {'-' * 21}"
        )
    for row in found.rows:
        target = f"{raw(hits.names[row]):<{target_width}} {raw(hits.accessions[row]) or '-':<{target_accession_width}}"
        query = f"{hits.length[row]:5d} {name:<{width}} {accession:<{accession_width}} {found.query.length:5d}"
        whole = _HIT % (hits.evalue[row], hits.bits[row], hits.bias[row])
        description = raw(hits.descriptions[row]) or "-"
        own = found.domains(row)
        for number, d in enumerate(own, 1):
            numbers = (
                number,
                len(own),
                hits.domain_c_evalue[d],
                hits.domain_i_evalue[d],
                hits.domain_bits[d],
                hits.domain_bias[d],
                hits.domain_model_begin[d] + 1,
                hits.domain_model_end[d],
                hits.domain_begin[d] + 1,
                hits.domain_end[d],
                hits.domain_envelope_begin[d] + 1,
                hits.domain_envelope_end[d],
                hits.domain_accuracy[d],
            )
            yield f"{target} {query} {whole} {_DOMAIN % numbers} {description}"


_PFAM_HIT = "%6.1f %9.2g %3d %5.1f %5.1f"
_PFAM_DOMAIN = "%6.1f %9.2g %5d %5.1f %6d %6d %6d %6d %6d %6d"
_PFAM_DOMAIN_WORDS = "%6s %9s %5s %5s %6s %6s %6s %6s %6s %6s"
_PFAM_DOMAIN_HEADINGS = ("bits", "E-value", "hit", "bias", "env-st", "env-en", "ali-st", "ali-en", "hmm-st", "hmm-en")
_PFAM_DOMAIN_RULES = tuple("-" * n for n in (6, 9, 5, 5, 6, 6, 6, 6, 6, 6))


def pfam_lines(found: QueryHits) -> Iterator[str]:
    """Yield both tables of a query."""
    hits, width = found.hits, max(20, found.widths[0])
    yield from ("# Sequence scores", "# ---------------", "#")
    yield f"# {'name':<{width - 1}} {' bits':>6} {'  E-value':>9} {'n':>3} {'exp':>5} {' bias':>5}    description"
    yield f"# {'-' * 19:>{width - 1}} {'-' * 6} {'-' * 9} --- {'-' * 5} {'-' * 5}    {'-' * 21}"
    for row in found.rows:
        numbers = (hits.bits[row], hits.evalue[row], hits.n_domains[row], hits.n_expected[row], hits.bias[row])
        yield f"{raw(hits.names[row]):<{width}}  {_PFAM_HIT % numbers}    {raw(hits.descriptions[row]) or '-'}"
    yield ""
    yield from ("# Domain scores", "# -------------", "#")
    yield f"# {' name':<{width - 1}} {_PFAM_DOMAIN_WORDS % _PFAM_DOMAIN_HEADINGS}     description"
    yield f"# {'-' * 19:>{width - 1}} {_PFAM_DOMAIN_WORDS % _PFAM_DOMAIN_RULES}      {'-' * 21}"
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
        yield f"{raw(hits.names[row]):<{width}}  {_PFAM_DOMAIN % domain}     {raw(hits.descriptions[row]) or '-'}"


def _sorted(found: QueryHits) -> list[tuple[int, int, int]]:
    """Return hit, number within the hit and index of each reported domain, sorted like hits."""
    hits = found.hits
    key = hits.domain_bits if hits.thresholds.sorts_by_score else -hits.domain_log_p

    def place(entry: tuple[int, int, int]) -> tuple[float, str, bool, int]:
        row, _, d = entry
        begin, end = int(hits.domain_begin[d]), int(hits.domain_end[d])
        return -float(key[d]), hits.names[row], begin + 1 >= end, begin

    return sorted(((row, n, d) for row in found.rows for n, d in enumerate(found.domains(row), 1)), key=place)


TBLOUT = Codec(encode_without_lines, assembled_by(table_of(hit_lines)), assembled_with=ASSEMBLED_WITH)
DOMTBLOUT = Codec(encode_without_lines, assembled_by(table_of(domain_lines)), assembled_with=ASSEMBLED_WITH)
PFAMTBLOUT = Codec(encode_without_lines, assembled_by(table_of(pfam_lines)), assembled_with=ASSEMBLED_WITH)
