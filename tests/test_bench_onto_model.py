"""bench/onto_model.py: files are compared with hmmalign's; no speed here."""

import shutil

import pytest
from bench_scripts import loaded


@pytest.mark.skipif(shutil.which("hmmalign") is None, reason="hmmalign is not installed")
def test_the_example(monkeypatch, capsys):
    bench = loaded(monkeypatch, "onto_model", "commands")
    monkeypatch.setattr("sys.argv", ["onto_model.py", "--sequences", "5", "--rounds", "1"])
    assert bench.main() == 0
    *_, row = capsys.readouterr().out.splitlines()
    assert row.split(" | ")[1:3] == ["188", "5"] and row.endswith("| yes |")
