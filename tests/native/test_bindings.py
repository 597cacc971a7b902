"""Native entries refuse wrong arrays, whoever calls."""

import os
import re
import subprocess
import sys

import pytest
from clone import ROOT, skip_without
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


def test_bindings_name_nothing_that_the_limited_api_lacks():
    """From Python 3.12 on they are compiled with it, by which one wheel serves all later versions."""
    skip_without("native")
    sources = sorted((ROOT / "native" / "bindings").glob("*.[ch]pp"))
    private = [name for path in sources for name in re.findall(r"\b_Py\w+|\bPy\w+_[A-Z_]+\b(?=\()", path.read_text())]
    assert len(sources) > 20 and private == []
