"""Files of position matrices: MEME, JASPAR, TRANSFAC and PSI-BLAST's ASCII matrix."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from tropalign.errors import InputError, UsageError, counted
from tropalign.scoring.position_matrix import PositionMatrix
from tropalign.sequences.files import file_name, read_text

#: First lines of each format: the name shown to users, and a pattern that no other format matches.
SIGNATURES = {
    "meme": ("MEME", r"(\*+\n[^\n]*\n\*+\s+)?MEME version\b"),
    "jaspar": ("JASPAR", r">[^\n]*\n\s*([ACGT]\s*\[|-?[0-9.]+\s)"),
    "transfac": ("TRANSFAC", r"(AC|ID|VV|XX|NA|DE|P0|PO)[ \t\n]"),
    "psiblast": ("PSI-BLAST ASCII matrix", r"Last position-specific scoring matrix computed"),
}
#: Largest file.
MOST_BYTES = 1 << 28
#: Number of sites of MEME's motifs that give none.
MEME_SITES = 20


def read_position_matrices(path: Any, format: str, *, scale: float | None = None) -> list[PositionMatrix]:
    """Read all position matrices of a file.

    Parameters
    ----------
    path
        A file, which may be compressed, or an open one; ``-`` is standard input.
    format
        "meme", MEME's minimal format or the text output of the program (nucleotides or proteins); "jaspar";
        "transfac"; or "psiblast", the ASCII matrix of ``psiblast -out_ascii_pssm``. A file of another format is an
        error.
    scale
        Scores per bit, see `PositionMatrix.from_counts`. The scores of "psiblast" are read as they are.

    Returns
    -------
    list of PositionMatrix
        In the order of the file. Counts become scores by `PositionMatrix.from_counts`, with the background of the
        file if it has one, otherwise equal frequencies, and a pseudocount of 1.

    Raises
    ------
    InputError
        The file cannot be read, or is of another format; the error names the line if known.
    UsageError
        There is no such format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tata.jaspar"
    ...     _ = path.write_text(">MA1 TATA\\nA [0 8]\\nC [0 0]\\nG [0 0]\\nT [8 0]\\n")
    ...     tropalign.read_position_matrices(path, "jaspar")
    [<PositionMatrix MA1: 2 positions, nucleotide>]
    """
    if not isinstance(format, str) or format not in SIGNATURES:
        raise UsageError(f"{format!r} is not a format of position matrices: use one of {', '.join(SIGNATURES)}")
    file = file_name(path)
    text = read_text(path, MOST_BYTES)
    found = next((name for name, (_, begin) in SIGNATURES.items() if re.match(rf"\s*{begin}", text)), None)
    if found != format:
        what = "this is not a file of position matrices" if found is None else f"this is a {SIGNATURES[found][0]} file"
        remedy = "name the format of the file" if found is None else f"name its format, {found}"
        raise InputError(f"{what}, but {format} was requested: {remedy}", file=file)
    readers: dict[str, Callable[[str, str, float | None], Iterator[PositionMatrix]]] = {
        "meme": _meme,
        "jaspar": _jaspar,
        "transfac": _transfac,
        "psiblast": _psiblast,
    }
    try:
        matrices = list(readers[format](text, file, scale))
    except InputError as error:
        raise error if error.file is not None else InputError(str(error), file=file) from None
    if not matrices:
        raise InputError("the file has no matrix", file=file)
    return matrices


def _numbers_of(words: list[str], count: int, file: str, line: int) -> list[float]:
    """Return the numbers of a row."""
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise InputError(f"a row of the matrix must have {count} numbers", file=file, line=line)
    return numbers


def _are_numbers(words: list[str]) -> bool:
    """True if there are words and all are numbers."""
    try:
        return bool([float(word) for word in words])
    except ValueError:
        return False


def _meme(text: str, file: str, scale: float | None) -> Iterator[PositionMatrix]:
    """Yield the motifs of MEME's text formats (https://meme-suite.org/meme/doc/meme-format.html)."""
    letters, background, name = "", None, ""
    lines = list(enumerate(text.split("\n"), 1))
    heading, ended, k = 0, "", 0
    while k < len(lines):
        number, line = lines[k]
        k += 1
        words = line.split()
        if ended and words:
            if _are_numbers(words):
                raise InputError(
                    "this row follows the last one of the matrix: correct w=, or remove the row",
                    file=file,
                    line=number,
                    record=ended,
                )
            ended = ""
        if line.startswith("ALPHABET="):
            letters = line.removeprefix("ALPHABET=").strip()
        elif line.startswith("ALPHABET"):
            known = {"DNA": "ACGT", "RNA": "ACGU", "PROTEIN": "ACDEFGHIKLMNPQRSTVWY"}
            kind = words[1].strip('"') if len(words) > 1 else ""
            if kind not in known:
                raise InputError(
                    "alphabets defined in the file are not supported: write ALPHABET= and the letters",
                    file=file,
                    line=number,
                )
            letters = known[kind]
        elif line.startswith("Background letter frequencies"):
            background, k = _background(lines, k, letters, file)
        elif words[:1] == ["MOTIF"]:
            if name:
                _lacks_matrix(name, file, heading)
            name, heading = [*words, ""][1], number
            if not name:
                raise InputError("a motif must have a name", file=file, line=number)
        elif line.startswith("letter-probability matrix:"):
            if not letters or not name:
                what = "ALPHABET= line" if not letters else "MOTIF line with a name"
                raise InputError(f"the matrix has no {what} before it: add it", file=file, line=number)
            width, sites = _dimensions(line, len(letters), file, number, name)
            rows: list[list[float]] = []
            while k < len(lines) and (len(rows) < width or not width):
                row = lines[k][1].split()
                if not row or row[0].startswith("--"):
                    break
                rows.append(_numbers_of(row, len(letters), file, lines[k][0]))
                k += 1
            if not rows or (width and len(rows) != width):
                stated = f", but w= {width}" if width else ""
                raise InputError(
                    f"the matrix has {counted(len(rows), 'rows')}{stated}: complete it",
                    file=file,
                    line=number,
                    record=name,
                )
            with np.errstate(over="ignore"):  # `from_counts` rejects infinity
                counts = np.array(rows) * max(sites, 1)
            yield PositionMatrix.from_counts(counts, letters, background=background, scale=scale, name=name)
            name, ended = "", name
    if name:
        _lacks_matrix(name, file, heading)


