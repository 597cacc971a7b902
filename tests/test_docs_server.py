"""The requests of docs/server.md, sent to a server."""

import json
import re
import shutil
import subprocess
import sys
import time

import pytest
from clone import ROOT, skip_without

skip_without("docs", "examples")
for module in ("fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2", "jinja2"):
    pytest.importorskip(module, reason="the server's modules are not installed: pip install 'tropalign[serve]'")
PAGE = ROOT / "docs" / "server.md"


@pytest.fixture
def address(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    words = ["serve", "--port", "0", "-q"]
    command = [sys.executable, "-m", "tropalign.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().partition("/login?")[0]
        finally:
            process.terminate()
            process.wait(60)


def curl(words, address):
    """The JSON that a request is answered with; the token is shown as the page does."""
    token = re.search(r"^token=.*$", PAGE.read_text(), re.M)[0]
    shown = words if '"$token"' in words else words.replace("curl -s", 'curl -s -H "$token"')
    script = f"{token}\n{shown.replace('http://127.0.0.1:8080', address)}"
    ran = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout) if ran.stdout[:1] in "{[" else ran.stdout


def test_the_requests_of_the_page_are_answered_as_it_says(address):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    text = PAGE.read_text()
    block = re.search(r"tests/test_docs_server\.py runs it.*?```sh\n(.*?)```", text, re.S)[1]
    send, submit = block.split("curl ")[1:]
    sent = curl(f"curl {send}", address)
    assert re.fullmatch("[0-9a-f]{64}", sent["file"]) and sent["name"] == "efp.fasta"
    job = curl(f"curl {submit}", address)
    assert job["title"] == "EF-P" and job["command"].startswith("tropalign pairs two.fa --mode global")
    at = f"{address}/api/v1/jobs/{job['id']}"
    events = curl(f"curl -s --max-time 120 {at}/events", address)
    assert '"state": "done"' in events, events
    job = curl(f"curl -s {at}", address)
    assert {output["role"] for output in job["outputs"]} == {"main", "report"}
    assert "\na\tb\t" in curl(f"curl -s {at}/files/main", address)
    changed = curl(f"""curl -s -X PATCH -H "Content-Type: application/json" -d '{{"shared": true}}' {at}""", address)
    assert "/shared/" in changed["shared"]
    other = curl(f"curl -s -X POST {at}/formats/paf", address)
    assert other["format"] == "paf" and other["id"] != job["id"]
    found = curl(f"curl -s '{address}/api/v1/jobs?q=efp&state=done'", address)
    assert job["id"] in {each["id"] for each in found["jobs"]}
    assert curl(f"curl -s {address}/api/v1/verbs/pairs", address)["name"] == "pairs"


def test_the_table_of_requests_names_what_the_server_describes(address):
    rows = re.findall(r"^\| `(GET|POST|PATCH|DELETE) (/api/v1/[^`?]*)", PAGE.read_text(), re.M)
    assert len(rows) >= 9
    described = curl(f"curl -s {address}/api/v1/openapi.json", address)["paths"]
    templates = {path: re.sub(r"\{[^}]*\}", "[^/]+", path) for path in described}
    for method, path in rows:
        found = [known for known, pattern in templates.items() if re.fullmatch(pattern, path)]
        assert path.endswith("openapi.json") or any(method.lower() in described[known] for known in found), path


def test_the_server_starts_in_the_time_that_a_reader_waits(address):
    assert address.startswith("http://127.0.0.1:")
    for _ in range(100):
        if curl(f"curl -s -o /dev/null -w '%{{http_code}}' {address}/readyz", address) == "200":
            return
        time.sleep(0.2)
    raise AssertionError("no worker came")
