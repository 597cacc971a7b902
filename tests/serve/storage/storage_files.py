"""Jobs and files for tests of the storage."""

from dataclasses import replace

from tropalign.serve.records import JobFile, NewJob, Outcome, State
from tropalign.serve.settings import Limits

LIMITS = Limits()
WIDE = replace(LIMITS, queued_per_user=10**6)


class Clock:
    def __init__(self, now=1_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


def new_job(storage=None, owner="ann", key="k", **fields):
    inputs = ()
    if storage is not None:
        file = storage.files.add_bytes(b">a\nMKV\n")
        inputs = (JobFile("queries", "x.fa", file.digest, file.size),)
    values = {
        "owner": owner, "verb": "pairs", "title": "a title", "tags": (), "key": key, "request": {"verb": "pairs"},
        "command": "tropalign pairs x.fa", "version": "1.0", "inputs": inputs,
    }  # fmt: skip
    return NewJob(**{**values, **fields})


def submit(storage, owner="ann", key="k", limits=WIDE, **fields):
    return storage.jobs.submit(new_job(storage, owner, key, **fields), limits)[0]


def done(storage, data=b"result", **fields):
    file = storage.files.add_bytes(data)
    return Outcome(State.DONE, outputs=(JobFile("main", "result.tsv", file.digest, file.size, "text/plain"),), **fields)


def run_next(storage, data=b"result", per_user=10, worker="w"):
    job = storage.queue.claim(worker, 30, per_user)
    assert storage.queue.finish(job.id, job.attempt, done(storage, data))
    return storage.jobs.get(job.id)
