"""The API: a job's way from its files to its results, as programs see it."""

import gzip
import hashlib
import json

import pytest
from web_server import PAIR, Client, finish

from tropalign.serve.records import Database, JobFile, Outcome, State
from tropalign.serve.settings import Limits

TABLE = b"query\ttarget\na\tb\n"
REPORT = b"<!DOCTYPE html><title>report</title>"


def test_a_file_is_known_by_its_content(local):
    answer = local.post("/api/v1/files?name=../../a%20b.fa", PAIR)
    assert answer.status == 201
    assert answer.json == {"file": hashlib.sha256(PAIR).hexdigest(), "name": "a b.fa", "size": len(PAIR)}
    assert local.send(gzip.compress(PAIR)) != local.send(PAIR) == answer.json["file"]
    data = PAIR * 200_000
    answer = local.ask("POST", "/api/v1/files", iter([data[:7], data[7:1_000_000], data[1_000_000:]]))
    assert answer.json["file"] == hashlib.sha256(data).hexdigest()
    body = {"verb": "pairs", "inputs": {"queries": [{"text": PAIR.decode(), "name": "pasted.fa"}]}}
    job = local.post("/api/v1/jobs", body).json
    assert job["inputs"][0]["file"] == hashlib.sha256(PAIR).hexdigest()
    assert local.storage.jobs.get(job["id"]).request["inputs"]["queries"][0].get("text") is None


def test_a_job_from_submission_to_results(local):
    job = local.submit(title="  two\n peptides ", tags=["a", "a", " b "], outputs=["report"])
    assert job["state"] == "queued" and job["queue_position"] == 1 and job["outputs"] == []
    assert job["title"] == "two peptides" and job["tags"] == ["a", "b"] and job["owner"] == "local"
    assert job["command"] == "tropalign pairs pair.fa -o pair.tsv --html pair.html"
    assert job["inputs"] == [
        {"dest": "queries", "name": "pair.fa", "size": len(PAIR), "file": hashlib.sha256(PAIR).hexdigest()}
    ]
    outputs = [("main", "pair.tsv", "text/tab-separated-values", TABLE), ("report", "pair.html", "text/html", REPORT)]
    finish(local.storage, job["id"], outputs)
    job = local.get(f"/api/v1/jobs/{job['id']}").json
    assert job["state"] == "done" and job["finished"].endswith("Z") and job["queue_position"] is None
    assert [output["role"] for output in job["outputs"]] == ["main", "report"]
    main = local.get(f"/api/v1/jobs/{job['id']}/files/main")
    assert main.body == TABLE and main.headers["Content-Type"] == "text/tab-separated-values; charset=utf-8"
    assert main.headers["Content-Disposition"] == "attachment; filename=\"pair.tsv\"; filename*=UTF-8''pair.tsv"
    assert local.get(f"/api/v1/jobs/{job['id']}/inputs/queries/0").body == PAIR
    assert local.get(f"/api/v1/jobs/{job['id']}/files/none").status == 404
    assert local.get(f"/api/v1/jobs/{job['id']}/inputs/queries/1").status == 404


def test_an_equal_finished_job_comes_back(local):
    job = local.submit(title="first")
    finish(local.storage, job["id"], [("main", "pair.tsv", "text/plain", TABLE)])
    again = local.submit(title="second")
    assert again["id"] == job["id"] and again["title"] == "first"
    other = local.post(f"/api/v1/jobs/{job['id']}/formats/csv")
    assert other.status == 201 and other.json["format"] == "csv" and other.json["title"] == "first"
    assert local.post(f"/api/v1/jobs/{job['id']}/formats/tsv").status == 200
    assert local.post(f"/api/v1/jobs/{job['id']}/formats/exe").status == 422


