"""Survey of a job's inputs, counted while they are read as streams: at most one block is in memory.

Large or compressed inputs are surveyed in a separate process (`python -m tropalign.serve.work.survey PLAN`), which
is watched like the job, because decompression may take an unpredictable amount of memory and time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from tropalign.errors import InputError, TropalignError, shown
from tropalign.sequences.files import BYTE_ORDER_MARK, opened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_BYTES = 1 << 20
#: Maximum bytes of searchable sequence names, in total and per name.
MOST_NAMES_BYTES, MOST_NAME_BYTES = 8_000, 200
#: Maximum size of files that are surveyed within the worker.
SMALL_BYTES = 1 << 22
STORE_MAGIC = b"tropalign store\n"
#: The compressions that `sequences.files` reads; verbs do not read zip archives.
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
NEWLINE, GREATER, BLANK = 10, 62, 32


@dataclass(frozen=True)
class Counts:
    """Counts of inputs, or limits for them.

    `n_bytes` is the decompressed size; `names` are names and descriptions of the first sequences, separated by
    blanks.
    """

    n_bytes: int = 0
    n_sequences: int = 0
    n_residues: int = 0
    names: str = ""

    def __add__(self, other: Counts) -> Counts:
        names = f"{self.names} {other.names}".strip()[:MOST_NAMES_BYTES]
        return Counts(
            self.n_bytes + other.n_bytes,
            self.n_sequences + other.n_sequences,
            self.n_residues + other.n_residues,
            names,
        )

    def excess(self, most: Counts) -> str | None:
        """Return a sentence about the first exceeded limit, or None."""
        for field, what in (
            ("n_bytes", "bytes, decompressed"),
            ("n_sequences", "sequences"),
            ("n_residues", "residues"),
        ):
            if getattr(self, field) > getattr(most, field):
                return (
                    f"the inputs hold more than {getattr(most, field):,} {what}, which is the limit for a job "
                    "on this server: split them, or run the command on your own machine"
                )
        return None


class OverLimit(Exception):
    """The inputs exceed a limit; the text is a sentence."""


def survey(paths: Sequence[str], most: Counts, found: Counts | None = None) -> Counts:
    """Count the contents of files, starting from `found`; stop with OverLimit as soon as a limit is exceeded.

    For files that are neither FASTA, FASTQ nor a store, only bytes are counted. Raises InputError for a damaged
    file.
    """
    total = found or Counts()
    _check(total, most)
    for path in paths:
        before, total = total, total
        for counts in _counted(path):
            total = before + counts
            _check(total, most)
    return total


def is_small(paths: Sequence[str]) -> bool:
    """True if the files are small and uncompressed."""
    for path in paths:
        with open(path, "rb") as file:
            if os.path.getsize(path) > SMALL_BYTES or file.read(8).startswith(COMPRESSED):
                return False
    return True


def _check(total: Counts, most: Counts) -> None:
    sentence = total.excess(most)
    if sentence is not None:
        raise OverLimit(sentence)


def _counted(path: str) -> Iterator[Counts]:
    """Yield cumulative counts of a file after each block."""
    with opened(path) as stream:
        begin = stream.peek(len(STORE_MAGIC))[: len(STORE_MAGIC)]
        if begin == STORE_MAGIC:
            from tropalign.sequences.store import SequenceStore

            store = SequenceStore.open(path)
            names = b" ".join(str(name)[:MOST_NAME_BYTES].encode() for name in store.names[:50])
            yield Counts(os.path.getsize(path), len(store), len(store.letters), _text(names))
            return
        counter = _Counter()
        while block := stream.read(BLOCK_BYTES):
            yield counter.add(block)


class _Counter:
    """Block-wise counter of FASTA or FASTQ; for other files, it counts only bytes."""

    def __init__(self) -> None:
        self.found = Counts()
        self._kind = ""  # "fasta", "fastq", "other"; "" while only blanks have been read
        self._is_at_line = True
        self._line = -1  # for FASTQ: number of the line in which a block starts
        self._is_header = False
        self._names = bytearray()

    def add(self, block: bytes) -> Counts:
        """Count a block, and return the totals."""
        n_bytes = self.found.n_bytes + len(block)
        if not self._kind:
            block = block.removeprefix(BYTE_ORDER_MARK).lstrip()
            if block:
                self._kind = {b">": "fasta", b"@": "fastq"}.get(block[:1], "other")
        if self._kind == "fasta":
            block = block.replace(b"\r", b"\n")  # blank lines do not count
        if block and self._kind != "other":
            n_sequences, n_residues = self._lines(block)
            self.found = replace(
                self.found,
                n_sequences=self.found.n_sequences + n_sequences,
                n_residues=self.found.n_residues + n_residues,
                names=_text(bytes(self._names)),
            )
        self.found = replace(self.found, n_bytes=n_bytes)
        return self.found

    def _lines(self, block: bytes) -> tuple[int, int]:
        """Return the number of headers that start in a block, and of residues in it."""
        import numpy as np

        letters = np.frombuffer(block, np.uint8)
        starts = np.flatnonzero(letters[:-1] == NEWLINE) + 1
        begins_line = np.ones(len(starts) + 1, bool)
        starts = np.concatenate([[0], starts])
        begins_line[0] = self._is_at_line
        is_header, is_sequence = self._kinds(letters, starts, begins_line)
        sums = np.add.reduceat(letters > BLANK, starts, dtype=np.int64)
        self._is_at_line = bool(letters[-1] == NEWLINE)
        begun = starts[is_header & begins_line]
        for start in begun[: MOST_NAMES_BYTES // 2]:
            if len(self._names) >= MOST_NAMES_BYTES:
                break
            line = block[start + 1 : start + 1 + MOST_NAME_BYTES].split(b"\n", 1)[0]
            self._names += b" ".join(line.split()) + b" "
        return len(begun), int(sums[is_sequence].sum())

    def _kinds(
        self, letters: NDArray[np.uint8], starts: NDArray[np.int64], begins_line: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return for each line, or its part in the block, whether it is a header, and whether it contains residues."""
        import numpy as np

        if self._kind == "fasta":
            is_header = letters[starts] == GREATER
            if not begins_line[0]:
                is_header[0] = self._is_header
            self._is_header = bool(is_header[-1])
            return is_header, ~is_header
        numbers = self._line + np.cumsum(begins_line)
        self._line = int(numbers[-1])
        return numbers % 4 == 0, numbers % 4 == 1


def _text(names: bytes) -> str:
    return shown(names[:MOST_NAMES_BYTES].decode("utf-8", "replace").strip())


def main(words: Sequence[str]) -> int:
    """Survey in a separate process: print counts, or a sentence."""
    plan: dict[str, Any] = json.loads(words[0])
    try:
        found = survey(plan["paths"], Counts(**plan["most"]), Counts(**plan["found"]))
    except OverLimit as sentence:
        print(json.dumps({"refused": str(sentence)}))
        return 0
    except (InputError, TropalignError) as error:
        print(f"tropalign: {shown(str(error))}", file=sys.stderr)
        return error.exit_code
    except MemoryError:
        print("tropalign: decompressing an input needs more memory than a job may use here", file=sys.stderr)
        return 4
    print(json.dumps(asdict(found)))
    return 0


def plan_of(paths: Sequence[str], most: Counts, found: Counts) -> str:
    """Return the argument of `main`."""
    return json.dumps({"paths": list(paths), "most": asdict(most), "found": asdict(found)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
