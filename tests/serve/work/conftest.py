"""A server's storage, and workers as processes."""

import os
import subprocess
from dataclasses import replace

import pytest
from job_desk import Desk

from tropalign.serve.settings import Settings
from tropalign.serve.work.worker import settings_text


@pytest.fixture
def settings(tmp_path):
    return Settings(folder=tmp_path / "server", lease_seconds=5.0)


@pytest.fixture
def desk(settings):
    for module in ("sqlalchemy", "alembic"):
        pytest.importorskip(module, reason=f"the server's storage needs {module}: pip install 'tropalign[serve]'")
    desk = Desk(settings)
    yield desk
    desk.storage.close()


@pytest.fixture
def with_limits(settings):
    return lambda **limits: replace(settings, limits=replace(settings.limits, **limits))


@pytest.fixture
def start(monkeypatch):
    """Starts a worker or a supervisor; what still runs at the end of the test is killed."""
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "20")
    processes = []

    def popen(command, settings, environment=None):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, **(environment or {})})
        process.stdin.write(settings_text(settings, os.getpid(), False).encode())
        process.stdin.close()
        processes.append(process)
        return process

    yield popen
    for process in processes:
        process.kill()
        process.wait()
