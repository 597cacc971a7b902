"""Workers as processes: what they compute, what they refuse, and what is left when they die."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from job_desk import SUPERVISOR, WORKER, Desk, family, freeze, lives, wait_until

from tropalign import __version__
from tropalign.execution.manifest import Manifest
from tropalign.execution.parts import Parts
from tropalign.serve.records import State
from tropalign.serve.work.worker import Worker

#: Some tens of tiles; more work than limits allow.
MEDIUM, LONG = family(30, 150), family(60, 500)


def plain(text, tmp_path, *words):
    (tmp_path / "proteins.fa").write_text(text)
    command = [sys.executable, "-m", "tropalign.cli.main", "pairs", "proteins.fa", "-o", "proteins.tsv", *words]
    subprocess.run(command, cwd=tmp_path, check=True)
    return (tmp_path / "proteins.tsv").read_text()


@pytest.fixture
def half_way(desk, start, held):
    """Starts a server's process or several, and a job whose command has some parts and waits: these, id, process."""

    def run(command, settings, n=1):
        started = [start(command, settings, held.environment) for _ in range(n)]
        id = desk.submit(MEDIUM)
        return started, id, wait_until(lambda: len(desk.parts(id)) > 3 and held.holds(pid := desk.process(id)) and pid)

    return run


def worker_of(desk, id):
    return int(desk.job(id).worker.split(":")[3])


def assert_went_on(desk, id, tmp_path):
    job = desk.ended(id)
    assert (job.state, job.attempt) == (State.DONE, 2)
    assert desk.text(job) == plain(MEDIUM, tmp_path)


def test_an_installed_database_is_read_where_it_is_and_may_go_while_jobs_wait(settings, start, tmp_path):
    from tropalign.sequences import SequenceStore

    (folder := tmp_path / "databases").mkdir()
    (tmp_path / "a.fa").write_text(family(3, 2))
    settings = replace(settings, installed=folder)
    desk = Desk(settings)
    waiting = []
    for name in ("stays", "goes", "changes"):
        SequenceStore.build(tmp_path / "a.fa", folder / f"{name}.tdb")
        waiting.append(desk.submit_with(desk.storage.databases.named_by("alice", name)))
    (folder / "goes.tdb").unlink()
    (tmp_path / "a.fa").write_text(family(4, 2))
    SequenceStore.build(tmp_path / "a.fa", folder / "changes.tdb")
    start(WORKER, settings)
    stays, goes, changes = map(desk.ended, waiting)
    assert stays.state is State.DONE, stays.message
    assert sum(not line.startswith("#") for line in desk.text(stays).splitlines()) == 1 + 3
    for name, job in (("goes", goes), ("changes", changes)):
        sentence = f"the database {name} was deleted or replaced: choose it again, or another one"
        assert (job.state, job.message) == (State.FAILED, sentence)
    desk.storage.close()


def test_a_job_gives_the_bytes_of_the_command(desk, settings, start, tmp_path):
    start(WORKER, settings)
    job = desk.ended(desk.submit(family(6, 10), outputs=["report"]))
    assert (job.state, job.message, job.exit_code) == (State.DONE, "", None)
    assert desk.text(job) == plain(family(6, 10), tmp_path, "--html", "proteins.html")
    assert "<html" in desk.text(job, "report")
    wait_until(lambda: not desk.folder(job.id).exists())


def test_names_of_sequences_find_a_job(desk, settings, start):
    from tropalign.serve.records import Search

    start(WORKER, settings)
    job = desk.ended(desk.submit(">cytochromeC1 of a horse\nMKVLAAGWHHE\n>other\nMKVLAAGWHHE\n"))
    for words in ("cytochromeC1", "a horse", "HORS"):
        assert [one.id for one in desk.storage.jobs.list(Search("alice", text=words)).jobs] == [job.id], words


def test_what_is_wrong_is_said_as_the_command_says_it(desk, settings, start):
    start(WORKER, settings)
    job = desk.ended(desk.submit("this is no sequence\n"))
    assert (job.state, job.exit_code, job.message) == (
        State.FAILED,
        3,
        "proteins.fa, line 1: this is neither FASTA nor FASTQ: a record must begin with '>' or '@'",
    )
    job = desk.ended(desk.submit(b"\x1f\x8b\x08\0damaged", name="proteins.fa.gz"))
    assert job.state == State.FAILED and job.message.startswith("proteins.fa.gz: ")
    assert str(settings.folder) not in job.message


