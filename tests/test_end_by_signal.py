"""SIGTERM ends pytest after the fixtures' finalisers, so that no process of a test is left."""

import signal
import subprocess
import sys
from pathlib import Path

TEST = """
import os
import signal
import subprocess
import pytest

@pytest.fixture
def sleeper():
    process = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
    yield process
    os.kill(os.getpid(), signal.SIGTERM)
    process.kill()
    print("killed", process.wait(), flush=True)

def test_waits(sleeper):
    print("ready", flush=True)
    sleeper.wait()
"""


def test_sigterm_ends_what_fixtures_started(tmp_path):
    (tmp_path / "test_waits.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-s", "-p", "conftest", "-p", "no:cacheprovider", tmp_path]
    environment = {"PYTHONPATH": str(Path(__file__).parent)}
    tests = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    while "ready" not in tests.stdout.readline():
        assert tests.poll() is None
    tests.send_signal(signal.SIGTERM)
    assert "killed -9" in tests.communicate(timeout=120)[0]
