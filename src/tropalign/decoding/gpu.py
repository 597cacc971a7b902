"""Best paths and forward sums of hidden Markov models on a GPU (hmm.k), with the CPU's paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.decoding.observations import Observations
from tropalign.devices.gpu import Buffer, Gpu, Memory, Pace, Program, Programs, kernel_source, require_room
from tropalign.devices.registry import DeviceCache
from tropalign.errors import DeviceError
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import CostList, Device, Progress, Tile, cuts
from tropalign.properties import cached

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Maximum states: local memory holds the values of two sequences.
MOST_STATES = 1024
#: Lanes per group.
GROUP = 64
#: Sums of the first launch, before the device's rate is known.
FIRST_SUMS = 20_000_000_000
#: Numbers of native/decoding/viterbi_model.hpp: logarithms below MOST_ROUNDED are rounded to multiples of QUANTUM; V is
#: rescaled every VITERBI_PERIOD steps.
QUANTUM, MOST_ROUNDED, VITERBI_PERIOD = 2.0**-36, 2.0**15, 32
#: A forward sum is rescaled to 1 before it can fall below 2 to this power, which is well within doubles' range.
LEAST_EXPONENT = -900


@dataclass(frozen=True)
class Shape:
    """Distribution of states and sequences to lanes.

    `abreast`: sequences per lane.
    """

    abreast: int = 4

    def lanes(self, n_states: int) -> int:
        """Return the lanes per sequence: a power of two."""
        return int(min(1 << (n_states - 1).bit_length(), GROUP))

    def constants(self, n_states: int, *, sums: bool, frames: bool) -> dict[str, int]:
        """Return the compile-time constants of the kernels."""
        lanes = self.lanes(n_states)
        return {
            "SIMT_WORD": 32,
            "HMM_STATES": n_states,
            "HMM_LANES": lanes,
            "HMM_ABREAST": self.abreast if n_states <= MOST_STATES // 2 else min(self.abreast, 2),
            "HMM_SUMS": int(sums),
            "HMM_FRAMES": int(frames),
        }


@cached
def source() -> str:
    """Return the kernels as one text."""
    return kernel_source(Path(__file__).parent, "hmm.k")


class ModelsOnGpu:
    """Viterbi and forward on one device."""

    def __init__(self, device: Gpu, shape: Shape | None = None) -> None:
        self.device, self.shape = device, shape or Shape()
        self._programs = Programs(device, source())
        self.pace = Pace(FIRST_SUMS)

    def paths(
        self,
        start: Floats,
        transition: Floats,
        emission: Floats | None,
        observed: Observations,
        alive: Callable[[], None] | None = None,
    ) -> tuple[NDArray[Any], Floats]:
        """Compute the result of native ``viterbi_codes`` or ``viterbi_frames``.

        Tables are logarithms: `start`: (n_states,); `transition`: (n_states, n_states); `emission`: (n_states,
        n_symbols), or None if the steps are frames. `alive` is called repeatedly; an exception from it stops the
        work. Returns paths, shape (n_steps,), uint8 or with more than 256 states uint16; scores, float64, shape
        (n_sequences,).
        """
        tables = [rounded(start), rounded(transition)]
        given = rounded(observed.steps if emission is None else emission.T)
        swept = Observations.of(given, observed.offsets) if emission is None else observed
        states = np.zeros(len(observed.steps), np.uint16)

        def walked(batch: _Batch) -> None:
            memory, n = batch.memory, int(batch.lengths.sum())
            path, backward = memory.allocate(2 * n), memory.upload(np.ascontiguousarray(tables[1].T))
            groups = -(-len(batch.some) // GROUP)
            given = (batch.kept, backward, batch.begins, batch.sizes, len(batch.some), path)
            batch.program.launch("hmm_walk", groups, GROUP, *given)
            states[batch.steps] = memory.download(path, np.uint16, n)

        self._swept([*tables, given], swept, VITERBI_PERIOD, False, walked, alive)
        scores = path_scores(start, transition, emission, observed, states)
        return states.astype(np.uint8) if len(start) <= 256 else states, scores

    def forward(
        self,
        start: Floats,
        transition: Floats,
        emission: Floats | None,
        observed: Observations,
        alive: Callable[[], None] | None = None,
    ) -> Floats:
        """Return natural logarithms of the probabilities of sequences, within 1e-12 (relative) of the CPU's.

        The arguments are those of `paths` as probabilities, not logarithms. A sequence whose sum is below the
        range of doubles has -inf, like an impossible one.
        """
        given = observed.steps if emission is None else emission.T
        sums = np.zeros(len(observed.offsets) - 1)

        period = forward_period(start, transition, given)

        def summed(batch: _Batch) -> None:
            n, m = len(batch.some), len(batch.steps)
            kept = batch.memory.download(batch.kept, np.float64, n + m)
            own = np.repeat(np.arange(n), batch.lengths)
            since = np.arange(m) - np.repeat(np.cumsum(batch.lengths) - batch.lengths, batch.lengths)
            factors = np.flatnonzero(since % period == 0)
            with np.errstate(divide="ignore"):
                above = np.bincount(own[factors], np.log(kept[n + factors]), n)
                sums[batch.some] = np.log(kept[:n]) + above

        self._swept([start, transition, given], observed, period, True, summed, alive)
        return sums

    def _swept(
        self,
        tables: list[Floats],
        observed: Observations,
        period: int,
        sums: bool,
        done: Callable[[_Batch], None],
        alive: Callable[[], None] | None,
    ) -> None:
        """Compute sequences of similar lengths together, as many as fit the device's memory and take a short time."""
        lengths, n_states = np.diff(observed.offsets), len(tables[0])
        if n_states > MOST_STATES:
            raise DeviceError(f"{self.device.name}: models of {n_states:,} states are computed on the CPU only")
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        constants = self.shape.constants(n_states, sums=sums, frames=observed.are_frames)
        program = self._programs.get(constants, alive)
        at = 0
        with self.device.scope() as outer:
            upload = [outer.upload(np.ascontiguousarray(table)) for table in tables[: 3 - observed.are_frames]]
            while at < len(order):
                if alive:
                    alive()
                some = order[at : at + self._count(lengths[order[at:]], n_states, sums, observed.are_frames)]
                with self.device.scope() as memory, self.pace.measured(int(lengths[some].sum()) * n_states**2):
                    done(_launch(memory, program, upload, observed, some, period, constants))
                at += len(some)

    def _count(self, lengths: Ints, n_states: int, sums: bool, are_frames: bool) -> int:
        """Return the number of sequences of the next launch."""
        per_step = 8 * (n_states * (are_frames + (not sums)) + sums) + 3
        steps = np.cumsum(lengths)
        needed, budget = steps * per_step + 32 * np.arange(1, len(steps) + 1), self.device.budget_bytes()
        require_room(self.device, int(needed[0]), budget, f"the values of a sequence of {int(lengths[0]):,} steps")
        return max(int(((needed <= budget) & (steps * n_states**2 <= self.pace.cells)).sum()), 1)


