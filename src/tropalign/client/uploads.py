"""Upload of inputs from Python code and command lines as files."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any, cast

from tropalign.errors import InputError, UsageError, shown
from tropalign.sequences import SequenceBatch
from tropalign.sequences.inputs import named_file
from tropalign.submissions.file_names import sanitised

if TYPE_CHECKING:
    from tropalign.client.transport import Transport

#: Bytes of a sent stream that are kept in memory.
SPOOL_BYTES = 1 << 24
#: File name of standard input on the server.
STANDARD_INPUT = "stdin.fa"


class Uploads:
    """Uploads of files to a server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def file(self, path: str | os.PathLike[str]) -> dict[str, str]:
        """Send a file unchanged, and return its reference for submissions; "-" is standard input.

        Raises InputError if it cannot be read, TropalignError if the server rejects it.
        """
        text = os.fspath(path)
        if not isinstance(text, str):
            raise UsageError("the path is bytes: give a string")
        if text == "-":
            return self._stream(sys.stdin.buffer, STANDARD_INPUT)
        name = sanitised(text)
        try:
            if os.path.isdir(text):
                raise InputError("this is a directory: name a file in it", file=text)
            if not os.path.isfile(text) and os.path.exists(text):  # a pipe
                with open(text, "rb") as stream:
                    return self._stream(stream, name)
            n_bytes = os.stat(text).st_size
            open(text, "rb").close()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"the file cannot be read ({reason}): name another one", file=text) from None
        return self._sent(lambda: open(text, "rb"), n_bytes, name)

    def data(self, data: bytes, name: str) -> dict[str, str]:
        """Send bytes under a name."""
        return self._sent(lambda: io.BytesIO(data), len(data), sanitised(name))

    def sequences(self, given: Any, name: str) -> dict[str, str]:
        """Send sequences (as for `SequenceBatch.from_strings`), a batch, or a file."""
        given = named_file(given)
        if isinstance(given, os.PathLike):
            return self.file(given)
        batch = given if isinstance(given, SequenceBatch) else SequenceBatch.from_strings(given)
        return self.data(fasta_of(batch), f"{name}.fa")

    def _stream(self, stream: IO[bytes], name: str) -> dict[str, str]:
        """Send a stream from a temporary copy: its length must be known first, and a stream can be read only once."""
        with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as kept:
            shutil.copyfileobj(stream, kept)
            n_bytes = kept.tell()

            def again() -> IO[bytes]:
                kept.seek(0)
                return cast(IO[bytes], _Open(kept))

            return self._sent(again, n_bytes, name)

    def _sent(self, body: Any, n_bytes: int, name: str) -> dict[str, str]:
        found = self._transport.send("/api/v1/files", body, n_bytes, {"name": name})
        digest = found.get("file")
        if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise InputError("the server did not return the file's id: check that it has this version of tropalign")
        return {"file": digest, "name": name}


class _Open(io.RawIOBase):
    """View of a file that stays open when this view is closed."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        """True, as the stream is readable."""
        return True

    def readinto(self, place: Any) -> int:
        """Read the next bytes into a buffer."""
        data = self._file.read(len(place))
        place[: len(data)] = data
        return len(data)


def fasta_of(batch: SequenceBatch) -> bytes:
    """Return a batch as FASTA that reads back as the same batch.

    Raises InputError for an empty batch or one without residues, UsageError for a name that FASTA cannot hold.
    """
    if not len(batch):
        raise InputError("there is no sequence: give one or more")
    if not batch.has_residues:
        raise InputError("the batch has only names and lengths: read the sequences again")
    out = bytearray()
    letters, offsets = batch.letters, batch.offsets.tolist()
    for k, name in enumerate(batch.names):
        if not name or any(letter.isspace() or not letter.isprintable() for letter in name):
            raise UsageError(f"the name {shown(name[:60])!r} cannot be sent as FASTA: rename the sequence")
        out += b">" + name.encode() + b"\n" + letters[offsets[k] : offsets[k + 1]].tobytes() + b"\n"
    return bytes(out)


def files_of(values: Any) -> list[Any]:
    """Return one or several inputs as a list."""
    if isinstance(values, tuple) and len(values) == 2 and isinstance(values[1], bytes):  # name and content
        return [values]
    if isinstance(values, str | bytes | os.PathLike | Mapping) or not isinstance(values, Iterable):
        return [values]
    if isinstance(values, SequenceBatch):
        return [values]
    return list(values)
