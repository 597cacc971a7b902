"""Files, standard input and open streams as decompressed bytes; every fault is an InputError."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from itertools import chain
from queue import Queue
from typing import IO, Any, TypeVar

from tropalign.errors import InputError, TropalignError, UsageError, has_options, shown, warn
from tropalign.sequences.texts import decoded

T = TypeVar("T")


class _End:
    """End of the items, with the exception if one was raised."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def prefetched(items: Iterator[T], waits: bool = False) -> Generator[T, None, None]:
    """Yield items while a thread makes the next one; its exceptions are raised when their item is due.

    With `waits`, closing the generator waits for the item that is being made, for sources that must not be closed
    meanwhile.

    >>> list(prefetched(iter("abc")))
    ['a', 'b', 'c']
    """
    made: Queue[T | _End] = Queue(maxsize=1)
    is_wanted = threading.Semaphore(0)
    is_over = False

    def make() -> None:
        try:
            for item in items:
                made.put(item)
                is_wanted.acquire()  # so that at most one item is ready
                if is_over:
                    return
            made.put(_End(None))
        except BaseException as error:
            made.put(_End(error))

    thread = threading.Thread(target=copy_context().run, args=(make,), daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system allows no more threads
        yield from items
        return
    try:
        while not isinstance(item := made.get(), _End):
            is_wanted.release()
            yield item
        if item.error is not None:
            raise item.error
    finally:
        is_over = True
        is_wanted.release()
        if waits:
            thread.join()


#: A file name ("-" is standard input), or an open file or stream of bytes or text.
Source = str | os.PathLike[str] | IO[bytes] | IO[str]
BUFFER_BYTES = 1 << 16
#: Bytes decompressed ahead while the previous piece is processed.
AHEAD_BYTES = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: First bytes of a sequence store.
STORE_MAGIC = b"tropalign store\n"
TRUNCATED = "the compressed file is truncated: fetch or write it again"
#: Bytes that are examined before a file is accepted as text.
FIRST_BYTES = 1 << 16
NEWLINE, RETURN = b"\n\r"
#: Longest line in bytes, which is held twice: an alignment row of a chromosome fits.
MOST_LINE = 1 << 28

#: First bytes of files that are often given in place of sequences or alignments; their kind, and the verbs for
#: them.
_MISTAKEN = {
    b"HMMER": ("a profile HMM", "use it with search or scan, or build models from alignments with build"),
    b"# STOCKHOLM": ("an alignment in Stockholm", "build a model from it with build, or a tree with tree"),
    b"MEME version": ("a file of motifs", "name its format with --pssm meme in find or pairs"),
    b"*****": ("a report, such as MEME's", "name the format of MEME's motifs with --pssm meme in find or pairs"),
    b"Last position-specific": ("a PSI-BLAST matrix", "name its format with --pssm psiblast in find or pairs"),
    b"#NEXUS": ("a NEXUS file", "convert it to FASTA, or a tree to Newick"),
    b";": ("a comment line of old FASTA files", "remove the lines that begin with ';'"),
}


def is_stream(source: object) -> bool:
    """True if this is an open file or stream."""
    return hasattr(source, "read")


def file_name(source: Source) -> str:
    """Return the name of a source in messages."""
    if is_stream(source):
        name = getattr(source, "name", None)
        return name if isinstance(name, str) else "the open stream"
    try:
        name = os.fsdecode(source)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(
            f"an object of type {type(source).__name__} is not a file: give a path, or an open file"
        ) from None
    return "standard input" if name == "-" else name


@contextmanager
def opened(source: Source, count: Callable[[int], None] | None = None) -> Iterator[io.BufferedReader]:
    """Open a source for reading, decompressed; a stream of the caller's stays open.

    `count` is called with the number of bytes read, compressed ones if the file is compressed. Raises InputError,
    here and on every read, if the file does not exist, cannot be read or is damaged.
    """
    file = file_name(source)
    with _as_input_errors(file):
        raw, is_ours = _raw(source, file)
    with ExitStack() as closed_after:
        if is_ours:
            closed_after.callback(raw.close)
        plain: io.BufferedReader = io.BufferedReader(_Counted(raw, count), BUFFER_BYTES)
        with _as_input_errors(file):
            begin = plain.peek(6)[:6]  # shows the compression
            stream: Any = plain
            # Decompressors are imported only if needed: the import takes as long as a short search.
            if begin.startswith(b"BZh"):
                import bz2

                stream = _MultiMemberStream(plain, bz2.BZ2Decompressor, OSError)
            elif begin == b"\xfd7zXZ\x00":
                import lzma

                stream = _MultiMemberStream(plain, lzma.LZMADecompressor, lzma.LZMAError)
            elif begin.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):  # gzip, Zstandard
                import xopen

                stream = xopen.xopen(plain, "rb", threads=0)
        if stream is not plain and is_ours and os.path.isfile(source):  # type: ignore[arg-type]
            # A thread that waits for a pipe or a terminal could not be stopped.
            stream = closed_after.enter_context(_ReadAhead(stream))
        yield io.BufferedReader(_Named(stream, file), BUFFER_BYTES)


