"""Certain columns of a family of long, similar sequences: those that all members share with one of them.

The centre x is the member that shares the most k-mers with the others. Residue i of x and residue j of a member are
certain if all alignments that either pair model finds nearly as likely as the best one pair them:

    centre   x   ACGTTGCAATC--GGATTACA        +  certain in every alignment within SLACK of the best
    member   y   ACGATGCAATCTTGGA--ACA        -  another alignment, nearly as good, pairs x_i otherwise
                 ++++++++++-  -+-    +++

The alignments of x and y are compared by integer losses (native/msa/certain.hpp): the logarithms of a model's
probabilities, for the pair-HMM (its two kinds of gaps joined in one that is at least as likely as either) and for the
partition function, both with overhangs that cost nothing but their residues.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.execution.task import Progress
from tropalign.msa.models import PairModel
from tropalign.sequences.batch import SequenceBatch

#: Losses are twice the logarithms (so that half of the best score of a residue is an integer), in hundredths.
UNITS = 200
#: Alignments that are e^-6 as likely as the best one, or less, are left aside. A gap in each sequence instead of a
#: mismatch is e^-7.7 as likely, so that mismatches are certain.
SLACK = 6 * UNITS
#: Losses per residue of the centre, and per residue of difference in length, beyond which a member is given up: about
#: 17 % of substitutions.
MOST_LOSS, MOST_LENGTH_LOSS, LEAST_MOST = 60, 400, 20_000
#: Greatest share of differing residues, by k-mers, and greatest number of residues by which a member is longer, as a
#: share of the centre or in residues: other members are not compared, since they would take the time and memory of
#: whole matrices. Members that are shorter by more are fragments.
MOST_DISTANCE, MOST_LONGER, LONGER = 0.3, 0.25, 1000
#: First guess: losses per differing residue, as estimated by k-mers, and in addition; a guess that is too low is
#: doubled. The losses of the second model come from those of the first one.
DIFFERENCE_LOSS, MORE_LOSS, GUESS_MARGIN = 330, 12_000, 1.1
#: Least share of the guess that is tried for the next pairs.
LEAST_RATIO = 0.05
#: Pairs of a call, and residues by which fragments that are compared in one call start apart.
PAIRS_AT_ONCE, SAME_START = 32, 200
#: Greatest number that `_native.certain_pairs` takes, and greatest limit.
MOST_NUMBER, MOST_ALLOWED = 2000, (1 << 28) - 1
#: A column that a best alignment leaves unpaired.
UNPAIRED = -1


class Losses(NamedTuple):
    """Losses of alignments, as `_native.certain_pairs` takes them: integers of at least 0, int32."""

    pair: NDArray[np.int32]
    gap: NDArray[np.int32]
    end: NDArray[np.int32]
    open: int


def losses_of(model: PairModel) -> tuple[Losses, Losses]:
    """Return the losses of the partition function, and of the pair-HMM of a model."""
    unknown = model.alphabet.code(model.alphabet.wildcard)
    opened, extended = model.transitions[3:5], model.transitions[5:7]
    odds = np.log(model.match / np.outer(model.insert, model.insert)) + np.log(1 - 2 * opened.sum())
    of_gap = np.log((opened * (1 - extended)).sum()), np.log(extended.max())
    first, further = np.log(model.gap)
    return _losses(np.log(model.boltzmann), first, further, unknown), _losses(odds, *of_gap, unknown)


def _losses(scores: NDArray[np.float64], first: float, further: float, unknown: int) -> Losses:
    """Return losses from logarithms: of pairs, of the first residue of a gap and of the others.

    A pair with an unknown residue has no loss: runs of them neither widen the range that is computed nor shift it.
    """
    halves = np.rint(scores * (UNITS / 2)).astype(np.int32)
    halves[unknown] = halves[:, unknown] = 0
    best = np.maximum(halves.max(1), 0).astype(np.int32)
    pair = np.minimum(best[:, None] + best - 2 * halves, MOST_NUMBER)  # `*` with another letter has more
    pair[unknown] = pair[:, unknown] = 0
    gap = (best + round(-further * UNITS)).astype(np.int32)
    return Losses(np.ascontiguousarray(pair), gap, best, max(0, round((further - first) * UNITS)))


@dataclass(frozen=True, eq=False)
class Star:
    """The alignments of the members with the centre.

    `columns`: int32, shape (n, m), for each residue of the centre the residue of each member in a best alignment, or
    UNPAIRED. `are_certain`: bool, shape (n, m); unknown residues of the centre, which pair with anything, are certain
    for no member. `is_given_up`: bool, shape (n,), members that are too different.
    """

    centre: int
    columns: NDArray[np.int32]
    are_certain: NDArray[np.bool_]
    is_given_up: NDArray[np.bool_]


def star_of(
    batch: SequenceBatch,
    centre: int,
    distances: NDArray[np.float64],
    model: PairModel,
    n_threads: int,
    progress: Progress | None = None,
    starts: NDArray[np.int64] | None = None,
) -> Star:
    """Align all members with the centre; `progress` is called with the pairs begun.

    `distances`, `starts`: as in `Compared`; fragments that start at about the same residue are fast together.
    """
    n, m = len(batch), int(batch.lengths[centre])
    columns, are_certain = np.full((n, m), UNPAIRED, np.int32), np.zeros((n, m), bool)
    columns[centre], are_certain[centre] = np.arange(m), True
    is_given_up = np.zeros(n, bool)
    longer, tolerance = batch.lengths - m, max(LONGER, MOST_LONGER * m)
    is_given_up |= (distances > MOST_DISTANCE) | (longer > tolerance)
    members = np.flatnonzero((np.arange(n) != centre) & ~is_given_up)
    longer, distances = longer[members], distances[members]
    is_fragment = longer < -tolerance
    beside = np.where(is_fragment, 0, MOST_LENGTH_LOSS * np.abs(longer)).astype(np.float64)
    size = np.where(is_fragment, batch.lengths[members], m)
    of_centre = batch.codes[batch.offsets[centre] : batch.offsets[centre + 1]]
    begins = np.clip(np.zeros(len(size)) if starts is None else starts[members], 0, m - size).astype(np.int64)
    overhang = []
    for losses in losses_of(model):
        before = np.concatenate([[0], np.cumsum(losses.end[of_centre], dtype=np.int64)])
        overhang.append(before[begins] + before[m] - before[begins + size])
    limits = Limits(
        DIFFERENCE_LOSS * distances * size + beside + MORE_LOSS,
        LEAST_MOST + MOST_LOSS * size + np.minimum(beside, MOST_LOSS * max(m, LONGER)),
        beside,
        np.array(overhang, np.float64),
        np.where(is_fragment, 1 + (0 if starts is None else (starts - starts.min())[members] // SAME_START), 0),
    )
    found = pairs_with(batch, centre, members, limits, model, n_threads, progress)
    columns[members], are_certain[members], is_given_up[members] = found
    are_certain[:, of_centre == wildcard_of(batch)] = False
    return Star(centre, columns, are_certain, is_given_up)


class Limits(NamedTuple):
    """Limits of the losses of some pairs, shape (n,) each, float64 and int64.

    `guess`, `most`: first limit, which is doubled if it is too low, and the greatest one; `more`: added to the loss by
    one model for the guess of that by the other one. `overhang`: shape (2, n), losses by each model that no alignment
    avoids, in addition to the former. `group`: members of different groups are not computed together, since all members
    that are take the diagonals of each of them.
    """

    guess: NDArray[np.float64]
    most: NDArray[np.float64]
    more: NDArray[np.float64]
    overhang: NDArray[np.float64]
    group: NDArray[np.int64]


def pairs_with(
    batch: SequenceBatch,
    centre: int,
    members: NDArray[np.int64],
    limits: Limits,
    model: PairModel,
    n_threads: int,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_]]:
    """Align members with the centre; return `columns`, `are_certain` and `is_given_up` as in `Star`, of the members."""
    n, m = len(members), int(batch.lengths[centre])
    columns, are_certain = np.full((n, m), UNPAIRED, np.int32), np.zeros((n, m), bool)
    is_given_up = np.zeros(n, bool)
    guess, most = limits.guess, limits.most
    for number, losses in enumerate(losses_of(model)):
        overhang = limits.overhang[number]
        found = np.zeros(n, np.int64)
        left = np.flatnonzero(~is_given_up)
        left = left[np.lexsort(((guess + overhang)[left], limits.group[left]))]
        ratio, times = 1.0, np.ones(n)
        begun = 0
        while len(left):
            some = left[:PAIRS_AT_ONCE]
            some = some[limits.group[some] == limits.group[some[0]]]
            left = left[len(some) :]
            limit = np.minimum(guess[some] * ratio * times[some], most[some])
            loss, column, is_certain = _native.certain_pairs(
                batch.codes, batch.offsets, centre, members[some].astype(np.int32),
                np.minimum(limit + overhang[some], MOST_ALLOWED).astype(np.int32), **losses._asdict(), slack=SLACK,
                n_threads=n_threads,
            )  # fmt: skip
            is_found = loss >= 0
            found[some[is_found]] = loss[is_found]
            if is_found.any():
                ratio = float(((loss + SLACK - overhang[some]) / guess[some])[is_found].max()) * GUESS_MARGIN
                ratio = max(ratio, LEAST_RATIO)  # the overhang is an estimate
            _keep(columns, are_certain, some[is_found], column[is_found], is_certain[is_found] != 0, number == 0)
            is_given_up[some[~is_found & (limit >= most[some])]] = True
            again = some[~is_found & (limit < most[some])]
            times[again] *= 2
            left = np.concatenate([again, left])
            begun += len(some) - len(again)
            if progress is not None:
                progress((begun + n * number) // 2)
        guess = np.maximum(found - overhang, 0) * GUESS_MARGIN + limits.more + SLACK
    for row, k in enumerate(members.tolist()):
        residues = batch.codes[batch.offsets[k] : batch.offsets[k + 1]]
        are_certain[row] |= in_order(columns[row]) & (residues[np.maximum(columns[row], 0)] == wildcard_of(batch))
    are_certain[is_given_up] = False
    return columns, are_certain, is_given_up


def wildcard_of(batch: SequenceBatch) -> int:
    """Return the code of an unknown residue."""
    return batch.alphabet.code(batch.alphabet.wildcard)


def in_order(columns: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return a mask of the pairs behind all earlier pairs and before all later ones.

    Rows of several best alignments may cross. So an unknown residue, which has no better place than that of a best
    alignment, keeps it if no other pair contradicts.
    """
    before = np.maximum.accumulate(np.concatenate([[UNPAIRED], columns[:-1]]))
    after = np.where(columns == UNPAIRED, np.iinfo(np.int32).max, columns)[::-1]
    behind = np.minimum.accumulate(np.concatenate([[np.iinfo(np.int32).max], after[:-1]]))[::-1]
    return (columns > before) & (columns < behind)


