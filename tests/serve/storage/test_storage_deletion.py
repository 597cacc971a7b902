"""What is deleted is gone from the disk at once, unless something else has the same bytes."""

import os
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from storage_files import Clock, done, run_next, submit

from tropalign.serve.records import Database, JobFile
from tropalign.serve.storage import Storage

DAY = 24 * 3600


def names(storage):
    return {path.parent.name + path.name for path in storage.files.folder.glob("??/*")}


def own_job(storage, owner, key, text):
    file = storage.uploads.keep_bytes(owner, text)
    return submit(storage, owner, key, inputs=(JobFile("queries", "x.fa", file.digest, file.size),))


def test_a_deleted_job_takes_its_inputs_and_outputs_along(storage):
    own_job(storage, "ann", "k", b">a\nMKV\n")
    job = run_next(storage, b"result")
    assert names(storage) == {job.inputs[0].digest, job.outputs[0].digest}
    storage.jobs.delete(job.id)
    assert names(storage) == set()
    assert not storage.uploads.has("ann", job.inputs[0].digest)


def test_jobs_that_ended_long_ago_are_deleted_with_their_files_and_others_are_not(storage_settings):
    clock = Clock()
    with Storage.open(storage_settings, clock=clock) as storage:
        own_job(storage, "ann", "old", b">a\nMKV\n")
        old = run_next(storage, b"an old result")
        clock.now += 3 * DAY
        own_job(storage, "ann", "new", b">b\nMKV\n")
        new = run_next(storage, b"a new result")
        waits = own_job(storage, "ann", "waits", b">c\nMKV\n")
        clock.now += 8 * DAY
        assert storage.delete_old_jobs(10) == 1
        assert {job.id for job in storage.jobs.several([old.id, new.id, waits.id])} == {new.id, waits.id}
        assert names(storage) == {new.inputs[0].digest, new.outputs[0].digest, waits.inputs[0].digest}
        assert [(entry.action, entry.object) for entry in storage.audit.entries()] == [("expire", old.id)]
        clock.now += 365 * DAY
        assert storage.delete_old_jobs(10) == 1 and storage.jobs.get(waits.id)


def test_files_that_another_job_has_stay_until_that_is_deleted(storage):
    own_job(storage, "ann", "one", b">a\nMKV\n")
    first = run_next(storage, b"the same result")
    own_job(storage, "bob", "two", b">a\nMKV\n")
    second = run_next(storage, b"the same result")
    storage.jobs.delete(first.id)
    assert names(storage) == {second.inputs[0].digest, second.outputs[0].digest}
    storage.jobs.delete(second.id)
    assert names(storage) == set()


def test_a_file_that_was_sent_again_since_stays_for_its_next_job(tmp_path):
    from tropalign.serve.settings import Settings

    clock = Clock()
    with Storage.open(Settings(folder=tmp_path / "served"), clock=clock) as storage:
        job = own_job(storage, "ann", "one", b">a\nMKV\n")
        clock.now += 10
        file = storage.uploads.keep_bytes("ann", b">a\nMKV\n", "x.fa")
        storage.jobs.delete(job.id)
        assert names(storage) == {file.digest} and storage.uploads.has("ann", file.digest)


def test_a_deleted_database_takes_its_file_along_once_no_job_has_it(storage):
    job = submit(storage, verb="db build", inputs=())
    outcome = done(storage, b"a store")
    file, attempt = outcome.outputs[0], storage.queue.claim("w", 30, 2).attempt
    store = Database(job.id, "ann", "mine", "protein", 1, 3, file.digest, file.size, 0.0, job.id)
    assert storage.queue.finish(job.id, attempt, outcome, store)
    storage.jobs.delete(job.id)
    assert file.digest in names(storage)
    storage.databases.delete(job.id)
    assert file.digest not in names(storage)


def test_uploads_without_a_job_are_listed_and_deleted(storage):
    job = own_job(storage, "ann", "k", b">a\nMKV\n")
    mine = storage.uploads.keep_bytes("ann", b">b\nMKV\n", "b.fa")
    shared = storage.uploads.keep_bytes("ann", b">c\nMKV\n", "c.fa")
    storage.uploads.keep_bytes("bob", b">c\nMKV\n", "other.fa")
    listed = {upload.digest: upload.name for upload in storage.uploads.list("ann")}
    assert listed == {mine.digest: "b.fa", shared.digest: "c.fa"}
    storage.uploads.delete("ann", mine.digest)
    storage.uploads.delete("ann", shared.digest)
    assert storage.uploads.list("ann") == () and names(storage) == {job.inputs[0].digest, shared.digest}
    with pytest.raises(KeyError):
        storage.uploads.delete("ann", shared.digest)
    assert [upload.name for upload in storage.uploads.list("bob")] == ["other.fa"]


def test_a_file_that_is_sent_while_it_is_deleted_stays(storage, monkeypatch):
    """Between the look at who has it and its removal."""
    file = storage.uploads.keep_bytes("ann", b"x")
    look = storage.files._put_aside

    def send_and_look(path, kept_at):
        storage.files.add_bytes(b"x")
        return look(path, kept_at)

    monkeypatch.setattr(storage.files, "_put_aside", send_and_look)
    storage.uploads.delete("ann", file.digest)
    assert names(storage) == {file.digest} and list(storage.files.folder.glob("incoming/*")) == []


def test_nobody_waits_while_a_large_file_is_removed(storage, monkeypatch):
    file = storage.uploads.keep_bytes("ann", b"x")
    unlink, written = Path.unlink, []

    def note_and_unlink(path, **words):
        written.append(path.exists() and storage.audit.note("ann", "", "", "", ""))
        unlink(path, **words)

    monkeypatch.setattr(Path, "unlink", note_and_unlink)
    monkeypatch.setattr("tropalign.serve.storage.database.PATIENCE", 0.1)
    storage.uploads.delete("ann", file.digest)
    assert written == [None] and names(storage) == set() and list(storage.files.folder.glob("incoming/*")) == []


def test_tidying_forgets_uploads_of_yesterday_and_what_nothing_has(tmp_path):
    from tropalign.serve.settings import Settings

    clock = Clock()
    with Storage.open(Settings(folder=tmp_path / "served"), clock=clock) as storage:
        sent = storage.uploads.keep_bytes("ann", b"sent")
        left = storage.files.add_bytes(b"left by a server that was killed")
        for digest in (sent.digest, left.digest):
            os.utime(storage.files.path(digest), (1, 1))
        assert storage.tidy(DAY) == 1 and names(storage) == {sent.digest}
        clock.now += DAY + 1
        assert storage.tidy(DAY) == 1 and names(storage) == set()
