"""HMMER's main text output (``hmmsearch -o``): scores, domains with their alignments, and filter statistics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from tropalign.formats.format import Codec, Header, one_line
from tropalign.formats.hits.context import HitsContext, QueryHits, queries_of, raw, write_lines
from tropalign.formats.hits.parts import ASSEMBLED_WITH, assembled_by, encode
from tropalign.results.found_hits import annotation_line
from tropalign.results.hits import Hits
from tropalign.results.threshold_options import Thresholds

#: Minimum number of alignment columns per line, even for a small line width.
LEAST_COLUMNS = 40
_DOMAIN_COLUMNS = " %3s   %6s %5s %9s %9s %7s %7s %2s %7s %7s %2s %7s %7s %2s %4s"
_DOMAIN_NUMBERS = " %3d %c %6.1f %5.1f %9.2g %9.2g"
_DOMAIN_HEADINGS = (
    *("#", "score", "bias", "c-Evalue", "i-Evalue"),
    *("hmmfrom", "hmm to", "  ", "alifrom", "ali to", "  ", "envfrom", "env to", "  ", "acc"),
)
_DOMAIN_RULES = (
    *("---", "------", "-----", "---------", "---------"),
    *("-------", "-------", "  ") * 3,
    "----",
)


def domain_rows(found: QueryHits, row: int, domains: list[int]) -> Iterator[str]:
    """Yield the table of a hit's domains."""
    hits = found.hits
    n_nodes, n_residues = hits.model(row).length, _sequence_length(found, row)
    yield _DOMAIN_COLUMNS % _DOMAIN_HEADINGS
    yield _DOMAIN_COLUMNS % _DOMAIN_RULES
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
        yield f"{_DOMAIN_NUMBERS % numbers} {' '.join(spans)} {hits.domain_accuracy[d]:4.2f}"


def _sequence_length(found: QueryHits, row: int) -> int:
    return int(found.hits.length[row]) if found.hits.orientation == "search" else found.query.length


def _span(begin: int, end: int, length: int) -> str:
    """Return start and end, with brackets if they are the ends of the sequence or model."""
    return f"{begin + 1:7d} {end:7d} {'[' if begin == 0 else '.'}{']' if end == length else '.'}"


def alignment_lines(found: QueryHits, row: int, d: int, context: HitsContext) -> Iterator[str]:
    """Yield the alignment of a domain in blocks: annotation of the model, model, matches, sequence, posteriors."""
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
    """Return the names of the model and of the sequence."""
    hits, query = found.hits, found.query
    own, other = (hits.accessions[row], hits.names[row]), (query.accession, query.name)
    target, searched = (raw((context.shows_accessions and pair[0]) or pair[1]) for pair in (own, other))
    return (searched, target) if hits.orientation == "search" else (target, searched)


_RULE = "# " + "- " * 35 + "-"
_NUMBERS = "  %9.2g %6.1f %5.1f  %9.2g %6.1f %5.1f  %5.1f %2d"
_CUTOFFS = {"gathering": "GA", "noise": "NC", "trusted": "TC"}


def preamble(header: Header, context: HitsContext) -> Iterator[str]:
    """Yield the first lines: what was searched, and options that differ from their defaults."""
    is_search = context.orientation == "search"
    what = "profile(s) against a sequence" if is_search else "sequence(s) against a profile"
    yield f"# tropalign {context.orientation}, in the format of hmm{context.orientation} :: search {what} database"
    yield f"# tropalign {header.version}, with the hits of HMMER 3.4"
    yield _RULE
    sequences, models = one_line(context.sequences), one_line(context.models)
    if is_search:
        yield f"# query HMM file:                  {models}"
        yield f"# target sequence database:        {sequences}"
    else:
        yield f"# query sequence file:             {sequences}"
        yield f"# target HMM database:             {models}"
    if context.shows_accessions:
        yield "# prefer accessions over names:    yes"
    if not context.shows_alignments:
        yield "# show alignments in output:       no"
    if context.text_width != 120:
        yield f"# max ASCII text line length:      {context.text_width or 'unlimited'}"
    yield from _threshold_lines(context.thresholds, "sequence" if is_search else "profile")
    yield from _filter_lines(context)
    yield _RULE
    yield ""


