"""What the Arrow formats share: parts are IPC streams; files and Parquet are written by pyarrow, which is an extra."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.header import Header
from tropalign.formats.pairs import PairsContext
from tropalign.results.alignments import AlignmentTable, empty_table
from tropalign.sequences import PROTEIN, SequenceBatch


def require_pyarrow() -> None:
    """Raises InputError with the remedy when pyarrow is absent."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            "Parquet and Feather need pyarrow: pip install 'tropalign[parquet]', or choose another --format"
        ) from None


def encode(table: AlignmentTable, context: PairsContext) -> bytes:
    """An Arrow IPC stream of the table."""
    from nanoarrow.ipc import StreamWriter

    sink = io.BytesIO()
    with StreamWriter.from_writable(sink) as stream:
        stream.write_stream(table)
    return sink.getvalue()


def without_rows(context: PairsContext) -> AlignmentTable:
    """A table with the columns of this context, for the schema."""
    none = SequenceBatch(np.zeros(0, np.uint8), np.zeros(1, np.int64), (), PROTEIN, np.zeros(0, np.uint8))
    return empty_table(none, none, context.report, context.both_strands)


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
    """One IPC stream of all parts' batches; the schema's metadata tells how it was made."""
    import nanoarrow as na
    from nanoarrow.c_array_stream import CArrayStream

    plain = na.c_array_stream(without_rows(context)).get_schema()
    schema = plain.modify(metadata={key.encode(): value.encode() for key, value in header.notes().items()})
    with stream_to(out) as stream:
        stream.write_stream(CArrayStream.from_c_arrays([], schema, validate=False))
        for part in parts:
            with na.ArrayStream.from_readable(part) as batches:
                stream.write_stream(batches, write_schema=False)
