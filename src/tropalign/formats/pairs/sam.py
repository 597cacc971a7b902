"""SAM: targets are the references, queries the reads.

A read has one primary line: its best score, the first one in the file for ties. Its other lines are secondary
(0x100) and have ``*`` for letters and qualities, which are on the primary line. A read without any alignment is
one unmapped line. BAM has the same content, packed by pysam, an extra.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named
from tropalign.formats.format import Codec, Concatenated, row_blocks
from tropalign.formats.header import Header, one_line
from tropalign.formats.pairs import primary_lines, sam_fields
from tropalign.formats.pairs.context import PairsContext
from tropalign.formats.pairs.sam_fields import valid_names
from tropalign.results import rows
from tropalign.results.alignments import AlignmentTable
from tropalign.results.gapped import query_starts
from tropalign.sequences import SequenceBatch

Flags = NDArray[np.bool_]
UNMAPPED, REVERSED, SECONDARY = 4, 16, 256
#: Unknown: the score of a pair does not show whether the read fits elsewhere.
MAPPING_QUALITY_UNKNOWN = 255
#: Rows whose text stays in the CPU cache.
ROWS_AT_ONCE = 4096
#: Context fields for assembling a file.
ASSEMBLED_WITH = ("queries", "targets")


def header_text(header: Header, context: PairsContext) -> bytes:
    """Return targets as ``@SQ``, and the command with the parameters as ``@PG``."""
    data, offsets = valid_names(context.targets, "reference")
    names, bounds = data.tobytes(), offsets.tolist()
    if len(set(context.targets.names)) < len(context.targets):
        raise UsageError("two targets have the same name, which SAM does not allow: give each record its own name")
    lines = ["@HD\tVN:1.6\tSO:unknown"]
    for k, length in enumerate(context.targets.lengths.tolist()):
        lines.append(f"@SQ\tSN:{names[bounds[k] : bounds[k + 1]].decode()}\tLN:{length}")
    command = one_line(header.command)
    notes = one_line("; ".join(f"{name}: {value}" for name, value in header.parameters.items()))
    lines.append(f"@PG\tID:tropalign\tPN:tropalign\tVN:{header.version}\tCL:{command}\tDS:{notes}")
    return ("\n".join(lines) + "\n").encode()


def encode_sam(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return a line per pair; if the primary pairs are not known yet, also the alternative line of each best pair."""
    return b"".join(sam_blocks(table, context))


def sam_blocks(table: AlignmentTable, context: PairsContext) -> Iterator[bytes]:
    """Yield final lines of complete queries in blocks; otherwise one part with all alternatives."""
    if not context.has_whole_queries:
        return iter([primary_lines.encode(table, lines)])
    is_primary = primary_lines.primary_rows(table)
    is_shown = is_primary | (table.n_columns > 0)
    if not is_shown.all():
        table, is_primary = table.take(is_shown), is_primary[is_shown]
    return row_blocks(
        len(table), lambda begin, end: _some_lines(table.slice(begin, end), is_primary[begin:end], has_u=True)
    )


def lines(table: AlignmentTable, is_primary: bool, has_u: bool = True) -> bytes:
    """Return the rows as primary lines, or as others; without `has_u`, U is written as T."""
    parts = (table.slice(k, k + ROWS_AT_ONCE) for k in range(0, len(table), ROWS_AT_ONCE))
    return b"".join(_some_lines(part, np.full(len(part), is_primary), has_u) for part in parts)


def _some_lines(table: AlignmentTable, is_primary: Flags, has_u: bool) -> bytes:
    """Return lines of rows: overhangs are soft-clipped; a pair without an aligned column is an unmapped read."""
    begin = query_starts(table)
    after = table.queries.lengths[table.query_index] - begin - (table.query_end - table.query_start)
    empty = table.n_columns == 0
    minus = np.zeros(len(table), bool) if table.strand is None else table.strand < 0
    flags = UNMAPPED * empty + REVERSED * minus.astype(np.int32) + SECONDARY * ~is_primary
    columns = [
        ("text", *valid_names(table.queries, "read"), np.ascontiguousarray(table.query_index), ""),
        rows.numbers(flags, "\t"),
        _references(table, empty),
        rows.numbers(np.where(empty, 0, table.target_start + 1), "\t"),
        rows.numbers(np.where(empty, 0, MAPPING_QUALITY_UNKNOWN), "\t"),
        rows.each(np.where(empty, 0, begin), "{}S", "", "\t"),
        rows.cigars(table),
        rows.each(np.where(empty, 0, after), "{}S", ""),
        rows.constant("\t*\t0\t0"),
        *_reads(table, is_primary, has_u),
        *rows.score_tags(table.score, "\t"),
        rows.numbers(table.n_columns - table.n_identical, "\tNM:i:"),
    ]
    return rows.join(columns, len(table), separator="")


