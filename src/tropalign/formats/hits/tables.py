"""Table of domains as tab-separated text, as Arrow's IPC stream and as Parquet.

Rows of the latter two are in groups of a fixed size, independent of how the run was divided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from tropalign.formats.array_files import needs_pyarrow, stream_to
from tropalign.formats.format import Codec, Header
from tropalign.formats.hits.context import HitsContext
from tropalign.formats.hits.parts import ASSEMBLED_WITH, assembled_by, encode_without_lines
from tropalign.results import rows
from tropalign.results.columns import arrow_batch
from tropalign.results.hit import DOMAINS, Columns
from tropalign.results.hits import Hits

#: Rows per batch, or per row group of Parquet.
GROUP_ROWS = 1 << 16


def groups(pieces: Iterator[Hits]) -> Iterator[Columns]:
    """Yield the table of domains in groups of GROUP_ROWS; the last one is shorter."""
    waiting: list[Columns] = []
    n_rows = 0
    for hits in pieces:
        waiting.append(hits.domains.columns())
        n_rows += len(waiting[-1]["bits"])
        if n_rows < GROUP_ROWS:
            continue
        whole, n_left = _concatenated(waiting), n_rows % GROUP_ROWS
        for end in range(GROUP_ROWS, n_rows + 1, GROUP_ROWS):
            yield {name: values[end - GROUP_ROWS : end] for name, values in whole.items()}
        waiting, n_rows = [{name: values[n_rows - n_left :] for name, values in whole.items()}], n_left
    if n_rows:
        yield _concatenated(waiting)


def _concatenated(tables: list[Columns]) -> Columns:
    return {name: _joined([table[name] for table in tables]) for name in DOMAINS}


def _joined(pieces: list[Any]) -> Any:
    if isinstance(pieces[0], list):
        return [text for piece in pieces for text in piece]
    return np.concatenate(pieces)


def batch_of(columns: Columns) -> Any:
    """Return the columns as a nanoarrow array of structs."""
    return arrow_batch(columns)


def no_rows() -> Columns:
    """Return the table without rows, for the schema."""
    return {name: [] if dtype is str else np.zeros(0, dtype) for name, (dtype, _) in DOMAINS.items()}


#: Number formats of some columns; other floats use _SCORE.
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


def write_tsv(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write comment lines, column names, and a row per domain."""
    out.write(("\n".join([*header.comment_lines(), "\t".join(DOMAINS)]) + "\n").encode())
    for hits in pieces:
        columns = hits.domains.columns()
        out.write(rows.join([_column(name, values) for name, values in columns.items()], len(columns["bits"])))


def write_arrow(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write one stream of all rows; the schema's metadata holds the provenance."""
    from nanoarrow.c_array_stream import CArrayStream

    metadata = {key.encode(): value.encode() for key, value in header.notes().items()}
    schema = batch_of(no_rows()).schema.modify(metadata=metadata)
    with stream_to(out) as stream:
        stream.write_stream(CArrayStream.from_c_arrays([], schema, validate=False))
        for columns in groups(pieces):
            batch = batch_of(columns)
            one = CArrayStream.from_c_arrays([batch], batch.schema, validate=False)
            stream.write_stream(one, write_schema=False)


def write_parquet(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write a row group per batch; the schema's metadata holds the provenance."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(batch_of(no_rows()).schema).with_metadata(header.notes())
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for columns in groups(pieces):
            batch = pa.record_batch(batch_of(columns))
            writer.write_table(pa.Table.from_batches([batch]).replace_schema_metadata(schema.metadata))


TSV = Codec(encode_without_lines, assembled_by(write_tsv), assembled_with=ASSEMBLED_WITH)
ARROW = Codec(encode_without_lines, assembled_by(write_arrow), assembled_with=ASSEMBLED_WITH, is_binary=True)
PARQUET = Codec(
    encode_without_lines,
    assembled_by(write_parquet),
    assembled_with=ASSEMBLED_WITH,
    is_binary=True,
    require=needs_pyarrow("Parquet needs", "choose another --format"),
)
