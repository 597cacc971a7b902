"""``tropalign admin``: users, jobs, databases, the log, backup and restore, from a shell beside a server."""

import hashlib
import json
import os
import stat
import tarfile
from io import BytesIO

import pytest

from tropalign.serve.settings import Settings

for module in ("sqlalchemy", "alembic", "argon2", "fastapi", "uvicorn", "jinja2"):
    pytest.importorskip(module, reason="the server's modules are not installed: pip install 'tropalign[serve]'")


@pytest.fixture
def folder(tmp_path):
    """A server's folder: ann and bob have a token and two jobs each, one of them done; and ann has a database."""
    from tropalign.serve.records import Database, JobFile, NewJob, Outcome, State
    from tropalign.serve.settings import Limits
    from tropalign.serve.storage import Storage

    settings = Settings(folder=tmp_path / "served")
    with Storage.open(settings) as storage:
        for owner in ("ann", "bob"):
            storage.tokens.add(owner)
            for n in range(2):
                file = storage.files.add_bytes(f"{owner} {n}".encode())
                inputs = (JobFile("queries", "x.fa", file.digest, file.size),)
                new = NewJob(
                    owner, "pairs", f"{owner}'s {n}", (), f"{owner} {n}", {"verb": "pairs"}, "command", "1", inputs
                )
                job = storage.jobs.submit(new, Limits())[0]
                if n == 0:
                    claimed = storage.queue.claim("w", 30, 10)
                    assert claimed.id == job.id
                    storage.queue.finish(job.id, claimed.attempt, Outcome(State.DONE, outputs=inputs))
        storage.databases.add(Database("db1", "ann", "mine", "protein", 1, 3, file.digest, file.size, 0.0))
    return settings.folder


