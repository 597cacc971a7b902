"""Addition of sequences to an alignment, and merging of two alignments; existing alignments are not changed.

Each new sequence x is compared with the members of the alignment that share the most with it. Their posteriors, by
column, become those of x and the alignment's columns; the alignment with the highest sum is taken (groups.py):

    alignment   MKV-LAW      new sequence  MKVGGLW      x by itself  MKVGGL-W      result  MKV--LAW
                MRVILAW                                              |||  | |              MRV-ILAW
                                                        columns      012  456              MKVGGL-W

Columns of the alignment keep their order and contents. New columns are added only for residues of new sequences
that fit no column. Insertions of several new sequences at one position are not aligned with each other: each is
flush left, except at the start of the alignment, where each is flush right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.errors import InputError, ResourceError, named, shown
from tropalign.execution.progress import StageProgress
from tropalign.execution.task import Device, Progress
from tropalign.msa.add_long import LongAddition, are_long
from tropalign.msa.family import MOST_RESIDUES
from tropalign.msa.groups import (
    MOST_ROWS,
    Item,
    ItemPair,
    Placed,
    Pool,
    best_columns,
    placed_by,
    representatives,
    starting_columns,
)
from tropalign.msa.large_tree import chance_shares, fast_tree, words_of
from tropalign.msa.models import model_of
from tropalign.msa.options import MsaOptions
from tropalign.msa.task import rows_at_once, scratch_of
from tropalign.resources.limits import require
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.batch import SequenceBatch

#: Members compared with a new sequence, and members of each alignment compared when two are merged.
MEMBERS, REPRESENTATIVES = 16, 16
#: Rows sampled from a larger alignment that is merged; its representatives are among them.
DRAWN = 4096
#: Posteriors of columns below this value are dropped.
POOLED_CUTOFF = 0.002
#: New sequences whose posteriors are computed at once, and a limit on their pairs with members.
AT_ONCE, PAIRS_AT_ONCE = 500, 8_000_000


def add_sequences(
    alignment: MultipleAlignment,
    batch: SequenceBatch,
    options: MsaOptions,
    devices: Sequence[Device],
    n_threads: int,
    progress: StageProgress | None = None,
    *,
    memory_bytes: int,
) -> tuple[MultipleAlignment, NDArray[np.bool_]]:
    """Add new sequences below the rows of an alignment; the result has neither confidence nor tree.

    Of `options`, rules and cutoff are used. Returns also a mask of the columns of the result that the alignment had.
    """
    whole = joined(alignment.sequences, batch)
    old = compared(alignment)
    placed: list[Placed | None] = [None] * len(batch)
    if not options.no_anchors and are_long(old.sequences, batch, MEMBERS):
        model, cutoffs = model_of(whole.alphabet, options.rules), (options.cutoff, POOLED_CUTOFF)
        both = whole if old is alignment else joined(old.sequences, batch)
        placed = LongAddition(old, both, model, cutoffs, MEMBERS, devices, n_threads, memory_bytes, progress).placed()
    if left := [k for k, one in enumerate(placed) if one is None]:
        rest = batch if len(left) == len(batch) else batch[np.array(left)]
        watch = progress if rest is batch or progress is None else partial(_later, progress)
        adding = _Adding(old, rest, options, devices, n_threads, watch, memory_bytes)
        for k, one in zip(left, adding.placed(), strict=True):
            placed[k] = one
    column = np.concatenate([one.column for one in placed if one is not None])
    is_inserted = np.concatenate([one.is_inserted for one in placed if one is not None])
    del placed
    new_of_old, new_columns = opened(column, is_inserted, batch.offsets, alignment.n_columns)
    del column, is_inserted
    columns = np.concatenate([new_of_old[alignment.columns].astype(np.int32), new_columns])
    n_columns = max(int(new_of_old[-1]), int(new_columns.max(initial=-1))) + 1
    is_old = np.zeros(n_columns, bool)
    is_old[new_of_old] = True
    return MultipleAlignment(whole, columns, n_columns), is_old


def _later(progress: StageProgress, stage: str, share: float) -> None:
    """Report the second half of the work."""
    progress(stage, 0.5 + 0.5 * share)


def merge_alignments(
    first: MultipleAlignment,
    second: MultipleAlignment,
    options: MsaOptions,
    devices: Sequence[Device],
    n_threads: int,
    progress: StageProgress | None = None,
    *,
    memory_bytes: int,
) -> MultipleAlignment:
    """Merge two alignments, the first one's rows on top; the rows of each keep their columns among themselves.

    The result has neither confidence nor tree.
    """
    whole = joined(first.sequences, second.sequences)
    old, new = compared(first), compared(second)
    pool = _pool(old.sequences, new.sequences, old.columns, new.columns, options, devices, n_threads, memory_bytes)
    items = []
    for alignment, begin in ((old, 0), (new, len(old))):
        chosen = tuple(begin + k for k in representatives_of(alignment.sequences, REPRESENTATIVES, n_threads))
        items.append(Item(np.arange(begin, begin + len(alignment)), alignment.n_columns, chosen))
    found = pool.posteriors([ItemPair(items[0], items[1])], _watch(progress, "posteriors"))
    x, y = best_columns(first.n_columns, second.n_columns, found[1:4], n_threads)
    moved = np.concatenate([x[first.columns], y[second.columns]]).astype(np.int32)
    return MultipleAlignment(whole, moved, int(max(x[-1], y[-1])) + 1)


def joined(old: SequenceBatch, new: SequenceBatch) -> SequenceBatch:
    """Concatenate two batches; InputError if they share a name or differ in alphabet."""
    if old.alphabet != new.alphabet:
        raise InputError(
            f"the alignment holds {old.alphabet.name} sequences, but the new sequences were read as "
            f"{new.alphabet.name}: set {named('alphabet')} if both are of one kind"
        )
    if both := set(old.names) & set(new.names):
        name = next(name for name in new.names if name in both)
        raise InputError("the alignment already has a row with this name: rename one of them", record=shown(name))
    return SequenceBatch(
        np.concatenate([old.codes, new.codes]),
        np.concatenate([old.offsets, new.offsets[1:] + old.offsets[-1]]),
        old.names + new.names,
        old.alphabet,
        np.concatenate([old.letters, new.letters]),
        _described(old) + _described(new) if old.descriptions or new.descriptions else (),
    )


def _described(batch: SequenceBatch) -> tuple[str, ...]:
    return batch.descriptions or ("",) * len(batch)


def compared(alignment: MultipleAlignment) -> MultipleAlignment:
    """Return the rows that hold residues; errors if there is no such row, or more columns than 16 bits can index."""
    if alignment.n_columns > MOST_RESIDUES:
        raise ResourceError(
            f"the alignment has {alignment.n_columns:,} columns, but at most {MOST_RESIDUES:,} are supported: "
            f"remove columns that consist of gaps"
        )
    there = np.flatnonzero(alignment.sequences.lengths)
    if not len(there):
        raise InputError("the alignment consists of gaps: give rows with residues")
    return alignment if len(there) == len(alignment) else alignment[there]


def _pool(
    old: SequenceBatch,
    new: SequenceBatch,
    old_columns: NDArray[np.int32],
    new_columns: NDArray[np.int32] | NDArray[np.uint16],
    options: MsaOptions,
    devices: Sequence[Device],
    n_threads: int,
    memory_bytes: int,
) -> Pool:
    needed = scratch_of(np.concatenate([old.lengths, new.lengths]))
    require(needed, memory_bytes, "the alignment of the longest sequences", f"allow more with {named('memory_bytes')}")
    whole = joined(old, new)
    columns = np.concatenate([old_columns, new_columns]).astype(np.uint16)
    model = model_of(whole.alphabet, options.rules)
    most_rows = min(MOST_ROWS, rows_at_once(memory_bytes))
    return Pool(whole, columns, model, options.cutoff, POOLED_CUTOFF, devices, n_threads, most_rows)


def _watch(
    progress: StageProgress | None, stage: str, done: float = 0.0, share: float = 1.0
) -> Callable[[int], Progress | None]:
    """Return a function that makes, for n items in total (`share` of the work), a callback for the items started."""

    def of(n_items: int) -> Progress | None:
        if progress is None:
            return None

        def begun(items: int) -> None:
            progress(stage, min(1.0, done + share * items / max(n_items, 1)))

        return begun

    return of


def representatives_of(batch: SequenceBatch, most: int, n_threads: int) -> list[int]:
    """Return sequences that represent an alignment, chosen along a tree by `representatives`."""
    if len(batch) <= most:
        return list(range(len(batch)))
    drawn = distinct(np.linspace(0, len(batch) - 1, DRAWN).astype(np.int64))
    if len(drawn) < len(batch):
        return [int(drawn[k]) for k in representatives_of(batch[drawn], most, n_threads)]
    tree, distances = fast_tree(batch, n_threads)
    items = [Item(np.array([k]), int(size), (k,)) for k, size in enumerate(batch.lengths.tolist())]
    return list(representatives(items, distances, tree, batch.lengths, most))


class _Adding:
    """The addition of new sequences to an alignment."""

    def __init__(
        self,
        alignment: MultipleAlignment,
        batch: SequenceBatch,
        options: MsaOptions,
        devices: Sequence[Device],
        n_threads: int,
        progress: StageProgress | None,
        memory_bytes: int,
    ) -> None:
        self.alignment, self.batch, self.n_threads, self.progress = alignment, batch, n_threads, progress
        by_themselves = starting_columns(batch)
        self.pool = _pool(
            alignment.sequences, batch, alignment.columns, by_themselves, options, devices, n_threads, memory_bytes
        )
        self.members = np.arange(len(alignment))

    def placed(self) -> list[Placed]:
        """Place each new sequence in the alignment."""
        found: list[Placed] = []
        n, n_new = len(self.alignment), len(self.batch)
        for begin, nearest in self._nearest():
            pairs = []
            for k, members in enumerate(nearest):
                new = n + begin + k
                x = Item(np.array([new]), int(self.batch.lengths[begin + k]), (new,))
                pairs.append(ItemPair(x, Item(self.members, self.alignment.n_columns, tuple(members.tolist()))))
            watch = _watch(self.progress, "posteriors", begin / n_new, len(nearest) / n_new)
            pooled = self.pool.posteriors(pairs, watch)
            parts = [(pair.x.n_columns, pooled.part(k, k + 1)[1:4]) for k, pair in enumerate(pairs)]
            with ThreadPoolExecutor(self.n_threads) as threads:
                found.extend(threads.map(lambda part: placed_by(part[0], self.alignment.n_columns, part[1]), parts))
        return found

    def _nearest(self) -> Iterator[tuple[int, list[NDArray[np.int64]]]]:
        """Yield runs of new sequences: the index of the first, and for each the members that share the most with it.

        The share expected by chance is subtracted, so that a long member is not preferred to a near one.
        """
        if len(self.alignment) <= MEMBERS:  # all
            for begin in range(0, len(self.batch), AT_ONCE):
                yield begin, [self.members] * min(AT_ONCE, len(self.batch) - begin)
            return
        words = words_of(self.pool.batch)
        shares, sizes = chance_shares(words, self.n_threads), self.pool.batch.lengths
        old = np.arange(len(self.alignment), dtype=np.int32)
        at_once = max(1, min(AT_ONCE, PAIRS_AT_ONCE // len(old)))
        for begin in range(0, len(self.batch), at_once):
            new = np.arange(begin, min(begin + at_once, len(self.batch)), dtype=np.int32) + np.int32(len(old))
            common = _native.lcs_lengths(words.codes, words.offsets, words.n_codes, new, old, self.n_threads)
            shorter = np.minimum(sizes[new][:, None], sizes[old])
            bins = (4 * np.log2(np.maximum(sizes[new][:, None], sizes[old]) / shorter)).astype(np.int64)
            beyond = common - shares[np.minimum(bins, len(shares) - 1)] * shorter
            order = np.argsort(-beyond, axis=1, kind="stable")[:, :MEMBERS]
            yield begin, list(order)


def opened(
    column: NDArray[np.int32] | NDArray[np.int64],
    is_inserted: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    n_columns: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Open columns for insertions: before each old column, as many as the longest insertion there needs.

    Returns the new columns of the old columns, int64, shape (n_columns,), and of the new residues, int32, shape as
    `column`.
    """
    inserted = np.flatnonzero(is_inserted)
    at, who = column[inserted], np.searchsorted(offsets, inserted, "right")
    begins = np.flatnonzero(np.diff(at, prepend=-1) | np.diff(who, prepend=-1))  # starts of the insertions
    sizes = np.diff(np.append(begins, len(at)))
    widths = np.zeros(n_columns + 1, np.int64)
    np.maximum.at(widths, at[begins], sizes)
    before = np.cumsum(widths)  # columns opened up to each old column
    rank = np.arange(len(at)) - np.repeat(begins, sizes)
    is_overhang = at == 0  # align right
    rank[is_overhang] += widths[0] - np.repeat(sizes, sizes)[is_overhang]
    of_residues = before.astype(np.int32)[column]
    of_residues += column.astype(np.int32, copy=False)
    of_residues[inserted] += (rank - widths[at]).astype(np.int32)
    return np.arange(n_columns) + before[:-1], of_residues