def _keep(
    columns: NDArray[np.int32],
    are_certain: NDArray[np.bool_],
    members: NDArray[np.intp],
    found: NDArray[np.int32],
    is_certain: NDArray[np.bool_],
    is_first: bool,
) -> None:
    """Store the result of a model; a residue is certain if it is by both, with the same residue."""
    if is_first:
        columns[members], are_certain[members] = found, is_certain
    else:
        are_certain[members] &= is_certain & (found == columns[members])


#: Length of the k-mers of nucleotides and of others; k-mers of a sketch, those of the lowest hashes.
NUCLEOTIDE_WORD, WORD, SKETCH = 12, 6, 512
#: Share of shared k-mers below which distances are all the same.
LEAST_SHARE = 1 / SKETCH
#: Members of which one becomes the centre; their greatest difference in length from the middle one.
MOST_COMPARED, NEAR = 64, 0.25
#: Multiplier of the hash (Knuth's, by the golden ratio).
_HASH = np.uint64(0x9E3779B97F4A7C15)


class Compared(NamedTuple):
    """Members compared with the centre by k-mers.

    `distances`: float64, shape (n,), estimated share of the residues of each member that differ. `starts`: int64,
    shape (n,), about the residue of the centre with which each member begins.
    """

    distances: NDArray[np.float64]
    starts: NDArray[np.int64]


