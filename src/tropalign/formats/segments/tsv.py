"""Segments as a tab-separated table.

A part begins with a line of its own: how many letters have no label, and how many there are; the rows follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from tropalign.errors import shown
from tropalign.formats.header import Header
from tropalign.formats.segments import SegmentsContext, rows_of
from tropalign.formats.writer import Format
from tropalign.results.segments import Segments

COLUMNS = ("sequence", "start", "end", "label", "length", "support", "log_likelihood")


def header_text(header: Header, context: SegmentsContext) -> bytes:
    """Comment lines, then the names of the columns."""
    return ("\n".join([*header.comment_lines(), "\t".join(COLUMNS)]) + "\n").encode()


def encode(segments: Segments, context: SegmentsContext) -> bytes:
    """A row per segment; the log-likelihood is that of its whole sequence."""
    counts = f"{int(segments.n_unlabelled.sum())} {int(segments.lengths.sum())}\n"
    return counts.encode() + rows_of(segments, _rows)


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: SegmentsContext) -> None:
    """The header, all rows, and a comment behind them where letters have no label.

    Raises ValueError where a part is none that `encode` made.
    """
    out.write(header_text(header, context))
    n_unlabelled = n_letters = 0
    for part in parts:
        end = part.index(b"\n")
        first, second = part[:end].split()
        n_unlabelled, n_letters = n_unlabelled + int(first), n_letters + int(second)
        out.write(memoryview(part)[end + 1 :])
    if n_unlabelled and header.has_comments:
        out.write(f"# unlabelled: {n_unlabelled} of {n_letters} letters, in long runs of missing ones\n".encode())


def _rows(segments: Segments) -> str:
    names = [shown(name) for name in segments.names]
    likelihoods = [f"{value:.6f}" for value in segments.log_likelihoods.tolist()]
    columns = (segments.sequence, segments.start, segments.end, segments.label, segments.support)
    return "".join(
        f"{names[sequence]}\t{start}\t{end}\t{shown(segments.labels[label])}\t{end - start}\t{support:.4f}\t"
        f"{likelihoods[sequence]}\n"
        for sequence, start, end, label, support in zip(*(column.tolist() for column in columns), strict=True)
    )


FORMAT = Format((".tsv", ".txt"), encode, assemble)
