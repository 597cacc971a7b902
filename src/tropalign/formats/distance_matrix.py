"""Distance matrix files: PHYLIP (square or triangular), and the TSV of ``tropalign pairs -f matrix``.

In PHYLIP, a triangle may include the diagonal, names may contain blanks in their 10 characters, and rows may have
several lines:

    3                    3                    3
    a                    Homo sapie 0         a
    b   1.5              Pan trogl1.5 0       0 1.5 2
    c   2 2.5            Gorilla   2 2.5 0    b ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, ResourceError, UsageError, shown
from tropalign.formats.format import suffix_of
from tropalign.sequences.files import Source, file_name, read_lines
from tropalign.sequences.phylip_files import strict_end
from tropalign.sequences.texts import decoded

#: Format by file suffix.
SUFFIXES = {".phy": "phylip", ".phylip": "phylip", ".dist": "phylip", ".tsv": "tsv", ".txt": "tsv"}
#: Allowed difference between the two halves of a square, since values with six digits are not always rounded alike.
TOLERANCE = 1e-5
#: Limit of n, beyond any memory, and of its digits.
MOST_TAXA, MOST_DIGITS = 1 << 20, 12
#: Prefix of the TSV line that names the kind of values.
VALUES = b"# values:"

Numbered = Iterator[tuple[int, bytes]]


def is_distance_matrix(first: bytes) -> bool:
    """True if a file that starts with this line holds distances: a single number, or the head of a TSV.

    >>> [is_distance_matrix(line) for line in (b"  12", b"12 340", b"# tropalign 1.0", b"#NEXUS")]
    [True, False, True, False]
    """
    words = first.split()
    if len(words) == 1 and words[0].isdigit():
        return True
    return first.startswith((b"\t", b"# tropalign ", VALUES))


def read_distance_matrix(source: Source) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Read names and distances of the pairs (0, 1), (0, 2), ..., (1, 2), ...; compression is detected by content."""
    return parse_distance_matrix(read_lines(source), file_name(source))


