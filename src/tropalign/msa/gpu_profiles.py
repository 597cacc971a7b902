"""Alignment of profiles with profiles and sequences on a GPU (profile_align.k), with the same paths as on the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.devices.gpu import Gpu, Pace, Programs, kernel_source, require_room, with_constants
from tropalign.properties import cached

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
#: The new columns of both, and their number, as native ``align_profiles`` returns them.
Merged = tuple[Ints, Ints, int]

#: Rows of a strip, and lanes of a group.
LANES = 64
#: Cells of the first launch, before the device's rate is known.
FIRST_CELLS = 2_000_000_000
#: Bits of sums, and maximum bits of fractions, as in native/msa/profile_pairs.cpp.
SUM_BITS, MOST_FRACTION_BITS = 30, 24


class PairNumber(IntEnum):
    """Indices of a pair's numbers in `pairs`."""

    #: First row among all rows and number of rows, then the same for columns.
    ROW = 0
    M = 1
    COLUMN = 2
    N = 3


NUMBERS = {"PAIR_INTS": len(PairNumber), **{f"PAIR_{number.name}": number.value for number in PairNumber}}


@cached
def source() -> str:
    """Return the kernels as one text, with the numbers that they share with this file."""
    return with_constants(kernel_source(Path(__file__).parent, "profile_align.k"), "PROFILE", NUMBERS)


def constants(n_letters: int, *, is_table: bool) -> dict[str, int]:
    """Return the compile-time constants of the kernels, besides NUMBERS."""
    return {"SIMT_WORD": 32, "PROFILE_LETTERS": n_letters, "PROFILE_IS_TABLE": int(is_table)}


@dataclass(frozen=True)
class _Side:
    """Columns of profiles: shares, sums of squared shares, and distances from the blank."""

    shares: Floats
    squares: Floats
    blanks: Floats

    @classmethod
    def of(cls, profile: Floats) -> _Side:
        """Derive the sums of a profile, adding in the order of the letters like native code."""
        squares = np.zeros(len(profile))
        for a in range(profile.shape[1]):
            squares += profile[:, a] * profile[:, a]
        return cls(profile, squares, np.sqrt(np.maximum(squares + 1 - 2 * profile[:, -1], 0)))


