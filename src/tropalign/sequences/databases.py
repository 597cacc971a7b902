"""Databases by name: stores in the folders of the environment variable TROPALIGN_DB."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

#: Folders in order of precedence, with the separator of PATH.
VARIABLE = "TROPALIGN_DB"
SUFFIX = ".tdb"


def databases() -> Iterator[tuple[str, Path]]:
    """Yield name and file of each database, sorted by name; of equal names the one that `database_path` finds."""
    found: dict[str, Path] = {}
    for folder in _folders():
        for path in sorted(folder.glob(f"?*{SUFFIX}")):
            found.setdefault(path.name.removesuffix(SUFFIX), path)
    yield from sorted(found.items())


def database_path(named: str) -> str:
    """Return the path of a database: `named` if it is a file or contains a folder, else the database of this name."""
    is_there = os.path.exists(named) and not os.path.isdir(named)
    if is_there or named == "-" or os.path.basename(named) != named:
        return named
    paths = (folder / f"{named.removesuffix(SUFFIX)}{SUFFIX}" for folder in _folders())
    return next((str(path) for path in paths if path.is_file()), named)


def _folders() -> list[Path]:
    return [Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]
