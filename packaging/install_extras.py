"""Installs the packages of an extra one by one and says which cannot be had: `python install_extras.py test`."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
#: Without these no test runs.
NEEDED = ("pytest", "hypothesis")


def packages(extras: list[str]) -> list[str]:
    """The requirements of some extras, as pyproject.toml has them."""
    known = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return [package for extra in extras for package in known[extra]]


def main(extras: list[str]) -> int:
    """Returns 1 when one of NEEDED is missing."""
    missing = []
    for package in packages(extras):
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", package]
        if subprocess.run(command).returncode:
            missing.append(package)
    print(f"not to be had here: {', '.join(missing) or 'nothing'}")
    return int(any(package.startswith(NEEDED) for package in missing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