def test_a_job_is_new_whatever_the_clocks_say(local, monkeypatch):
    """Those of the database's writer and of the web server's machine may differ."""
    first = local.submit()
    finish(local.storage, first["id"], [("main", "pair.tsv", "text/plain", TABLE)])
    monkeypatch.setattr(local.storage.jobs, "_clock", lambda: 0.0)
    body = {"verb": "pairs", "inputs": {"queries": [{"file": local.send(), "name": "pair.fa"}]}}
    assert local.post("/api/v1/jobs", {**body, "options": {"mode": "global"}}).status == 201
    assert [entry.action for entry in local.storage.audit.entries()].count("submit") == 2


@pytest.mark.parametrize(
    ("change", "field"),
    [({"verb": "merge"}, None), ({"options": {"gap_opn": 3}}, "options.gap_opn"), ({"title": 5}, "title"),
     ({"tags": "a"}, "tags"), ({"tags": [f"t{n}" for n in range(21)]}, "tags"), ({"surplus": 1}, "surplus"),
     ({"format": "exe"}, "format"), ({"inputs": {"queries": [{"file": "0" * 64, "name": "a"}]}}, "inputs.queries"),
     ({"inputs": {"queries": [{"database": "none", "name": "a"}]}}, None)],
)  # fmt: skip
def test_a_wrong_field_is_named(local, change, field):
    body = {"verb": "pairs", "inputs": {"queries": [{"text": PAIR.decode(), "name": "a.fa"}]}, **change}
    answer = local.post("/api/v1/jobs", body)
    assert answer.status == 422 and answer.error
    assert field is None or field in answer.json["field"]


def test_jobs_are_listed_searched_and_paged(local):
    ids = [
        local.submit(PAIR + b">c%d\nMK\n" % n, title=f"job {n}", tags=["even"] * (n % 2 == 0))["id"] for n in range(5)
    ]
    page = local.get("/api/v1/jobs?limit=3").json
    rest = local.get(f"/api/v1/jobs?limit=3&after={page['next']}").json
    assert [job["id"] for job in page["jobs"] + rest["jobs"]] == ids[::-1] and rest["next"] is None
    assert len(local.get("/api/v1/jobs?tag=even").json["jobs"]) == 3
    assert [job["title"] for job in local.get("/api/v1/jobs?q=job+3").json["jobs"]] == ["job 3"]
    assert local.get("/api/v1/jobs?state=done").json["jobs"] == []
    assert len(local.get("/api/v1/jobs?verb=pairs").json["jobs"]) == 5


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "state=gone", f"q={'a' * 501}"])
def test_a_wrong_question_is_refused(local, query):
    answer = local.get(f"/api/v1/jobs?{query}")
    assert answer.status == 422 and answer.json["field"] == query.partition("=")[0]


def test_a_job_is_changed_shared_cancelled_and_deleted(local):
    job = local.submit()
    address = f"/api/v1/jobs/{job['id']}"
    changed = local.ask("PATCH", address, {"title": "new", "tags": ["x"], "shared": True}).json
    assert (changed["title"], changed["tags"]) == ("new", ["x"])
    shared = local.get("/api/v1" + changed["shared"]).json
    assert shared["title"] == "new" and "owner" not in shared and "file" not in shared["inputs"][0]
    assert local.ask("PATCH", address, {"shared": False}).json["shared"] is None
    assert local.get("/api/v1" + changed["shared"]).status == 404
    assert local.ask("PATCH", address, {"owner": "bob"}).json["field"] == "owner"
    assert local.post(address + "/cancel").json["state"] == "cancelled"
    assert local.post(address + "/cancel").json["state"] == "cancelled"
    assert local.ask("DELETE", address).status == 204 and local.get(address).status == 404


def test_a_shared_result_needs_no_token(users):
    job = users.alice.submit(outputs=["report"])
    finish(
        users.alice.storage, job["id"], [("main", "a.tsv", "text/plain", TABLE), ("report", "a", "text/html", REPORT)]
    )
    link = users.alice.ask("PATCH", f"/api/v1/jobs/{job['id']}", {"shared": True}).json["shared"]
    assert users.stranger.get(f"/api/v1{link}").json["state"] == "done"
    assert users.stranger.get(f"/api/v1{link}/files/main").body == TABLE
    assert users.stranger.get(f"{link}/report").body == REPORT
    assert users.stranger.ask("DELETE", f"/api/v1{link}").status in (404, 405)


