"""Matrices over min-plus and max-plus as the kernels take them, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.semirings.arrays import Survey
from tropalign.semirings.gpu import INFINITY, Kind, Layout
from tropalign.semirings.semirings import Semiring, zero_of


@dataclass(frozen=True)
class Encoding:
    """How numbers of one type become those of the kernels: min-plus, integers from 0 on.

    Attributes
    ----------
    layout
        What they are on the device.
    semiring
        Over which they are given; numbers of max-plus change their sign.
    dtype
        Their type.
    lows : tuple of int
        What is taken away from the integers of each factor, and comes back with their sums.
    """

    layout: Layout
    semiring: Semiring
    dtype: np.dtype[Any]
    lows: tuple[int, ...]

    @classmethod
    def of(
        cls,
        dtype: np.dtype[Any],
        semiring: Semiring,
        surveys: tuple[Survey, ...],
        word_bits: int,
        *,
        from_zero: bool = True,
    ) -> Encoding | None:
        """The one of smallest numbers that holds a sum of one number of each factor; None where there is none.

        Without `from_zero` nothing is taken away from integers, which have to be 0 or more then, and they keep their
        size: of sums of many, closures find out by their infinity whether it suffices.
        """
        bounds = [_signed(survey, semiring) for survey in surveys]
        if dtype == np.float32:
            is_positive = all(low >= 0 for low, _ in bounds)
            return cls(Layout(Kind.POSITIVE if is_positive else Kind.FLOATS, 32), semiring, dtype, (0,) * len(bounds))
        if dtype.kind != "i":
            return None
        sizes = [word_bits, 32]
        if not from_zero:
            if any(low < 0 for low, _ in bounds):
                return None
            bounds = [(0, high) for _, high in bounds]
            sizes = [bits for bits in sizes if bits >= 8 * dtype.itemsize]
        reach = sum(high - low for low, high in bounds)
        lows = tuple(low for low, _ in bounds)
        for bits in sizes:
            if reach < INFINITY[bits]:
                return cls(Layout(Kind.WORDS, bits), semiring, dtype, lows)
        return None

    def encoded(self, matrix: NDArray[Any], factor: int = 0) -> NDArray[Any]:
        """Numbers of a factor for the kernels."""
        sign = -1 if self.semiring.is_max else 1
        if self.layout.kind != Kind.WORDS:
            return np.asarray(sign * matrix + np.float32(0))  # -0 would be the lowest of all in the order of bits
        numbers = sign * matrix.astype(np.int64) - self.lows[factor]
        numbers[matrix == zero_of(self.semiring, self.dtype)] = self.layout.infinity
        return numbers.astype(self.layout.dtype)

    def decoded(self, numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """A product in a type that holds it."""
        sign = -1 if self.semiring.is_max else 1
        if self.layout.kind != Kind.WORDS:
            return np.asarray(sign * numbers + np.float32(0))
        found = (sign * (numbers.astype(np.int64) + sum(self.lows))).astype(dtype)
        found[numbers >= self.layout.infinity] = zero_of(self.semiring, dtype)
        return found


def _signed(survey: Survey, semiring: Semiring) -> tuple[Any, Any]:
    """The bounds of finite numbers as those of min-plus: of integers, exact."""
    if survey.lowest > survey.highest:
        return 0, 0
    low, high = (-survey.highest, -survey.lowest) if semiring.is_max else (survey.lowest, survey.highest)
    return (int(low), int(high)) if float(low).is_integer() and float(high).is_integer() else (low, high)
