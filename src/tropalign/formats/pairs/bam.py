"""BAM: what the SAM holds, packed by pysam, which is an extra."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO

from tropalign.errors import InputError, named
from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.pairs import primary_lines, sam
from tropalign.formats.pairs.context import PairsContext
from tropalign.results.alignments import AlignmentTable
from tropalign.sequences import SequenceBatch

#: What importing pysam takes.
PYSAM_BYTES = 24 << 20
COPIED_BYTES = 1 << 16


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """The lines as SAM's, but for U, which BAM does not know."""
    return primary_lines.encode(table, partial(sam.lines, has_u=False))


def require_pysam() -> None:
    """Raises InputError with the remedy when pysam is absent."""
    try:
        import pysam  # noqa: F401
    except ImportError:
        raise InputError(f"BAM needs pysam: pip install 'tropalign[bam]', or choose {named('format')} sam") from None


def check(context: PairsContext) -> None:
    """Refuses proteins, whose letters have no number in BAM."""
    if isinstance(context.queries, SequenceBatch) and not context.queries.alphabet.has_strands:
        raise InputError(f"BAM holds nucleotides only, and these are proteins: choose {named('format')} sam")


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Packs the lines in the order of the pairs."""
    import pysam

    head = pysam.AlignmentHeader.from_text(sam.header_text(header, context).decode())
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


BAM = Codec(
    encode,
    assemble,
    assembled_with=sam.ASSEMBLED_WITH,
    is_binary=True,
    needs_all=True,
    require=require_pysam,
    check=check,
)
