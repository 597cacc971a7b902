"""Native entries refuse wrong arrays, whoever calls."""

import os
import subprocess
import sys

import pytest
from native.wrong_calls.__main__ import GROUPS


@pytest.mark.parametrize("group", GROUPS)
def test_wrong_calls(group):
    done = subprocess.run(
        [sys.executable, "-m", "native.wrong_calls", group],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"ended with {done.returncode} at: {lines[-1]}\n{done.stderr}"
    assert len(lines) > 10
    assert [line for line in lines if not line.endswith("\tok")] == []
