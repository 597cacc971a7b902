"""The folder of examples: small data, and files for workflow managers."""

from __future__ import annotations

from pathlib import Path

from tropalign.properties import cached

#: Where ``examples/`` is: in the sources, or as the wheel carries it.
_PLACES = (Path(__file__).parents[3] / "examples", Path(__file__).parents[1] / "examples")


@cached
def example_path(name: str) -> Path | None:
    """Where a file or folder of the examples is; None where the package came without."""
    return next((path for place in _PLACES if (path := place / name).exists()), None)
