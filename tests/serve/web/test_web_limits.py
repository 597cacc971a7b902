"""Bodies and heads that are too long or too slow, and what is measured."""

import http.client
import os
import time
from contextlib import suppress

import pytest

from tropalign.serve.settings import Limits
from tropalign.serve.web import app, limits
from tropalign.serve.web.context import Rates

HEAD = b"POST /api/v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def small(serve, monkeypatch):
    """A server that takes files of 100,000 bytes, and has no patience."""
    monkeypatch.setattr(limits, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(app, "HEAD_SECONDS", 0.5)
    return serve(limits=Limits(upload_bytes=100_000))


def incoming(client):
    return list((client.storage.files.folder / "incoming").iterdir())


def test_a_file_of_the_size_allowed_and_a_longer_one(small):
    assert small.post("/api/v1/files", os.urandom(100_000)).status == 201
    answer = small.post("/api/v1/files", b"x" * 100_001)
    assert answer.status == 413 and answer.headers["Connection"] == "close"
    assert answer.error == "more than 100,000 bytes are not accepted: send less, or ask the operator for more"
    assert small.post("/api/v1/files", b"x" * 20_000_000).status == 413


def test_chunks_are_counted_as_they_come(small):
    chunks = (b"x" * 10_000 for _ in range(100))
    with suppress(BrokenPipeError, ConnectionResetError):
        assert small.ask("POST", "/api/v1/files", chunks).status == 413
    assert incoming(small) == []
    job = small.submit()
    chunks = [b'{"title": "', *[b"x" * 10_000] * 10, b'"}']
    with suppress(BrokenPipeError, ConnectionResetError):
        assert small.ask("PATCH", f"/api/v1/jobs/{job['id']}", iter(chunks)).status == 413


def test_a_request_with_two_ends_is_refused_and_nothing_behind_it_read(small):
    """A proxy might take what follows for the body, or the body for what follows."""
    both = HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    both += b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    answer = small.raw(both)
    assert answer.startswith(b"HTTP/1.1 400") and b"connection: close" in answer.lower()
    assert b"the request has both Content-Length and Transfer-Encoding: send one of them" in answer
    assert answer.count(b"HTTP/1.1") == 1


def test_methods_of_an_address_are_told_whole(small):
    for path, methods in (
        ("/api/v1/jobs", "GET, POST"), ("/api/v1/jobs/x", "DELETE, GET, PATCH"), ("/api/v1/files/x", "DELETE"),
    ):  # fmt: skip
        for method in ("OPTIONS", "PUT"):
            answer = small.ask(method, path)
            assert (answer.status, answer.headers["Allow"]) == (405, methods)


def test_what_does_not_come_is_not_waited_for(small):
    begin = time.monotonic()
    head = HEAD + b"Authorization: Bearer %s\r\n" % small.token.encode()
    answer = small.raw([head + b"Content-Length: 90000\r\n\r\n", b"x"])
    assert answer.startswith(b"HTTP/1.1 408") and time.monotonic() - begin < 4
    assert b"the body arrives too slowly" in answer and incoming(small) == []
    # Its word is looked for before anything else is done: that has a time limit, too.
    head = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    answer = small.raw(head + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
    assert answer.startswith(b"HTTP/1.1 408")
    begin = time.monotonic()
    assert small.raw([b"GET /healthz HTTP/1.1\r\n", *[b"X-A: b\r\n"] * 30], wait=0.1) == b""
    assert time.monotonic() - begin < 4


def parts(n, size):
    """A form of n fields."""
    field = b'--b\r\nContent-Disposition: form-data; name="f"\r\n\r\n' + b"x" * size + b"\r\n"
    return field * n + b"--b--\r\n"


def test_forms_have_bounds(local, monkeypatch):
    monkeypatch.setattr(limits, "MOST_FIELD_BYTES", 50_000)
    origin = {"Origin": f"http://127.0.0.1:{local.port}", "Accept": "application/json"}
    headers = {**origin, "Content-Type": "multipart/form-data; boundary=b"}
    assert local.post("/new/pairs", parts(3, 10_000), headers=headers).status == 422
    answer = local.post("/new/pairs", parts(6, 10_000), headers=headers)
    assert answer.status == 422 and b"its fields have more than 50,000 bytes: send files" in answer.body
    headers = {"Origin": f"http://127.0.0.1:{local.port}", "Content-Type": "Application/x-www-form-urlencoded; a=b"}
    assert local.post("/new/pairs", b"a=" + b"x" * 32_000_000, headers=headers).status == 413


def test_users_who_have_sent_much_send_no_more(serve):
    client = serve(limits=Limits(stored_bytes_per_user=1000))
    digest = client.send(b">a\n" + b"A" * 997)
    asked = {"verb": "pairs", "inputs": {"queries": [{"text": ">a\nMKV\n"}]}}
    for answer in (client.post("/api/v1/files", b"x"), client.post("/api/v1/jobs", asked)):
        assert answer.status == 413
        assert answer.error == "you have sent 1,000 bytes or more within a day, which is the limit: try again tomorrow"
    assert client.storage.files.holds(digest)


def test_a_client_that_goes_leaves_nothing(small):
    head = HEAD + b"Authorization: Bearer %s\r\n" % small.token.encode()
    small.raw(head + b"Content-Length: 90000\r\n\r\n" + b"x" * 500, seconds=0.1)
    begin = time.monotonic()
    while incoming(small):
        assert time.monotonic() < begin + 5
        time.sleep(0.05)


def test_uploads_of_a_user_at_a_time(small, monkeypatch):
    monkeypatch.setattr(limits, "MOST_UPLOADS", 0)
    assert small.post("/api/v1/files", b"x" * 90_000).status == 429


@pytest.mark.parametrize(("path", "most"), [
    ("/api/v1/files", 7), ("/api/v1/jobs", 32_000_000), ("/api/v1/jobs/x", 64_000), ("/login", 64_000),
    ("/new/pairs", 32_000_028),
])  # fmt: skip
def test_how_long_a_body_may_be(path, most):
    assert limits.most_bytes(path, Limits(upload_bytes=7)) == most


def test_a_long_address_and_long_headers(small):
    assert small.get("/api/v1/jobs?q=" + "a" * 9_000).status == 414
    assert small.get("/healthz", headers={f"X-{n}": "a" * 3_000 for n in range(12)}).status == 431


def test_a_connection_is_kept(small):
    connection = http.client.HTTPConnection("127.0.0.1", small.port)
    for _ in range(3):
        connection.request("GET", "/api/v1/me", headers={"Authorization": f"Bearer {small.token}"})
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read()
    connection.close()


def test_rates():
    now = 0.0
    rates = Rates(60, most_names=3, clock=lambda: now)
    assert [rates.wait("a") for _ in range(61)] == [0.0] * 60 + [1.0]
    assert rates.is_empty("a") and not rates.is_empty("b")
    now = 1.5
    assert rates.wait("a") == 0 and rates.wait("a") == pytest.approx(0.5)
    for name in "bcdefg":
        rates.wait(name)
    assert len(rates.buckets) <= 3


def test_health_and_figures(users):
    assert users.stranger.get("/healthz").json == users.stranger.get("/readyz").json == {"status": "ok"}
    users.alice.submit()
    text = users.alice.get("/metrics").body.decode()
    assert 'tropalign_jobs{state="queued"} 1.0' in text
    assert 'tropalign_requests_total{method="POST",route="/api/v1/jobs",status="201"} 1.0' in text
    assert 'tropalign_request_seconds_bucket{le="0.15",route="/api/v1/jobs"}' in text
    assert "tropalign_stored_bytes 18.0" in text


def test_figures_are_for_users_alone(users, serve):
    """A proxy that says nothing of whom it serves is a client of this machine like any other."""
    answer = users.stranger.get("/metrics")
    assert answer.status == 401 and answer.error.startswith("the server needs a token")
    client = serve(proxy_user_header="X-User", trusted_proxies=("127.0.0.1",))
    far = {"X-Forwarded-For": "10.0.0.9"}
    assert client.get("/metrics", headers=far).status == 401
    assert client.get("/metrics", headers={**far, "X-User": "carol"}).status == 200


def test_readiness_says_when_the_disk_is_full(local, monkeypatch):
    from types import SimpleNamespace

    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(total=10**9, free=0))
    for answer in (local.get("/readyz"), local.post("/api/v1/files", b"x")):
        assert (answer.status, answer.error) == (503, "the server's disk is full: delete jobs that are not needed")


def test_readiness_says_when_the_database_is_away(local, monkeypatch):
    def away(self):
        raise OSError("gone")

    monkeypatch.setattr(type(local.storage), "is_well", away)
    answer = local.get("/readyz")
    assert answer.status == 503 and answer.error == "the database does not answer"
