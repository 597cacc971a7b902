"""Shared parts of Arrow formats: the check for pyarrow, an extra, and streams that report write errors."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from tropalign.errors import InputError


def needs_pyarrow(what: str, instead: str) -> Callable[[], None]:
    """Return a function that raises InputError if pyarrow is missing, with the remedy and an alternative."""

    def require() -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise InputError(f"{what} pyarrow: pip install 'tropalign[parquet]', or {instead}") from None

    return require


class _Sink(io.RawIOBase):
    """File that stores its write error, since nanoarrow raises its own exception instead."""

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
    """Yield a nanoarrow StreamWriter that raises OSError for failed writes: a full disk, or a broken pipe."""
    from nanoarrow.ipc import StreamWriter

    sink = _Sink(out)
    try:
        with StreamWriter.from_writable(sink) as stream:
            yield stream
    except Exception:
        if sink.error is not None:
            raise sink.error from None
        raise
