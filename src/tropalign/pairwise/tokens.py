"""Alignment of sequences of tokens, such as words: by letters if few tokens are distinct, else by tables of scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ResourceError
from tropalign.execution.task import checked_progress
from tropalign.options.called import called_with
from tropalign.options.option import argument
from tropalign.pairwise.api import AllArguments, align_all, listed_pairs
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.score_tables import TableOptions
from tropalign.pairwise.table_rows import TableSide, aligned, unknown_codes
from tropalign.ragged import offsets_of
from tropalign.resources.limits import budget_of, resolve_threads
from tropalign.results.aligned_pairs import DELETION, DIFFERENT, EQUAL, INSERTION
from tropalign.results.alignments import Alignment, AlignmentTable, concatenate
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.sequences import PROTEIN, Alphabet, SequenceBatch
from tropalign.sequences.alphabet import MOST_LETTERS

#: Letters that stand for tokens: as many as an alphabet may have.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ01234"
#: Most cells of the tables that are held at once.
TABLE_CELLS = 1 << 26

Ids = NDArray[np.int32]


class TokenArguments(TableOptions):
    """Arguments of `align_tokens`."""

    query: Any = argument(
        kw_only=False,
        doc="A sequence of tokens: any hashable objects, which match if they are equal, such as words or numbers; a "
        "string is a sequence of characters. Without `target`: a list of pairs (query, target) of such sequences.",
    )
    target: Any = argument(default=None, kw_only=False, doc="As `query`.")
    match: float = argument(kw_only=True, doc="Score of two equal tokens.")
    mismatch: float = argument(kw_only=True, doc="Score of two different tokens, usually negative.")


@called_with(TokenArguments)
def align_tokens(call: TokenArguments) -> Alignment | AlignmentTable:
    """Align sequences of tokens, such as words, phonemes or events, exactly.

    The recurrence (Gotoh 1982), tie rule, free ends and further alignments are those of `align_all`. Coordinates and
    CIGARs count tokens. Residues show as letters, one per distinct token in the order of appearance, or as X if there
    are more than 31 distinct tokens.

    Returns
    -------
    Alignment or AlignmentTable
        An Alignment for one pair and one alignment; otherwise a table with a row per pair, or with `max_hsps` several.

    Raises
    ------
    InputError
        A sequence is empty or not iterable, a token is not hashable, or an item of a list is not a pair.
    ScoringError
        A score is not a number or has more than four decimals; or `gap` has two pieces.
    UsageError
        An option has another type or is out of range.
    ResourceError
        The table of one pair exceeds the memory.

    Examples
    --------
    >>> query, target = "the cat sat down".split(), "a cat sat right down".split()
    >>> hit = tropalign.align_tokens(query, target, match=2, mismatch=-1, gap=tropalign.Gap(1, 1), mode="global")
    >>> hit.score, hit.cigar
    (3, '1X2=1D1=')
    >>> left, right = iter(query[hit.query_start :]), iter(target[hit.target_start :])
    >>> [(a != "-" and next(left), b != "-" and next(right)) for a, _, b in zip(*hit.aligned())][2:]
    [('sat', 'sat'), (False, 'right'), ('down', 'down')]
    """
    options = call.pair_options()
    matrix = SubstitutionMatrix.match_mismatch(call.match, call.mismatch, Alphabet("token", LETTERS))
    options = options.replaced(matrix=matrix)
    is_one = call.target is not None
    pairs = [(call.query, call.target)] if is_one else listed_pairs(call.query)
    ids: dict[Hashable, int] = {}
    names = [[f"{word}_{k}" for k in range(1, len(pairs) + 1)] for word in ("query", "target")]
    coded = [[_ids(pair[side], ids, name) for pair, name in zip(pairs, names[side], strict=True)] for side in range(2)]
    if len(ids) <= MOST_LETTERS:
        alphabet = matrix.alphabet
        letters = np.frombuffer(alphabet.letters.encode(), np.uint8)
        batches = []
        for own, side in zip(names, coded, strict=True):
            codes = np.concatenate(side).astype(np.uint8)
            batches.append(SequenceBatch(codes, offsets_of([*map(len, side)]), tuple(own), alphabet, letters[codes]))
        how: dict[str, Any] = {**call.shared_with(AllArguments), "pairs": np.stack([np.arange(len(pairs))] * 2, 1)}
        table = concatenate(list(align_all(*batches, **how, matrix=matrix, device="cpu")))
    else:
        table = concatenate(list(_by_tables(names, coded, options, call)))
    return table.row(0) if is_one and options.max_hsps == 1 else table


def _ids(tokens: Any, ids: dict[Hashable, int], name: str) -> Ids:
    """Return the numbers of tokens; new ones get the next number. Raises InputError for anything else."""
    if not isinstance(tokens, Iterable):
        raise InputError(
            f"an object of type {type(tokens).__name__} is not a sequence of tokens: give a list", record=name
        )
    found = []
    for k, token in enumerate(tokens, 1):
        try:
            found.append(ids.setdefault(token, len(ids)))
        except TypeError:
            raise InputError(
                f"token {k} of type {type(token).__name__} is not hashable: give strings, numbers or tuples",
                record=name,
            ) from None
    if not found:
        raise InputError("the sequence has no token: give one or more", record=name)
    return np.array(found, np.int32)


def _by_tables(
    names: list[list[str]], coded: list[list[Ids]], options: PairOptions, call: TokenArguments
) -> Iterator[AlignmentTable]:
    """Align all pairs by tables of whole numbers, some pairs at a time."""
    whole, progress = options.whole, checked_progress(call.progress)
    threads, memory = resolve_threads(call.n_threads), budget_of(call.memory_bytes)
    scores = [int(whole.scores[0, 0]), int(whole.scores[0, 1])]
    kind = next(kind for kind in (np.int8, np.int16, np.int32) if max(map(abs, scores)) <= np.iinfo(kind).max)
    options = options.replaced(gap=Gap(whole.gap_open, whole.gap_extend))
    cells_of_memory = memory // 2 // 4  # of a table, and of native code's copy
    most_cells = min(TABLE_CELLS, cells_of_memory)
    batches = [
        SequenceBatch.from_strings(
            {name: "X" * len(one) for name, one in zip(own, side, strict=True)}, alphabet=PROTEIN
        )
        for own, side in zip(names, coded, strict=True)
    ]
    codes = [unknown_codes(batch, side) for side, batch in enumerate(batches)]
    cells = np.cumsum(batches[0].lengths * batches[1].lengths)
    begin = 0
    while begin < len(cells):
        done = int(cells[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(cells, done + most_cells, "right")), begin + 1)
        if int(cells[end - 1]) - done > cells_of_memory:
            raise ResourceError("the scores of one pair exceed the memory: allow more with memory_bytes")
        pairs = zip(coded[0][begin:end], coded[1][begin:end], strict=True)
        match, mismatch = np.array(scores, kind)
        tables: list[NDArray[Any]] = [np.where(query[:, None] == target, match, mismatch) for query, target in pairs]
        index = np.arange(begin, end)
        sides = [TableSide(batch, index, code) for batch, code in zip(batches, codes, strict=True)]
        table = aligned(tables, sides, options, threads, memory // 2, None)
        if whole.scale > 1:
            table = replace(table, score=table.score / whole.scale)
        yield _with_equal(table, *map(np.concatenate, coded)) if table.depth == "alignment" else table
        if progress is not None:
            progress(end)
        begin = end


def _with_equal(table: AlignmentTable, query: Ids, target: Ids) -> AlignmentTable:
    """Mark columns of equal tokens in CIGARs and counts; `query` and `target` are token numbers."""
    row = np.repeat(np.arange(len(table)), np.diff(table.cigar_offsets))
    sizes = (table.cigar_ops >> 4).astype(np.int64)
    kind, row = np.repeat(table.cigar_ops & 15, sizes), np.repeat(row, sizes)
    first = np.searchsorted(row, np.arange(len(table)))  # the first column of each row
    shown = []
    for batch, index, start, ids, gap in (
        (table.queries, table.query_index, table.query_start, query, DELETION),
        (table.targets, table.target_index, table.target_start, target, INSERTION),
    ):
        before = np.concatenate([[0], np.cumsum(kind != gap)])
        place = before[:-1] - before[first][row] + (batch.offsets[index] + start)[row]
        shown.append(ids[np.minimum(place, len(ids) - 1)])
    is_pair = (kind == EQUAL) | (kind == DIFFERENT)
    kind[is_pair] = np.where(shown[0] == shown[1], EQUAL, DIFFERENT)[is_pair]
    begins = np.flatnonzero(np.diff(kind, prepend=0) | np.diff(row, prepend=-1))
    ops = (np.diff(begins, append=len(kind)) << 4 | kind[begins]).astype(np.uint32)
    return replace(
        table,
        cigar_ops=ops,
        cigar_offsets=np.searchsorted(row[begins], np.arange(len(table) + 1)).astype(np.int64),
        n_identical=np.bincount(row[kind == EQUAL], minlength=len(table)).astype(np.int32),
    )
