"""``tropalign serve --audit``: the log as lines of text."""

import re
import subprocess
import sys

import pytest

from tropalign.serve.settings import Settings

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")


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
