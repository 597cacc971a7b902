"""EMBOSS's ``srspair`` text, as needle and water write it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from tropalign.formats.table import Alignment, AlignmentTable
from tropalign.sequences import SequenceBatch

if TYPE_CHECKING:
    from tropalign.formats.writers import Context

WIDTH = 50


def assemble(parts: Iterator[bytes], out: BinaryIO, context: Context) -> None:
    """The program's header, then the alignments."""
    from tropalign.formats.text import comment_lines

    rule = "#" * 40
    lines = [rule, "# Program: tropalign", *comment_lines(context), "# Align_format: srspair", rule, ""]
    out.write("\n".join(lines).encode() + b"\n")
    for part in parts:
        out.write(part)
    out.write(b"\n#---------------------------------------\n#---------------------------------------\n")


def rows(table: AlignmentTable, context: Context) -> bytes:
    """One block a pair."""
    return "".join(_block(row, context) for row in table).encode("latin-1")


def _percent(count: int, total: int) -> str:
    return f"{count:7d}/{total} ({100 * count / max(total, 1):4.1f}%)"


def _block(row: Alignment, context: Context) -> str:
    top, middle, bottom = row.aligned()
    gap = context.substitution
    middle = "".join(
        "|" if m == "|" else " " if "-" in (a, b) else ":" if _similar(context, a, b) else "."
        for a, m, b in zip(top, middle, bottom, strict=True)
    )
    rule = "#======================================="
    head = [
        rule,
        "#",
        "# Aligned_sequences: 2",
        f"# 1: {row.query}",
        f"# 2: {row.target}",
        f"# Matrix: {gap.name if gap is not None else '-'}",
        f"# Gap_cost: {context.parameters.get('gap_cost', '-')}",
        "#",
        f"# Length: {row.n_columns}",
        f"# Identity:   {_percent(row.n_identical, row.n_columns)}",
        f"# Similarity: {_percent(row.n_similar, row.n_columns)}",
        f"# Gaps:       {_percent(row.n_gaps, row.n_columns)}",
        f"# Score: {float(row.score):.1f}",
        "#",
        "#",
        rule,
        "",
    ]
    i, j = row.query_span()[0], row.target_start
    for k in range(0, len(top), WIDTH):
        a, m, b = top[k : k + WIDTH], middle[k : k + WIDTH], bottom[k : k + WIDTH]
        n_a, n_b = len(a) - a.count("-"), len(b) - b.count("-")
        # A line without a residue repeats the coordinate before it, as EMBOSS does.
        head.append(f"{row.query[:13]:<13} {i + (n_a > 0):6d} {a:<{WIDTH}} {i + n_a:6d}")
        head.append(f"{'':20} {m}")
        head.append(f"{row.target[:13]:<13} {j + (n_b > 0):6d} {b:<{WIDTH}} {j + n_b:6d}")
        head.append("")
        i, j = i + n_a, j + n_b
    return "\n".join([*head, "", ""])


def _similar(context: Context, a: str, b: str) -> bool:
    substitution, batch = context.substitution, context.queries
    if substitution is None:
        return False
    return bool(substitution.scores[_code(batch, a), _code(batch, b)] > 0)


def _code(batch: SequenceBatch, letter: str) -> int:
    import numpy as np

    codes, _ = batch.alphabet.encode(np.array([ord(letter)], np.uint8))
    return int(codes[0])
