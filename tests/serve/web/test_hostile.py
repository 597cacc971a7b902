"""More than a hundred requests that mean harm: each is refused or harmless, and the server is the same afterwards.

In every path {job} stands for a finished job of the attacker, {other} for one of somebody else, {digest} for a file of
that one. The attacker, bob, has a token of his own: who has none gets no further than the ones at the end.
"""

import base64
import gzip
import json
import logging
import os
import time
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from web_server import PAIR, Client, finish, running

from tropalign.serve.settings import Limits, Settings
from tropalign.serve.web import app, limits
from tropalign.serve.web.context import Sessions

HTML = "<img src=x onerror=alert(1)>"
FORM = "application/x-www-form-urlencoded"
UP = "..%2f..%2f..%2f..%2fetc%2fpasswd"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The server of a laboratory under attack."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "canary").write_text("untouched")
    settings = Settings(
        folder=folder / "served", requires_token=True,
        limits=Limits(upload_bytes=3_000_000, requests_per_minute=100_000),
    )  # fmt: skip
    errors = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = errors.append
    logging.getLogger("tropalign.serve").addHandler(handler)
    with pytest.MonkeyPatch.context() as patch, running(settings) as server:
        patch.setattr(limits, "PATIENCE_SECONDS", 0.5)
        patch.setattr(limits, "LINGER_SECONDS", 0.2)
        patch.setattr(app, "HEAD_SECONDS", 0.5)
        patch.setattr(server.web.failures, "per_minute", 100_000)
        tokens = {name: server.storage.tokens.add(name)[1] for name in ("alice", "bob")}
        alice, bob = (Client(server.port, tokens[name], server.storage) for name in ("alice", "bob"))
        other = alice.submit(b">secret\nMKVWWW\n>b\nMKW\n", title="secret of alice")
        finish(server.storage, other["id"], [("main", "a.tsv", "text/plain", b"secret result")])
        job = bob.submit(title="of bob")
        finish(server.storage, job["id"], [("main", "b.tsv", "text/plain", b"0123456789")])
        names = {"job": job["id"], "other": other["id"], "digest": other["inputs"][0]["file"], "port": server.port}
        yield SimpleNamespace(
            bob=bob, alice=alice, stranger=Client(server.port), names=names, folder=folder, web=server.web,
            storage=server.storage, errors=errors, tokens=tokens, before=entries(folder), here=set(os.listdir()),
        )  # fmt: skip
    logging.getLogger("tropalign.serve").removeHandler(handler)


def entries(folder):
    return sorted(path.name for path in folder.iterdir()), (folder / "canary").read_text()


def submission(**more):
    return {"verb": "pairs", "inputs": {"queries": [{"text": PAIR.decode(), "name": "a.fa"}]}, **more}


def named(name):
    return {"verb": "pairs", "inputs": {"queries": [{"text": PAIR.decode(), "name": name}]}}


def item(**item):
    return {"verb": "pairs", "inputs": {"queries": [{"name": "a.fa", **item}]}}


def with_options(**options):
    return submission(options=options)


