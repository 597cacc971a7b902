"""JSON Lines: an object per pair, its keys the names of the columns."""

from __future__ import annotations

import json

import numpy as np

from tropalign.formats.pair_tables import is_plain, names_of, quoted
from tropalign.formats.pairs import PairsContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results import nucleotides, rows
from tropalign.results.alignments import AlignmentTable
from tropalign.results.output_columns import OUTPUT_COLUMNS, values_of


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Numbers with as many digits as give the same number again; the strand as ``"+"`` or ``"-"``."""
    columns, before = [], "{"
    for name in names_of(context):
        columns += _members(table, name, f'{before}"{name}":')
        before = ","
    return rows.join(columns, len(table), separator="", terminator="}\n")


def _members(table: AlignmentTable, name: str, prefix: str) -> list[rows.Column]:
    """A key and its values."""
    form = OUTPUT_COLUMNS[name].form
    if form in ("query", "target"):
        return [rows.quoted_names(*nucleotides.given(table, form), json_word, prefix)]
    values = values_of(table, name)
    if isinstance(values, tuple):
        if is_plain(values):
            return [rows.constant(prefix + '"'), values, rows.constant('"')]
        return [rows.constant(prefix), quoted(values, len(table), json_word)]
    if form == "strand":
        return [rows.choices((values < 0).astype(np.int64), ['"+"', '"-"'], prefix)]
    return [rows.shortest(values, prefix) if values.dtype == np.float64 else rows.numbers(values, prefix)]


def json_word(word: str) -> str:
    """A word as JSON, letters beyond ASCII as they are."""
    return json.dumps(word, ensure_ascii=False)


FORMAT = Format((".jsonl", ".ndjson"), encode, concatenated(), takes_columns=True)
