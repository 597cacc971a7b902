"""Kills a server, its workers and their jobs by ``kill -9`` at random moments, and compares what is left.

    python bench/serve/kills.py [--moments 50] [--seed 1] [--web] [--postgresql] [--folder /tmp/kills]

While jobs of half a second to ten seconds are computed by two workers, something happens every second or so. Killed
are: the server (which is then started again), a worker, a job's command, all of them at once, and of PostgreSQL a
connection's process or all processes. A worker is frozen (SIGSTOP) until after its lease, and the server is ended
gracefully (SIGTERM) and started again. Meanwhile jobs are submitted and results downloaded.

At the end every job has to be done once, its result has to have the bytes that the plain command writes and that were
downloaded before, the record and its log of who did what have what was submitted, and nothing that was finished may
have changed later. Exit 0: all of that holds. What is said of work done twice is what jobs had told of their progress
and did not begin with when they went on.

With ``--web`` the server has its pages and jobs come and go by HTTP; else its workers alone run, and jobs come by the
storage.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from victims import PostgreSQL, Server, again, with_database

from tropalign import __version__
from tropalign.serve.private import local_token
from tropalign.serve.records import Job, JobFile, NewJob, Search, State
from tropalign.serve.settings import Limits, Settings
from tropalign.serve.storage import Storage
from tropalign.submissions.submission import Submission

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
#: Sequences of a job, and their lengths: half a second to ten seconds on one thread.
N_SEQUENCES, LENGTHS = 40, (500, 2_800)
#: Pairs of a tile: a job has 42 of them.
TILE = 20
#: Jobs that wait or run at every moment, so that there is something to kill.
N_WAITING = 4
PAUSES = (0.2, 6.0)
SHARES = {"server": 0.2, "worker": 0.25, "command": 0.15, "all": 0.15, "freeze": 0.1, "end": 0.15}
SHARES_OF_DATABASE = {"session": 0.1, "database": 0.1}
LEASE_SECONDS = 4.0


@dataclass
class Sent:
    """A job as it was submitted."""

    name: str
    fasta: str
    options: dict[str, object]
    command: str
    id: str = ""
    n_tries: int = 0
    downloaded: str = ""


class Desk:
    """Where jobs are handed in and results are fetched."""

    def __init__(self, storage: Storage, settings: Settings, has_pages: bool) -> None:
        self.storage, self.settings, self.has_pages = storage, settings, has_pages

    def submit(self, number: int, chance: random.Random) -> Sent:
        """Submits a new job, again and again until there is an answer."""
        name, fasta = f"set{number}.fa", made_up(chance)
        options: dict[str, object] = {"mode": chance.choice(["local", "global"]), "min_score": chance.randrange(1, 40)}
        digest = hashlib.sha256(fasta.encode()).hexdigest()
        inputs = {"queries": [{"file": digest, "name": name}]}
        request = {"verb": "pairs", "inputs": inputs, "options": options, "format": "tsv", "outputs": []}
        submission = Submission.from_json(request).checked()
        sent = Sent(name, fasta, options, submission.shown_command())
        again(lambda: self._handed_in(sent, request, submission, digest))
        return sent

    def _handed_in(self, sent: Sent, request: dict[str, object], submission: Submission, digest: str) -> None:
        sent.n_tries += 1
        data = sent.fasta.encode()
        if self.has_pages:
            self._asked(f"files?name={sent.name}", data, "application/octet-stream")
            body = json.dumps(request | {"title": sent.name}).encode()
            sent.id = json.loads(self._asked("jobs", body, "application/json"))["id"]
            return
        self.storage.files.add_bytes(data)
        new = NewJob(
            owner="local", verb="pairs", title=sent.name, tags=(), key=submission.key(lambda item: digest, __version__),
            request=submission.as_json(), command=sent.command, version=__version__,
            inputs=(JobFile("queries", sent.name, digest, len(data)),),
        )  # fmt: skip
        sent.id = self.storage.jobs.submit(new, self.settings.limits)[0].id

    def download(self, one: Sent) -> str:
        """SHA-256 of a result as it comes by HTTP."""
        return hashlib.sha256(again(lambda: self._asked(f"jobs/{one.id}/files/main"))).hexdigest()

    def _asked(self, path: str, body: bytes | None = None, kind: str = "text/plain") -> bytes:
        url = f"http://127.0.0.1:{self.settings.port}/api/v1/{path}"
        try:
            token = local_token(self.settings.folder)
            headers = {"Content-Type": kind, "Authorization": f"Bearer {token}"}
            with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as answer:
                found: bytes = answer.read()
                return found
        except urllib.error.HTTPError as error:
            if error.code != 503:  # the database is being started again
                print(f"{path}: {error.code} {error.read().decode()}", flush=True)
            raise


class Users(threading.Thread):
    """Submits jobs, downloads results, and complains where something that was finished is another one later."""

    def __init__(self, desk: Desk, seed: int) -> None:
        super().__init__(daemon=True)
        self.desk, self.chance = desk, random.Random(seed)
        self.sent: list[Sent] = []
        self.finished: dict[str, Job] = {}
        self.complaints: list[str] = []
        self.n_downloads = 0
        self.is_enough = False

    def run(self) -> None:
        """Until all jobs are finished."""
        while not self.is_enough or len(self.finished) < len(self.sent):
            while not self.is_enough and len(self.sent) - len(self.finished) < N_WAITING:
                self.sent.append(self.desk.submit(len(self.sent), self.chance))
            for one in self.sent:
                self._look(one)
            if self.finished and self.desk.has_pages:
                self._download(self.chance.choice([one for one in self.sent if one.id in self.finished]))
            time.sleep(0.2)

    def _look(self, one: Sent) -> None:
        job = again(lambda: self.desk.storage.jobs.get(one.id))
        before = self.finished.get(one.id)
        if before is not None and job != before:
            self.complaints.append(f"{one.name}: a finished job has changed: {before} became {job}")
        elif before is None and job.state.is_final:
            self.finished[one.id] = job
            if self.desk.has_pages and job.state is State.DONE:
                self._download(one)

    def _download(self, one: Sent) -> None:
        digest = self.desk.download(one)
        self.n_downloads += 1
        if one.downloaded not in ("", digest):
            self.complaints.append(f"{one.name}: another download gives other bytes")
        one.downloaded = digest


class Redone(threading.Thread):
    """Counts what jobs had told of their progress and did not begin with when they went on."""

    def __init__(self, work: Path) -> None:
        super().__init__(daemon=True)
        self.work = work
        self._told: dict[str, tuple[int, int]] = {}
        self.n_resumed = self.n_with_parts = self.n_pairs = self.n_lost = 0

    def run(self) -> None:
        """Reads the status of every job now and then."""
        while True:
            for path in self.work.glob("*/status.jsonl"):
                self._look(path)
            time.sleep(0.02)

    def _look(self, path: Path) -> None:
        try:
            text = path.read_text()
        except OSError:
            return
        lines = [json.loads(line) for line in text.split("\n")[:-1]]
        counts = [line["done"] for line in lines if "done" in line]
        size, done = self._told.get(path.parent.name, (0, 0))
        begun = [count for count in counts if count] or [0]
        if len(text) < size and not counts:
            return  # begun anew, and nothing told yet
        if len(text) < size and not begun[0] and len(counts) < 2:
            return
        if len(text) < size:
            self.n_resumed += 1
            self.n_pairs += done
            self.n_with_parts += begun[0] > TILE
            self.n_lost += max(0, done - begun[0])
        self._told[path.parent.name] = len(text), max(counts, default=0)


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
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--port", type=int, default=18765)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    os.environ["TROPALIGN_TILE_PAIRS"] = str(TILE)
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)  # PostgreSQL is another user
        limits = replace(Limits(), running_per_user=9, memory_bytes=10**9, requests_per_minute=100_000)
        settings = Settings(
            folder=folder / "server", port=options.port, n_workers=2, lease_seconds=LEASE_SECONDS, limits=limits
        )
        database = PostgreSQL(folder / "postgresql") if options.postgresql else None
        try:
            settings = with_database(settings, database)
            with Storage.open(settings) as storage:
                return _run(options, folder, settings, storage, database)
        finally:
            if database is not None:
                database.end()


def _run(
    options: argparse.Namespace, folder: Path, settings: Settings, storage: Storage, database: PostgreSQL | None
) -> int:
    chance = random.Random(options.seed)
    server, users = Server(settings, options.web, folder / "log"), Users(Desk(storage, settings, options.web), 1)
    redone = Redone(settings.folder / "work")
    ends: list[float] = []
    moments: Counter[str] = Counter()
    shares = SHARES | (SHARES_OF_DATABASE if database is not None else {})
    server.start()
    begin = time.monotonic()
    users.start()
    redone.start()
    while sum(moments.values()) < options.moments:
        time.sleep(chance.uniform(*PAUSES))
        server.thaw()
        whom = chance.choices(list(shares), list(shares.values()))[0]
        if whom in SHARES_OF_DATABASE:
            assert database is not None
            did = database.kill(whom, chance)
        elif whom == "end":
            ends.append(server.end())
            server.start()
            did = True
        else:
            did = server.freeze(chance) if whom == "freeze" else server.kill(whom, chance)
        moments[whom] += did
    server.thaw(are_all=True)
    users.is_enough = True
    users.join(900)
    ends.append(server.end())
    server.start()  # which sweeps the folders that the last kill left
    time.sleep(5)
    ends.append(server.end())
    complaints = users.complaints + _compared(storage, users, folder, options.web)
    attempts = Counter(again(lambda one=one: storage.jobs.get(one.id)).attempt for one in users.sent)
    print(f"{sum(moments.values())} moments in {time.monotonic() - begin:.0f} s: {_listed(moments)}")
    print(f"{len(users.sent)} jobs; attempts: {_listed(dict(sorted(attempts.items())), 'x')}")
    print(f"{users.n_downloads} downloads; graceful ends within {max(ends):.1f} s")
    print(
        f"{redone.n_resumed} attempts resumed, {redone.n_with_parts} of them with parts; of {redone.n_pairs} pairs "
        f"that interrupted attempts had reported, {redone.n_lost} were computed again"
    )
    print("\n".join(complaints) or "every job is done once, as it was submitted, with the bytes of the plain command")
    return 1 if complaints else 0


def _listed(counts: dict[str, int] | dict[int, int], unit: str = "") -> str:
    return ", ".join(f"{n} {what}{unit}" for what, n in counts.items())


def _compared(storage: Storage, users: Users, folder: Path, has_pages: bool) -> list[str]:
    """What is wrong with the record or the results."""
    complaints = _of_the_record(storage, users, has_pages)
    for one in users.sent:
        job = users.finished.get(one.id)
        if job is None or job.state is not State.DONE:
            complaints.append(f"{one.name}: {'not finished' if job is None else f'{job.state}: {job.message}'}")
            continue
        if (job.title, job.command, len(job.outputs)) != (one.name, one.command, 1):
            complaints.append(f"{one.name}: the record says {job}")
        plain = _plain(one, folder)
        if storage.files.path(job.outputs[0].digest or "").read_bytes() != plain:
            complaints.append(f"{one.name}: other bytes than those of {one.command}")
        if has_pages and one.downloaded != hashlib.sha256(plain).hexdigest():
            complaints.append(f"{one.name}: a download had other bytes than those of {one.command}")
    left = list((folder / "server" / "work").iterdir())
    if left:
        complaints.append(f"folders of jobs are left: {left}")
    return complaints


def _of_the_record(storage: Storage, users: Users, has_pages: bool) -> list[str]:
    """Jobs that nobody submitted, or that the log does not have once; answers that were lost are asked for again."""
    complaints = []
    listed, search = [], Search("local", limit=500)
    while True:
        page = storage.jobs.list(search)
        listed += page.jobs
        if page.after is None:
            break
        search = replace(search, after=page.after)
    noted = Counter(entry.object for entry in storage.audit.entries(1000) if entry.action == "submit")
    for one in users.sent:
        ids = [job.id for job in listed if job.title == one.name]
        if one.id not in ids or len(ids) > one.n_tries:
            complaints.append(f"{one.name}: submitted {one.n_tries} times, and the record has {len(ids)}")
        if has_pages and any(noted[id] > 1 or (noted[id] == 0 and one.n_tries == 1) for id in ids):
            complaints.append(f"{one.name}: the log has {[noted[id] for id in ids]} submissions of it")
    if {job.title for job in listed} != {one.name for one in users.sent} or set(noted) - {job.id for job in listed}:
        complaints.append("the database or the log has jobs that were not submitted")
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


if __name__ == "__main__":
    sys.exit(main())
