"""Kinds of values: how a word of a command line becomes one, and what forms and the server's API call them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

#: What numbers of options may be at most: kernels compute with 32 bits.
MOST = 2**31 - 1


@dataclass(frozen=True)
class Kind:
    """How a word is read, and what it is called where no command line is.

    Parameters
    ----------
    name
        "whole" (a whole number), "number" or "text".
    parse
        Makes the value of a word; raises ValueError with what is wrong with the word.
    """

    name: Literal["whole", "number", "text"]
    parse: Callable[[str], Any]

    def takes(self, word: str) -> bool:
        """Whether the word is of this kind."""
        try:
            self.parse(word)
        except ValueError:
            return False
        return True


def whole(least: int = -MOST, most: int = MOST) -> Kind:
    """A whole number from `least` to `most`."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text):
            raise ValueError(f"{text!r} is not a whole number")
        value = int(text)
        if value < least:
            raise ValueError(f"{value} is below {least}")
        if value > most:
            raise ValueError(f"{value} is above {most}")
        return value

    return Kind("whole", parse)


def _decimal(text: str) -> int | float:
    if not re.fullmatch(r"\s*[+-]?([0-9]{1,18}(\.[0-9]*)?|\.[0-9]+)\s*", text):
        raise ValueError(f"{text!r} is not a number")
    value = float(text)
    if abs(value) > MOST:
        raise ValueError(f"{text.strip()} is {'below' if value < 0 else 'above'} {-MOST if value < 0 else MOST}")
    return int(value) if value.is_integer() else value


def _float(text: str) -> float:
    """The number, nan where the text is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _fraction(text: str) -> float:
    value = _float(text)
    if not 0 <= value <= 1:
        raise ValueError(f"{text!r} is not a fraction between 0 and 1")
    return value


def _number(text: str) -> float:
    value = _float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a number")
    return value


def _positive(text: str) -> float:
    value = _number(text)
    if value <= 0:
        raise ValueError(f"{text!r} is not above 0")
    return value


def _amount(text: str) -> float:
    value = _float(text)
    if not 0 <= value < math.inf:
        raise ValueError(f"{text!r} is not a number of 0 or more")
    return value


def _probability(text: str) -> float:
    value = _number(text)
    if value < 0:
        raise ValueError(f"{text!r} is below 0")
    return value


#: A number with decimals or without, an int where it is whole.
DECIMAL = Kind("number", _decimal)
#: A number from 0 to 1.
FRACTION = Kind("number", _fraction)
#: Any finite number.
NUMBER = Kind("number", _number)
#: A number above 0.
POSITIVE = Kind("number", _positive)
#: A number of 0 or more.
AMOUNT = Kind("number", _amount)
#: A P-value; as HMMER takes them, above 1 is as 1.
P_VALUE = Kind("number", _probability)
#: Any text that names neither a file nor an address: forms have a field for it.
TEXT = Kind("text", str)


class Choices:
    """Words that an option may have, learnt from what knows them only when they are needed.

    Parameters
    ----------
    module, name
        Where the words stand: keys of a dict, or a sequence.
    more
        Words in front of these.
    """

    def __init__(self, module: str, name: str, *more: str) -> None:
        self._module, self._name, self._more = module, name, more

    def __iter__(self) -> Iterator[str]:
        return iter((*self._more, *getattr(import_module(self._module), self._name)))

    def __contains__(self, word: object) -> bool:
        return word in tuple(self)
