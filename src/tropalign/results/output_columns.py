"""Every column that a table of pairs can show, by name: ``OUTPUT_COLUMNS``.

The columns that a table keeps are defined in ``tropalign.results.aligned_pairs``; the others are computed from them,
the lengths of the sequences and the run's statistics. Formats and Python choose columns by name, and get numbers as
arrays and texts in the form of the row joiner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import UsageError, named, shown
from tropalign.results import aligned_pairs, rows
from tropalign.results.aligned_pairs import (
    DEPTHS,
    SUMS,
    AlignedPairs,
    Significance,
    aligned_lengths,
    cigars,
    differences,
    identities,
)
from tropalign.results.columns import Flat
from tropalign.sequences.texts import decoded

Values = NDArray[Any] | rows.Column
#: Rows per batch of the Arrow stream.
ARROW_ROWS = 1 << 20


@dataclass(frozen=True)
class OutputColumn:
    """A column that outputs can show.

    meaning: for help and documentation. dtype: str for text. depth: the lowest depth of a table that includes it.
    of: returns an array of numbers or a text column of the row joiner. form: format in text (fractions with four
    decimals, percents with three, E-values and bits as BLAST rounds them; "query" and "target" are names). aliases:
    names in BLAST, MMseqs2 or vsearch. letters: bytes written per alignment column, to cut tiles to the memory.
    """

    name: str
    meaning: str
    dtype: type
    depth: str
    of: Callable[[AlignedPairs], Values]
    form: str = "number"
    aliases: tuple[str, ...] = ()
    letters: float = 0.0


def _kept(name: str) -> Callable[[AlignedPairs], Values]:
    """Return a getter of the table's own column."""
    return lambda t: getattr(t, name)


def _staxid(table: AlignedPairs) -> Values:
    batch, index = aligned_pairs.given(table, "target")
    taxids = np.zeros(len(table), np.int64) if batch.taxa is None else batch.taxa.taxids[index]
    used, place = np.unique(taxids, return_inverse=True)
    return rows.choices(place, [str(taxid) if taxid else "" for taxid in used.tolist()])


def _lineage(table: AlignedPairs) -> Values:
    batch, index = aligned_pairs.given(table, "target")
    if batch.taxa is None:
        return rows.choices(np.zeros(len(table), np.int64), [""])
    used, place = np.unique(batch.taxa.lineage[index], return_inverse=True)
    return rows.choices(place, [batch.taxa.lineages[k] for k in used.tolist()])


def _significance(table: AlignedPairs) -> Significance:
    if table.significance is None:
        raise UsageError(
            "bits and E-values are defined for local alignments of sequences only: use mode local without position "
            "matrices and second tracks, or omit these columns"
        )
    return table.significance


def _judged(table: AlignedPairs) -> NDArray[Any]:
    """Return the scores from which bits and E-values are computed."""
    return table.score if table.corrected_score is None else table.corrected_score


def _of_sums(name: str) -> Callable[[AlignedPairs], Values]:
    """Return a getter of a column of sum statistics."""

    def of(table: AlignedPairs) -> Values:
        values: Values | None = getattr(table, name)
        if values is None:
            raise UsageError(f"{name} requires sum statistics: add {named('sum_statistics')}")
        return values

    return of


def _co_optimal(table: AlignedPairs) -> Values:
    if table.count_offsets is None:
        raise UsageError(f"numbers of co-optimal alignments were not counted: add {named('co_optimal')}")
    return ("text", table.count_digits, table.count_offsets, None, "")


def _pair(table: AlignedPairs) -> NDArray[np.int64]:
    (_, query), (targets, target) = (aligned_pairs.given(table, side) for side in ("query", "target"))
    number: NDArray[np.int64] = query * len(targets) + target + 1
    return number


