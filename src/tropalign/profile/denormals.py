"""Denormal floats as zeros, which hmmsearch computes with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tropalign import _native

#: Bits of the control register MXCSR.
_FTZ, _DAZ = 0x8000, 0x0040


@contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Let this thread take denormal floats as zeros, and give zeros for them, within a ``with`` block.

    The stages of a search do so by themselves. It is for pyhmmer, which gives the numbers of hmmsearch only so, and is
    two to three times faster. It does nothing where a processor has no such mode.

    Examples
    --------
    >>> with denormals_as_zero():
    ...     pass  # pyhmmer.hmmsearch(...)
    """
    before = _native.set_denormals(_FTZ | _DAZ)
    try:
        yield
    finally:
        _native.set_denormals(before)