def _reads(table: AlignmentTable, is_primary: Flags, has_u: bool) -> list[rows.Column]:
    """Return letters and qualities of primary lines, ``*`` for others."""
    if not is_primary.any():
        return [rows.constant("\t*\t*")]
    primary = table if is_primary.all() else table.take(is_primary)
    columns = [sam_fields.letters(primary, "\t", has_u), sam_fields.qualities(primary, "\t")]
    if primary is table:
        return columns
    return [rows.where(column, is_primary) for column in columns]


def _references(table: AlignmentTable, empty: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> rows.Column:
    """Return the targets' names, ``*`` for an unmapped read."""
    data, offsets = valid_names(table.targets, "reference")
    index = np.ascontiguousarray(table.target_index)
    if empty.any():
        star = np.frombuffer(b"*", np.uint8)
        data, offsets = np.concatenate([data, star]), np.append(offsets, offsets[-1] + 1)
        index = np.where(empty, len(offsets) - 2, index)
    return ("text", data, offsets, index, "\t")


class _Sam(Concatenated):
    """An ``assemble`` of the header, and the lines in the order of the pairs."""

    def __call__(self, parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
        found = parts if context.has_whole_queries else primary_lines.chosen(parts, len(context.queries))
        super().__call__(found, out, header, context)  # type: ignore[arg-type]


#: Memory of importing pysam.
PYSAM_BYTES = 24 << 20
COPIED_BYTES = 1 << 16


def encode_bam(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return SAM lines without U, which BAM does not support."""
    return primary_lines.encode(table, partial(lines, has_u=False))


def require_pysam() -> None:
    """Raise InputError with the remedy if pysam is missing."""
    try:
        import pysam  # noqa: F401
    except ImportError:
        raise InputError(f"BAM needs pysam: pip install 'tropalign[bam]', or choose {named('format')} sam") from None


def check_bam(context: PairsContext) -> None:
    """Reject proteins, since BAM has no codes for their residues."""
    if isinstance(context.queries, SequenceBatch) and not context.queries.alphabet.has_strands:
        raise InputError(f"BAM holds nucleotides only, and these are proteins: choose {named('format')} sam")


def assemble_bam(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Pack the lines in the order of the pairs."""
    import pysam

    head = pysam.AlignmentHeader.from_text(header_text(header, context).decode())
    with _file_of(out) as (file, failures), pysam.AlignmentFile(file, "wb", header=head) as packed:
        for lines in primary_lines.chosen(parts, len(context.queries)):
            for line in bytes(lines).decode().splitlines():
                packed.write(pysam.AlignedSegment.fromstring(line, head))
            if failures:
                return


@contextmanager
def _file_of(out: IO[bytes]) -> Iterator[tuple[IO[bytes], list[Exception]]]:
    """Yield an OS-level file, as pysam requires, whose bytes are copied to the output, and a list of copying errors."""
    read_end, write_end = os.pipe()
    failures: list[Exception] = []

    def copy() -> None:
        with open(read_end, "rb", buffering=0) as source:
            while data := source.read(COPIED_BYTES):
                if failures:  # keep reading, or the writer would block
                    continue
                try:
                    out.write(data)
                except Exception as error:  # re-raised by the writing thread
                    failures.append(error)

    copying = threading.Thread(target=copy)
    copying.start()
    try:
        with open(write_end, "wb") as file:
            yield file, failures
    finally:
        copying.join()
    if failures:
        raise failures[0]


SAM = Codec(
    encode_sam,
    _Sam(header_text),
    assembled_with=ASSEMBLED_WITH,
    needs_all=lambda context: not context.has_whole_queries,
    blocks=sam_blocks,
)
BAM = Codec(
    encode_bam,
    assemble_bam,
    assembled_with=ASSEMBLED_WITH,
    is_binary=True,
    needs_all=True,
    require=require_pysam,
    check=check_bam,
)
