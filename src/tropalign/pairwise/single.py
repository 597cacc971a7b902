"""One pair at a time, for loops: the fast path of `align`.

A pair of a hundred residues is aligned in a few microseconds, less than it takes to make a batch, a task and a
table, and to look up options. So everything that follows from the arguments (`PairAligner`: letters as codes,
scores, costs) is made once and found again by the arguments; native code takes text and returns numbers.

This is only a shortcut: anything out of the ordinary is left to the full path, which gives the same result, or
reports the error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tropalign.errors import TropalignError
from tropalign.pairwise.options import FREE_ENDS, STRANDS, ModeName, PairOptions, ReportName, of_two_alphabets
from tropalign.results.aligned_pairs import DEPTHS
from tropalign.results.alignments import Alignment, LonePair, Numbers, columns_of
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.scoring.matrix import canonical
from tropalign.scoring.scores import is_match_mismatch, letters_and_scores
from tropalign.sequences import Alphabet
from tropalign.sequences.alphabet import AlphabetLike, alphabet_of
from tropalign.sequences.kinds import Kind, Tally, alphabet_by, together

if TYPE_CHECKING:
    from tropalign._native import PairAligner

#: Marks, for native code, bytes that the fast path does not support.
NO_LETTER = 255
#: Most sets of arguments that are kept; a loop has few.
MOST_KEPT = 64
#: The aligner, and the factor that makes scores integers; None if the full path would warn or raise.
Engine = tuple["PairAligner", int] | None
#: Engines by their arguments; the value holds the alphabet, because the key has only its id.
_kept: dict[Any, tuple[Alphabet, Engine]] = {}


def aligned(
    texts: tuple[str, str],
    names: tuple[str, str],
    mode: ModeName,
    matrix: Any,
    gap: Gap | None,
    report: ReportName,
    free_ends: Iterable[str],
    strand: str,
    alphabet: AlphabetLike,
) -> Alignment | None:
    """Align a pair; None if it needs the full path. Arguments are those of `align`."""
    try:
        alphabet = alphabet_of(alphabet)
        engine = _engine(mode, matrix, gap, report, free_ends, alphabet)
    except (TropalignError, TypeError, ValueError):
        return None
    found = None if engine is None else _found(engine, *texts, strand, alphabet)
    return None if found is None else LonePair(found[0], names, texts, alphabet, report, found[1]).alignment()


def alphabet_for(matrix: Any, texts: tuple[str, str], words: tuple[str, str] = ("query was", "target")) -> Alphabet:
    """Infer the common alphabet of queries and targets, given the letters of both sides.

    A SubstitutionMatrix decides; `words` name the sides in messages. Raises InputError if one side is certainly a
    protein and the other one certainly nucleotides.
    """
    if isinstance(matrix, SubstitutionMatrix):
        return matrix.alphabet
    first, second = (Tally.of_text(text.encode("latin-1", "replace")) for text in texts)
    kinds = first.kind, second.kind
    if {*kinds} == {Kind.PROTEIN, Kind.NUCLEOTIDE}:
        raise of_two_alphabets(alphabet_by(kinds[0], first), alphabet_by(kinds[1], second), words)
    return alphabet_by(together(kinds), first + second)


def columns(
    pairs: Iterable[tuple[str, str]],
    mode: ModeName,
    matrix: Any,
    gap: Gap | None,
    report: ReportName,
    free_ends: Iterable[str],
    strand: str,
    alphabet: Alphabet,
) -> dict[str, Any] | None:
    """Return the columns of a table of pairs of texts; None if a pair needs the full path."""
    try:
        engine = _engine(mode, matrix, gap, report, free_ends, alphabet)
    except (TropalignError, TypeError, ValueError):
        return None
    found = []
    for query, target in pairs:
        row = None if engine is None else _found(engine, query, target, strand, alphabet)
        if row is None:
            return None
        found.append(row)
    strands = [1 if row[1] is None else row[1] for row in found]
    return columns_of([numbers for numbers, _ in found], strands if strand != "plus" else None)


def _found(
    made: tuple[PairAligner, int], query: str, target: str, strand: str, alphabet: Alphabet
) -> tuple[Numbers, int | None] | None:
    """Align a pair, choose the strand of the query and convert the score to user units; None if this is impossible."""
    engine, scale = made
    if strand not in STRANDS or (strand != "plus" and not alphabet.has_strands):
        return None
    numbers, side = None if strand == "minus" else engine.align(query, target), None if strand == "plus" else 1
    if numbers is None and strand != "minus":
        return None
    if strand != "plus":
        reverse = query.encode("latin-1").translate(alphabet.complement_table.tobytes())[::-1].decode("latin-1")
        others = engine.align(reverse, target)
        if others is None:
            return None
        if numbers is None or others[0] > numbers[0]:
            numbers, side = others, -1
            if len(others) > 1:  # coordinates count on the query's original strand
                score, begin, end, *rest = others
                numbers = (score, len(query) - end, len(query) - begin, *rest)
    assert numbers is not None
    return numbers if scale == 1 else (numbers[0] / scale, *numbers[1:]), side


def _engine(
    mode: ModeName, matrix: Any, gap: Gap | None, report: ReportName, free_ends: Iterable[str], alphabet: Alphabet
) -> Engine:
    """Return the kept engine for these arguments, or make one. Raises the errors of making it."""
    if isinstance(free_ends, str) and free_ends == "all":
        free_ends = FREE_ENDS
    if not isinstance(free_ends, tuple | frozenset):
        if not isinstance(free_ends, list | set):
            raise TypeError("an iterator can be read once")
        free_ends = tuple(free_ends)
    scores = matrix
    if isinstance(matrix, str):
        scores = canonical(matrix)
        if scores is None:
            raise TypeError("the matrix is a file, which may change")
    elif matrix is not None and not isinstance(matrix, SubstitutionMatrix) and not is_match_mismatch(matrix):
        letters, values = letters_and_scores(matrix)
        scores = letters, values.tobytes()  # bytes: immutable and hashable
    key = (mode, scores, gap, report, free_ends, id(alphabet))
    kept = _kept.get(key)
    if kept is None:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        kept = _kept[key] = alphabet, _made(mode, scores, gap, report, free_ends, alphabet)
    return kept[1]


def _made(
    mode: ModeName, matrix: Any, gap: Gap | None, report: ReportName, free_ends: Iterable[str], alphabet: Alphabet
) -> Engine:
    """Make an engine; None if the full path would warn or raise."""
    from tropalign._native import PairAligner

    if matrix is None:
        scores = SubstitutionMatrix.default(alphabet)
    elif isinstance(matrix, SubstitutionMatrix):
        scores = matrix
    else:
        if not isinstance(matrix, str) and not is_match_mismatch(matrix):
            letters, values = matrix
            matrix = letters, np.frombuffer(values).reshape(len(letters), len(letters))
        scores = SubstitutionMatrix.of(matrix, alphabet)
    cost = Gap(*alphabet.gap_cost) if gap is None else gap
    options = PairOptions(scores, cost, mode=mode, report=report, free_ends=frozenset(free_ends))
    if scores.alphabet != alphabet or scores.alphabet.letters != alphabet.letters:
        return None
    codes, unknown = alphabet.encode(np.arange(256, dtype=np.uint8))
    codes[unknown | np.isin(codes, scores.codes_lacked())] = NO_LETTER
    whole = options.whole
    if not whole.is_affine:
        return None
    scoring = whole.scores, whole.gap_open, whole.gap_extend
    engine = PairAligner(codes, *scoring, options.recurrence, options.freed(), DEPTHS.index(options.report))
    return engine, whole.scale
