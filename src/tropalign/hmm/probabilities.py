"""Probabilities from callers and files, checked: what is wrong is said with its row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown

#: How far the sum of a row may be from 1.
TOLERANCE = 1e-6
MOST_STATES = 1 << 14


def checked_probabilities(
    name: str, given: Any, shape: tuple[int | None, ...], states: tuple[str, ...] | None
) -> NDArray[np.float64]:
    """Rows that sum to 1, as an array of its own that cannot be written to.

    Parameters
    ----------
    name
        What messages call it.
    shape
        The shape that it has to have; None where any number from 1 on will do.
    states
        What rows are called.

    Raises
    ------
    InputError
        Another shape; a number that is negative, or no number; a row that does not sum to 1 within 1e-6.
    """
    try:
        if isinstance(given, np.ma.MaskedArray) or np.iscomplexobj(given):
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
            raise InputError(f"{where} sums to {total:.9g} and not to 1: mend it, or divide the row by its sum")
    made.flags.writeable = False
    return made


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "of one number"


def logs_of(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithms; -inf of 0."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