#: Name, method, path, body, and which statuses are right.
GETS = {
    "a path as id": ("GET", f"/api/v1/jobs/{UP}", {404}),
    "dots in the path": ("GET", "/api/v1/jobs/../../../../etc/passwd", {404}),
    "dots in per cent": ("GET", "/api/v1/jobs/%2e%2e/%2e%2e/%2e%2e/etc/passwd", {404}),
    "dots, twice in per cent": ("GET", "/api/v1/jobs/{job}/files/%252e%252e%252fmain", {404}),
    "overlong UTF-8 dots": ("GET", "/api/v1/jobs/%c0%ae%c0%ae%c0%af/files/main", {404}),
    "backslashes": ("GET", "/api/v1/jobs/{job}/files/..%5c..%5cetc%5cpasswd", {404}),
    "a path as role": ("GET", "/api/v1/jobs/{job}/files/" + UP, {404}),
    "a role that goes up": ("GET", "/api/v1/jobs/{job}/files/../../{other}/files/main", {404}),
    "a digest as role": ("GET", "/api/v1/jobs/{job}/files/{digest}", {404}),
    "a path as input": ("GET", "/api/v1/jobs/{job}/inputs/" + UP + "/0", {404}),
    "a path as number": ("GET", "/api/v1/jobs/{job}/inputs/queries/" + UP, {404}),
    "a negative number": ("GET", "/api/v1/jobs/{job}/inputs/queries/-1", {404}),
    "a huge number": ("GET", "/api/v1/jobs/{job}/inputs/queries/" + "9" * 400, {404}),
    "a number of another script": ("GET", "/api/v1/jobs/{job}/inputs/queries/%D9%A0", {404}),
    "a superscript": ("GET", "/api/v1/jobs/{job}/inputs/queries/%C2%B2", {404}),
    "NUL behind an id": ("GET", "/api/v1/jobs/{job}%00", {404}),
    "NUL in a role": ("GET", "/api/v1/jobs/{job}/files/main%00.html", {404}),
    "a line behind an id": ("GET", "/api/v1/jobs/{job}%0a", {404}),
    "an id in capitals": ("GET", "/api/v1/jobs/{JOB}", {404}),
    "SQL as id": ("GET", "/api/v1/jobs/" + quote("' OR '1'='1"), {404}),
    "a path as shared secret": ("GET", f"/api/v1/shared/{UP}", {404}),
    "SQL as shared secret": ("GET", "/api/v1/shared/" + quote("' OR share IS NULL --"), {404}),
    "no shared secret": ("GET", "/api/v1/shared/None", {404}),
    "an id as shared secret": ("GET", "/api/v1/shared/{other}", {404}),
    "a file of the server's sources": ("GET", "/static/../app.py", {404}),
    "a file of the system": ("GET", f"/static/{UP}", {404}),
    "an absolute path": ("GET", "/static//etc/passwd", {404}),
    "two slashes": ("GET", "//etc/passwd", {404}),
    "the database": ("GET", "/static/..%2f..%2f..%2ftropalign.db", {404}),
    "a report that is somebody else's": ("GET", "/jobs/{other}/report", {404}),
    "a job that is somebody else's": ("GET", "/api/v1/jobs/{other}", {404}),
    "its result": ("GET", "/api/v1/jobs/{other}/files/main", {404}),
    "its input": ("GET", "/api/v1/jobs/{other}/inputs/queries/0", {404}),
    "its events": ("GET", "/api/v1/jobs/{other}/events", {404}),
    "its page": ("GET", "/jobs/{other}", {404}),
    "deleting it": ("DELETE", "/api/v1/jobs/{other}", {404}),
    "cancelling it": ("POST", "/api/v1/jobs/{other}/cancel", {404}),
    "its other format": ("POST", "/api/v1/jobs/{other}/formats/csv", {404}),
    "a path as format": ("POST", "/api/v1/jobs/{job}/formats/" + UP, {404, 422}),
    "HTML as format": ("POST", "/api/v1/jobs/{job}/formats/" + quote(HTML), {422}),
    "a path as database": ("DELETE", f"/api/v1/databases/{UP}", {404}),
    "SQL as database": ("DELETE", "/api/v1/databases/" + quote("' OR 1=1 --"), {404}),
    "NUL as database": ("DELETE", "/api/v1/databases/a%00b", {404}),
    "a path as verb": ("GET", f"/api/v1/verbs/{UP}", {404}),
    "a verb that is not served": ("GET", "/api/v1/verbs/merge", {404}),
    "HTML as verb": ("GET", "/api/v1/verbs/" + quote(HTML, safe=""), {404}),
    "SQL in the search": ("GET", "/api/v1/jobs?q=" + quote("' OR 1=1 --"), {200}),
    "SQL that drops": ("GET", "/api/v1/jobs?q=" + quote("'; DROP TABLE jobs; --"), {200}),
    "a quotation mark": ("GET", "/api/v1/jobs?q=%22", {200}),
    "syntax of the full-text engine": ("GET", "/api/v1/jobs?q=" + quote('NEAR(a b) AND title:* OR -"x"'), {200}),
    "stars": ("GET", "/api/v1/jobs?q=" + quote("* ** a* (((("), {200}),
    "NUL in the search": ("GET", "/api/v1/jobs?q=a%00b", {200}),
    "a torn letter in the search": ("GET", "/api/v1/jobs?q=%ff%fe", {200}),
    "per cent without digits": ("GET", "/api/v1/jobs?q=%zz%", {200}),
    "SQL in a tag": ("GET", "/api/v1/jobs?tag=" + quote("x' UNION SELECT * FROM tokens --"), {200}),
    "SQL in a verb": ("GET", "/api/v1/jobs?verb=" + quote("' OR 1=1 --"), {200}),
    "SQL in a state": ("GET", "/api/v1/jobs?state=" + quote("done' OR 1=1 --"), {422}),
    "SQL in a cursor": ("GET", "/api/v1/jobs?after=" + quote("1 OR 1=1; DROP TABLE jobs"), {200}),
    "a negative cursor": ("GET", "/api/v1/jobs?after=-1", {200}),
    "a cursor beyond 64 bits": ("GET", "/api/v1/jobs?after=" + "9" * 30, {200}),
    "all at once": ("GET", "/api/v1/jobs?limit=1000000000", {422}),
    "a limit beyond 64 bits": ("GET", "/api/v1/jobs?limit=" + "9" * 5000, {422}),
    "NaN as limit": ("GET", "/api/v1/jobs?limit=NaN", {422}),
    "another owner": ("GET", "/api/v1/jobs?owner=alice&user=alice", {403}),
    "the same name a thousand times": ("GET", "/api/v1/jobs?" + "q=a&" * 1000, {200}),
    "an overlong address": ("GET", "/api/v1/jobs?q=" + "a" * 20_000, {414}),
    "an unknown method": ("FOO", "/api/v1/jobs", {405}),
    "tracing": ("TRACE", "/api/v1/jobs", {405}),
    "putting": ("PUT", "/api/v1/jobs/{job}", {405}),
}  # fmt: skip