def _edge(side: str, is_first: bool) -> Callable[[AlignedPairs], Values]:
    """Return a getter of the start (or end) of a span, from 1: 0 if it is empty, the opposite end if it descends.

    As in BLAST, spans of translated sequences descend on frames of the reverse strand. Otherwise the target's span
    descends if the query's reverse strand is aligned.
    """

    def of(table: AlignedPairs) -> Values:
        begin, end = aligned_pairs.span(table, side)
        by_strand = table.strand if side == "target" else None
        descends = (aligned_pairs.frame(table, side) if by_strand is None else by_strand) < 0
        return np.where(begin < end, np.where(descends == is_first, end, begin + 1), 0).astype(np.int32)

    return of


def _span(side: str) -> Callable[[AlignedPairs], Values]:
    def of(table: AlignedPairs) -> Values:
        begin, end = aligned_pairs.span(table, side)
        share: NDArray[np.float64] = (end - begin) / aligned_pairs.lengths(table, side)
        return share

    return of


def _within_span(table: AlignedPairs) -> NDArray[np.int64]:
    """Return, per row, the residues of the query from the first aligned one to the last."""
    begin, end = aligned_pairs.span(table, "query")
    return end.astype(np.int64) - begin


def _within_spans(table: AlignedPairs) -> NDArray[np.int64]:
    """Return, per row, the residues of the query within the span of any row of the same pair."""
    if table.hsp is None or not len(table):
        return _within_span(table)
    begin, end = (places.astype(np.int64) for places in aligned_pairs.span(table, "query"))
    order = np.lexsort((begin, _pair(table)))
    _, group = np.unique(_pair(table)[order], return_inverse=True)
    apart = group * (int(end.max()) + 1)  # offset that separates the spans of different pairs
    begin, end = begin[order] + apart, end[order] + apart
    before = np.concatenate([[0], np.maximum.accumulate(end)[:-1]])
    covered = np.bincount(group, np.maximum(end - np.maximum(begin, before), 0)).astype(np.int64)
    of_rows = np.empty_like(covered, shape=len(table))
    of_rows[order] = covered[group]
    return of_rows