def _background(lines: list[tuple[int, str]], k: int, letters: str, file: str) -> tuple[list[float], int]:
    """Return the frequencies of the letters from line index k on, and the index of the first line after them."""
    begin, given = lines[k - 1][0], list[str]()
    while k < len(lines):
        row = lines[k][1].split()
        if len(row) % 2 or any(len(letter) != 1 for letter in row[::2]) or not _are_numbers(row[1::2]):
            break
        given += row
        k += 1
    if not letters or sorted(given[::2]) != sorted(letters):
        raise InputError("the background must have a frequency per letter of the alphabet", file=file, line=begin)
    frequencies = dict(zip(given[::2], given[1::2], strict=True))
    return _numbers_of([frequencies[letter] for letter in letters], len(letters), file, begin), k


def _lacks_matrix(name: str, file: str, line: int) -> NoReturn:
    """Raise the error for a MOTIF line without a matrix."""
    raise InputError(
        "the motif has no letter-probability matrix: add it, or remove the motif", file=file, line=line, record=name
    )


def _dimensions(line: str, n_letters: int, file: str, number: int, name: str) -> tuple[int, float]:
    """Return the width (0 if absent) and the number of sites from the first line of a MEME matrix."""
    given = dict(re.findall(r"(\w+)=\s*(\S+)", line))
    try:
        columns, width = (int(given.get(key, default)) for key, default in (("alength", n_letters), ("w", 0)))
        sites = float(given.get("nsites", MEME_SITES))
    except ValueError:
        raise InputError("alength=, w= and nsites= must be numbers", file=file, line=number) from None
    what = ""
    if columns != n_letters:
        what = f"alength= {columns}, but the alphabet has {counted(n_letters, 'letters')}"
    elif width < 1 and "w" in given:
        what = f"w= {width}, but a matrix has at least 1 row"
    elif not 0 <= sites < math.inf:
        what = f"nsites= {given['nsites']} is not a number of at least 0"
    if what:
        raise InputError(f"{what}: correct it", file=file, line=number, record=name)
    return width, sites


