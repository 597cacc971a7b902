"""A job's life against a plain dict: whatever users and workers do, in whatever order."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from storage_files import LIMITS, Clock, new_job

from tropalign.serve.records import JobFile, Outcome, Search, State
from tropalign.serve.settings import Settings
from tropalign.serve.storage import Storage
from tropalign.serve.storage.databases import InstalledDatabases
from tropalign.serve.storage.queue import MOST_DEATHS

pytest.importorskip("hypothesis", reason="hypothesis is not installed")
from hypothesis import settings, strategies
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

USERS, KEYS, WORKERS = ("ann", "bob"), ("k1", "k2", "k3"), ("w1", "w2")
LEASE, PER_USER = 30.0, 2


class Life(RuleBasedStateMachine):
    """`self.model` has of each job what the storage must say, `self.held` all attempts that there ever were."""

    jobs = Bundle("jobs")
    open_storage = None  # of a clock: a storage, and what closes it

    def __init__(self):
        super().__init__()
        self.clock = Clock()
        self.storage, self.close = type(self).open_storage(self.clock)
        self.model, self.order, self.held = {}, [], []

    def teardown(self):
        self.close()

    @rule(target=jobs, owner=strategies.sampled_from(USERS), key=strategies.sampled_from(KEYS))
    def submit(self, owner, key):
        equal = [id_ for id_, job in self.model.items() if job["key"] == key and job["state"] == "done"]
        own = [id_ for id_ in equal if self.model[id_]["owner"] == owner]
        job = self.storage.jobs.submit(new_job(self.storage, owner, key), LIMITS)[0]
        if own:
            assert job.id in own
            return job.id
        assert job.id not in self.model
        state = "done" if equal else "queued"
        self.model[job.id] = {
            "owner": owner,
            "key": key,
            "state": state,
            "attempt": 0,
            "cancel": False,
            "deaths": 0,
        }
        self.order.append(job.id)
        return job.id

    @rule(worker=strategies.sampled_from(WORKERS))
    def claim(self, worker):
        running = [job for job in self.model.values() if job["state"] == "running"]
        busy = {job["key"] for job in running}
        may = {
            id_
            for id_, job in self.model.items()
            if job["state"] == "queued"
            and job["key"] not in busy
            and sum(other["owner"] == job["owner"] for other in running) < PER_USER
        }
        job = self.storage.queue.claim(worker, LEASE, PER_USER)
        assert (job is not None) == bool(may)
        if job is None:
            return
        first = next(id_ for id_ in self.order if id_ in may and self.model[id_]["owner"] == job.owner)
        assert job.id == first
        kept = self.model[job.id]
        kept.update(state="running", attempt=kept["attempt"] + 1, worker=worker, until=self.clock.now + LEASE)
        assert job.attempt == kept["attempt"]
        self.held.append((job.id, job.attempt))

    def is_current(self, id_, attempt):
        job = self.model.get(id_)
        return job is not None and job["state"] == "running" and job["attempt"] == attempt

    @rule(data=strategies.data(), state=strategies.sampled_from(["done", "done", "failed", "cancelled"]))
    def finish(self, data, state):
        if not self.held:
            return
        id_, attempt = data.draw(strategies.sampled_from(self.held))
        file = self.storage.files.add_bytes(f"{id_} {attempt}".encode())
        outputs = (JobFile("main", "r.tsv", file.digest, file.size),) if state == "done" else ()
        current = self.is_current(id_, attempt)
        assert self.storage.queue.finish(id_, attempt, Outcome(State(state), outputs=outputs)) == current
        if current:
            self.model[id_].update(state=state, outputs=outputs)
            for job in self.model.values() if state == "done" else ():
                if job["state"] == "queued" and job["key"] == self.model[id_]["key"]:
                    job.update(state="done", outputs=outputs)

    @rule(data=strategies.data())
    def renew(self, data):
        if not self.held:
            return
        id_, attempt = data.draw(strategies.sampled_from(self.held))
        answer = self.storage.queue.renew(id_, attempt, LEASE)
        if self.is_current(id_, attempt):
            self.model[id_]["until"] = self.clock.now + LEASE
            assert answer == ("cancel" if self.model[id_]["cancel"] else "go on")
        else:
            assert answer == "lost"

    def release(self, id_, died=False):
        job = self.model[id_]
        job["deaths"] += died
        job["state"] = "cancelled" if job["cancel"] else "queued"
        if job["deaths"] >= MOST_DEATHS and died:
            job["state"] = "failed"

    @rule(data=strategies.data())
    def requeue(self, data):
        if not self.held:
            return
        id_, attempt = data.draw(strategies.sampled_from(self.held))
        current = self.is_current(id_, attempt)
        assert self.storage.queue.requeue(id_, attempt, "stopped") == current
        if current:
            self.release(id_)

    @rule(dead=strategies.sets(strategies.sampled_from(WORKERS)))
    def reclaim(self, dead):
        lost = [
            id_
            for id_, job in self.model.items()
            if job["state"] == "running" and (job["worker"] in dead or job["until"] < self.clock.now)
        ]
        assert self.storage.queue.reclaim(lambda worker: False if worker in dead else None) == len(lost)
        for id_ in lost:
            self.release(id_, died=True)

    @rule(seconds=strategies.sampled_from([1, 20, 40]))
    def wait(self, seconds):
        self.clock.now += seconds

    @rule(id_=jobs)
    def cancel(self, id_):
        if id_ not in self.model:
            with pytest.raises(KeyError):
                self.storage.jobs.cancel(id_)
            return
        self.storage.jobs.cancel(id_)
        job = self.model[id_]
        job["cancel"] |= job["state"] in ("queued", "running")
        if job["state"] == "queued":
            job["state"] = "cancelled"

    @rule(id_=jobs)
    def delete(self, id_):
        if self.model.pop(id_, None) is None:
            with pytest.raises(KeyError):
                self.storage.jobs.delete(id_)
            return
        self.storage.jobs.delete(id_)

    @rule()
    def clean(self):
        self.storage.files.remove_unused(-10)

    @invariant()
    def the_record_is_the_model(self):
        listed = [job for user in USERS for job in self.storage.jobs.list(Search(user, limit=500)).jobs]
        seen = {job.id: (job.owner, job.key, job.state.value, job.attempt) for job in listed}
        assert seen == {id_: (j["owner"], j["key"], j["state"], j["attempt"]) for id_, j in self.model.items()}
        for job in listed:
            assert (job.worker is not None) == (job.lease_until is not None) == (job.state == State.RUNNING)
            assert (job.finished is not None) == job.state.is_final
            assert all(self.storage.files.holds(file.digest) for file in (*job.inputs, *job.outputs))
            assert bool(job.outputs) == (job.state == State.DONE)
            if "outputs" in self.model[job.id]:
                assert job.outputs == self.model[job.id]["outputs"]


def check(open_storage, n_examples):
    run_state_machine_as_test(
        type("LifeHere", (Life,), {"open_storage": staticmethod(open_storage)}),
        settings=settings(max_examples=n_examples, stateful_step_count=30, database=None),
    )


@pytest.mark.long
def test_a_jobs_life_on_sqlite():
    def open_storage(clock):
        folder = TemporaryDirectory()
        storage = Storage.open(Settings(folder=Path(folder.name)), clock=clock)
        return storage, lambda: (storage.close(), folder.cleanup())

    check(open_storage, 40)


@pytest.mark.long
def test_a_jobs_life_on_postgresql(postgresql_url, tmp_path):
    from tropalign.serve.storage.database import writing
    from tropalign.serve.storage.schema import metadata

    with Storage.open(Settings(folder=tmp_path, database=postgresql_url)) as storage:

        def open_storage(clock):
            with writing(storage.engine) as connection:
                for table in reversed(metadata.sorted_tables):
                    connection.execute(table.delete())
                connection.exec_driver_sql("DELETE FROM job_words")
            return Storage(storage.engine, storage.files, InstalledDatabases(None), clock), lambda: None

        check(open_storage, 20)
