"""Results as they reach a browser: downloads, ranges, and reports that are an origin of their own."""

import pytest
from web_server import finish

from tropalign.serve.web.downloads import disposition

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.fixture
def job(local):
    job = local.submit(outputs=["report"])
    outputs = [
        ("main", "a.tsv", "text/tab-separated-values", b"0123456789"), ("report", "a.html", "text/html", b"<p>report"),
        ("plot", "a.svg", "image/svg+xml", SVG), ("odd", "a.js", "text/javascript", b"alert(1)"),
    ]  # fmt: skip
    finish(local.storage, job["id"], outputs)
    return job["id"]


def test_a_report_is_a_page_of_an_origin_of_its_own(local, job):
    answer = local.get(f"/jobs/{job}/report")
    policy = answer.headers["Content-Security-Policy"]
    assert answer.body == b"<p>report" and answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert policy.startswith("sandbox allow-scripts allow-downloads allow-popups") and "allow-same-origin" not in policy
    assert "connect-src 'none'" in policy and "frame-ancestors 'self'" in policy
    assert answer.headers["Content-Disposition"].startswith("inline;")
    assert len(answer.headers.get_all("Content-Security-Policy")) == 1


def test_pictures_are_in_a_sandbox_and_other_types_are_bytes(local, job):
    answer = local.get(f"/api/v1/jobs/{job}/files/plot")
    assert answer.headers["Content-Type"] == "image/svg+xml" and answer.body == SVG
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    answer = local.get(f"/api/v1/jobs/{job}/files/odd")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(("said", "status", "body"), [
    ("bytes=2-4", 206, b"234"), ("bytes=-3", 206, b"789"), ("bytes=8-", 206, b"89"), ("bytes=50-", 416, None),
    ("bytes=0-0,2-2,4-4,6-6,8-8", 416, None), ("lines=1", 400, None),
])  # fmt: skip
def test_ranges(local, job, said, status, body):
    answer = local.get(f"/api/v1/jobs/{job}/files/main", headers={"Range": said})
    assert answer.status == status and (body is None or answer.body == body)


@pytest.mark.parametrize(
    "name", ["a\r\nX-Evil: 1", 'a"; x="y', "../../etc/passwd", "\u202egpj.exe", "ä" * 500, "", "..."]
)
def test_no_name_ends_the_header(name):
    said = disposition(name)
    assert said.isascii() and said.isprintable() and said.count('"') == 2 and len(said) < 1200
    assert "/" not in said and "\\" not in said and 'filename=".' not in said


def test_every_answer_has_safe_headers(local):
    for path in ("/healthz", "/api/v1/me", "/nothing", "/api/v1/jobs/x"):
        headers = local.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "same-origin"
        assert headers["Cache-Control"] == "no-store" and headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
        assert "server" not in headers


def test_a_defect_is_a_number_and_no_traceback(local, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr(type(local.storage.jobs), "list", broken)
    answer = local.get("/api/v1/jobs")
    assert answer.status == 500 and answer.error.startswith(
        "this is a defect of tropalign: tell the operator, whose log has details under "
    )
    assert b"secret" not in answer.body and answer.error.split()[-1] in caplog.text


def test_a_database_that_is_away_is_no_defect(local, monkeypatch):
    from sqlalchemy.exc import OperationalError

    def away(*_):
        raise OperationalError("SELECT 1", {}, Exception("server closed the connection"))

    monkeypatch.setattr(type(local.storage.jobs), "list", away)
    answer = local.get("/api/v1/jobs")
    assert answer.status == 503 and answer.error == "the database does not answer: try again in a few seconds"
