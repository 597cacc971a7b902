"""Checks of texts and probabilities of hidden Markov models; errors name the state or row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import is_masked
from tropalign.errors import InputError, shown


def checked_words(name: str, given: Sequence[str] | None, count: int) -> tuple[str, ...] | None:
    """Return a text per state, or None; raises InputError for anything else."""
    if given is None:
        return None
    words = _tuple_of(name, given)
    if len(words) != count or not all(isinstance(word, str) and word for word in words):
        raise InputError(f"{name} are {len(words)} for {count} states: give a text per state")
    return words


def _tuple_of(name: str, given: Any) -> tuple[Any, ...]:
    """Convert to a tuple."""
    try:
        return tuple(given)
    except TypeError:
        raise InputError(f"{name} is of type {type(given).__name__}: give a list of texts") from None


def checked_report(given: str | Sequence[str], labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named labels, or all; raises InputError for an unknown label."""
    report = _tuple_of("report", [given] if isinstance(given, str) else given)
    for label in report:
        if label not in labels:
            raise InputError(
                f"report names {label!r}, which is the label of no state: name some of {', '.join(labels)}"
            )
    return tuple(label for label in labels if label in report) if report else labels


def checked_symbols(
    symbols: str | Sequence[str] | None, missing: str, n_symbols: int
) -> tuple[tuple[str, ...] | None, str]:
    """Return a letter per symbol, or None, and the missing letters; raises InputError for invalid letters."""
    if symbols is None:
        if missing:
            raise InputError("letters are missing observations only where symbols are letters: give symbols, too")
        return None, ""
    letters = _tuple_of("symbols", symbols)
    if not isinstance(missing, str):
        raise InputError(f"missing is of type {type(missing).__name__}: give a text of letters")
    if len(letters) != n_symbols:
        raise InputError(
            f"there are {len(letters)} symbols and {n_symbols} columns of emission: give a symbol per column"
        )
    if not all(isinstance(a, str) and len(a) == 1 and a.isascii() and a.isprintable() for a in (*letters, *missing)):
        raise InputError("a symbol is no printable ASCII letter: give one letter per column, or observe codes")
    if len({*letters, *missing}) < len(letters) + len(missing):
        raise InputError("a symbol occurs twice among symbols and missing ones: name each once")
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
        raise InputError(f"{name} is no array of numbers: give rows of equal length") from None
    if len(made.shape) != len(shape) or any(
        (n != want if want is not None else n < 1) for n, want in zip(made.shape, shape, strict=True)
    ):
        wanted = " x ".join("any number" if n is None else str(n) for n in shape)
        raise InputError(f"{name} has the shape {_shape(made.shape)} and needs {wanted}: a row per state")
    rows = made.reshape(1, -1) if made.ndim == 1 else made
    for k, row in enumerate(rows):
        where = name if made.ndim == 1 else f"row {k}{f' ({shown(states[k])})' if states else ''} of {name}"
        wrong = ~((row >= 0) & (row < np.inf))
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InputError(f"{where} has {row[at]} in column {at}: probabilities are numbers from 0 to 1")
        total = float(row.sum())
        if abs(total - 1) > TOLERANCE:
            raise InputError(f"{where} sums to {total:.9g} and not to 1: correct it, or divide the row by its sum")
    made.flags.writeable = False
    return made


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "of one number"


def logs_of(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural logarithms; -inf for 0."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
