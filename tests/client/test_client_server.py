"""Jobs on a server: submitted, watched, fetched, and every fault a sentence."""

import fcntl
import json
import re
import socket

import pytest
from client.fake_server import JOB, answering, served

from tropalign import InputError, ResourceError
from tropalign.client import connect
from tropalign.client.remote_job import RemoteDatabase
from tropalign.client.transport import Address, token_of
from tropalign.errors import UsageError

FASTA = b">a\nMKVLAW\n>b\nMKILAW\n"


def http(body, status="200 OK", kind="application/json", length=None):
    n_bytes = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {n_bytes}\r\n\r\n".encode() + body


def test_a_job_is_submitted_watched_and_fetched(fake, tmp_path):
    path = tmp_path / "my proteins.fa"
    path.write_bytes(FASTA)
    fake.starts_at_once = False
    seen = []
    with connect(fake.url) as server:
        job = server.submit("pairs", {"queries": path}, {"mode": "global"}, title="t", tags=["x"])
        assert job.state == "queued" and job.url == f"{fake.url}/jobs/JOB1"
        assert job.wait(progress=lambda stage, share: seen.append((stage, share))) is job
    assert job.state == "done" and job.result() == b"query\ttarget\n"
    assert seen[:2] == [("aligning", 0.25), ("aligning", 0.5)] and seen[-1][1] == 1.0
    body = fake.jobs["JOB1"]["body"]
    assert body["options"] == {"mode": "global"} and body["tags"] == ["x"]
    (item,) = body["inputs"]["queries"]
    assert item["name"] == "my proteins.fa" and fake.files[item["file"]] == FASTA


def test_a_server_without_events_is_looked_at(fake, monkeypatch):
    monkeypatch.setattr("tropalign.client.remote_job.LOOK_SECONDS", 0.01)
    fake.has_events = fake.starts_at_once = False
    job = connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    looks = []

    def respond(request):
        if request.command == "GET" and request.path.endswith("JOB1"):
            looks.append(1)
            if len(looks) == 3:
                fake.finish("JOB1")

    fake.respond = respond
    assert job.wait().state == "done" and len(looks) == 3


def test_a_job_that_does_not_end_in_time_goes_on(fake):
    fake.starts_at_once = False
    job = connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    with pytest.raises(ResourceError, match="continues on the server: http"):
        job.wait(timeout=0.05)


def test_results_go_into_a_folder_under_harmless_names(fake, tmp_path):
    fake.compute = lambda body, files: (
        "done", "", {"main": ("../../evil", b"1"), "report": ("report.html", b"22"), "table": (".bashrc", b"3")},
    )  # fmt: skip
    job = connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    assert [path.name for path in job.download(tmp_path)] == ["main", "report.html", "table"]
    assert (tmp_path / "report.html").read_bytes() == b"22"
    with pytest.raises(UsageError, match="no result 'plot': it has main, report, table"):
        job.result(role="plot")


def test_another_format_is_another_job(fake):
    fake.compute = lambda body, files: ("done", "", {"main": ("r", (body.get("format") or "tsv").encode())})
    job = connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    assert job.result() == b"tsv" and job.result("paf") == b"paf" and job.result("tsv") == b"tsv"
    assert list(fake.jobs) == ["JOB1", "JOB2"]


def test_a_job_is_shared_cancelled_listed_and_removed(fake):
    server = connect(fake.url)
    job = server.submit("pairs", {"queries": ("a.fa", FASTA)})
    assert job.share() == f"{fake.url}/shared/secret" and job.share(False) is None
    assert [found.id for found in server.jobs("proteins", tag="x")] == ["JOB1"]
    assert fake.requests[-1][2] == {"q": "proteins", "tag": "x"}
    assert job.cancel().state == "cancelled"
    with pytest.raises(ResourceError, match="was cancelled"):
        job.result()
    job.delete()
    with pytest.raises(UsageError, match="nothing here"):
        server.job("JOB1")


