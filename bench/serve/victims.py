"""What `kills.py` kills: a server with its workers and their commands, and a PostgreSQL of its own."""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from tropalign.serve.settings import Settings
from tropalign.serve.work.worker import settings_text

Answer = TypeVar("Answer")
WITH_PAGES = """
import json, sys
from tropalign.serve.work.supervisor import serve
from tropalign.serve.work.worker import settings_from
serve(settings_from(json.load(sys.stdin)["settings"]), False)
"""


class Server:
    """A server that is started again whenever it was killed."""

    def __init__(self, settings: Settings, has_pages: bool, log: Path) -> None:
        self.settings, self.has_pages, self.log = settings, has_pages, log
        self.process: subprocess.Popen[bytes] | None = None
        self._frozen: list[tuple[float, int]] = []

    def start(self) -> None:
        """Starts it."""
        program = ["-c", WITH_PAGES] if self.has_pages else ["-m", "tropalign.serve.work.supervisor"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([sys.executable, *program], stdin=subprocess.PIPE, stdout=log, stderr=log)
        assert self.process.stdin is not None
        self.process.stdin.write(settings_text(self.settings, os.getpid(), False).encode())
        self.process.stdin.close()

    def end(self) -> float:
        """Ends it gracefully, and says how many seconds that took."""
        assert self.process is not None
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        return time.monotonic() - begin

    def workers(self) -> list[int]:
        """Process ids of its workers."""
        assert self.process is not None
        return children(self.process.pid)

    def commands(self) -> list[int]:
        """Process ids of commands that compute."""
        return [pid for worker in self.workers() for pid in children(worker)]

    def kill(self, whom: str, chance: random.Random) -> bool:
        """Kills the server, a worker, a command or all; False where there is none."""
        assert self.process is not None
        found = {"server": [self.process.pid], "worker": self.workers(), "command": self.commands()}
        victims = [pid for some in found.values() for pid in some] if whom == "all" else one_of(found[whom], chance)
        chance.shuffle(victims)
        for pid in victims:
            send(pid, signal.SIGKILL)
        if self.process.pid in victims:
            self.process.wait()
            time.sleep(chance.choice([0.0, 0.0, 0.5, 1.5]))
            self.start()
        return bool(victims)

    def freeze(self, chance: random.Random) -> bool:
        """Stops a worker until some seconds after its lease, while its command goes on."""
        victims = one_of(self.workers(), chance)
        for pid in victims:
            send(pid, signal.SIGSTOP)
            self._frozen.append((time.monotonic() + self.settings.lease_seconds + chance.uniform(2, 6), pid))
        return bool(victims)

    def thaw(self, are_all: bool = False) -> None:
        """Lets workers go on whose time has come, or all."""
        for one in list(self._frozen):
            if are_all or one[0] < time.monotonic():
                send(one[1], signal.SIGCONT)
                self._frozen.remove(one)


class PostgreSQL:
    """A server of PostgreSQL in a folder, which is killed like the others."""

    def __init__(self, folder: Path) -> None:
        found = shutil.which("initdb") or next(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
        if found is None:
            raise SystemExit("PostgreSQL is not installed: no initdb")
        self.folder, self._programs, self._other = folder, Path(found).resolve().parent, _as_another_user()
        folder.mkdir(parents=True)
        folder.chmod(0o755)
        if self._other:
            os.chown(folder, self._other["user"], self._other["group"])
        words = ["-U", "tropalign", "-A", "trust", "-E", "UTF8", "--locale=C"]
        subprocess.run(
            [found, "-D", folder / "data", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, **self._other
        )
        self.start()
        while subprocess.run(self._command("createdb", "jobs"), capture_output=True, cwd=folder).returncode:
            time.sleep(0.1)

    @property
    def url(self) -> str:
        """Of the database."""
        return f"postgresql://tropalign@/jobs?host={self.folder}"

    def _command(self, name: str, *words: str) -> list[str]:
        return [str(self._programs / name), "-h", str(self.folder), "-U", "tropalign", *words]

    def start(self) -> None:
        """Starts it; what is on the disk stays what it was (fsync is on)."""
        words = ["-k", str(self.folder), "-c", "listen_addresses=", "-c", "max_connections=80"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.folder / "data", *words],
                stdout=log, stderr=log, cwd=self.folder, **self._other,
            )  # fmt: skip

    def kill(self, whom: str, chance: random.Random) -> bool:
        """Kills a process of a connection, after which PostgreSQL ends all of them, or PostgreSQL as a whole."""
        inner = children(self.process.pid)
        if whom == "session":
            victims = one_of([pid for pid in inner if b"tropalign jobs" in _command_line(pid)], chance)
            for pid in victims:
                send(pid, signal.SIGKILL)
            return bool(victims)
        for pid in [self.process.pid, *inner]:
            send(pid, signal.SIGKILL)
        self.process.wait()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        time.sleep(chance.uniform(0.2, 3.0))
        self.start()
        return True

    def end(self) -> None:
        """Ends it."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def with_database(settings: Settings, database: PostgreSQL | None) -> Settings:
    """The settings on that database."""
    return settings if database is None else replace(settings, database=database.url)


def again(ask: Callable[[], Answer], seconds: float = 300.0) -> Answer:
    """An answer, and until it comes the question again."""
    until = time.monotonic() + seconds
    while True:
        try:
            return ask()
        except KeyError:
            raise
        except Exception:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def one_of(pids: list[int], chance: random.Random) -> list[int]:
    """One of them, where there is one."""
    return [chance.choice(pids)] if pids else []


def children(parent: int) -> list[int]:
    """Process ids of a process's children."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and _parent(int(name)) == parent]


def send(pid: int, number: int) -> None:
    """Sends a signal to a process that may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _as_another_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
