"""Posterior probabilities of pairs on any GPU device, with the kernels of posterior*.k."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import Buffer, Gpu, Pace, Program, Programs, kernel_source, require_room, with_constants
from tropalign.errors import DeviceError, named
from tropalign.msa.gpu_profiles import ProfilesOnGpu
from tropalign.msa.models import PROTEIN_2, PairModel

Ints = NDArray[np.int64]
#: Distances, row sizes, columns and values, as native ``pair_posteriors`` returns them.
Found = tuple[NDArray[np.float32], NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]

#: Integer for probability 1.
ONE = 32767
#: Cells of the first launch, before the device's rate is known.
FIRST_CELLS = 10_000_000_000
#: Overhead of a lane's step, in cells.
STEP_CELLS = 3
#: Maximum odds and weights of a match that a lane's exponents can follow, and the maximum exponent.
MOST_ODDS, MOST_EXPONENT = 64.0, 30_000
#: Numbers that a row passes to the next one.
PASSED = 7


class PairNumber(IntEnum):
    """Indices of a pair's numbers in `pairs`."""

    #: Start and length of x, then of y.
    X = 0
    M = 1
    Y = 2
    N = 3
    #: Rows, steps of strips, and columns of edges of all preceding pairs.
    ROW = 4
    STEP = 5
    EDGE = 6


class ModelNumber(IntEnum):
    """Indices in `model`; entries per kind of insert state take two numbers."""

    EXTEND = 0
    ADD = 2
    END_MATCH = 4
    END = 5
    GAP_OPEN = 7
    GAP_EXTEND = 8
    #: Factors of the posteriors of the HMM and of the partition function before they are added.
    HMM = 9
    PART = 10
    #: The smallest posterior that is kept.
    LEAST = 11
    #: Probability of an overhang.
    END_FREE = 12


#: Kernel files in the order of concatenation.
FILES = ("posterior_rows.k", "posterior.k", "posterior_keep.k")
PAIR_INTS, MODEL_FLOATS = len(PairNumber), 13
#: Numbers that the kernels share with this file, by their kernel names without the prefix POSTERIOR.
NUMBERS = {
    "PAIR_INTS": PAIR_INTS,
    **{f"PAIR_{number.name}": number.value for number in PairNumber},
    **{f"MODEL_{number.name}": number.value for number in ModelNumber},
}


