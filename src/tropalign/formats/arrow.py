"""What Arrow's formats of several rooms need: pyarrow, which is an extra, and streams that say why they failed."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from tropalign.errors import InputError


def needs_pyarrow(what: str, instead: str) -> Callable[[], None]:
    """Makes what raises InputError where pyarrow is absent, with the remedy and what to do instead."""

    def require() -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise InputError(f"{what} pyarrow: pip install 'tropalign[parquet]', or {instead}") from None

    return require


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
