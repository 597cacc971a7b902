"""Pairs into units of work-groups: which pairs run side by side on a GPU, and where their scores come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: Columns of a block (P_COLUMNS in sweep.k), and what `units` and `lanes` hold of a unit and of a lane.
COLUMNS = 8
UNIT_INTS, LANE_INTS = 6, 4
FREE_ROWS_BEGIN, FREE_COLUMNS_BEGIN, FREE_ROWS_END, FREE_COLUMNS_END = 1, 2, 4, 8
ROWS_ARE_SHORT = 16
#: Where scores come from (P_SOURCE in sweep.k).
SHARED_ROWS, SHARED_ROW, OWN_ROWS = 0, 1, 2
#: Cells from which a pair gets a work-group of its own.
STRIPS_CELLS = 1 << 24


@dataclass
class Oriented:
    """Pairs with their row and column sequences (indices into one list of sequences) chosen.

    Attributes
    ----------
    pair : int64
        Places of the pairs in the caller's list.
    row, column : int64
    flags : int64
        ROWS_ARE_SHORT, and the free ends as rows and columns see them.
    rows_are_query : bool
    """

    pair: Ints
    row: Ints
    column: Ints
    flags: Ints
    rows_are_query: NDArray[np.bool_]

    def take(self, which: NDArray[np.generic]) -> Oriented:
        """Those pairs only."""
        columns = (self.pair, self.row, self.column, self.flags, self.rows_are_query)
        return Oriented(*(column[which] for column in columns))

    def __len__(self) -> int:
        return len(self.pair)


@dataclass
class Launch:
    """Units that one kernel computes.

    Attributes
    ----------
    source, strips, word_bits
        Which kernel (P_SOURCE, P_STRIPS and SIMT_WORD).
    units : int32, shape (n_units, UNIT_INTS)
    lanes : int32, shape (n_units, group, LANE_INTS)
    pair : int64
        Places of the pairs in the caller's list ...
    where : int32
        ... and of each ``4 * (unit * group + lane) + 2 * half + rows_are_query``, ascending.
    """

    source: int
    strips: bool
    word_bits: int
    units: NDArray[np.int32]
    lanes: NDArray[np.int32]
    pair: Ints
    where: NDArray[np.int32]


def orient(query: Ints, target: Ints, lengths: Ints, free: tuple[bool, bool, bool, bool]) -> Oriented:
    """Chooses each pair's rows: the sequence that has many more pairs than the other, else the longer one.

    Parameters
    ----------
    query, target : int64, shape (n,)
        Indices into `lengths`.
    free
        Query start, query end, target start, target end.
    """
    counts = np.bincount(np.concatenate([query, target]), minlength=len(lengths))
    many, others = counts[query], counts[target]
    query_is_long = lengths[query] >= lengths[target]
    by_query = np.where(many > 2 * others, True, np.where(others > 2 * many, False, query_is_long))
    of_query = free[0] * FREE_ROWS_BEGIN | free[1] * FREE_ROWS_END
    of_target = free[2] * FREE_ROWS_BEGIN | free[3] * FREE_ROWS_END
    to_columns = FREE_COLUMNS_BEGIN // FREE_ROWS_BEGIN
    as_query, as_target = of_query | of_target * to_columns, of_target | of_query * to_columns
    flags = np.where(by_query, as_query, as_target) | np.where(by_query != query_is_long, ROWS_ARE_SHORT, 0)
    row, column = np.where(by_query, query, target), np.where(by_query, target, query)
    return Oriented(np.arange(len(query)), row, column, flags.astype(np.int64), by_query)


def plan(pairs: Oriented, lengths: Ints, word_bits: int, group: int, rows_by_source: dict[int, int]) -> list[Launch]:
    """Launches that hold every pair once.

    Pairs whose row sequence has enough columns share its profile: with a second row sequence of nearly the same columns
    in the other half of the words, else with two columns a lane. The others bring rows and columns of their own.
    """
    cells = lengths[pairs.row] * lengths[pairs.column]
    alone = cells >= STRIPS_CELLS
    launches = []
    if alone.any():
        launches.append(_strips(pairs.take(alone), lengths, word_bits, group, rows_by_source[OWN_ROWS]))
        pairs = pairs.take(~alone)
    if not len(pairs):
        return launches
    # Sorted by role, then by the row sequence's length, so that neighbours fit one unit.
    order = np.lexsort((pairs.column, -lengths[pairs.column], pairs.row, -lengths[pairs.row], pairs.flags))
    pairs = pairs.take(order)
    begins = _changes(pairs.flags, pairs.row)
    group_of_pair = np.cumsum(begins) - 1
    sizes = np.bincount(group_of_pair)
    shares = sizes[group_of_pair] >= group // 2
    if shares.any():
        shared, couples = pairs.take(shares), group_of_pair[shares]
        if word_bits == 16:
            coupled = _couple(shared, couples, lengths)
            launches += _shared_launches(shared, lengths, group, rows_by_source, *coupled)
        else:
            launches.append(
                _launch(
                    shared, couples, np.zeros(len(shared), np.int64), SHARED_ROWS, 32, lengths, group, rows_by_source
                )
            )
    if not shares.all():
        own = pairs.take(~shares)
        own = own.take(np.lexsort((-lengths[own.column], -(lengths[own.row] // 8), own.flags)))
        launches.append(_own(own, lengths, word_bits, group, rows_by_source[OWN_ROWS]))
    return launches


def _changes(*keys: Ints) -> NDArray[np.bool_]:
    """Where any of the (sorted) keys differs from the one before; the first is a change."""
    changed = np.zeros(len(keys[0]), bool)
    changed[:1] = True
    for key in keys:
        changed[1:] |= key[1:] != key[:-1]
    return changed


def _couple(pairs: Oriented, group_of_pair: Ints, lengths: Ints) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """For each pair its couple of row sequences, its half, and whether that couple shares most columns."""
    starts = np.flatnonzero(_changes(group_of_pair))
    flags = pairs.flags[starts]
    # Ranks of the row sequences among those of equal flags, two by two.
    first_of_kind = np.maximum.accumulate(np.where(_changes(flags), np.arange(len(starts)), 0))
    rank = np.arange(len(starts)) - first_of_kind
    new_couple = (rank % 2 == 0).astype(np.int64)
    couple_of_group = np.cumsum(new_couple) - 1
    local_group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(pairs))))
    couple, half = couple_of_group[local_group], (rank % 2)[local_group]
    key = np.sort(couple * len(lengths) + pairs.column)
    lanes = np.bincount(key[_changes(key)] // len(lengths), minlength=couple[-1] + 1)
    return couple, half, (lanes <= 0.7 * np.bincount(couple))[couple]


def _shared_launches(
    pairs: Oriented,
    lengths: Ints,
    group: int,
    rows: dict[int, int],
    couple: Ints,
    half: Ints,
    overlaps: NDArray[np.bool_],
) -> list[Launch]:
    launches = []
    if overlaps.any():
        both = pairs.take(overlaps)
        launches.append(_launch(both, couple[overlaps], half[overlaps], SHARED_ROWS, 16, lengths, group, rows))
    if not overlaps.all():
        single = pairs.take(~overlaps)
        key = 2 * couple[~overlaps] + half[~overlaps]
        launches.append(_launch(single, key, np.zeros(len(single), np.int64), SHARED_ROW, 16, lengths, group, rows))
    return launches


def _launch(
    pairs: Oriented,
    couple: Ints,
    half: Ints,
    source: int,
    word_bits: int,
    lengths: Ints,
    group: int,
    rows: dict[int, int],
) -> Launch:
    """Units of one couple of row sequences each (SHARED_ROWS), or of one row sequence (SHARED_ROW)."""
    order = np.lexsort((half, pairs.column, -lengths[pairs.column], couple))
    pairs, couple, half = pairs.take(order), couple[order], half[order]
    if source == SHARED_ROWS:
        new_lane = _changes(couple, pairs.column)
    else:  # two columns of neighbouring lengths a lane
        new_couple = _changes(couple)
        rank = np.arange(len(pairs)) - np.maximum.accumulate(np.where(new_couple, np.arange(len(pairs)), 0))
        new_lane, half = rank % 2 == 0, rank % 2
    lane_number = np.cumsum(new_lane) - 1
    # Lanes of a couple in units of `group`.
    first_lane = np.maximum.accumulate(np.where(_changes(couple), lane_number, 0))
    lane_in_couple = lane_number - first_lane
    lane = lane_in_couple % group
    unit = np.cumsum(_changes(couple, lane_in_couple // group)) - 1
    n_units = int(unit[-1]) + 1
    units, lanes = _empty(n_units, group)
    for k in (0, 1):
        mine = half == k
        if source == SHARED_ROWS:
            units[unit[mine], k] = pairs.row[mine]
        else:
            units[unit[mine], 0] = pairs.row[mine]
        lanes[unit[mine], lane[mine], 2 + k] = pairs.column[mine]
    _measure(units, unit, pairs, lengths, rows[source])
    where = 4 * (unit * group + lane) + 2 * half + pairs.rows_are_query
    return _ordered(source, False, word_bits, units, lanes, pairs.pair, where)


def _own(pairs: Oriented, lengths: Ints, word_bits: int, group: int, n_rows: int) -> Launch:
    """Units of pairs that share nothing but flags and about their lengths."""
    new_kind = _changes(pairs.flags)
    rank = np.arange(len(pairs)) - np.maximum.accumulate(np.where(new_kind, np.arange(len(pairs)), 0))
    a_unit = group * word_bits_halves(word_bits)
    unit = np.cumsum(_changes(pairs.flags, rank // a_unit)) - 1
    place = rank % a_unit
    lane, half = place // word_bits_halves(word_bits), place % word_bits_halves(word_bits)
    units, lanes = _empty(int(unit[-1]) + 1, group)
    lanes[unit, lane, half] = pairs.row
    lanes[unit, lane, 2 + half] = pairs.column
    _measure(units, unit, pairs, lengths, n_rows)
    return _ordered(
        OWN_ROWS,
        False,
        word_bits,
        units,
        lanes,
        pairs.pair,
        4 * (unit * group + lane) + 2 * half + pairs.rows_are_query,
    )


def _strips(pairs: Oriented, lengths: Ints, word_bits: int, group: int, n_rows: int) -> Launch:
    """A unit a pair; its numbers stand in the first lane."""
    unit = np.arange(len(pairs))
    units, lanes = _empty(len(pairs), group)
    lanes[:, 0, 0], lanes[:, 0, 2] = pairs.row, pairs.column
    _measure(units, unit, pairs, lengths, n_rows)
    return _ordered(OWN_ROWS, True, word_bits, units, lanes, pairs.pair, 4 * unit * group + pairs.rows_are_query)


def word_bits_halves(word_bits: int) -> int:
    """Pairs in a word."""
    return 32 // word_bits


def _empty(n_units: int, group: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    units = np.zeros((n_units, UNIT_INTS), np.int32)
    units[:, :2] = -1
    return units, np.full((n_units, group, LANE_INTS), -1, np.int32)


def _measure(units: NDArray[np.int32], unit: Ints, pairs: Oriented, lengths: Ints, n_rows: int) -> None:
    """Tiles, blocks and flags of the units; `unit` ascends."""
    starts = np.flatnonzero(_changes(unit))
    units[:, 2] = np.maximum.reduceat(-(-lengths[pairs.row] // n_rows), starts)
    units[:, 3] = np.maximum.reduceat(-(-lengths[pairs.column] // COLUMNS), starts)
    units[:, 4] = pairs.flags[starts]


def _ordered(
    source: int,
    strips: bool,
    word_bits: int,
    units: NDArray[np.int32],
    lanes: NDArray[np.int32],
    pair: Ints,
    where: Ints,
) -> Launch:
    """The costliest units first (longest processing time)."""
    group = lanes.shape[1]
    cost = units[:, 2].astype(np.int64) * units[:, 3]
    order = np.argsort(-cost, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    where = place[where // (4 * group)] * (4 * group) + where % (4 * group)
    by_place = np.argsort(where, kind="stable")
    return Launch(
        source, strips, word_bits, units[order], lanes[order], pair[by_place], where[by_place].astype(np.int32)
    )
