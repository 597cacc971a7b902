import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Runs words as a command in a folder and gives what it printed; `tropalign` is that of this interpreter.

    Programs that were installed beside this interpreter are found before others.
    """
    binaries = tmp_path / "bin"
    binaries.mkdir()
    command = binaries / "tropalign"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tropalign.cli.main "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(binaries), str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # where Snakemake keeps wrappers

    def run(folder, *words):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "timeout": 300}
        ran = subprocess.run([str(word) for word in words], cwd=folder, **options)
        assert ran.returncode == 0, ran.stdout
        return ran.stdout

    return run
