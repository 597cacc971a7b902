"""A file that lists pairs of sequences: a query's and a target's name per line; ``#`` starts a comment."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, said
from tropalign.sequences import SequenceBatch
from tropalign.sequences.files import Source, file_name, opened, with_line_ends
from tropalign.sequences.texts import decoded

#: Longer lines do not hold two names: the file is not a list.
MOST_LINE_BYTES = 1 << 20
MARK = b"\xef\xbb\xbf"  # UTF-8 byte order mark, which some editors write


def read_pairs(source: Source, queries: SequenceBatch, targets: SequenceBatch) -> NDArray[np.int64]:
    """Indices of the pairs that a file lists, decompressed as it is read.

    Parameters
    ----------
    source
        A file's name; "-" is standard input.

    Returns
    -------
    int64, shape (n, 2)
        Query index, target index.

    Raises
    ------
    InputError
        A file that cannot be read or lists no pair, a line without two names, a name that no sequence has or that
        several have.
    """
    file = file_name(source)
    numbers = [{name: k for k, name in enumerate(batch.names)} for batch in (queries, targets)]
    repeated = [
        {name for k, name in enumerate(batch.names) if number[name] != k} if len(number) < len(batch) else set()
        for batch, number in zip((queries, targets), numbers, strict=True)
    ]
    found = array("q")
    with opened(source) as stream:
        lines = with_line_ends(stream)
        for line_number, line in enumerate(iter(lambda: lines.readline(MOST_LINE_BYTES), b""), 1):
            if line_number == 1:
                line = line.removeprefix(MARK)
            if line.startswith(b"#") or not line.strip():
                continue
            names = _two_names(line, file, line_number)
            for name, number, several in zip(names, numbers, repeated, strict=True):
                if name not in number or name in several:
                    what = "there is no sequence of this name"
                    if name in several:
                        how = said("duplicate_names", "number")
                        what = f"several sequences have this name: give each its own, or read with {how}"
                    raise InputError(what, file=file, line=line_number, record=name)
                found.append(number[name])
    if not found:
        raise InputError("the list holds no pair", file=file)
    return np.frombuffer(found, np.int64).reshape(-1, 2)


def _two_names(line: bytes, file: str, number: int) -> list[str]:
    names = [decoded(word) for word in line.split()[:2]]
    if len(names) < 2 or len(line) >= MOST_LINE_BYTES:
        raise InputError("a line has to hold two names", file=file, line=number)
    if b"\0" in line:
        raise InputError("the list of pairs is no text", file=file, line=number)
    return names