def test_too_many_jobs_are_refused_with_a_time(serve):
    client = serve(limits=Limits(queued_per_user=1))
    client.submit()
    inputs = {"queries": [{"text": ">x\nMKV\n>y\nMK\n", "name": "a.fa"}]}
    answer = client.post("/api/v1/jobs", {"verb": "pairs", "inputs": inputs})
    assert answer.status == 429 and int(answer.headers["Retry-After"]) >= 1


def test_requests_of_a_user_are_counted(serve):
    client = serve(limits=Limits(requests_per_minute=5))
    answers = [client.get("/api/v1/me") for _ in range(6)]
    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert answers[-1].headers["Retry-After"].isdigit()
    assert client.get("/healthz").status == 200  # who watches over the server is no user
    strangers = [Client(client.port).get("/shared/x").status for _ in range(6)]
    assert strangers == [404] * 5 + [429]  # who has not said who it is has a bucket by its address


def test_verbs_and_the_document_of_the_api(local):
    verbs = local.get("/api/v1/verbs").json["verbs"]
    assert [verb["name"] for verb in verbs][:3] == ["pairs", "find", "cluster"]
    assert local.get("/api/v1/verbs/pairs").json == verbs[0]
    assert local.get("/api/v1/verbs/db%20build").json["name"] == "db build"
    assert local.get("/api/v1/verbs/merge").status == 404
    document = local.get("/api/v1/openapi.json").json
    paths = {"/api/v1/files", "/api/v1/jobs", "/api/v1/jobs/{id}", "/api/v1/jobs/{id}/events", "/api/v1/verbs"}
    assert paths <= document["paths"].keys()
    example = document["paths"]["/api/v1/jobs"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert local.post("/api/v1/jobs", example).status == 201
    for path in document["paths"].values():
        assert all(method["summary"] and method["responses"] for method in path.values())
    assert "NaN" not in json.dumps(document)


def test_a_database_of_another_user_is_not_there(users):
    storage = users.server.storage
    stored = storage.files.add_bytes(b"store")
    storage.databases.add(Database("db1", "alice", "genome", "dna", 3, 30, stored.digest, stored.size, 0.0))
    assert users.bob.get("/api/v1/databases").json == {"databases": []}
    inputs = {"family": [{"database": "db1"}]}
    answer = users.bob.post("/api/v1/jobs", {"verb": "msa", "format": "fasta", "inputs": inputs})
    assert answer.status == 422
    assert answer.error == "there is no such database: choose one from the list (GET /api/v1/databases)"
    nobodys = "you have no such database: it was deleted, or belongs to another user"
    for method, body in (("DELETE", None), ("PATCH", {"shared": True})):
        answer = users.bob.ask(method, "/api/v1/databases/db1", body)
        assert (answer.status, answer.error) == (404, nobodys)
    (mine,) = users.alice.get("/api/v1/databases").json["databases"]
    assert (mine["id"], mine["owner"], mine["shared"]) == ("db1", "alice", False)


def test_a_build_says_whether_its_database_is_shared(users):
    storage = users.server.storage
    body = {"verb": "db build", "inputs": {"sources": [{"text": ">a\nMKV\n"}]}, "title": "mine"}
    for shared in (False, True):
        answer = users.alice.post("/api/v1/jobs", {**body, "shared": shared})
        assert answer.status == 201, answer.body
        assert storage.jobs.get(answer.json["id"]).request.get("shared", False) == shared
    pairs = {"verb": "pairs", "inputs": {"queries": [{"text": ">a\nMKV\n"}]}, "shared": True}
    answer = users.alice.post("/api/v1/jobs", pairs)
    sentence = "shared: applies to databases (db build) only: jobs are shared by links"
    assert (answer.status, answer.json) == (422, {"error": sentence, "field": "shared"})


def test_an_equal_build_is_the_same_one_unless_its_database_is_gone_or_shared_otherwise(local):
    body = {"verb": "db build", "inputs": {"sources": [{"text": ">a\nMKV\n"}]}, "title": "mine"}
    queue, files = local.storage.queue, local.storage.files

    def built():
        answer = local.post("/api/v1/jobs", body)
        if answer.status == 201:
            job, file = queue.claim("w", 30, 1), files.add_bytes(b"store")
            outcome = Outcome(State.DONE, "", (JobFile("main", "mine.tdb", file.digest, 5),))
            made = Database(job.id, job.owner, job.title, "protein", 1, 3, file.digest, 5, 0.0, job.id)
            assert job.id == answer.json["id"] and queue.finish(job.id, job.attempt, outcome, made)
        return answer.status, answer.json["id"]

    _, first = built()
    assert built() == (200, first)
    local.storage.databases.set_shared(first, True)
    status, second = built()
    assert status == 201 and second != first
    local.storage.databases.delete(first)
    local.storage.databases.delete(second)
    assert built()[0] == 201


def test_shared_databases_are_everybodys_and_deleted_by_their_owner(users):
    storage = users.server.storage
    stored = storage.files.add_bytes(b"store")
    storage.databases.add(Database("db1", "alice", "swissprot", "protein", 3, 30, stored.digest, stored.size, 0.0))
    assert users.alice.ask("PATCH", "/api/v1/databases/db1", {"shared": True}).json["shared"]
    assert [found["name"] for found in users.bob.get("/api/v1/databases").json["databases"]] == ["swissprot"]
    inputs = {"queries": [{"text": ">a\nMK\n", "name": "a.fa"}], "targets": [{"database": "db1"}]}
    answer = users.bob.post("/api/v1/jobs", {"verb": "pairs", "inputs": inputs})
    assert answer.status == 201 and answer.json["inputs"][1]["database"] == "db1"
    assert answer.json["command"] == "tropalign pairs a.fa swissprot.tdb -o a.tsv"
    assert users.bob.ask("DELETE", "/api/v1/databases/db1").status == 404
    assert users.alice.ask("DELETE", "/api/v1/databases/db1").status == 422  # a job waits for it
    users.bob.post(f"/api/v1/jobs/{answer.json['id']}/cancel")
    assert users.alice.ask("DELETE", "/api/v1/databases/db1").status == 204


def test_an_input_is_the_output_of_another_job_of_the_user(users):
    aligned = b">a\nMKVLAW\n>b\nMKILAW\n>c\nMKVL-W\n"
    body = {"verb": "msa", "inputs": {"family": [{"text": aligned.decode().replace("-", ""), "name": "x.fa"}]}}
    first = users.alice.post("/api/v1/jobs", {**body, "title": "Three"}).json

    def tree(client=users.alice, **item):
        return client.post("/api/v1/jobs", {"verb": "tree", "inputs": {"taxa": [{"job": first["id"], **item}]}})

    answer = tree(role="report")
    assert (answer.status, answer.json["field"]) == (422, "inputs.taxa")
    assert answer.error == "the job Three has no output 'report': it has main"
    finish(users.server.storage, first["id"], [("main", "x.msa.fasta", "text/plain", aligned)])
    answer = tree(role="report")
    assert (answer.status, answer.error) == (422, "the job Three has no output 'report': it has main")
    gone = "the job whose result is to be read was deleted or belongs to another user: give the file"
    assert (tree(users.bob).status, tree(users.bob).error) == (422, gone)
    made = tree().json
    assert made["inputs"] == [
        {"dest": "taxa", "name": "x.msa.fasta", "size": len(aligned), "file": hashlib.sha256(aligned).hexdigest(),
         "job": first["id"]}
    ]  # fmt: skip
    assert users.alice.ask("DELETE", f"/api/v1/jobs/{first['id']}").status == 204
    assert tree().error == gone
    assert users.alice.get(f"/api/v1/jobs/{made['id']}/inputs/taxa/0").body == aligned
    assert users.alice.post(f"/api/v1/jobs/{made['id']}/formats/svg").status == 201


def test_a_job_that_is_deleted_while_another_is_to_read_it_is_a_refusal(users, monkeypatch):
    from tropalign.serve.web import user_jobs

    first, _ = chain(users.alice)
    looked_up = user_jobs.job_named

    def once(web, user, id):
        found = looked_up(web, user, id)
        if found is not None:
            web.storage.jobs.delete(id)
        return found

    monkeypatch.setattr(user_jobs, "job_named", once)
    tree = {"verb": "tree", "inputs": {"taxa": [{"job": first["id"]}]}}
    refused = users.alice.post("/api/v1/jobs", tree)
    assert (refused.status, refused.json["field"]) == (422, "inputs.taxa") and "was deleted" in refused.error


def test_what_is_deleted_while_it_is_asked_for_is_not_there(local, monkeypatch):
    from tropalign.serve.web import api, user_jobs

    found = user_jobs.manageable_job

    def once(web, user, id):
        job = found(web, user, id)
        web.storage.jobs.delete(id)
        return job

    monkeypatch.setattr(api, "manageable_job", once)
    for method, path in (("DELETE", ""), ("POST", "/cancel")):
        first, _ = chain(local)
        gone = local.ask(method, f"/api/v1/jobs/{first['id']}{path}")
        assert (gone.status, gone.error) == (404, "there is no such job: it was deleted, or belongs to another user")


def test_a_database_that_is_deleted_while_it_is_asked_for_is_not_there(local, monkeypatch):
    from tropalign.serve.web import user_jobs

    storage, owner = local.storage, local.get("/api/v1/me").json["user"]
    stored = storage.files.add_bytes(b"a store")

    def database(id):
        storage.databases.add(Database(id, owner, id, "protein", 3, 30, stored.digest, stored.size, 0.0))

    database("db1")
    named = local.storage.databases.named_by

    def once(user, name):
        database = named(user, name)
        local.storage.databases.delete(database.id)
        return database

    monkeypatch.setattr(local.storage.databases, "named_by", once)
    inputs = {"queries": [{"text": ">a\nMKV\n"}], "targets": [{"database": "db1"}]}
    refused = local.post("/api/v1/jobs", {"verb": "pairs", "inputs": inputs})
    assert (refused.status, refused.json["field"]) == (422, "inputs.targets")
    storage.files.add_bytes(b"a store")
    database("db2")
    own = user_jobs.own_database

    def gone(web, user, id, **more):
        database = own(web, user, id, **more)
        web.storage.databases.delete(id)
        return database

    monkeypatch.setattr(user_jobs, "own_database", gone)
    assert local.ask("DELETE", "/api/v1/databases/db2").status == 404
    storage.files.add_bytes(b"a store")
    database("db3")
    assert local.ask("PATCH", "/api/v1/databases/db3", {"shared": True}).status == 404


def chain(client):
    """An alignment that is still to be computed, and a tree of it."""
    inputs = {"family": [{"text": ">a\nMKVLAW\n>b\nMKILAW\n", "name": "x.fa"}]}
    first = client.post("/api/v1/jobs", {"verb": "msa", "title": "Two", "inputs": inputs}).json
    tree = {"verb": "tree", "inputs": {"taxa": [{"job": first["id"]}]}}
    answer = client.post("/api/v1/jobs", tree)
    assert answer.status == 201, answer.body
    return first, answer.json


def test_a_job_waits_for_one_whose_result_it_reads(users):
    first, second = chain(users.alice)
    awaited = {"dest": "taxa", "name": "x.fasta", "size": 0, "file": None, "job": first["id"]}
    assert second["inputs"] == [awaited] and second["command"] == "tropalign tree x.fasta -o x.nwk"
    assert (second["waiting"], second["waits_for"]) == ("waits for the job “Two”", [first["id"]])
    assert (first["queue_position"], second["queue_position"]) == (1, None)
    (listed,) = users.alice.get("/api/v1/jobs?verb=tree").json["jobs"]
    assert listed["waits_for"] == [first["id"]]
    shared = users.alice.ask("PATCH", f"/api/v1/jobs/{second['id']}", {"shared": True}).json["shared"]
    assert not {"waiting", "waits_for"} & {*users.stranger.get(f"/api/v1{shared}").json}
    refused = users.bob.post("/api/v1/jobs", {"verb": "tree", "inputs": {"taxa": [{"job": first["id"]}]}})
    assert refused.status == 422 and "belongs to another user" in refused.error
    aligned = b">a\nMKVLAW\n>b\nMKILAW\n"
    finish(users.server.storage, first["id"], [("main", "x.msa.fasta", "text/plain", aligned)])
    finish(users.server.storage, second["id"], [("main", "x.nwk", "text/plain", b"(a,b);")])
    done = users.alice.get(f"/api/v1/jobs/{second['id']}").json
    assert done["inputs"] == [{**awaited, "size": len(aligned), "file": hashlib.sha256(aligned).hexdigest()}]
    assert done["waits_for"] == [] and done["waiting"] is None


@pytest.mark.parametrize(
    ("end", "sentence"),
    [("delete", "which was deleted"), ("cancel", "which was cancelled"), ("fail", "which failed (it is empty)")],
)
def test_a_job_ends_with_the_one_that_it_waits_for(local, end, sentence):
    first, second = chain(local)
    if end == "fail":
        finish(local.storage, first["id"], [], "it is empty.", "failed")
    elif end == "cancel":
        local.post(f"/api/v1/jobs/{first['id']}/cancel")
    else:
        local.ask("DELETE", f"/api/v1/jobs/{first['id']}")
    local.storage.queue.settle()
    shared = local.ask("PATCH", f"/api/v1/jobs/{second['id']}", {"shared": True}).json["shared"]
    seen = local.get("/api/v1" + shared).json  # whoever has the link is told of no other job
    assert seen["message"] == "the job whose result it reads has produced none"
    page = local.get(shared).body.decode()
    assert seen["message"] in page and "“Two”" not in page
    job = local.get(f"/api/v1/jobs/{second['id']}").json
    assert job["state"] == "failed" and job["exit_code"] == 4
    remedy = "submit this job again when its input exists"
    assert job["message"] == f"this job needed a result of the job “Two”, {sentence}: {remedy}"


@pytest.mark.parametrize(
    ("item", "sentence"),
    [({"job": "../x"}, "must be the id of a job"), ({"job": "a", "role": "../main"}, "must be the role of an"),
     ({"file": "0" * 64, "role": "main"}, "refers to an output of a job"),
     ({"job": "a", "text": ">a"}, "must have one of")],
)  # fmt: skip
def test_a_wrong_reference_to_a_job_is_refused(local, item, sentence):
    answer = local.post("/api/v1/jobs", {"verb": "tree", "inputs": {"taxa": [item]}})
    assert answer.status == 422 and sentence in answer.error and answer.json["field"].startswith("inputs.taxa[0]")


def test_installed_databases_are_named_by_all_and_belong_to_nobody(users, tmp_path):
    from tropalign.sequences import SequenceStore
    from tropalign.serve.storage.databases import InstalledDatabases

    (tmp_path / "a.fa").write_bytes(PAIR)
    SequenceStore.build(tmp_path / "a.fa", tmp_path / "swissprot.tdb")
    users.server.storage.databases.installed = InstalledDatabases(tmp_path)
    (found,) = users.bob.get("/api/v1/databases").json["databases"]
    assert (found["name"], found["alphabet"], found["sequences"], found["residues"]) == ("swissprot", "protein", 2, 10)
    assert (found["owner"], found["installed"], found["shared"]) == (None, True, True)
    for named in ("swissprot", found["id"]):
        inputs = {"queries": [{"text": ">a\nMK\n", "name": "a.fa"}], "targets": [{"database": named}]}
        answer = users.alice.post("/api/v1/jobs", {"verb": "find", "inputs": inputs})
        assert answer.status == 201 and answer.json["inputs"][1]["database"] == found["id"]
        assert answer.json["command"] == "tropalign find a.fa swissprot.tdb -o a.tsv"
    for method, body in (("DELETE", None), ("PATCH", {"shared": False})):
        assert users.alice.ask(method, f"/api/v1/databases/{found['id']}", body).status == 404
    (tmp_path / "swissprot.tdb").unlink()
    assert users.bob.get("/api/v1/databases").json == {"databases": []}
    answer = users.alice.post("/api/v1/jobs", {"verb": "find", "inputs": inputs})
    assert answer.status == 422 and answer.json["field"] == "inputs.targets"


def test_files_without_a_job_are_listed_and_deleted(users):
    file = users.alice.send(b">a\nMK\n", "alone.fa")
    users.alice.submit()
    (listed,) = users.alice.get("/api/v1/files").json["files"]
    assert (listed["file"], listed["name"], listed["size"]) == (file, "alone.fa", 6)
    assert users.bob.get("/api/v1/files").json == {"files": []}
    answer = users.bob.ask("DELETE", f"/api/v1/files/{file}")
    assert (answer.status, answer.error) == (404, "you have no such unused file: it was deleted, or belongs to a job")
    assert users.alice.ask("DELETE", f"/api/v1/files/{file}").status == 204
    assert not users.server.storage.files.holds(file)
    assert users.alice.get("/api/v1/files").json == {"files": []}


def test_what_happens_is_written_down(users):
    job = users.alice.submit()
    users.alice.ask("DELETE", f"/api/v1/jobs/{job['id']}")
    noted = [(entry.user, entry.action, entry.object) for entry in users.server.storage.audit.entries()]
    assert noted[-2:] == [("alice", "submit", job["id"]), ("alice", "delete", job["id"])]
    assert {entry.address for entry in users.server.storage.audit.entries()} == {"127.0.0.1"}


def hooked(client, hook):
    """The answer to a job that tells a hook."""
    inputs = {"queries": [{"text": PAIR.decode(), "name": "a.fa"}]}
    return client.post("/api/v1/jobs", {"verb": "pairs", "inputs": inputs, "hook": hook})


def check_hook(client, url, secret, shown):
    """A job keeps its hook to itself, which is called when it has ended; the form says what may be told."""
    job = hooked(client, url)
    assert job.status == 201 and secret not in job.body
    finish(client.storage, job.json["id"], [("main", "a.tsv", "text/plain", b"x")])
    (hook,) = client.storage.hooks.claim(1)
    assert (hook.job.id, hook.url) == (job.json["id"], url)
    page = client.get("/new/pairs").body.decode()
    assert f"notified when the job has ended: {shown}" in page


def test_a_hook_is_for_hosts_that_the_operator_allows(serve):
    client = serve(hook_hosts=("a.example",))
    places = "a.example only (no port means the usual one)"
    for hook, sentence in (
        ("https://b.example/", f"web hooks are called at {places}: name one of them, or ask the operator"),
        ("https://a.example/ x", "a web hook must be an address of at most 500 ASCII characters without blanks"),
        (["x"], "hook must be a string: an e-mail address or the address of a web hook"),
        ("ann@a.example", "this server does not send e-mail: ask its operator (--smtp)"),
    ):
        answer = hooked(client, hook)
        assert (answer.status, answer.error, answer.json["field"]) == (422, sentence, "hook")
    check_hook(client, "https://a.example/secret", b"secret", "a web hook (at a.example)")


def test_an_email_address_is_told_where_the_operator_names_a_mail_server(serve):
    from tropalign.serve.settings import MailServer

    client = serve(mail=MailServer("localhost", 1, "tropalign@a.example", ("a.example",)))
    answer = hooked(client, "ann@b.example")
    assert (answer.status, answer.json["field"]) == (422, "hook") and "only to addresses at a.example" in answer.error
    check_hook(client, "ann@a.example", b"ann@", "an e-mail address at a.example")


def test_a_server_without_hooks_refuses_them_and_its_forms_have_none(local):
    answer = hooked(local, "https://a.example/")
    assert (
        answer.status == 422 and answer.error == "this server does not call web hooks: ask its operator (--hook-host)"
    )
    assert b"Notify at the end" not in local.get("/new/pairs").body
