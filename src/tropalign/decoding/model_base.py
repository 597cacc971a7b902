"""Computations with a hidden Markov model: random sequences, best paths and sums, in native code or on GPUs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import is_masked
from tropalign.decoding.observations import Observations
from tropalign.decoding.options import PARTS, PartName
from tropalign.devices.registry import devices_for
from tropalign.errors import InputError, UsageError, shown
from tropalign.properties import cached_property
from tropalign.resources.limits import resolve_threads, whole_number

if TYPE_CHECKING:
    from tropalign.execution.task import Device

#: Log-likelihoods of sequences, and the expected counts of starts, steps and symbols (a row per symbol).
Counts = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


#: Maximum tolerance and pseudocount, so that sums of a row stay finite.
_MOST_OPTION = 1e300


class ImpossibleSequenceError(InputError):
    """A sequence that the model cannot generate.

    `number`: index of the sequence, from 0. `record`: by default this number, counted from 1.
    """

    def __init__(self, number: int, *, file: str | None = None, record: str | None = None) -> None:
        self.number = number
        super().__init__(
            "the model cannot generate this sequence: leave it out, or give its symbols and transitions a "
            "probability above 0",
            file=file,
            record=record or f"number {number + 1}",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the number; the default would pickle the whole sentence in its place."""
        return partial(type(self), self.number, file=self.file, record=self.record), ()


@dataclass(frozen=True)
class FitOptions:
    """Options for training a model.

    `n_rounds`: maximum. `tolerance`: training ends when a round improves the log-likelihood by less than this.
    `pseudocount`: added to the expected count of everything that is possible in the given model. `fixed`: parts
    that do not change: "start", "transition", "emission".
    """

    n_rounds: int = 100
    tolerance: float = 0.01
    pseudocount: float = 0.0
    fixed: Collection[PartName] = ()

    def __post_init__(self) -> None:
        whole_number("n_rounds", self.n_rounds, 0)
        for name in ("tolerance", "pseudocount"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.floating) or not 0 <= value <= _MOST_OPTION:
                raise UsageError(f"{name} {value!r} is not a number from 0 to {_MOST_OPTION:g}")
        if not isinstance(self.fixed, Collection):
            raise UsageError(f"fixed is of type {type(self.fixed).__name__}: give a list of {', '.join(PARTS)}")
        for word in [self.fixed] if isinstance(self.fixed, str) else self.fixed:
            if word not in PARTS:
                raise UsageError(f"{word!r} is not a part of a model: fix one or more of {', '.join(PARTS)}")


def fitted(
    parts: dict[str, NDArray[np.float64]],
    count: Callable[[dict[str, NDArray[np.float64]]], Counts],
    options: FitOptions,
    progress: Callable[[int], object] | None,
) -> tuple[dict[str, NDArray[np.float64]], tuple[float, ...]]:
    """Train the parts of a model; also return the log-likelihood before each round and after the last one.

    `parts`: by the names of PARTS; "emission" may be missing. `count` returns the counts under given parts. Raises
    ImpossibleSequenceError with a sequence's number.
    """
    history: list[float] = []
    fixed = [options.fixed] if isinstance(options.fixed, str) else options.fixed
    while True:
        likelihoods, *counts = count(parts)
        if np.isneginf(likelihoods).any():
            raise ImpossibleSequenceError(int(np.argmax(np.isneginf(likelihoods))))
        history.append(float(likelihoods.sum()))
        gain = history[-1] - history[-2] if len(history) > 1 else float("inf")
        if len(history) > options.n_rounds or gain < options.tolerance:
            return parts, tuple(history)
        found = dict(zip(PARTS, counts, strict=True))
        parts = {
            name: part if name in fixed else _shares(part, found[name], options.pseudocount)
            for name, part in parts.items()
        }
        if progress:
            progress(len(history))


def _shares(part: NDArray[np.float64], counts: NDArray[np.float64], pseudocount: float) -> NDArray[np.float64]:
    """Return counts as shares of their rows; a row without counts stays as it was."""
    counts = np.where(part > 0, counts + pseudocount, 0)
    totals = counts.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1), part)


