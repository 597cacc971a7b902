"""Arrow formats of pairs: the stream by nanoarrow, files and Parquet by pyarrow, an extra.

Rows are in batches of a fixed size, so that a file does not depend on how the run was divided into tiles or shards.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.formats.array_files import needs_pyarrow, part_arrays, stream_to
from tropalign.formats.format import Codec, Header
from tropalign.formats.pairs.context import PairsContext
from tropalign.formats.pairs.tables import names_of
from tropalign.results.alignments import AlignmentTable
from tropalign.results.columns import Flat, arrow_batch
from tropalign.results.output_columns import flat_columns, no_rows, types_of

#: Rows per batch, or per row group of Parquet.
BATCH_ROWS = 1 << 16
#: Context fields that the schema and the rows depend on.
ASSEMBLED_WITH = ("report", "both_strands", "decimal_scores", "columns")


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return the columns as .npz: numbers unchanged, text as bytes, its lengths under the name followed by ``:``.

    Lengths have the narrowest type for the longest text, since a table of names contains little else.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for name, values in flat_columns(table, names_of(context)).items():
        if isinstance(values, tuple):
            arrays[name], lengths = values[0], np.diff(values[1])
            arrays[f"{name}:"] = lengths.astype(np.min_scalar_type(int(lengths.max(initial=0))))
        else:
            arrays[name] = values
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=False, **arrays)
    return sink.getvalue()


def batches(parts: Iterable[bytes], context: PairsContext) -> Iterator[dict[str, Flat]]:
    """Yield the rows of all parts in batches of BATCH_ROWS; the last one is shorter."""
    types = types_of(names_of(context), context.decimal_scores)
    waiting: list[dict[str, Flat]] = []
    n_waiting = 0
    for part in parts:
        waiting.append(_decoded(part, types))
        n_waiting += _n_rows(waiting[-1])
        if n_waiting < BATCH_ROWS:
            continue
        whole, n_left = _joined(waiting), n_waiting % BATCH_ROWS
        for end in range(BATCH_ROWS, n_waiting + 1, BATCH_ROWS):
            yield _slice(whole, end - BATCH_ROWS, end)
        waiting, n_waiting = [_slice(whole, n_waiting - n_left, n_waiting)], n_left
    if n_waiting:
        yield _joined(waiting)


def _n_rows(columns: dict[str, Flat]) -> int:
    first = next(iter(columns.values()))
    return len(first[1]) - 1 if isinstance(first, tuple) else len(first)


def _joined(pieces: list[dict[str, Flat]]) -> dict[str, Flat]:
    """Concatenate the rows of several pieces."""
    joined: dict[str, Flat] = {}
    for name in pieces[0]:
        values: list[Any] = [piece[name] for piece in pieces]
        if isinstance(values[0], tuple):
            letters, offsets = zip(*values, strict=True)
            joined[name] = (np.concatenate(letters), ragged.joined(list(offsets)))
        else:
            joined[name] = np.concatenate(values)
    return joined


def _slice(columns: dict[str, Flat], begin: int, end: int) -> dict[str, Flat]:
    """Return rows [begin, end)."""
    rows: dict[str, Flat] = {}
    for name, values in columns.items():
        if isinstance(values, tuple):
            letters, offsets = values
            own = offsets[begin : end + 1]
            rows[name] = (letters[own[0] : own[-1]], own - own[0])
        else:
            rows[name] = values[begin:end]
    return rows


def _decoded(part: bytes, types: dict[str, type]) -> dict[str, Flat]:
    """Return the columns of a part. Raises InputError if it is damaged, since shards may have been transferred."""
    with part_arrays(part) as arrays:
        columns = {name: _column(arrays, name, dtype) for name, dtype in types.items()}
        if len({_n_rows({name: values}) for name, values in columns.items()}) != 1:
            raise ValueError("columns of several lengths")
    return columns


def _column(arrays: Any, name: str, dtype: type) -> Flat:
    values = arrays[name]
    if values.ndim != 1 or values.dtype != (np.uint8 if dtype is str else dtype):
        raise ValueError(f"{name} has another type")
    if dtype is not str:
        return np.asarray(values)
    lengths = arrays[f"{name}:"]
    if lengths.dtype.kind != "u" or lengths.ndim != 1:
        raise ValueError(f"{name} has other lengths")
    offsets = ragged.offsets_of(lengths)
    ragged.check_offsets(offsets, name, values, name)
    return values, offsets


def pyarrow_schema(header: Header, context: PairsContext) -> Any:
    """Return the pyarrow schema of the columns, with the header as metadata."""
    import pyarrow as pa

    return pa.schema(arrow_batch(no_rows(names_of(context), context.decimal_scores)).schema).with_metadata(
        header.notes()
    )


def write_stream(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Write one IPC stream of all rows; the schema's metadata holds the provenance."""
    from nanoarrow.c_array_stream import CArrayStream

    plain = arrow_batch(no_rows(names_of(context), context.decimal_scores)).schema
    schema = plain.modify(metadata={key.encode(): value.encode() for key, value in header.notes().items()})
    with stream_to(out) as stream:
        stream.write_stream(CArrayStream.from_c_arrays([], schema, validate=False))
        for columns in batches(parts, context):
            batch = arrow_batch(columns)
            stream.write_stream(CArrayStream.from_c_arrays([batch], batch.schema, validate=False), write_schema=False)


def write_file(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Write an IPC file of all rows: the batches, then the footer with their positions."""
    import pyarrow as pa

    schema = pyarrow_schema(header, context)
    with pa.ipc.new_file(out, schema) as writer:
        for columns in batches(parts, context):
            writer.write_batch(pa.record_batch(arrow_batch(columns)).replace_schema_metadata(schema.metadata))


def write_parquet(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Write a row group per batch."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pyarrow_schema(header, context)
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for columns in batches(parts, context):
            writer.write_batch(pa.record_batch(arrow_batch(columns)).replace_schema_metadata(schema.metadata))


_require = needs_pyarrow("Parquet and Arrow files need", "choose another format (arrows)")
ARROWS = Codec(encode, write_stream, assembled_with=ASSEMBLED_WITH, is_binary=True)
ARROW = FEATHER = Codec(encode, write_file, assembled_with=ASSEMBLED_WITH, is_binary=True, require=_require)
PARQUET = Codec(encode, write_parquet, assembled_with=ASSEMBLED_WITH, is_binary=True, require=_require)
