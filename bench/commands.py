"""Processes of the benchmarks: what whole commands use, the files that they read, and children that answer in JSON."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

#: A process that takes more of a core is ended, and its row says so; one that does nothing for so long, too.
PROCESSOR_LIMIT_S, WALL_LIMIT_S = 120, 600
TOO_LONG = f"took more than {PROCESSOR_LIMIT_S} s of a core"
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
    seconds = time.perf_counter() - begin, usage.ru_utime + usage.ru_stime
    file.write('[%r, %r, %r, %d]' % (*seconds, usage.ru_maxrss / 1000, os.waitstatus_to_exitcode(status)))
"""


def limit(seconds: int | None = None) -> None:
    """In a child before it begins: the most processor time, of it and of each process that it starts."""
    seconds = seconds or PROCESSOR_LIMIT_S
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def why(status: int, errors: str) -> str:
    """Why a process failed: its last line of errors, or how it ended."""
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return TOO_LONG
    return (errors.strip().splitlines() or [f"exit status {status}"])[-1][:200]


def answer_of(words: list[str], request: dict, **environment: str) -> dict:
    """The JSON answer of a process to a JSON request; {"failed": why} when it dies."""
    try:
        done = subprocess.run(
            words,
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            timeout=WALL_LIMIT_S,
            preexec_fn=limit,
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {WALL_LIMIT_S} s"}
    except json.JSONDecodeError:
        return {"failed": why(done.returncode, done.stderr)}


def timed(command: list[str], scratch: Path, limit_s: int | None = None) -> dict[str, float | str]:
    """Wall time, processor time and peak memory of a command, or {"failed": why}."""
    wall_limit_s = max(WALL_LIMIT_S, limit_s or 0)
    usage = scratch / "usage.json"
    usage.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, str(usage), *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=partial(limit, limit_s),
    )
    try:
        _, errors = process.communicate(timeout=wall_limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"failed": f"took more than {wall_limit_s} s"}
    if not usage.exists():
        return {"failed": why(process.returncode, errors)}
    wall, processor, peak, status = json.loads(usage.read_text())
    if status:
        return {"failed": why(status, errors)}
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
