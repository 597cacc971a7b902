"""Databases by name: stores in the folders of the environment variable TROPALIGN_DB."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

#: Folders, the first of which has a name first; between them what stands between those of PATH.
VARIABLE = "TROPALIGN_DB"
SUFFIX = ".tdb"


def databases() -> Iterator[tuple[str, Path]]:
    """Name and file of each database, in the order of names; of equal names the one that `database_path` finds."""
    found: dict[str, Path] = {}
    for folder in _folders():
        for path in sorted(folder.glob(f"?*{SUFFIX}")):
            found.setdefault(path.name.removesuffix(SUFFIX), path)
    yield from sorted(found.items())


def database_path(named: str) -> str:
    """The file of a database: what is named itself, if it is a file or spelled as one, else a database of this name."""
    is_there = os.path.exists(named) and not os.path.isdir(named)
    if is_there or named == "-" or os.path.basename(named) != named:
        return named
    paths = (folder / f"{named.removesuffix(SUFFIX)}{SUFFIX}" for folder in _folders())
    return next((str(path) for path in paths if path.is_file()), named)


def _folders() -> list[Path]:
    return [Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]