def test_parts_of_another_run_are_computed_anew(desk, settings, start):
    """Left by a worker on another machine, which cuts the work otherwise."""
    id = desk.submit(family(6, 10))
    (desk.folder(id) / "files").mkdir(parents=True)
    with Parts(desk.folder(id) / "files" / "proteins.tsv.parts", Manifest("f00d", "cut", 4, {}, 1 << 30)) as parts:
        parts.write(0, [b"x"])
    facts = {"version": __version__, "memory_bytes": settings.limits.memory_bytes}
    (desk.folder(id) / "facts.json").write_text(json.dumps(facts))
    start(WORKER, settings)
    job = desk.ended(id)
    assert (job.state, job.message) == (State.DONE, "")


@pytest.fixture
def in_between(desk, settings, monkeypatch):
    """A worker that is about to note a job's end; what happens first, is what it is called with."""
    from tropalign.serve.records import JobFile, Outcome

    def run(happens):
        id = desk.submit(family(2, 10))
        job = desk.storage.queue.claim("w", 30, 2)
        worker = Worker(desk.storage, settings, lambda: False, True)

        def outcome(job, folder, heart):
            folder.make()
            (folder.files / "out.tsv").write_bytes(b"result")
            kept = desk.storage.files.add(folder.files / "out.tsv")
            happens(job, kept)
            return Outcome(State.DONE, "", (JobFile("main", "out.tsv", kept.digest, kept.size),)), None

        monkeypatch.setattr(worker, "_outcome", outcome)
        worker.attempt(job)
        return id

    return run


def test_equal_bytes_that_are_deleted_meanwhile_take_no_output_along(desk, in_between):
    """As another user's job has them: the end of this one is not noted yet."""
    calls = []
    finish = desk.storage.queue.finish
    desk.storage.queue.finish = lambda *words: calls.append(1) or finish(*words)
    id = in_between(lambda job, kept: desk.storage.files.remove_these([kept.digest]))
    assert desk.text(desk.job(id)) == "result" and calls == [1] and not desk.folder(id).exists()


def test_a_job_that_is_deleted_at_its_end_leaves_nothing(desk, settings, in_between):
    id = in_between(lambda job, kept: desk.storage.jobs.delete(job.id))
    assert not desk.folder(id).exists()
    assert [path for path in desk.storage.files.folder.glob("*/*") if path.is_file()] == []


def test_a_store_is_built_and_searched(desk, settings, start):
    start(WORKER, settings)
    job = desk.ended(desk.submit(family(6, 10), "db build", "sources", title="my proteins"))
    assert (job.state, job.message) == (State.DONE, "")
    (database,) = desk.storage.databases.list("alice")
    assert (database.name, database.n_sequences, database.n_residues) == ("my proteins", 6, 660)
    assert (database.alphabet, database.job, database.owner) == ("protein", job.id, "alice")