def _jaspar(text: str, file: str, scale: float | None) -> Iterator[PositionMatrix]:
    """Yield the matrices of JASPAR's formats: ``>ID name`` and a row per nucleotide, with or without its letter."""
    lines = text.split("\n")
    headings = [k for k, line in enumerate(lines) if line.lstrip().startswith(">")]
    for heading, end in pairwise([*headings, len(lines)]):
        name = [*lines[heading].lstrip()[1:].split(), ""][0]
        if not name:
            raise InputError("a matrix must have a name: write it after >", file=file, line=heading + 1)
        rows = [(k + 1, lines[k].strip()) for k in range(heading + 1, end) if lines[k].strip()]
        if len(rows) != 4:
            raise InputError(
                f"the matrix has {counted(len(rows), 'rows')}, not one for each of A, C, G and T: correct it",
                file=file,
                line=heading + 1,
                record=name,
            )
        found = [re.fullmatch(r"([ACGT])\s*\[(.*)\]", row) for _, row in rows]
        letters = "".join(match[1] for match in found if match is not None) or "ACGT"
        if sorted(letters) != list("ACGT"):
            raise InputError(
                "the rows must be A [numbers] and the same for C, G and T, or four rows of numbers alone",
                file=file,
                line=heading + 1,
                record=name,
            )
        words = [(row if match is None else match[2]).split() for (_, row), match in zip(rows, found, strict=True)]
        counts = {
            letter: _numbers_of(row, len(words[0]), file, number)
            for letter, row, (number, _) in zip(letters, words, rows, strict=True)
        }
        columns = np.array([counts[letter] for letter in "ACGT"])
        yield PositionMatrix.from_counts(columns.T, "ACGT", scale=scale, name=name)


def _transfac(text: str, file: str, scale: float | None) -> Iterator[PositionMatrix]:
    """Yield the matrices of a TRANSFAC file, whose records end with ``//``."""
    n_found, begin, first, is_table = 0, 0, 1, False
    names: dict[str, str] = {}
    rows: list[list[float]] | None = None

    def name() -> str:
        return names.get("AC") or names.get("ID") or f"matrix_{n_found + 1}"

    for number, line in enumerate(text.split("\n"), 1):
        key, *words = line.split() or [""]
        if key == "//":
            if begin and not rows:
                raise InputError(
                    "the record has no matrix: add the line P0 and its rows, or remove the record",
                    file=file,
                    line=begin,
                    record=name(),
                )
            if rows:
                yield PositionMatrix.from_counts(np.array(rows), "ACGT", scale=scale, name=name())
                n_found += 1
            begin, is_table, names, rows = 0, False, {}, None
        elif key in ("P0", "PO"):
            begin = begin or number
            if rows is not None or words[:4] != list("ACGT"):
                what = (
                    "the columns must be A C G T: reorder them"
                    if rows is None
                    else "the record has a second matrix: end it by //"
                )
                raise InputError(what, file=file, line=number, record=name())
            is_table, rows = True, []
        elif key.isdecimal():
            begin = begin or number
            index = int(key) if len(key) < 10 else -1
            if rows is None or not is_table or index not in ((first + len(rows),) if rows else (0, 1)):
                raise InputError(
                    "the rows of a matrix follow the line P0 and are numbered from 1: correct this row",
                    file=file,
                    line=number,
                    record=name(),
                )
            first = index - len(rows)
            if any(_are_numbers([word]) for word in words[4:]):  # the consensus is a letter
                raise InputError("a row of the matrix must have 4 numbers", file=file, line=number)
            rows.append(_numbers_of(words[:4], 4, file, number))
        elif key:
            is_table = False
            if key not in ("VV", "XX"):
                begin = begin or number
            if key in ("AC", "ID") and words:
                names[key] = " ".join(words)
    if begin:
        raise InputError(
            "the record does not end with //: complete it, or add the line", file=file, line=begin, record=name()
        )


def _psiblast(text: str, file: str, scale: float | None) -> Iterator[PositionMatrix]:
    """Yield the matrix of ``psiblast -out_ascii_pssm``, whose scores stay as they are."""
    if scale is not None:
        raise InputError("PSI-BLAST's matrices have scores already: leave the scale out", file=file)
    rows: list[list[float]] = []
    letters = consensus = ""
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not letters:
            if len(words) >= 20 and all(len(word) == 1 and word.isalpha() for word in words):
                letters = "".join(words[:20])
            continue
        if not words or not words[0].isdecimal():
            if rows:
                break
            continue
        if words[0].lstrip("0") != str(len(rows) + 1) or len(words) < 22 or len(words[1]) != 1:
            raise InputError(
                f"row {len(rows) + 1} of the matrix needs its number, a letter and 20 scores",
                file=file,
                line=number,
            )
        consensus += words[1]
        rows.append(_numbers_of(words[2:22], 20, file, number))
    if rows:
        stem = os.path.basename(file).split(".")[0]
        yield PositionMatrix(np.array(rows), letters, name=stem or "matrix", alphabet="protein", consensus=consensus)