@pytest.mark.parametrize(
    ("state", "code", "kind"),
    [("failed", 2, UsageError), ("failed", 3, InputError), ("failed", 4, ResourceError), ("failed", None, InputError),
     ("refused", None, ResourceError), ("refused", 3, InputError)],
)  # fmt: skip
def test_a_job_that_fails_raises_what_the_command_does(fake, state, code, kind):
    def compute(body, files):
        fake.jobs["JOB1"]["exit_code"] = code
        return state, "a.fa, line 3: \x1b[31mwrong", {}

    fake.compute = compute
    job = connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    with pytest.raises(kind) as error:
        job.result()
    assert type(error.value) is kind and str(error.value) == r"a.fa, line 3: \x1b[31mwrong"


def test_databases_are_inputs(fake):
    fake.databases = [{"id": "D1", "name": "swissprot", "alphabet": "protein", "sequences": 3, "residues": 9}]
    server = connect(fake.url)
    built = server.build_database("swissprot", ("a.fa", FASTA))
    assert built.id == "D1" and fake.jobs["JOB1"]["verb"] == "db build" and fake.jobs["JOB1"]["title"] == "swissprot"
    server.submit("pairs", {"queries": ("a.fa", FASTA), "targets": server.database("D1")})
    assert fake.jobs["JOB2"]["body"]["inputs"]["targets"] == [{"database": "D1", "name": "swissprot"}]
    with pytest.raises(UsageError, match="did you mean 'swissprot'"):
        server.database("swisprot")


def test_a_database_that_was_built_is_not_another_one_of_its_name(fake):
    old = {"id": "D1", "name": "swissprot", "alphabet": "protein", "sequences": 3, "residues": 9, "job": "JOB0"}
    fake.databases = [old, {**old, "id": "D2", "job": "JOB1"}, {**old, "id": "D3", "job": None}]
    assert connect(fake.url).build_database(" swissprot ", ("a.fa", FASTA)).id == "D2"


def test_a_database_is_shared_and_what_is_none_is_a_sentence(fake):
    entry = {"id": "D 1", "name": "x", "alphabet": "protein", "sequences": 3, "residues": 9}
    fake.respond = lambda request: (200, {**entry, **json.loads(request.asked[3])})
    server = connect(fake.url)
    assert server.share_database(RemoteDatabase("D 1", "x", "protein", 3, 9)).shared
    assert fake.requests[-1][:2] == ("PATCH", "/api/v1/databases/D%201")
    for wrong in ({}, {**entry, "name": 3}):
        fake.respond = lambda request, wrong=wrong: (200, wrong)
        with pytest.raises(
            InputError, match="the server returned no database: check that it has this version of tropalign"
        ):
            server.share_database(RemoteDatabase("D 1", "x", "protein", 3, 9))


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "http://", "x", "http://a b", "http://h:99999", "http://h/?q=1", "http://é", 3]
)
def test_what_is_no_address(url):
    with pytest.raises(UsageError):
        connect(url)


def test_an_address_with_a_password_is_refused_and_not_shown():
    with pytest.raises(UsageError, match="name or password") as error:
        connect("http://me:secret@host")
    assert "secret" not in str(error.value)