@dataclass(frozen=True)
class Shape:
    """Distribution of cells to lanes.

    `group`: lanes of a pair. `rows`: choices of rows per lane; each pair takes the cheapest one.
    """

    group: int = 32
    rows: tuple[int, ...] = (4, 6, 8, 10, 12)

    def rows_for(self, m: Ints, n: Ints) -> Ints:
        """Return the rows per lane for pairs of given lengths."""
        heights = np.array(self.rows)[:, None]
        strips = -(-m // (heights * self.group))
        cost = strips * (n + self.group - 1) * (heights + STEP_CELLS)
        chosen: Ints = np.array(self.rows, np.int64)[np.argmin(cost, axis=0)]
        return chosen


def words(rows: int) -> int:
    """Return the 32-bit words that a lane keeps per column."""
    return rows // 2 * 3 + 1


def source() -> str:
    """Return the kernels as one text, with the numbers that they share with this file."""
    return with_constants(kernel_source(Path(__file__).parent, *FILES), "POSTERIOR", NUMBERS)


def constants(group: int, rows: int, letters: int) -> dict[str, int]:
    """Return the compile-time constants of the kernels, besides NUMBERS."""
    return {"POSTERIOR_GROUP": group, "POSTERIOR_ROWS": rows, "POSTERIOR_LETTERS": letters}


class PosteriorsOnGpu:
    """Posteriors of pairs on one device, within 1e-4 of the CPU's.

    `cutoff` and `keep` as in native ``pair_posteriors``. Raises DeviceError for models that the kernels do not
    support.
    """

    def __init__(
        self, device: Gpu, model: PairModel, cutoff: float, keep: float = 0.0, shape: Shape | None = None
    ) -> None:
        self.keep = float(np.float32(keep))
        self.device, self.model, self.cutoff, self.shape = device, model, cutoff, shape or Shape()
        self.n_letters = len(model.insert)
        opened, extended = model.transitions[3:5], model.transitions[5:7]
        self._stay = float(1 - 2 * opened.sum())
        odds = model.match / (model.insert[:, None] * model.insert) * self._stay
        arrays = (odds, model.boltzmann, model.gap, extended, opened, model.transitions[:1])
        if not all(((array >= 0) & (array <= MOST_ODDS)).all() for array in arrays):
            raise DeviceError(f"{device.name}: a pair model with such large or small odds is computed on the CPU only")
        self._growth = math.log2(max(odds.max(), model.boltzmann.max(), 2))
        self._decline = -math.log2(max(min(extended.max(), model.gap[1]), 1e-9))
        table = np.zeros((self.n_letters, self.n_letters + 1, 2), np.float32)
        table[:, :-1, 0], table[:, :-1, 1] = odds.T, model.boltzmann.T
        lowest = 1 if keep > 0 else max(math.ceil(float(np.float32(cutoff)) * ONE), 1)
        self._least = (lowest - 0.5) / ONE
        self._arrays = (device.upload(table), device.upload(self._numbers(opened, extended)))
        self._programs, self.pace = Programs(device, source()), Pace(FIRST_CELLS)

    def _numbers(self, opened: NDArray[np.float64], extended: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the model's numbers by `ModelNumber`; posterior_model.hpp explains them."""
        numbers = np.zeros(MODEL_FLOATS)
        numbers[ModelNumber.EXTEND : ModelNumber.EXTEND + 2] = extended
        numbers[ModelNumber.ADD : ModelNumber.ADD + 2] = opened * (1 - extended) / self._stay
        numbers[ModelNumber.END_MATCH] = self.model.transitions[0]
        # Read from the end, a gap is left with its opening probability, and entered with the probability of
        # leaving it.
        numbers[ModelNumber.END : ModelNumber.END + 2] = self.model.transitions[1:3] * (1 - extended)
        numbers[ModelNumber.GAP_OPEN], numbers[ModelNumber.GAP_EXTEND] = self.model.gap
        share = self.model.hmm_share
        numbers[ModelNumber.HMM], numbers[ModelNumber.PART] = self._stay * math.sqrt(share), math.sqrt(1 - share)
        numbers[ModelNumber.LEAST] = self._least
        numbers[ModelNumber.END_FREE] = self.model.transitions[7]
        return numbers.astype(np.float32)

    def most_in_row(self, longest: int) -> int:
        """Return the maximum number of elements in a row of `longest` columns.

        Posteriors of either kind sum to 1 per row, so those of both sum to at most sqrt(share) + sqrt(1 - share).
        """
        share = self.model.hmm_share
        return min(longest, int((math.sqrt(share) + math.sqrt(1 - share)) * 1.01 / self._least) + 2)

    def borders(self, longest: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Return S on the borders after 0, 1, ... residues: read from the end, then from the start.

        Mantissas, float32, and exponents, int32, both of shape (2, longest + 1).
        """
        initial, opened, extended, overhang = np.split(self.model.transitions, [3, 5, 7])
        logs = np.empty((2, longest + 1, 3))
        with np.errstate(divide="ignore"):
            for k, left in enumerate((opened, 1 - extended)):
                begin = np.log2(left * initial[1:] / self._stay)
                logs[k, :, :2] = begin + np.arange(-1, longest)[:, None] * np.log2(extended)
                logs[k, :, 2:] = np.log2(overhang / self._stay)
        exponents = np.floor(np.maximum(logs.max(axis=2), -1e6))
        mantissas = np.exp2(logs - exponents[:, :, None]).sum(axis=2)
        mantissas[:, 0], exponents[:, 0] = initial[0] / self._stay, 0
        return mantissas.astype(np.float32), exponents.astype(np.int32)

    def posteriors(
        self,
        codes: NDArray[np.uint8],
        offsets: Ints,
        pairs: NDArray[np.int32],
        progress: Callable[[int], None] | None = None,
    ) -> Found:
        """Compute what native ``pair_posteriors`` returns for a cutoff.

        `pairs`: int32, shape (n_pairs, 2). `progress` receives the number of pairs done after each launch, and
        while kernels compile. Returns distances, float32, shape (n_pairs,); row sizes of each pair, columns and
        values, uint16.
        """
        lengths = np.diff(offsets)
        if len(codes) and int(codes.max()) >= self.n_letters:
            raise ValueError("codes: a code is not in the model")
        if len(pairs) and not 0 <= int(pairs.min()) <= int(pairs.max()) < len(lengths):
            raise ValueError("pairs: an index is out of range")
        m, n = lengths[pairs[:, 0]], lengths[pairs[:, 1]]
        if len(pairs) and min(int(m.min()), int(n.min())) < 1:
            raise ValueError("pairs: a sequence is empty")
        result = _Result(m)
        # Too large for the kernels: exponents could exceed 16 bits, or element indices 32 bits.
        powers = np.minimum(m, n) * self._growth + (m + n) * self._decline
        is_far = (powers > MOST_EXPONENT) | (m * self.most_in_row(int(n.max(initial=0))) >= 1 << 31)
        far = np.flatnonzero(is_far)
        if len(far):
            how = {**self.model.arguments(), "cutoff": self.cutoff, "keep": self.keep, "n_threads": 1}
            result.put(far, _native.pair_posteriors(codes, offsets, pairs[far], **how))
        rows = np.where(is_far, 0, self.shape.rows_for(m, n))
        on_device = self.device.upload(codes)
        done = len(far)
        for height in self.shape.rows:
            which = np.flatnonzero(rows == height)
            if len(which):
                self._sweep(height, on_device, offsets, pairs, which, result, done, progress)
                done += len(which)
        return result.joined()

    def _sweep(
        self,
        height: int,
        codes: Buffer,
        offsets: Ints,
        pairs: NDArray[np.int32],
        which: Ints,
        result: _Result,
        before: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        """Compute the pairs of one lane height, in launches that fit the device's memory and take a short time."""
        group = self.shape.group
        program = self._programs.get(constants(group, height, self.n_letters), progress and partial(progress, before))
        table = _table(offsets, pairs[which], height, group)
        m, n = table[:, PairNumber.M], table[:, PairNumber.N]
        most = self.most_in_row(int(n.max()))
        borders, exponents = self.borders(int(max(m.max(), n.max())) + height)  # a lane's last rows may not exist
        begin = 0
        with self.device.scope() as shared:
            border = [shared.upload(array) for pair in zip(borders, exponents, strict=True) for array in pair]
            while begin < len(which):
                end = self._end(table, begin, height, most)
                some = which[begin:end]
                with self.pace.measured(int((m * n)[begin:end].sum())):
                    found = self._launch(program, codes, border, table[begin : end + 1], height, most)
                result.put(some, found)
                begin = end
                if progress:
                    progress(before + begin)

    def _end(self, table: Ints, begin: int, height: int, most: int) -> int:
        """Return the end of the launch that starts with pair `begin`."""
        group = self.shape.group
        sums = table[begin:] - table[begin]  # sums over all preceding pairs
        per = np.zeros(len(PairNumber), np.int64)
        per[PairNumber.STEP] = 4 * words(height) * group
        per[PairNumber.ROW] = 8 * most + 12
        per[PairNumber.EDGE] = 4 * PASSED
        needed = sums[:, PairNumber.ROW :] @ per[PairNumber.ROW :] + 64 * np.arange(len(sums))
        budget = self.device.budget_bytes()
        require_room(self.device, int(needed[1]), budget, f"the rows of a pair of {table[begin, 1]:,} residues,")
        cells = np.concatenate([[0], np.cumsum(table[begin:-1, PairNumber.M] * table[begin:-1, PairNumber.N])])
        fits = (needed <= budget) & (cells <= self.pace.cells) & (sums[:, PairNumber.ROW] * most < 1 << 31)
        return begin + max(int(np.flatnonzero(fits & (sums[:, PairNumber.STEP] < 1 << 31))[-1]), 1)

    def _launch(
        self, program: Program, codes: Buffer, border: list[Buffer], table: Ints, height: int, most: int
    ) -> Found:
        """Compute pairs in one launch; the last row of `table` marks their end."""
        group, n_pairs = self.shape.group, len(table) - 1
        numbers = table.copy()
        numbers[:, PairNumber.ROW :] -= table[0, PairNumber.ROW :]
        n_rows, n_steps, n_edges = (int(number) for number in numbers[-1, PairNumber.ROW :])
        with self.device.scope() as memory:
            pairs = memory.upload(numbers[:-1].astype(np.int32))
            edges, totals = memory.allocate(max(4 * PASSED * n_edges, 4)), memory.allocate(16 * n_pairs)
            kept = memory.allocate(4 * words(height) * group * n_steps)
            given = (codes, pairs, *self._arrays)
            program.launch("ends", n_pairs, group, *given, *border[:2], edges, kept, totals)
            found, sizes = memory.allocate(4 * most * n_rows), memory.allocate(4 * n_rows)
            distances = memory.allocate(4 * n_pairs)
            program.launch(
                "posteriors", n_pairs, group, *given, *border[2:], edges, kept, totals, most, found, sizes, distances
            )
            if self.keep > 0:
                kept_elements = (self.keep * table[:-1, PairNumber.M] * table[:-1, PairNumber.N]).astype(np.int32)
                program.launch("shares", n_pairs, group, pairs, memory.upload(kept_elements), most, found, sizes)
            row_sizes = memory.download(sizes, np.int32, n_rows)
            if not 0 <= int(row_sizes.min()) <= int(row_sizes.max()) <= most:
                raise DeviceError(f"{self.device.name}: the GPU returned wrong numbers: add {named('device')} cpu")
            starts = np.concatenate([[0], np.cumsum(row_sizes, dtype=np.int64)])
            n_elements = int(starts[-1])
            columns, values = memory.allocate(2 * n_elements + 2), memory.allocate(2 * n_elements + 2)
            begins = memory.upload(starts.astype(np.int32))
            program.launch("pack", -(-n_rows // group), group, found, most, begins, n_rows, columns, values)
            return (
                memory.download(distances, np.float32, n_pairs),
                row_sizes.astype(np.uint16),
                memory.download(columns, np.uint16, n_elements),
                memory.download(values, np.uint16, n_elements),
            )


def _table(offsets: Ints, pairs: NDArray[np.int32], height: int, group: int) -> Ints:
    """Return the numbers of the pairs by `PairNumber`, with a last row of totals."""
    x, y = pairs[:, 0], pairs[:, 1]
    m, n = offsets[x + 1] - offsets[x], offsets[y + 1] - offsets[y]
    strips = -(-m // (height * group))
    table = np.zeros((len(pairs) + 1, PAIR_INTS), np.int64)
    table[:-1, : PairNumber.ROW] = np.column_stack([offsets[x], m, offsets[y], n])
    table[1:, PairNumber.ROW] = np.cumsum(m)
    table[1:, PairNumber.STEP] = np.cumsum(strips * (n + group - 1))
    table[1:, PairNumber.EDGE] = np.cumsum(np.where(strips > 1, n, 0))
    return table


class _Result:
    """Results of subsets of the pairs, to be joined in the order of the pairs."""

    def __init__(self, m: Ints) -> None:
        self._m = m
        self._which: list[Ints] = []
        self._found: list[Found] = []

    def put(self, which: Ints, found: Found) -> None:
        """Store the results of some pairs."""
        self._which.append(which)
        self._found.append(found)

    def joined(self) -> Found:
        """Return all results in the order of the pairs."""
        empty = (np.zeros(0, np.float32), *(np.zeros(0, np.uint16) for _ in range(3)))
        distance, row_sizes, columns, values = (
            np.concatenate(parts) for parts in zip(empty, *self._found, strict=True)
        )
        which = np.concatenate([np.zeros(0, np.int64), *self._which])
        if np.array_equal(which, np.arange(len(which))):
            return distance, row_sizes, columns, values
        order = np.argsort(which)
        rows = _runs(self._m[which], order)
        elements = _runs(row_sizes.astype(np.int64), rows)
        return distance[order], row_sizes[rows], columns[elements], values[elements]


def _runs(sizes: Ints, order: Ints) -> Ints:
    """Return the element indices of runs of given sizes, run after run in another order."""
    starts, taken = np.cumsum(sizes) - sizes, sizes[order]
    indices: Ints = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken - starts[order], taken)
    return indices


#: Few rows per lane, so that little is compiled; and lengths of the sequences, the longest of which takes two
#: strips.
SHAPE = Shape(rows=(4,))
LENGTHS = (30, 90, 150)
#: Maximum difference of posteriors and distances from the CPU's.
TOLERANCE = 1e-4
CUTOFF = 0.01
#: Letters of profiles, the blank included.
N_LETTERS = 25


def check_gpu(gpu: Gpu) -> None:
    """Compute posteriors of related proteins, each against each; raises DeviceError if they differ from the CPU's."""
    rng = np.random.default_rng(9)
    common = rng.integers(0, 20, max(LENGTHS))
    texts = [np.where(rng.random(n) < 0.6, common[:n], rng.integers(0, 20, n)).astype(np.uint8) for n in LENGTHS]
    codes, offsets = np.concatenate(texts), np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    pairs = np.array([(x, y) for x in range(len(texts)) for y in range(len(texts)) if x != y], np.int32)
    got = PosteriorsOnGpu(gpu, PROTEIN_2, CUTOFF, shape=SHAPE).posteriors(codes, offsets, pairs)
    wanted = _native.pair_posteriors(
        codes, offsets, pairs, **PROTEIN_2.arguments(), cutoff=CUTOFF, keep=0.0, n_threads=1
    )
    if max(difference(got, wanted, CUTOFF)) > TOLERANCE:
        raise DeviceError(f"{gpu.name}: its posteriors differ from those of the CPU")
    # Profiles so long that they take two strips get the same paths as on the CPU.
    profiles = [rng.dirichlet(np.full(N_LETTERS, 0.2), n) for n in LENGTHS[:2]]
    profiles[0][::3] = np.eye(N_LETTERS)[-1]
    aligned = ProfilesOnGpu(gpu)
    found_paths: list[Any] = [*aligned.profiles([(profiles[1], profiles[0])])[0]]
    paths: list[Any] = [*_native.align_profiles(profiles[1], profiles[0])]
    scores = rng.integers(-4, 9, (N_LETTERS, N_LETTERS)).astype(np.float64)
    codes = rng.integers(0, N_LETTERS - 1, LENGTHS[0]).astype(np.uint8)
    found_paths += aligned.sequences([(profiles[1], codes)], scores)[0]
    paths += _native.align_profile_to_sequence(profiles[1], codes, scores)
    if not all(np.array_equal(one, other) for one, other in zip(found_paths, paths, strict=True)):
        raise DeviceError(f"{gpu.name}: its profile alignments differ from those of the CPU")


def difference(got: Found, wanted: Found, cutoff: float) -> tuple[float, float]:
    """Return the largest differences between two results for the same pairs: of distances, and of posteriors.

    An element that only one of them has is compared with the cutoff.
    """
    if len(got[0]) != len(wanted[0]) or len(got[1]) != len(wanted[1]):
        return np.inf, np.inf
    rows = [np.repeat(np.arange(len(found[1])), found[1]).astype(np.int64) for found in (got, wanted)]
    places = [row * (ONE * 2 + 2) + found[2] for row, found in zip(rows, (got, wanted), strict=True)]
    both = np.union1d(*places)
    values = np.full((2, len(both)), int(cutoff * ONE))
    for k, (place, found) in enumerate(zip(places, (got, wanted), strict=True)):
        values[k, np.searchsorted(both, place)] = found[3]
    apart = np.abs(values[0] - values[1]).max(initial=0) / ONE
    return float(np.abs(got[0] - wanted[0]).max(initial=0)), float(apart)