def mistaken(head: bytes, wanted: str) -> str | None:
    """Return a sentence on a file of a known wrong kind, by its first bytes; None for others.

    >>> mistaken(b"HMMER3/f [3.4]", "FASTA")
    'this is a profile HMM, not FASTA: use it with search or scan, or build models from alignments with build'
    """
    for begin, (what, remedy) in _MISTAKEN.items():
        if head.startswith(begin):
            return f"this is {what}, not {wanted}: {remedy}"
    return None


def check_no_motifs(path: str) -> None:
    """Raise InputError for a JASPAR file, which begins like FASTA. Streams are not checked."""
    if not os.path.isfile(path):
        return
    with opened(path) as stream:
        head = stream.read(FIRST_BYTES)
    if re.match(rb">[^\n]*\n\s*A\s*\[", head):
        raise InputError("this is a JASPAR file, not FASTA: name its format with --pssm jaspar", file=file_name(path))


def is_store(source: Source) -> bool:
    """True if this is the name of a file that starts like a sequence store."""
    if is_stream(source) or os.fsdecode(source) == "-" or not os.path.isfile(source):  # type: ignore[arg-type]
        return False
    try:
        with open(source, "rb") as stream:  # type: ignore[arg-type]
            return bool(stream.read(len(STORE_MAGIC)) == STORE_MAGIC)
    except OSError:
        return False  # the reader reports the reason


def read_text(source: Source, most_bytes: int | None = None) -> str:
    """Read a text file, decompressed; "-" is standard input.

    Raises InputError like `opened`, and if the file is empty or longer than `most_bytes`.
    """
    return text_of(read_bytes(source, most_bytes), source)


def read_bytes(source: Source, most_bytes: int | None = None) -> bytes:
    """Read the bytes of a file, decompressed. Raises InputError like `read_text`."""
    with opened(source) as stream:
        data = stream.read() if most_bytes is None else stream.read(most_bytes + 1)
    if most_bytes is not None and len(data) > most_bytes:
        raise InputError(
            f"the file has more than {most_bytes} bytes, too many for a file of this kind: give another one",
            file=file_name(source),
        )
    if not data.strip():
        raise InputError("the file is empty", file=file_name(source))
    return data


