"""What users have sent, and which sessions were ended: remembered by the database, not by a process."""

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from storage_files import Clock, done, submit

from tropalign.errors import ResourceError
from tropalign.serve.records import Database, StoredFile
from tropalign.serve.storage import Storage

ONE, TWO = StoredFile("1" * 64, 10), StoredFile("2" * 64, 5)
DAY = 24 * 3600


def test_uploads_are_known_for_a_day_by_every_server(storage_settings):
    clock = Clock()
    with Storage.open(storage_settings, clock=clock) as storage:
        for file in (ONE, ONE, TWO):
            storage.uploads.add("alice", file)
    with Storage.open(storage_settings, clock=clock) as other:
        uploads = other.uploads
        assert uploads.size("alice") == 15 and uploads.has("alice", ONE.digest) and not uploads.has("bob", ONE.digest)
        uploads.check_room("alice", 16)
        with pytest.raises(
            ResourceError, match="you have sent 15 bytes or more within a day, which is the limit: try again tomorrow"
        ):
            uploads.check_room("alice", 15)
        clock.now += DAY - 1
        uploads.add("alice", TWO)
        clock.now += 2
        assert not uploads.has("alice", ONE.digest) and uploads.size("alice") == 5
        uploads.add("bob", ONE)
        assert not uploads.has("alice", ONE.digest)


def test_ended_sessions_are_known_to_every_server_until_they_are_over(storage_settings):
    clock = Clock()
    with Storage.open(storage_settings, clock=clock) as storage:
        for _ in range(2):
            storage.ended_sessions.add("a", clock.now + 100)
    with Storage.open(storage_settings, clock=clock) as other:
        assert other.ended_sessions.list() == {"a"}
        clock.now += 101
        other.ended_sessions.add("b", clock.now + 100)
        assert other.ended_sessions.list() == {"b"}


def test_a_database_counts_as_its_owners_bytes_when_its_job_is_deleted(storage):
    job = submit(storage, verb="db build")
    claimed = storage.queue.claim("w", 30, 2)
    outcome = done(storage, b"a store")
    file = outcome.outputs[0]
    store = Database(job.id, "ann", "mine", "protein", 1, 3, file.digest, file.size, 0.0, job.id)
    assert storage.queue.finish(job.id, claimed.attempt, outcome, store)
    before = storage.jobs.stored_bytes("ann")
    assert before == storage.jobs.stored_bytes() == file.size + job.inputs[0].size
    storage.jobs.delete(job.id)
    assert storage.jobs.stored_bytes("ann") == storage.jobs.stored_bytes() == file.size
    assert storage.jobs.stored_bytes("bob") == 0
    storage.databases.delete(job.id)
    assert storage.jobs.stored_bytes("ann") == 0
