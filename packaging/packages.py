"""Install what pyproject.toml lists into an environment.

    python packaging/packages.py PYTHON [EXTRA ...]          build and run requirements, and the extras
    python packaging/packages.py --each PYTHON [EXTRA ...]   one by one; print those that cannot be installed

uv, if the environment has it, needs a fifth of pip's time; pip retries packages that uv cannot install.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
#: Packages that every test needs.
NEEDED = ("pytest", "hypothesis")


def requirements(extras: list[str]) -> list[str]:
    """Return what building and running the package needs, and the extras."""
    about = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    project = about["project"]
    optional = [package for extra in extras for package in project["optional-dependencies"][extra]]
    return [*about["build-system"]["requires"], "cmake", "ninja", *project["dependencies"], *optional]


def install(python: str, packages: list[str]) -> str:
    """Install packages. Returns the empty string, or the last lines of pip's output if that failed."""
    commands = [[python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]]
    uv = Path(python).with_name("uv")
    if uv.exists():
        commands.insert(0, [str(uv), "pip", "install", "--quiet", "--python", python, *packages])
    for command in commands:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not done.returncode:
            return ""
    return "\n".join(done.stdout.splitlines()[-3:]) or "pip failed"


def require(python: str, extras: list[str]) -> None:
    """Install the requirements; end the program with the reason and the remedy if that fails."""
    if reason := install(python, requirements(extras)):
        sys.exit(
            f"{reason}\nNot all packages could be installed. If the package index cannot be reached, connect to it or "
            "set PIP_INDEX_URL to another one, then run the same command again."
        )


def install_each(python: str, extras: list[str]) -> int:
    """Install packages one by one and print which cannot be installed. Returns 1 if one of NEEDED is among them."""
    missing = [package for package in requirements(extras) if install(python, [package])]
    print(f"cannot be installed here: {', '.join(missing) or 'nothing'}")
    return int(any(package.startswith(NEEDED) for package in missing))


if __name__ == "__main__":
    if sys.argv[1] == "--each":
        sys.exit(install_each(sys.argv[2], sys.argv[3:]))
    require(sys.argv[1], sys.argv[2:])
