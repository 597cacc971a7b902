"""Segments as tab-separated text, BED, bedGraph, or complete results.

A tab-separated part starts with a line of two numbers, residues without a label and all residues; the rows follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO

import numpy as np

from tropalign.errors import shown
from tropalign.formats.array_files import Packed, result_format
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.formats.segments import SegmentsContext, rows_of
from tropalign.results.segments import Segment, Segments

COLUMNS = ("sequence", "start", "end", "label", "length", "support", "log_likelihood")


def header_text(header: Header, context: SegmentsContext) -> bytes:
    """Return comment lines, then the column names."""
    return header.above(COLUMNS)


def encode_tsv(segments: Segments, context: SegmentsContext) -> bytes:
    """Return a row per segment, with the log-likelihood of its whole sequence."""
    counts = f"{int(segments.n_unlabelled.sum())} {int(segments.lengths.sum())}\n"

    def rows(some: Segments) -> str:
        names = [shown(name) for name in some.names]
        likelihoods = [f"{value:.6f}" for value in some.log_likelihoods.tolist()]
        columns = (some.sequence, some.start, some.end, some.label, some.support)
        return "".join(
            f"{names[sequence]}\t{start}\t{end}\t{shown(some.labels[label])}\t{end - start}\t{support:.4f}\t"
            f"{likelihoods[sequence]}\n"
            for sequence, start, end, label, support in zip(*(column.tolist() for column in columns), strict=True)
        )

    return counts.encode() + rows_of(segments, rows)


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: SegmentsContext) -> None:
    """Write the header, all rows, and a final comment if residues have no label.

    Raises ValueError for a part that `encode_tsv` did not make.
    """
    out.write(header_text(header, context))
    n_unlabelled = n_letters = 0
    for part in parts:
        end = part.index(b"\n")
        first, second = part[:end].split()
        n_unlabelled, n_letters = n_unlabelled + int(first), n_letters + int(second)
        out.write(memoryview(part)[end + 1 :])
    if n_unlabelled and header.has_comments:
        out.write(f"# unlabelled: {n_unlabelled} of {n_letters} letters, in long runs of missing letters\n".encode())


def encode_bed(segments: Segments, context: SegmentsContext) -> bytes:
    """Return a line per segment. Blanks, which end a field in BED, become underscores."""

    def line(found: Segment) -> str:
        support = min(1000, round(1000 * found.support))
        return f"{_word(found.sequence)}\t{found.start}\t{found.end}\t{_word(found.label)}\t{support}\n"

    return rows_of(segments, lambda some: "".join(map(line, some)))


def encode_bedgraph(segments: Segments, context: SegmentsContext) -> bytes:
    """Return a line per segment with its support as the value, and its label, for `assemble_bedgraph`."""

    def line(found: Segment) -> str:
        return f"{_word(found.sequence)}\t{found.start}\t{found.end}\t{found.support:.4f}\t{_word(found.label)}\n"

    return rows_of(segments, lambda some: "".join(map(line, some)))


def assemble_bedgraph(parts: Iterable[bytes], out: IO[bytes], header: Header, context: SegmentsContext) -> None:
    """Write only the rows if all have one label, else a track per label, in order of appearance."""
    labels = dict.fromkeys(label for _, label in _labelled(parts))
    for label in labels:
        if len(labels) > 1:
            quoted = label.replace(b'"', b"'")
            out.write(b'track type=bedGraph name="%s" description="Support of %s"\n' % (quoted, quoted))
        out.writelines(row + b"\n" for row, own in _labelled(parts) if own == label)


def _labelled(parts: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield rows of bedGraph and their labels, holding one part at a time."""
    for part in parts:
        for line in bytes(part).split(b"\n")[:-1]:
            row, _, label = line.rpartition(b"\t")
            yield row, label


def _word(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f]", "_", text)


def pack(segments: Segments, context: SegmentsContext) -> Packed:
    """Pack the segments, and the offset of each sequence's first segment."""
    offsets = np.searchsorted(segments.sequence, np.arange(len(segments.names) + 1)).astype(np.int64)
    columns = ("lengths", "log_likelihoods", "n_unlabelled", "start", "end", "label", "support")
    arrays = {name: getattr(segments, name) for name in columns} | {"segment_offsets": offsets}
    return {"names": list(segments.names), "labels": list(segments.labels)}, arrays


TSV = Codec(encode_tsv, assemble)
BED = Codec(encode_bed, Concatenated())
BEDGRAPH = Codec(encode_bedgraph, assemble_bedgraph, needs_all=True)
RESULT = result_format("segments", pack)
