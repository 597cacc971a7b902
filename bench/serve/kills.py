"""Kills a server, its workers and their jobs by ``kill -9`` at random moments, and compares what is left.

    python bench/serve/kills.py [--moments 50] [--seed 1] [--web] [--folder /tmp/kills]

While jobs of half a second to ten seconds are computed by two workers, something is killed every second or so: the
server (which is then started again), a worker, a job's command, or all of them at once. At the end every job has to be
done once, its result has to have the bytes that the plain command writes, the record has to have what was submitted,
and nothing that was finished may have changed later. Exit 0: all of that holds.

With ``--web`` the server has its pages and jobs come over HTTP; else its workers alone run, and jobs come by the
storage.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from tropalign import __version__
from tropalign.serve.records import Job, JobFile, NewJob, Search, State
from tropalign.serve.settings import Limits, Settings
from tropalign.serve.storage import Storage
from tropalign.serve.work.worker import settings_text
from tropalign.submissions.submission import Submission

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
#: Sequences of a job, and their lengths: half a second to ten seconds on one thread.
N_SEQUENCES, LENGTHS = 40, (500, 2_800)
#: Jobs that wait or run at every moment, so that there is something to kill.
N_WAITING = 4
PAUSES = (0.2, 6.0)
SHARES = {"server": 0.3, "worker": 0.35, "job": 0.15, "all": 0.2}


@dataclass
class Sent:
    """A job as it was submitted."""

    id: str
    name: str
    fasta: str
    options: dict[str, object]
    command: str


class Server:
    """A server that is started again whenever it was killed."""

    def __init__(self, settings: Settings, has_pages: bool, log: Path) -> None:
        self.settings, self.has_pages, self.log = settings, has_pages, log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it; with pages, it has to answer."""
        folder = str(self.settings.folder)
        with self.log.open("ab") as log:
            if self.has_pages:
                words = ["serve", "--port", str(self.settings.port), "--folder", folder, "--workers", "2", "-t", "1"]
                words += ["--max-running-per-user", "9", "--max-requests-per-minute", "100000"]
                command = [sys.executable, "-m", "tropalign.cli.main", *words]
                self.process = subprocess.Popen(command, stdout=log, stderr=log)
            else:
                command = [sys.executable, "-m", "tropalign.serve.work.supervisor"]
                self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
                assert self.process.stdin is not None
                self.process.stdin.write(settings_text(self.settings, os.getpid(), False).encode())
                self.process.stdin.close()

    def workers(self) -> list[int]:
        """Process ids of its workers."""
        assert self.process is not None
        return [pid for pid in _processes() if _parent(pid) == self.process.pid]

    def commands(self) -> list[int]:
        """Process ids of commands that compute."""
        workers = self.workers()
        return [pid for pid in _processes() if _parent(pid) in workers]

    def kill(self, whom: str, chance: random.Random) -> bool:
        """Kills the server, a worker, a command or all; False where there is none."""
        assert self.process is not None
        found = {"server": [self.process.pid], "worker": self.workers(), "job": self.commands()}
        victims = [pid for some in found.values() for pid in some] if whom == "all" else _one_of(found[whom], chance)
        chance.shuffle(victims)
        for pid in victims:
            _kill(pid)
        if self.process.pid in victims:
            self.process.wait()
            time.sleep(chance.choice([0.0, 0.0, 0.5, 1.5]))
            self.start()
        return bool(victims)


class Desk:
    """Where jobs are handed in."""

    def __init__(self, storage: Storage, settings: Settings, has_pages: bool) -> None:
        self.storage, self.settings, self.has_pages = storage, settings, has_pages

    def submit(self, number: int, chance: random.Random) -> Sent:
        """Submits a new job."""
        name, fasta = f"set{number}.fa", made_up(chance)
        options: dict[str, object] = {"mode": chance.choice(["local", "global"]), "min_score": chance.randrange(1, 40)}
        digest = self._sent_file(name, fasta)
        inputs = {"queries": [{"file": digest, "name": name}]}
        request = {"verb": "pairs", "inputs": inputs, "options": options, "format": "tsv", "outputs": []}
        submission = Submission.from_json(request).checked()
        command = submission.shown_command()
        if self.has_pages:
            answer = self._asked("/api/v1/jobs", json.dumps(request | {"title": name}).encode(), "application/json")
            return Sent(answer["id"], name, fasta, options, command)
        new = NewJob(
            owner="local", verb="pairs", title=name, tags=(), key=submission.key(lambda item: digest, __version__),
            request=submission.as_json(), command=command, version=__version__,
            inputs=(JobFile("queries", name, digest, len(fasta)),),
        )  # fmt: skip
        return Sent(self.storage.jobs.submit(new, self.settings.limits).id, name, fasta, options, command)

    def _sent_file(self, name: str, fasta: str) -> str:
        if not self.has_pages:
            return self.storage.files.add_bytes(fasta.encode()).digest
        return str(self._asked(f"/api/v1/files?name={name}", fasta.encode(), "application/octet-stream")["file"])

    def _asked(self, path: str, body: bytes, kind: str) -> dict[str, str]:
        """An answer, as soon as the server that was killed is back: equal submissions are one job."""
        url = f"http://127.0.0.1:{self.settings.port}{path}"
        for _ in range(600):
            try:
                request = urllib.request.Request(url, body, {"Content-Type": kind})
                with urllib.request.urlopen(request, timeout=30) as answer:
                    found: dict[str, str] = json.load(answer)
                    return found
            except urllib.error.HTTPError as error:
                raise SystemExit(f"{url}: {error.code} {error.read().decode()}") from None
            except OSError:  # it is being started again, or was killed while it answered
                time.sleep(0.1)
        raise SystemExit("the server does not come back")


