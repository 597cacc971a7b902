"""Output files: checked before anything is computed, compressed by suffix, and written completely or not at all."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from tropalign.errors import InputError, ResourceError, TropalignError, UsageError
from tropalign.execution.progress import DISK_FULL

#: Control characters, including those of C1 in UTF-8.
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
#: Last suffixes of names that select compression.
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
#: Maximum length of a name, which leaves room for suffixes of temporary files (".parts" and similar).
NAME_BYTES = 255 - 16


def output_name(path: Any) -> str:
    """Return the name of an output file given by Python code; raise UsageError if it is not a path."""
    try:
        name = os.fspath(path)
    except TypeError:
        raise UsageError(f"an object of type {type(path).__name__} is not a file name: give one") from None
    if not isinstance(name, str):
        raise UsageError("the path is bytes: give a string")
    return name


def output_path(output: str) -> Path | None:
    """Return the file to make, with links resolved; None for standard output, pipes and devices."""
    if output == "-" or (os.path.exists(output) and not os.path.isfile(output) and not os.path.isdir(output)):
        return None
    return Path(os.path.realpath(output))


def check_outputs(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """Check output paths before anything is computed; "-" is a standard stream, whose redirection is followed.

    Raises UsageError if an output is an input or another output, InputError for an unusable directory or name.
    """
    taken = {key for path in inputs for key in (_redirected(sys.stdin) if path == "-" else _identities(path))}
    seen: set[object] = set()
    for output in outputs:
        try:
            path = output_path(output)
            if path is None and output != "-":
                continue
            keys = {"-", *_redirected(sys.stdout)} if path is None else set(_identities(output))
            where = "standard output" if path is None else output
            if keys & taken:
                raise UsageError(f"{where} is an input: name another file to write to")
            if keys & seen:
                raise UsageError(f"two outputs go to {where}: give each its own name")
            seen |= keys
            if path is not None:
                if path.is_dir():
                    raise InputError("the output is a directory: name a file in it", file=str(path))
                if not path.parent.is_dir():
                    raise InputError("there is no such directory to write to: make it first", file=str(path.parent))
                if len(os.fsencode(path.name)) > NAME_BYTES:
                    raise InputError(
                        f"the name is longer than {NAME_BYTES} bytes: choose a shorter one", file=str(path)
                    )
                if path.is_symlink():  # realpath resolves all other links
                    raise InputError("the symbolic link is circular: name another file", file=str(path))
                if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
                    place = path if path.exists() else path.parent
                    raise InputError("no permission to write here", file=str(place))
        except (OSError, ValueError, RuntimeError) as error:  # an impossible file name
            raise disk_error(error, output, 0) from None


def _identities(path: str) -> list[object]:
    """Return keys that identify a file: the path without links, and device and inode (for hard links)."""
    found: list[object] = [path]
    try:
        found = [os.path.realpath(path)]
        status = os.stat(path)
    except (OSError, ValueError):  # the file does not exist yet, or its name is impossible
        return found
    return [*found, (status.st_dev, status.st_ino)]


def _redirected(stream: Any) -> list[object]:
    """Return the `_identities` keys of the file that a standard stream is redirected to, if any."""
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or not a stream of the operating system
        return []
    return [(status.st_dev, status.st_ino)] if stat.S_ISREG(status.st_mode) else []


def check_terminal(what: str, output: str) -> None:
    """Raise UsageError if binary output would go to a terminal."""
    if output == "-" and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError(f"format {what} is binary and cannot be shown in a terminal: name a file with -o")


@contextmanager
def written(path: Path, temporary: Path | None = None) -> Iterator[BinaryIO]:
    """Yield a file that appears under its name, complete and on disk, if the block succeeds; compressed by suffix.

    `temporary` is its path meanwhile, on the same file system; by default next to it.
    Raises ResourceError if the disk is full, InputError if it cannot be written or another run is writing it.
    """
    making = temporary or _part_of(path)
    with _own(path, making) as raw, made(path, making):
        with _compressed(path, raw) as out:
            yield out
        raw.flush()


@dataclass(frozen=True)
class _Held:
    """Temporary file that a command holds, the command's thread, and the stack that releases the file."""

    raw: BinaryIO
    thread: int
    holding: ExitStack


#: Global, since a program may run several commands at a time, each in its own thread.
_HELD: dict[Path, _Held] = {}


def hold_outputs(outputs: Sequence[str]) -> None:
    """Lock files that are written at the very end, until `release_outputs`, so that no second run computes in vain.

    Raises InputError if another run is writing one of them, or it cannot be written.
    """
    for path in filter(None, map(output_path, outputs)):
        making, holding = _part_of(path), ExitStack()
        _HELD[making] = _Held(holding.enter_context(_locked(path, making)), threading.get_ident(), holding)


def release_outputs() -> None:
    """Release this thread's files, and remove unfinished ones."""
    for making, held in list(_HELD.items()):
        if held.thread == threading.get_ident():
            with suppress(OSError):
                if _is_same_file(held.raw.fileno(), making):
                    making.unlink()
            del _HELD[making]
            held.holding.close()


def is_compressed(path: Path) -> bool:
    """True if the name's suffix means compression."""
    return path.suffix.lower() in COMPRESSIONS


