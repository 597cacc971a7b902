"""Families of long, similar sequences: cut at certain columns, aligned piece by piece, and joined.

    centre    ACGTTGCAATCAGGCTAAGGATTACAGGCTTAAC         runs of columns that are certain for all members (star.py)
    members   ACGTTGCAATCA----AAGGATTACAGGCTTAAC         need no alignment; each piece between two runs is aligned
              ACGTTGCAATCAGGCTAAGGATTACAGGCTTAAC         with its flanks, residues of the runs on either side
              run----->    piece   <-----run

In a piece, members with the same path to the centre are alike: some represent them in the alignment of the piece, and
the others take their columns. Members without a gap take the columns of the centre.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import ResourceError, counted, listed, named, quiet, warn
from tropalign.msa.family import (
    MOST_RESIDUES,
    FamilyInput,
    copied,
    pair_costs,
    unique_sequences,
    with_copies,
)
from tropalign.msa.guide_tree import GuideTree
from tropalign.msa.models import model_of
from tropalign.msa.star import Kinship, Star, star_of
from tropalign.ragged import offsets_of
from tropalign.resources.limits import human
from tropalign.results.aligned_pairs import DELETION, INSERTION
from tropalign.sequences.batch import SequenceBatch

if TYPE_CHECKING:
    from tropalign.execution.progress import StageProgress
    from tropalign.results.alignments import AlignmentTable
    from tropalign.results.multiple import MultipleAlignment

#: Share of the k-mers of the centre that most members have at least (about 13 % of substitutions).
LEAST_SHARED = 0.08
#: Certain columns of a run; and residues that are aligned with a piece on either side, in addition to as many as the
#: members' sizes differ by, at most MOST_COPY: flanks within a copy of a repeat would pair with the next copy.
LEAST_RUN, FLANK, MOST_COPY = 8, 40, 160
#: Share of the centre's residues that are certain for a member, or it is aligned to the centre alone.
LEAST_CERTAIN = 0.5
#: Share of such members, or one, that a family may have to be cut.
MOST_ALONE = 1 / 8
#: Members of equal paths that are aligned with a piece, if they are few; and of a piece altogether.
REPRESENTATIVES, MOST_IN_PIECE = 16, 200
#: Share of the cells of all pairs that pieces have at most, so that cuts pay.
MOST_LEFT = 1 / 4
#: Bytes per member and residue of the centre, per residue of the family, and per residue of the longest member and
#: thread (the tables of native/msa/certain.hpp with 16 lanes, and the rows that it keeps); and per pair of members, of
#: the distances and of the copy in native/msa/guide_tree.cpp.
STAR_BYTES, RESIDUE_BYTES, THREAD_BYTES, TREE_BYTES = 12, 24, 4400, 4
#: Least residues of the centre before or behind a member that is missing there, instead of having a deletion.
LEAST_MISSING = 160
#: Columns that give the distances of more than MANY members.
MANY, MOST_COLUMNS = 1000, 4000
#: Members and columns whose identities are counted at once: small tables of floats, and exact sums.
ROWS_AT_ONCE, COLUMNS_AT_ONCE = 512, 1000


class Anchored(NamedTuple):
    """The alignment of a family: columns of the residues, guide tree, and confidence of residues and columns."""

    columns: NDArray[np.int32]
    tree: GuideTree
    residue_confidence: NDArray[np.float32]
    column_confidence: NDArray[np.float32]
    is_alone: NDArray[np.bool_]


def is_similar(batch: SequenceBatch) -> bool:
    """True if most members share enough k-mers with the centre."""
    return Kinship(batch).shared >= LEAST_SHARED


def align_anchored(
    job: FamilyInput,
    align: Callable[[FamilyInput], MultipleAlignment],
    n_threads: int,
    memory_bytes: int,
    progress: StageProgress | None = None,
) -> Anchored | None:
    """Align a family of similar sequences (`is_similar`); None if too few columns are certain.

    `align` aligns the pieces.
    """
    first, copy_of = unique_sequences(job.batch)
    if len(first) == 1:
        return _equal(job.batch)
    unique = job.batch[first] if len(first) < len(job.batch) else job.batch
    kinship = Kinship(unique)
    model = model_of(unique.alphabet, job.options.rules)
    fitting = fitting_threads(unique, kinship.centre, memory_bytes)

    def watch(pairs: int) -> None:
        if progress is not None:
            progress("anchors", 0.5 * pairs / len(unique))

    distances, starts = kinship.compared()
    star = star_of(unique, kinship.centre, distances, model, min(n_threads, fitting), watch, starts)
    whole = _Whole(job, unique, star, align, n_threads)
    if not whole.is_worth_it():
        return None
    return whole.align(first, copy_of, progress)


def _equal(batch: SequenceBatch) -> Anchored:
    """Return the alignment of copies of one sequence."""
    n, m = len(batch), int(batch.lengths[0])
    columns = np.tile(np.arange(m, dtype=np.int32), n)
    leaf = GuideTree(np.zeros((0, 2), np.int32), np.zeros(1))
    tree = with_copies(leaf, np.zeros(1, np.int64), np.zeros(n, np.int64))
    ones = np.ones(m, np.float32)
    return Anchored(columns, tree, np.tile(ones, n), ones, np.zeros(n, bool))


def fitting_threads(batch: SequenceBatch, centre: int, memory_bytes: int) -> int:
    """Return the number of threads that fit into the memory; raises ResourceError if not even one fits."""
    spare = memory_bytes - _held_bytes(batch, centre)
    of_thread = THREAD_BYTES * int(batch.lengths.max())
    if spare < of_thread:
        needed = memory_bytes - spare + of_thread
        raise ResourceError(
            f"the alignment of {counted(len(batch), 'similar sequences')} needs about {human(needed)} of memory and "
            f"{human(memory_bytes)} are allowed: allow more with {named('memory_bytes')}",
            needed_bytes=needed,
            allowed_bytes=memory_bytes,
        )
    return spare // of_thread


def _held_bytes(batch: SequenceBatch, centre: int) -> int:
    n = len(batch)
    return STAR_BYTES * n * int(batch.lengths[centre]) + RESIDUE_BYTES * int(batch.offsets[-1]) + TREE_BYTES * n * n


@dataclass(frozen=True)
class Piece:
    """The rows `begin` to `end` of the centre between two runs, or before the first or behind the last one."""

    begin: int
    end: int
    has_left: bool
    has_right: bool


class _AlignedPiece(NamedTuple):
    """Columns and confidence of members of a piece, the number of columns, and whether each end is in one column."""

    columns: dict[int, NDArray[np.int64]]
    sure: dict[int, NDArray[np.float32]]
    width: int
    is_left_whole: bool
    is_right_whole: bool


def with_spans(star: Star, lengths: NDArray[np.int64]) -> tuple[Star, NDArray[np.int64]]:
    """Return the star, and the first row and the end of the rows that each member may have; int64, shape (n, 2).

    Rows of the centre that a fragment lacks at an end do not count for it. Its residues before the first certain one
    are certain, too, if they are few and the best alignment has no gap there: the only alternative is an overhang.
    Otherwise it may have as many rows there, and FLANK or as many again for insertions:

        centre   ACGTTGCAATCAGGCTAAGGATTACAGGCTTAACGTACCGATTG
        member                        TTACAGGCTTAAC                 +  certain
                                      ++++++++|<- may have ->|
    """
    columns, are_certain = star.columns.copy(), star.are_certain.copy()
    n, m = columns.shape
    spans = np.tile(np.array([0, m]), (n, 1))
    for k in np.flatnonzero(are_certain.any(1)):
        first, last = (int(row) for row in np.flatnonzero(are_certain[k])[[0, -1]])
        before, behind = int(columns[k, first]), int(lengths[k]) - 1 - int(columns[k, last])
        for n_free, begin, end, residue in (
            (before, first - before, first, 0),
            (behind, last + 1, last + 1 + behind, int(lengths[k]) - behind),
        ):
            is_first = end == first
            if (begin if is_first else m - end) < LEAST_MISSING:
                continue
            straight, own = np.arange(residue, residue + n_free), columns[k, begin:end]
            others = columns[k, :begin] if is_first else columns[k, end:]
            if n_free <= FLANK and ((own == straight) | (own < 0)).all() and (others < 0).all():
                columns[k, begin:end], are_certain[k, begin:end] = straight, True
            elif is_first:
                begin -= max(FLANK, before)
            else:
                end += max(FLANK, behind)
            if is_first and begin >= LEAST_MISSING:
                spans[k, 0] = begin
            elif not is_first and m - end >= LEAST_MISSING:
                spans[k, 1] = end
    return replace(star, columns=columns, are_certain=are_certain), spans


def certain_runs(star: Star, spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first row and the end of each run of rows that are certain for all members that have them.

    int64, shape (n_runs, 2). Within a run, no member has a gap. `spans`: as from `with_spans`. Members that are given
    up do not count. A run does not contain the border of a span, so a member has all of it or nothing.
    """
    m = star.columns.shape[1]
    goes_on = np.ones(m - 1, bool)
    for k in np.flatnonzero(~star.is_given_up):
        is_certain, rows = star.are_certain[k], slice(max(int(spans[k, 0]) - 1, 0), int(spans[k, 1]))
        goes_on[rows] &= ((np.diff(star.columns[k]) == 1) & is_certain[1:] & is_certain[:-1])[rows]
        goes_on[[row - 1 for row in spans[k].tolist() if 0 < row < m]] = False
    return runs_of(goes_on)


