"""A process that forks while other threads compute: its children compute, too, and none waits for a lost lock."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "forks.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize(("verb", "n"), [("align_all", 40), ("search", 20), ("align_multiple", 20)])
def test_children_compute_beside_threads(verb, n):
    done = subprocess.run([sys.executable, SCRIPT, verb, str(n)], capture_output=True, text=True, timeout=540)
    assert (done.stdout, done.stderr) == (f"{n} forks, 0 of them hung or wrong: 0\n", "")