def checked_words(name: str, given: Sequence[str] | None, count: int) -> tuple[str, ...] | None:
    """Return a text per state, or None; raises InputError for anything else."""
    if given is None:
        return None
    words = _tuple_of(name, given)
    if len(words) != count or not all(isinstance(word, str) and word for word in words):
        raise InputError(f"{name} has {len(words)} values for {count} states: give a non-empty string per state")
    return words


def _tuple_of(name: str, given: Any) -> tuple[Any, ...]:
    """Convert to a tuple."""
    try:
        return tuple(given)
    except TypeError:
        raise InputError(f"{name} is of type {type(given).__name__}: give a list of strings") from None


def checked_report(given: str | Sequence[str], labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named labels, or all; raises InputError for an unknown label."""
    report = _tuple_of("report", [given] if isinstance(given, str) else given)
    for label in report:
        if label not in labels:
            raise InputError(
                f"report names {label!r}, which is not a label of the model: choose from {', '.join(labels)}"
            )
    return tuple(label for label in labels if label in report) if report else labels


def checked_symbols(
    symbols: str | Sequence[str] | None, missing: str, n_symbols: int
) -> tuple[tuple[str, ...] | None, str]:
    """Return a letter per symbol, or None, and the missing letters; raises InputError for invalid letters."""
    if symbols is None:
        if missing:
            raise InputError("missing letters require symbols: give symbols as well")
        return None, ""
    letters = _tuple_of("symbols", symbols)
    if not isinstance(missing, str):
        raise InputError(f"missing is of type {type(missing).__name__}: give a string of letters")
    if len(letters) != n_symbols:
        raise InputError(
            f"there are {len(letters)} symbols and {n_symbols} columns of emission: give a symbol per column"
        )
    if not all(isinstance(a, str) and len(a) == 1 and a.isascii() and a.isprintable() for a in (*letters, *missing)):
        raise InputError("a symbol is not a printable ASCII character: give one character per column, or observe codes")
    if len({*letters, *missing}) < len(letters) + len(missing):
        raise InputError("a letter occurs twice in symbols and missing: list each once")
    return letters, missing


#: Maximum difference of a row's sum from 1.
TOLERANCE = 1e-6
MOST_STATES = 1 << 14


def checked_probabilities(
    name: str, given: Any, shape: tuple[int | None, ...], states: tuple[str, ...] | None
) -> NDArray[np.float64]:
    """Return rows that sum to 1, as a read-only copy; raises InputError for other numbers or shapes.

    `shape`: required shape; None allows any number from 1. `name`, `states`: names of the array and of rows in
    messages.
    """
    try:
        if is_masked(given) or np.iscomplexobj(given):
            raise TypeError
        made = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is not an array of numbers: give rows of equal length") from None
    if len(made.shape) != len(shape) or any(
        (n != want if want is not None else n < 1) for n, want in zip(made.shape, shape, strict=True)
    ):
        wanted = " x ".join("any number" if n is None else str(n) for n in shape)
        found = " x ".join(map(str, made.shape)) or "of a single number"
        raise InputError(f"{name} has the shape {found} instead of {wanted}: give a row per state")
    rows = made.reshape(1, -1) if made.ndim == 1 else made
    for k, row in enumerate(rows):
        where = name if made.ndim == 1 else f"row {k}{f' ({shown(states[k])})' if states else ''} of {name}"
        wrong = ~((row >= 0) & (row < np.inf))
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InputError(f"{where} has {row[at]} in column {at}: give probabilities from 0 to 1")
        total = float(row.sum())
        if abs(total - 1) > TOLERANCE:
            raise InputError(f"{where} sums to {total:.9g} instead of 1: correct it, or divide the row by its sum")
    made.flags.writeable = False
    return made


def logs_of(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural logarithms; -inf for 0."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


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
        from tropalign.decoding.gpu import paths_on

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
        from tropalign.decoding.gpu import sums_on

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
