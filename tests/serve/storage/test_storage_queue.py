"""The queue on both engines: fair, and what a worker says counts while its attempt is the current one."""

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from storage_files import LIMITS, Clock, done, new_job, run_next, submit

from tropalign.errors import InputError
from tropalign.serve.records import JobFile, Outcome, State
from tropalign.serve.storage import Storage, queue
from tropalign.serve.storage.queue import MOST_DEATHS


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def timed(storage_settings, clock):
    with Storage.open(storage_settings, clock=clock) as storage:
        yield storage


def test_a_jobs_life(timed, clock):
    assert timed.queue.claim("w", 30, 1) is None
    assert not timed.queue.has_work()
    job = submit(timed)
    assert timed.queue.has_work()
    clock.now += 5
    claimed = timed.queue.claim("w1", 30, 1)
    assert (claimed.id, claimed.state, claimed.attempt, claimed.worker) == (job.id, State.RUNNING, 1, "w1")
    assert (claimed.created, claimed.started, claimed.lease_until) == (clock.now - 5, clock.now, clock.now + 30)
    assert timed.queue.renew(job.id, 1, 60, "aligning", 0.25) == "go on"
    seen = timed.jobs.get(job.id)
    assert (seen.stage, seen.progress, seen.lease_until) == ("aligning", 0.25, clock.now + 60)
    assert timed.queue.renew(job.id, 1, 60, "aligning", 7.0) == "go on"
    assert timed.jobs.get(job.id).progress == 1.0
    clock.now += 5
    outcome = done(timed, forecast={"cells": 12})
    assert timed.queue.finish(job.id, 1, outcome)
    ended = timed.jobs.get(job.id)
    assert (ended.state, ended.finished, ended.progress, ended.stage) == (State.DONE, clock.now, 1.0, "")
    assert (ended.outputs, ended.forecast, ended.worker, ended.lease_until) == (
        outcome.outputs,
        {"cells": 12},
        None,
        None,
    )


@pytest.mark.parametrize("state", [State.FAILED, State.REFUSED, State.CANCELLED])
def test_other_ends(timed, state):
    job = submit(timed)
    timed.queue.claim("w", 30, 1)
    assert timed.queue.finish(job.id, 1, Outcome(state, "x.fa, line 3: no sequence"))
    ended = timed.jobs.get(job.id)
    assert (ended.state, ended.message, ended.outputs) == (state, "x.fa, line 3: no sequence", ())


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING])
def test_what_is_no_end_is_refused(timed, state):
    with pytest.raises(ValueError, match="is not how a job ends"):
        timed.queue.finish("x", 1, Outcome(state))


def test_outputs_that_are_not_kept_are_refused(timed):
    job = submit(timed)
    timed.queue.claim("w", 30, 1)
    with pytest.raises(InputError):
        timed.queue.finish(job.id, 1, Outcome(State.DONE, outputs=(JobFile("main", "r", "0" * 64, 1),)))
    assert timed.jobs.get(job.id).state == State.RUNNING


def test_the_record_says_which_version_computed(timed):
    job = submit(timed)
    assert timed.queue.claim("w", 30, 1, version="2.0").version == "2.0"
    timed.queue.finish(job.id, 1, done(timed))
    assert timed.jobs.submit(new_job(timed), LIMITS)[0].id != job.id


def test_the_second_end_of_an_attempt_changes_nothing(timed):
    job = submit(timed)
    timed.queue.claim("w", 30, 1)
    assert timed.queue.finish(job.id, 1, done(timed, b"first"))
    before = timed.jobs.get(job.id)
    assert not timed.queue.finish(job.id, 1, done(timed, b"second"))
    assert not timed.queue.finish(job.id, 1, Outcome(State.FAILED, "late"))
    assert not timed.queue.requeue(job.id, 1, "late")
    assert timed.queue.renew(job.id, 1, 30) == "lost"
    assert timed.jobs.get(job.id) == before


def test_a_late_end_of_an_old_attempt_changes_nothing(timed, clock):
    job = submit(timed)
    timed.queue.claim("w1", 30, 1)
    clock.now += 31
    assert timed.queue.reclaim() == 1
    for expected in (State.QUEUED, State.RUNNING):
        before = timed.jobs.get(job.id)
        assert before.state == expected
        assert not timed.queue.finish(job.id, 1, done(timed))
        assert not timed.queue.requeue(job.id, 1, "late")
        assert not timed.queue.note(job.id, 1, forecast={})
        assert timed.queue.renew(job.id, 1, 30) == "lost"
        assert timed.jobs.get(job.id) == before
        timed.queue.claim("w2", 30, 1)
    assert timed.queue.finish(job.id, 2, done(timed))


def test_a_stopped_worker_leaves_its_job(timed):
    job = submit(timed)
    timed.queue.claim("w", 30, 1)
    assert timed.queue.requeue(job.id, 1, "the server stops")
    waiting = timed.jobs.get(job.id)
    assert (waiting.state, waiting.stage, waiting.worker, waiting.lease_until) == (
        State.QUEUED,
        "the server stops",
        None,
        None,
    )
    again = timed.queue.claim("w", 30, 1)
    assert (again.attempt, again.started, again.stage) == (2, waiting.started, "")


