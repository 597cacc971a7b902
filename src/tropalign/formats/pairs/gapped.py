"""Aligned pairs with all residues: FASTA, and EMBOSS's ``srspair`` text like needle and water; also PAF and BED.

Differences from EMBOSS's srspair: the header holds tropalign's version, command and parameters; letters that the
alphabet treats as equal (U and T) are identical; free end gaps are neither shown nor counted. For the query's minus
strand, the matrix line says so, since readers reject unknown lines; its positions count down, as in EMBOSS for a
reversed sequence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tropalign.formats.format import Codec, Concatenated, Header, by_rows
from tropalign.formats.pairs.context import PairsContext
from tropalign.results import aligned_pairs, rows
from tropalign.results.alignments import AlignmentTable


def encode_fasta(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return FASTA whose headers hold positions (1-based inclusive); pairs without an aligned column are left out.

    On the minus strand, the query's positions descend: `>a 90-11 strand=-`.
    """
    if not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    query, _, target, offsets = aligned_pairs.lines(table, wants_middle=False)
    is_minus = np.zeros(len(table), bool) if table.strand is None else table.strand < 0
    first, last = table.query_start + 1, table.query_end
    columns = [
        rows.header_names(table.queries, table.query_index, ">"),
        rows.numbers(np.where(is_minus, last, first), " "),
        rows.numbers(np.where(is_minus, first, last), "-"),
        *([] if table.strand is None else [rows.choices(table.strand < 0, "+-", " strand=")]),
        rows.numbers(table.score, " score="),
        ("text", query, offsets, None, "\n"),
        rows.header_names(table.targets, table.target_index, "\n>"),
        rows.numbers(table.target_start + 1, " "),
        rows.numbers(table.target_end, "-"),
        ("text", target, offsets, None, "\n"),
    ]
    return rows.join(columns, len(table), separator="", terminator="\n\n")


RULE = "#" * 40
#: Native code takes scores as multiples of 1 / PARTS (kScoreParts in native/formats/srspair.hpp).
PARTS = 10_000


def header_text(header: Header, context: PairsContext) -> bytes:
    """Return the program's header in EMBOSS's form."""
    made = [f"# {line}" for line in (f"Version: {header.version}", *header.description_lines())]
    lines = [RULE, "# Program: tropalign", *made, "# Align_format: srspair", RULE, "", ""]
    return "\n".join(lines).encode()


def _scoring(context: PairsContext, strand: str = "") -> str:
    """Return the lines of matrix and gap costs; as in EMBOSS, the penalty is that of a gap's first residue."""
    name = "unknown" if context.substitution is None else context.substitution.name
    lines = f"# Matrix: {name}{strand}\n" if strand or context.substitution is not None else ""
    if context.gap is not None:
        lines += f"# Gap_penalty: {round(float(context.gap.open + context.gap.extend), 4)}\n"
        lines += f"# Extend_penalty: {float(context.gap.extend)}\n"
    return lines


def encode_srspair(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return a record per pair; pairs without an aligned column are left out."""
    from tropalign import _native

    query_names, query_name_offsets = rows.encoded_names(table.queries)
    target_names, target_name_offsets = rows.encoded_names(table.targets)
    before = (
        table.query_start
    )  # 1-based number of the residue before the first shown one; on the minus strand, after it
    if table.strand is not None:
        before = np.where(table.strand < 0, table.query_end + 1, before).astype(np.int32)
    columns: dict[str, Any] = {
        **aligned_pairs.arrays(table, context.substitution),
        "score": np.rint(table.score * np.int64(PARTS)).astype(np.int64),
        "n_identical": aligned_pairs.equal_columns(table),
        "n_similar": table.n_similar,
        "n_gaps": table.n_gaps,
        "query_start": before,
        "target_start": table.target_start,
        "strand": table.strand,
        "query_names": query_names,
        "query_name_offsets": query_name_offsets,
        "target_names": target_names,
        "target_name_offsets": target_name_offsets,
        "query_index": table.query_index,
        "target_index": table.target_index,
    }
    text: bytes = _native.srspair_records(columns, _scoring(context), _scoring(context, "; minus strand of 1"))
    return text


FASTA = Codec(encode_fasta, Concatenated(), blocks=by_rows(encode_fasta))
SRSPAIR = Codec(
    encode_srspair,
    Concatenated(header_text, 2 * (b"#" + b"-" * 39 + b"\n")),
    blocks=by_rows(encode_srspair),
)


MAPPING_QUALITY_UNKNOWN = "255"


# ``NM:i:`` counts columns that are not identical, as in SAM. ``de:f:`` is the divergence in which a gap of any
# length counts once: 1 - identical / (columns of two residues + gaps), as minimap2 defines it. ``cs:Z:`` is its
# short form. For translated sequences, lengths and positions count nucleotides, everything else residues; ``qf:i:``
# and ``tf:i:`` are the frames.
def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return a line per pair; pairs without an aligned column are left out, since PAF lists mappings only."""
    if not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    n_events = table.n_columns - table.n_gaps + aligned_pairs.gap_openings(table)
    n_equal = aligned_pairs.equal_columns(table)
    return rows.join(
        [
            *_place(table, "query"),
            rows.choices((aligned_pairs.strand(table) < 0).astype(np.int64), ["+", "-"]),
            *_place(table, "target"),
            rows.numbers(n_equal),
            rows.numbers(table.n_columns),
            rows.constant(MAPPING_QUALITY_UNKNOWN),
            *rows.score_tags(table.score),
            aligned_pairs.cigars(table, "cg:Z:"),
            rows.numbers(table.n_columns - n_equal, "NM:i:"),
            rows.fractions(1 - n_equal / np.maximum(n_events, 1), "de:f:"),
            aligned_pairs.differences(table, "cs:Z:"),
            *([] if table.query_frames is None else [rows.numbers(aligned_pairs.frame(table, "query"), "qf:i:")]),
            *([] if table.target_frames is None else [rows.numbers(aligned_pairs.frame(table, "target"), "tf:i:")]),
        ],
        len(table),
    )


def _place(table: AlignmentTable, side: str) -> list[rows.Column]:
    """Return name, length, start and end of a side."""
    numbers = (aligned_pairs.lengths(table, side), *aligned_pairs.span(table, side))
    return [rows.names(*aligned_pairs.given(table, side)), *(rows.numbers(values) for values in numbers)]


PAF = Codec(encode, Concatenated(), blocks=by_rows(encode))


#: Maximum score in BED.
MOST_IN_BED = 1000


# Columns of bedtools bamtobed: the part of the target, the query, and the strand. The score is the alignment score,
# rounded and limited to the format's range of 0 to 1000.
def encode_bed(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return a line of BED6 per pair; pairs without an aligned column are left out. Blanks become underscores."""
    if not table.n_columns.all():
        table = table.take(table.n_columns > 0)
    begin, end = aligned_pairs.span(table, "target")
    return rows.join(
        [
            rows.quoted_names(*aligned_pairs.given(table, "target"), _word),
            rows.numbers(begin),
            rows.numbers(end),
            rows.quoted_names(*aligned_pairs.given(table, "query"), _word),
            rows.numbers(np.clip(np.rint(table.score), 0, MOST_IN_BED).astype(np.int32)),
            rows.choices((aligned_pairs.strand(table) < 0).astype(np.int64), ["+", "-"]),
        ],
        len(table),
    )


def _word(name: str) -> str:
    """Return a name as a field of BED, which blanks would end."""
    return "_".join(name.split())


BED = Codec(encode_bed, Concatenated(), blocks=by_rows(encode_bed))