@pytest.fixture
def admin(folder, capsys):
    """Runs `tropalign admin`; its exit code, and what it says."""
    from tropalign.cli.main import main

    def run(*words, place=folder):
        code = main(["admin", *words, "--folder", str(place)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def objects(said):
    code, out, err = said
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def test_users_and_their_limits(admin, folder):
    listed = objects(admin("users", "--json"))
    assert [(user["user"], user["jobs"], user["queued"], user["tokens"]) for user in listed] == [
        ("ann", 2, 1, 1), ("bob", 2, 1, 1),
    ]  # fmt: skip
    given = ("--max-running-per-user", "5", "--max-stored-per-user", "1G", "--administrator", "yes")
    head, row = admin("user", "ann", *given)[1].splitlines()
    assert dict(zip(head.split("\t"), row.split("\t"), strict=True)) == {
        "name": "ann", "is_administrator": "True", "running_per_user": "5", "queued_per_user": "",
        "stored_bytes_per_user": str(2**30),
    }  # fmt: skip
    admin("user", "ann", "--usual-limits", "--max-queued-per-user", "7")
    (ann, _) = objects(admin("users", "--json"))
    assert (ann["running_per_user"], ann["queued_per_user"], ann["is_administrator"]) == (None, 7, True)
    assert objects(admin("audit", "--action", "set user", "--json"))[0]["object"] == "ann"
    sentence = "tropalign: there is no user 'eve': tropalign admin users lists them\n"
    assert admin("user", "eve", "--usual-limits") == (2, "", sentence)
    assert "nothing to set is given" in admin("user", "ann")[2]


def test_jobs_are_listed_stopped_and_deleted(admin):
    listed = objects(admin("jobs", "--json"))
    assert [(job["user"], job["state"]) for job in listed] == [
        ("bob", "queued"), ("bob", "done"), ("ann", "queued"), ("ann", "done"),
    ]  # fmt: skip
    assert admin("stop", "--user", "bob")[1] == "stopping 1 job\n"
    (stopped,) = objects(admin("jobs", "--user", "bob", "--state", "cancelled", "--json"))
    assert admin("delete", stopped["id"], "db1")[1] == "deleted 1 job and 1 database\n"
    assert admin("stop", stopped["id"])[2] == (
        f"tropalign: there is no job {stopped['id']}: tropalign admin jobs lists them\n"
    )
    assert admin("databases") == (0, "", "")
    for words in ((), (stopped["id"], "--user", "bob")):
        assert "give either ids or --user USER" in admin("delete", *words)[2]


@pytest.mark.parametrize("words", [("stop", "{id}"), ("stop", "--user", "bob"), ("delete", "{id}", "db1"),
                                   ("delete", "--user", "bob"), ("delete", "--user", "ann")])  # fmt: skip
def test_what_goes_meanwhile_is_not_counted(admin, folder, monkeypatch, words):
    from tropalign.serve.storage import Storage
    from tropalign.serve.storage.databases import Databases
    from tropalign.serve.storage.files import Uploads
    from tropalign.serve.storage.jobs import Jobs

    def gone(*_):
        raise KeyError("id")

    with Storage.open(Settings(folder=folder)) as storage:
        storage.uploads.keep_bytes("ann", b"sent")
    (waiting,) = objects(admin("jobs", "--user", "bob", "--state", "queued", "--json"))
    for part, name in ((Jobs, "cancel"), (Jobs, "delete"), (Databases, "delete"), (Uploads, "delete")):
        monkeypatch.setattr(part, name, gone)
    said = {"stop": "stopping 0 jobs\n", "delete": "deleted 0 jobs and 0 databases\n"}
    assert admin(*(word.format(**waiting) for word in words)) == (0, said[words[0]], "")
    assert not {entry["action"] for entry in objects(admin("audit", "--json"))} & {"cancel", "delete"}


def test_a_database_that_others_need_stays_and_is_told(admin, monkeypatch):
    from tropalign.errors import UsageError
    from tropalign.serve.storage.databases import Databases

    def needed(*_):
        raise UsageError("jobs that wait or run need 'mine': delete it when they have ended")

    monkeypatch.setattr(Databases, "delete", needed)
    code, out, err = admin("delete", "--user", "ann")
    assert (code, out) == (2, "deleted 2 jobs and 0 databases\n")
    assert "1 database not deleted: jobs that wait or run need 'mine': delete it when they have ended" in err
    assert "delete user" in [entry["action"] for entry in objects(admin("audit", "--json"))]


def test_all_of_a_user_goes(admin, folder):
    from tropalign.serve.records import Account
    from tropalign.serve.storage import Storage

    admin("user", "ann", "--administrator", "yes", "--max-running-per-user", "5")
    assert objects(admin("databases", "--json"))[0]["name"] == "mine"
    assert admin("delete", "--user", "ann")[1] == "deleted 2 jobs and 1 database\n"
    assert admin("delete", "--user", "ann")[1] == "deleted 0 jobs and 0 databases\n"
    with Storage.open(Settings(folder=folder)) as storage:
        assert storage.users.get("ann") == Account("ann")
        assert {token.user for token in storage.tokens.list() if not token.revoked} == {"bob"}
        assert storage.jobs.stored_bytes("ann") == 0 < storage.jobs.stored_bytes("bob")
    assert len(list((folder / "files").glob("??/*"))) == 2


def test_room_is_made(admin, folder):
    assert admin("sweep", "--keep-days", "1")[1] == "deleted 0 jobs and 0 files no longer in use\n"
    assert admin("sweep", "--keep-days", "1e-9")[1].startswith("deleted 2 jobs")
    assert [entry["action"] for entry in objects(admin("audit", "--json"))] == ["expire", "expire"]


def test_the_log_is_filtered(admin, folder):
    from tropalign.serve.storage import Storage

    with Storage.open(Settings(folder=folder)) as storage:
        for day, user, action in ((1, "ann", "login"), (2, "bob", "login"), (3, "ann", "submit")):
            storage.audit._clock = lambda day=day: day * 86400.0
            storage.audit.note(user, "::1", action)
    found = {
        words: [entry["time"][8:10] for entry in objects(admin("audit", "--json", *words))]
        for words in (
            ("--user", "ann"), ("--action", "login"), ("--since", "1970-01-03", "--until", "1970-01-04"),
            ("--since", "1970-01-03T00:00:01"),
        )
    }  # fmt: skip
    assert list(found.values()) == [["02", "04"], ["02", "03"], ["03"], ["04"]]
    assert admin("audit", "--user", "bob")[1] == "1970-01-03T00:00:00Z\tbob\t::1\tlogin\t\t\n"
    assert "is neither a day like 2026-11-28" in admin("audit", "--since", "yesterday")[2]


def test_a_backup_is_a_server_again(admin, folder, tmp_path):
    archive, other = tmp_path / "all.tar", tmp_path / "other"
    assert admin("backup", str(archive))[1] == f"{archive}: the database and 4 files\n"
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    assert admin("backup", str(archive))[0] == 2
    assert [path.name for path in folder.iterdir() if path.name.startswith(".backup")] == []
    assert admin("restore", str(archive), place=other)[1] == f"{other}: 4 jobs and 4 files\n"
    assert objects(admin("jobs", "--json", place=other)) == objects(admin("jobs", "--json"))
    assert stat.S_IMODE(other.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in other.rglob("*") if path.is_file()} == {0o600}
    code, _, err = admin("restore", str(archive), place=other)
    assert code == 2 and "the folder is not empty: name a new --folder, or move this one away" in err


def archive_of(path, *members):
    with tarfile.open(path, "w") as tar:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("members", "sentence"),
    [([("../evil", b"x")], "../evil is not a file of a backup"), ([("/etc/x", b"x")], "is not a file of a backup"),
     ([("files/ab/" + "0" * 62, b"x")], "has a content that does not match its name: the archive is damaged"),
     ([], "it has no tropalign.db"), ([("tropalign.db", b"x"), ("tropalign.db", b"y")], "is not a file of a"),
     ([("tropalign.db", b"x")], "it ends before its manifest.json: it was cut off, or an earlier build"),
     ([("tropalign.db", b"x"), ("manifest.json", b"{}")], "differ from its manifest.json"),
     ([("tropalign.db", b"x"), ("manifest.json", b"{}"), ("database.id", b"x")], "is not a file of a backup"),
     ([("manifest.json", b"{}"), ("manifest.json", b"{}")], "is not a file of a backup")],
)  # fmt: skip
def test_a_strange_archive_makes_nothing(admin, tmp_path, members, sentence):
    path, other = archive_of(tmp_path / "x.tar", *members), tmp_path / "other"
    code, _, err = admin("restore", str(path), place=other)
    assert code in (3, 4) and sentence in err
    assert not other.exists() or not any(other.iterdir())
    assert not (tmp_path / "evil").exists() and not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def damaged(data, begin, step):
    found = bytearray(data)
    for place in range(begin, len(found), step):
        found[place] ^= 0xFF
    return bytes(found)


@pytest.mark.parametrize(
    "change",
    [lambda _: b"", lambda _: b"no database" * 1000, lambda data: data[: len(data) // 2],
     lambda data: damaged(data, 200, 997), lambda data: damaged(data, 4096, 4096)],
)  # fmt: skip
def test_a_damaged_database_is_not_restored(admin, tmp_path, change):
    whole, other = tmp_path / "all.tar", tmp_path / "other"
    assert admin("backup", str(whole))[0] == 0
    with tarfile.open(whole) as tar:
        members = [(name, tar.extractfile(name).read()) for name in tar.getnames()]
    members = [(n, change(d) if n == "tropalign.db" else d) for n, d in members[:-1]]
    path = archive_of(tmp_path / "x.tar", *members, ("manifest.json", b""))
    code, _, err = admin("restore", str(path), place=other)
    assert code == 3 and "its tropalign.db or its files differ from its manifest.json: the archive was altered" in err
    from tropalign.serve.storage import backup

    digests = {n: hashlib.sha256(d).hexdigest() for n, d in members if not n.startswith("files/")}
    manifest = backup._manifest(digests, [n for n, _ in members if n.startswith("files/")])
    archive_of(tmp_path / "x.tar", *members, ("manifest.json", manifest))  # as whoever damaged it could write
    code, _, err = admin("restore", str(path), place=other)
    assert code == 3 and "its tropalign.db is damaged or not that of a server: restore another backup" in err
    assert not other.exists() and not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_no_part_of_an_archive_is_taken_for_the_whole(admin, tmp_path):
    """Cut within and after each member, without one of them, and with another byte in each."""
    whole, other = tmp_path / "all.tar", tmp_path / "other"
    assert admin("backup", str(whole))[0] == 0
    data = whole.read_bytes()
    with tarfile.open(whole) as tar:
        members = tar.getmembers()
        contents = [(member.name, tar.extractfile(member).read()) for member in members]
    assert [name for name, _ in contents][-1] == "manifest.json" and len(contents) >= 6
    ends = [member.offset_data + -(-member.size // 512) * 512 for member in members]
    cut = [data[:end] for end in ends[:-1]] + [data[: end - 300] for end in ends]
    changed = []
    for member in members:
        place = member.offset_data + member.size // 2
        changed += [data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :], data[: member.offset] + b"\0" * 512]
    path = tmp_path / "x.tar"
    for made in (*cut, *changed):
        path.write_bytes(made)
        code, _, err = admin("restore", str(path), place=other)
        assert code == 3 and err.startswith("tropalign: ") and not other.exists(), err
    for k in range(len(contents)):
        code, _, err = admin("restore", str(archive_of(path, *contents[:k], *contents[k + 1 :])), place=other)
        assert code == 3 and not other.exists(), err
    path.write_bytes(data[: ends[-1]])  # without the blocks of zeros that end an archive it is whole
    assert admin("restore", str(path), place=other)[0] == 0


def test_a_database_that_is_not_there_is_not_made(admin, tmp_path):
    path = tmp_path / "typo.db"
    code, _, err = admin("users", "--database", f"sqlite:///{path}")
    assert code == 2 and f"{path}: there is no such database: give that of a server" in err
    assert not path.exists()
    there = tmp_path / "served" / "tropalign.db"
    assert len(objects(admin("users", "--json", "--database", f"sqlite:///{there}"))) == 2


def test_a_backup_is_a_file(admin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = admin("backup", "-")
    assert code == 2 and "name one (monday.tar)" in err and not (tmp_path / "-").exists()


def test_what_is_no_archive_or_no_server_is_a_mistake(admin, tmp_path):
    (tmp_path / "text").write_text("no archive")
    assert admin("restore", str(tmp_path / "text"), place=tmp_path / "other")[0] == 3
    assert admin("restore", str(tmp_path / "none"), place=tmp_path / "other")[0] == 3
    for words in (("jobs",), ("backup", str(tmp_path / "y.tar"))):
        code, _, err = admin(*words, place=tmp_path / "nothing")
        assert code == 2 and str(tmp_path / "nothing") in err
    assert not (tmp_path / "nothing").exists()
    assert "this works only for SQLite in the folder" in admin("backup", "z.tar", "--database", "postgresql://x@h/d")[2]
