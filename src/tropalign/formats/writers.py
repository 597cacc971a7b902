"""One writer a format: tables become parts of bytes, parts become the file.

A part is what one tile leaves behind, so that a killed run goes on and shards can be joined: ``encode`` makes it,
``assemble`` writes header and parts, in order, to the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from tropalign.errors import InputError
from tropalign.formats import arrow, matrix, srspair, text
from tropalign.formats.table import AlignmentTable
from tropalign.sequences import SequenceBatch


@dataclass(frozen=True)
class Context:
    """What an output says of its making: lines for a header, and the sequences."""

    version: str
    command: str
    parameters: dict[str, str]
    queries: SequenceBatch
    targets: SequenceBatch
    report: str
    both_strands: bool = False
    is_triangle: bool = False
    matrix_values: str = "score"
    matrix_layout: str = "tsv"
    substitution: Any = None  # the SubstitutionMatrix, for midlines


Encode = Callable[[AlignmentTable, Context], bytes]
Assemble = Callable[[Iterator[bytes], BinaryIO, Context], None]


@dataclass(frozen=True)
class Writer:
    """How one format is written; `reports` are the depths that it can show."""

    name: str
    suffixes: tuple[str, ...]
    reports: tuple[str, ...]
    encode: Encode
    assemble: Assemble


ALL = ("score", "ends", "alignment")
WRITERS = {
    writer.name: writer
    for writer in (
        Writer("tsv", (".tsv", ".txt"), ALL, text.tsv_rows, text.with_header(text.tsv_header)),
        Writer("paf", (".paf",), ("alignment",), text.paf_rows, text.with_header(None)),
        Writer("sam", (".sam",), ("alignment",), text.sam_rows, text.with_header(text.sam_header)),
        Writer("fasta", (".fa", ".fasta"), ("alignment",), text.fasta_rows, text.with_header(None)),
        Writer("srspair", (".srspair",), ("alignment",), srspair.rows, srspair.assemble),
        Writer("arrow", (".arrow", ".arrows"), ALL, arrow.encode, arrow.assemble_stream),
        Writer("parquet", (".parquet",), ALL, arrow.encode, arrow.assemble_parquet),
        Writer("matrix", (".npz", ".phy", ".dist"), ALL, matrix.encode, matrix.assemble),
    )
}


def writer_for(name: str | None, path: str | None, report: str) -> Writer:
    """The named writer, else by the path's suffix, else TSV. Raises InputError when it cannot show that report."""
    if name is None:
        suffix = "" if path is None else Path(path).suffix.lower()
        name = next((w.name for w in WRITERS.values() if suffix in w.suffixes), "tsv")
    writer = WRITERS[name]
    if report not in writer.reports:
        raise InputError(f"format {name} shows alignments: use --report alignment, or format tsv for report {report}")
    if name == "parquet":
        arrow.require_pyarrow()
    return writer
