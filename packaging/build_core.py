"""Builds and installs the package of this clone into an environment, and says how far it is.

    python packaging/build_core.py .venv/bin/python native      or runnable, all, v2,v3 (native/isas.cmake)

pip says nothing while the core is compiled. What it is told is read here: a line every few seconds, and at a failure
the sentence of CMakeLists.txt, or what the compiler said.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Processor time of a file until some are compiled and tell: the median of machines from 2019 to 2024.
SECONDS_PER_FILE = 1.2
#: Fewer are no compilation that is worth a word.
FEWEST_FILES = 5
#: Between two lines of progress.
EVERY_SECONDS = 10
#: A compiled file, as ninja says it: [12/190] Building CXX object ...
STEP = re.compile(r"^\s*\[(\d+)/(\d+)\]")
SETS = re.compile(r"-- Instruction sets: (\S+)")


class Progress:
    """Prints how far ninja is, out of the lines of a build."""

    def __init__(self) -> None:
        self._began = self._told = 0.0
        self._of = 0
        self._sets = ""

    def read(self, line: str) -> None:
        """Take in a line."""
        if found := SETS.search(line):
            self._sets = found[1].replace(";", " and ") if found[1].count(";") == 1 else found[1].replace(";", ", ")
        if found := STEP.match(line):
            self._step(int(found[1]), int(found[2]))

    def _step(self, done: int, of: int) -> None:
        now = time.monotonic()
        if of != self._of:  # ninja looks for new sources first, in steps of their own
            self._of, self._began, self._told = of, now, now
            if of < FEWEST_FILES:
                return
            seconds = of * SECONDS_PER_FILE / len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else [0])
            sets = f" for the instruction sets {self._sets}" if self._sets else ""
            say(f"Compiling the core{sets}: {of} files, about {duration(seconds)}")
        elif done == of >= FEWEST_FILES:
            say(f"  compiled in {duration(now - self._began)}")
        elif now - self._told >= EVERY_SECONDS:
            self._told = now
            left = (now - self._began) / done * (of - done)
            say(f"  {done} of {of} files, about {duration(left)} left")


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 100:
        return f"{round(seconds)} s"
    return f"{seconds / 60:.1f} minutes".replace(".0 ", " ")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def failure(lines: list[str]) -> str:
    """The sentence that CMakeLists.txt ends with, or else the first errors, or the end of what was said."""
    text = "\n".join(line.strip() for line in lines)
    if found := re.search(r"CMake Error at \S+ \(message\):\n+((?:.+\n)+)", text + "\n"):
        return " ".join(found[1].partition("Call Stack")[0].split())
    errors = [line for line in lines if re.search(r"\berror\b:?", line, re.IGNORECASE)]
    return "\n".join((errors or lines)[:10] + lines[-20:])


def main(python: str, sets: str) -> int:
    """Run pip and read what it says. Returns pip's status."""
    command = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    quiet = [*command, "--quiet"]
    say("Fetching what builds the core")
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    subprocess.run([*quiet, *about["build-system"]["requires"], "cmake", "ninja"], check=True)
    words = [*command, "-v", "--no-build-isolation", "-C", f"cmake.define.TROPALIGN_ISAS={sets}", "-e", str(ROOT)]
    progress, lines = Progress(), []
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            lines.append(line.rstrip())
            progress.read(lines[-1])
    if pip.returncode:
        print(failure(lines), file=sys.stderr)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