@dataclass(frozen=True)
class _Batch:
    """Sequences of a launch: their indices, their steps one after another, and the buffers on the device."""

    memory: Memory
    program: Program
    some: Ints
    steps: Ints
    lengths: Ints
    begins: Buffer
    sizes: Buffer
    kept: Buffer


def _launch(
    memory: Memory,
    program: Program,
    model: list[Buffer],
    observed: Observations,
    some: Ints,
    period: int,
    constants: dict[str, int],
) -> _Batch:
    lengths = np.diff(observed.offsets)[some]
    begins = np.cumsum(lengths) - lengths
    steps = np.arange(lengths.sum()) + np.repeat(observed.offsets[some] - begins, lengths)
    chosen = memory.upload(observed.steps[steps])
    emission, codes = (chosen, chosen) if observed.are_frames else (model[2], chosen)
    n_states, sums = constants["HMM_STATES"], constants["HMM_SUMS"]
    kept = memory.allocate(8 * (len(some) + len(steps) if sums else len(steps) * n_states))
    at, sizes = memory.upload(begins), memory.upload(lengths.astype(np.int32))
    abreast = GROUP // constants["HMM_LANES"] * constants["HMM_ABREAST"]
    given = (*model[:2], emission, codes, at, sizes, len(some), period, kept)
    program.launch("hmm_sweep", -(-len(some) // abreast), GROUP, *given)
    return _Batch(memory, program, some, steps, lengths, at, sizes, kept)


def rounded(logs: Floats) -> Floats:
    """Round logarithms as native Viterbi does."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(logs) < MOST_ROUNDED, np.rint(logs / QUANTUM) * QUANTUM, logs)


def forward_period(start: Floats, transition: Floats, emission: Floats) -> int:
    """Return the steps in which the largest forward sum falls by at most 2 to the LEAST_EXPONENT."""
    least = [float(np.log2(table[table > 0].min(initial=1.0))) for table in (start, transition, emission)]
    return max(1, int(LEAST_EXPONENT / min(least[1] + least[2], -1.0) + min(least[0], 0) / 1024))


def path_scores(
    start: Floats, transition: Floats, emission: Floats | None, observed: Observations, states: NDArray[np.uint16]
) -> Floats:
    """Sum scores along paths from left to right: the start, then observations and transitions in turn."""
    n = len(states)
    explained = observed.steps[np.arange(n), states] if emission is None else emission[states, observed.steps]
    addends = np.empty((n, 2))
    addends[:, 1] = explained
    addends[1:, 0] = transition[states[:-1], states[1:]]
    begins, ends = observed.offsets[:-1], observed.offsets[1:]
    filled = begins < ends
    addends[begins[filled], 0] = start[states[begins[filled]]]
    scores = np.zeros(len(begins))
    for j in np.flatnonzero(filled):
        scores[j] = np.cumsum(addends[begins[j] : ends[j]])[-1]
    return scores


#: States and symbols of the model, and the lengths of the sequences.
N_STATES, N_SYMBOLS, LENGTHS = 12, 4, (1, 40, 90)


def check_gpu(gpu: Gpu) -> None:
    """Raise DeviceError if paths or sums differ from the CPU's."""
    models, rng = ModelsOnGpu(gpu), np.random.default_rng(9)
    start, transition, emission = (
        rng.dirichlet(np.ones(n), *rows)
        for n, rows in ((N_STATES, ()), (N_STATES, (N_STATES,)), (N_SYMBOLS, (N_STATES,)))
    )
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    observed = Observations.of(rng.integers(0, N_SYMBOLS, offsets[-1]).astype(np.uint8), offsets)
    logs = np.log(start), np.log(transition), np.log(emission)
    found, wanted = models.paths(*logs, observed), _native.viterbi_codes(*logs, observed.steps, offsets)
    if not all(map(np.array_equal, found, wanted)):
        raise DeviceError(f"{models.device.name}: its paths of hidden Markov models differ from those of the CPU")
    sums = models.forward(start, transition, emission, observed)
    plain = [plain_forward(start, transition, emission, observed.steps[a:b]) for a, b in pairwise(offsets)]
    if not np.allclose(sums, plain, rtol=1e-12, atol=0):
        raise DeviceError(f"{models.device.name}: its sums of hidden Markov models differ from those of the CPU")


def plain_forward(
    start: NDArray[np.float64], transition: NDArray[np.float64], emission: NDArray[np.float64], codes: NDArray[np.uint8]
) -> float:
    """Return the logarithm of a sequence's probability, by NumPy."""
    if not len(codes):
        return 0.0
    values, total = start * emission[:, codes[0]], 0.0
    for code in codes[1:]:
        highest = values.max()
        if highest == 0:
            break
        total += float(np.log(highest))
        values = (values / highest) @ transition * emission[:, code]
    with np.errstate(divide="ignore"):
        return total + float(np.log(values.sum()))


#: start, transition, and emission if there are codes.
Tables = tuple[Floats, Floats, Floats | None]
Alive = Callable[[], None] | None
#: Functions that compute some sequences: with a number of threads; and on a GPU.
OnCpu = Callable[[Observations, int], Any]
OnGpu = Callable[[ModelsOnGpu, Observations, Alive], Any]

#: Number of sums per tile, which takes some seconds of a core.
TILE_SUMS = 100_000_000_000


class ModelTask:
    """Sequences that a model explains, some neighbours per tile; `on_cpu` and `on_gpu` compute some of them."""

    def __init__(self, seen: Observations, n_states: int, on_cpu: OnCpu, on_gpu: OnGpu) -> None:
        self._seen, self._n_states, self._on_cpu, self._on_gpu = seen, n_states, on_cpu, on_gpu
        self._cache = DeviceCache()

    def tiles(self) -> Iterator[Tile]:
        """Yield tiles of neighbouring sequences."""
        offsets = self._seen.offsets
        costs, n = CostList((np.diff(offsets) + 1.0) * self._n_states**2), len(offsets) - 1
        for index, (begin, end) in enumerate(pairwise(cuts(costs, 0, n, n, TILE_SUMS))):
            steps = int(offsets[end] - offsets[begin])
            cost = int(costs.cost_before(end) - costs.cost_before(begin))
            yield Tile(index, cost, 8 * steps * self._n_states, end - begin, (begin, end))

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Any:
        """Compute the tile's sequences."""
        return self._on_cpu(self._seen.part(*tile.payload), n_threads)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> Any:
        """Compute the tile's sequences on a GPU."""
        models: ModelsOnGpu = self._cache.get(device, "models", partial(ModelsOnGpu, device))
        return self._on_gpu(models, self._seen.part(*tile.payload), progress and partial(progress, 0))


def paths_on(devices: Sequence[Device], seen: Observations, logs: Tables, on_cpu: OnCpu) -> tuple[NDArray[Any], Floats]:
    """Return the best paths, one after another, and their scores; `logs` are the logarithms of the model's tables."""

    def on_gpu(models: ModelsOnGpu, some: Observations, alive: Alive) -> tuple[NDArray[Any], Floats]:
        return models.paths(*logs, some, alive)

    task = ModelTask(seen, len(logs[0]), on_cpu, on_gpu)
    found = [result.value for result in Scheduler(devices).run([task])]
    return np.concatenate([paths for paths, _ in found]), np.concatenate([scores for _, scores in found])


def sums_on(devices: Sequence[Device], seen: Observations, tables: Tables, on_cpu: OnCpu) -> Floats:
    """Return the log-probability of each sequence; `tables` are probabilities, but frames are logarithms."""

    def on_gpu(models: ModelsOnGpu, some: Observations, alive: Alive) -> Floats:
        if some.frames is None:
            sums = models.forward(*tables, some, alive)
        else:  # the highest score of each step is subtracted, and added again to the sum
            highest = some.frames.max(axis=1, initial=-np.inf)
            highest[np.isneginf(highest)] = 0
            above = np.concatenate([[0.0], np.cumsum(highest)])[some.offsets]
            scaled = Observations.of(np.exp(some.frames - highest[:, None]), some.offsets)
            sums = models.forward(*tables, scaled, alive) + np.diff(above)
        for j in map(int, np.flatnonzero(np.isneginf(sums))):  # impossible, or below the range of doubles
            sums[j] = on_cpu(some.part(j, j + 1), 1)[0]
        return sums

    task = ModelTask(seen, len(tables[0]), on_cpu, on_gpu)
    return np.concatenate([result.value for result in Scheduler(devices).run([task])])
