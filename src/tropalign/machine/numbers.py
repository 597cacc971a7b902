"""Numbers of callers and of environment variables, checked: whole ones of any integer type, within bounds."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from tropalign.errors import UsageError, named

#: Threads at most: more than any machine has.
MOST_THREADS = 1024
#: Bytes of memory at most, so that native code can count them.
MOST_BYTES = 1 << 60


def whole_number(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """A whole number of any integer type, within bounds. Raises UsageError, naming the argument, on anything else."""
    try:
        number = operator.index("" if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except TypeError:  # also that of an array of several numbers
        raise UsageError(f"{named(name)} {value!r} is not a whole number") from None
    if (least is not None and number < least) or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{named(name)} {number} is out of range: give a number {bounds}")
    return number


def decimal_number(name: str, value: Any) -> int | float:
    """A finite number, as an int where it is whole. Raises UsageError, naming the argument, on anything else."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, Real | Decimal) or not math.isfinite(value):
        raise UsageError(f"{named(name)} {value!r} is not a number")
    nearest = float(value)
    return int(nearest) if nearest.is_integer() else nearest


def checked_choice(name: str, value: Any) -> None:
    """Raises UsageError, naming the argument, on anything but True and False."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise UsageError(f"{named(name)} is a {type(value).__name__}: give True or False")


def checked_threads(n_threads: Any) -> int:
    """`n_threads` from 0 (all that there are) to 1024. Raises UsageError on anything else."""
    return whole_number("n_threads", n_threads, 0, MOST_THREADS)


def checked_memory(memory_bytes: Any) -> int | None:
    """Bytes of memory to take at most, None for a share of what is free. Raises UsageError on anything else."""
    if isinstance(memory_bytes, float) and math.isfinite(memory_bytes) and memory_bytes == int(memory_bytes):
        memory_bytes = int(memory_bytes)
    return None if memory_bytes is None else min(whole_number("memory_bytes", memory_bytes, 1), MOST_BYTES)


def environment_number(name: str, text: str) -> int:
    """The variable's value, at least 1. Raises UsageError on anything else."""
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= 1):
        raise UsageError(f"{name}={text!r} is no whole number above 0: unset the variable or mend it")
    return int(text)