@pytest.fixture
def attacked(site):
    """The site; when a test is over, all is as it was."""
    yield site
    assert site.stranger.get("/healthz").json == {"status": "ok"}
    assert not site.errors, [site.errors.pop().getMessage()]
    assert entries(site.folder) == site.before and set(os.listdir()) == site.here
    job = site.alice.get(f"/api/v1/jobs/{site.names['other']}").json
    assert job["title"] == "secret of alice" and job["state"] == "done" and job["shared"] is None


def harmless(answer, expected):
    assert answer.status in expected, answer.body[:500]
    assert b"secret" not in answer.body and b"root:" not in answer.body and b"Traceback" not in answer.body
    assert "X-Evil" not in answer.headers and "Access-Control-Allow-Origin" not in answer.headers
    if answer.headers["Content-Type"] == "text/html; charset=utf-8":
        assert b"onerror=alert" not in answer.body.replace(b"&lt;img src=x onerror=alert", b"")
    if answer.status >= 400 and answer.headers["Content-Type"] == "application/json":
        assert answer.json["error"].isprintable() and "/tmp" not in answer.error


@pytest.mark.parametrize("name", GETS)
def test_addresses(attacked, name):
    method, path, expected = GETS[name]
    names = {**attacked.names, "JOB": attacked.names["job"].upper()}
    for key, value in names.items():
        path = path.replace(f"{{{key}}}", str(value))
    harmless(attacked.bob.ask(method, path), expected)


