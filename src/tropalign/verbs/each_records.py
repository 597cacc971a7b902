"""Results of the files of ``--each``: a table for people, and records of finished files for reruns.

    DIR/each.tsv          file, output, state, code, message: a row per file, in the order of the command
    DIR/.each.jsonl       file, hash of all that decides its outputs, and their checksums: a line per finished file

Shards have an ``each.2-of-8.tsv`` and ``.each.2-of-8.jsonl``. A kill may truncate the last line, which is then
ignored; outputs are on the disk before their line is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tropalign.errors import shown
from tropalign.execution.files import disk_error, hold, write_to

if TYPE_CHECKING:
    from tropalign.execution.manifest import Shard

COLUMNS = ("file", "output", "state", "code", "message")
DONE, FAILED = "done", "failed"


def is_of_records(name: str) -> bool:
    """True if a file name is that of a table or of records."""
    return re.fullmatch(r"each(\.\d+-of-\d+)?\.tsv|\.each.*\.jsonl", name) is not None


class Outcome(NamedTuple):
    """Outcome of a file.

    code: exit code of a command with this file alone.
    message: the error message, if it failed.
    needs_memory: more than the file's share would be needed.
    ends_all: all other files would fail as well.
    content: hash of the file before it was read, or "".
    """

    code: int = 0
    message: str = ""
    needs_memory: bool = False
    ends_all: bool = False
    content: str = ""


def hash_of_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file in hexadecimal, or "" if it cannot be read."""
    try:
        if not os.path.isfile(path):  # a pipe would be consumed
            return ""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


class Records:
    """The records of a folder; this run (or this `shard`, None for a whole run) writes one of their files."""

    def __init__(self, folder: Path, shard: Shard | None) -> None:
        name = "each" if shard is None else f"each.{shard[0]}-of-{shard[1]}"
        self.table, self._path = folder / f"{name}.tsv", folder / f".{name}.jsonl"
        self._folder = folder
        self._known: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob(".each*.jsonl")):
            self._read(path)
        self._raw: BinaryIO | None = None

    def _read(self, path: Path) -> None:
        try:
            lines = path.read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):  # the end of a killed run
                continue
            if isinstance(entry, dict) and isinstance(entry.get("file"), str):
                self._known[entry["file"]] = entry

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the run's file within the block. Raises InputError if another run holds it, or it cannot be made."""
        try:
            self._raw = open(self._path, "ab", buffering=0)
        except OSError as error:
            raise disk_error(error, self._path, 0) from None
        with self._raw as raw:
            hold(raw.fileno(), self._folder)
            if os.fstat(raw.fileno()).st_size:
                self._append(b"\n")  # after a truncated line
            yield

    def is_known(self, file: str) -> bool:
        """True if an earlier run has finished the file, as it was then."""
        return file in self._known

    def is_done(self, file: str, mark: str) -> bool:
        """True if an earlier run has made the outputs of a file with equal options, and they are unchanged."""
        entry = self._known.get(file)
        if not mark or entry is None or entry.get("mark") != mark or not isinstance(entry.get("outputs"), dict):
            return False
        return all(value and hash_of_file(self._folder / name) == value for name, value in entry["outputs"].items())

    def add(self, file: str, mark: str, outputs: Iterable[Path]) -> None:
        """Record that a file is done."""
        made = {path.name: hash_of_file(path) for path in outputs if path.is_file()}
        self._known[file] = {"file": file, "mark": mark, "outputs": made}
        self._append(_line(self._known[file]))

    def _append(self, line: bytes) -> None:
        assert self._raw is not None
        try:
            self._raw.write(line)
        except OSError as error:
            raise disk_error(error, self._path, 0) from None

    def finish(self, files: Sequence[str], outputs: Mapping[str, Path], found: Mapping[str, Outcome]) -> None:
        """Write the table, and rewrite the records in the order of the files."""
        lines = ["\t".join(COLUMNS)]
        for file in files:
            outcome = found[file]
            words = (file, str(outputs[file]), FAILED if outcome.code else DONE, str(outcome.code), outcome.message)
            lines.append("\t".join(map(shown, words)))
        kept = [self._known.get(file) for file in files if not found[file].code]
        write_to(str(self.table), lambda out: _write(out, "".join(f"{line}\n" for line in lines).encode()))
        write_to(str(self._path), lambda out: _write(out, b"".join(_line(entry) for entry in kept if entry)))


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, sort_keys=True).encode() + b"\n"


def _write(out: BinaryIO, data: bytes) -> None:
    out.write(data)
