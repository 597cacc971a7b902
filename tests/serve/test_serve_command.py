"""``tropalign serve`` beside serving: tokens are made, listed and revoked, and the audit log printed."""

import os
import re
import stat
import subprocess
import sys

import pytest

from tropalign.serve.settings import Settings

for module in ("sqlalchemy", "alembic", "argon2", "fastapi", "uvicorn", "jinja2"):
    pytest.importorskip(module, reason="the server's modules are not installed: pip install 'tropalign[serve]'")


@pytest.fixture
def serve(tmp_path, capsys):
    """Runs `tropalign serve`; its exit code, and what it says."""
    from tropalign.cli.main import main

    def run(*words):
        code = main(["serve", "--folder", str(tmp_path / "served"), *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_token_is_written_to_a_file_or_printed(serve, tmp_path):
    before = os.umask(0o022)
    os.umask(before)
    path = tmp_path / "alice.token"
    assert serve("--add-token", "alice", "--token-file", str(path)) == (0, "", "")
    assert path.read_text().startswith("trop_") and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert serve("--add-token", "bob")[1].startswith("trop_")
    assert [line.split("\t")[1:] for line in serve("--list-tokens")[1].splitlines()] == [
        ["alice", "valid"], ["bob", "valid"],
    ]  # fmt: skip
    now = os.umask(before)
    assert now == before


def test_a_token_that_nobody_can_be_told_is_not_valid(serve, tmp_path):
    path = tmp_path / "there"
    path.write_text("")
    code, out, err = serve("--add-token", "alice", "--token-file", str(path))
    sentence = f"tropalign: {path}: the file exists: name another one, or remove it\n"
    assert (code, out, err) == (2, "", sentence)
    assert serve("--list-tokens")[1].endswith("\talice\trevoked\n")


def test_a_file_without_a_token_is_a_mistake(serve, tmp_path):
    code, _, err = serve("--token-file", str(tmp_path / "x"))
    assert code == 2 and "--token-file requires --add-token: name the user" in err


def test_the_audit_log_is_printed_the_newest_line_last(tmp_path):
    from tropalign.serve.storage import Storage

    with Storage.open(Settings(folder=tmp_path)) as storage:
        storage.audit.note("ann", "127.0.0.1", "submit", "job1", "pairs")
        storage.audit.note("eve\tlocal\n2026", "::1", "login", detail="\x1b[31m")
    command = [sys.executable, "-m", "tropalign.cli.main", "serve", "--folder", tmp_path, "--audit"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert printed.stderr == ""
    lines = [line.split("\t") for line in printed.stdout.removesuffix("\n").split("\n")]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", line[0]) for line in lines)
    assert [line[1:] for line in lines] == [
        ["ann", "127.0.0.1", "submit", "job1", "pairs"],
        ["eve\\tlocal\\n2026", "::1", "login", "", "\\x1b[31m"],
    ]
