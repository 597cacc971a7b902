"""Chimeras as text: a tab-separated row per sequence, with a header or in vsearch's form; FASTA."""

from __future__ import annotations

import numpy as np

from tropalign.errors import shown
from tropalign.formats.clusters import ChimerasContext
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.results.chimeras import Chimeras
from tropalign.results.rows import check_names, fasta_headers


def header_text(header: Header, context: ChimerasContext) -> bytes:
    """Return comment lines, then the column names."""
    return header.above(COLUMNS)


#: Columns in the order of `Chimeras.columns`.
COLUMNS = (
    "score", "query", "parent_a", "parent_b", "closer_parent", "model_identity", "a_identity", "b_identity",
    "ab_identity", "top_identity", "left_yes", "left_no", "left_abstain", "right_yes", "right_no", "right_abstain",
    "divergence", "verdict",
)  # fmt: skip
_DECIMALS = {"score": 4}


def _text(name: str, value: object) -> str:
    if isinstance(value, float):
        return "*" if np.isnan(value) else f"{value:.{_DECIMALS.get(name, 1)}f}"
    return shown(value) if isinstance(value, str) else str(value)


def encode_rows(chimeras: Chimeras, context: ChimerasContext) -> bytes:
    """Return the rows, with ``*`` for missing parents."""
    columns = chimeras.columns()
    check_names([*columns["query"], *columns["parent_a"], *columns["parent_b"]])
    values = [column if isinstance(column, list) else column.tolist() for column in columns.values()]
    lines = ("\t".join(map(_text, COLUMNS, row)) + "\n" for row in zip(*values, strict=True))
    return "".join(lines).encode("utf-8", "backslashreplace")


def encode_fasta(chimeras: Chimeras, context: ChimerasContext) -> bytes:
    """Return the sequences of the rows."""
    batch = chimeras.query_sequences
    records = (
        f">{name}\n{batch.text(k)}\n"
        for k, (name, verdict) in enumerate(zip(fasta_headers(batch.names), chimeras.verdicts, strict=True))
        if context.verdict in ("", verdict)
    )
    return "".join(records).encode("utf-8", "backslashreplace")


TSV = Codec(encode_rows, Concatenated(header_text))
UCHIME = Codec(encode_rows, Concatenated())
FASTA = Codec(encode_fasta, Concatenated())
