"""Jobs as the web server submits them, and what becomes of them."""

import json
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from kept_parts import parts_in

from tropalign import __version__
from tropalign.serve.records import JobFile, NewJob
from tropalign.submissions.submission import Submission

SUPERVISOR = [sys.executable, "-P", "-m", "tropalign.serve.work.supervisor"]
WORKER = [sys.executable, "-P", "-m", "tropalign.serve.work.worker"]
SECONDS = 180


def wait_until(condition, seconds=SECONDS):
    """Waits for a thing that has to come, and gives it."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "what was waited for did not come"
        time.sleep(0.01)
    return found


def family(n, repeats, seed=""):
    return "".join(f">s{seed}{k}\n{'MKVLAAGWHHE' * repeats}\n" for k in range(n))


class Desk:
    """Submits jobs as the web server does, and looks at what becomes of them."""

    def __init__(self, settings):
        from tropalign.serve.storage import Storage

        self.settings = settings
        self.storage = Storage.open(settings)

    def submit(
        self, text, verb="pairs", dest="queries", name="proteins.fa", format=None, outputs=(), title="", **options
    ):
        data = text if isinstance(text, bytes) else text.encode()
        stored = self.storage.files.add_bytes(data)
        request = {"verb": verb, "inputs": {dest: [{"file": stored.digest, "name": name}]}, "options": options}
        request |= {"outputs": list(outputs)} | ({"format": format} if format else {})
        submission = Submission.from_json(request)
        new = NewJob(
            owner="alice", verb=verb, title=title, tags=(), key=submission.key(lambda item: item.file, __version__),
            request=submission.as_json(), command=submission.shown_command(), version=__version__,
            inputs=(JobFile(dest, name, stored.digest, stored.size),),
        )  # fmt: skip
        return self.storage.jobs.submit(new, self.settings.limits)[0].id

    def submit_with(self, database):
        query = self.storage.files.add_bytes(family(1, 2, "q").encode())
        items = {
            "queries": [{"file": query.digest, "name": "q.fa"}],
            "targets": [{"database": database.id, "name": database.name}],
        }
        submission = Submission.from_json({"verb": "pairs", "inputs": items})
        inputs = (
            JobFile("queries", "q.fa", query.digest, query.size),
            JobFile("targets", database.name, None, database.size, database=database.id),
        )
        new = NewJob(
            owner="alice", verb="pairs", title="", tags=(), key=database.id, request=submission.as_json(),
            command=submission.shown_command(), version=__version__, inputs=inputs,
        )  # fmt: skip
        return self.storage.jobs.submit(new, self.settings.limits)[0].id

    def job(self, id):
        return self.storage.jobs.get(id)

    def folder(self, id):
        return self.settings.folder / "work" / id

    def ended(self, id, seconds=SECONDS):
        return wait_until(lambda: (job := self.job(id)).state.is_final and job, seconds)

    def text(self, job, role="main"):
        digest = next(one.digest for one in job.outputs if one.role == role)
        return self.storage.files.path(digest).read_text()

    def parts(self, id):
        return {index: at for path in self.folder(id).glob("files/*.parts") for index, at in parts_in(path).items()}

    def process(self, id):
        path = self.folder(id) / "process.json"
        return json.loads(path.read_text())["pid"] if path.exists() else None


def lives(pid):
    """Whether a process lives; one that its parent has not asked after does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def freeze(desk, worker):
    """Stops a worker, and not in the midst of a transaction, in which nobody else could write."""

    def is_frozen():
        worker.send_signal(signal.SIGSTOP)
        wait_until(lambda: Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
        try:
            with closing(sqlite3.connect(desk.settings.folder / "tropalign.db", timeout=1)) as database:
                database.isolation_level = None
                database.execute("BEGIN IMMEDIATE")
                database.execute("ROLLBACK")
        except sqlite3.OperationalError:
            worker.send_signal(signal.SIGCONT)
            return False
        return True

    wait_until(is_frozen)