def _percent_of_query(covered: Callable[[AlignedPairs], NDArray[np.int64]]) -> Callable[[AlignedPairs], Values]:
    """Return a getter of integer percentages, rounded like BLAST: below 99 to the nearest, then down."""

    def of(table: AlignedPairs) -> Values:
        part, length = 100 * covered(table), aligned_pairs.lengths(table, "query")
        nearest = (2 * part + length) // (2 * length)
        return np.where(part < 99 * length, nearest, part // length).astype(np.int32)

    return of


def coverage_of(side: str) -> Callable[[AlignedPairs], NDArray[np.float64]]:
    """Return a getter of the share of aligned residues of one side, "query" or "target"; float64, shape (n,)."""

    def of(table: AlignedPairs) -> NDArray[np.float64]:
        share: NDArray[np.float64] = (table.n_columns - table.n_gaps) / aligned_lengths(table)[side == "target"]
        return share

    return of


def _row(side: str) -> Callable[[AlignedPairs], Values]:
    def of(table: AlignedPairs) -> Values:
        query, _, target, offsets = aligned_pairs.lines(table, wants_middle=False)
        return ("text", query if side == "query" else target, offsets, None, "")

    return of


_COLUMNS = (
    OutputColumn("query", "name of the query", str, "score", _kept("query_index"), "query", ("qseqid",)),
    OutputColumn("target", "name of the target", str, "score", _kept("target_index"), "target", ("sseqid",)),
    OutputColumn(
        "query_index", "index of the query, from 0", np.int64, "score", lambda t: aligned_pairs.given(t, "query")[1],
    ),
    OutputColumn(
        "target_index", "index of the target, from 0", np.int64, "score", lambda t: aligned_pairs.given(t, "target")[1],
    ),
    OutputColumn(
        "pair", "number of the pair, from 1, ordered by query, then by target", np.int64, "score", _pair,
    ),
    OutputColumn(
        "hsp", "number of the alignment within its pair, from 1", np.int32, "score",
        lambda t: np.ones(len(t), np.int32) if t.hsp is None else t.hsp,
    ),
    OutputColumn(
        "co_optimal", "number of alignments of the pair with the best score, or within --within of it (--co-optimal)",
        str, "alignment", _co_optimal, "text",
    ),
    OutputColumn(
        "query_length", "length of the query in residues", np.int64, "score",
        lambda t: aligned_pairs.lengths(t, "query"),
        aliases=("qlen", "ql"),
    ),
    OutputColumn(
        "target_length", "length of the target in residues", np.int64, "score",
        lambda t: aligned_pairs.lengths(t, "target"),
        aliases=("tlen", "slen", "tl"),
    ),
    OutputColumn(
        "staxid", "NCBI taxid of the target; empty if its store has none", str, "score",
        _staxid, "text", ("staxids",),
    ),
    OutputColumn(
        "lineage", "lineage of the target, names separated by semicolons; empty if its store has none", str,
        "score", _lineage, "text",
    ),
    OutputColumn(
        "strand", "aligned strand of the query, + or -", np.int8, "score", aligned_pairs.strand, "strand",
    ),
    OutputColumn(
        "query_frame", "frame of the query, 1 to 3 or -1 to -3; 0 if not translated", np.int8, "score",
        lambda t: aligned_pairs.frame(t, "query"), aliases=("qframe",),
    ),
    OutputColumn(
        "target_frame", "frame of the target, as query_frame", np.int8, "score",
        lambda t: aligned_pairs.frame(t, "target"), aliases=("sframe",),
    ),
    OutputColumn("score", "score, in units of the matrix", np.int32, "score", _kept("score"), aliases=("raw",)),
    OutputColumn(
        "corrected_score",
        "score corrected for composition and without masked residues, used for bits and E-values", np.int32,
        "score", _judged,
    ),
    OutputColumn(
        "bits", "score in bits (local mode)", np.float64, "score", lambda t: _significance(t).bits(_judged(t)),
        "bits", ("bitscore",),
    ),
    OutputColumn(
        "evalue", "E-value (local mode)", np.float64, "score",
        lambda t: _significance(t).evalues(_judged(t), *aligned_lengths(t)), "evalue",
    ),
    OutputColumn(
        "sum_evalue", "E-value of the set of alignments that this one belongs to (--sum-statistics)", np.float64,
        "alignment",
        _of_sums("sum_evalue"), "evalue",
    ),
    OutputColumn(
        "sum_count", "number of alignments in that set (--sum-statistics)", np.int32, "alignment",
        _of_sums("sum_count"),
    ),
    OutputColumn(
        "query_start", "start of the aligned part of the query, from 0", np.int32, "ends",
        lambda t: aligned_pairs.span(t, "query")[0],
    ),
    OutputColumn(
        "query_end", "one past the end of the aligned part of the query", np.int32, "ends",
        lambda t: aligned_pairs.span(t, "query")[1],
    ),
    OutputColumn(
        "target_start", "start of the aligned part of the target, from 0", np.int32, "ends",
        lambda t: aligned_pairs.span(t, "target")[0],
    ),
    OutputColumn(
        "target_end", "one past the end of the aligned part of the target", np.int32, "ends",
        lambda t: aligned_pairs.span(t, "target")[1],
    ),
    OutputColumn(
        "query_first", "first aligned residue of the query, from 1; 0 if none", np.int32, "ends",
        _edge("query", True), aliases=("qstart",),
    ),
    OutputColumn(
        "query_last", "last aligned residue of the query, from 1; 0 if none", np.int32, "ends",
        _edge("query", False), aliases=("qend",),
    ),
    OutputColumn(
        "target_first", "target residue aligned to query_first, from 1; above target_last on the minus strand",
        np.int32, "ends", _edge("target", True), aliases=("sstart", "tstart"),
    ),
    OutputColumn(
        "target_last", "target residue aligned to query_last, from 1", np.int32, "ends", _edge("target", False),
        aliases=("send", "tend"),
    ),
    OutputColumn(
        "query_span", "(query_end - query_start) / query_length", np.float64, "ends", _span("query"), "fraction",
        ("qcov",),
    ),
    OutputColumn(
        "target_span", "(target_end - target_start) / target_length", np.float64, "ends", _span("target"), "fraction",
        ("tcov",),
    ),
    OutputColumn(
        "qcovhsp", "BLAST: 100 * query_span, rounded to an integer; 100 only for the full query", np.int32,
        "ends", _percent_of_query(_within_span),
    ),
    OutputColumn(
        "qcovs", "BLAST: as qcovhsp, for all alignments of the pair together", np.int32, "ends",
        _percent_of_query(_within_spans),
    ),
    OutputColumn(
        "query_coverage", "query residues aligned to a residue (not a gap) / query_length", np.float64, "alignment",
        coverage_of("query"), "fraction",
    ),
    OutputColumn(
        "target_coverage", "target residues aligned to a residue (not a gap) / target_length", np.float64,
        "alignment", coverage_of("target"), "fraction",
    ),
    OutputColumn(
        "identical", "columns of identical residues; with --ambiguous match, of residues that may be identical",
        np.int32,
        "alignment", _kept("n_identical"), aliases=("nident", "ids"),
    ),
    OutputColumn(
        "similar", "columns with a positive score", np.int32, "alignment", _kept("n_similar"),
        aliases=("positive", "pv"),
    ),
    OutputColumn(
        "mismatches", "columns of different residues", np.int32, "alignment",
        lambda t: t.n_columns - t.n_gaps - t.n_identical - (0 if t.n_ignored is None else t.n_ignored),
        aliases=("mismatch", "mism"),
    ),
    OutputColumn(
        "gap_openings", "gaps, each run of gap columns counted once", np.int64, "alignment", aligned_pairs.gap_openings,
        aliases=("gapopen", "opens"),
    ),
    OutputColumn("gaps", "residues aligned to a gap", np.int32, "alignment", _kept("n_gaps")),
    OutputColumn(
        "columns", "columns of the alignment", np.int32, "alignment", _kept("n_columns"), aliases=("length", "alnlen"),
    ),
    OutputColumn(
        "identity", "identical / columns, or as defined by --identity", np.float64, "alignment",
        lambda t: identities(t, t.identity_definition), "fraction", ("fident",),
    ),
    OutputColumn(
        "similarity", "similar / columns", np.float64, "alignment", lambda t: t.n_similar / np.maximum(t.n_columns, 1),
        "fraction",
    ),
    OutputColumn(
        "percent_identity", "100 * identity", np.float64, "alignment",
        lambda t: identities(t, t.identity_definition) * 100, "percent", ("pident",),
    ),
    OutputColumn(
        "identity_0", "CD-HIT: identical / length of the shorter sequence", np.float64, "alignment",
        lambda t: identities(t, "shorter"), "fraction",
    ),
    OutputColumn(
        "identity_1", "edit distance: identical / columns", np.float64, "alignment",
        lambda t: identities(t, "columns"), "fraction",
    ),
    OutputColumn(
        "identity_2", "identical / columns, excluding gaps at the ends", np.float64, "alignment",
        lambda t: identities(t, "internal"), "fraction",
    ),
    OutputColumn(
        "identity_3",
        "Marine Biological Lab: 1 - (mismatches + gap_openings + unaligned ends) / length of the longer sequence; 0 "
        "without a pair of residues", np.float64, "alignment", lambda t: identities(t, "openings"),
        "fraction",
    ),
    OutputColumn(
        "identity_4", "BLAST: identical / columns", np.float64, "alignment", lambda t: identities(t, "blast"),
        "fraction",
    ),
    OutputColumn("cigar", "CIGAR with the operations =XID, along the target", str, "alignment", cigars, "text"),
    OutputColumn(
        "cs", "the path with the residues that differ, in minimap2's short form", str, "alignment", differences,
        "text", letters=3.0,
    ),
    OutputColumn(
        "query_row", "aligned residues of the query, with gaps", str, "alignment", _row("query"), "text",
        ("qaln", "qrow", "qseq"), 1.0,
    ),
    OutputColumn(
        "target_row", "aligned residues of the target, with gaps", str, "alignment", _row("target"), "text",
        ("taln", "trow", "sseq"), 1.0,
    ),
)  # fmt: skip
#: All columns by name, in the order of help and documentation.
OUTPUT_COLUMNS = {column.name: column for column in _COLUMNS}
#: Columns that come from stores with taxonomy.
TAXA = frozenset({"staxid", "lineage"})
#: Columns that exist for local alignments only.
SIGNIFICANCE = frozenset({"bits", "evalue", *SUMS})
#: Default columns, as far as the depth includes them: ``hsp`` only with several alignments per pair, ``strand`` only
#: with both strands, frames only of translated sides, sums only with sum statistics.
_DEFAULTS = (
    "query", "target", "hsp", "co_optimal", "query_frame", "target_frame", "strand", "score", *SUMS, "query_start",
    "query_end", "target_start", "target_end", "identity", "similarity", "gaps", "columns", "cigar",
)  # fmt: skip
_ALIASES = {alias: column.name for column in OUTPUT_COLUMNS.values() for alias in column.aliases}
#: BLAST columns that are not supported, and their replacements.
_OF_BLAST = {
    "qacc qaccver": "accessions are not extracted from names: use qseqid",
    "sacc saccver sallacc sallseqid": (
        "accessions are not extracted from names, and a target has only one name: use sseqid"
    ),
    "stitle salltitles": "descriptions of targets are not kept: use sseqid",
    "ssciname sscinames scomname scomnames sskingdom sskingdoms": "taxa are given as lineages: use lineage",
    "btop": "the path has other formats: use cigar or cs",
    "ppos": "the similarity is a fraction, not a percentage: use similarity",
    "sstrand": "the query is reversed, not the target: use strand",
}
_REMEDIES = {word: remedy for words, remedy in _OF_BLAST.items() for word in words.split()}


def default_names(
    depth: str,
    has_strand: bool,
    translated: Iterable[str] = (),
    has_hsp: bool = False,
    has_sums: bool = False,
    has_counts: bool = False,
) -> tuple[str, ...]:
    """Return the default columns of a table of this depth, with the frames of `translated` sides."""
    absent = {"query_frame", "target_frame"}.difference(f"{side}_frame" for side in translated)
    if not has_strand:
        absent.add("strand")
    if not has_hsp:
        absent.add("hsp")
    if not has_counts:
        absent.add("co_optimal")
    if not has_sums:
        absent.update(SUMS)
    return tuple(
        name
        for name in _DEFAULTS
        if DEPTHS.index(OUTPUT_COLUMNS[name].depth) <= DEPTHS.index(depth) and name not in absent
    )


def own_names(table: AlignedPairs) -> tuple[str, ...]:
    """Return the default columns of a table."""
    sides = {"query": table.query_frames, "target": table.target_frames}
    translated = (side for side, frames in sides.items() if frames is not None)
    has = (getattr(table, name) is not None for name in ("strand", "hsp", "sum_evalue", "count_offsets"))
    has_strand, has_hsp, has_sums, has_counts = has
    return default_names(table.depth, has_strand, translated, has_hsp, has_sums, has_counts)


def chosen_names(words: Iterable[str]) -> tuple[str, ...]:
    """Resolve column names, including those of other programs.

    Raises UsageError for an unknown name (with the nearest one), a duplicate, or an empty list.
    """
    names: list[str] = []
    for word in words:
        name = _ALIASES.get(word, word)
        if name not in OUTPUT_COLUMNS:
            from difflib import get_close_matches

            near = get_close_matches(word, [*OUTPUT_COLUMNS, *_ALIASES], 1, 0.7)
            hint = f"did you mean {near[0]}? " if near else ""
            hint = f"{_REMEDIES[word]}; " if word in _REMEDIES else hint
            raise UsageError(f"no column is called '{shown(word)}': {hint}--columns help lists all of them")
        if name in names:
            raise UsageError(f"column {name} is requested twice: remove one")
        names.append(name)
    if not names:
        raise UsageError("no column is requested: --columns help lists all of them")
    return tuple(names)


def depth_of(names: Iterable[str]) -> str:
    """Return the lowest depth of a table that includes all these columns."""
    return DEPTHS[max(DEPTHS.index(OUTPUT_COLUMNS[name].depth) for name in names)]


def types_of(names: Iterable[str], has_decimals: bool) -> dict[str, type]:
    """Return the types of these columns; scores are floats if they have decimals."""
    return {name: np.float64 if name == "score" and has_decimals else OUTPUT_COLUMNS[name].dtype for name in names}


def letters_of(names: Iterable[str]) -> float:
    """Return the bytes of text that these columns take per alignment column."""
    return sum(OUTPUT_COLUMNS[name].letters for name in names)


def values_of(table: AlignedPairs, name: str) -> Values:
    """Return a column; AttributeError if the depth lacks it, UsageError for bits or E-values outside local mode."""
    column = OUTPUT_COLUMNS[name]
    if DEPTHS.index(column.depth) > DEPTHS.index(table.depth):
        raise AttributeError(f"column {name} was not computed: request report {column.depth!r}")
    if column.form in ("query", "target"):
        return rows.names(*aligned_pairs.given(table, column.form))
    return column.of(table)


def default_numbers(table: AlignedPairs) -> dict[str, NDArray[Any]]:
    """Return the numeric columns of a table's defaults, by name."""
    values = {name: values_of(table, name) for name in own_names(table) if OUTPUT_COLUMNS[name].dtype is not str}
    return {name: column for name, column in values.items() if isinstance(column, np.ndarray)}  # for type checkers


def column_arrays(table: AlignedPairs, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return columns by their names in output, texts as Python strings; by default the table's own columns."""
    found: dict[str, NDArray[Any]] = {}
    for name in own_names(table) if names is None else chosen_names(names):
        form = OUTPUT_COLUMNS[name].form
        if form in ("query", "target"):
            batch, index = aligned_pairs.given(table, form)
            found[name] = np.array(batch.names, dtype=object)[index]
            continue
        values = values_of(table, name)
        if isinstance(values, np.ndarray):
            found[name] = values
            continue
        text, offsets = rows.column_text(values, len(table))
        found[name] = np.empty(len(table), dtype=object)
        found[name][:] = [decoded(text[begin:end]) for begin, end in pairwise(offsets.tolist())]
    return found


def flat_columns(table: AlignedPairs, names: Sequence[str]) -> dict[str, Flat]:
    """Return columns in Arrow's layout: numbers, or concatenated text and offsets."""
    flat: dict[str, Flat] = {}
    types = types_of(names, table.score.dtype == np.float64)
    for name in names:
        values = values_of(table, name)
        if isinstance(values, np.ndarray):
            flat[name] = np.ascontiguousarray(values, types[name])
        else:
            text, offsets = rows.column_text(values, len(table))
            flat[name] = (np.frombuffer(text, np.uint8), offsets)
    return flat


def batches(table: AlignedPairs) -> Iterator[dict[str, Flat]]:
    """Yield the table's own columns in batches of ARROW_ROWS rows, at least one batch."""
    names = own_names(table)
    for begin in range(0, max(len(table), 1), ARROW_ROWS):
        yield flat_columns(table.slice(begin, begin + ARROW_ROWS), names)


def no_rows(names: Iterable[str], has_decimals: bool = False) -> dict[str, Flat]:
    """Return the columns of a table without rows, in Arrow's layout."""
    none = (np.zeros(0, np.uint8), np.zeros(1, np.int64))
    types = types_of(names, has_decimals)
    return {name: none if dtype is str else np.zeros(0, dtype) for name, dtype in types.items()}
