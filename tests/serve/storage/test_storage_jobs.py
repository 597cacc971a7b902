"""The record of jobs on both engines: submitted, found, changed, shared, cancelled, deleted."""

from dataclasses import replace

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from storage_files import LIMITS, WIDE, done, new_job, run_next, submit

from tropalign.errors import InputError, UsageError
from tropalign.serve.records import Database, JobFile, Search, State
from tropalign.serve.storage import TooMany, TooMuch
from tropalign.serve.storage.database import reading


def test_a_job_is_what_was_submitted(storage):
    new = new_job(storage, title="T", tags=("b", "a", "b"), request={"x": [1, "é\0"]})
    job, _ = storage.jobs.submit(new, LIMITS)
    assert (job.owner, job.verb, job.title, job.tags) == ("ann", "pairs", "T", ("b", "a"))
    assert (job.state, job.attempt, job.key, job.command, job.version) == (State.QUEUED, 0, "k", new.command, "1.0")
    assert job.request == {"x": [1, "é\0"]}
    assert job.inputs == new.inputs
    assert len(job.id) == 26
    assert storage.jobs.get(job.id) == job


@pytest.mark.parametrize("id_", ["", "x", "../etc", "a\0b", "'; DROP TABLE jobs; --", "\ud800", "9" * 10_000])
def test_what_is_no_job_is_a_key_error(storage, id_):
    submit(storage)
    for act in (
        storage.jobs.get, storage.jobs.by_share, storage.jobs.cancel, storage.jobs.delete, storage.jobs.change,
        storage.databases.get, storage.databases.delete, storage.files.path, storage.files.open,
    ):  # fmt: skip
        with pytest.raises(KeyError):
            act(id_)
    assert storage.queue.renew(id_, 1, 30) == "lost"


def test_an_equal_finished_job_is_returned(storage):
    first = submit(storage)
    assert submit(storage).id != first.id  # not finished: both wait
    run_next(storage)
    again = submit(storage, title="other")
    assert again.state == State.DONE
    assert again.title == "a title"
    assert storage.jobs.submit(new_job(storage), LIMITS) == (again, False)
    other, is_new = storage.jobs.submit(new_job(storage, owner="bob"), LIMITS)
    assert (other.state, is_new) == (State.DONE, True)
    assert submit(storage, version="2.0").state == State.QUEUED
    assert submit(storage, key="k2").state == State.QUEUED


def test_an_equal_job_of_somebody_else_gives_its_outputs_at_once(storage):
    submit(storage)
    first = run_next(storage)
    other = submit(storage, owner="bob", title="B")
    assert (other.state, other.owner, other.title, other.attempt) == (State.DONE, "bob", "B", 0)
    assert other.outputs == first.outputs
    assert other.id != first.id
    storage.jobs.delete(first.id)
    assert storage.jobs.get(other.id).outputs == first.outputs
    storage.files.remove_unused(-10)
    assert storage.files.path(other.outputs[0].digest).read_bytes() == b"result"


def test_a_failed_job_is_computed_again(storage):
    submit(storage)
    job = storage.queue.claim("w", 30, 1)
    storage.queue.finish(job.id, job.attempt, replace(done(storage), state=State.FAILED, message="no", outputs=()))
    assert submit(storage).state == State.QUEUED


def test_too_many_waiting_jobs(storage):
    limits = replace(LIMITS, queued_per_user=2)
    for key in "ab":
        submit(storage, key=key, limits=limits)
    with pytest.raises(TooMany, match="2 of your jobs are waiting, which is the limit: wait for one, or cancel one"):
        submit(storage, key="c", limits=limits)
    submit(storage, owner="bob", key="c", limits=limits)
    storage.queue.claim("w", 30, 1)
    submit(storage, key="c", limits=limits)


def test_too_many_bytes(storage):
    submit(storage)
    assert storage.jobs.stored_bytes("ann") == 7
    submit(storage, key="other")
    run_next(storage, b"12345")
    assert storage.jobs.stored_bytes("ann") == 12
    with pytest.raises(TooMuch, match="take 12 bytes or more, which is the limit"):
        submit(storage, key="third", limits=replace(LIMITS, stored_bytes_per_user=12))
    assert storage.jobs.stored_bytes("bob") == 0


