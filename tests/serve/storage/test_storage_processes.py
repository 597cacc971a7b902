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

#: A worker: claims jobs, renews and finishes them until there are none, or it is killed. Each line is a finished job.
WORKER = """
import os, sys
from pathlib import Path
from tropalign.serve.records import JobFile, Outcome, State
from tropalign.serve.settings import Settings
from tropalign.serve.storage import Storage

folder, database, stays = sys.argv[1:]
with Storage.open(Settings(folder=Path(folder), database=database or None), migrate=False) as storage:
    print("ready", flush=True)
    sys.stdin.readline()
    while True:
        job = storage.queue.claim(str(os.getpid()), 30, 1000)
        if job is None:
            if stays:
                continue
            break
        assert storage.queue.renew(job.id, job.attempt, 30, "half", 0.5) == "go on"
        file = storage.files.add_bytes(job.key.encode())
        outputs = (JobFile("main", "r", file.digest, file.size),)
        if storage.queue.finish(job.id, job.attempt, Outcome(State.DONE, outputs=outputs)):
            print(job.id, job.attempt, flush=True)
"""


def start(settings, stays=False):
    """A worker that has opened the storage and waits for a line."""
    environment = {**os.environ, "PYTHONPATH": str(Path(tropalign.__file__).parent.parent)}
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, settings.folder, settings.database or "", "stays" if stays else ""],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert worker.stdout.readline() == "ready\n", worker.stderr.read()
    return worker


def ended(worker):
    """What a worker has said it finished, once it has ended by itself or by a signal."""
    output, errors = worker.communicate()
    assert worker.returncode in (0, -signal.SIGKILL), errors
    return [line.split() for line in output.splitlines() if len(line.split()) == 2]


def test_many_workers_take_each_job_once(storage, storage_settings):
    ids = {submit(storage, owner=f"user{n % 7}", key=f"k{n}").id for n in range(200)}
    workers = [start(storage_settings) for _ in range(8)]
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    finished = [job for worker in workers for job, _ in ended(worker)]
    assert len(finished) == 200
    assert set(finished) == ids
    assert storage.jobs.counts()[State.DONE] == 200
    for owner in range(7):
        for job in storage.jobs.list(Search(f"user{owner}", limit=500)).jobs:
            assert (job.attempt, len(job.outputs)) == (1, 1)
            assert storage.files.path(job.outputs[0].digest).read_text() == job.key


@pytest.mark.long
def test_killed_workers_lose_no_finished_job_and_finish_none_twice(storage, storage_settings):
    """Workers are killed at random moments, most within a transaction, since they do nothing else."""
    dice, told, ids = random.Random(15), [], set()
    for n in range(12):
        ids |= {submit(storage, key=f"k{n} {m}").id for m in range(10)}
        worker = start(storage_settings, stays=True)
        worker.stdin.write("go\n")
        worker.stdin.flush()
        time.sleep(dice.uniform(0.0, 0.12))
        worker.kill()
        told += ended(worker)
        before = {job: storage.jobs.get(job) for job, _ in told}
        assert all(job.state == State.DONE for job in before.values())
        with Storage.open(storage_settings) as other:
            other.queue.reclaim(lambda name: False)
            assert {job: other.jobs.get(job) for job in before} == before
    told += ended_all(storage_settings)
    assert storage.jobs.counts()[State.DONE] == len(ids)
    assert len({job for job, _ in told}) == len(told)  # one may have been killed before it said so
    for job in storage.jobs.list(Search("ann", limit=500)).jobs:
        assert len(job.outputs) == 1
        assert storage.files.path(job.outputs[0].digest).read_text() == job.key


def ended_all(settings):
    worker = start(settings)
    worker.stdin.write("go\n")
    worker.stdin.flush()
    return ended(worker)


SUBMITTER = """
import json, sys
from pathlib import Path
from tropalign.serve.records import NewJob
from tropalign.serve.settings import Limits, Settings
from tropalign.serve.storage import Storage, TooMany

with Storage.open(Settings(folder=Path(sys.argv[1]), database=sys.argv[2] or None), migrate=False) as storage:
    print("ready", flush=True)
    sys.stdin.readline()
    answers = []
    for n in range(10):
        new = NewJob("ann", "pairs", "t", ("x",), f"{sys.argv[3]} {n}", {}, "c", "1", ())
        try:
            answers.append(storage.jobs.submit(new, Limits(queued_per_user=20))[0].id)
        except TooMany:
            answers.append(None)
    print(json.dumps(answers))
"""


def test_a_limit_holds_however_many_submit_at_a_time(storage, storage_settings):
    environment = {**os.environ, "PYTHONPATH": str(Path(tropalign.__file__).parent.parent)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SUBMITTER, storage_settings.folder, storage_settings.database or "", str(n)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )
        for n in range(4)
    ]  # fmt: skip
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [answer for process in started for answer in json.loads(process.communicate()[0])]
    assert len(answers) == 40
    assert sum(answer is not None for answer in answers) == 20
    assert storage.jobs.counts()[State.QUEUED] == 20


CLAIMER = """
import sys
from pathlib import Path
from tropalign.serve.settings import Settings
from tropalign.serve.storage import Storage

with Storage.open(Settings(folder=Path(sys.argv[1]), database=sys.argv[2] or None), migrate=False) as storage:
    print("ready", flush=True)
    sys.stdin.readline()
    print(*[job.key for _ in range(6) if (job := storage.queue.claim("w", 30, 2)) is not None])
"""


def test_what_may_run_at_a_time_holds_however_many_claim(storage, storage_settings):
    for n in range(12):
        submit(storage, owner=f"user{n % 2}", key=f"k{n}")
        submit(storage, owner="cat", key="the same")
    environment = {**os.environ, "PYTHONPATH": str(Path(tropalign.__file__).parent.parent)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMER, storage_settings.folder, storage_settings.database or ""],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )
        for _ in range(4)
    ]  # fmt: skip
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    keys = [key for process in started for key in process.communicate()[0].replace("the same", "same").split()]
    assert sorted(keys) == ["k0", "k1", "k2", "k3", "same"]
