"""The table of domains as tab-separated text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from tropalign.formats.header import Header
from tropalign.formats.hit_parts import ASSEMBLED_WITH, assembled_by, encode_without_lines
from tropalign.formats.hits import HitsContext
from tropalign.formats.writer import Format
from tropalign.results import rows
from tropalign.results.hit_tables import DOMAINS
from tropalign.results.hits import Hits

#: How numbers are written; others as they are.
_FORMS = {"evalue": "%.3g", "c_evalue": "%.3g", "i_evalue": "%.3g", "accuracy": "%.3f"}
_SCORE = "%.2f"


def _column(name: str, values: Any) -> rows.Column:
    if name == "description":
        return rows.words([" ".join(text.split("\t")) for text in values])
    if isinstance(values, list):
        rows.check_names(values)
        return rows.words(values)
    if values.dtype == np.bool_:
        return rows.choices(values.astype(np.int64), ("no", "yes"))
    if values.dtype.kind == "f":
        return rows.words([_FORMS.get(name, _SCORE) % value for value in values.tolist()])
    return rows.numbers(values)


def write(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Comment lines, the names of the columns, a row per domain."""
    out.write(("\n".join([*header.comment_lines(), "\t".join(DOMAINS)]) + "\n").encode())
    for hits in pieces:
        columns = hits.domains.columns()
        out.write(rows.join([_column(name, values) for name, values in columns.items()], len(columns["bits"])))


FORMAT = Format((".tsv",), encode_without_lines, assembled_by(write), assembled_with=ASSEMBLED_WITH)
