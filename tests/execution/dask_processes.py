"""A scheduler of Dask and its workers as processes of their own, on the loopback interface, to be killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

#: Nothing is written by them, and none of them looks for a browser.
QUIET = {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical", "DASK_LOGGING__DISTRIBUTED": "critical"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Processes:
    """A scheduler, and workers that come and go. Used in a ``with`` block, whose end kills what is left."""

    def __init__(self, n_workers: int, folder: Path, n_threads: int = 1, environment: dict[str, str] | None = None):
        self.folder, self.port, self.n_threads = folder, free_port(), n_threads
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.environment = {**os.environ, **QUIET, **(environment or {})}
        self.n_killed = 0
        self.scheduler = self._start_scheduler()
        self.workers = [self.start_worker() for _ in range(n_workers)]

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        for process in [self.scheduler, *self.workers]:
            self._kill(process)

    def _start(self, module: str, *words: str, **more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
        environment = {**self.environment, **more}
        with open(self.folder / "dask.log", "ab") as log:
            means = {"stdout": log, "stderr": log, "cwd": self.folder, "env": environment}
            return subprocess.Popen(command, start_new_session=True, **means)

    def _start_scheduler(self) -> subprocess.Popen[bytes]:
        """Comes back when it listens: whoever joins a cluster does not wait long for one that does not."""
        scheduler = self._start(
            "dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--dashboard-address",
            "127.0.0.1:0",
            "--no-show",
        )
        while scheduler.poll() is None:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", self.port)):
                break
            time.sleep(0.02)
        return scheduler

    def start_worker(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        """One more worker, without a nanny that would restart it."""
        return self._start(
            "dask_worker", self.address, "--no-nanny", "--dashboard-address", "127.0.0.1:0",
            "--nthreads", str(self.n_threads), "--local-directory", str(self.folder), "--memory-limit", "0",
            *words, **environment,
        )  # fmt: skip

    def kill_worker(self, number: int) -> None:
        """Kills a worker at once, and starts another in its place."""
        self._kill(self.workers[number])
        self.n_killed += 1
        self.workers[number] = self.start_worker()

    def restart_scheduler(self, seconds: float = 0.0) -> None:
        """The scheduler dies with its workers, and all come back."""
        for process in [self.scheduler, *self.workers]:
            self._kill(process)
        time.sleep(seconds)
        self.scheduler = self._start_scheduler()
        self.workers = [self.start_worker() for _ in self.workers]

    @staticmethod
    def _kill(process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