def test_a_file_that_is_gone_is_said_so(storage):
    new = new_job(storage)
    storage.files.remove_unused(-10)
    with pytest.raises(InputError, match=r"'x\.fa' is no longer on the server: send it again"):
        storage.jobs.submit(new, LIMITS)
    new = replace(new, inputs=(JobFile("targets", "pdb", None, 0, database="nothere"),))
    with pytest.raises(InputError, match="the database 'pdb' is no longer on the server"):
        storage.jobs.submit(new, LIMITS)
    assert storage.jobs.list(Search("ann")).jobs == ()


def test_lists_page_newest_first(storage):
    ids = [submit(storage, key=f"k{n}").id for n in range(7)]
    submit(storage, owner="bob", key="b")
    search, seen = Search("ann", limit=3), []
    while True:
        page = storage.jobs.list(search)
        seen += [job.id for job in page.jobs]
        if page.after is None:
            break
        search = replace(search, after=page.after)
    assert seen == ids[::-1]
    assert storage.jobs.list(Search("ann", limit=7)).after is None


@pytest.mark.parametrize("after", ["", "x", "-1", "9" * 100, "1; DROP TABLE jobs", "\0"])
def test_an_invented_page_is_empty_or_harmless(storage, after):
    submit(storage)
    assert storage.jobs.list(Search("ann", after=after)).jobs == ()


def test_lists_by_state_verb_and_tag(storage):
    first = submit(storage, key="1", tags=("x", "y"))
    second = submit(storage, key="2", verb="msa", tags=("y",))
    storage.queue.claim("w", 30, 1)

    def ids(**conditions):
        return [job.id for job in storage.jobs.list(Search("ann", **conditions)).jobs]

    assert ids(state=State.RUNNING) == [first.id]
    assert ids(verb="msa") == [second.id]
    assert ids(tag="y") == [second.id, first.id]
    assert ids(tag="x", verb="msa") == []
    assert storage.jobs.tags("ann") == {"y": 2, "x": 1}
    assert list(storage.jobs.tags("ann")) == ["y", "x"]
    assert storage.jobs.tags("bob") == {}
    assert storage.jobs.counts()[State.QUEUED] == storage.jobs.counts("ann")[State.RUNNING] == 1
    assert sum(storage.jobs.counts("bob").values()) == 0


def found(storage, text, owner="ann"):
    return {job.title for job in storage.jobs.list(Search(owner, text=text)).jobs}


def test_search_finds_words(storage):
    submit(storage, key="1", title="Globins of whales", tags=("myoglobin",))
    submit(storage, key="2", title="Protéines_A.fa", command="tropalign msa kinases.fa", words="sp|P12345|KIN_HUMAN")
    submit(storage, key="3", owner="bob", title="Globins of bob")
    assert found(storage, "globins") == found(storage, "WHALES  glob") == found(storage, "myo") == {"Globins of whales"}
    assert found(storage, "glob whales") == set()  # the last word alone is a beginning
    assert found(storage, "proteines a") == found(storage, "PROTÉINES") == {"Protéines_A.fa"}
    assert found(storage, "p12345 kin") == found(storage, "kinases.fa") == {"Protéines_A.fa"}
    assert (
        found(storage, "x.fa")
        == found(storage, "")
        == found(storage, " .,-* ")
        == {"Globins of whales", "Protéines_A.fa"}
    )
    assert found(storage, "globins", "bob") == {"Globins of bob"}


def test_search_follows_changes(storage):
    job = submit(storage, title="before", tags=("old",))
    storage.jobs.change(job.id, title="after")
    assert found(storage, "before") == set()
    assert found(storage, "after old") == {"after"}
    storage.jobs.change(job.id, tags=["new"])
    assert found(storage, "old") == set()
    assert found(storage, "after new") == {"after"}
    claimed = storage.queue.claim("w", 30, 1)
    assert storage.queue.note(job.id, claimed.attempt, forecast={"cells": 5}, words="hemoglobin")
    assert storage.jobs.get(job.id).forecast == {"cells": 5}
    assert found(storage, "hemo") == {"after"}
    storage.queue.finish(job.id, claimed.attempt, done(storage))
    assert found(storage, "result.tsv") == {"after"}
    assert not storage.queue.note(job.id, claimed.attempt, words="late")
    storage.jobs.delete(job.id)
    assert found(storage, "after") == set()
    with reading(storage.engine) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM job_words").scalar() == 0


