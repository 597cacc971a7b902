"""Checks of numbers from callers and environment variables: any integer type, within bounds."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from tropalign.errors import UsageError, named

#: Maximum number of threads: more than any machine has.
MOST_THREADS = 1024
#: Maximum number of bytes, so that native code can count them.
MOST_BYTES = 1 << 60


def whole_number(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """Convert any integer type to int; raise UsageError on other types and outside the bounds."""
    try:
        number = operator.index("" if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except TypeError:  # also raised for an array of several numbers
        raise UsageError(f"{named(name)} {value!r} is not a whole number") from None
    if (least is not None and number < least) or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{named(name)} {number} is out of range: give a number {bounds}")
    return number


def decimal_number(name: str, value: Any) -> int | float:
    """Convert a finite number to int if it is integral, else to float; raise UsageError on anything else."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, Real | Decimal) or not math.isfinite(value):
        raise UsageError(f"{named(name)} {value!r} is not a number")
    nearest = float(value)
    return int(nearest) if nearest.is_integer() else nearest


def checked_choice(name: str, value: Any) -> None:
    """Raise UsageError, with the argument's name, on anything but True and False."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise UsageError(f"{named(name)} is a {type(value).__name__}: give True or False")


def checked_threads(n_threads: Any) -> int:
    """Check that `n_threads` is from 0 (all available threads) to 1024, or raise UsageError."""
    return whole_number("n_threads", n_threads, 0, MOST_THREADS)


def checked_memory(memory_bytes: Any) -> int | None:
    """Return the maximum memory in bytes, None for a share of the free memory; raise UsageError on anything else."""
    if isinstance(memory_bytes, float) and math.isfinite(memory_bytes) and memory_bytes == int(memory_bytes):
        memory_bytes = int(memory_bytes)
    return None if memory_bytes is None else min(whole_number("memory_bytes", memory_bytes, 1), MOST_BYTES)


def environment_number(name: str, text: str) -> int:
    """Return the value of the environment variable, at least 1, or raise UsageError."""
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= 1):
        raise UsageError(f"{name}={text!r} is not a whole number above 0: unset the variable or correct it")
    return int(text)