class ProfilesOnGpu:
    """Alignments of profiles on one device."""

    def __init__(self, device: Gpu) -> None:
        self.device = device
        self._programs, self.pace = Programs(device, source()), Pace(FIRST_CELLS)

    def profiles(
        self, pairs: Sequence[tuple[Floats, Floats]], alive: Callable[[], object] | None = None
    ) -> list[Merged]:
        """Compute the result of native ``align_profiles`` for each pair.

        `pairs`: shares of columns, float64, shape (n_columns, n_letters), of one alphabet and at least one column.
        `alive` is called repeatedly; an exception from it stops the work.
        """
        sides = [(_Side.of(p), _Side.of(q)) for p, q in pairs]
        units = [_unit(float(p.blanks.max()) + float(q.blanks.max()), len(p.squares), len(q.squares)) for p, q in sides]

        def arrays(some: slice) -> list[NDArray[Any]]:
            ps, qs = zip(*sides[some], strict=True)
            columns = np.concatenate([q.shares.T.ravel() for q in qs])
            rows = [np.concatenate([getattr(p, name) for p in ps]) for name in ("shares", "squares", "blanks")]
            return [*rows, columns, *(np.concatenate([getattr(q, name) for q in qs]) for name in ("squares", "blanks"))]

        sizes = np.array([(len(p), len(q)) for p, q in pairs], np.int64).reshape(-1, 2)
        n_letters = pairs[0][0].shape[1] if len(pairs) else 1
        return self._aligned(sizes, np.array(units), constants(n_letters, is_table=False), arrays, alive)

    def sequences(
        self,
        pairs: Sequence[tuple[Floats, NDArray[np.uint8]]],
        scores: Floats,
        alive: Callable[[], object] | None = None,
    ) -> list[Merged]:
        """Compute the result of native ``align_profile_to_sequence`` for each profile and sequence.

        `pairs`: shares of columns, and residue codes. `scores`: float64, shape (n_letters, n_letters), the blank's
        last.
        """
        tables = [saved_by_letters(profile, scores, len(codes)) for profile, codes in pairs]
        none = np.zeros(1)

        def arrays(some: slice) -> list[NDArray[Any]]:
            codes = np.concatenate([codes for _, codes in pairs[some]])
            return [np.concatenate(tables[some]), none, none, none, none, none, codes]

        sizes = np.array([(len(profile), len(codes)) for profile, codes in pairs], np.int64).reshape(-1, 2)
        return self._aligned(sizes, np.zeros(len(pairs)), constants(len(scores), is_table=True), arrays, alive)

    def _aligned(
        self,
        sizes: NDArray[np.int64],
        units: Floats,
        chosen: dict[str, int],
        arrays: Callable[[slice], list[NDArray[Any]]],
        alive: Callable[[], object] | None,
    ) -> list[Merged]:
        """Align pairs in launches that fit the device's memory and take a short time."""
        found: list[Merged] = []
        if not len(sizes):
            return found
        program = self._programs.get(chosen, alive)
        cells = -(-sizes[:, 0] // LANES) * LANES * (sizes[:, 1] + LANES - 1)
        needed = cells + 8 * (chosen["PROFILE_LETTERS"] + 4) * sizes.sum(axis=1) + 64
        while (at := len(found)) < len(sizes):
            if alive:
                alive()
            budget = self.device.budget_bytes()
            require_room(self.device, int(needed[at]), budget, f"the directions of {sizes[at, 0]:,} columns")
            fits = (np.cumsum(needed[at:]) <= budget) & (np.cumsum(cells[at:]) <= self.pace.cells)
            some = slice(at, at + max(int(fits.sum()), 1))
            with self.pace.measured(int(cells[some].sum())):
                found += self._launch(program, sizes[some], units[some], cells[some], arrays(some))
        return found

    def _launch(
        self, program: Any, sizes: NDArray[np.int64], units: Floats, cells: Any, arrays: list[NDArray[Any]]
    ) -> list[Merged]:
        ends, n_pairs = np.cumsum(sizes, axis=0), len(sizes)
        begins = ends - sizes
        pairs = np.stack([begins[:, 0], sizes[:, 0], begins[:, 1], sizes[:, 1]], axis=1).astype(np.int32)
        n_rows, n_columns = (int(n) for n in ends[-1])
        if len(arrays) < 7:
            arrays = [*arrays, np.zeros(1, np.uint8)]
        with self.device.scope() as memory:
            table, places = memory.upload(pairs), memory.upload(np.cumsum(cells) - cells)
            directions, edge = memory.allocate(int(cells.sum())), memory.allocate(4 * n_columns)
            given = [memory.upload(array) for array in (units, *arrays)]
            program.launch("profile_sweep", n_pairs, LANES, table, places, *given, edge, directions)
            x, y = memory.allocate(4 * n_rows), memory.allocate(4 * n_columns)
            counts = memory.allocate(4 * n_pairs)
            groups = -(-n_pairs // LANES)
            program.launch("profile_walk", groups, LANES, table, places, n_pairs, directions, x, y, counts)
            first, second = memory.download(x, np.int32, n_rows), memory.download(y, np.int32, n_columns)
            count = memory.download(counts, np.int32, n_pairs)
        columns = zip(np.split(first, ends[:-1, 0]), np.split(second, ends[:-1, 1]), count, strict=True)
        return [(int(n) - 1 - a, int(n) - 1 - b, int(n)) for a, b, n in columns]


def _unit(most: float, m: int, n: int) -> float:
    """Return the power of two that scales savings to integers, so that no sum of them exceeds 31 bits."""
    total = max(most, 1e-300) * max(min(m, n), 1)
    bits = SUM_BITS - 1 - math.ceil(math.log2(total))
    return math.ldexp(1.0, min(max(bits, -SUM_BITS), MOST_FRACTION_BITS))


def saved_by_letters(profile: Floats, scores: Floats, length: int) -> Ints:
    """Return what each column saves when aligned with each letter, in units, int32, shape (n_columns, n_letters)."""
    gains = np.zeros(profile.shape)
    for a in range(profile.shape[1]):
        gains += profile[:, a, None] * scores[a]
    gains -= gains[:, -1:].copy() + scores[-1]
    return np.rint(gains * _unit(float(np.abs(gains).max(initial=0)), len(profile), length)).astype(np.int32)