def text_of(data: bytes, source: Source) -> str:
    r"""Decode the bytes of a source, with a warning if they are not UTF-8; line ends become ``\n``."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    text = decoded(data)
    if text.encode() != data:
        tell_of_latin_1(file_name(source))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_lines(source: Source) -> Iterator[bytes]:
    """Yield the lines of a file without line ends, decompressed on the way. Raises InputError like `read_text`.

    A line ends with a line feed, a carriage return (old Macintosh files), or both.
    """
    is_empty = True
    with opened(source) as plain:
        stream = with_line_ends(plain)
        first = stream.readline(FIRST_BYTES)  # a device may give endless zeros, without a line end
        if b"\0" in first:
            raise InputError("this is not a text file", file=file_name(source))
        lines = lines_of(stream, MOST_LINE, file_name(source))
        if first and not first.endswith(b"\n"):
            first += next(lines, b"")
        for line in chain([first] if first else [], lines):
            if is_empty:
                line = line.removeprefix(BYTE_ORDER_MARK)
            is_empty = is_empty and not line.strip()
            yield line.removesuffix(b"\n")
    if is_empty:
        raise InputError("the file is empty", file=file_name(source))


def lines_of(stream: IO[bytes], most_bytes: int, file: str) -> Iterator[bytes]:
    """Yield lines with their ends. Raises InputError for a line over `most_bytes` before it has been read whole.

    A few compressed bytes can hold a line of gigabytes.
    """
    while line := stream.readline(most_bytes + 1):
        if len(line) > most_bytes:
            raise InputError(f"a line has more than {most_bytes:,} bytes: give a file of the right kind", file=file)
        yield line


def with_line_ends(stream: io.BufferedReader) -> io.BufferedReader:
    r"""Return the stream with a line feed for each line end: ``\r\n``, or ``\r`` alone as in old Macintosh files.

    >>> with_line_ends(io.BufferedReader(io.BytesIO(b"one\rtwo\r\nthree\n"))).read()
    b'one\ntwo\nthree\n'
    """
    return io.BufferedReader(_Newlines(stream), BUFFER_BYTES)


def tell_of_latin_1(file: str) -> None:
    """Warn that a file is not UTF-8 throughout (`tropalign.sequences.texts.decoded`)."""
    warn(f"{shown(file)}: bytes that are not UTF-8 are read as Latin-1")


def size_of(source: Source) -> int | None:
    """Return the size of a regular file on disk in bytes; None for anything else."""
    try:
        entry = os.stat(source)  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError):
        return None
    return entry.st_size if os.path.isfile(source) else None  # type: ignore[arg-type]


def can_be_read_twice(path: str) -> bool:
    """True for a regular file or a missing one (reading it raises the error); false for a stream, device or pipe."""
    return path != "-" and (os.path.isfile(path) or not os.path.exists(path))


def _raw(source: Source, file: str) -> tuple[Any, bool]:
    """Return a stream of raw bytes, and whether we have to close it."""
    if is_stream(source):
        return getattr(source, "buffer", source), False
    if os.fsdecode(source) == "-":  # type: ignore[arg-type]
        if sys.stdin is None:
            raise InputError("the stream is closed: pipe data into it, or give a file", file=file)
        return sys.stdin.buffer, False
    if os.path.isdir(source):  # type: ignore[arg-type]
        raise InputError("this is a directory: give the files in it", file=file)
    return open(source, "rb", buffering=0), True  # type: ignore[arg-type]


@contextmanager
def _as_input_errors(file: str) -> Iterator[None]:
    """Convert any exception from a file into an InputError that names the file."""
    try:
        yield
    except (TropalignError, MemoryError):
        raise
    except FileNotFoundError:
        text = "there is no such file"
        if not has_options() and file.rstrip("*").isalpha():
            text += ". If this is a sequence, use SequenceBatch.from_strings"
        raise InputError(text, file=file) from None
    except PermissionError:
        raise InputError("no permission to read this file", file=file) from None
    except EOFError:
        raise InputError(TRUNCATED, file=file) from None
    except Exception as error:  # each decompressor has its own errors
        text = str(error) or type(error).__name__
        if "null byte" in text:
            raise InputError("the file name contains a zero byte: give another file", file=file) from None
        if any(sign in text.lower() for sign in ("end-of-stream", "truncated", "unexpected end", "incomplete")):
            raise InputError(TRUNCATED, file=file) from None
        if isinstance(error, OSError) and error.errno is not None:
            raise InputError(f"the file cannot be read ({error.strerror})", file=file) from None
        what = shown(" ".join(text.split()))
        raise InputError(f"the compressed file is damaged ({what}): fetch or write it again", file=file) from None


class Readable(io.RawIOBase):
    """Base of streams that define `readinto`."""

    def readable(self) -> bool:
        return True


class Pieces(Readable):
    """The concatenated bytes of an iterator."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            if (piece := next(self._pieces, None)) is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


