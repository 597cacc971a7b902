"""One writer a format: tables become parts of bytes, parts become the file.

A part is what one tile leaves behind, so that a killed run goes on and shards can be joined: ``encode`` makes it,
``assemble`` writes header and parts, in order, to the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tropalign.errors import InputError
from tropalign.formats import arrow, gapped_fasta, paf, sam, score_matrix, srspair, tsv
from tropalign.formats.context import Context
from tropalign.results.alignments import AlignmentTable

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
        Writer("tsv", (".tsv", ".txt"), ALL, tsv.encode, tsv.assemble),
        Writer("paf", (".paf",), ("alignment",), paf.encode, paf.assemble),
        Writer("sam", (".sam",), ("alignment",), sam.encode, sam.assemble),
        Writer("fasta", (".fa", ".fasta"), ("alignment",), gapped_fasta.encode, gapped_fasta.assemble),
        Writer("srspair", (".srspair", ".needle", ".water"), ("alignment",), srspair.encode, srspair.assemble),
        Writer("arrow", (".arrow", ".arrows"), ALL, arrow.encode, arrow.assemble_stream),
        Writer("feather", (".feather",), ALL, arrow.encode, arrow.assemble_file),
        Writer("parquet", (".parquet",), ALL, arrow.encode, arrow.assemble_parquet),
        Writer("matrix", (".npz", ".phy", ".dist"), ALL, score_matrix.encode, score_matrix.assemble),
    )
}


def format_for_path(path: str | None) -> str:
    """Name of the format that a path's suffix tells; ``tsv`` when it tells none."""
    suffix = "" if path is None else Path(path).suffix.lower()
    return next((writer.name for writer in WRITERS.values() if suffix in writer.suffixes), "tsv")


def writer_for(name: str | None, path: str | None, report: str) -> Writer:
    """The named writer, else by the path's suffix, else TSV. Raises InputError when it cannot show that report."""
    name = name or format_for_path(path)
    writer = WRITERS[name]
    if report not in writer.reports:
        raise InputError(f"format {name} shows alignments: use --report alignment, or format tsv for report {report}")
    if name in ("parquet", "feather"):
        arrow.require_pyarrow()
    return writer


__all__ = ["WRITERS", "Assemble", "Context", "Encode", "Writer", "format_for_path", "writer_for"]
