"""Segments as a tab-separated table."""

from __future__ import annotations

from tropalign.errors import shown
from tropalign.formats.header import Header
from tropalign.formats.segments import SegmentsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.segments import Segments

COLUMNS = ("sequence", "start", "end", "label", "length", "support", "log_likelihood")


def header_text(header: Header, context: SegmentsContext) -> bytes:
    """Comment lines, then the names of the columns."""
    return ("\n".join([*header.comment_lines(), "\t".join(COLUMNS)]) + "\n").encode()


def encode(segments: Segments, context: SegmentsContext) -> bytes:
    """A row per segment; the log-likelihood is that of its whole sequence."""
    names = [shown(name) for name in segments.names]
    likelihoods = [f"{value:.6f}" for value in segments.log_likelihoods.tolist()]
    columns = (segments.sequence, segments.start, segments.end, segments.label, segments.support)
    rows = [
        f"{names[sequence]}\t{start}\t{end}\t{shown(segments.labels[label])}\t{end - start}\t{support:.4f}\t"
        f"{likelihoods[sequence]}\n"
        for sequence, start, end, label, support in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return "".join(rows).encode("utf-8", "backslashreplace")


FORMAT = Format((".tsv", ".txt"), encode, concatenated(header_text))
