"""Hits as HMMER writes them: its text (``hmmsearch -o``), its tables, Pfam's tables, Stockholm; and files of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from tropalign.errors import InputError, counted
from tropalign.formats.aligned.profile import COLUMNS, blocks
from tropalign.formats.format import Codec, Concatenated, Header, PlainContext, one_line
from tropalign.formats.hits.context import (
    ASSEMBLED_WITH,
    HitsContext,
    QueryHits,
    assembled_by,
    encode,
    encode_without_lines,
    queries_of,
    raw,
    table_of,
    write_lines,
)
from tropalign.results.found_hits import Query, annotation_line
from tropalign.results.hits import HitAlignment, Hits, align_hits
from tropalign.results.threshold_options import IF_ANY, Thresholds

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
    n_nodes = hits.model(row).length
    n_residues = int(hits.length[row]) if hits.orientation == "search" else found.query.length
    yield _DOMAIN_COLUMNS % _DOMAIN_HEADINGS
    yield _DOMAIN_COLUMNS % _DOMAIN_RULES
    for number, d in enumerate(domains, 1):
        scores = found.values("domain_bits domain_bias domain_c_evalue domain_i_evalue", d)
        numbers = (number, "!" if hits.domain_is_included[d] else "?", *scores)
        spans = (
            _span(int(hits.domain_model_begin[d]), int(hits.domain_model_end[d]), n_nodes),
            _span(int(hits.domain_begin[d]), int(hits.domain_end[d]), n_residues),
            _span(int(hits.domain_envelope_begin[d]), int(hits.domain_envelope_end[d]), n_residues),
        )
        yield f"{_DOMAIN_NUMBERS % numbers} {' '.join(spans)} {hits.domain_accuracy[d]:4.2f}"


def _span(begin: int, end: int, length: int) -> str:
    """Return start and end, each with a bracket if the sequence or model ends there."""
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
    plain, target = Thresholds(), "sequence" if is_search else "profile"
    for searched, of, E, T in (
        (target, "reporting", "E", "T"),
        ("domain", "reporting", "domE", "domT"),
        (target, "inclusion", "incE", "incT"),
        ("domain", "inclusion", "incdomE", "incdomT"),
    ):
        label = f"# {f'{searched} {of} threshold:':<33}"
        if getattr(context.thresholds, T) is not None:
            yield f"{label}score >= {getattr(context.thresholds, T):g}"
        elif getattr(context.thresholds, E) != getattr(plain, E):
            yield f"{label}E-value <= {getattr(context.thresholds, E):g}"
    if (kind := context.thresholds.bit_cutoffs) is not None:
        of_some = "" if context.thresholds.requires_cutoffs else ", if the model has them"
        yield f"# model-specific thresholding:     {_CUTOFFS[kind.removesuffix(IF_ANY)]} cutoffs{of_some}"
    if own := context.thresholds.per_model:
        yield f"# thresholds of models:            given for {counted(len(own), 'names')}"
    yield from _filter_lines(context)
    yield _RULE
    yield ""


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
    yield from domain_sections(found, context)
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
        numbers = (*found.scores(row), *found.values("n_expected n_reported", row))
        text = _NUMBERS % numbers
        yield f"{text}  {raw(shown_name(hits, row, context)):<{width}}  {raw(hits.descriptions[row])[:most]}"
    if not found.rows:
        yield from ("", "   [No hits detected that satisfy reporting thresholds]")


def shown_name(hits: Hits, row: int, context: HitsContext) -> str:
    """Return the target's name, or its accession if preferred."""
    return (context.shows_accessions and hits.accessions[row]) or hits.names[row]


def domain_sections(found: QueryHits, context: HitsContext) -> Iterator[str]:
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


def write_text(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write a section per query."""
    write_lines(map(raw, preamble(header, context)), out)
    for query in queries_of(pieces):
        write_lines(query_lines(query, context), out)
    out.write(b"[ok]\n")


TEXT = Codec(encode, assembled_by(write_text), assembled_with=ASSEMBLED_WITH)


_HIT_NUMBERS = "%9.2g %6.1f %5.1f %9.2g %6.1f %5.1f %5.1f %3d %3d %3d %3d %3d %3d %3d"
_HIT_WORDS = "%9s %6s %5s %9s %6s %5s %5s %3s %3s %3s %3s %3s %3s %3s"
_HIT_HEADINGS = (
    *("  E-value", " score", " bias") * 2,
    *("exp", "reg", "clu", " ov", "env", "dom"),
)
_HIT_RULES = ("-" * 9, "-" * 6, "-" * 5, "-" * 9, "-" * 6, "-" * 5, *("---",) * 8)


def hit_lines(found: QueryHits) -> Iterator[str]:
    """Yield the hit lines of a query, after headings of matching widths if it is the first query."""
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
        numbers = (
            *found.scores(row),
            *found.values(
                "n_expected n_regions n_clustered n_overlaps n_envelopes n_domains n_reported n_included", row
            ),
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
    """Yield the domain lines of a query, after headings of matching widths if it is the first query."""
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
                *(number, len(own)),
                *found.values("domain_c_evalue domain_i_evalue domain_bits domain_bias", d),
                *(hits.domain_model_begin[d] + 1, hits.domain_model_end[d]),
                *(hits.domain_begin[d] + 1, hits.domain_end[d]),
                *(hits.domain_envelope_begin[d] + 1, hits.domain_envelope_end[d]),
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


def stockholm_lines(alignment: HitAlignment, query: Query, author: str, n_columns: int = COLUMNS) -> Iterator[str]:
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
    yield "//"


def write_stockholm(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write an alignment per query with an included domain."""
    author = f"tropalign {header.version} (the hits of HMMER 3.4)"
    n_columns = COLUMNS if context.text_width else 0
    for found in queries_of(pieces):
        alignment = align_hits(found.hits, found.index)
        if alignment is not None:
            write_lines(stockholm_lines(alignment, found.query, author, n_columns), out)


def _check_stockholm(context: HitsContext) -> None:
    """Raise InputError for a scan, whose hits belong to different models."""
    if context.orientation == "scan":
        raise InputError("hits of a scan cannot form an alignment, since each has its own model: use tropalign search")


STOCKHOLM = Codec(encode, assembled_by(write_stockholm), assembled_with=ASSEMBLED_WITH, check=_check_stockholm)


@dataclass(frozen=True)
class ModelsContext(PlainContext):
    """Context of the formats of models and of their alignments, which has no fields."""


def encode_hmm(texts: Sequence[bytes], context: ModelsContext) -> bytes:
    """Concatenate texts of models or alignments, each of which ends with a line ``//``."""
    return b"".join(texts)


HMM = ANNOTATED = Codec(encode_hmm, Concatenated())