def made_up(chance: random.Random) -> str:
    """Random proteins as FASTA."""
    length = chance.randrange(*LENGTHS)
    return "".join(f">s{k}\n{''.join(chance.choices(LETTERS, k=length))}\n" for k in range(N_SEQUENCES))


def main() -> int:
    """Kills, waits, compares, and prints what was found."""
    parser = argparse.ArgumentParser(description="Kills a server at random moments and compares what is left.")
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--web", action="store_true")
    parser.add_argument("--port", type=int, default=18765)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        limits = replace(Limits(), running_per_user=9, memory_bytes=10**9)
        settings = Settings(folder=folder / "server", port=options.port, n_workers=2, limits=limits)
        with Storage.open(settings) as storage:
            return _run(options, folder, settings, storage)


def _run(options: argparse.Namespace, folder: Path, settings: Settings, storage: Storage) -> int:
    chance = random.Random(options.seed)
    server, desk = Server(settings, options.web, folder / "log"), Desk(storage, settings, options.web)
    sent: list[Sent] = []
    kills: Counter[str] = Counter()
    finished: dict[str, Job] = {}
    complaints: list[str] = []
    server.start()
    begin = time.monotonic()
    try:
        while sum(kills.values()) < options.moments:
            _note_finished(storage, sent, finished, complaints)
            while len(sent) - len(finished) < N_WAITING:
                sent.append(desk.submit(len(sent), chance))
            time.sleep(chance.uniform(*PAUSES))
            whom = chance.choices(list(SHARES), list(SHARES.values()))[0]
            if server.kill(whom, chance):
                kills[whom] += 1
        while len(finished) < len(sent) and time.monotonic() < begin + 3600:
            time.sleep(0.5)
            _note_finished(storage, sent, finished, complaints)
    finally:
        assert server.process is not None
        server.process.send_signal(signal.SIGTERM)
        server.process.wait()
    seconds = time.monotonic() - begin
    complaints += _compared(storage, sent, finished, folder)
    attempts = Counter(storage.jobs.get(one.id).attempt for one in sent)
    print(
        f"{sum(kills.values())} kills ({', '.join(f'{n} of {whom}' for whom, n in kills.items())}) in {seconds:.0f} s"
    )
    print(f"{len(sent)} jobs, attempts: {', '.join(f'{n} jobs {k}' for k, n in sorted(attempts.items()))}")
    print("\n".join(complaints) or "every job is done once, as it was submitted, with the bytes of the plain command")
    return 1 if complaints else 0


def _note_finished(storage: Storage, sent: list[Sent], finished: dict[str, Job], complaints: list[str]) -> None:
    """What is finished stays as it is."""
    for one in sent:
        job = storage.jobs.get(one.id)
        before = finished.get(one.id)
        if before is not None and job != before:
            complaints.append(f"{one.name}: a finished job has changed: {before} became {job}")
        elif job.state.is_final:
            finished[one.id] = job


def _compared(storage: Storage, sent: list[Sent], finished: dict[str, Job], folder: Path) -> list[str]:
    """What is wrong with the record or the results."""
    complaints = []
    listed = storage.jobs.list(Search("local", limit=500)).jobs
    if sorted(job.id for job in listed) != sorted(one.id for one in sent):
        complaints.append(f"{len(sent)} jobs were submitted, and the record has {len(listed)}")
    for one in sent:
        job = finished.get(one.id)
        if job is None or job.state is not State.DONE:
            complaints.append(f"{one.name}: {'not finished' if job is None else f'{job.state}: {job.message}'}")
            continue
        if (job.title, job.command, len(job.outputs)) != (one.name, one.command, 1):
            complaints.append(f"{one.name}: the record says {job}")
        if storage.files.path(job.outputs[0].digest or "").read_bytes() != _plain(one, folder):
            complaints.append(f"{one.name}: other bytes than those of {one.command}")
    left = list((folder / "server" / "work").iterdir())
    if left:
        complaints.append(f"folders of jobs are left: {left}")
    return complaints


def _plain(one: Sent, folder: Path) -> bytes:
    """What the plain command writes."""
    here = folder / "plain"
    here.mkdir(exist_ok=True)
    (here / one.name).write_text(one.fasta)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in one.options.items()]
    command = [sys.executable, "-m", "tropalign.cli.main", "pairs", one.name, "-f", "tsv", *words, "-o", "result.tsv"]
    subprocess.run([*command, "-q"], cwd=here, check=True)
    return (here / "result.tsv").read_bytes()


def _one_of(pids: list[int], chance: random.Random) -> list[int]:
    return [chance.choice(pids)] if pids else []


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    sys.exit(main())
