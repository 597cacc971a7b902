#!/usr/bin/env python3
"""Collects in bench/gpu/carried/ what run.sh needs on a machine with a card and no network: wheels.

    python bench/gpu/carry.py            for Python 3.12 on x86-64 Linux
    python bench/gpu/carry.py 3.13
    python bench/gpu/carry.py --list     what run.sh needs, by name

The card's machine has g++, CMake and the CUDA libraries (pip install cuda-bindings nvidia-cuda-nvrtc) by itself.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLATFORMS = ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64")


def needs() -> list[str]:
    """What building, measuring and the tests on a card take, by pyproject.toml."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return [*about["build-system"]["requires"], *about["project"]["dependencies"], "ninja", "pytest", "hypothesis"]


def main() -> None:
    """Downloads the wheels."""
    python = sys.argv[1] if len(sys.argv) > 1 else "3.12"
    if python == "--list":
        print(*needs(), sep="\n")
        return
    carried = HERE / "carried"
    shutil.rmtree(carried, ignore_errors=True)
    carried.mkdir()
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    command = ["-m", "pip", "download", "--quiet", "--only-binary=:all:", "--implementation", "cp"]
    subprocess.run(
        [sys.executable, *command, "--python-version", python, *platforms, "-d", carried, *needs()], check=True
    )
    sizes = [path.stat().st_size for path in carried.iterdir()]
    print(f"{len(sizes)} files, {sum(sizes) >> 20} MiB, in {carried}")


if __name__ == "__main__":
    main()