BODIES = {
    "a path as file": (item(file="../../../../etc/passwd"), {422}),
    "a path of 64 letters": (item(file="../" * 21 + "a"), {422}),
    "a file of somebody else": ("{digest}", {422}),
    "a database by path": (item(database="../../etc/passwd"), {422}),
    "SQL as database": (item(database="' OR 1=1 --"), {422}),
    "a file by URL": (item(url="http://169.254.169.254/latest/meta-data"), {422}),
    "a path beside a text": (item(text=">a\nMK\n", path="/etc/passwd"), {422}),
    "a path as name": (named("../../../etc/passwd"), {201}),
    "a path of another system as name": (named("C:\\Windows\\..\\system.ini"), {201}),
    "HTML as name": (named(HTML), {201}),
    "lines as name": (named("a\r\nX-Evil: 1\r\n\r\n<script>"), {201, 422}),
    "NUL in a name": (named("a\0b.fa"), {201, 422}),
    "colours of a terminal as name": (named("\x1b[31mred\x1b[0m.fa"), {201, 422}),
    "an option as name": (named("--output=/etc/passwd"), {201}),
    "a shell's words as name": (named("$(touch canary2); `id` | sh"), {201}),
    "letters that turn the direction": (named("\u202egpj.exe\u2066"), {201}),
    "an endless name": (named("a" * 100_000), {201, 422}),
    "no name": (named(""), {201, 422}),
    "half a letter as name": ('{"verb":"pairs","inputs":{"queries":[{"text":">a\\nMK","name":"\\ud800"}]}}', {422}),
    "half a letter in a text": ('{"verb":"pairs","inputs":{"queries":[{"text":">\\udfff\\nMK","name":"a"}]}}', {422}),
    "NUL in a text": (item(text=">a\0b\nMK\n>c\nMK\n"), {201, 422}),
    "names of sequences in HTML": (item(text=f">{HTML}\nMK\n>b\nMK\n"), {201}),
    "an output of one's own": (with_options(output="/etc/cron.d/x"), {422}),
    "a report elsewhere": (with_options(html="/tmp/evil.html"), {422}),
    "a matrix that is a file of the server": (with_options(matrix="/etc/passwd"), {422}),
    "a list of files": (with_options(matrix="@/etc/passwd"), {422}),
    "a scheduler elsewhere": (with_options(cluster="tcp://evil.example:8786"), {422}),
    "threads without end": (with_options(threads=10**9), {422}),
    "memory without end": (with_options(memory="1000T"), {422}),
    "an option within an option": (with_options(mode="local --output=/etc/x"), {422}),
    "an option as value": (with_options(mode="--output=/etc/x"), {422}),
    "a list as value": (with_options(mode=["local"]), {422}),
    "an object as value": (with_options(mode={"$ne": 1}), {422}),
    "help": (with_options(help=True), {422}),
    "the inside of Python": (with_options(__class__="x"), {422}),
    "a verb of Python": (submission(verb="__init__"), {422}),
    "the server as verb": (submission(verb="serve"), {422}),
    "a path as verb": (submission(verb="../pairs"), {422}),
    "a path as output": (submission(outputs=["../../x"]), {422}),
    "an owner": (submission(owner="alice"), {422}),
    "a state": (submission(state="done"), {422}),
    "HTML as title": (submission(title=HTML, tags=[HTML]), {201}),
    "lines as title": (submission(title="a\r\nX-Evil: 1\n", tags=["a\r\nX-Evil: 1"]), {201}),
    "NUL in title and tags": (submission(title="a\0b", tags=["\0"]), {201}),
    "an endless title": (submission(title="a" * 10**6), {422}),
    "ten thousand tags": (submission(tags=[str(n) for n in range(10_000)]), {422}),
    "ten thousand inputs": ({"verb": "pairs", "inputs": {"queries": [{"text": "x", "name": "a"}] * 10_000}}, {413}),
    "nine thousand options": (with_options(**{f"o{n}": n for n in range(9_000)}), {422}),
    "a deep list": ("[" * 15_000 + "]" * 15_000, {422}),
    "a deep object": ('{"a":' * 50_000 + "1" + "}" * 50_000, {413}),
    "a deep option": ('{"verb":"pairs","inputs":{},"options":' + '{"a":' * 900 + "1" + "}" * 901, {422}),
    "a number beyond 64 bits": (json.dumps(with_options(min_score=2**70)), {422}),
    "a number of a thousand digits": ('{"verb":"pairs","inputs":{},"options":{"min_score":' + "9" * 1000 + "}}", {422}),
    "NaN": ('{"verb":"pairs","inputs":{},"options":{"min_score":NaN}}', {422}),
    "infinity": ('{"verb":"pairs","inputs":{},"options":{"min_score":1e999}}', {422}),
    "a name twice": ('{"verb":"pairs","verb":"serve","inputs":{}}', {422}),
    "no object": ("5", {422}),
    "nothing": ("", {422}),
    "other letters": (json.dumps(submission()).encode("utf-16"), {422}),
    "torn letters": (b'{"verb": "\xff\xfe"}', {422}),
    "a packed body": (gzip.compress(json.dumps(submission()).encode()), {422}),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_submissions(attacked, name):
    body, expected = BODIES[name]
    body = item(file=attacked.names["digest"]) if body == "{digest}" else body
    body = json.dumps(body) if isinstance(body, dict) else body
    answer = attacked.bob.post(
        "/api/v1/jobs", body, headers={**JSON, "Content-Encoding": "gzip"} if name == "a packed body" else JSON
    )
    harmless(answer, expected)
    if answer.status == 201:
        job = answer.json
        assert all("/" not in file["name"] and "\\" not in file["name"] for file in job["inputs"])
        assert (job["title"] + "".join(job["tags"]) + job["inputs"][0]["name"]).isprintable()
        page = attacked.bob.get(f"/jobs/{job['id']}")
        harmless(page, {200, 404})
        assert attacked.bob.ask("DELETE", f"/api/v1/jobs/{job['id']}").status == 204


def bearer(text):
    return {"Authorization": f"Bearer {text}"}


def jwt_without_algorithm():
    parts = ({"alg": "none"}, {"sub": "alice"})
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


FORGED = {
    "no token": lambda site: {},
    "an empty token": lambda site: {"Authorization": "Bearer "},
    "a token without its end": lambda site: bearer(site.tokens["alice"][:-1]),
    "a token and more": lambda site: bearer(site.tokens["alice"] + "a"),
    "the id of one, the secret of another": lambda site: bearer(site.tokens["alice"][:14] + site.tokens["bob"][14:]),
    "a token in capitals": lambda site: bearer(site.tokens["alice"].upper()),
    "a token that signs nothing": lambda site: bearer(jwt_without_algorithm()),
    "SQL as token": lambda site: bearer("trop_' OR 1=1 --"),
    "an endless token": lambda site: bearer("trop_" + "a" * 20_000),
    "letters of other scripts": lambda site: bearer("trop_äöü"),
    "a user and a password": lambda site: {"Authorization": "Basic " + base64.b64encode(b"alice:x").decode()},
    "a user in a header": lambda site: {"X-User": "alice", "Remote-User": "alice", "X-Forwarded-User": "alice"},
    "an address in a header": lambda site: {"X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1"},
    "a cookie without signature": lambda site: {"Cookie": "tropalign_session=a.b.c.d"},
    "a cookie of another server": lambda site: cookie(Sessions(b"other").cookie("x", "alice")),
    "a cookie whose user was changed": lambda site: cookie(changed(site)),
    "a cookie that is over": lambda site: cookie(over(site)),
    "a cookie of a token that never was": lambda site: cookie(site.web.sessions.cookie("none", "alice")),
    "a cookie of another's token": lambda site: cookie(site.web.sessions.cookie(site.tokens["bob"][5:13], "alice")),
    "a cookie of nothing but dots": lambda site: cookie("." * 900),
    "an endless cookie": lambda site: cookie("a" * 20_000),
}


def cookie(value):
    return {"Cookie": f"tropalign_session={value}"}


def changed(site):
    """Bob's cookie, which says that he is alice."""
    parts = site.web.sessions.cookie(site.tokens["bob"][5:13], "bob").split(".")
    parts[2] = base64.urlsafe_b64encode(b"alice").decode().rstrip("=")
    return ".".join(parts)


def over(site):
    return Sessions(site.storage.secret(), lambda: time.time() - 30 * 24 * 3600).cookie(
        site.tokens["alice"][5:13], "alice"
    )


@pytest.mark.parametrize("name", FORGED)
def test_forged_users(attacked, name):
    headers = FORGED[name](attacked)
    answer = attacked.stranger.get(f"/api/v1/jobs/{attacked.names['other']}", headers=headers)
    harmless(answer, {401})


def post(headers, length=2, rest=b"{}"):
    head = "POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n" + headers
    return lambda token: head.replace("{token}", token).encode() + b"\r\n" + rest


def get(line="GET /api/v1/me HTTP/1.1", headers="Host: 127.0.0.1\r\n"):
    return lambda token: f"{line}\r\n{headers}Authorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode()


CLOSE = "Connection: close\r\n"
#: Bytes as they are on the wire, and the statuses that are right; None where the connection just ends.
WIRE = {
    "a length beyond all bounds": (post("Content-Length: 999999999999999\r\n"), {413}),
    "a length below nothing": (post("Content-Length: -1\r\n"), {400}),
    "a length that is not a number": (post("Content-Length: 0x10\r\n"), {400}),
    "two lengths": (post("Content-Length: 2\r\nContent-Length: 20\r\n"), {400}),
    "a length and chunks": (
        post(f"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n{CLOSE}", rest=b"0\r\n\r\n"), {400, 422}
    ),
    "a second request in a body": (
        post(f"Content-Length: 2\r\n{CLOSE}", rest=b"{}GET /api/v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), {422}
    ),
    "an unknown coding": (post("Transfer-Encoding: gzip, chunked\r\n"), {400, 501}),
    "a chunk of impossible size": (post("Transfer-Encoding: chunked\r\n", rest=b"FFFFFFFFFFFFFFFFFF\r\nx"), {400, 408}),
    "a chunk that is none": (post("Transfer-Encoding: chunked\r\n", rest=b"zz\r\nx\r\n"), {400}),
    "a body that never comes": (post("Content-Length: 60000\r\n"), {408}),
    "a head that never ends": (lambda token: b"GET / HTTP/1.1\r\nX-A: b\r\n", None),
    "an endless head": (lambda token: b"GET / HTTP/1.1\r\nX-A: " + b"b" * 200_000, {400, None}),
    "a thousand headers": (get(headers="Host: 127.0.0.1\r\n" + "X-B: c\r\n" * 1000), {400, 431}),
    "no host": (get(headers=""), {400}),
    "two hosts": (get(headers="Host: 127.0.0.1\r\nHost: evil.example\r\n"), {400}),
    "the host of somebody else": (get(headers="Host: evil.example\r\n"), {421}),
    "a host with a user": (get(headers="Host: 127.0.0.1@evil.example\r\n"), {400}),
    "a host with a path": (get(headers="Host: 127.0.0.1/..\r\n"), {400}),
    "a host by a proxy": (get(headers="Host: 127.0.0.1\r\nX-Forwarded-Host: evil.example\r\n"), {200}),
    "an address of somebody else": (get("GET http://evil.example/api/v1/me HTTP/1.1"), {400, 404}),
    "a tunnel": (get("CONNECT evil.example:443 HTTP/1.1"), {400, 404, 405}),
    "an old version": (lambda token: b"GET /api/v1/me HTTP/0.9\r\n\r\n", {400, None}),
    "another protocol": (lambda token: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), {400, None}),
    "NUL in the address": (get("GET /api/v1/\0 HTTP/1.1"), {400}),
    "NUL in a header": (get(headers="Host: 127.0.0.1\r\nX-A: a\0b\r\n"), {400}),
    "letters beyond ASCII in the address": (get("GET /api/v1/jobs/ä HTTP/1.1"), {400, 404}),
    "two ways to say who one is": (get(headers="Host: 127.0.0.1\r\nAuthorization: Bearer x\r\n"), {401}),
    "an upgrade": (get(headers="Host: 127.0.0.1\r\nUpgrade: websocket\r\n"), {200}),
}  # fmt: skip


@pytest.mark.parametrize("name", WIRE)
def test_bytes_on_the_wire(attacked, name):
    data, expected = WIRE[name]
    found = attacked.stranger.raw(data(attacked.tokens["bob"]), seconds=5)
    status = int(found.split(b" ", 2)[1]) if found.startswith(b"HTTP/1.1 ") else None
    assert status in (expected or {None}), found[:300]
    assert found.count(b"HTTP/1.1 ") <= 1 and b"secret" not in found and b"Traceback" not in found


def test_a_file_beyond_the_limit_and_a_bomb_within(attacked):
    packed = gzip.compress(bytes(10**6), 9) * 1000  # a gigabyte in a megabyte
    begin = time.process_time()
    answer = attacked.bob.post("/api/v1/files?name=bomb.fa.gz", packed)
    harmless(answer, {201})
    assert answer.json["size"] == len(packed) < 2 * 10**6 and time.process_time() - begin < 10
    harmless(attacked.bob.post("/api/v1/files", bytes(3_000_001)), {413})


@pytest.mark.parametrize("name", ["a%0d%0aX-Evil:%201.fa", quote(HTML), "..%2f..%2fetc%2fpasswd", "%00", "a" * 1001])
def test_names_of_files(attacked, name):
    answer = attacked.bob.post(f"/api/v1/files?name={name}", PAIR)
    harmless(answer, {201, 422})
    if answer.status == 201:
        assert answer.json["name"].isprintable() and "/" not in answer.json["name"]


@pytest.mark.parametrize("ranges", [
    "bytes=" + ",".join(f"{n}-{n}" for n in range(1000)), "bytes=" + ",".join(["0-"] * 100), "bytes=0-" + "9" * 100,
    "bytes=-" + "9" * 30, "bytes=5-1", "bytes=a-b", "bytes=0-0\t,1-1", "bytes=--1",
])  # fmt: skip
def test_ranges_without_end(attacked, ranges):
    answer = attacked.bob.get(f"/api/v1/jobs/{attacked.names['job']}/files/main", headers={"Range": ranges})
    harmless(answer, {200, 206, 400, 416})
    assert len(answer.body) < 2000


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_no_method_is_overridden(attacked, header):
    address = f"/api/v1/jobs/{attacked.names['job']}"
    harmless(attacked.bob.get(address + "?_method=DELETE", headers={header: "DELETE"}), {200})
    assert attacked.bob.get(address).status == 200


def test_no_page_of_another_site_reads_anything(attacked):
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "DELETE"}
    harmless(attacked.bob.ask("OPTIONS", "/api/v1/jobs", headers=headers), {405})
    harmless(attacked.bob.get("/api/v1/me", headers=headers), {200})


