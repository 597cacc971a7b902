"""The API does what its OpenAPI document says: schemathesis sends what the document allows and what it forbids."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from web_server import finish

#: Statuses by which this server refuses what the document forbids, beside those that schemathesis expects; 422 for
#: what fits the document and makes no sense, such as an output that the verb does not have; and 403 for what
#: administrators alone may ask.
CONFIGURATION = """
[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 413, 414, 415, 422, 431]
positive_data_acceptance.expected-statuses = ["2xx", 403, 404, 409, 422]
"""


@pytest.fixture
def schemathesis():
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    found = shutil.which("schemathesis", path=places)
    if found is None:
        pytest.skip("schemathesis is not installed: pip install schemathesis")
    return found


def test_requests_by_the_document_are_answered_as_it_says(local, schemathesis, tmp_path):
    job = local.submit(outputs=["report"])
    kinds = (("main", "a.tsv", "text/tab-separated-values", b"a\t1\n"), ("report", "a.html", "text/html", b"<p>a</p>"))
    finish(local.storage, job["id"], list(kinds))
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    command = [
        schemathesis, "--config-file", str(tmp_path / "schemathesis.toml"), "run",
        f"http://127.0.0.1:{local.port}/api/v1/openapi.json", "-H", f"Authorization: Bearer {local.token}",
        "--phases", "examples,coverage,fuzzing", "--max-examples", "5", "--seed", "1", "--continue-on-failure",
        "--exclude-path-regex", "/events$", "--no-color", "--generation-database", "none",
    ]  # fmt: skip
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stdout[-10_000:] + ran.stderr[-2_000:]
    assert "Tested: 20" in ran.stdout, ran.stdout[-3_000:]


def test_what_comes_is_in_the_document(local):
    """Status and kind of content of each answer, of files with their own kinds, too."""
    paths = local.get("/api/v1/openapi.json").json["paths"]
    job = local.submit(outputs=["report"])
    kinds = (("main", "a.tsv", "text/tab-separated-values", b"a\t1\n"), ("report", "a.html", "text/html", b"<p>a</p>"))
    finish(local.storage, job["id"], list(kinds))
    files, item = "/api/v1/jobs/{id}/files/{role}", "/api/v1/jobs/{id}"
    asked = [
        ("GET", files, {"role": "main"}, {}, 200), ("GET", files, {"role": "report"}, {}, 200),
        ("GET", files, {"role": "main"}, {"Range": "bytes=0-1"}, 206),
        ("GET", files, {"role": "main"}, {"Range": "bytes=0-0,2-2"}, 206),
        ("GET", files, {"role": "main"}, {"Range": "bytes=99-"}, 416),
        ("GET", files, {"role": "main"}, {"Range": "nonsense"}, 400), ("GET", files, {"role": "none"}, {}, 404),
        ("GET", item, {}, {}, 200), ("PUT", item, {}, {}, 405), ("GET", item, {}, {"Host": "evil.example"}, 421),
        ("GET", item, {}, {"Authorization": "Bearer x"}, 401), ("GET", item, {}, {"X-A": "a" * 40_000}, 431),
    ]  # fmt: skip
    for method, path, names, headers, status in asked:
        answer = local.ask(method, path.format(id=job["id"], **names), headers=headers)
        documented = paths[path]["get"]["responses"][str(answer.status)]
        assert answer.status == status
        assert answer.headers["Content-Type"].partition(";")[0] in documented["content"], (path, headers)
