"""Several processes on one storage: each job once, and a process that is killed takes nothing with it."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from storage_files import submit

import tropalign
from tropalign.serve.records import Search, State
from tropalign.serve.storage import Storage

#: Opens the storage and waits for a line.
OPENED = """
import json, os, sys
from pathlib import Path
from tropalign.serve.records import JobFile, NewJob, Outcome, State
from tropalign.serve.settings import Limits, Settings
from tropalign.serve.storage import Storage, TooMany

folder, database, word = sys.argv[1:]
with Storage.open(Settings(folder=Path(folder), database=database or None), migrate=False) as storage:
    print("ready", flush=True)
    sys.stdin.readline()
"""
#: A worker: claims jobs, renews and finishes them until there are none, or it is killed. Each line is a finished job.
WORKER = """
    while True:
        job = storage.queue.claim(str(os.getpid()), 30, 1000)
        if job is None:
            if word:
                continue
            break
        assert storage.queue.renew(job.id, job.attempt, 30, "half", 0.5) == "go on"
        file = storage.files.add_bytes(job.key.encode())
        outputs = (JobFile("main", "r", file.digest, file.size),)
        if storage.queue.finish(job.id, job.attempt, Outcome(State.DONE, outputs=outputs)):
            print(job.id, job.attempt, flush=True)
"""
SUBMITTER = """
    answers = []
    for n in range(10):
        new = NewJob("ann", "pairs", "t", ("x",), f"{word} {n}", {}, "c", "1", ())
        try:
            answers.append(storage.jobs.submit(new, Limits(queued_per_user=20))[0].id)
        except TooMany:
            answers.append(None)
    print(json.dumps(answers))
"""
CLAIMER = """
    print(*[job.key for _ in range(6) if (job := storage.queue.claim("w", 30, 2)) is not None])
"""


def started(settings, program, words):
    environment = {**os.environ, "PYTHONPATH": str(Path(tropalign.__file__).parent.parent)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPENED + program, settings.folder, settings.database or "", word],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for word in words
    ]  # fmt: skip
    for process in processes:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    return processes


def ended(worker):
    """What a worker has said it finished, once it has ended by itself or by a signal."""
    output, errors = worker.communicate()
    assert worker.returncode in (0, -signal.SIGKILL), errors
    return [line.split() for line in output.splitlines() if len(line.split()) == 2]


def test_many_workers_take_each_job_once(storage, storage_settings):
    ids = {submit(storage, owner=f"user{n % 7}", key=f"k{n}").id for n in range(80)}
    workers = started(storage_settings, WORKER, [""] * 4)
    finished = [job for worker in workers for job, _ in ended(worker)]
    assert len(finished) == 80
    assert set(finished) == ids
    assert storage.jobs.counts()[State.DONE] == 80
    for owner in range(7):
        for job in storage.jobs.list(Search(f"user{owner}", limit=500)).jobs:
            assert (job.attempt, len(job.outputs)) == (1, 1)
            assert storage.files.path(job.outputs[0].digest).read_text() == job.key


@pytest.mark.long
def test_killed_workers_lose_no_finished_job_and_finish_none_twice(storage, storage_settings):
    """Workers are killed at random moments, most within a transaction, since they do nothing else."""
    dice, told, ids = random.Random(15), [], set()
    for n in range(6):
        ids |= {submit(storage, key=f"k{n} {m}").id for m in range(10)}
        (worker,) = started(storage_settings, WORKER, ["stays"])
        time.sleep(dice.uniform(0.0, 0.12))
        worker.kill()
        told += ended(worker)
        before = {job: storage.jobs.get(job) for job, _ in told}
        assert all(job.state == State.DONE for job in before.values())
        with Storage.open(storage_settings) as other:
            other.queue.reclaim(lambda name: False)
            assert {job: other.jobs.get(job) for job in before} == before
    told += ended(*started(storage_settings, WORKER, [""]))
    assert storage.jobs.counts()[State.DONE] == len(ids)
    assert len({job for job, _ in told}) == len(told)  # one may have been killed before it said so
    for job in storage.jobs.list(Search("ann", limit=500)).jobs:
        assert len(job.outputs) == 1
        assert storage.files.path(job.outputs[0].digest).read_text() == job.key


def test_a_limit_holds_however_many_submit_at_a_time(storage, storage_settings):
    processes = started(storage_settings, SUBMITTER, map(str, range(4)))
    answers = [answer for process in processes for answer in json.loads(process.communicate()[0])]
    assert len(answers) == 40
    assert sum(answer is not None for answer in answers) == 20
    assert storage.jobs.counts()[State.QUEUED] == 20


def test_what_may_run_at_a_time_holds_however_many_claim(storage, storage_settings):
    for n in range(12):
        submit(storage, owner=f"user{n % 2}", key=f"k{n}")
        submit(storage, owner="cat", key="the same")
    processes = started(storage_settings, CLAIMER, [""] * 4)
    keys = [key for process in processes for key in process.communicate()[0].replace("the same", "same").split()]
    assert sorted(keys) == ["k0", "k1", "k2", "k3", "same"]
