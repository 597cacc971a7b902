"""Computations with a hidden Markov model: random sequences, best paths and sums, in native code or on GPUs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.registry import devices_for
from tropalign.hmm.fitting import Counts
from tropalign.hmm.model_checks import logs_of
from tropalign.hmm.observations import Observations
from tropalign.machine.threads import resolve_threads
from tropalign.properties import cached_property

if TYPE_CHECKING:
    from tropalign.execution.task import Device


def sampled(
    start: NDArray[np.float64],
    transition: NDArray[np.float64],
    emission: NDArray[np.float64],
    n: int,
    seed: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw codes and states of n positions."""
    draws = np.random.default_rng(seed).random((2, n))
    steps, emissions = np.cumsum(transition, axis=1), np.cumsum(emission, axis=1)
    states, codes = np.zeros(n, np.int64), np.zeros(n, np.int64)
    before = np.cumsum(start)
    for t in range(n):
        states[t] = _drawn(before, draws[0, t])
        before = steps[states[t]]
        codes[t] = _drawn(emissions[states[t]], draws[1, t])
    return codes, states


def _drawn(cumulative: NDArray[np.float64], draw: float) -> int:
    """Return the first index whose cumulative probability exceeds the draw, a number from 0 to 1."""
    return int(np.searchsorted(cumulative, draw * cumulative[-1], side="right"))


#: Minimum number of sequences for which `auto` considers GPUs: fewer do not keep a GPU busy enough.
FEWEST_SEQUENCES = 1000
#: Minimum number of sums, of about 0.3 ns each, for starting threads: a thread takes 20 to 50 us to start.
FEWEST_SUMS = 50_000
#: Maximum states of a model on GPUs (gpu.py).
MOST_STATES_OF_GPU = 1024


class ModelCalls:
    """The checked probabilities of a model in native form, and the calls of native code.

    `start`: float64, shape (n_states,). `transition`: float64, shape (n_states, n_states). `emission`: float64,
    shape (n_states, n_symbols), or None.
    """

    def __init__(
        self, start: NDArray[np.float64], transition: NDArray[np.float64], emission: NDArray[np.float64] | None
    ) -> None:
        self._start, self._transition, self._emission = start, transition, emission

    @cached_property
    def emission_of_codes(self) -> NDArray[np.float64]:
        """Emissions, and a last column of ones for missing observations."""
        assert self._emission is not None
        return np.hstack([self._emission, np.ones((len(self._emission), 1))])

    @cached_property
    def logs(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]:
        """Logarithms of start, transition and `emission_of_codes`; the last is None without symbols."""
        emission = None if self._emission is None else logs_of(self.emission_of_codes)
        return logs_of(self._start), logs_of(self._transition), emission

    def best_paths(
        self, seen: Observations, n_threads: int, device: str | Iterable[str]
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the paths of all sequences, one after another, and their scores (`HMM.viterbi`)."""
        if (devices := self._devices(device, seen, n_threads)) is None:
            return self._paths_on_cpu(seen, self._threads(seen, n_threads))
        from tropalign.hmm.model_task import paths_on

        start, transition, emission = self.logs
        tables = (start, transition, None if seen.codes is None else emission)
        return paths_on(devices, seen, tables, self._paths_on_cpu)

    def _paths_on_cpu(self, seen: Observations, n_threads: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        start, transition, emission = self.logs
        if seen.codes is not None and emission is not None:
            return _native.viterbi_codes(start, transition, emission, seen.codes, seen.offsets, n_threads)
        assert seen.frames is not None
        return _native.viterbi_frames(start, transition, seen.frames, seen.offsets, n_threads)

    def likelihoods(self, seen: Observations, n_threads: int, device: str | Iterable[str]) -> NDArray[np.float64]:
        """Return the log-likelihood of each sequence (`HMM.forward`)."""
        if (devices := self._devices(device, seen, n_threads, is_same=False)) is None:
            return self._sums_on_cpu(seen, self._threads(seen, n_threads))
        from tropalign.hmm.model_task import sums_on

        emission = None if seen.codes is None else self.emission_of_codes
        return sums_on(devices, seen, (self._start, self._transition, emission), self._sums_on_cpu)

    def _sums_on_cpu(self, seen: Observations, n_threads: int) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._native("hmm_forward", seen, n_threads)
        return found

    def posteriors(self, seen: Observations, n_threads: int) -> NDArray[np.float64]:
        """Return the posteriors of all positions of all sequences, a row each (`HMM.posterior`)."""
        rows: NDArray[np.float64] = self._native("hmm_posteriors", seen, self._threads(seen, n_threads))[0]
        return rows

    def counts(self, seen: Observations, n_threads: int) -> Counts:
        """Return log-likelihoods, and the expected counts of starts, steps and symbols (`HMM.fit`)."""
        likelihoods, starts, steps, symbols = self._native("hmm_counts", seen, n_threads)
        n_symbols = 0 if self._emission is None else self._emission.shape[1]
        return likelihoods, starts, steps, symbols[:n_symbols].T

    def _devices(
        self, device: str | Iterable[str], seen: Observations, n_threads: int, is_same: bool = True
    ) -> list[Device] | None:
        """Return the devices that share the sequences; None for the CPU alone."""
        if type(device) is str and (device == "cpu" or (device == "auto" and len(seen.offsets) <= FEWEST_SEQUENCES)):
            return None
        n_states = len(self._start)
        n_sequences, n_sums = len(seen.offsets) - 1, int(seen.offsets[-1]) * n_states**2
        without_kernel = f"models of {n_states:,} states" if n_states > MOST_STATES_OF_GPU else None
        cost = n_sums if n_sequences >= FEWEST_SEQUENCES else min(n_sums, 1)
        return devices_for(device, n_threads, cost, without_kernel, is_same=is_same)

    def _threads(self, seen: Observations, n_threads: int) -> int:
        """Return the number of threads; one, without looking for more, if the work is shorter than their start."""
        if type(n_threads) is int and n_threads == 0 and int(seen.offsets[-1]) * len(self._start) ** 2 < FEWEST_SUMS:
            return 1
        return resolve_threads(n_threads)

    def _native(self, name: str, seen: Observations, n_threads: int) -> Any:
        """Call the native function of that name for codes or frames."""
        model = (self._start, self._transition)
        if seen.codes is not None:
            call = getattr(_native, f"{name}_codes")
            return call(*model, self.emission_of_codes, seen.codes, seen.offsets, n_threads)
        return getattr(_native, f"{name}_frames")(*model, seen.frames, seen.offsets, n_threads)