def multipart(parts, boundary="b"):
    body = b"".join(b"--%s\r\n%s" % (boundary.encode(), part) for part in parts) + b"--%s--\r\n" % boundary.encode()
    return body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}


PART = b'Content-Disposition: form-data; name="f%d"\r\n\r\nx\r\n'
FORMS = {
    "ten thousand parts": multipart([PART % n for n in range(10_000)]),
    "ten thousand files": multipart(
        [b'Content-Disposition: form-data; name="f"; filename="a"\r\n\r\nx\r\n' for _ in range(10_000)]
    ),
    "ten thousand headers of a part": multipart([b"X-A: b\r\n" * 10_000 + PART % 1]),
    "an endless header of a part": multipart([b"X-A: " + b"b" * 10**6 + b"\r\n" + PART % 1]),
    "a part without a name": multipart([b"Content-Disposition: form-data\r\n\r\nx\r\n"]),
    "no end": (b"--b\r\n" + PART % 1, {"Content-Type": "multipart/form-data; boundary=b"}),
    "no boundary": (b"--b--", {"Content-Type": "multipart/form-data"}),
    "an endless boundary": multipart([PART % 1], "b" * 5000),
    "a path as name of a file": multipart(
        [b'Content-Disposition: form-data; name="queries.file"; filename="../../../canary"\r\n\r\n>a\nMK\n\r\n']
    ),
    "a hundred thousand fields": (b"&".join(b"a%d=1" % n for n in range(100_000)), {"Content-Type": FORM}),
    "a form that is none": (b"\xff\x00\xfe" * 100, {"Content-Type": FORM}),
    "HTML in fields": (f"title={quote(HTML)}&options.mode={quote(HTML)}".encode(), {"Content-Type": FORM}),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(attacked, name):
    body, headers = FORMS[name]
    harmless(attacked.bob.post("/new/pairs", body, headers=headers), {303, 400, 404, 413, 415, 422})


@pytest.mark.parametrize(
    "body", ["token=" + "a" * 60_000, "token=%00", "token=", "", "token=a&token=b&next=//evil.example"]
)
def test_logins(attacked, body):
    answer = attacked.stranger.post(
        "/login", body, headers={"Content-Type": FORM, "Origin": f"http://127.0.0.1:{attacked.names['port']}"}
    )
    harmless(answer, {401})
    assert "Set-Cookie" not in answer.headers


def test_there_are_a_hundred_of_them():
    others = 1 + 1 + 5 + 8 + 3 + 1 + 5
    assert len(GETS) + len(BODIES) + len(FORGED) + len(WIRE) + len(FORMS) + others >= 100


#: What follows the head of an upload that is refused.
BAD_BODIES = {
    "a chunk's size": b"ZZ\r\n",
    "a negative size": b"-5\r\nhello\r\n",
    "a huge size": b"f" * 40 + b"\r\n",
    "no end of a chunk": b"5\r\nhelloooo\r\n",
    "zeros": b"\0" * 100,
    "a line without end": b"5;" + b"x" * 70_000,
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
@pytest.mark.parametrize("path", ["/api/v1/files?name=a.fa", "/nothing"])
def test_a_bad_body_after_a_refusal_makes_no_traceback(site, caplog, path, body):
    """Else a client without a token fills the log by 28 lines for each connection."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost:{site.names['port']}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with caplog.at_level(logging.WARNING, "asyncio"):
        answer = site.stranger.raw([head.encode(), b"5\r\nhello\r\n", body, body], wait=0.15)
    assert answer.startswith(b"HTTP/1.1 4")
    assert not [record.getMessage() for record in caplog.records if record.name == "asyncio" or record.exc_info]
