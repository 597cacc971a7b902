"""Formats of text lines: TSV, PAF, SAM and aligned FASTA."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from tropalign.formats import rows
from tropalign.formats.table import AlignmentTable

if TYPE_CHECKING:
    from tropalign.formats.writers import Context

Header = Callable[["Context"], bytes]


def with_header(header: Header | None) -> Callable[[Iterator[bytes], BinaryIO, Context], None]:
    """A writer of the header, then the parts one after another."""

    def assemble(parts: Iterator[bytes], out: BinaryIO, context: Context) -> None:
        if header is not None:
            out.write(header(context))
        for part in parts:
            out.write(part)

    return assemble


def comment_lines(context: Context, mark: str = "# ") -> list[str]:
    """Version, command and parameters."""
    lines = [f"tropalign {context.version}", f"command: {context.command}"]
    lines += [f"{name}: {value}" for name, value in sorted(context.parameters.items())]
    return [mark + line for line in lines]


TSV_COLUMNS = {
    "score": ["query", "target", "score"],
    "ends": ["query", "target", "score", "query_start", "query_end", "target_start", "target_end"],
}
TSV_COLUMNS["alignment"] = [*TSV_COLUMNS["ends"], "identity", "similarity", "gaps", "columns", "cigar"]


def tsv_header(context: Context) -> bytes:
    """Comment lines, then the names of the columns."""
    names = list(TSV_COLUMNS[context.report])
    if context.both_strands:
        names.insert(2, "strand")
    return ("\n".join([*comment_lines(context), "\t".join(names)]) + "\n").encode()


def tsv_rows(table: AlignmentTable, context: Context) -> bytes:
    """Coordinates 0-based half-open, identity and similarity as fractions of the columns."""
    columns = [rows.names(table.queries, table.query_index), rows.names(table.targets, table.target_index)]
    if table.strand is not None:
        columns.append(rows.strands(table))
    columns.append(rows.numbers(table.score))
    if table.depth != "score":
        columns += [
            rows.numbers(values)
            for values in (table.query_start, table.query_end, table.target_start, table.target_end)
        ]
    if table.depth == "alignment":
        columns += [
            rows.fractions(table.identity),
            rows.fractions(table.similarity),
            rows.numbers(table.n_gaps),
            rows.numbers(table.n_columns),
            rows.cigars(table),
        ]
    return rows.join(columns, len(table))


def paf_rows(table: AlignmentTable, context: Context) -> bytes:
    """PAF as minimap2 writes it, with ``AS:i:`` and ``cg:Z:``; rows without a column are left out."""
    table = table.take(table.n_columns > 0)
    return rows.join(
        [
            rows.names(table.queries, table.query_index),
            rows.numbers(table.queries.lengths[table.query_index]),
            rows.numbers(table.query_start),
            rows.numbers(table.query_end),
            rows.strands(table),
            rows.names(table.targets, table.target_index),
            rows.numbers(table.targets.lengths[table.target_index]),
            rows.numbers(table.target_start),
            rows.numbers(table.target_end),
            rows.numbers(table.n_identical),
            rows.numbers(table.n_columns),
            rows.constant("255"),
            rows.numbers(table.score, "AS:i:"),
            rows.cigars(table, "cg:Z:"),
        ],
        len(table),
    )


def sam_header(context: Context) -> bytes:
    """Targets as reference sequences."""
    targets = zip(context.targets.names, context.targets.lengths.tolist(), strict=True)
    lines = ["@HD\tVN:1.6\tSO:unknown", *(f"@SQ\tSN:{name}\tLN:{length}" for name, length in targets)]
    lines.append(f"@PG\tID:tropalign\tPN:tropalign\tVN:{context.version}\tCL:{context.command}")
    return ("\n".join(lines) + "\n").encode()


def sam_rows(table: AlignmentTable, context: Context) -> bytes:
    """Reads are the queries; what hangs over is soft-clipped. Rows without a column are written as unmapped."""
    cigars, sequences, flags, positions, targets, qualities = [], [], [], [], [], []
    for k in range(len(table)):
        row = table.row(k)
        text = row.query_text()
        begin, end = row.query_span()
        empty = row.n_columns == 0
        clips = [f"{n}S" if n else "" for n in (begin, len(text) - end)]
        cigars.append("*" if empty else clips[0] + row.cigar + clips[1])
        sequences.append(text)
        flags.append(4 if empty else 16 if table.strand is not None and table.strand[k] < 0 else 0)
        positions.append(0 if empty else row.target_start + 1)
        qualities.append(0 if empty else 255)
        targets.append("*" if empty else row.target)
    different = (table.n_columns - table.n_identical).astype(np.int64)
    return rows.join(
        [
            rows.names(table.queries, table.query_index),
            rows.numbers(np.array(flags, np.int64)),
            rows.texts(targets),
            rows.numbers(np.array(positions, np.int64)),
            rows.numbers(np.array(qualities, np.int64)),
            rows.texts(cigars),
            rows.constant("*"),
            rows.constant("0"),
            rows.constant("0"),
            rows.texts(sequences),
            rows.constant("*"),
            rows.numbers(table.score, "AS:i:"),
            rows.numbers(different, "NM:i:"),
        ],
        len(table),
    )


def fasta_rows(table: AlignmentTable, context: Context) -> bytes:
    """Two gapped records a pair, a blank line after them."""
    out = []
    for row in table:
        top, _, bottom = row.aligned()
        out.append(
            f">{row.query} {row.query_start}-{row.query_end} score={row.score}\n{top}\n"
            f">{row.target} {row.target_start}-{row.target_end}\n{bottom}\n\n"
        )
    return "".join(out).encode("latin-1")