BOMB = gzip.compress(b">x\n" + b"A" * 50_000_000)
#: What a server allows, what a job asks for, and what becomes of it.
LIMITS = {
    "sequences": (
        {"n_sequences": 5}, {"text": family(6, 10)}, (State.REFUSED, 4),
        "the inputs hold more than 5 sequences, which is the limit for a job on this server: ",
    ),
    "a bomb": (
        {"unpacked_bytes": 10**6}, {"text": BOMB, "name": "bomb.fa.gz"}, (State.REFUSED, 4),
        ".*more than 1,000,000 bytes, decompressed",
    ),
    "a forecast of many cells": (
        {"n_cells": 10**9}, {"text": LONG}, (State.REFUSED, 4),
        ".*cells, but only 1,000,000,000 are allowed on this server: submit a smaller job, or run",
    ),
    "few cells": (
        {"n_cells": 1000}, {"text": family(6, 10)}, (State.REFUSED, 4),
        ".*cells, but only 1,000 are allowed on this server: ",
    ),
    "time": (
        {"seconds": 1.0}, {"text": family(30, 400)}, (State.FAILED, 4),
        "it was stopped after 1.0 seconds, the limit of this server: ",
    ),
    "output": (
        {"output_bytes": 20_000}, {"text": family(60, 10)}, (State.FAILED, 4),
        "it was stopped because it wrote more than the limit of this server, 19.5 KiB",
    ),
    "a file, which is no full disk": (
        {"output_bytes": 1000}, {"text": family(200, 3), "verb": "cluster"}, (State.FAILED, 4),
        ".*wrote more than the limit of this server",
    ),
    "memory, which is the operator's": (
        {"memory_bytes": 1 << 20}, {"text": family(6, 10)}, (State.FAILED, 4),
        r".*ask the operator to allow more \(--max-memory\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LIMITS)
def test_what_a_job_may_take_has_limits(desk, with_limits, start, case):
    limits, asked, ended, sentence = LIMITS[case]
    start(WORKER, replace(with_limits(**limits), threads_per_job=1))
    job = desk.ended(desk.submit(**asked))
    assert (job.state, job.exit_code) == ended
    assert re.match(sentence, job.message), job.message


def test_a_worker_that_slept_beyond_its_lease_changes_nothing(desk, half_way, with_limits, held):
    settings = replace(with_limits(), lease_seconds=1.0)
    (worker,), id, _ = half_way(WORKER, settings)
    freeze(desk, worker)
    held.release()
    try:
        wait_until(lambda: any(desk.folder(id).glob("files/proteins.tsv")))
        wait_until(lambda: desk.storage.queue.reclaim() == 1)
        ours = desk.storage.queue.claim("another", 60, 2)
        facts = (desk.folder(id) / "facts.json").read_bytes()
    finally:
        os.kill(worker.pid, signal.SIGCONT)
    other = desk.ended(desk.submit(family(6, 10)))  # so the worker is through with the first one
    assert other.state == State.DONE
    assert (desk.folder(id) / "facts.json").read_bytes() == facts
    assert (desk.job(id).state, desk.job(id).attempt, ours.attempt) == (State.RUNNING, 2, 2)


def test_a_cancelled_job_ends_and_leaves_nothing(desk, settings, half_way):
    _, id, pid = half_way(WORKER, settings)
    desk.storage.jobs.cancel(id)
    assert desk.ended(id).state == State.CANCELLED
    assert not lives(pid)
    wait_until(lambda: not desk.folder(id).exists())


@pytest.mark.parametrize("whom", ["worker", "job", "worker politely"])
def test_a_killed_job_goes_on_where_it_was(desk, settings, half_way, held, tmp_path, whom):
    (supervisor,), id, pid = half_way(SUPERVISOR, settings)
    worker = worker_of(desk, id)
    before = desk.parts(id)
    os.kill(pid if whom == "job" else worker, signal.SIGTERM if "politely" in whom else signal.SIGKILL)
    wait_until(lambda: not lives(pid))
    wait_until(lambda: desk.job(id).attempt == 2)
    wait_until(lambda: (found := desk.process(id)) != pid and held.holds(found))
    now = desk.parts(id)
    assert {index: now[index] for index in before} == before  # nothing is computed twice
    held.release()
    assert_went_on(desk, id, tmp_path)
    assert supervisor.poll() is None


def test_a_killed_server_takes_its_workers_along(desk, settings, half_way, start, held, tmp_path):
    (supervisor,), id, pid = half_way(SUPERVISOR, settings)
    worker = worker_of(desk, id)
    supervisor.kill()
    wait_until(lambda: not lives(worker) and not lives(pid))
    assert len(desk.parts(id)) > 3
    held.release()
    start(SUPERVISOR, settings)
    assert_went_on(desk, id, tmp_path)


def test_a_graceful_end_leaves_a_job_that_goes_on(desk, settings, half_way, start, tmp_path):
    (supervisor,), id, pid = half_way(SUPERVISOR, settings)
    supervisor.terminate()
    assert supervisor.wait(timeout=120) == 0
    job = desk.job(id)
    assert (job.state, job.worker, lives(pid)) == (State.QUEUED, None, False)
    assert len(desk.parts(id)) > 3
    start(SUPERVISOR, settings)
    assert_went_on(desk, id, tmp_path)


def test_a_command_that_had_ended_is_not_run_again(desk, settings, start, tmp_path):
    """Its worker died between the end of the command and the record of it."""
    id = desk.submit(family(6, 10))
    folder = desk.folder(id)
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "proteins.tsv").write_text("what it wrote\n")
    facts = {"version": __version__, "memory_bytes": 10**9, "counts": [1, 1, 1], "ended": 0}
    (folder / "facts.json").write_text(json.dumps(facts))
    start(WORKER, settings)
    assert desk.text(desk.ended(id)) == "what it wrote\n"


def test_a_command_that_ended_while_its_worker_was_frozen_is_not_run_again(desk, settings, half_way, held):
    workers, id, pid = half_way(WORKER, settings, n=2)
    frozen = next(one for one in workers if one.pid == worker_of(desk, id))
    freeze(desk, frozen)
    held.release()
    wait_until(lambda: not lives(pid))
    (desk.folder(id) / "files" / "proteins.tsv").write_text("what it wrote\n")
    wait_until(lambda: desk.storage.queue.reclaim() == 1)
    job = desk.ended(id)
    frozen.kill()
    assert (job.state, job.attempt, desk.text(job)) == (State.DONE, 2, "what it wrote\n")


def test_a_second_server_on_the_folder_is_refused(settings, start):
    from tropalign.errors import ResourceError
    from tropalign.serve.work.supervisor import locked

    refused = pytest.raises(ResourceError, match="another server uses this folder: use that server")
    with locked(settings.folder), refused, locked(settings.folder):
        pass


def test_a_job_that_was_taken_away_is_left_alone(desk, settings, half_way, held, tmp_path):
    """A worker that was thought dead ends its command, and what it says of it counts no more."""
    _, id, pid = half_way(WORKER, settings)
    wait_until(lambda: desk.storage.queue.reclaim(lambda worker: False) == 1)  # unless its lease grows just then
    wait_until(lambda: not lives(pid))
    held.release()
    assert_went_on(desk, id, tmp_path)


def test_a_worker_that_was_frozen_leaves_the_next_attempt_alone(desk, settings, half_way):
    """It ends its own command, not the one that another worker has started since."""
    workers, id, pid = half_way(WORKER, settings, n=2)
    frozen = next(one for one in workers if one.pid == worker_of(desk, id))
    freeze(desk, frozen)
    wait_until(lambda: desk.storage.queue.reclaim() == 1)
    second = wait_until(lambda: (found := desk.process(id)) != pid and found)
    wait_until(lambda: desk.job(id).progress)
    frozen.send_signal(signal.SIGCONT)
    frozen.terminate()
    assert frozen.wait(timeout=120) == 0
    assert lives(second) and desk.job(id).attempt == 2
    desk.storage.jobs.cancel(id)
    assert desk.ended(id).state == State.CANCELLED


def test_parts_that_another_machine_cut_otherwise_are_begun_anew(desk, settings, half_way, start, tmp_path):
    (first,), id, _ = half_way(WORKER, settings)
    first.terminate()
    assert first.wait(timeout=120) == 0
    assert len(desk.parts(id)) > 3
    start(WORKER, settings, {"TROPALIGN_TILE_PAIRS": "35"})
    job = desk.ended(id)
    assert (job.state, job.message, desk.text(job)) == (State.DONE, "", plain(MEDIUM, tmp_path))


def test_a_command_elsewhere_is_waited_for(desk, settings, start, tmp_path):
    """That of a worker which was thought dead, on another machine: it holds its parts, and cannot be ended here."""
    import fcntl

    id = desk.submit(family(6, 10))
    parts = desk.folder(id) / "files" / "proteins.tsv.parts"
    parts.mkdir(parents=True)
    (desk.folder(id) / "facts.json").write_text(json.dumps({"version": __version__, "memory_bytes": 10**9}))
    held = os.open(parts, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    start(WORKER, settings)
    wait_until(lambda: desk.job(id).stage == "waiting for the end of an earlier attempt")
    os.close(held)
    job = desk.ended(id)
    assert (job.state, job.attempt, desk.text(job)) == (State.DONE, 1, plain(family(6, 10), tmp_path))


def test_folders_of_jobs_that_are_over_are_swept(desk, settings, start):
    id = desk.submit(MEDIUM)
    desk.storage.jobs.cancel(id)
    for name in (id, "of_no_job"):
        (settings.folder / "work" / name / "files").mkdir(parents=True)
    start(SUPERVISOR, settings)
    wait_until(lambda: not list((settings.folder / "work").iterdir()))


def test_progress_of_a_job_that_goes_on_does_not_begin_at_nothing(desk, settings, half_way):
    _, id, pid = half_way(SUPERVISOR, settings)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: desk.job(id).attempt == 2)
    first = wait_until(lambda: (job := desk.job(id)).attempt == 2 and job.progress)
    assert first > 0.05
    desk.storage.jobs.cancel(id)
    assert desk.ended(id).state == State.CANCELLED


@pytest.mark.parametrize("how", ["kill", "cancel", "stop"])
def test_a_job_on_a_cluster_leaves_no_process(desk, settings, start, tmp_path, how):
    from tropalign.serve.work.job_folder import Group

    pytest.importorskip("distributed", reason="--cluster needs Dask: pip install 'tropalign[cluster]'")
    settings = replace(settings, cluster="local:2")
    supervisor = start(SUPERVISOR, settings)
    id = desk.submit(MEDIUM)
    pid = wait_until(lambda: desk.parts(id) and desk.process(id))
    everyone = Group(-1, f"TROPALIGN_JOB_FOLDER={desk.folder(id)}").everyone
    assert len(everyone()) > 2
    if how == "kill":
        os.kill(pid, signal.SIGKILL)
    elif how == "cancel":
        desk.storage.jobs.cancel(id)
    else:
        supervisor.terminate()
        assert supervisor.wait(timeout=120) == 0
        assert not everyone() and desk.parts(id)
        start(SUPERVISOR, settings)
    job = desk.ended(id)
    assert (job.state, job.attempt) == ((State.CANCELLED, 1) if how == "cancel" else (State.DONE, 2))
    wait_until(lambda: not everyone() and not desk.folder(id).exists())
    assert how == "cancel" or desk.text(job) == plain(MEDIUM, tmp_path)
