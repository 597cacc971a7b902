"""Jobs that wait for other jobs, for their turn, and for workers."""

from dataclasses import replace

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from storage_files import Clock, new_job, run_next, submit

from tropalign.serve.records import Awaited, JobFile, Outcome, State
from tropalign.serve.settings import Limits
from tropalign.serve.storage.waits import SILENT_SECONDS


def chained(storage, source, key, role="main", **fields):
    """A job that reads an output of another one."""
    request = {"verb": "tree", "inputs": {"taxa": [{"job": source.id, "role": role, "name": "result.tsv"}]}}
    new = new_job(None, key=key, request=request, verb="tree", **fields)
    file, awaited = JobFile("taxa", "result.tsv", None, 0), Awaited(0, source.id, role, source.title)
    return storage.jobs.submit(replace(new, inputs=(file,), awaited=(awaited,)), Limits())[0]


def waits(storage, *jobs, most=2):
    found = storage.waits.of([storage.jobs.get(job.id) for job in jobs], most)
    return [found[job.id].sentence if job.id in found else None for job in jobs]


def test_a_chain_runs_in_its_order(storage):
    first = submit(storage, key="1")
    second = chained(storage, first, "2")
    third = chained(storage, second, "3", title="third")
    held = storage.queue.claim("w", 30, 10)
    assert held.id == first.id and not storage.queue.has_work() and storage.queue.claim("w", 30, 10) is None
    assert waits(storage, second, third) == ["waits for the job “a title”"] * 2
    file = storage.files.add_bytes(b"tree")
    outputs = (JobFile("main", "result.tsv", file.digest, file.size),)
    storage.queue.finish(first.id, held.attempt, Outcome(State.DONE, outputs=outputs))
    assert storage.queue.has_work()
    done = run_next(storage)
    assert done.id == second.id and done.inputs[0].digest == file.digest and done.inputs[0].size == 4
    assert done.request["inputs"]["taxa"][0]["file"] == file.digest and done.sources == (first.id,)
    assert run_next(storage).id == third.id
    assert storage.queue.claim("w", 30, 10) is None and not storage.queue.has_work()


def test_a_chain_ends_as_a_whole(storage):
    first = submit(storage, key="1")
    second = chained(storage, first, "2", title="second")
    third, cancelled = chained(storage, second, "3"), chained(storage, first, "4")
    storage.jobs.cancel(cancelled.id)
    storage.jobs.delete(first.id)
    storage.queue.settle()
    ended = [storage.jobs.get(job.id) for job in (second, third, cancelled)]
    assert [job.state for job in ended] == ["failed", "failed", "cancelled"]
    assert "the job “a title”, which was deleted: submit" in ended[0].message
    assert "the job “second”, which failed (this job needed" in ended[1].message
    assert not storage.queue.has_work()


def test_the_end_of_a_long_chain_quotes_the_first_reason_once(storage):
    first = submit(storage, key="1")
    chain = [first]
    for n in range(2, 6):
        chain.append(chained(storage, chain[-1], str(n), title=f"number {n}"))
    held = storage.queue.claim("w", 30, 10)
    why = "x.fa: record 3 is empty (no letters): remove it"
    outcome = Outcome(State.FAILED, message=f"{why}.", exit_code=3)
    storage.queue.finish(first.id, held.attempt, outcome)
    storage.queue.settle()
    assert [storage.jobs.get(job.id).message for job in chain[1:]] == [
        f"this job needed a result of the job “{title}”, which failed ({why}): "
        "submit this job again when its input exists"
        for title in ("a title", "number 2", "number 3", "number 4")
    ]


def test_an_output_that_is_not_made_ends_who_waits_for_it(storage):
    first = submit(storage, key="1")
    second = chained(storage, first, "2", role="report")
    run_next(storage)
    assert storage.queue.claim("w", 30, 10) is None
    assert "the result 'report' of the job “a title” does not exist" in storage.jobs.get(second.id).message


def test_what_is_waited_for_is_said(storage):
    clock = storage.waits._clock = Clock()
    jobs = [submit(storage, key=str(n), owner="ab"[n % 2]) for n in range(4)]
    assert waits(storage, jobs[1]) == ["waiting for a worker: none is running (number 2 in the queue)"]
    storage.waits.tell("crew 1", 1)
    assert waits(storage, jobs[1]) == ["waiting: number 2 in the queue"]
    storage.queue.claim("w", 30, 1)
    assert waits(storage, *jobs[:2]) == [None, "waiting: number 1 in the queue; the only worker is busy"]
    storage.waits.tell("crew 2", 2)
    one_more = "waiting for one of your running jobs to end: the limit is reached (number 2 in the queue)"
    assert waits(storage, jobs[1], jobs[2], most=1) == ["waiting: number 1 in the queue", one_more]
    storage.users.set("a", running_per_user=2)
    assert waits(storage, jobs[2], most=1) == ["waiting: number 2 in the queue"]
    for _ in range(2):
        storage.queue.claim("w", 30, 2)
    assert waits(storage, jobs[3]) == ["waiting: number 1 in the queue; all 3 workers are busy"]
    storage.waits.leave("crew 2")
    clock.now += SILENT_SECONDS + 1
    assert waits(storage, jobs[3])[0].startswith("waiting for a worker: none")
