"""Alignment by tables of scores, a number per pair of residues: similarities of embeddings, a model's predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign.devices.registry import ComputeArguments
from tropalign.errors import InputError, ScoringError
from tropalign.execution.task import checked_progress
from tropalign.options.called import called_with
from tropalign.options.option import again, argument
from tropalign.pairwise.api import AlphabetArgument, ProgressArgument, ScoringArguments, texts_and_places
from tropalign.pairwise.options import HspsOption, ModeOption, PairOptions, SelectionOptions
from tropalign.pairwise.single import alphabet_for
from tropalign.pairwise.table_rows import TableSide, aligned, unknown_codes
from tropalign.resources.limits import budget_of, resolve_threads
from tropalign.results.alignments import Alignment, AlignmentTable
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.sequences import PROTEIN, SequenceBatch
from tropalign.sequences.alphabet import AlphabetLike
from tropalign.sequences.batch import Sequences
from tropalign.sequences.inputs import files_in
from tropalign.sequences.reader import batch_of

#: The type of numbers in which native code reads those of each type, none of which loses any.
TYPES = {
    **{np.dtype(name): np.dtype(name) for name in ("int8", "int16", "int32", "float32")},
    **{np.dtype(given): np.dtype(read) for given, read in (("uint8", "int16"), ("uint16", "int32"), ("f2", "f4"))},
}


class TableScoring(ModeOption, ProgressArgument):
    """Mode and gap costs of alignments by tables, and limits of the computation."""

    gap: Gap = argument(
        kw_only=True,
        doc="A gap of k residues costs ``gap.open + k * gap.extend``, in the unit of the scores.",
    )
    free_ends: Any = again(ScoringArguments, "free_ends")
    n_threads: int = again(ComputeArguments, "n_threads")
    memory_bytes: int | None = again(ComputeArguments, "memory_bytes")

    def pair_options(self) -> PairOptions:
        """Check the options, and return them as those of pairs, whose matrix is not used."""
        self.check_choices()
        options = PairOptions(SubstitutionMatrix.default(PROTEIN), **self.shared_with(PairOptions))
        if options.gap.has_two_pieces:
            raise ScoringError("the gap cost has two pieces, but score tables support one: give Gap(open, extend)")
        return options


class TableOptions(TableScoring, HspsOption):
    """Options of alignments by tables."""

    report: Any = again(SelectionOptions, "report")


class TableArguments(TableOptions, AlphabetArgument):
    """Arguments of `align_scores`."""

    scores: NDArray[Any] | Sequence[ArrayLike] = argument(
        kw_only=False,
        doc="A table of shape (query length, target length), or a list of tables, which may differ in shape: float32, "
        "int32, int16 or int8. Each number is the score of a pair of residues.",
    )
    queries: Sequences | None = argument(
        default=None,
        kw_only=True,
        doc="The sequences of the rows, one per table, for names, letters and identities. Without sequences, residues "
        "are X, and no two of them count as identical.",
    )
    targets: Sequences | None = argument(default=None, kw_only=True, doc="The sequences of the columns, as `queries`.")


@called_with(TableArguments)
def align_scores(call: TableArguments) -> Alignment | AlignmentTable:
    """Align pairs whose residues score by tables, exactly, in place of letters and a substitution matrix.

    The recurrence (Gotoh 1982), tie rule, free ends and further alignments are those of `align_all`, with S[i, j] as
    the score of residue i of the query and residue j of the target. Scores of float32 become multiples of a power of
    two, about 2**-30 of the highest sum that a path may reach, so that results are the same on every processor.

    Returns
    -------
    Alignment or AlignmentTable
        An Alignment for one table and one alignment; otherwise a table with a row per pair, or with `max_hsps`
        several. Scores are int32, or float64 for tables of float32.

    Raises
    ------
    InputError
        A table is empty, has not two dimensions or another shape than its sequences, holds a number that is not
        finite, or is of a type that would be rounded, such as float64.
    ScoringError
        `gap` has two pieces, or decimals with tables of integers; or scores may exceed 32 bits.
    UsageError
        An option has another type or is out of range.
    ResourceError
        The copy of a table, 4 bytes per score, exceeds the memory.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.full((4, 5), -1, np.int8)
    >>> scores[[0, 1, 2, 3], [0, 1, 3, 4]] = 3
    >>> hit = tropalign.align_scores(scores, gap=tropalign.Gap(1, 1))
    >>> hit.score, hit.cigar
    (10, '2X1D2X')
    """
    options = call.pair_options()
    tables, is_one = tables_of(call.scores, _checked)
    are_whole = {table.dtype.kind == "i" for table in tables}
    if True in are_whole and (call.gap.open % 1 or call.gap.extend % 1):
        raise ScoringError(
            "the gap cost has decimals, but the scores are whole numbers: give both as float32, or whole"
        )
    listed = [
        None if given is None else texts_and_places(batch_of(given) if files_in(given) else given, word)  # type: ignore[arg-type]
        for given, word in ((call.queries, "query"), (call.targets, "target"))
    ]
    letters = ["".join(one[0].values()) for one in listed if one is not None]
    alphabet = call.alphabet
    if alphabet is None and letters:
        alphabet = alphabet_for(None, (letters[0], letters[-1]), ("queries were", "targets"))
    sides = [_side(one, tables, side, alphabet) for side, one in enumerate(listed)]
    threads, memory = resolve_threads(call.n_threads), budget_of(call.memory_bytes)
    table = aligned(tables, sides, options, threads, memory, checked_progress(call.progress))
    return table.row(0) if is_one and options.max_hsps == 1 else table


def tables_of(scores: object, checked: Callable[[Any, str], NDArray[Any]]) -> tuple[list[NDArray[Any]], bool]:
    """Return one table or a list of them, each `checked` with its name, and whether one was given."""
    is_one = getattr(scores, "ndim", None) == 2
    if not isinstance(scores, Iterable):
        raise InputError("the scores must be a table or a list of tables")
    tables = [checked(table, f"table {k}") for k, table in enumerate([scores] if is_one else scores, 1)]
    if not tables:
        raise InputError("there is no table: give one or more")
    return tables, is_one


def with_two_dimensions(table: Any, name: str) -> NDArray[Any]:
    """Return a table as an array. Raises InputError if it has no rows or columns."""
    try:
        given = np.asarray(table)
    except ValueError:
        raise InputError("the rows have different lengths: give a table", record=name) from None
    if given.ndim != 2 or not given.size:
        raise InputError(f"the scores have the shape {given.shape}, but need rows and columns", record=name)
    return given


def _checked(table: Any, name: str) -> NDArray[Any]:
    """Return a table in a type of `TYPES`. Raises InputError for other numbers, which may be rounded."""
    given = with_two_dimensions(table, name)
    own = TYPES.get(given.dtype.newbyteorder("="))
    if own is None:
        remedy = {"f": "float32", "i": "int32", "u": "int32"}.get(given.dtype.kind)
        if remedy is None:
            raise InputError(f"scores of type {given.dtype} are not supported: give numbers", record=name)
        raise InputError(
            f"scores of type {given.dtype} may be rounded: give numpy.asarray(table, numpy.{remedy})", record=name
        )
    return np.ascontiguousarray(given, own)


def _side(
    given: tuple[dict[str, str], NDArray[np.int64]] | None,
    tables: list[NDArray[Any]],
    side: int,
    alphabet: AlphabetLike | None,
) -> TableSide:
    """Return the sequences of the rows (side 0) or columns (side 1)."""
    word = ("query", "target")[side]
    lengths = [table.shape[side] for table in tables]
    if given is None:
        texts = {f"{word}_{k}": "X" * length for k, length in enumerate(lengths, 1)}
        batch = SequenceBatch.from_strings(texts, alphabet=PROTEIN)
        return TableSide(batch, np.arange(len(tables)), unknown_codes(batch, side))
    texts, index = given
    batch = SequenceBatch.from_strings(texts, alphabet=alphabet)
    if len(index) != len(tables):
        raise InputError(f"there are {len(tables)} tables, but the number of sequences ({word}) is {len(index)}")
    wrong = np.flatnonzero(batch.lengths[index] != lengths)
    if len(wrong):
        k = int(wrong[0])
        raise InputError(
            f"the sequence ({word}) has {batch.lengths[index[k]]} residues, but table {k + 1} has {lengths[k]} "
            f"{('rows', 'columns')[side]}",
            record=batch.names[index[k]],
        )
    return TableSide(batch, index, batch.codes)