def _part_of(path: Path) -> Path:
    """Return the temporary path of an output file."""
    return path.with_name(f".{path.name}.part")


@contextmanager
def made(path: Path, temporary: Path) -> Iterator[None]:
    """Rename the temporary file if the block succeeds, else remove it."""
    try:
        with renamed(temporary, path):
            yield
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def renamed(temporary: Path, path: Path) -> Iterator[None]:
    """Sync and rename the temporary file if the block succeeds, else leave it."""
    try:
        yield
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    except BrokenPipeError:
        raise
    except OSError as error:
        n_bytes = temporary.stat().st_size if temporary.exists() else 0
        raise disk_error(error, path, n_bytes) from None


@contextmanager
def _own(path: Path, temporary: Path) -> Iterator[BinaryIO]:
    """Yield the temporary file, which may already be held."""
    if (held := _HELD.get(temporary)) is not None:
        held.raw.truncate()
        yield held.raw
        return
    with _locked(path, temporary) as raw:
        yield raw


@contextmanager
def _locked(path: Path, temporary: Path) -> Iterator[BinaryIO]:
    """Yield the locked temporary file, without data of a killed run."""
    while True:
        try:
            raw = open(os.open(temporary, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "wb")
        except OSError as error:
            raise disk_error(error, temporary, 0) from None
        try:
            hold(raw.fileno(), path)
            if not _is_same_file(raw.fileno(), temporary):  # the run that held the lock has just renamed the file
                continue
            raw.truncate()
            yield raw
            return
        finally:
            with suppress(OSError):  # write errors have been reported already
                raw.close()


def _is_same_file(descriptor: int, path: Path) -> bool:
    """True if the path refers to the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def hold(descriptor: int, path: Path) -> None:
    """Lock an open file or directory until the process ends.

    Raises InputError if another process holds it; `path` is the output that both would write.
    """
    try:
        import fcntl
    except ImportError:  # not a POSIX system: no protection against concurrent runs
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            "another run is writing here: wait for it, or name another file with -o", file=str(path)
        ) from None
    except OSError:  # a file system without locks
        return


@contextmanager
def _compressed(path: Path, raw: BinaryIO) -> Iterator[BinaryIO]:
    """Yield the file, compressed by the suffix of its name; equal bytes make equal files."""
    if not is_compressed(path):
        yield raw
        return
    suffix = path.suffix.lower()
    stream: Any
    if suffix == ".gz":
        import gzip

        stream = gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0)
    elif suffix == ".bz2":
        import bz2

        stream = bz2.BZ2File(raw, "wb")
    elif suffix == ".xz":
        import lzma

        stream = lzma.LZMAFile(raw, "wb")
    else:
        import xopen

        stream = xopen.xopen(raw, "wb", format="zst", threads=0)
    with stream:
        yield stream


def write_stream(output: str, write: Callable[[BinaryIO], None]) -> None:
    """Call `write` with standard output ("-"), or with a pipe or device opened by name."""
    try:
        if output == "-":
            if sys.stdout is None:
                raise InputError("standard output is closed: name a file with -o")
            if hasattr(sys.stdout, "buffer"):
                write(_Terminal(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer)  # type: ignore[arg-type]
                sys.stdout.buffer.flush()
            else:  # a notebook's stream, which takes only text
                made = io.BytesIO()
                write(made)
                sys.stdout.write(made.getvalue().decode("utf-8", "replace"))
        else:
            with open(output, "wb") as out:
                write(out)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise disk_error(error, "standard output" if output == "-" else output, 0) from None


class _Terminal(io.RawIOBase):
    """Terminal output without escape sequences, which names from files may contain (colours, cursor, window title)."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def writable(self) -> bool:
        return True

    def write(self, text: Any) -> int:
        """Write text with control characters escaped as in Python, except line ends and tabs."""
        data = bytes(text)
        self._out.write(_CONTROL.sub(lambda found: b"\\x%02x" % found[0][-1], data))
        return len(data)


def write_to(output: str, write: Callable[[BinaryIO], None]) -> None:
    """Call `write` with a file that is created completely or not at all, or with a stream as in `write_stream`."""
    path = output_path(output)
    if path is None:
        write_stream(output, write)
        return
    with written(path) as out:
        write(out)


def sync(path: Path) -> None:
    """Wait until a file or directory is on disk, as far as the system reports it."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # a directory, on systems that cannot open them
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EROFS):
            raise
    finally:
        os.close(descriptor)


def disk_error(
    error: Exception, path: Path | str, n_bytes: int, remedy: str = "write elsewhere with -o"
) -> TropalignError:
    """Return the exception for a failed write.

    `n_bytes` is the size of the write, 0 if unknown; `remedy` is the alternative to freeing space.
    """
    number = getattr(error, "errno", None)
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        amount = f" (when writing {n_bytes} bytes)" if n_bytes else ""
        full = ResourceError(
            f"{path}: the disk is full or the file too large{amount}: free space, or {remedy}",
            needed_bytes=n_bytes or None,
        )
        full.failure = DISK_FULL
        return full
    if isinstance(error, PermissionError) or number == errno.EROFS:
        return InputError("no permission to write here", file=str(path))
    reason = getattr(error, "strerror", None) or error
    return InputError(f"this cannot be written ({reason})", file=str(path).replace("\0", "\\0"))
