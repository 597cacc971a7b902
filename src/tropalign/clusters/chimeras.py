"""Chimera detection, de novo and by reference, as defined by UCHIME (Edgar and others 2011), with exact alignments.

De novo, the candidate parents of a sequence are the sequences before it that are sufficiently more abundant and
are not chimeras themselves. Sequences too close in abundance to be parents of each other form a block, which is
aligned at once.

    sizes   100 90 80 | 50 48 30 | 25 20 20 | 12 ...        skew 2: a block ends where half its first size is reached
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.clusters.chimera_parents import (
    NO,
    Explained,
    ParentAligner,
    beside_query,
    counted_columns,
    explained,
    parents,
)
from tropalign.clusters.options import ChimeraOptions, ChimeraRules
from tropalign.devices.registry import ComputeArguments
from tropalign.errors import InputError, UsageError, named
from tropalign.execution.task import checked_progress
from tropalign.options.called import called_with
from tropalign.options.option import again, argument, but
from tropalign.pairwise.api import AlphabetArgument, ProgressArgument, SequencesArgument
from tropalign.resources.limits import checked_memory, checked_threads, default_budget, require
from tropalign.results.chimeras import Chimeras
from tropalign.sequences import NUCLEOTIDE, SequenceBatch
from tropalign.sequences.annotations import counts_of, has_count
from tropalign.sequences.batch import Sequences
from tropalign.sequences.reader import batch_of

Index = NDArray[np.int64]
Progress = Callable[[int], object]
#: Query residues aligned at once, counted once per reference, and overhead in bytes per pair.
MOST_BYTES, PAIR_BYTES = 32 << 20, 160
#: Share of the memory for these residues. Alignments take as much; the rest is for what is derived from both.
LETTERS_SHARE = 0.3


class ChimeraArguments(ChimeraOptions, AlphabetArgument, ProgressArgument, SequencesArgument):
    """Arguments of `find_chimeras`."""

    references: Sequences | None = argument(
        default=None,
        kw_only=False,
        doc="Candidate parents, in the forms of `sequences` (default: the more abundant sequences, by ``;size=N``).",
    )
    n_threads: int = again(ComputeArguments, "n_threads")
    memory_bytes: int | None = again(ComputeArguments, "memory_bytes")
    progress: Progress | None = but(
        ProgressArgument,
        "progress",
        default=None,
        doc="Called with the number of classified sequences. An exception that it raises stops the work and is "
        "passed on.",
    )


@called_with(ChimeraArguments)
def find_chimeras(call: ChimeraArguments) -> Chimeras:
    """Find sequences that PCR has joined from two others, de novo or by reference, as defined by UCHIME.

    Returns
    -------
    Chimeras
        A row per sequence. Without references, rows are sorted by abundance, ties by the bytes of the names.

    Raises
    ------
    InputError
        Sequences cannot be used, or are proteins; without references, sequences without ``;size=N``.
    UsageError
        An option does not exist or is out of range.
    ResourceError
        Memory does not suffice.

    Examples
    --------
    >>> a = "ACGTTGCAAGCTTAGGCATC" * 6
    >>> b = a.replace("TTAGG", "TCAGC")
    >>> found = tropalign.find_chimeras({"a;size=9": a, "b;size=8": b, "c;size=2": a[:60] + b[60:]})
    >>> found.verdicts, found.row(2).parent_a, found.row(2).parent_b
    (('N', 'N', 'Y'), 'a;size=9', 'b;size=8')
    """
    batch = batch_of(call.sequences, call.alphabet)
    references = None if call.references is None else batch_of(call.references, call.alphabet)
    rules = ChimeraRules(**call.shared_with(ChimeraRules))
    threads, memory = checked_threads(call.n_threads), checked_memory(call.memory_bytes)
    memory_bytes = default_budget() if memory is None else memory
    return judged(batch, references, rules, threads, memory_bytes, checked_progress(call.progress))


def judged(
    batch: SequenceBatch,
    references: SequenceBatch | None,
    rules: ChimeraRules,
    n_threads: int,
    memory_bytes: int,
    progress: Progress | None = None,
) -> Chimeras:
    """Judge each sequence by checked options: see `find_chimeras`."""
    _check(batch, references, rules)
    if references is None:
        order, sizes = by_abundance(batch)
        ordered = batch[order]
        judge = _Judge(ordered, ordered, rules, n_threads, memory_bytes)
        _judge_de_novo(judge, sizes, rules.skew, progress)
        return judge.found(batch, batch, order)
    judge = _Judge(batch, references, rules, n_threads, memory_bytes)
    everything, rows = np.arange(len(references)), np.arange(len(batch))
    for begin, end in judge.parts(np.full(len(batch), len(references))):
        judge.look([(k, everything) for k in range(begin, end)])
        if progress is not None:
            progress(end)
    return judge.found(batch, references, rows)


def _check(batch: SequenceBatch, references: SequenceBatch | None, rules: ChimeraRules) -> None:
    for one, words in ((batch, "sequences"), (references, "references")):
        if one is not None and one.alphabet != NUCLEOTIDE:
            raise InputError(
                f"the {words} were read as {one.alphabet.name}, but chimeras are only detected among nucleotides: "
                f"give nucleotides, or set {named('alphabet')} {NUCLEOTIDE.name}"
            )
    if references is not None and rules.rule != "uchime":
        raise UsageError(f"{named('rule')} {rules.rule} takes no references: leave them out, or choose uchime")
    if references is not None and rules.abskew is not None:
        raise UsageError(f"{named('abskew')} compares abundances, and references have none: leave it out")


def by_abundance(batch: SequenceBatch) -> tuple[Index, Index]:
    """Return indices of the sequences by decreasing abundance (ties by the bytes of names), and their sizes.

    Raises InputError if a name has no size.
    """
    lacks = [name for name in batch.names if not has_count(name)]
    if len(lacks) == len(batch):
        raise InputError(
            "no name has an abundance such as ;size=12, which distinguishes parents from chimeras: run tropalign "
            "derep first, or give references"
        )
    if lacks:
        raise InputError(
            "the name has no abundance such as ;size=12, but other names have: append ;size=1 to it, or run tropalign "
            "derep first",
            record=lacks[0],
        )
    sizes = counts_of(batch.names)
    order = sorted(range(len(batch)), key=lambda k: (-sizes[k], batch.names[k].encode()))
    return np.array(order, np.int64), sizes[order]


def _judge_de_novo(judge: _Judge, sizes: Index, skew: float, progress: Progress | None) -> None:
    """Judge sequences of decreasing abundance, block by block."""
    queries = judge.aligner.queries
    codes, bounds, known = queries.codes.tobytes(), queries.offsets.tolist(), dict[bytes, int]()
    # A number per sequence, the same for equal ones.
    same = np.array([known.setdefault(codes[bounds[k] : bounds[k + 1]], k) for k in range(len(queries))])
    is_parent = np.zeros(len(sizes), bool)
    for begin, end in blocks(sizes, skew):
        before = np.flatnonzero(is_parent[:begin])
        counts = np.array([int((sizes[before] >= float(skew) * size).sum()) for size in sizes[begin:end]])
        for first, last in judge.parts(counts):
            asked = []
            for k in range(begin + first, begin + last):
                able = before[: counts[k - begin]]
                asked.append((k, able[same[able] != same[k]]))
            judge.look(asked)
            if progress is not None:
                progress(begin + last)
        is_parent[begin:end] = [judge.verdicts[k] == NO for k in range(begin, end)]


def blocks(sizes: Index, skew: float) -> Iterator[tuple[int, int]]:
    """Yield maximal runs [begin, end) of decreasing sizes without `skew`-fold differences; single if `skew` is 1.

    >>> list(blocks(np.array([100, 90, 50, 49, 20]), 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    begin = 0
    while begin < len(sizes):
        later = np.flatnonzero(float(skew) * sizes[begin + 1 :] <= sizes[begin])
        end = begin + 1 + (int(later[0]) if len(later) else len(sizes) - begin - 1)
        end = begin + 1 if skew == 1 else end
        yield begin, end
        begin = end


@dataclass
class _Parents:
    """A query, its two parents among the references, and the result once it is aligned with both."""

    query: int
    first: int
    second: int
    explained: Explained | None = None


class _Judge:
    """Finds parents of queries among references and judges the queries; `verdicts` are by query index."""

    def __init__(
        self,
        queries: SequenceBatch,
        references: SequenceBatch,
        rules: ChimeraRules,
        n_threads: int,
        memory_bytes: int,
    ) -> None:
        self.aligner = ParentAligner(queries, references, n_threads, memory_bytes // 2)
        self.verdicts = [NO] * len(queries)
        self._rules, self._most_bytes = rules, int(LETTERS_SHARE * memory_bytes)
        self._explained: dict[int, _Parents] = {}

    def parts(self, counts: Index) -> Iterator[tuple[int, int]]:
        """Yield runs [begin, end) of queries with these numbers of references, as large as memory allows."""
        longest = int(self.aligner.queries.lengths.max())
        taken = counts * (longest + PAIR_BYTES)
        most = int(taken.max(initial=0))
        require(
            most, self._most_bytes, "comparing a sequence with all others", f"allow more with {named('memory_bytes')}"
        )
        begin, so_far, room = 0, 0, min(self._most_bytes, max(MOST_BYTES, most))
        for end, more in enumerate(taken.tolist()):
            if so_far + more > room and end > begin:
                yield begin, end
                begin, so_far = end, 0
            so_far += more
        yield begin, len(counts)

    def look(self, asked: list[tuple[int, Index]]) -> None:
        """Judge queries, each by its own references, whose order breaks ties."""
        counts = np.array([len(among) for _, among in asked])
        query = np.repeat(np.array([k for k, _ in asked]), counts)
        reference = np.concatenate([among for _, among in asked]) if asked else query
        matches = self.aligner.matches(query, reference)
        found, begin = [], 0
        for k, among in asked:
            length = int(self.aligner.queries.lengths[k]) + 2  # one extra cell at each end
            end = begin + length * len(among)
            both = parents(matches[begin:end].reshape(len(among), length)[:, 1:-1])
            if both is not None:
                found.append(_Parents(k, int(among[both[0]]), int(among[both[1]])))
            begin = end
        # Score queries by their parents after aligning them again to each parent.
        query = np.repeat(np.array([one.query for one in found], np.int64), 2)
        reference = np.array([[one.first, one.second] for one in found], np.int64).reshape(-1)
        beside = [
            beside_query(table, k) for table in self.aligner.alignments(query, reference) for k in range(len(table))
        ]
        for one, (codes, first, before), (_, second, also) in zip(found, beside[::2], beside[1::2], strict=True):
            counts = counted_columns(codes, (first, second), before | also, self.aligner.is_ambiguous)
            one.explained = explained(codes, first, second, counts, self._rules)
            if one.explained is not None:
                self._explained[one.query] = one
                self.verdicts[one.query] = one.explained.verdict(self._rules)

    def found(self, batch: SequenceBatch, references: SequenceBatch, order: Index) -> Chimeras:
        """Return the results by column: row k is sequence ``order[k]`` of the batch (de novo: also of references)."""
        n = len(self.verdicts)
        parent_of = np.full((2, n), -1, np.int64)
        score, shares, votes = np.zeros(n), np.full((4, n), np.nan), np.zeros((6, n), np.int64)
        for k, one in self._explained.items():
            found = one.explained
            assert found is not None
            both = (one.second, one.first) if found.is_swapped else (one.first, one.second)
            parent_of[:, k] = order[list(both)] if batch is references else both
            score[k], shares[:, k] = found.score, (found.model, found.a, found.b, found.ab)
            votes[:, k] = (*found.left, *found.right)
        return Chimeras(batch, references, order, tuple(self.verdicts), score, *parent_of, *shares, *votes)