def _threshold_lines(chosen: Thresholds, target: str) -> Iterator[str]:
    plain = Thresholds()
    for what, of, E, T in (
        (target, "reporting", "E", "T"),
        ("domain", "reporting", "domE", "domT"),
        (target, "inclusion", "incE", "incT"),
        ("domain", "inclusion", "incdomE", "incdomT"),
    ):
        label = f"# {f'{what} {of} threshold:':<33}"
        if getattr(chosen, T) is not None:
            yield f"{label}score >= {getattr(chosen, T):g}"
        elif getattr(chosen, E) != getattr(plain, E):
            yield f"{label}E-value <= {getattr(chosen, E):g}"
    if chosen.bit_cutoffs is not None:
        yield f"# model-specific thresholding:     {_CUTOFFS[chosen.bit_cutoffs]} cutoffs"


def _filter_lines(context: HitsContext) -> Iterator[str]:
    plain, Z, domZ = HitsContext(), context.thresholds.Z, context.thresholds.domZ
    if context.is_unfiltered:
        yield "# Max sensitivity mode:            on [all heuristic filters off]"
    else:
        for name, filter_name in (("f1", "MSV"), ("f2", "Vit"), ("f3", "Fwd")):
            if getattr(context, name) != getattr(plain, name):
                yield f"# {filter_name} filter P threshold:       <= {getattr(context, name):g}"
        if not context.bias_filter:
            yield "# biased composition HMM filter:   off"
    if not context.null2:
        yield "# null2 bias corrections:          off"
    if Z is not None:
        yield f"# sequence search space set to:    {Z:.0f}"
    if domZ is not None:
        yield f"# domain search space set to:      {domZ:.0f}"
    if context.seed == 0:
        yield "# random number seed:              one-time arbitrary"
    elif context.seed != plain.seed:
        yield f"# random number seed set to:       {context.seed}"


def query_lines(found: QueryHits, context: HitsContext) -> Iterator[str]:
    """Yield the lines of a query: hits, their domains, statistics."""
    query = found.query
    letter = "L" if context.orientation == "scan" or query.is_sequence else "M"  # residues, or nodes of a model
    yield f"Query:       {raw(query.name)}  [{letter}={query.length}]"
    if query.accession:
        yield f"Accession:   {raw(query.accession)}"
    if query.description:
        yield f"Description: {raw(query.description)}"
    yield from score_lines(found, context)
    yield from ("", "")
    yield from domain_lines(found, context)
    yield from ("", "")
    yield from statistics_lines(found, context)
    yield "//"


def score_lines(found: QueryHits, context: HitsContext) -> Iterator[str]:
    """Yield a line per hit, the best first."""
    hits, is_search = found.hits, context.orientation == "search"
    width = max(8, found.widths[2 if context.shows_accessions else 0])
    most = max(32, context.text_width - width - 61) if context.text_width else None
    yield f"Scores for complete sequence{'s' * is_search} (score includes all domains):"
    yield f"  {' --- full sequence ---':>22}  {' --- best 1 domain ---':>22}  {'-#dom-':>8}"
    columns = "  %9s %6s %5s  %9s %6s %5s  %5s %2s  "
    target = "Sequence" if is_search else "Model"
    headings = ("E-value", " score", " bias", "E-value", " score", " bias", "  exp", "N")
    yield f"{columns % headings}{target:<{width}} Description"
    rules = ("-------", "------", "-----", "-------", "------", "-----", " ----", "--")
    yield f"{columns % rules}{'--------':<{width}} -----------"
    is_above = True
    for row in found.rows:
        if is_above and not hits.is_included[row]:
            yield "  ------ inclusion threshold ------"
            is_above = False
        best = found.best_domain(row)
        numbers = (
            hits.evalue[row],
            hits.bits[row],
            hits.bias[row],
            hits.domain_i_evalue[best],
            hits.domain_bits[best],
            hits.domain_bias[best],
            hits.n_expected[row],
            hits.n_reported[row],
        )
        text = _NUMBERS % numbers
        yield f"{text}  {raw(shown_name(hits, row, context)):<{width}}  {raw(hits.descriptions[row])[:most]}"
    if not found.rows:
        yield from ("", "   [No hits detected that satisfy reporting thresholds]")


