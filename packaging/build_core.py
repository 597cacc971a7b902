"""Build the package of this clone and install it into an environment, with progress and a forecast.

    python packaging/build_core.py .venv/bin/python [SETS]

SETS is what TROPALIGN_ISAS takes (native/isas.cmake): native, runnable, all, or names. Without it a build keeps the
sets of the build before, so that only changed files are compiled; a first build is `native`. pip prints nothing while
it compiles. This script reads its verbose output, prints a line every few seconds, and on failure prints the reason.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from packages import require

ROOT = Path(__file__).resolve().parent.parent
#: Mean processor time of compiling a file, as a multiple of the time of compiling PROBE (Zen 3, GCC 12).
PROBES_PER_FILE = 4.5
PROBE = ROOT / "native" / "simd" / "isa.cpp"
#: Builds of fewer files get no forecast.
FEWEST_FILES = 5
#: Seconds between two lines of progress.
EVERY_SECONDS = 10
#: A line of ninja: [12/190] Building CXX object ...
STEP = re.compile(r"^\s*\[(\d+)/(\d+)\]")
SETS = re.compile(r"-- Instruction sets: (\S+)")


class Progress:
    """Print a forecast and the progress of a build, from the lines that it prints."""

    def __init__(self, probe_seconds: float) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._file_seconds = PROBES_PER_FILE * probe_seconds / cores
        self._start = self._printed = 0.0
        self._total = 0
        self._sets = ""

    def read(self, line: str) -> None:
        """Take in a line."""
        if found := SETS.search(line):
            self._sets = f" for {found[1].replace(';', ', ')}"
        if found := STEP.match(line):
            self._step(int(found[1]), int(found[2]))
        elif "warning:" in line:
            say(line)

    def _step(self, done: int, total: int) -> None:
        now = time.monotonic()
        if total != self._total:  # ninja first looks for new sources, in steps of their own
            self._total, self._start, self._printed = total, now, now
            if total >= FEWEST_FILES:
                say(f"Compiling the core{self._sets}: {total} files, about {duration(total * self._file_seconds)}")
        elif done == total >= FEWEST_FILES:
            say(f"  compiled in {duration(now - self._start)}")
        elif now - self._printed >= EVERY_SECONDS:
            self._printed = now
            say(f"  {done} of {total} files, about {duration(self._left(done, now - self._start))} left")

    def _left(self, done: int, elapsed: float) -> float:
        """Forecast the remaining seconds, at first from the probe, later from the files that are done."""
        share = done / self._total
        return (1 - share) * ((1 - share) * self._total * self._file_seconds + elapsed)


def duration(seconds: float) -> str:
    """Format a time for people."""
    return f"{round(seconds)} s" if seconds < 100 else f"{seconds / 60:.1f} minutes"


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def probe() -> float:
    """Return the processor time of compiling a small file in seconds; 0.5 if that fails, since CMake says why."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") or "c++"
    with tempfile.TemporaryDirectory() as folder:
        command = [*compiler.split(), "-std=c++20", "-O2", "-DTROPALIGN_ISAS(X)=X(generic,)", "-c", str(PROBE)]
        before = os.times()
        try:
            subprocess.run([*command, "-o", f"{folder}/probe.o"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return 0.5
        after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def failure(lines: list[str]) -> str:
    """Return the message of CMakeLists.txt, or else the first errors and the last lines of the output."""
    text = "\n".join(line.strip() for line in lines)
    if found := re.search(r"CMake Error at \S+ \(message\):\n+((?:.+\n)+)", text + "\n"):
        return " ".join(found[1].partition("Call Stack")[0].split())
    errors = [line for line in lines if re.search(r"\berror\b:?", line, re.IGNORECASE)]
    return "\n".join((errors or lines)[:10] + lines[-20:])


def sets_before() -> str:
    """Return the TROPALIGN_ISAS of the newest build of this clone."""
    caches = sorted(ROOT.glob("build/*/CMakeCache.txt"), key=lambda path: path.stat().st_mtime)
    found = re.search(r"^TROPALIGN_ISAS:\w+=(.+)$", caches[-1].read_text(), re.MULTILINE) if caches else None
    return found[1] if found else "native"


def build(python: str, sets: str) -> int:
    """Run pip and read what it prints. Returns pip's status."""
    say("Fetching packages")
    require(python, [])
    command = [python, "-m", "pip", "install", "--disable-pip-version-check", "-v", "--no-build-isolation", "--no-deps"]
    command += ["-C", f"cmake.define.TROPALIGN_ISAS={sets or sets_before()}", "-e", str(ROOT)]
    progress, lines = Progress(probe()), []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            lines.append(line.rstrip())
            progress.read(lines[-1])
    if pip.returncode:
        print(failure(lines), file=sys.stderr)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(build(sys.argv[1], "".join(sys.argv[2:3])))
