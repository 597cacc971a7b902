"""Training of hidden Markov models from observations alone (Baum and Welch; Rabiner 1989, III.C)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError
from tropalign.machine.numbers import whole_number

PartName = Literal["start", "transition", "emission"]
PARTS = get_args(PartName)
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
            "the model cannot make this sequence: leave it out, or give all that occurs a probability",
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
                raise UsageError(f"{word!r} is no part of a model: fix one or more of {', '.join(PARTS)}")


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
