"""Addition of long sequences to an alignment with similar rows: only what is not certain is aligned.

    row of the alignment   ACGTTGCAATCAGGCTAAGGATTACAGGCTTAAC       runs of residues that are certain (star.py) take
    new sequence           ACGTTGCAATCA----AAGGATTACAGGCTTAAC       the columns of the row; each piece between two runs
                           run----->    piece   <-----run          is placed with its flanks, like a short sequence

Each new sequence is compared with one row, among those that share the most k-mers with it. The posteriors of a piece
are those with the nearest rows' residues in the same columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import ResourceError, counted, listed, named, warn
from tropalign.execution.progress import StageProgress
from tropalign.execution.task import Device
from tropalign.msa.anchored import FLANK, LEAST_CERTAIN, LEAST_RUN, MOST_COPY, THREAD_BYTES, paired_residues, runs_of
from tropalign.msa.family import unique_sequences
from tropalign.msa.groups import Item, ItemPair, Placed, Pool, Pooled, placed_by
from tropalign.msa.models import PairModel
from tropalign.msa.star import (
    DIFFERENCE_LOSS,
    LEAST_MOST,
    MORE_LOSS,
    MOST_DISTANCE,
    MOST_LOSS,
    UNPAIRED,
    Limits,
    hashed_words,
    in_order,
    losses_of,
    pairs_with,
    wildcard_of,
    word_size,
)
from tropalign.ragged import offsets_of
from tropalign.resources.limits import human
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences.batch import SequenceBatch

#: Least mean length of the rows, and least cells of all posteriors, for which certain residues are looked for.
LEAST_LENGTH, LEAST_CELLS = 1000, 1e8
#: Rows whose posteriors with one sequence take as long as those of a single row, about: rows share vectors.
ROWS_TOGETHER = 4
#: K-mers per row, about: of longer rows, k-mers are drawn by their hash, the same in all sequences.
WORDS = 2048
#: New sequences that are placed at once.
AT_ONCE = 256
#: Share of the most k-mers that a row has if it may be compared instead of the nearest one, so that many new sequences
#: are compared with one row.
NEAR = 0.9
#: Greatest product of lengths for posteriors (a few seconds of a core with 16 rows): larger pieces, and larger
#: sequences that are not certain, are placed by their best alignment with one row.
MOST_CELLS = 16_000_000
#: Sequences of more residues that begin in different parts of a row, of this length, are not compared together.
FEW = 1000
#: Residues at an end of a new sequence that stay where the best alignment has them, although they are not certain.
NEAR_END = 20
#: Columns of a gap that fewer than LEAST_RUN residues at an end of a new sequence do not open.
FAR = 100
#: Residues of the row, and per residue of the piece, among which an end of a new sequence is placed.
END, END_RATIO = 2000, 2


def are_long(rows: SequenceBatch, new: SequenceBatch, n_rows: int) -> bool:
    """True if the rows are long, and posteriors of the new sequences with `n_rows` of them take long."""
    mean, n_rows = float(rows.lengths.mean()), max(min(n_rows, len(rows)), ROWS_TOGETHER)
    return mean >= LEAST_LENGTH and float(new.offsets[-1]) * mean * n_rows >= LEAST_CELLS


class _Nearest(NamedTuple):
    """Rows for some new sequences.

    `rows`: int64, shape (n, n_rows), those that share the most k-mers. `compared`: int64, shape (n,), the row that is
    compared. `distances`: float64, shape (n,), estimated share of the residues that differ from it.
    """

    rows: NDArray[np.int64]
    compared: NDArray[np.int64]
    distances: NDArray[np.float64]


@dataclass(eq=False)
class _State:
    """A new sequence that is being placed.

    `row`, `rows`: the row that it is compared with, and those of the posteriors. `paired`: int32, the residue that each
    residue of the row is paired with, or UNPAIRED. `runs`: first residue of the row and end of each run. `more`:
    residues by which a piece grows next. `solved`: placed pieces, by their first residue of the row and their end.
    """

    new: int
    row: int
    rows: NDArray[np.int64]
    paired: NDArray[np.int32]
    runs: list[list[int]]
    more: int = FLANK
    solved: dict[tuple[int, int], Placed] = field(default_factory=dict)


class _Piece(NamedTuple):
    """The residues `first` to `last` of a new sequence, which belong to `begin` to `end` of its row, between two runs.

    `left`, `right`: residues of its flanks, 0 at an end of the sequence. `low`, `high`: first column and end, with
    flanks. `key`: what the result depends on.
    """

    state: _State
    begin: int
    end: int
    first: int
    last: int
    left: int
    right: int
    low: int
    high: int
    key: tuple[bytes, int, int, bytes]


def _extend(runs: NDArray[np.int64], paired: NDArray[np.int32], n: int) -> None:
    """Extend the first and last run to ends of the sequence nearby, if the best alignment has no gap there.

    By the posteriors, the last residue of a fragment may be paired with the last one of a much longer row.
    """
    begin, end = int(runs[0, 0]), int(runs[-1, 1])
    size = int(paired[begin])
    if size <= min(NEAR_END, begin) and (paired[begin - size : begin] == np.arange(size)).all():
        runs[0, 0] -= size
    size = n - 1 - int(paired[end - 1])
    if size <= min(NEAR_END, len(paired) - end) and (paired[end : end + size] == np.arange(n - size, n)).all():
        runs[-1, 1] += size


class LongAddition:
    """The addition of new sequences to an alignment of long rows.

    `whole`: the rows and the new sequences. `cutoffs`: of posteriors of sequences, and of columns. `n_rows`: rows that
    each new sequence is compared with in pieces.
    """

    def __init__(
        self,
        alignment: MultipleAlignment,
        whole: SequenceBatch,
        model: PairModel,
        cutoffs: tuple[float, float],
        n_rows: int,
        devices: Sequence[Device],
        n_threads: int,
        memory_bytes: int,
        progress: StageProgress | None = None,
    ) -> None:
        self.alignment, self.whole, self.model, self.cutoffs = alignment, whole, model, cutoffs
        self.n_old, self.n_rows, self.progress = len(alignment), min(n_rows, len(alignment)), progress
        self.devices, self.n_threads = devices, n_threads
        self.columns = np.split(alignment.columns, alignment.sequences.offsets[1:-1])
        of_thread = THREAD_BYTES * int(whole.lengths.max())
        if memory_bytes < of_thread:
            raise ResourceError(
                f"the comparison of the longest sequences needs about {human(of_thread)} of memory and "
                f"{human(memory_bytes)} are allowed: allow more with {named('memory_bytes')}",
                needed_bytes=of_thread,
                allowed_bytes=memory_bytes,
            )
        self.n_comparing = min(n_threads, memory_bytes // of_thread)
        self._highest = np.uint64(min(1.0, WORDS / float(alignment.sequences.lengths.mean())) * float(2**64 - 2**12))
        sketches = [self._words_of(k)[0] for k in range(self.n_old)]
        words = np.concatenate(sketches)
        order = np.argsort(words, kind="stable")
        self._words = words[order]
        self._owners = np.repeat(np.arange(self.n_old), [len(one) for one in sketches])[order]

    def placed(self) -> list[Placed | None]:
        """Place the new sequences; None for those that must be placed by posteriors with whole rows."""
        new = np.arange(self.n_old, len(self.whole))
        first, copy_of = unique_sequences(self.whole[new])
        found: list[Placed | None] = []
        alone: list[int] = []
        for begin in range(0, len(first), AT_ONCE):
            found += self._placed(new[first[begin : begin + AT_ONCE]], alone)
            if self.progress is not None:
                self.progress("anchors", 0.5 * len(found) / len(first))
        if alone:
            is_alone = np.isin(new[first][copy_of], alone)
            names = listed([self.whole.names[k] for k in new[is_alone]])
            verb, them = ("differs", "it is") if is_alone.sum() == 1 else ("differ", "they are")
            warn(
                f"{is_alone.sum():,} of {counted(len(new), 'new sequences')} {verb} much from the alignment: {names}; "
                f"{them} aligned with one row alone"
            )
        return [found[k] for k in copy_of]

    def _placed(self, new: NDArray[np.int64], alone: list[int]) -> list[Placed | None]:
        """Place some new sequences; append those that are aligned with one row alone to `alone`."""
        nearest = self._nearest(new)
        found: dict[int, Placed] = {}
        states = list(self._compared(new, nearest))
        self._place_pieces(states)
        for state in states:
            found[state.new] = self._joined(state)
        sizes = self.whole.lengths[new] * self.whole.lengths[nearest.compared]
        is_left = ~np.isin(new, list(found)) & (sizes > MOST_CELLS)
        for k, row, place in self._aligned_alone(new[is_left], nearest.compared[is_left]):
            found[k] = self._along(row, place)
            alone.append(k)
        return [found.get(k) for k in new.tolist()]

    def _words_of(self, k: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the drawn k-mers of a sequence, ascending and without repeats, and the first residue of each."""
        codes = self.whole.codes[self.whole.offsets[k] : self.whole.offsets[k + 1]]
        words, places = hashed_words(codes, len(self.whole.alphabet.states))
        is_drawn = words <= self._highest
        words, places = words[is_drawn], places[is_drawn]
        order = np.argsort(words, kind="stable")
        words, places = words[order], places[order]
        is_first = np.diff(words, prepend=~words[:1]) != 0
        return words[is_first], places[is_first]

    def _start(self, k: int, row: int) -> int:
        """Return the residue of the row with which a sequence begins, by the k-mers of both; negative if before it."""
        (words, places), (of_row, row_places) = self._words_of(k), self._words_of(row)
        at = np.minimum(np.searchsorted(of_row, words), max(len(of_row) - 1, 0))
        is_shared = of_row[at] == words if len(of_row) else np.zeros(len(words), bool)
        starts = np.sort(row_places[at[is_shared]] - places[is_shared])
        return int(starts[len(starts) // 2]) if len(starts) else 0

    def _nearest(self, new: NDArray[np.int64]) -> _Nearest:
        """Return the rows that share the most k-mers with some new sequences."""
        shared, n_own = np.zeros((len(new), self.n_old), np.int32), np.ones(len(new))
        for number, k in enumerate(new.tolist()):
            own, _ = self._words_of(k)
            begins = np.searchsorted(self._words, own)
            sizes = np.searchsorted(self._words, own, "right") - begins
            places = np.arange(sizes.sum()) + np.repeat(begins - np.cumsum(sizes) + sizes, sizes)
            shared[number] = np.bincount(self._owners[places], minlength=self.n_old)
            n_own[number] = max(1, len(own))
        is_near = shared >= NEAR * shared.max(1, keepdims=True)
        compared = np.zeros(len(new), np.int64)
        is_left = np.ones(len(new), bool)
        while is_left.any():
            row = int(is_near[is_left].sum(0).argmax())
            compared[is_left & is_near[:, row]] = row
            is_left &= ~is_near[:, row]
        share = shared[np.arange(len(new)), compared] / n_own
        distances = 1 - share ** (1 / word_size(len(self.whole.alphabet.states)))
        return _Nearest(np.argsort(-shared, axis=1, kind="stable")[:, : self.n_rows], compared, distances)

    def _total(self, end: NDArray[np.float64], k: int) -> float:
        """Return the loss of a sequence as an overhang."""
        return float(end[self.whole.codes[self.whole.offsets[k] : self.whole.offsets[k + 1]]].sum())

    def _compared(self, new: NDArray[np.int64], nearest: _Nearest) -> Iterator[_State]:
        """Yield the new sequences of which enough residues are certain."""
        lengths = self.whole.lengths
        ends = [one.end.astype(np.float64) for one in losses_of(self.model)]
        for end in ends:
            end[wildcard_of(self.whole)] = end[: len(self.whole.alphabet.states)].mean()
        for row in distinct(nearest.compared).tolist():
            chosen = np.flatnonzero((nearest.compared == row) & (nearest.distances <= MOST_DISTANCE))
            m, sizes = int(lengths[row]), lengths[new[chosen]]
            shorter = np.minimum(m, sizes)
            limits = Limits(
                DIFFERENCE_LOSS * nearest.distances[chosen] * shorter + MORE_LOSS,
                LEAST_MOST + MOST_LOSS * shorter.astype(np.float64),
                np.zeros(len(chosen)),
                np.array([[abs(self._total(end, row) - self._total(end, k)) for k in new[chosen]] for end in ends]),
                np.array(
                    [0 if n <= FEW else self._start(k, row) // FEW for k, n in zip(new[chosen], sizes, strict=True)]
                ),
            )
            found = pairs_with(self.whole, row, new[chosen], limits, self.model, self.n_comparing)
            unknown = self.whole.codes[self.whole.offsets[row] : self.whole.offsets[row + 1]] == wildcard_of(self.whole)
            for number, paired, is_certain, is_given_up in zip(chosen.tolist(), *found, strict=True):
                is_certain &= ~unknown
                if is_given_up or is_certain.sum() < LEAST_CERTAIN * min(m - unknown.sum(), lengths[new[number]]):
                    continue
                runs = runs_of((np.diff(paired) == 1) & is_certain[1:] & is_certain[:-1])
                if len(runs):
                    _extend(runs, paired, int(lengths[new[number]]))
                    yield _State(int(new[number]), row, np.sort(nearest.rows[number]), paired, runs.tolist())

    def _place_pieces(self, states: Sequence[_State]) -> None:
        """Place all pieces; a piece grows until the residues of the runs next to it are placed in their columns."""
        left = list(states)
        while left:
            pieces = [piece for state in left for piece in self._pieces(state)]
            solved = self._solved(pieces)
            grown: dict[int, _State] = {}
            for piece in pieces:
                state, placed = piece.state, solved.get(piece.key)
                if placed is None:
                    state.solved[piece.begin, piece.end] = self._by_best_path(piece)
                    continue
                own = self.columns[state.row]
                is_left_right = not piece.left or self._is_at(placed, piece.left - 1, own[piece.begin - 1] - piece.low)
                place = piece.last - piece.first - piece.right
                is_right_right = not piece.right or self._is_at(placed, place, own[piece.end] - piece.low)
                if is_left_right and is_right_right:
                    inner = slice(piece.left, place)
                    state.solved[piece.begin, piece.end] = Placed(
                        placed.column[inner] + piece.low, placed.is_inserted[inner]
                    )
                    continue
                grown[id(state)] = state
                if not is_right_right:
                    end = piece.end + state.more
                    state.runs = [run for run in state.runs if run[1] - LEAST_RUN >= end or run[0] < piece.end]
                    for run in state.runs:
                        run[0] = max(run[0], end) if run[0] >= piece.end else run[0]
                if not is_left_right:
                    begin = piece.begin - state.more
                    state.runs = [run for run in state.runs if run[0] + LEAST_RUN <= begin or run[1] > piece.begin]
                    for run in state.runs:
                        run[1] = min(run[1], begin) if run[1] <= piece.begin else run[1]
            for state in grown.values():
                state.more *= 2
            left = list(grown.values())

    @staticmethod
    def _is_at(placed: Placed, residue: int, column: int) -> bool:
        return not placed.is_inserted[residue] and int(placed.column[residue]) == column

    def _bounds(self, state: _State) -> Iterator[tuple[int, int, int, int]]:
        """Yield the pieces between the runs: first residue and end, of the row and of the new sequence."""
        begin, first = 0, 0
        for run in state.runs:
            yield begin, run[0], first, int(state.paired[run[0]])
            begin, first = run[1], int(state.paired[run[1] - 1]) + 1
        yield begin, int(self.whole.lengths[state.row]), first, int(self.whole.lengths[state.new])

    def _pieces(self, state: _State) -> Iterator[_Piece]:
        """Yield the pieces of a new sequence that have residues and are not placed yet."""
        own, codes = self.columns[state.row], self.whole.codes[self.whole.offsets[state.new] :]
        m, n = int(self.whole.lengths[state.row]), int(self.whole.lengths[state.new])
        for begin, end, first, last in self._bounds(state):
            if first == last or (begin, end) in state.solved:
                continue
            flank = FLANK + min(abs(end - begin - last + first), MOST_COPY)
            reach = END + END_RATIO * (last - first)
            left, right = min(first, begin, flank), min(n - last, m - end, flank)
            is_first, is_last = begin == 0, end == m
            left, right = left * (not is_first), right * (not is_last)
            from_row = max(0, end - reach) if is_first else begin - left
            to_row = min(m, begin + reach) if is_last else end + right
            low = 0 if is_first and not from_row else int(own[from_row])
            high = self.alignment.n_columns if is_last and to_row == m else int(own[to_row - 1]) + 1
            text = codes[first - left : last + right].tobytes()
            of_end = (f"{is_first} {is_last} {state.row}" if is_first or is_last else "").encode()  # see _by_posteriors
            key = (text, low, high, state.rows.tobytes() + of_end)
            yield _Piece(state, begin, end, first - left, last + right, left, right, low, high, key)

    def _solved(self, pieces: Sequence[_Piece]) -> dict[tuple[bytes, int, int, bytes], Placed]:
        """Place pieces by their posteriors, by their keys, except those that are too large."""
        kinds: dict[tuple[bytes, int, int, bytes], _Piece] = {}
        for piece in pieces:
            if (piece.last - piece.first) * (piece.high - piece.low) <= MOST_CELLS:
                kinds.setdefault(piece.key, piece)
        if not kinds:
            return {}
        texts: list[NDArray[np.uint8]] = []
        columns: list[NDArray[np.int32]] = []
        number_of: dict[tuple[int, int, int], int] = {}
        pairs, chosen = [], []
        for piece in kinds.values():
            size, width = piece.last - piece.first, piece.high - piece.low
            members = []
            for row in piece.state.rows.tolist():
                begin, end = np.searchsorted(self.columns[row], [piece.low, piece.high]).tolist()
                if begin == end:
                    continue
                number = number_of.setdefault((row, piece.low, piece.high), len(texts))
                if number == len(texts):
                    at = self.whole.offsets[row]
                    texts.append(self.whole.codes[at + begin : at + end])
                    columns.append(self.columns[row][begin:end] - piece.low)
                members.append(number)
            if not members:
                continue
            x = Item(np.array([len(texts)]), size, (len(texts),))
            pairs.append(ItemPair(x, Item(np.array(members), width, tuple(members))))
            chosen.append(piece)
            at = self.whole.offsets[piece.state.new]
            texts.append(self.whole.codes[at + piece.first : at + piece.last])
            columns.append(np.arange(size, dtype=np.int32))
        codes = np.concatenate(texts)
        letters = np.frombuffer(self.whole.alphabet.letters.encode(), np.uint8)[codes]
        names = tuple(map(str, range(len(texts))))
        batch = SequenceBatch(codes, offsets_of([len(one) for one in texts]), names, self.whole.alphabet, letters)
        column_of = np.concatenate(columns).astype(np.uint16)
        pool = Pool(batch, column_of, self.model, *self.cutoffs, self.devices, self.n_threads)
        pooled = pool.posteriors(pairs)
        with ThreadPoolExecutor(self.n_threads) as threads:
            found = threads.map(lambda k: self._by_posteriors(chosen[k], pooled.part(k, k + 1)), range(len(chosen)))
            return {piece.key: placed for piece, placed in zip(chosen, found, strict=True)}

    def _by_posteriors(self, piece: _Piece, posteriors: Pooled) -> Placed:
        """Place a piece; residues beyond those with posteriors continue in the row's columns next to them.

        The alignment with the largest sum would move them to the end of the columns.
        """
        placed = placed_by(piece.last - piece.first, piece.high - piece.low, posteriors[1:4])
        is_first, is_last = piece.begin == 0, piece.end == self.whole.lengths[piece.state.row]
        if not is_first and not is_last:
            return placed
        residues = np.repeat(np.arange(len(posteriors.row_sizes)), posteriors.row_sizes)
        is_here = (placed.column[residues] == posteriors.columns) & ~placed.is_inserted[residues]
        residues = residues[is_here]
        far = np.flatnonzero(np.diff(placed.column[residues]) > FAR) + 1  # first residues behind long gaps
        if is_last and len(far) and len(residues) - far[-1] < LEAST_RUN:
            residues = residues[: far[-1]]
        has_far_start = is_first and len(far) > 0 and far[0] < LEAST_RUN and far[0] < len(residues)
        if has_far_start:
            residues = residues[far[0] :]
        if not len(residues):
            return placed
        own = self.columns[piece.state.row] - piece.low
        n, first, last = len(placed.column), int(residues[0]), int(residues[-1])
        column, is_inserted = placed.column.copy(), placed.is_inserted.copy()
        if is_last:
            behind = own[np.searchsorted(own, column[last], "right") :][: n - last - 1]
            end = last + 1 + len(behind)
            column[last + 1 : end], column[end:] = behind, self.alignment.n_columns - piece.low
            is_inserted[last + 1 : end], is_inserted[end:] = False, True
        if has_far_start:
            before = own[: np.searchsorted(own, column[first])][::-1][:first][::-1]
            begin = first - len(before)
            column[begin:first], is_inserted[begin:first] = before, False
            column[:begin], is_inserted[:begin] = column[begin], True
        return Placed(column, is_inserted)

    def _by_best_path(self, piece: _Piece) -> Placed:
        """Place a piece by the best alignment with its row."""
        paired = piece.state.paired[piece.begin : piece.end]
        first, last = piece.first + piece.left, piece.last - piece.right
        rows = np.flatnonzero(in_order(paired) & (paired >= first) & (paired < last))
        place = np.full(last - first, UNPAIRED, np.int64)
        place[paired[rows] - first] = piece.begin + rows
        return self._along(piece.state.row, place, piece.end)

    def _along(self, row: int, place: NDArray[np.int64], end: int | None = None) -> Placed:
        """Return the columns of residues that are paired with residues of a row, or UNPAIRED and before `end`."""
        own = np.append(self.columns[row], np.int32(self.alignment.n_columns))
        column = own[np.where(place >= 0, place, len(own) - 1 if end is None else end)]
        return Placed(np.minimum.accumulate(column[::-1])[::-1], place < 0)

    def _joined(self, state: _State) -> Placed:
        """Join the runs and the pieces of a new sequence."""
        n, own = int(self.whole.lengths[state.new]), self.columns[state.row]
        column, is_inserted = np.zeros(n, np.int32), np.zeros(n, bool)
        for begin, end in state.runs:
            first = int(state.paired[begin])
            column[first : first + end - begin] = own[begin:end]
        for begin, end, first, last in self._bounds(state):
            if first < last:
                column[first:last], is_inserted[first:last] = vars(state.solved[begin, end]).values()
        return Placed(column, is_inserted)

    def _aligned_alone(
        self, new: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
        """Yield new sequences, their rows, and the residue of the row for each residue by an exact alignment, or -1."""
        from tropalign.pairwise.api import align_all

        if not len(new):
            return
        pairs = np.stack([rows, new], 1)
        tables = align_all(self.whole, mode="global", pairs=pairs, n_threads=self.n_threads, device="cpu")
        places = (place for table in tables for place in paired_residues(table))
        yield from zip(new.tolist(), rows.tolist(), places, strict=True)
