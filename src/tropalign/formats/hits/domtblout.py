"""HMMER's table of domains (``hmmsearch --domtblout``): a line per domain, columns between spaces."""

from __future__ import annotations

from collections.abc import Iterator

from tropalign.formats.hit_parts import ASSEMBLED_WITH, assembled_by, encode_without_lines
from tropalign.formats.hit_rows import QueryHits, raw, table_of
from tropalign.formats.writer import Format

_HIT = "%9.2g %6.1f %5.1f"
_DOMAIN = "%3d %3d %9.2g %9.2g %6.1f %5.1f %5d %5d %5d %5d %5d %5d %4.2f"
_WORDS = "%9s %6s %5s %3s %3s %9s %9s %6s %5s %5s %5s %5s %5s %5s %5s %4s"
_HEADINGS = (
    *("E-value", "score", "bias", "#", "of", "c-Evalue", "i-Evalue", "score", "bias"),
    *("from", "to") * 3,
    "acc",
)
_RULES = tuple("-" * n for n in (9, 6, 5, 3, 3, 9, 9, 6, 5, 5, 5, 5, 5, 5, 5, 4))


def lines(found: QueryHits) -> Iterator[str]:
    """The lines of a query; above those of the first one the headings, as wide as its columns."""
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


FORMAT = Format(
    (".domtbl", ".domtblout"), encode_without_lines, assembled_by(table_of(lines)), assembled_with=ASSEMBLED_WITH
)
