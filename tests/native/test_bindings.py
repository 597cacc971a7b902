"""Native entries refuse wrong arrays, whoever calls."""

import subprocess
import sys
from pathlib import Path

import pytest
from native.wrong_calls import GROUPS

PROGRAM = Path(__file__).with_name("wrong_calls.py")


@pytest.mark.parametrize("group", GROUPS)
def test_wrong_calls(group):
    done = subprocess.run([sys.executable, PROGRAM, group], capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"ended with {done.returncode} at: {lines[-1]}\n{done.stderr}"
    assert len(lines) > 10
    assert [line for line in lines if not line.endswith("\tok")] == []
