"""Whole commands: their processor time and memory, and the files that they read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

#: A command that takes longer is ended, and its row says so.
LIMIT_S = 200
#: Starts a command and writes what it used to the file named first. Linux counts the memory of the process that starts
#: a command as the command's own: this one is small.
LAUNCHER = """
import os, sys, time
begin = time.perf_counter()
process = os.fork()
if process == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(process, 0)
with open(sys.argv[1], "w") as file:
    file.write('[%r, %r, %r]' % (time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000))
sys.exit(os.waitstatus_to_exitcode(status) and 1)
"""


def timed(command: list[str], scratch: Path, **environment: str) -> dict[str, float | str]:
    """Wall time, processor time and peak memory of a command, or {"failed": why}."""
    usage = scratch / "usage.json"
    usage.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, str(usage), *command],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"failed": f"took more than {LIMIT_S} s"}
    if process.returncode or not usage.exists():
        lines = errors.decode(errors="replace").strip().splitlines()
        return {"failed": (lines or [f"exit status {process.returncode}"])[-1][:200]}
    wall, processor, peak = json.loads(usage.read_text())
    return {"wall_s": wall, "processor_s": processor, "peak_mb": peak}


def median_of(command: list[str], scratch: Path, rounds: int) -> dict[str, float | str]:
    """The run of median processor time; a command of more than three seconds runs once."""
    runs = [timed(command, scratch)]
    while len(runs) < rounds and "failed" not in runs[-1] and float(runs[0]["processor_s"]) < 3:
        runs.append(timed(command, scratch))
    if "failed" in runs[-1]:
        return runs[-1]
    return sorted(runs, key=lambda run: run["processor_s"])[len(runs) // 2]


def tropalign(*arguments: str) -> list[str]:
    """The command of this interpreter's installation."""
    return [str(Path(sys.executable).parent / "tropalign"), *arguments]


def fasta(path: Path, texts: list[str]) -> Path:
    """Writes sequences with names."""
    path.write_text("".join(f">s{k}\n{text}\n" for k, text in enumerate(texts)))
    return path
