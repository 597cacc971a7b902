"""HMMER's table of hits (``hmmsearch --tblout``): a line per hit, columns between spaces."""

from __future__ import annotations

from collections.abc import Iterator

from tropalign.formats.hit_parts import ASSEMBLED_WITH, assembled_by, encode_without_lines
from tropalign.formats.hit_rows import QueryHits, raw, table_of
from tropalign.formats.writer import Format

_NUMBERS = "%9.2g %6.1f %5.1f %9.2g %6.1f %5.1f %5.1f %3d %3d %3d %3d %3d %3d %3d"
_WORDS = "%9s %6s %5s %9s %6s %5s %5s %3s %3s %3s %3s %3s %3s %3s"
_HEADINGS = ("  E-value", " score", " bias", "  E-value", " score", " bias", "exp", "reg", "clu", " ov", "env", "dom")
_RULES = ("-" * 9, "-" * 6, "-" * 5, "-" * 9, "-" * 6, "-" * 5, *("---",) * 8)


def lines(found: QueryHits) -> Iterator[str]:
    """The lines of a query; above those of the first one the headings, as wide as its columns."""
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
            f"{'accession':<{accession_width}} {_WORDS % (*_HEADINGS, 'rep', 'inc')} description of target"
        )
        yield (
            f"#{'-' * 19:>{target_width - 1}} {'-' * 10:>{target_accession_width}} {'-' * 20:>{width}} "
            f"{'-' * 10:>{accession_width}} {_WORDS % _RULES} {'-' * 21}"
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
            f"{name:<{width}} {accession:<{accession_width}} {_NUMBERS % numbers} {raw(hits.descriptions[row]) or '-'}"
        )


FORMAT = Format((".tbl", ".tblout"), encode_without_lines, assembled_by(table_of(lines)), assembled_with=ASSEMBLED_WITH)
