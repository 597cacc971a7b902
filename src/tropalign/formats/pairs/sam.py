"""SAM: targets are the references, queries the reads."""

from __future__ import annotations

import numpy as np

from tropalign.formats.header import Header, one_line
from tropalign.formats.pairs import PairsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.alignments import AlignmentTable
from tropalign.results.gapped import aligned_queries, query_starts

UNMAPPED, REVERSED = 4, 16


def header_text(header: Header, context: PairsContext) -> bytes:
    """Targets as ``@SQ``, the command as ``@PG`` with the parameters."""
    rows.encoded_names(context.targets)
    lines = ["@HD\tVN:1.6\tSO:unknown"]
    targets = zip(context.targets.names, context.targets.lengths.tolist(), strict=True)
    lines += [f"@SQ\tSN:{name}\tLN:{length}" for name, length in targets]
    command = one_line(header.command)
    notes = one_line("; ".join(f"{name}: {value}" for name, value in header.parameters.items()))
    lines.append(f"@PG\tID:tropalign\tPN:tropalign\tVN:{header.version}\tCL:{command}\tDS:{notes}")
    return ("\n".join(lines) + "\n").encode()


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """A line per pair: what hangs over is soft-clipped, and a pair without an aligned column is an unmapped read."""
    letters, _, offsets, index = aligned_queries(table)
    begin = query_starts(table)
    after = table.queries.lengths[table.query_index] - begin - (table.query_end - table.query_start)
    empty = table.n_columns == 0
    minus = np.zeros(len(table), bool) if table.strand is None else table.strand < 0
    columns = [
        rows.names(table.queries, table.query_index),
        rows.numbers(UNMAPPED * empty + REVERSED * minus.astype(np.int32), "\t"),
        rows.names_or(table.targets, table.target_index, empty, "*", "\t"),
        rows.numbers(np.where(empty, 0, table.target_start + 1), "\t"),
        rows.numbers(np.where(empty, 0, 255), "\t"),
        rows.each(np.where(empty, 0, begin), "{}S", "", "\t"),
        rows.cigars(table),
        rows.each(np.where(empty, 0, after), "{}S", ""),
        rows.constant("\t*\t0\t0"),
        ("text", np.ascontiguousarray(letters), offsets, np.ascontiguousarray(index), "\t"),
        rows.constant("\t*"),
        *rows.score_tags(table.score, "\t"),
        rows.numbers(table.n_columns - table.n_identical, "\tNM:i:"),
    ]
    return rows.join(columns, len(table), separator="")


FORMAT = Format(
    (".sam",), encode, concatenated(header_text), assembled_with=("targets",), depths=("alignment",), column_bytes=1.0
)