def parse_distance_matrix(
    lines: Iterable[bytes], file: str, most_bytes: int | None = None
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Parse names and distances from lines. Raises ResourceError if the distances would take more than `most_bytes`.

    >>> parse_distance_matrix([b"3", b"a", b"b 1", b"c 2 3"], "the matrix")
    (('a', 'b', 'c'), array([1., 2., 3.]))
    """
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    first = next(numbered, None)
    if first is None:
        raise InputError("the file is empty", file=file)
    if first[1].strip().isdigit():
        n = int(first[1]) if len(first[1].strip()) <= MOST_DIGITS else 0
        if not 2 <= n <= MOST_TAXA:
            what = f"the first line must state the number of taxa, 2 to {MOST_TAXA}"
            raise InputError(f"{what}: correct it", file=file, line=first[0])
        return _read_phylip(numbered, _Square(n, file, most_bytes), file)
    return _read_tsv(chain([first], numbered), file, most_bytes)


class _Square:
    """Collects the rows of a square or triangular matrix in the order of pairs."""

    def __init__(self, n: int, file: str, most_bytes: int | None) -> None:
        if most_bytes is not None and 4 * n * n > most_bytes:
            needed, allowed = (f"{size / 2**20:,.0f} MiB" for size in (4 * n * n, most_bytes))
            what = f"{shown(file)}: distances of {n} taxa need {needed} of memory, but {allowed} are allowed"
            raise ResourceError(f"{what}: allow more memory, or remove taxa")
        self.n, self.file = n, file
        self.names: list[str] = []
        self.condensed = np.zeros(n * (n - 1) // 2)
        first = np.arange(n, dtype=np.int64)
        self._begins = first * (2 * n - first - 1) // 2 - first - 1  # pair (i, j) has the index _begins[i] + j

    def add(self, name: str, values: NDArray[np.float64], layout: str, line: int) -> None:
        """Add the next row. Raises InputError if it does not fit the earlier ones."""
        k = len(self.names)
        self.names.append(name)
        above = self._begins[:k] + k  # indices of the pairs with earlier rows
        if layout == "lower":
            self.condensed[above] = values
            return
        begin = self._begins[k] + k + 1
        if layout == "upper":
            self.condensed[begin : begin + len(values)] = values
            return
        self.condensed[begin : begin + self.n - k - 1] = values[k + 1 :]
        self._check_square(k, values, above, line)

    def _check_square(self, k: int, values: NDArray[np.float64], above: NDArray[np.int64], line: int) -> None:
        if values[k] != 0:
            raise InputError(
                f"its distance to itself is {values[k]:g}: write 0", file=self.file, record=self.names[k], line=line
            )
        earlier = self.condensed[above]
        odd = np.flatnonzero(~(np.isfinite(values[:k]) & np.isfinite(earlier)))
        if len(odd):
            other = int(odd[0])
            worst = earlier[other] if np.isfinite(values[other]) else values[other]
            raise InputError(
                f"the distance to {self.names[other]!r} is {worst:g}, not a finite number: correct it, or remove one "
                "of the two taxa",
                file=self.file,
                record=self.names[k],
                line=line,
            )
        differ = np.flatnonzero(~(np.abs(values[:k] - earlier) <= TOLERANCE * (1 + np.abs(earlier))))
        if len(differ):
            other = int(differ[0])
            raise InputError(
                f"the distance to {self.names[other]!r} is {values[other]:g} here and {earlier[other]:g} there: give a "
                "symmetric matrix",
                file=self.file,
                record=self.names[k],
                line=line,
            )


#: Values in row k of n by layout; the last two include the zeros of the diagonal.
_WANTED: dict[str, Callable[[int, int], int]] = {
    "lower": lambda k, n: k,
    "upper": lambda k, n: n - 1 - k,
    "square": lambda k, n: n,
    "lower with diagonal": lambda k, n: k + 1,
    "upper with diagonal": lambda k, n: n - k,
}
#: Rows that decide the layout.
_DECIDING = 3


def _read_phylip(lines: Numbered, square: _Square, file: str) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    n = square.n
    ahead = deque(islice(lines, _DECIDING))
    layout = _layout_of([line for _, line in ahead], n) or _wrapped_layout(ahead, lines, n)
    rest = _Ahead(ahead, lines)
    for k in range(n):
        found = rest.next()
        if found is None:
            raise InputError(f"the first line states {n} taxa, but there are {k}", file=file)
        number, line = found
        wanted = _WANTED[layout](k, n)
        name, values = _named_row(line, wanted, file, number)
        while len(values) < wanted and rest.goes_on():  # rows may continue on further lines
            further = rest.next()
            assert further is not None
            values = np.concatenate([values, _numbers(further[1], file, further[0])])
        if len(values) != wanted:
            raise InputError(
                f"the row has {len(values)} distances, but {wanted} are expected", file=file, record=name, line=number
            )
        if layout.endswith("diagonal"):
            at = k if layout.startswith("lower") else 0
            if values[at] != 0:
                raise InputError(
                    f"its distance to itself is {values[at]:g}: write 0", file=file, record=name, line=number
                )
            values = np.delete(values, at)
        square.add(name, values, layout.partition(" ")[0], number)
    left = rest.next()
    if left is not None:
        raise InputError(f"the first line states {n} taxa, but the matrix has more rows", file=file, line=left[0])
    return tuple(square.names), square.condensed


class _Ahead:
    """Numbered lines with a peek at the next one."""

    def __init__(self, ahead: deque[tuple[int, bytes]], lines: Numbered) -> None:
        self._ahead, self._lines = ahead, lines

    def next(self) -> tuple[int, bytes] | None:
        """Return the next line with its number, or None."""
        return self._ahead.popleft() if self._ahead else next(self._lines, None)

    def goes_on(self) -> bool:
        """True if the next line, all numbers, continues the row."""
        if not self._ahead:
            self._ahead.extend(islice(self._lines, 1))
        return bool(self._ahead) and _count(self._ahead[0][1]) > 0


def _layout_of(lines: list[bytes], n: int) -> str | None:
    """Return the layout of these first rows, a line each; None if no layout fits."""
    rows = [_readings(line) for line in lines]

    def fits(k: int, words: list[bytes], layout: str) -> bool:
        if k >= n or len(words) != _WANTED[layout](k, n) or not all(map(_is_number, words)):
            return False
        at = {"lower with diagonal": -1, "upper with diagonal": 0}.get(layout)
        return at is None or float(words[at]) == 0

    for first in rows[0] if rows else ():  # first try names of one word, then 10 characters
        for layout in _WANTED:
            if fits(0, first, layout) and all(
                any(fits(k, words, layout) for words in readings) for k, readings in enumerate(rows)
            ):
                return layout
    return None


def _readings(line: bytes) -> list[list[bytes]]:
    """Return the words after a one-word name, and after a 10-character name unless this would be the whole row."""
    word, strict = _after_word(line).split(), line[strict_end(line) :].split()
    return [word, strict] if strict or not all(map(_is_number, word)) else [word]


def _wrapped_layout(ahead: deque[tuple[int, bytes]], lines: Numbered, n: int) -> str:
    """Return the layout of rows of several lines, from the first row's distances, without consuming lines."""
    if not ahead:
        return "square"
    after = _after_name(ahead[0][1])
    total, k = -1 if after is None else _count(after), 1
    while total < n:
        if k == len(ahead):
            ahead.extend(islice(lines, 1))
        if k == len(ahead) or (count := _count(ahead[k][1])) < 0:
            break
        total, k = total + count, k + 1
    return {0: "lower", 1: "lower with diagonal", n - 1: "upper"}.get(total, "square")


def _named_row(line: bytes, wanted: int, file: str, number: int) -> tuple[str, NDArray[np.float64]]:
    """Return a row's name (the first word, or the first 10 characters if only these fit) and its distances."""
    text, end = _after_word(line), strict_end(line)
    values = _values(text)
    if values is None or len(values) != wanted:
        is_strict = values is None or (line[end:].strip() and _count(line[end:]) == wanted)
        if is_strict and _after_name(line) is not None:
            return decoded(line[:end].strip()), _numbers(line[end:], file, number)
    found = _numbers(text, file, number) if values is None else values  # raises the error
    return decoded(line.split(None, 1)[0]), found


def _after_name(line: bytes) -> bytes | None:
    """Return the text after a name, if it consists of numbers: after a word, else after 10 characters."""
    text, strict = _after_word(line), line[strict_end(line) :]
    if _count(text) >= 0:
        return text
    is_name = bool(strict.strip()) or not any(map(_is_number, text.split()))
    return strict if is_name and _count(strict) >= 0 else None


def _after_word(line: bytes) -> bytes:
    """Return the text after the first word."""
    return b"".join(line.split(None, 1)[1:])


def _count(text: bytes) -> int:
    """Count the numbers in a text; -1 if it holds anything else."""
    values = _values(text)
    return -1 if values is None else len(values)


def _read_tsv(lines: Numbered, file: str, most_bytes: int | None) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    kind, header = "distance", None
    for number, line in lines:
        if line.startswith(VALUES):
            kind = decoded(line.removeprefix(VALUES).strip())
        elif not line.startswith(b"#"):
            header = (number, line)
            break
    if kind not in ("distance", "identity"):
        raise InputError(f"the matrix contains values of kind {shown(kind)}: give distances or identities", file=file)
    if header is None or not header[1].startswith(b"\t"):
        raise InputError(
            "the first row must be an empty cell followed by one name per column: write the matrix with tropalign "
            "pairs -f matrix",
            file=file,
        )
    names = decoded(header[1]).split("\t")[1:]
    n = len(names)
    if n < 2:
        raise InputError("the matrix has fewer than two columns: a tree requires at least two taxa", file=file)
    square = _Square(n, file, most_bytes)
    for number, line in lines:
        cells = line.split(b"\t", 1)
        name = decoded(cells[0])
        k = len(square.names)
        if k == n or name != names[k]:
            what = repr(names[k]) if k < n else "no further row"
            raise InputError(
                f"the row is {name!r}, but {what} is expected: rows must be in the order of the columns",
                file=file,
                line=number,
            )
        values = _numbers(cells[1].replace(b"\t", b" ") if len(cells) > 1 else b"", file, number)
        if len(values) != n:
            raise InputError(
                f"the row has {len(values)} distances, but {n} are expected", file=file, record=name, line=number
            )
        square.add(name, 1 - values if kind == "identity" else values, "square", number)
    if len(square.names) < n:
        raise InputError(
            f"the matrix has {n} columns, but only {len(square.names)} rows: give a square matrix", file=file
        )
    return tuple(square.names), square.condensed


def _numbers(text: bytes, file: str, line: int) -> NDArray[np.float64]:
    """Parse the numbers of a line."""
    values = _values(text)
    if values is None:
        word = next(word for word in text.split() if not _is_number(word))
        what = f"{word.decode('utf-8', 'replace')!r} is not a number"
        raise InputError(f"{what}: a row must be a name without blanks, then numbers", file=file, line=line)
    return values


def _values(text: bytes) -> NDArray[np.float64] | None:
    """Parse the numbers of a text; None if it holds anything else."""
    if (values := _native.numbers(text)) is not None:
        return values
    if b"_" in text:  # float accepts 1_0 as 10
        return None
    try:
        return np.array(list(map(float, text.split())), np.float64)
    except ValueError:
        return None


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word


def distance_format(path: str) -> str:
    """Return the format of a path's suffix, PHYLIP without a suffix. Raises UsageError for an unknown one."""
    suffix = suffix_of(path)
    if suffix and suffix not in SUFFIXES:
        raise UsageError(f"{path}: distances are written as {', '.join(SUFFIXES)}: choose one of these suffixes")
    return SUFFIXES.get(suffix, "phylip")


def phylip_names(names: tuple[str, ...]) -> list[str]:
    """Return padded names without blanks, for PHYLIP. Raises InputError for an empty or duplicate result.

    >>> phylip_names(("Homo sapiens", "a"))
    ['Homo_sapiens', 'a         ']
    """
    found: dict[str, None] = {}
    for name in names:
        word = "_".join(name.split())
        if not word or word in found:
            what = "PHYLIP names have _ for blanks, so this one would be empty or equal to that of another row"
            raise InputError(f"{what}: rename the sequence, or write tsv", record=name)
        found[word] = None
    return [f"{word:<10}" for word in found]


def write_distance_matrix(
    names: tuple[str, ...], condensed: NDArray[np.float64], out: IO[bytes], form: str, has_comments: bool = True
) -> None:
    """Write a square matrix in PHYLIP format, without blanks in names, or as TSV, with or without a comment line.

    >>> import io
    >>> out = io.BytesIO()
    >>> write_distance_matrix(("a b", "c"), np.array([0.5]), out, "phylip")
    >>> print(out.getvalue().decode(), end="")
    2
    a_b        0.00000000 0.50000000
    c          0.50000000 0.00000000
    """
    n = len(names)
    first = np.arange(n, dtype=np.int64)
    begins = first * (2 * n - first - 1) // 2 - first - 1
    comments = f"{VALUES.decode()} distance\n" if has_comments else ""
    head = f"{n}\n" if form == "phylip" else comments + "\t".join(["", *names]) + "\n"
    out.write(head.encode())
    for k, name in enumerate(phylip_names(names) if form == "phylip" else names):
        row = np.zeros(n)
        row[:k] = condensed[begins[:k] + k]
        row[k + 1 :] = condensed[begins[k] + k + 1 : begins[k] + n]
        values = [f"{value:.8f}" if value >= 5e-9 or not value else f"{value:.8g}" for value in row.tolist()]
        out.write(((" " if form == "phylip" else "\t").join([name, *values]) + "\n").encode())
