"""Python API of pairwise alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign.devices.registry import ComputeArguments, device_names, open_devices
from tropalign.errors import InputError, UsageError
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import checked_progress
from tropalign.options.called import called_with
from tropalign.options.option import Options, again, argument, but
from tropalign.pairwise import single
from tropalign.pairwise.engines import aligned
from tropalign.pairwise.options import (
    FREE_ENDS,
    MODES,
    CompositionOption,
    CoOptimalOptions,
    CullingOption,
    EndName,
    HspsOption,
    IdentityOptions,
    MaskOptions,
    ModeName,
    ModeOption,
    PairOptions,
    ReciprocalOption,
    ReportName,
    SelectionOptions,
    SelfOption,
    StrandName,
    StrandOption,
    SumOptions,
    TopFirstOption,
    TranslationOptions,
    check_same_alphabet,
)
from tropalign.pairwise.positions import sequences_for, stand_in_matrix
from tropalign.pairwise.selection import first_options, reciprocal_pairs
from tropalign.pairwise.significance import Significance
from tropalign.pairwise.task import PairsTask
from tropalign.pairwise.tracks import TrackArguments, with_tracks
from tropalign.pairwise.translated import check_code, check_sides, side_of
from tropalign.resources.limits import checked_memory, checked_threads
from tropalign.results.alignments import Alignment, AlignmentTable, concatenate
from tropalign.scoring import Gap, MatrixLike, default_scoring
from tropalign.scoring.position_matrix import PositionBatch, PositionMatrix, positions_of
from tropalign.sequences import SequenceBatch
from tropalign.sequences.alphabet import AlphabetLike
from tropalign.sequences.batch import Sequences
from tropalign.sequences.inputs import letters_of, named_texts
from tropalign.sequences.reader import batch_of, in_common_alphabet, without_kind_warnings

if TYPE_CHECKING:
    from tropalign.sequences.translation import Frames

#: Largest list, in cells, whose pairs are aligned one by one: larger ones take longer than setting up a task.
FEW_CELLS = 300_000


class ScoringArguments(Options):
    """Scoring arguments in Python."""

    matrix: MatrixLike | None = argument(
        default=None,
        kw_only=True,
        doc=(
            "A SubstitutionMatrix, the name of one, a file, a Biopython Array, a dict of letter pairs, (letters, "
            "array), or (match, mismatch), as for `SubstitutionMatrix.of`; BLOSUM62, or 5/-4 for nucleotides, by "
            "default."
        ),
    )
    gap: Gap | None = argument(
        default=None,
        kw_only=True,
        doc=(
            "A gap of k residues costs ``gap.open + k * gap.extend``, with a second piece the lower of two such "
            "costs; Gap(11, 1), or Gap(10, 1) for nucleotides, by default."
        ),
    )
    end_gap: Gap | None = argument(
        default=None,
        kw_only=True,
        doc=(
            "Cost of gaps at the ends of a sequence (global mode, and ends that are not free in semiglobal mode); as "
            "`gap` by default."
        ),
    )
    free_ends: Iterable[EndName] | Literal["all"] = argument(
        default=FREE_ENDS,
        kw_only=True,
        doc=(
            'Any of "query-start", "query-end", "target-start", "target-end": ends at which residues of that sequence '
            'may overhang at no cost in semiglobal mode; or "all" (default).'
        ),
    )


class AlphabetArgument(Options):
    """Alphabet of the sequences."""

    alphabet: AlphabetLike | None = argument(
        default=None,
        kw_only=True,
        doc=(
            "An Alphabet or its name, for sequences that are not a SequenceBatch; inferred from their residues by "
            "default, and a protein against eleven or more nucleotides is then rejected."
        ),
    )


class ProgressArgument(Options):
    """Progress callback."""

    progress: Callable[[int], object] | None = argument(
        default=None,
        kw_only=True,
        doc=(
            "Called with the number of pairs begun so far. An exception that it raises ends the run and is passed on "
            "to the caller."
        ),
    )


class PairArguments(ModeOption, ScoringArguments, TrackArguments, StrandOption, AlphabetArgument):
    """Arguments of the alignment of two sequences."""

    report: ReportName = again(SelectionOptions, "report")


class SequencesArgument(Options):
    """A set of sequences."""

    sequences: Sequences = argument(kw_only=False, doc="Sequences, as `queries` of `align_all`.")


class AllArguments(
    ModeOption,
    ScoringArguments,
    TrackArguments,
    IdentityOptions,
    SelectionOptions,
    TopFirstOption,
    CompositionOption,
    HspsOption,
    CoOptimalOptions,
    SumOptions,
    MaskOptions,
    SelfOption,
    ReciprocalOption,
    CullingOption,
    StrandOption,
    TranslationOptions,
    ComputeArguments,
    AlphabetArgument,
    ProgressArgument,
):
    """Arguments of `align_all`."""

    identity: str | int = but(IdentityOptions, "identity", default="columns")  # type: ignore[assignment]  # or a number
    queries: Sequences | PositionMatrix = argument(
        kw_only=False,
        doc=(
            "A SequenceBatch, or any input of `SequenceBatch.from_strings`: strings, bytes, Seq, SeqRecord, (name, "
            "sequence) in any iterable, or a mapping of names to sequences; a file's Path; or, on one side, a "
            "PositionMatrix or a list of them."
        ),
    )
    targets: Sequences | PositionMatrix | None = argument(
        default=None, kw_only=False, doc="As `queries`. Without targets: all pairs i < j of `queries`."
    )
    pairs: ArrayLike | None = argument(
        default=None, kw_only=True, doc="Only these pairs (query index, target index), from 0: integers, shape (n, 2)."
    )


class ManyArguments(PairArguments, CoOptimalOptions, ComputeArguments, ProgressArgument):
    """Arguments of `align_many`."""

    pairs: Iterable[tuple[Any, Any]] = argument(
        kw_only=False,
        doc=(
            "Pairs (query, target) of strings, bytes, Seq, SeqRecord, `Sequence` or (name, sequence). Sequences "
            "without a name become query_1, target_1, query_2 ... by their pair; a named sequence that occurs in "
            "several pairs is stored once in the table's batches."
        ),
    )
    track: Any = again(
        TrackArguments,
        "track",
        doc="A second track, whose scores are added: for each pair a tuple of the query's string and the target's, "
        "such as 3Di structure letters. Needs `track_matrix`.",
    )


@called_with(AllArguments)
def align_all(call: AllArguments) -> Iterator[AlignmentTable]:
    """Align every pair of a set, or every query with every target; yield tables as they are ready, in input order.

    Yields
    ------
    AlignmentTable

    Raises
    ------
    InputError
        Sequences or pairs cannot be used, or queries and targets differ in alphabet.
    ScoringError
        A matrix or gap cost cannot be used or does not fit the sequences.
    UsageError
        An option has another type or is out of range.
    ResourceError, DeviceError
        Memory does not suffice, or a device cannot compute.

    Examples
    --------
    >>> for table in tropalign.align_all({"a": "MKVLAW", "b": "MKILAW", "c": "KVLAW"}):
    ...     print(table.score.tolist())
    [32, 28, 27]
    """
    if (matrices := positions_of(call.queries)) is not None or positions_of(call.targets) is not None:
        return _align_positions(call, matrices)
    if call.translate is not None and (call.targets is None or call.strand != "plus" or call.alphabet is not None):
        raise UsageError(
            "translate requires queries and targets, and determines alphabet and strands: give both, and omit "
            "alphabet and strand"
        )
    given: Any = call.queries
    if call.targets is None:
        batch, others = batch_of(given, call.alphabet), None
    else:
        targets: Any = call.targets
        with without_kind_warnings():
            batch, others = batch_of(given, call.alphabet), batch_of(targets, call.alphabet)
        if call.translate is None:
            batch, others = in_common_alphabet(batch, others, call.alphabet is None)
    if call.translate is not None and (call.track is not None or call.track_matrix is not None):
        raise UsageError("track belongs to the given residues, but translate aligns others: leave one of them out")
    (batch, others), scores = with_tracks((batch, others), call.track, call.track_matrix, call.track_weight)
    sides: tuple[SequenceBatch | Frames, SequenceBatch | Frames | None] = (batch, others)
    if others is not None and call.translate is not None:
        check_sides(call.translate)
        code = 1 if call.genetic_code is None else call.genetic_code
        check_code(code)
        sides = side_of(batch, "query", call.translate, code), side_of(others, "target", call.translate, code)
    elif others is not None:
        check_same_alphabet(batch, others)
    matrix, gap = default_scoring(aligned(sides[0]).alphabet, call.matrix, call.gap)
    options = PairOptions(**{**call.shared_with(PairOptions), "matrix": matrix, "gap": gap, "track_matrix": scores})
    return _tables(call, sides, options)


def _align_positions(call: AllArguments, queries: PositionBatch | None) -> Iterator[AlignmentTable]:
    """Align position matrices with sequences; `queries` is None if the targets are the matrices."""
    if call.matrix is not None:
        raise UsageError("position matrices have scores of their own: omit matrix")
    if call.track is not None or call.track_matrix is not None or call.track_weight != 1:
        raise UsageError("position matrices have no second track: omit track, track_matrix and track_weight")
    if call.translate is not None:
        raise UsageError("translate does not support position matrices: translate the sequences before")
    targets = positions_of(call.targets)
    if (queries is None) == (targets is None) or call.targets is None:
        raise UsageError("position matrices are aligned with sequences: give sequences on one side")
    sides: tuple[SequenceBatch, SequenceBatch]
    if queries is not None:
        sides = queries, sequences_for(queries, call.targets, call.alphabet)
    else:
        assert targets is not None
        sides = sequences_for(targets, call.queries, call.alphabet), targets
    matrix, gap = default_scoring(sides[0].alphabet, stand_in_matrix(sides[0].alphabet), call.gap)
    return _tables(call, sides, PairOptions(**{**call.shared_with(PairOptions), "matrix": matrix, "gap": gap}))


def _tables(
    call: AllArguments, sides: tuple[SequenceBatch | Frames, SequenceBatch | Frames | None], options: PairOptions
) -> Iterator[AlignmentTable]:
    """Align both sides, and yield the tables."""
    n_threads, memory_bytes = checked_threads(call.n_threads), checked_memory(call.memory_bytes)
    first = first_options(options) if options.reciprocal else options
    task = PairsTask(*sides, first, call.pairs, memory_bytes, n_threads=n_threads)  # type: ignore[arg-type]
    names, progress = device_names(call.device), checked_progress(call.progress)
    able = options.able_devices(names, task.has_positions)
    devices = open_devices(able, n_threads, sum(tile.cost_cells for tile in task.tiles()))
    if options.reciprocal:
        tables = (result.value for result in Scheduler(devices, progress).run([task]))
        pairs, progress = reciprocal_pairs(tables, *task.n_given, options.is_local), None
        task = PairsTask(*sides, options, pairs, memory_bytes, n_threads=n_threads)
    return (result.value for result in Scheduler(devices, progress).run([task]))


# The signature is written out because an object of arguments would take a quarter of the time of a short alignment.
# A test compares both signatures.
def align(
    query: Any,
    target: Any,
    *,
    mode: ModeName = "local",
    matrix: MatrixLike | None = None,
    gap: Gap | None = None,
    end_gap: Gap | None = None,
    report: ReportName = "alignment",
    free_ends: Iterable[EndName] | Literal["all"] = FREE_ENDS,
    strand: StrandName = "plus",
    track: Any = None,
    track_matrix: MatrixLike | None = None,
    track_weight: float = 1.0,
    alphabet: AlphabetLike | None = None,
) -> Alignment:
    """Align two sequences; short ones take a few microseconds, so calls in a loop are fine.

    Use `align_many` for a list of pairs and `align_all` for sets, which is far faster.

    Parameters
    ----------
    query, target
        Strings, bytes, Seq, SeqRecord or `Sequence`; the last two provide names. One of them may be a
        `PositionMatrix`.
    mode, matrix, gap, end_gap, report, free_ends, strand
        See `align_all`.
    track, track_matrix, track_weight
        See `align_all`; `track` is a tuple of the query's string and the target's.
    alphabet
        An alphabet or its name; by default that of a SubstitutionMatrix, else inferred from the letters. A protein
        and eleven nucleotides or more are then rejected.

    Returns
    -------
    Alignment
        ``print`` shows it.

    Raises
    ------
    InputError, ScoringError, UsageError
        See `align_all`.

    Examples
    --------
    >>> tropalign.align("MKVLAW", "MKILAW").cigar
    '2=1X3='
    """
    if isinstance(query, PositionMatrix) or isinstance(target, PositionMatrix):
        how: dict[str, Any] = {"matrix": matrix, "gap": gap, "end_gap": end_gap, "free_ends": free_ends}
        how |= {"mode": mode, "report": report, "strand": strand, "alphabet": alphabet, "n_threads": 1}
        how |= {"track": track, "track_matrix": track_matrix, "track_weight": track_weight}
        return next(align_all(_alone(query, "query"), _alone(target, "target"), **how)).row(0)
    (query_name, query_text), (target_name, target_text) = letters_of(query, "query"), letters_of(target, "target")
    names = [query_name or "query", target_name or "target"]
    if names[0] == names[1]:
        names = ["query", "target"]
    texts = (query_text, target_text)
    if alphabet is None:
        alphabet = single.alphabet_for(matrix, texts)
    if end_gap is None and track is track_matrix is None and track_weight == 1:
        row = single.aligned(texts, (names[0], names[1]), mode, matrix, gap, report, free_ends, strand, alphabet)
        if row is not None:
            return row
    both = SequenceBatch.from_strings(texts, names, alphabet)
    scoring: dict[str, Any] = {"matrix": matrix, "gap": gap, "end_gap": end_gap, "free_ends": free_ends}
    scoring |= {
        "track": None if track is None else track_of_pair(track),
        "track_matrix": track_matrix,
        "track_weight": track_weight,
    }
    pairs = np.array([[0, 1]], np.int64)
    return next(align_all(both, mode=mode, report=report, pairs=pairs, strand=strand, n_threads=1, **scoring)).row(0)


def _alone(given: Any, word: str) -> Any:
    """Return one side of `align` as a set."""
    if isinstance(given, PositionMatrix):
        return given
    name, letters = letters_of(given, word)
    return {name or word: letters}


@called_with(ManyArguments)
def align_many(call: ManyArguments) -> AlignmentTable:
    """Align each pair of a list of any length, with the results of `align`.

    Returns
    -------
    AlignmentTable
        One row per pair, in input order.

    Raises
    ------
    InputError
        There is no pair, or an item is not a pair; two sequences on one side share a name; or `align_all` rejects
        the input.
    ScoringError, UsageError, ResourceError, DeviceError
        See `align_all`.

    Examples
    --------
    >>> table = tropalign.align_many([("MKVLAW", "MKILAW"), ("KVLAW", "KVW")], mode="global")
    >>> table.score.tolist(), table.cigars()
    ([32, 7], ['2=1X3=', '2=2I1='])
    """
    given, progress, alphabet = listed_pairs(call.pairs), checked_progress(call.progress), call.alphabet
    if any(isinstance(one, PositionMatrix) for pair in given for one in pair):
        return _align_many_positions(call, given)
    (queries, query_index), (targets, target_index) = (
        texts_and_places([pair[side] for pair in given], word) for side, word in enumerate(("query", "target"))
    )
    if alphabet is None:
        letters = "".join(queries.values()), "".join(targets.values())
        alphabet = single.alphabet_for(call.matrix, letters, ("queries were", "targets"))
    batch, others = (SequenceBatch.from_strings(texts, alphabet=alphabet) for texts in (queries, targets))
    n_threads, memory_bytes = checked_threads(call.n_threads), checked_memory(call.memory_bytes)
    names = device_names(call.device)
    free_ends: Any = call.free_ends
    free_ends = free_ends if isinstance(free_ends, str) or not isinstance(free_ends, Iterable) else tuple(free_ends)
    cells = int((batch.lengths[query_index] * others.lengths[target_index]).sum())
    track = None if call.track is None else tracks_of(call.track, query_index, target_index, batch, others)
    is_plain = call.end_gap is None and call.co_optimal is None and call.within is None and memory_bytes is None
    is_plain &= track is call.track_matrix is None and call.track_weight == 1
    if cells <= FEW_CELLS and is_plain and names in (["auto"], ["cpu"]):
        sides = (list(queries.values()), query_index), (list(targets.values()), target_index)
        texts = zip(*([letters[k] for k in index.tolist()] for letters, index in sides), strict=True)
        scoring = call.mode, call.matrix, call.gap, call.report, free_ends, call.strand
        columns = single.columns(texts, *scoring, batch.alphabet)
        if columns is not None:
            if progress is not None:
                progress(len(given))
            significance = None
            if MODES[call.mode].is_local:
                of_set = default_scoring(batch.alphabet, call.matrix, call.gap)
                significance = Significance(of_set, int(others.offsets[-1]), len(others))
            places = (query_index, target_index)
            return AlignmentTable(batch, others, call.report, *places, significance=significance, **columns)
    how: dict[str, Any] = {
        **call.shared_with(PairArguments),
        **call.shared_with(CoOptimalOptions),
        "alphabet": None,
        "free_ends": free_ends,
        "track": track,
    }
    index = np.stack([query_index, target_index], 1)
    how |= {"n_threads": n_threads, "memory_bytes": memory_bytes, "device": names, "progress": progress}
    return concatenate(list(align_all(batch, others, pairs=index, **how)))


def _align_many_positions(call: ManyArguments, given: list[tuple[Any, Any]]) -> AlignmentTable:
    """Align pairs of a position matrix and a sequence, with the matrices on the same side in all of them."""
    sides: list[Any] = []
    index: list[Any] = []
    for side, word in enumerate(("query", "target")):
        items = [pair[side] for pair in given]
        n_matrices = sum(isinstance(one, PositionMatrix) for one in items)
        if n_matrices not in (0, len(items)):
            raise InputError(
                f"some pairs have a position matrix as {word} and others a sequence: give matrices on the same side of "
                "all pairs"
            )
        if n_matrices:
            numbers = {id(one): k for k, one in enumerate({id(one): one for one in items}.values())}
            sides.append(list({id(one): one for one in items}.values()))
            index.append([numbers[id(one)] for one in items])
        else:
            texts, places = texts_and_places(items, word)
            sides.append(texts)
            index.append(places)
    pairs = np.stack([np.asarray(one, np.int64) for one in index], 1)
    how: dict[str, Any] = {**call.shared_with(AllArguments), "pairs": pairs}
    return concatenate(list(align_all(*sides, **how)))


def listed_pairs(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Check that all items are pairs, and return them."""
    if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
        raise InputError("the pairs must be a list of (query, target)")
    listed = list(pairs)
    if not listed:
        raise InputError("there is no pair: give one or more")
    for number, pair in enumerate(listed, 1):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError("this is not a pair: give a query and a target", record=f"number {number}")
    return listed


