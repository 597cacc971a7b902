"""SAM: targets are the references, queries the reads.

A read has one primary line: its best score, the first of the file where several are equal. Its other lines are
secondary (0x100), with ``*`` for letters and qualities, which are those of the primary line. A read that was aligned
with nothing is one unmapped line. BAM is the same, packed by pysam, which is an extra.
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
#: No mapper's estimate: the score of a pair says nothing of other places where the read might belong.
MAPPING_QUALITY_UNKNOWN = 255
#: Their text stays in the cache.
ROWS_AT_ONCE = 4096
#: What a file is put together with, parts aside.
ASSEMBLED_WITH = ("queries", "targets")


def header_text(header: Header, context: PairsContext) -> bytes:
    """Targets as ``@SQ``, the command as ``@PG`` with the parameters."""
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
    """A line per pair, and where it is not known yet which one is primary, the line that the best one may be."""
    return b"".join(sam_blocks(table, context))


def sam_blocks(table: AlignmentTable, context: PairsContext) -> Iterator[bytes]:
    """The lines of whole queries as they stand in the file, in blocks; else a part with all that they may be."""
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
    """Primary lines of the rows, or others; where the format does not know U, T stands for it."""
    parts = (table.slice(k, k + ROWS_AT_ONCE) for k in range(0, len(table), ROWS_AT_ONCE))
    return b"".join(_some_lines(part, np.full(len(part), is_primary), has_u) for part in parts)


def _some_lines(table: AlignmentTable, is_primary: Flags, has_u: bool) -> bytes:
    """Lines of some rows: what hangs over is soft-clipped; a pair without an aligned column is an unmapped read."""
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
    """Letters and qualities in primary lines, and ``*`` in others."""
    if not is_primary.any():
        return [rows.constant("\t*\t*")]
    primary = table if is_primary.all() else table.take(is_primary)
    columns = [sam_fields.letters(primary, "\t", has_u), sam_fields.qualities(primary, "\t")]
    if primary is table:
        return columns
    return [rows.where(column, is_primary) for column in columns]


def _references(table: AlignmentTable, empty: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> rows.Column:
    """The targets' names, and ``*`` for an unmapped read."""
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


#: What importing pysam takes.
PYSAM_BYTES = 24 << 20
COPIED_BYTES = 1 << 16


def encode_bam(table: AlignmentTable, context: PairsContext) -> bytes:
    """The lines as SAM's, but for U, which BAM does not know."""
    return primary_lines.encode(table, partial(lines, has_u=False))


def require_pysam() -> None:
    """Raises InputError with the remedy when pysam is absent."""
    try:
        import pysam  # noqa: F401
    except ImportError:
        raise InputError(f"BAM needs pysam: pip install 'tropalign[bam]', or choose {named('format')} sam") from None


def check_bam(context: PairsContext) -> None:
    """Refuses proteins, whose letters have no number in BAM."""
    if isinstance(context.queries, SequenceBatch) and not context.queries.alphabet.has_strands:
        raise InputError(f"BAM holds nucleotides only, and these are proteins: choose {named('format')} sam")


def assemble_bam(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Packs the lines in the order of the pairs."""
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
    """A file of the system's, as pysam wants it, whose bytes go to the output; and why they do not, once that is so."""
    read_end, write_end = os.pipe()
    failures: list[Exception] = []

    def copy() -> None:
        with open(read_end, "rb", buffering=0) as source:
            while data := source.read(COPIED_BYTES):
                if failures:  # read on, or the writer would wait for ever
                    continue
                try:
                    out.write(data)
                except Exception as error:  # told by the thread that writes
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