@pytest.mark.parametrize(
    "text",
    [
        "'", '"', "title'", 'a" OR "b', "NEAR(a b)", "title:*", "* *", "a AND", "NOT", "a & !b", "a | b", "a:* <-> b",
        "\\'", "' OR 1=1 --", "'); DROP TABLE jobs; --", "\0", "a\0b", "\ud800", "%", "_", "{x} ^y", "-", "(((",
        "é" * 5000,
        " ".join(map(str, range(500))), "字 字", "\u0301", "İ ß ŉ",
    ],
)  # fmt: skip
def test_what_users_type_is_no_syntax(storage, text):
    submit(storage, title=text[:1000], words=text)
    assert found(storage, text) == {storage.jobs.list(Search("ann")).jobs[0].title}
    assert found(storage, "nowhere " + text) == set()
    assert storage.jobs.counts()[State.QUEUED] == 1


HOSTILE = ["a\0b", "\ud800", "<script>alert(1)</script>", "'; DROP TABLE jobs; --", "%s %(x)s :x {}", "\u202e", "🧬"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_kept_as_text(storage, text):
    job = submit(storage, owner=text, title=text, tags=(text,), key=text, command=text, verb=text)
    kept = text.replace("\0", "").replace("\ud800", "?")
    assert (job.owner, job.title, job.tags) == (kept, kept, (kept,))
    assert storage.jobs.list(Search(text, tag=text, verb=text)).jobs == (job,)
    assert storage.jobs.change(job.id, title=text * 2).title == kept * 2
    claimed = storage.queue.claim(text, 30, 1)
    assert storage.queue.renew(job.id, 1, 30, stage=text, progress=float("nan")) == "go on"
    assert storage.jobs.get(job.id).stage == kept
    assert claimed.worker == kept
    storage.audit.note(text, text, text, text, text)
    assert [entry.detail for entry in storage.audit.entries()] == [kept]
    assert storage.queue.finish(job.id, 1, replace(done(storage), message=text))
    assert submit(storage, owner=text, key=text).id == job.id


def test_two_tags_that_are_kept_alike_are_one(storage):
    assert submit(storage, tags=("a", "a\0")).tags == ("a",)


def test_sharing_makes_a_secret_that_lasts(storage):
    job = submit(storage)
    shared = storage.jobs.set_shared(job.id, True)
    assert shared.share != job.id
    assert len(shared.share) == 26
    assert storage.jobs.set_shared(job.id, True).share == shared.share
    assert storage.jobs.by_share(shared.share).id == job.id
    assert storage.jobs.set_shared(job.id, False).share is None
    with pytest.raises(KeyError):
        storage.jobs.by_share(shared.share)


def test_cancelling(storage):
    waiting, ended = submit(storage, key="1"), submit(storage, key="2")
    assert storage.jobs.cancel(waiting.id).state == State.CANCELLED
    claimed = storage.queue.claim("w", 30, 1)
    assert claimed.id == ended.id
    assert storage.jobs.cancel(ended.id).state == State.RUNNING
    assert storage.queue.renew(ended.id, 1, 30) == "cancel"
    storage.queue.finish(ended.id, 1, done(storage))  # it was too late
    assert storage.jobs.cancel(ended.id).state == State.DONE
    assert storage.jobs.get(waiting.id).finished is not None


def test_a_deleted_job_is_lost_to_its_worker(storage):
    job = submit(storage)
    storage.queue.claim("w", 30, 1)
    storage.jobs.delete(job.id)
    assert storage.queue.renew(job.id, 1, 30) == "lost"
    assert not storage.queue.finish(job.id, 1, done(storage))
    assert storage.jobs.list(Search("ann")).jobs == ()


def test_places_in_the_queue(storage):
    jobs = [submit(storage, key=str(n), owner="ab"[n % 2]) for n in range(4)]
    assert places(storage, jobs) == {job.id: n + 1 for n, job in enumerate(jobs)}
    storage.queue.claim("w", 30, 1)
    jobs = [storage.jobs.get(job.id) for job in jobs]
    assert places(storage, jobs) == {job.id: n for n, job in enumerate(jobs) if n}


def places(storage, jobs):
    return {id_: wait.position for id_, wait in storage.waits.of(jobs, 2).items()}


def database_of(storage, job, name="pdb"):
    file = storage.files.add_bytes(b"store")
    return Database(storage.jobs.get(job.id).id[::-1], job.owner, name, "protein", 3, 99, file.digest, 5, 1.5, job.id)


def test_databases(storage):
    built = submit(storage, verb="db build", title="pdb")
    claimed = storage.queue.claim("w", 30, 1)
    database = database_of(storage, built)
    storage.queue.finish(built.id, claimed.attempt, done(storage), database)
    assert storage.databases.list("ann") == (database,)
    assert storage.databases.get(database.id) == database
    using = submit(storage, key="use", inputs=(JobFile("targets", "pdb", None, 5, database=database.id),))
    assert using.inputs[0].database == database.id
    with pytest.raises(Exception, match="jobs that wait or run need 'pdb': delete it when they have ended"):
        storage.databases.delete(database.id)
    storage.jobs.cancel(using.id)
    storage.jobs.delete(built.id)
    assert storage.databases.get(database.id).job is None
    storage.files.remove_unused(-10)
    assert storage.files.holds(database.digest)
    storage.databases.delete(database.id)
    storage.files.remove_unused(-10)
    assert not storage.files.holds(database.digest)
    with pytest.raises(KeyError):
        storage.databases.get(database.id)


def test_databases_are_their_owners_alone_unless_they_are_shared(storage):
    file = storage.files.add_bytes(b"store")
    for id, owner, name in (("1", "ann", "z"), ("2", "bob", "a"), ("3", "bob", "b")):
        storage.databases.add(Database(id, owner, name, "protein", 3, 99, file.digest, 5, 1.5))
    assert [each.id for each in storage.databases.list("ann")] == ["1"]
    with pytest.raises(KeyError):
        storage.databases.named_by("ann", "3")
    assert storage.databases.set_shared("3", True).shared
    assert [each.id for each in storage.databases.list("ann")] == ["1", "3"]
    assert [each.id for each in storage.databases.list("bob")] == ["2", "3"]
    assert storage.databases.named_by("ann", "3").owner == "bob"
    storage.databases.set_shared("3", False)
    assert [each.id for each in storage.databases.list("ann")] == ["1"]
    with pytest.raises(KeyError):
        storage.databases.set_shared("4", True)


def test_an_equal_build_has_a_database_of_its_own(storage):
    built = submit(storage, verb="db build", title="pdb")
    waiting = submit(storage, owner="cat", verb="db build", title="cat's")
    claimed = storage.queue.claim("w", 30, 1)
    database = database_of(storage, built)
    assert storage.queue.finish(built.id, claimed.attempt, done(storage), database)
    storage.databases.set_shared(database.id, True)  # which is nothing to the others
    equal = submit(storage, owner="bob", verb="db build", title="bob's")
    assert equal.state == storage.jobs.get(waiting.id).state == State.DONE
    listed = {each.name: each for user in ("ann", "bob", "cat") for each in storage.databases.list(user)}
    assert [(d.owner, d.job) for d in (listed["bob's"], listed["cat's"])] == [("bob", equal.id), ("cat", waiting.id)]
    asked = {"verb": "db build", "shared": True}
    submit(storage, owner="dan", verb="db build", title="dan's", request=asked)
    assert {each.name for each in storage.databases.list("eve")} == {"pdb", "dan's"}
    for database in (*listed.values(), storage.databases.list("dan")[0]):
        storage.databases.delete(database.id)
    assert submit(storage, verb="db build", title="again").state == State.QUEUED


def test_a_limit_of_a_listing_is_bounded(storage):
    for n in range(3):
        submit(storage, key=str(n), limits=WIDE)
    assert len(storage.jobs.list(Search("ann", limit=0)).jobs) == 1
    assert len(storage.jobs.list(Search("ann", limit=10**30)).jobs) == 3


def test_long_text_is_no_error(storage):
    long = "ﷺ x" * 50_000 + " ".join(f"{n}é字" for n in range(50_000))
    job = submit(storage, title=long, tags=(long, "b"), command=long, words=long, request={"x": long})
    assert [len(tag) for tag in job.tags] == [200, 1]
    assert storage.jobs.list(Search("ann", text="صلى b")).jobs == ()
    assert storage.jobs.list(Search("ann", text="صلى", tag=job.tags[0])).jobs == (job,)
    assert storage.jobs.list(Search(long, tag=long, verb=long)).jobs == ()
    with pytest.raises(UsageError, match="a user name can have at most 200 characters"):
        submit(storage, owner=long)


def test_a_page_is_three_queries(storage):
    from sqlalchemy import event

    for n in range(50):
        submit(storage, key=str(n), tags=("x",))
    asked = []
    event.listen(storage.engine, "before_cursor_execute", lambda *words: asked.append(words[2]))
    assert len(storage.jobs.list(Search("ann", text="title")).jobs) == 50
    assert len([question for question in asked if question.startswith("SELECT")]) == 3


def test_lines_are_the_jobs_of_a_list_in_three_queries(storage):
    from sqlalchemy import event

    for n in range(5):
        submit(storage, key=str(n), title=f"t{n}", tags=("b", "a") if n % 2 else ())
    run_next(storage)
    search = Search("ann", text="pairs", limit=3)
    for asked in (search, replace(search, after=storage.jobs.list(search).after), Search("nobody")):
        page, lines = storage.jobs.list(asked), storage.jobs.lines(asked)
        assert [(job.id, job.title, job.verb, job.tags, job.state, job.progress, job.created) for job in page.jobs] == [
            (job.id, job.title, job.verb, job.tags, job.state, job.progress, job.created) for job in lines.jobs
        ]
        assert page.after == lines.after
    questions = []
    event.listen(storage.engine, "before_cursor_execute", lambda *words: questions.append(words[2]))
    storage.jobs.lines(search)
    assert len([question for question in questions if question.startswith("SELECT")]) == 3
    last = storage.jobs.lines(Search("ann")).jobs[-1]
    (job,) = (job for job in storage.jobs.list(Search("ann")).jobs if job.id == last.id)
    assert (last.started, last.finished, last.size) == (job.started, job.finished, sum(f.size for f in job.outputs))
    assert job.outputs and last.finished is not None


def test_what_waits_and_runs_is_counted(storage):
    assert storage.jobs.in_work("ann") == (0, 0, 0)
    for n in range(3):
        submit(storage, key=str(n))
    submit(storage, owner="bob", key="b")
    run_next(storage)
    storage.queue.claim("a worker", 30.0, 10)
    assert storage.jobs.in_work("ann") == (2, 1, 2)  # bob's turn has come
    assert storage.jobs.in_work("carol") == (2, 1, 0)


def test_what_takes_long_to_count_is_remembered_and_counted_anew_when_it_changes(storage, monkeypatch):
    from tropalign.serve.storage import jobs

    counted, count = [], jobs._stored_bytes
    monkeypatch.setattr(jobs, "_stored_bytes", lambda *words: counted.append(words[1]) or count(*words))
    first = submit(storage, key="1", tags=("a",))
    assert storage.jobs.tags("ann") == {"a": 1}
    second = submit(storage, key="2", tags=("a", "b"))
    assert storage.jobs.tags("ann") == {"a": 2, "b": 1}
    assert counted == ["ann"]
    storage.jobs.change(first.id, tags=("c",))
    assert storage.jobs.tags("ann") == {"a": 1, "b": 1, "c": 1}
    storage.jobs.delete(second.id)
    assert storage.jobs.tags("ann") == {"c": 1}
    tight = replace(WIDE, stored_bytes_per_user=8)
    for n in "34":  # 7 of 8 bytes are taken: who is near the limit is counted each time
        submit(storage, key=n, limits=tight)
    assert counted == ["ann"] * 3


def test_a_search_shows_the_newest_of_many(storage):
    ids = [submit(storage, key=f"k{n}", title="kinases" if n % 2 else "others").id for n in range(8)]
    submit(storage, owner="bob", key="b", title="kinases")
    page = storage.jobs.list(Search("ann", text="kin", limit=3))
    rest = storage.jobs.list(Search("ann", text="kin", limit=3, after=page.after))
    assert [job.id for job in (*page.jobs, *rest.jobs)] == ids[1::2][::-1]
