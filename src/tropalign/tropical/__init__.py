"""Semirings, products of matrices, shortest paths, polyadic problems and hidden Markov models."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The public names, and the modules that they are loaded from on first use.
_HOMES: dict[str, str] = {}


def __getattr__(name: str) -> Any:
    """Loads a name from its home on first use: the command line reads lists of words without loading NumPy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign.tropical' has no attribute {name!r}")
    return getattr(import_module(f"tropalign.tropical.{_HOMES[name]}"), name)
