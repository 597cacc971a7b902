"""Peers that are not there: pages are written without them, and each page names its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tables import wrap

BEGIN = "Without figures here, since they were not installed:"
FIND = "import importlib.util, sys; print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])"


def absent(
    programs: Mapping[str, str | Path] | None = None,
    modules: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> list[str]:
    """Names of peers that are not there, in alphabetical order.

    Parameters
    ----------
    programs
        Of each peer the program, by name or path.
    modules
        Of each peer the module that is imported.
    python
        The interpreter that imports them.
    """
    missing = [name for name, program in (programs or {}).items() if shutil.which(program) is None]
    if modules:
        done = subprocess.run([python, "-c", FIND, *modules.values()], capture_output=True, text=True)
        not_found = set(modules.values() if done.returncode else done.stdout.split())
        missing += [name for name, module in modules.items() if module in not_found]
    return sorted(missing, key=str.lower)


def paragraph(names: list[str]) -> list[str]:
    """The lines of a page that name these peers; none where all are there."""
    return [*wrap(f"{BEGIN} {'; '.join(names)}."), ""] if names else []


def named_absent(page: str) -> list[str]:
    """The peers that a page names so."""
    for text in (" ".join(part.split()) for part in page.split("\n\n")):
        if text.startswith(BEGIN):
            return text.removeprefix(BEGIN).strip().removesuffix(".").split("; ")
    return []