def shown_name(hits: Hits, row: int, context: HitsContext) -> str:
    """Return the target's name, or its accession if preferred."""
    return (context.shows_accessions and hits.accessions[row]) or hits.names[row]


def domain_lines(found: QueryHits, context: HitsContext) -> Iterator[str]:
    """Yield the domains of each hit, and their alignments."""
    hits = found.hits
    alignments = " (and alignments)" if context.shows_alignments else ""
    yield f"Domain annotation for each {'sequence' if context.orientation == 'search' else 'model'}{alignments}:"
    for row in found.rows:
        name = raw(shown_name(hits, row, context))
        most = max(32, context.text_width - len(name) - 5) if context.text_width else None
        yield f">> {name}  {raw(hits.descriptions[row])[:most]}"
        own = found.domains(row)
        if not own:
            yield "   [No individual domains that satisfy reporting thresholds (although complete target did)]"
            yield ""
            continue
        yield from domain_rows(found, row, own)
        if not context.shows_alignments:
            yield ""
            continue
        yield from ("", "  Alignments for each domain:")
        for number, d in enumerate(own, 1):
            score = f"score: {hits.domain_bits[d]:.1f} bits;  conditional E-value: {hits.domain_c_evalue[d]:.2g}"
            yield f"  == domain {number}  {score}"
            yield from alignment_lines(found, row, d, context)
            yield ""
    if not found.rows:
        yield from ("", "   [No targets detected that satisfy reporting thresholds]")


def statistics_lines(found: QueryHits, context: HitsContext) -> Iterator[str]:
    """Yield the last lines of a query: the size of the search, and how many targets passed each filter."""
    hits, query = found.hits, found.query
    yield "Internal pipeline statistics summary:"
    yield "-------------------------------------"
    if context.orientation == "search":
        yield f"Query model(s):              {1:15d}  ({query.length} nodes)"
        yield f"Target sequences:            {hits.n_targets:15d}  ({hits.n_target_residues} residues searched)"
    else:
        yield f"Query sequence(s):           {1:15d}  ({query.length} residues searched)"
        yield f"Target model(s):             {hits.n_targets:15d}  ({hits.n_target_residues} nodes)"
    f1, f2, f3 = (min(value, 1.0) for value in (context.f1, context.f2, context.f3))
    names = ("Passed MSV filter:", "Passed bias filter:", "Passed Vit filter:", "Passed Fwd filter:")
    for name, n_past, p in zip(names, hits.n_passed[found.index].tolist(), (f1, f1, f2, f3), strict=True):
        share = n_past / hits.n_targets if hits.n_targets else 0.0
        yield f"{name:<29}{n_past:15d}  ({share:.6g}); expected {p * hits.n_targets:.1f} ({p:.6g})"
    set_by = "[as set by --Z on cmdline]" if context.thresholds.Z is not None else "[actual number of targets]"
    yield f"Initial search space (Z):    {hits.Z:15.0f}  {set_by}"
    reported = "[number of targets reported over threshold]"
    set_by = "[as set by --domZ on cmdline]" if context.thresholds.domZ is not None else reported
    yield f"Domain search space  (domZ): {hits.domZ[found.index]:15.0f}  {set_by}"


def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write a section per query."""
    write_lines(map(raw, preamble(header, context)), out)
    for query in queries_of(pieces):
        write_lines(query_lines(query, context), out)
    out.write(b"[ok]\n")


TEXT = Codec(encode, assembled_by(write), assembled_with=ASSEMBLED_WITH)