def test_a_cancelled_job_is_not_begun_again(timed, clock):
    for key, stop in (("1", lambda job: timed.queue.requeue(job.id, 1, "")), ("2", lambda job: timed.queue.reclaim())):
        submit(timed, key=key)
        job = timed.queue.claim("w", 30, 1)
        timed.jobs.cancel(job.id)
        clock.now += 31
        assert stop(job)
        assert timed.jobs.get(job.id).state == State.CANCELLED
        assert timed.jobs.get(job.id).finished == clock.now


def test_reclaiming_asks_who_lives(timed, clock):
    for key in "abc":
        submit(timed, key=key)
    jobs = {worker: timed.queue.claim(worker, 30, 3) for worker in ("dead", "alive", "far")}
    assert timed.queue.reclaim({"dead": False, "alive": True}.get) == 1
    assert timed.jobs.get(jobs["dead"].id).state == State.QUEUED
    clock.now += 31
    timed.queue.renew(jobs["alive"].id, 1, 30)
    assert timed.queue.reclaim({"alive": True}.get) == 1
    assert timed.jobs.get(jobs["far"].id).state == State.QUEUED
    assert timed.jobs.get(jobs["alive"].id).state == State.RUNNING


def test_a_job_that_kills_its_workers_fails(timed, clock):
    job = submit(timed)
    for n in range(MOST_DEATHS):
        assert timed.jobs.get(job.id).state == State.QUEUED
        assert timed.queue.claim("w", 30, 1).attempt == n + 1
        assert timed.queue.reclaim(lambda worker: False) == 1
    ended = timed.jobs.get(job.id)
    assert (ended.state, ended.finished, ended.worker) == (State.FAILED, clock.now, None)
    assert ended.message.startswith(
        f"{MOST_DEATHS} workers died while they computed it, perhaps for lack of memory: submit a smaller"
    )


def test_a_machine_that_slept_is_no_death(timed, clock):
    job = submit(timed)
    for _ in range(2 * MOST_DEATHS):
        timed.queue.claim("w", 30, 1)
        clock.now += 31
        assert timed.queue.reclaim(lambda worker: True) == 1
    assert timed.jobs.get(job.id).state == State.QUEUED


def test_users_take_turns(timed, clock):
    for n in range(4):
        submit(timed, owner="ann", key=f"a{n}")
    submit(timed, owner="bob", key="b")
    submit(timed, owner="cat", key="c")
    order = []
    for _ in range(6):
        clock.now += 1
        order.append(run_next(timed, per_user=1).owner)
    assert order == ["ann", "bob", "cat", "ann", "ann", "ann"]
    for owner in ("ann", "bob", "cat"):
        submit(timed, owner=owner, key=f"{owner} again")
    clock.now += 1
    assert run_next(timed, per_user=1).owner == "bob"  # served longest ago


def test_who_has_fewer_running_jobs_goes_first(timed, clock):
    for n in range(5):
        submit(timed, owner="ann", key=f"a{n}")
    for n in range(2):
        submit(timed, owner="bob", key=f"b{n}")
    owners = []
    for _ in range(7):
        clock.now += 1
        job = timed.queue.claim("w", 30, 3)
        owners.append(job.owner if job else None)
    assert owners == ["ann", "bob", "ann", "bob", "ann", None, None]


def test_a_users_jobs_are_first_in_first_out(timed):
    ids = [submit(timed, key=str(n)).id for n in range(5)]
    assert [timed.queue.claim("w", 30, 5).id for _ in ids] == ids


def test_equal_jobs_are_computed_once(timed):
    first, same, other_user = submit(timed), submit(timed), submit(timed, owner="bob")
    claimed = timed.queue.claim("w", 30, 5)
    assert claimed.id == first.id
    assert timed.queue.claim("w2", 30, 5) is None
    assert timed.queue.finish(first.id, 1, done(timed, forecast={"cells": 1}))
    for waiting in (same, other_user):
        ended = timed.jobs.get(waiting.id)
        assert (ended.state, ended.attempt, ended.progress, ended.forecast) == (State.DONE, 0, 1.0, {"cells": 1})
        assert ended.outputs == timed.jobs.get(first.id).outputs
    assert timed.queue.claim("w", 30, 5) is None


def test_an_equal_job_runs_where_the_first_fails(timed):
    first, same = submit(timed), submit(timed)
    timed.queue.claim("w", 30, 5)
    timed.queue.finish(first.id, 1, Outcome(State.FAILED, "no"))
    assert timed.queue.claim("w", 30, 5).id == same.id


def test_an_equal_job_that_came_too_late_for_the_end_is_not_computed(timed, monkeypatch):
    """As when it was submitted while the first one's end was being written."""
    monkeypatch.setattr(queue, "_finish_equal", lambda *_: None)
    first, same, third = submit(timed), submit(timed), submit(timed, key="other")
    run_next(timed)
    assert timed.jobs.get(same.id).state == State.QUEUED
    assert timed.queue.claim("w", 30, 5).id == third.id
    assert timed.jobs.get(same.id).state == State.DONE
    assert timed.jobs.get(first.id).state == State.DONE


def test_fewer_running_jobs_count_more_than_a_longer_wait(timed, clock):
    for owner, n in (("bob", 2), ("ann", 1)):
        for m in range(n):
            clock.now += 1
            submit(timed, owner=owner, key=f"{owner} {m}")
            assert timed.queue.claim("w", 30, 5).owner == owner
    for owner in ("bob", "ann"):
        submit(timed, owner=owner, key=f"{owner} waits")
    assert timed.queue.claim("w", 30, 5).owner == "ann"
