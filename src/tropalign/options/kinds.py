"""Kinds of option values: how command-line text is parsed, and the names of the kinds in forms and the server's API."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

#: Largest magnitude of numeric options: kernels compute with 32 bits.
MOST = 2**31 - 1


@dataclass(frozen=True)
class Kind:
    """Parser of a value's text, with the kind's name and range for forms and the API.

    `name` is "whole" (an integer), "number" or "text". `parse` converts text, or raises ValueError with the
    reason. `least` and `most` are the inclusive range of a number, None for text.
    """

    name: Literal["whole", "number", "text"]
    parse: Callable[[str], Any]
    least: float | None = None
    most: float | None = None

    def takes(self, word: str) -> bool:
        """True if the text is of this kind."""
        try:
            self.parse(word)
        except ValueError:
            return False
        return True


def whole(least: int = -MOST, most: int = MOST) -> Kind:
    """Return the kind of integers from `least` to `most`."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text):
            raise ValueError(f"{text!r} is not a whole number")
        value = int(text)
        if value < least:
            raise ValueError(f"{value} is below {least}")
        if value > most:
            raise ValueError(f"{value} is above {most}")
        return value

    return Kind("whole", parse, least, most)


def _decimal(text: str) -> int | float:
    if not re.fullmatch(r"\s*[+-]?([0-9]{1,18}(\.[0-9]*)?|\.[0-9]+)\s*", text):
        raise ValueError(f"{text!r} is not a number")
    value = float(text)
    if abs(value) > MOST:
        raise ValueError(f"{text.strip()} is {'below' if value < 0 else 'above'} {-MOST if value < 0 else MOST}")
    return int(value) if value.is_integer() else value


def _float(text: str) -> float:
    """Convert text to float, nan if it is not a number; unlike `float`, reject 1_000 and digits of other scripts."""
    is_number = re.fullmatch(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?\s*", text)
    return float(text) if is_number else math.nan


def _fraction(text: str) -> float:
    value = _float(text)
    if not 0 <= value <= 1:
        raise ValueError(f"{text!r} is not a fraction between 0 and 1")
    return value


def number(least: float, most: float) -> Kind:
    """Return the kind of numbers from `least` to `most`.

    Every number has a range: values far outside practical use cause infinities and loss of precision.
    """

    def parse(text: str) -> float:
        value = _float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text!r} is not a number")
        if value <= 0 < least:
            raise ValueError(f"{text!r} is not above 0: give a number from {least:g} to {most:g}")
        if not least <= value <= most:
            side = "below" if value < least else "above"
            bound = least if value < least else most
            raise ValueError(f"{text!r} is {side} {bound:g}: give a number from {least:g} to {most:g}")
        return value

    return Kind("number", parse, least, most)


#: A number with or without decimals, converted to int if it is integral.
DECIMAL = Kind("number", _decimal, -MOST, MOST)
#: A number from 0 to 1.
FRACTION = Kind("number", _fraction, 0, 1)
#: An E-value: smaller ones are written as 0, and no search expects more hits.
E_VALUE = number(1e-300, 1e300)
#: A score in bits.
BITS = number(-1e9, 1e9)
#: A P-value; as in HMMER, values above 1 act as 1.
P_VALUE = number(0, 1e9)
#: A size, weight, factor or duration above 0.
POSITIVE = number(1e-9, 1e9)
#: An amount of 0 or more.
AMOUNT = number(0, 1e9)
#: Text that is neither a file name nor an address, so that forms have a field for it.
TEXT = Kind("text", str)


class Choices:
    """Allowed values of an option, imported only when they are needed.

    `module` and `name` locate a dict (its keys are the values) or a sequence; `more` are values in front of these.
    """

    def __init__(self, module: str, name: str, *more: str) -> None:
        self._module, self._name, self._more = module, name, more

    def __iter__(self) -> Iterator[str]:
        return iter((*self._more, *getattr(import_module(self._module), self._name)))

    def __contains__(self, word: object) -> bool:
        return word in tuple(self)
