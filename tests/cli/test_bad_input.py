"""One sentence, the right exit code, and nothing written."""

import os
import subprocess

import pytest

from tropalign.cli.main import main

FAMILY = b">a\nMKVLAAGWHHE\n>b\nMKVLAGWHHE\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do everything")
def test_no_permission(tmp_path, capsys):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    path = tmp_path / "in.fa"
    path.write_bytes(FAMILY)
    assert main(["pairs", str(path), "-o", str(closed / "out.tsv")]) == 3
    assert capsys.readouterr().err == f"tropalign: {closed}: no permission to write here\n"
    path.chmod(0)
    assert main(["pairs", str(path)]) == 3
    assert capsys.readouterr().err == f"tropalign: {path}: no permission to read this file\n"


def test_no_permission_whoever_runs_this(tmp_path, capsys, monkeypatch):
    path = tmp_path / "in.fa"
    path.write_bytes(FAMILY)
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    assert main(["pairs", str(path), "-o", str(tmp_path / "out.tsv")]) == 3
    assert capsys.readouterr().err == f"tropalign: {tmp_path}: no permission to write here\n"


@pytest.mark.parametrize(("arguments", "where"), [(["-o", "/dev/full"], "/dev/full"), ([], "standard output")])
def test_a_full_device(start, few, arguments, where):
    with open("/dev/full", "wb") as full:
        process = start("pairs", few, *arguments, stdout=full, stderr=subprocess.PIPE, text=True)
        _, error = process.communicate()
    assert process.returncode == 4
    assert error == (
        f"tropalign: {where}: the disk is full or the file too large: free space, or write elsewhere with -o\n"
    )


def test_a_device_that_is_not_there(few, tmp_path, capsys):
    assert main(["pairs", str(few), "--device", "cpu", "--device", "cuda:99", "-o", str(tmp_path / "out.tsv")]) == 4
    error = capsys.readouterr().err
    assert error.startswith("tropalign: ") and ("CUDA" in error or "NVIDIA" in error)
    assert "Traceback" not in error and error.count("\n") == 1
