"""The files of ``examples/``: of the sources, or as the wheel carries them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

PLACES = (Path(__file__).parents[4] / "examples", Path(__file__).parents[2] / "examples")


@cache
def example_path(name: str) -> Path | None:
    """Where an example is; None where the package came without."""
    return next((path for place in PLACES if (path := place / name).is_file()), None)


@cache
def example_bytes(name: str) -> bytes:
    """An example, which has to be there."""
    path = example_path(name)
    assert path is not None
    return path.read_bytes()
