"""Files that a run writes: checked before anything is computed, compressed by their suffix, whole or not there."""

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

#: Control characters, in UTF-8 those of C1, too.
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
#: By the last suffix of a name.
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
#: Room for what is added to a name while the file is made (".parts" and the like).
NAME_BYTES = 255 - 16


def output_name(path: Any) -> str:
    """The name of a file to write, as Python code gives it. Raises UsageError for what is none."""
    try:
        name = os.fspath(path)
    except TypeError:
        raise UsageError(f"an object of type {type(path).__name__} is no name of a file to write: give one") from None
    if not isinstance(name, str):
        raise UsageError("the path is bytes: give a text")
    return name


def output_path(output: str) -> Path | None:
    """The file to make, links followed; None for what is no regular file and takes bytes as they come."""
    if output == "-" or (os.path.exists(output) and not os.path.isfile(output) and not os.path.isdir(output)):
        return None
    return Path(os.path.realpath(output))


def check_outputs(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """Finds what is wrong with the places to write to before anything is computed.

    Parameters
    ----------
    outputs, inputs
        Paths; "-" is standard output or input, whose redirections are known.

    Raises
    ------
    UsageError
        An output is an input, or the same as another output.
    InputError
        A directory that is not there or cannot be written, a name that no file can have.
    """
    taken = {key for path in inputs for key in (_redirected(sys.stdin) if path == "-" else _identities(path))}
    seen: set[object] = set()
    for output in outputs:
        try:
            _check_output(output, taken, seen)
        except (OSError, ValueError, RuntimeError) as error:  # a name that no file can have
            raise disk_error(error, output, 0) from None


def _check_output(output: str, taken: set[object], seen: set[object]) -> None:
    path = output_path(output)
    if path is None and output != "-":
        return
    keys = {"-", *_redirected(sys.stdout)} if path is None else set(_identities(output))
    where = "standard output" if path is None else output
    if keys & taken:
        raise UsageError(f"{where} is an input: name another file to write to")
    if keys & seen:
        raise UsageError(f"two outputs go to {where}: give each its own name")
    seen |= keys
    if path is not None:
        _check_place(path)


def _identities(path: str) -> list[object]:
    """What shows that two paths are one file: the name without links, and the file itself (hard links)."""
    found: list[object] = [path]
    try:
        found = [os.path.realpath(path)]
        status = os.stat(path)
    except (OSError, ValueError):  # there is no such file yet, or no file can have that name
        return found
    return [*found, (status.st_dev, status.st_ino)]


def _redirected(stream: Any) -> list[object]:
    """The file that the shell has led a standard stream to, as `_identities` has it; nothing where it is no file."""
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or no stream of the system's
        return []
    return [(status.st_dev, status.st_ino)] if stat.S_ISREG(status.st_mode) else []


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise InputError("the output is a directory: name a file in it", file=str(path))
    if not path.parent.is_dir():
        raise InputError("there is no such directory to write to: make it first", file=str(path.parent))
    if len(os.fsencode(path.name)) > NAME_BYTES:
        raise InputError(f"the name is longer than {NAME_BYTES} bytes: choose a shorter one", file=str(path))
    if path.is_symlink():  # realpath follows all others
        raise InputError("the link leads in a circle: name another file", file=str(path))
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        place = path if path.exists() else path.parent
        raise InputError("no permission to write here", file=str(place))


def check_terminal(what: str, output: str) -> None:
    """Raises UsageError where bytes that are no text would go to a terminal."""
    if output == "-" and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError(f"format {what} is no text for a terminal: name a file with -o")


@contextmanager
def written(path: Path, temporary: Path | None = None) -> Iterator[BinaryIO]:
    """A file that appears under its name, whole and on the disk, when the block ends well; compressed by its suffix.

    Parameters
    ----------
    temporary
        Where it is made, on the same file system; beside it by default.

    Raises
    ------
    ResourceError
        The disk is full.
    InputError
        It cannot be written, or another run is writing it.
    """
    making = temporary or _part_of(path)
    with _own(path, making) as raw, made(path, making):
        with _compressed(path, raw) as out:
            yield out
        raw.flush()


@dataclass(frozen=True)
class _Held:
    """A temporary file that a command holds, the thread that the command runs in, and what lets the file go."""

    raw: BinaryIO
    thread: int
    holding: ExitStack


#: A program may run several commands at a time, in threads of its own.
_HELD: dict[Path, _Held] = {}


def hold_outputs(outputs: Sequence[str]) -> None:
    """Takes files that are written at the very end, until `release_outputs`: no second run computes them in vain.

    Raises
    ------
    InputError
        Another run is writing one of them, or it cannot be written.
    """
    for path in filter(None, map(output_path, outputs)):
        making, holding = _part_of(path), ExitStack()
        _HELD[making] = _Held(holding.enter_context(_locked(path, making)), threading.get_ident(), holding)


def release_outputs() -> None:
    """Lets this thread's files go, and removes those that were not made."""
    for making, held in list(_HELD.items()):
        if held.thread == threading.get_ident():
            with suppress(OSError):
                if _is_still(held.raw.fileno(), making):
                    making.unlink()
            del _HELD[making]
            held.holding.close()


def is_compressed(path: Path) -> bool:
    """Whether the suffix of the name says so."""
    return path.suffix.lower() in COMPRESSIONS


def _part_of(path: Path) -> Path:
    """Where a file is made before it gets its name."""
    return path.with_name(f".{path.name}.part")


@contextmanager
def made(path: Path, temporary: Path) -> Iterator[None]:
    """The temporary file that the block makes gets its name when the block ends well, and is removed otherwise."""
    try:
        with renamed(temporary, path):
            yield
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def renamed(temporary: Path, path: Path) -> Iterator[None]:
    """The file, once it is on the disk, gets its name when the block ends well, and is left where it is otherwise."""
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
    """The temporary file, which may be held already."""
    if (held := _HELD.get(temporary)) is not None:
        held.raw.truncate()
        yield held.raw
        return
    with _locked(path, temporary) as raw:
        yield raw


@contextmanager
def _locked(path: Path, temporary: Path) -> Iterator[BinaryIO]:
    """The temporary file, emptied of what a killed run left there, which no other run writes at the same time."""
    while True:
        try:
            raw = open(os.open(temporary, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "wb")
        except OSError as error:
            raise disk_error(error, temporary, 0) from None
        try:
            hold(raw.fileno(), path)
            if not _is_still(raw.fileno(), temporary):  # the run that held it has just given it its name
                continue
            raw.truncate()
            yield raw
            return
        finally:
            with suppress(OSError):  # what could not be written has been told
                raw.close()


def _is_still(descriptor: int, path: Path) -> bool:
    """Whether the open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def hold(descriptor: int, path: Path) -> None:
    """Locks an open file or directory; the lock goes with the process, however it ends.

    Raises
    ------
    InputError
        Another process has it; `path` is what both would write.
    """
    try:
        import fcntl
    except ImportError:  # not a POSIX system: nothing guards against two runs at once
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
    """The file to be made, compressed as the suffix of its name says; equal bytes make equal files."""
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
    """Lets `write` have standard output ("-"), or a pipe or a device by its name."""
    try:
        if output == "-":
            if sys.stdout is None:
                raise InputError("standard output is closed: name a file with -o")
            _write_standard(write)
        else:
            with open(output, "wb") as out:
                write(out)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise disk_error(error, "standard output" if output == "-" else output, 0) from None


class _Terminal(io.RawIOBase):
    """A terminal that is shown text: names from files may hold what it would obey (colours, the cursor, its title)."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def writable(self) -> bool:
        return True

    def write(self, text: Any) -> int:
        """Writes the text, with control characters but the end of a line and tabs as they are written in Python."""
        data = bytes(text)
        self._out.write(_CONTROL.sub(lambda found: b"\\x%02x" % found[0][-1], data))
        return len(data)


def _write_standard(write: Callable[[BinaryIO], None]) -> None:
    if hasattr(sys.stdout, "buffer"):
        write(_Terminal(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer)  # type: ignore[arg-type]
        sys.stdout.buffer.flush()
    else:  # that of a notebook, which takes text alone
        made = io.BytesIO()
        write(made)
        sys.stdout.write(made.getvalue().decode("utf-8", "replace"))


def write_to(output: str, write: Callable[[BinaryIO], None]) -> None:
    """Lets `write` make a file that is there whole or not at all; or have a stream, as `write_stream`."""
    path = output_path(output)
    if path is None:
        write_stream(output, write)
        return
    with written(path) as out:
        write(out)


def sync(path: Path) -> None:
    """Waits until a file or a directory is on the disk, as far as the system says so."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # a directory, on systems that do not open them
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
    """The error that says what a failed write means.

    Parameters
    ----------
    n_bytes
        Were to be written; 0 where that is not known.
    remedy
        In place of more room.
    """
    number = getattr(error, "errno", None)
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        amount = f" ({n_bytes} bytes were to be written)" if n_bytes else ""
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