def runs_of(goes_on: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the first row and the end of each run; `goes_on`, shape (m - 1,): a row and the next one are in a run."""
    edges = np.diff(np.concatenate([[False], goes_on, [False]]).astype(np.int8))
    runs = np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) + 1], 1)
    return runs[runs[:, 1] - runs[:, 0] >= LEAST_RUN]


class _Whole:
    """An alignment in progress."""

    def __init__(
        self,
        job: FamilyInput,
        batch: SequenceBatch,
        star: Star,
        align: Callable[[FamilyInput], MultipleAlignment],
        n_threads: int,
    ) -> None:
        self.job, self.batch = job, batch
        self.align_whole, self.n_threads = align, n_threads
        n_certain = star.are_certain.sum(1)
        star, self.spans = with_spans(star, batch.lengths)
        expected = np.where(np.diff(self.spans)[:, 0] < len(star.columns[0]), batch.lengths, n_certain[star.centre])
        is_alone = star.is_given_up | (n_certain < LEAST_CERTAIN * np.minimum(expected, n_certain[star.centre]))
        self.star = replace(star, is_given_up=is_alone)
        self.members = np.flatnonzero(~is_alone)
        self.runs = certain_runs(self.star, self.spans)
        self.columns = np.zeros(len(batch.codes), np.int32)
        self.sure = np.ones(len(batch.codes), np.float32)
        self.starts = np.asarray(batch.offsets[:-1])
        self.whole_cells = float(batch.lengths[star.centre]) ** 2

    def is_worth_it(self) -> bool:
        """True if most members belong together, and the pieces are small."""
        n_alone = len(self.batch) - len(self.members)
        if n_alone > max(1, int(MOST_ALONE * len(self.batch))) or len(self.members) < 2 or not len(self.runs):
            return False
        largest = [self._extent(piece)[2].max() for piece in self.pieces()]
        return sum(float(size) ** 2 for size in largest) <= MOST_LEFT * self.whole_cells

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces before, between and behind the runs, in order; empty ones too."""
        m = self.star.columns.shape[1]
        ends = [0, *self.runs[:, 1].tolist()]
        begins = [*self.runs[:, 0].tolist(), m]
        for k, (begin, end) in enumerate(zip(ends, begins, strict=True)):
            yield Piece(begin, end, k > 0, k < len(self.runs))

    def _extent(self, piece: Piece) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the members that may have residues in a piece, their first residues in it, and the numbers."""
        of_members, (first, end) = self.star.columns, self.spans[self.members].T
        last = self.star.columns.shape[1] - 1
        is_here = (first < max(piece.end, piece.begin + 1)) & (end > min(piece.begin, last))
        members, first, end = self.members[is_here], first[is_here], end[is_here]
        begins, ends = np.zeros(len(members), np.int64), self.batch.lengths[members]
        if piece.has_left:
            begins = np.where(first < piece.begin, of_members[members, piece.begin - 1] + 1, 0)
        if piece.has_right:
            ends = np.where(end > piece.end, of_members[members, piece.end], ends)
        return members, begins, ends - begins

    def align(
        self, first: NDArray[np.int64], copy_of: NDArray[np.int64], progress: StageProgress | None
    ) -> Anchored | None:
        """Align the pieces, join all, and add the members that are alone and the copies; None if cuts do not pay."""
        widths = self._align_pieces(progress)
        if widths is None:
            return None
        self._join(widths)
        is_alone = self.star.is_given_up
        if is_alone.any():
            self._add_alone(np.flatnonzero(is_alone))
        tree = identity_tree(self.batch, self.columns)
        columns, sure = self.columns, self.sure
        if len(copy_of) > len(self.batch):
            columns, sure = copied(columns, self.batch, copy_of), copied(sure, self.batch, copy_of)
            tree, is_alone = with_copies(tree, first, copy_of), is_alone[copy_of]
        counts = np.bincount(columns)
        return Anchored(columns, tree, sure, (np.bincount(columns, sure) / counts).astype(np.float32), is_alone)

    def _align_pieces(self, progress: StageProgress | None) -> list[int] | None:
        """Set the columns of each piece, from 0 on; return their numbers, or None if a piece becomes too large.

        If an end of a piece is not in one column, the piece grows there, each time by twice as much.
        """
        m = self.star.columns.shape[1]
        runs: list[list[int]] = self.runs.tolist()
        widths: list[int] = []
        more = FLANK
        while len(widths) <= len(runs):
            k = len(widths)
            begin, end = runs[k - 1][1] if k else 0, runs[k][0] if k < len(runs) else m
            piece = Piece(begin, end, k > 0, k < len(runs))
            size = int(self._extent(piece)[2].max())
            if float(size) ** 2 > MOST_LEFT * self.whole_cells:
                return None
            if size > MOST_RESIDUES - 2 * (FLANK + MOST_COPY):
                raise ResourceError(
                    f"no columns are certain between residues {begin + 1:,} and {end:,} of record "
                    f"{self.batch.names[self.star.centre]!r}, and the {size:,} residues there are more than the "
                    f"{MOST_RESIDUES:,} that are aligned at once ({pair_costs(size)}): leave out members that differ "
                    "there, or cut all of them at a common gene and align the parts"
                )
            width, is_left_whole, is_right_whole = self._align_piece(piece)
            if is_left_whole and is_right_whole:
                widths.append(width)
                more = FLANK
                if progress is not None:
                    progress("pieces", 0.5 + 0.5 * len(widths) / (len(runs) + 1))
                continue
            more *= 2
            if not is_right_whole:
                while k < len(runs) and runs[k][1] - LEAST_RUN < end + more:
                    del runs[k]
                if k < len(runs):
                    runs[k][0] = max(runs[k][0], end + more)
            if not is_left_whole:
                while widths and runs[len(widths) - 1][0] + LEAST_RUN > begin - more:
                    del runs[len(widths) - 1]
                    widths.pop()
                if widths:
                    runs[len(widths) - 1][1] = min(runs[len(widths) - 1][1], begin - more)
        self.runs = np.array(runs, np.int64).reshape(-1, 2)
        return widths

    def _join(self, widths: list[int]) -> None:
        """Set the columns of the runs, and shift those of the pieces behind the earlier ones."""
        columns = self.star.columns
        sizes = self.runs[:, 1] - self.runs[:, 0]
        firsts = np.cumsum(np.stack([widths, np.append(sizes, 0)], 1).ravel())  # end of each piece and run
        starts = np.concatenate([[0], firsts[:-2]])  # first column of each piece and run
        for k in self.members.tolist():
            own = slice(int(self.starts[k]), int(self.starts[k]) + int(self.batch.lengths[k]))
            is_behind = self.runs[:, 0] >= self.spans[k, 1]
            has = ~is_behind & (self.runs[:, 0] >= self.spans[k, 0])
            begins = np.where(has, columns[k, self.runs[:, 0]], np.where(is_behind, self.batch.lengths[k], 0))
            ends = begins + sizes * has
            bounds = np.concatenate([[0], np.stack([begins, ends], 1).ravel(), [self.batch.lengths[k]]])
            for begin, end in zip(begins[has].tolist(), ends[has].tolist(), strict=True):
                self.columns[own][begin:end] = np.arange(end - begin)
            self.columns[own] += np.repeat(starts, np.diff(bounds)).astype(np.int32)

    def _align_piece(self, piece: Piece) -> tuple[int, bool, bool]:
        """Set the columns of a piece; return their number, and whether each end is in one column."""
        members, begins, sizes = self._extent(piece)
        if not sizes.any():
            return 0, True, True
        residues = self.starts[members] + begins
        paths = self.star.columns[members, piece.begin : piece.end].astype(np.int64) - begins[:, None]
        paths[self.star.columns[members, piece.begin : piece.end] < 0] = -1
        keys = np.concatenate([sizes[:, None], paths], 1)
        kinds, kind_of = np.unique(keys, axis=0, return_inverse=True)
        kind_of = kind_of.ravel()
        if len(kinds) == 1 and sizes[0] == piece.end - piece.begin:
            self.columns[residues[:, None] + np.arange(sizes[0])] = np.arange(sizes[0])
            return int(sizes[0]), True, True
        chosen = self._representatives(kind_of, len(kinds))
        aligned = self._aligned(piece, members, chosen, begins, sizes)
        if not (aligned.is_left_whole and aligned.is_right_whole):
            return 0, aligned.is_left_whole, aligned.is_right_whole
        found, sure = aligned.columns, aligned.sure
        for kind in range(len(kinds)):
            of_kind = np.flatnonzero(kind_of == kind)
            size = int(sizes[of_kind[0]])
            if size:
                model = next(k for k in chosen if kind_of[k] == kind)
                places = residues[of_kind][:, None] + np.arange(size)
                self.columns[places], self.sure[places] = found[model], sure[model]
        for k in chosen:
            places = residues[k] + np.arange(sizes[k])
            self.columns[places], self.sure[places] = found[k], sure[k]
        return aligned.width, True, True

    def _representatives(self, kind_of: NDArray[np.intp], n_kinds: int) -> list[int]:
        """Return members of each kind, by index; few if there are many kinds."""
        most = max(1, min(REPRESENTATIVES, MOST_IN_PIECE // n_kinds))
        chosen: list[int] = []
        for kind in range(n_kinds):
            of_kind = np.flatnonzero(kind_of == kind)
            chosen += of_kind[np.unique(np.linspace(0, len(of_kind) - 1, most).astype(np.int64))].tolist()
        return sorted(chosen)

    def _aligned(
        self,
        piece: Piece,
        members: NDArray[np.int64],
        chosen: list[int],
        begins: NDArray[np.int64],
        sizes: NDArray[np.int64],
    ) -> _AlignedPiece:
        """Align the residues of some members of a piece, `chosen` by index in `members`."""
        (first, end), m = self.spans[members].T, self.star.columns.shape[1]
        is_whole = (first < max(piece.begin, 1)) & (end > min(piece.end, m - 1))
        flank = FLANK + min(int(np.ptp(sizes[is_whole])), MOST_COPY)
        left = np.minimum(begins[chosen], flank)
        right = np.minimum(self.batch.lengths[members[chosen]] - begins[chosen] - sizes[chosen], flank)
        rows = self.starts[members[chosen]] + begins[chosen]
        texts = [
            self.batch.codes[row - before : row + size + behind]
            for row, before, size, behind in zip(rows, left, sizes[chosen], right, strict=True)
        ]
        distinct: dict[bytes, int] = {}
        number = [distinct.setdefault(text.tobytes(), len(distinct)) for text in texts]
        lengths = [len(text) for text in distinct]
        codes = np.frombuffer(b"".join(distinct), np.uint8)
        names = tuple(f"s{k}" for k in range(len(distinct)))
        offsets = offsets_of(lengths)
        letters = np.frombuffer(self.batch.alphabet.letters.encode(), np.uint8)[codes]
        batch = SequenceBatch(codes, offsets, names, self.batch.alphabet, letters)
        options = replace(self.job.options, no_anchors=True, drop_foreign=False)
        confidence: NDArray[np.float32] = np.ones(len(codes), np.float32)
        if len(batch) == 1:
            columns = np.arange(len(codes))
        else:
            job = replace(self.job, batch=batch, options=options, order="input")
            with quiet():
                found = self.align_whole(job)
            columns = found.columns.astype(np.int64)
            if found.residue_confidence is not None:
                confidence = found.residue_confidence
        own = [columns[offsets[k] : offsets[k + 1]] for k in number]
        borders, ends = {-1}, {int(columns.max()) + 1}
        if piece.has_left:
            borders = {int(one[before - 1]) for one, before in zip(own, left, strict=True) if before}
        if piece.has_right:
            ends = {int(one[len(one) - behind]) for one, behind in zip(own, right, strict=True) if behind}
        low, high = min(borders) + 1, max(ends)
        is_left_whole, is_right_whole = len(borders) == 1, len(ends) == 1
        inner, sure = {}, {}
        for k, place, one, before, behind in zip(chosen, number, own, left, right, strict=True):
            inner[k] = _drawn_in(one[before : len(one) - behind] - low, high - low, before == 0, behind == 0)
            sure[k] = confidence[offsets[place] + before : offsets[place + 1] - behind]
            if len(inner[k]):  # a fragment may begin or end in a flank
                is_left_whole &= bool(inner[k][0] >= 0)
                is_right_whole &= bool(inner[k][-1] < high - low)
        return _AlignedPiece(inner, sure, high - low, is_left_whole, is_right_whole)

    def _add_alone(self, alone: NDArray[np.intp]) -> None:
        """Add members by an exact alignment of each with the centre; inserted residues get columns of their own."""
        from tropalign.pairwise.api import align_all

        centre = self.star.centre
        pairs = np.stack([np.full(len(alone), centre), alone], 1)
        tables = align_all(self.batch, mode="global", pairs=pairs, n_threads=self.n_threads, device="cpu")
        paths = [path for table in tables for path in paired_residues(table)]
        own = self.columns[self.starts[centre] : self.starts[centre] + self.batch.lengths[centre]].astype(np.int64)
        n_columns = int(self.columns.max()) + 1
        inserted = np.zeros(n_columns + 1, np.int64)  # new columns before each one
        placed = []
        for path in paths:
            column = np.where(path >= 0, own[path], n_columns)
            behind = np.minimum.accumulate(column[::-1])[::-1]  # the next column that the member shares
            placed.append((behind, inserted.copy()))
            inserted += np.bincount(behind[path < 0], minlength=n_columns + 1)
        shift = np.cumsum(inserted)
        self.columns += shift[self.columns].astype(np.int32)
        for k, path, (behind, earlier) in zip(alone.tolist(), paths, placed, strict=True):
            columns, is_free = behind + shift[behind], path < 0
            new = behind[is_free]
            columns[is_free] = (
                new + (shift - inserted)[new] + earlier[new] + np.arange(len(new)) - np.searchsorted(new, new)
            )
            residues = slice(self.starts[k], self.starts[k] + len(path))
            self.columns[residues], self.sure[residues] = columns, 0.0


def identity_tree(batch: SequenceBatch, columns: NDArray[np.int32]) -> GuideTree:
    """Return the tree of the identities in an alignment; `columns` as in `Anchored`."""
    n, n_columns = len(batch), int(columns.max()) + 1
    n_plain = len(batch.alphabet.states)
    table = np.full((n, n_columns), n_plain, np.uint8)
    table[np.repeat(np.arange(n), batch.lengths), columns] = np.minimum(batch.codes, n_plain)
    lowest, highest = table.min(0), np.where(table < n_plain, table, 0).max(0)
    varied = np.flatnonzero(lowest != highest)
    share = len(varied) / max(n_columns, 1)
    if n > MANY and len(varied) > MOST_COLUMNS:
        varied = varied[np.linspace(0, len(varied) - 1, MOST_COLUMNS).astype(np.int64)]
    table = table[:, varied]
    distances, placed = np.zeros(n * (n - 1) // 2, np.float32), 0
    for begin in range(0, n, ROWS_AT_ONCE):
        same, both = _identities(table[begin:], n_plain, min(ROWS_AT_ONCE, n - begin))
        apart = share * (1 - same / np.maximum(both, 1))
        for row, values in enumerate(apart):
            later = values[row + 1 :]
            distances[placed : placed + len(later)] = later
            placed += len(later)
    return GuideTree(*_native.guide_tree(distances))


def _identities(table: NDArray[np.uint8], n_plain: int, n_rows: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the columns with equal residues, and with two, of the first rows with all; (n_rows, n), float32."""
    same, both = np.zeros((n_rows, len(table)), np.float32), np.zeros((n_rows, len(table)), np.float32)
    for begin in range(0, table.shape[1], COLUMNS_AT_ONCE):
        part = table[:, begin : begin + COLUMNS_AT_ONCE]
        known = (part < n_plain).astype(np.float32)
        both += known[:n_rows] @ known.T
        for code in range(n_plain):
            has = (part == code).astype(np.float32)
            same += has[:n_rows] @ has.T
    return same, both


def paired_residues(table: AlignmentTable) -> Iterator[NDArray[np.int64]]:
    """Yield for each row the residue of the query that each residue of the target is paired with, or -1."""
    for begin, end in pairwise(table.cigar_offsets.tolist()):
        operations = table.cigar_ops[begin:end] & 15
        each = np.repeat(operations, table.cigar_ops[begin:end] >> 4)
        residues = np.cumsum(each != DELETION) - 1
        path: NDArray[np.int64] = np.where(each == DELETION, -1, residues)[each != INSERTION]
        yield path


def _drawn_in(columns: NDArray[np.int64], width: int, is_first: bool, is_last: bool) -> NDArray[np.int64]:
    """Return the columns of a fragment's residues, with those beyond the piece at its free ends next to the others.

    The last residues of a fragment, without evidence for a column, are aligned with those of the longer members.
    """
    is_in = (columns >= 0) & (columns < width)
    if is_in.all() or not is_in.any():
        return columns
    columns, inside = columns.copy(), np.flatnonzero(is_in)
    first, last = int(inside[0]), int(inside[-1])
    if is_first:
        columns[:first] = columns[first] - np.arange(first, 0, -1)
    if is_last:
        columns[last + 1 :] = columns[last] + 1 + np.arange(len(columns) - 1 - last)
    return columns


def tell_of_alone(batch: SequenceBatch, is_alone: NDArray[np.bool_], are_dropped: bool) -> None:
    """Warn of members that are aligned with the centre alone, and whether they are dropped."""
    alone = np.flatnonzero(is_alone)
    if not len(alone):
        return
    verb, them = ("differs", "it") if len(alone) == 1 else ("differ", "them")
    text = f"{len(alone):,} of {counted(len(batch), 'sequences')} {verb} much from the rest of the family"
    remedy = f"aligned with one sequence alone; {named('drop_foreign')} leaves {them} out"
    warn(f"{text}: {listed([batch.names[k] for k in alone])}; {'left out' if are_dropped else remedy}")