def word_size(n_plain: int) -> int:
    """Return the length of the k-mers of an alphabet with some unambiguous letters."""
    return NUCLEOTIDE_WORD if n_plain <= 4 else WORD


def hashed_words(codes: NDArray[np.uint8], n_plain: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of the k-mers without other letters, and their first residues."""
    size = word_size(n_plain)
    n = max(0, len(codes) - size + 1)
    words, is_known = np.zeros(n, np.uint64), np.ones(n, bool)
    for step in range(size):
        words = words * np.uint64(n_plain) + codes[step : step + n]
        is_known &= codes[step : step + n] < n_plain
    places = np.flatnonzero(is_known)
    return words[places] * _HASH, places


class Kinship:
    """K-mers that the members of a family share, by sketches (Ondov et al. 2016).

    `centre`: the member that shares the most k-mers with MOST_COMPARED others, evenly spread; members with many
    unknown residues count less. Half of the family's residues belong to members of at least about its length, so that
    neither fragments nor members joined end to end become the centre. `shared`: share of the centre's k-mers that most
    of these have.
    """

    def __init__(self, batch: SequenceBatch) -> None:
        self._batch, self._n_plain = batch, len(batch.alphabet.states)
        descending = np.sort(batch.lengths)[::-1]
        middle = descending[np.searchsorted(np.cumsum(descending), batch.offsets[-1] / 2)]
        near = np.flatnonzero(np.abs(batch.lengths - middle) <= NEAR * middle)
        chosen = near[np.unique(np.linspace(0, len(near) - 1, MOST_COMPARED).astype(np.int64))]
        sketches = [self._sketch(int(k)) for k in chosen]
        words, counts = np.unique(np.concatenate(sketches), return_counts=True)
        shared = np.array([counts[np.searchsorted(words, one)].sum() for one in sketches])
        known = np.array([(self._codes(int(k)) < self._n_plain).mean() for k in chosen])
        best = int((shared * known).argmax())
        self.centre, self._own = int(chosen[best]), sketches[best]
        self.shared = float(np.median([self._similarity(one) for one in sketches]))

    def compared(self) -> Compared:
        """Compare all members with the centre, by the share of a member's sketch that is in the centre."""
        own, at = self._words(self.centre)
        words, first = np.unique(own, return_index=True)
        share, starts = np.zeros(len(self._batch)), np.zeros(len(self._batch), np.int64)
        for k in range(len(self._batch)):
            found, places = self._words(k)
            chosen = found <= _lowest(found)[-1:]
            found, places = found[chosen], places[chosen]
            place = np.minimum(np.searchsorted(words, found), len(words) - 1)
            is_shared = words[place] == found if len(words) else np.zeros(len(found), bool)
            if is_shared.any():
                share[k] = is_shared.mean()
                starts[k] = np.sort(at[first[place[is_shared]]] - places[is_shared])[int(is_shared.sum()) // 2]
        distances: NDArray[np.float64] = np.maximum(
            -np.log(np.maximum(share, LEAST_SHARE)) / word_size(self._n_plain), 0.0
        )
        return Compared(distances, starts)

    def _codes(self, k: int) -> NDArray[np.uint8]:
        return self._batch.codes[self._batch.offsets[k] : self._batch.offsets[k + 1]]

    def _words(self, k: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        return hashed_words(self._codes(k), self._n_plain)

    def _sketch(self, k: int) -> NDArray[np.uint64]:
        return _lowest(self._words(k)[0])

    def _similarity(self, sketch: NDArray[np.uint64]) -> float:
        """Return the Jaccard index with the centre: the share of both among the lowest hashes of either."""
        size = max(1, min(SKETCH, len(sketch), len(self._own)))
        either = np.union1d(sketch, self._own)[:size]
        both = np.intersect1d(sketch, self._own, assume_unique=True)
        return float(np.isin(either, both, assume_unique=True).sum()) / size


def _lowest(hashed: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the sketch: the lowest hashes, ascending."""
    if len(hashed) > 2 * SKETCH:
        hashed = np.partition(hashed, 2 * SKETCH)[: 2 * SKETCH]
    return np.unique(hashed)[:SKETCH]