def track_of_pair(track: Any) -> list[str]:
    """Return the query's string and the target's."""
    if not isinstance(track, tuple | list) or len(track) != 2:
        raise UsageError("track must be a tuple of two strings, the query's and the target's")
    return [letters_of(one, name)[1] for one, name in zip(track, ("query", "target"), strict=True)]


def tracks_of(
    track: Iterable[tuple[Any, Any]],
    query_index: NDArray[np.int64],
    target_index: NDArray[np.int64],
    queries: SequenceBatch,
    targets: SequenceBatch,
) -> tuple[list[str], list[str]]:
    """Return the strings of distinct queries and of distinct targets from those of the pairs."""
    listed = listed_pairs(track)
    if len(listed) != len(query_index):
        raise InputError(f"track has {len(listed)} pairs of strings for {len(query_index)} pairs: give one for each")
    sides = []
    for side, (index, batch) in enumerate(((query_index, queries), (target_index, targets))):
        strings: dict[int, str] = {}
        for k, pair in zip(index.tolist(), listed, strict=True):
            letters = letters_of(pair[side], batch.names[k])[1]
            if strings.setdefault(k, letters) != letters:
                raise InputError("this sequence has two different strings in track: give one", record=batch.names[k])
        sides.append([strings[k] for k in range(len(batch))])
    return sides[0], sides[1]


def texts_and_places(sequences: list[Any], word: str) -> tuple[dict[str, str], NDArray[np.int64]]:
    """Return the letters of distinct sequences by name, and the index of each given sequence among them."""
    texts: dict[str, str] = {}
    places: dict[str, int] = {}
    index = []
    for number, (own, letters) in enumerate(named_texts(sequences), 1):
        name = own or f"{word}_{number}"
        if texts.setdefault(name, letters) != letters:
            raise InputError("two sequences have the same name: give each its own", record=name)
        index.append(places.setdefault(name, len(places)))
    return texts, np.array(index, np.int64)