class _Counted(Readable):
    """Bytes of a stream, counted; text is encoded."""

    def __init__(self, stream: Any, count: Callable[[int], None] | None) -> None:
        self._stream, self._count, self._rest = stream, count, b""

    def readinto(self, buffer: Any) -> int:
        read = getattr(self._stream, "readinto1", None) or getattr(self._stream, "readinto", None)
        if read is not None:
            size = int(read(buffer) or 0)
        else:
            data = self._rest or self._stream.read(len(buffer)) or b""
            data = data.encode() if isinstance(data, str) else data
            size = min(len(data), len(buffer))
            buffer[:size], self._rest = data[:size], data[size:]
        if self._count:
            self._count(size)
        return size


class _Newlines(Readable):
    """A stream whose lines end with line feeds."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream, self._is_after_return = stream, False
        self.name = getattr(stream, "name", None)

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer)[:AHEAD_BYTES]  # limit the size of the copy below
        while size := self._stream.readinto1(room):
            view = room[:size]
            begin = int(self._is_after_return and view[0] == NEWLINE)
            self._is_after_return = view[-1] == RETURN
            data = view[begin:].tobytes()  # bytes are searched faster than the view
            if not begin and b"\r" not in data:
                return size
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            buffer[: len(data)] = data
            if data:
                return len(data)
        return 0


class _Named(Readable):
    """A decompressed stream whose errors name the file."""

    def __init__(self, stream: Any, file: str) -> None:
        self._stream, self.name = stream, file

    def readinto(self, buffer: Any) -> int:
        with _as_input_errors(self.name):
            return int(self._stream.readinto(buffer))


class _ReadAhead(Pieces):
    """A stream that is decompressed in a thread of its own, one piece ahead."""

    def __init__(self, stream: Any) -> None:
        self._ahead = prefetched(iter(lambda: _piece(stream), b""), waits=True)
        super().__init__(self._ahead)

    def close(self) -> None:
        """Stop the thread."""
        self._ahead.close()
        super().close()


def _piece(stream: Any) -> bytes:
    """Read the next bytes, up to AHEAD_BYTES."""
    data: bytes = stream.read(AHEAD_BYTES)
    return data


class _MultiMemberStream(Readable):
    """bzip2 or xz data of several members; Python's readers ignore trailing garbage, which is an error here.

    `member` makes a decompressor, `error` is the exception that it raises if no member starts.
    """

    def __init__(self, stream: io.BufferedReader, member: Callable[[], Any], error: type[Exception]) -> None:
        self._stream, self._new, self._member, self._error = stream, member, member(), error
        self._data = b""

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._member.eof and not self._begin_another():
                return 0
            if self._member.needs_input and not self._data:
                self._data = self._stream.read1(BUFFER_BYTES)
                if not self._data:
                    raise EOFError
            made = self._member.decompress(self._data, len(buffer))
            self._data = b""
            if made:
                buffer[: len(made)] = made
                return len(made)

    def _begin_another(self) -> bool:
        """Start the next member after zero padding; False at the end of the file."""
        rest = self._member.unused_data.lstrip(b"\0")
        while not rest:
            data = self._stream.read1(BUFFER_BYTES)
            if not data:
                return False
            rest = data.lstrip(b"\0")
        try:
            self._new().decompress(rest, 1)
        except self._error:
            raise ValueError("unexpected bytes after its end") from None
        self._member, self._data = self._new(), rest
        return True
