"""Files of position matrices: MEME, JASPAR, TRANSFAC and PSI-BLAST's ASCII matrix."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tropalign.errors import InputError, UsageError
from tropalign.scoring.position_matrix import PositionMatrix
from tropalign.sequences.files import file_name, read_text

#: First lines of each format: the name shown to users, and a pattern that no other format matches.
SIGNATURES = {
    "meme": ("MEME", r"MEME version\b"),
    "jaspar": ("JASPAR", r">[^\n]*\n\s*(A\s*\[|-?[0-9.]+\s)"),
    "transfac": ("TRANSFAC", r"(AC|ID|VV|XX|NA|DE|P0|PO)(  |\t|\n)"),
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
        "meme", MEME's minimal or full text format (nucleotides or proteins); "jaspar"; "transfac"; or "psiblast",
        the ASCII matrix of ``psiblast -out_ascii_pssm``. A file of another format is an error.
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
    if format not in SIGNATURES:
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
        "jaspar": _biopython("jaspar"),
        "transfac": _biopython("transfac"),
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


def _meme(text: str, file: str, scale: float | None) -> Iterator[PositionMatrix]:
    """Yield the motifs of MEME's text formats (https://meme-suite.org/meme/doc/meme-format.html)."""
    letters, background, name = "", None, ""
    lines = enumerate(text.split("\n"), 1)
    for number, line in lines:
        if line.startswith("ALPHABET="):
            letters = line.removeprefix("ALPHABET=").strip()
        elif line.startswith("ALPHABET"):
            known = {"DNA": "ACGT", "RNA": "ACGU", "PROTEIN": "ACDEFGHIKLMNPQRSTVWY"}
            kind = line.split()[1].strip('"') if len(line.split()) > 1 else ""
            if kind not in known:
                raise InputError(
                    "alphabets defined in the file are not supported: write ALPHABET= and the letters",
                    file=file,
                    line=number,
                )
            letters = known[kind]
        elif line.startswith("Background letter frequencies"):
            words: list[str] = []
            for _, row in lines:
                if not row.strip() or row.startswith(("MOTIF", "****")):
                    break
                words += row.split()
            frequencies = dict(zip(words[::2], words[1::2], strict=False))
            if not letters or sorted(frequencies) != sorted(letters):
                raise InputError(
                    "the background must have a frequency per letter of the alphabet", file=file, line=number
                )
            background = _numbers_of([frequencies[letter] for letter in letters], len(letters), file, number)
            line = row
        if line.startswith("MOTIF"):
            name = [*line.split(), ""][1]
            if not name:
                raise InputError("a motif must have a name", file=file, line=number)
        elif line.startswith("letter-probability matrix:"):
            if not letters or not name:
                what = "ALPHABET= line" if not letters else "MOTIF line with a name"
                raise InputError(f"the matrix has no {what} before it: add it", file=file, line=number)
            given = dict(re.findall(r"(\w+)=\s*(\S+)", line))
            try:
                width, sites = int(given.get("w", 0)), float(given.get("nsites", MEME_SITES))
            except ValueError:
                raise InputError("w= and nsites= must be numbers", file=file, line=number) from None
            rows = []
            for number, row in lines:
                if not row.strip() or row.startswith("-"):
                    break
                rows.append(_numbers_of(row.split(), len(letters), file, number))
                if len(rows) == width:
                    break
            if not rows or (width and len(rows) != width):
                raise InputError(
                    f"the matrix has {len(rows)} rows, but w= {width}: complete it", file=file, line=number, record=name
                )
            counts = np.array(rows) * max(sites, 1)
            yield PositionMatrix.from_counts(counts, letters, background=background, scale=scale, name=name)
            name = ""


def _biopython(form: str) -> Callable[[str, str, float | None], Iterator[PositionMatrix]]:
    """Return the reader of a format of counts of nucleotides that Biopython reads."""

    def read(text: str, file: str, scale: float | None) -> Iterator[PositionMatrix]:
        from Bio import motifs

        try:
            found = list(motifs.parse(io.StringIO(text), form, strict=False))
            counts = [[list(map(float, motif.counts[letter])) for letter in "ACGT"] for motif in found]
        except Exception as error:  # of any kind, if the file is damaged
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(
                f"the file is not valid {SIGNATURES[form][0]} ({reason}): correct it, or convert it again", file=file
            ) from None
        for number, (motif, columns) in enumerate(zip(found, counts, strict=True), 1):
            given: Any = motif
            name = given.matrix_id if form == "jaspar" else given.get("AC") or given.get("ID") or f"matrix_{number}"
            name = name or f"matrix_{number}"
            yield PositionMatrix.from_counts(np.array(columns).T, "ACGT", scale=scale, name=name)

    return read


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
        if not words or not words[0].isdigit():
            if rows:
                break
            continue
        if int(words[0]) != len(rows) + 1 or len(words) < 22 or len(words[1]) != 1:
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
