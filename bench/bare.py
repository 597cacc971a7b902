"""What the bare recurrences allow on this processor: compiles bare.cpp beside this file and runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from machine import march

HERE = Path(__file__).resolve().parent
#: As the kernels are compiled.
FLAGS = ["-std=c++20", "-O3", "-fwrapv", "-w", "-I", str(HERE.parent / "native")]


def bare(options, scratch: Path) -> dict[str, dict[str, float | str]]:
    """By instruction set GCUPS of "local score", "local stored", "global score" and "global stored", and "bytes"."""
    return {isa: bare_of(isa, options, scratch) for isa in options.isas}


def bare_of(isa: str, options, scratch: Path) -> dict[str, float | str]:
    """Those of an instruction set."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return {"failed": "no C++ compiler"}
    program = scratch / f"bare-{isa}"
    for words in ([compiler, *FLAGS, *march(isa), str(HERE / "bare.cpp"), "-o", str(program)],
                  [str(program), str(options.at_least), str(options.rounds)]):  # fmt: skip
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        if done.returncode:
            return {"failed": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1][:200]}
    return json.loads(done.stdout)