def test_a_token_goes_along(fake, monkeypatch, tmp_path):
    list(connect(fake.url, token="abc").jobs())
    monkeypatch.setenv("TROPALIGN_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(InputError, match="TROPALIGN_TOKEN_FILE cannot be read"):
        connect(fake.url)
    (tmp_path / "token").write_text("def\n")
    list(connect(fake.url).jobs())
    monkeypatch.setenv("TROPALIGN_TOKEN", "ghi")
    list(connect(fake.url).jobs())
    assert [headers["Authorization"] for *_, headers in fake.requests] == ["Bearer abc", "Bearer def", "Bearer ghi"]
    with pytest.raises(UsageError, match="the token is malformed"):
        connect(fake.url, token="a\r\nHost: evil")


def test_the_token_of_a_server_of_ones_own_goes_to_that_alone(fake, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    list(connect(fake.url).jobs())
    folder = tmp_path / "tropalign" / "serve"
    folder.mkdir(parents=True)
    (folder / "local.token").write_text("trop_local_abc\n")
    with (folder / "server.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        list(connect(fake.url).jobs())  # that server does not listen yet
        print(f"12345\n{fake.url}/", file=lock, flush=True)
        list(connect(fake.url).jobs())
        list(connect(fake.url, token="def").jobs())
        for other in ("http://127.0.0.1:9", "http://localhost:" + fake.url.rpartition(":")[2], "https://lab.example"):
            assert token_of(None, Address.of(other)) is None
    list(connect(fake.url).jobs())  # it has ended: whoever listens now is somebody else
    shown = [headers.get("Authorization") for *_, headers in fake.requests]
    assert shown == [None, None, "Bearer trop_local_abc", "Bearer def", None]


def test_who_has_no_token_is_told_where_it_is(fake):
    fake.respond = lambda request: (401, {"error": "the server needs a token"}, {})
    sentence = (
        f"the server needs a token ({fake.url} requires a token: set TROPALIGN_TOKEN or TROPALIGN_TOKEN_FILE; "
        "your own server has it in local.token in its --folder)"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(sentence)}$"):
        list(connect(fake.url).jobs())


def test_a_token_never_travels_in_the_open():
    with pytest.raises(UsageError, match="not encrypted"):
        connect("http://lab.example", token="abc")
    for url in ("https://lab.example", "http://localhost:1", "http://127.0.0.2", "http://[::1]:8"):
        connect(url, token="abc")
    connect("http://lab.example", token="abc", insecure=True)
    connect("http://lab.example")


def test_a_redirect_to_another_host_is_not_followed(fake):
    with served() as (other, url):
        fake.respond = lambda request: (307, {}, {"Location": f"{url}/api/v1/jobs"})
        with pytest.raises(UsageError, match="another server"):
            list(connect(fake.url, token="abc").jobs())
        assert not other.requests


def test_a_redirect_on_the_server_is_followed_but_not_for_ever(fake):
    fake.respond = lambda request: (307, {}, {"Location": "/api/v1/jobs"}) if "old" in request.path else None
    server = connect(fake.url + "/old")
    assert list(server.jobs()) == []
    fake.respond = lambda request: (307, {}, {"Location": "/again"})
    with pytest.raises(InputError, match="does not reply like a tropalign server"):
        list(server.jobs())
    assert len(fake.requests) == 2 + 6


def test_a_busy_server_is_waited_for(fake, monkeypatch):
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    busy = [(429, {"error": "slowly"}, {"Retry_After": "7"}), (429, {}, {"Retry_After": "soon"})]
    fake.respond = lambda request: busy.pop() if busy else None
    job = connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    assert job.state == "done" and slept == [1.0, 7.0] and len(fake.files) == 1


def test_a_server_that_stays_busy_is_given_up(fake, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    fake.respond = lambda request: (429, {"error": "100 jobs of yours are waiting"}, {"Retry_After": "100000"})
    with pytest.raises(ResourceError, match="100 jobs of yours are waiting: try again later"):
        connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    assert len(fake.requests) == 11  # 30 seconds each


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [(401, UsageError, "requires a token"), (403, UsageError, "no"), (404, UsageError, "no"),
     (413, ResourceError, "no"),
     (422, UsageError, "no"), (500, ResourceError, "no"), (507, ResourceError, "no")],
)  # fmt: skip
def test_what_the_server_refuses(fake, status, kind, words):
    fake.respond = lambda request: (status, {"error": "no\x07"})
    with pytest.raises(kind, match=words) as error:
        connect(fake.url).databases()
    assert r"no\x07" in str(error.value)


STRANGE = "does not reply like a tropalign server"
BROKEN = {
    "html": (http(b"<html>", kind="text/html"), InputError, STRANGE),
    "html error": (http(b"<html>", "502 Bad Gateway", "text/html"), ResourceError, "replies 502 Bad Gateway"),
    "no json": (http(b"{"), InputError, STRANGE),
    "deep json": (http(b"[" * 100_000), InputError, STRANGE),
    "a list": (http(b"[]"), InputError, STRANGE),
    "other words": (http(b"{}"), InputError, "returned no list of databases"),
    "cut": (http(b'{"databases": []', length=999), ResourceError, "the reply is incomplete"),
    "no number": (http(b"{}", length="x"), InputError, "returned no list of databases"),
    "nothing": (b"", ResourceError, "the reply is not HTTP|lost"),
    "no http": (b"220 mail.example ESMTP\r\n", ResourceError, "the reply is not HTTP"),
    "bad chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ResourceError, "lost",
    ),
    "endless header": (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, ResourceError, "the reply is not HTTP"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_no_server_answers(name):
    reply, kind, words = BROKEN[name]
    with answering(reply) as url, pytest.raises(kind, match=words):
        connect(url, timeout=10).databases()


def test_a_slow_server_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ResourceError, match=r"no answer for 0\.2 s"):
            connect(url, timeout=0.2).databases()
    with pytest.raises(ResourceError, match=r"cannot be reached .*: check that tropalign serve runs there"):
        connect(url).databases()


@pytest.mark.parametrize(
    "change",
    [{"id": "../x"}, {"id": 3}, {"state": "lost"}, {"progress": "half"}, {"outputs": [{}]}, {"outputs": [1]},
     {"outputs": [{"role": "main", "name": "x", "size": -1}]}, {"title": 3}],
)  # fmt: skip
def test_a_job_that_is_none(change):
    with (
        answering(http(json.dumps({**JOB, **change}).encode())) as url,
        pytest.raises(InputError, match="unreadable description"),
    ):
        connect(url).job("JOB1")


def test_a_result_of_another_length_is_refused(fake):
    job = connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    fake.results["JOB1"]["main"] = b"short"
    with pytest.raises(InputError, match="has 5 bytes instead of the 13 that the server announced"):
        job.result()


def test_a_result_that_is_cut_is_fetched_again(fake):
    job = connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    cuts = [1, 1]

    def respond(request):
        if "/files/" in request.path and cuts:
            cuts.pop()
            request.wfile.write(http(b"query", kind="text/plain", length=13))
            request.close_connection = True
            return True
        return None

    fake.respond = respond
    assert job.result() == b"query\ttarget\n" and not cuts


def test_a_server_that_starts_anew_is_waited_for(fake, monkeypatch):
    monkeypatch.setattr("tropalign.client.remote_job.LOOK_SECONDS", 0.01)
    fake.starts_at_once = False
    job = connect(fake.url).submit("pairs", {"queries": ("a.fa", FASTA)})
    away = [1, 1, 1]
    fake.respond = lambda request: (502, b"", {"kind": "text/html"}) if away and away.pop() else None
    assert job.wait().state == "done" and not away


def test_files_that_cannot_be_sent(fake, tmp_path):
    server = connect(fake.url)
    for wrong, words in ((tmp_path, "directory"), (tmp_path / "none.fa", "cannot be read"), ("a\0b", "cannot be read")):
        with pytest.raises(InputError, match=words):
            server.submit("pairs", {"queries": wrong})
    with pytest.raises(UsageError, match="is not an input"):
        server.submit("pairs", {"queries": 3})
    assert not fake.requests


def test_names_of_files_tell_no_folders(fake, tmp_path):
    path = tmp_path / "-my\x1bproteins.fa"
    path.write_bytes(FASTA)
    connect(fake.url).submit("pairs", {"queries": path})
    (query,) = [query for _, place, query, _ in fake.requests if place.endswith("/files")]
    assert query["name"] == "myproteins.fa"


@pytest.mark.parametrize(
    ("me", "name", "id"),
    [
        ("ann", "x", "1"),
        ("eve", "x", None),
        ("eve", "bob/x", "2"),
        ("eve", "2", "2"),
        ("eve", "y", "3"),
        ("eve", "z", "4"),
    ],
)
def test_a_name_that_several_others_share_is_no_choice(fake, me, name, id):
    about = {"alphabet": "protein", "sequences": 3, "residues": 9, "shared": True}
    owners = {"1": ("ann", "x"), "3": (None, "y"), "2": ("bob", "x"), "4": ("bob", "z"), "5": ("bob", "y")}
    fake.databases = [{"id": k, "owner": owner, "name": word, **about} for k, (owner, word) in owners.items()]
    fake.respond = lambda handler: (200, {"user": me}) if handler.path.endswith("/me") else None
    if id is None:
        with pytest.raises(UsageError, match="2 databases are named x: give one of ann/x, bob/x"):
            connect(fake.url).database(name)
    else:
        assert connect(fake.url).database(name).id == id
