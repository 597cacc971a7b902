"""The folder of examples: small data, and files for workflow managers."""

from __future__ import annotations

from pathlib import Path

from tropalign.properties import cached

#: Possible locations of ``examples/``: in the sources, and in the wheel.
_PLACES = (Path(__file__).parents[3] / "examples", Path(__file__).parents[1] / "examples")


@cached
def example_path(name: str) -> Path | None:
    """Return the path of a file or folder of the examples; None if the package came without them."""
    return next((path for place in _PLACES if (path := place / name).exists()), None)
