"""The files of ``examples/``, where they lie beside the sources."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[4] / "examples"


@cache
def example_path(name: str) -> Path | None:
    """Where an example is; None where the package came without."""
    path = FOLDER / name
    return path if path.is_file() else None


@cache
def example_bytes(name: str) -> bytes:
    """An example."""
    return (FOLDER / name).read_bytes()
