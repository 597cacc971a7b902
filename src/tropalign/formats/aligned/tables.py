"""Table of an alignment's confidence, a row per residue; and alignments as complete results."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.array_files import Packed, batch_packed, needs_pyarrow, result_format
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.results import rows
from tropalign.results.multiple import MultipleAlignment

#: Names and types of the columns.
COLUMNS: dict[str, type] = {
    "sequence": str, "position": np.int64, "residue": str, "column": np.int64, "confidence": np.float64,
    "column_confidence": np.float64,
}  # fmt: skip


def table_columns(alignment: MultipleAlignment) -> dict[str, NDArray[Any]]:
    """Return the columns by name; `sequence` is a row index, `residue` a byte. Positions and columns count from 0."""
    if alignment.residue_confidence is None or alignment.column_confidence is None:
        raise ValueError("the alignment has no confidence")
    row = alignment.row_index
    return {
        "sequence": row,
        "position": np.arange(len(row)) - alignment.sequences.offsets[row],
        "residue": alignment.sequences.letters,
        "column": alignment.columns.astype(np.int64),
        "confidence": alignment.residue_confidence.astype(np.float64),
        "column_confidence": alignment.column_confidence[alignment.columns].astype(np.float64),
    }


BYTES = [chr(byte) for byte in range(256)]


def header_text(header: Header, context: AlignedContext) -> bytes:
    """Return comment lines, then the column names."""
    return header.above(COLUMNS)


def encode_tsv(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the rows as text."""
    found = table_columns(alignment)
    columns = [
        rows.names(alignment.sequences, found["sequence"]),
        rows.numbers(found["position"]),
        rows.choices(found["residue"], BYTES),
        rows.numbers(found["column"]),
        rows.fractions(found["confidence"]),
        rows.fractions(found["column_confidence"]),
    ]
    return rows.join(columns, len(alignment.columns))


def encode_parquet(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the complete file; an alignment is a single part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = table_columns(alignment)
    words = {"sequence": alignment.names, "residue": [chr(byte) for byte in range(256)]}
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(values.astype(np.int32)), pa.array(words[name])).cast(pa.string())
        if name in words
        else pa.array(values)
        for name, values in found.items()
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


TSV = Codec(encode_tsv, Concatenated(header_text))
PARQUET = Codec(
    encode_parquet, Concatenated(), is_binary=True, require=needs_pyarrow("Parquet needs", "end --confidence in .tsv")
)


def pack(alignment: MultipleAlignment, context: AlignedContext) -> Packed:
    """Pack the alignment with its sequences, confidence and tree."""
    notes, arrays = batch_packed(alignment.sequences, "sequences")
    known: dict[str, Any] = {
        name: values
        for name in ("columns", "residue_confidence", "column_confidence", "is_node", "is_masked")
        if (values := getattr(alignment, name)) is not None
    }
    return {"n_columns": alignment.n_columns, "tree": alignment.tree, **notes}, arrays | known


RESULT = result_format("aligned", pack)
