"""What the Arrow formats share: the stream by nanoarrow, files and Parquet through pyarrow, which is an extra.

Their rows come in batches of a fixed size, so that a file does not depend on how a run was cut into tiles or shards.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.header import Header
from tropalign.formats.pairs import PairsContext
from tropalign.results.alignments import AlignmentTable, arrays_of, concatenate, empty_table
from tropalign.sequences import PROTEIN, SequenceBatch

#: Rows of a batch, a row group of Parquet.
BATCH_ROWS = 1 << 16
#: What importing pyarrow takes.
PYARROW_BYTES = 72 << 20
#: What the schema and the rows are made of.
ASSEMBLED_WITH = ("queries", "targets", "report", "both_strands", "decimal_scores")


def require_pyarrow() -> None:
    """Raises InputError with the remedy when pyarrow is absent."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            "Parquet and Feather need pyarrow: pip install 'tropalign[parquet]', or choose another --format"
        ) from None


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """The table itself, as .npz."""
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=False, **arrays_of(table))
    return sink.getvalue()


def batches(parts: Iterable[bytes], context: PairsContext) -> Iterator[AlignmentTable]:
    """The rows of all parts in tables of BATCH_ROWS, the last one shorter."""
    waiting: list[AlignmentTable] = []
    for part in parts:
        waiting.append(_decoded(part, context))
        n_rows = sum(map(len, waiting))
        if n_rows < BATCH_ROWS:
            continue
        whole, n_left = concatenate(waiting), n_rows % BATCH_ROWS
        for end in range(BATCH_ROWS, n_rows + 1, BATCH_ROWS):
            yield whole.slice(end - BATCH_ROWS, end)
        waiting = [whole.slice(n_rows - n_left, n_rows)]
    if sum(map(len, waiting)):
        yield concatenate(waiting)


def _decoded(part: bytes, context: PairsContext) -> AlignmentTable:
    queries, targets = cast("SequenceBatch", context.queries), cast("SequenceBatch", context.targets)
    try:
        with np.load(io.BytesIO(part), allow_pickle=False) as arrays:
            return AlignmentTable(queries, targets, context.report, **arrays)
    except (OSError, EOFError, TypeError, ValueError, zipfile.BadZipFile):
        raise InputError("a finished part is damaged: remove the parts, or write the shard again") from None


def without_rows(context: PairsContext) -> AlignmentTable:
    """A table with the columns of this context, for the schema."""
    none = SequenceBatch(np.zeros(0, np.uint8), np.zeros(1, np.int64), (), PROTEIN, np.zeros(0, np.uint8))
    return empty_table(none, none, context.report, context.both_strands, context.decimal_scores)


def pyarrow_schema(header: Header, context: PairsContext) -> Any:
    """The same as pyarrow's schema, with the header as metadata."""
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(without_rows(context)).schema.with_metadata(header.notes())


class _Sink(io.RawIOBase):
    """A file that remembers why it could not be written: nanoarrow raises its own exception in place of that."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            return self._out.write(data)
        except OSError as error:
            self.error = error
            raise


@contextmanager
def stream_to(out: IO[bytes]) -> Iterator[Any]:
    """A nanoarrow StreamWriter whose failed writes are OSErrors: a full disk, or a pipe that nobody reads any more."""
    from nanoarrow.ipc import StreamWriter

    sink = _Sink(out)
    try:
        with StreamWriter.from_writable(sink) as stream:
            yield stream
    except Exception:
        if sink.error is not None:
            raise sink.error from None
        raise


def write_stream(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """One IPC stream of all rows; the schema's metadata says how it was made."""
    import nanoarrow as na
    from nanoarrow.c_array_stream import CArrayStream

    plain = na.c_array_stream(without_rows(context)).get_schema()
    schema = plain.modify(metadata={key.encode(): value.encode() for key, value in header.notes().items()})
    with stream_to(out) as stream:
        stream.write_stream(CArrayStream.from_c_arrays([], schema, validate=False))
        for table in batches(parts, context):
            stream.write_stream(table, write_schema=False)
