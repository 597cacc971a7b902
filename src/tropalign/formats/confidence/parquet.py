"""Parquet tables of an alignment's confidence."""

from __future__ import annotations

import io

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.confidence_table import table_columns
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment


def require_pyarrow() -> None:
    """Raises InputError with the remedy when pyarrow is absent."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow: pip install 'tropalign[parquet]', or end --confidence in .tsv"
        ) from None


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The whole file: an alignment is one part."""
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


FORMAT = Format(
    (".parquet",),
    encode,
    concatenated(),
    is_binary=lambda context: True,
    require=require_pyarrow,
    shows_confidence=True,
)
