"""``tropalign db``."""

import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "tropalign.cli.main"]


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


@pytest.fixture
def store(tmp_path):
    done = run("db", "build", "-", "-o", tmp_path / "x.tdb", input=">a one\nMKVLAWQ\n>b\nMKILAW\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return tmp_path / "x.tdb"


def test_info_and_verify(store):
    done = run("db", "info", store)
    assert done.returncode == 0
    assert [line.split(None, 1)[1] for line in done.stdout.splitlines()[:4]] == [
        "protein", "2", "13", "6 to 7, median 7",
    ]  # fmt: skip
    assert run("db", "verify", store).stdout == "the store is as it was written\n"


def test_verbs_take_it_where_they_take_fasta(store, tmp_path):
    fasta = tmp_path / "x.fa"
    fasta.write_text(">a one\nMKVLAWQ\n>b\nMKILAW\n")
    for verb in (["pairs", "-f", "paf"], ["msa", "-f", "fasta"]):
        first, second = (run(verb[0], path, *verb[1:]) for path in (fasta, store))
        assert first.returncode == second.returncode == 0, second.stderr
        assert first.stdout == second.stdout != ""


def test_mistakes(store, tmp_path):
    for arguments, code, text in (
        (["db"], 2, "name an action"),
        (["db", "build", store], 2, "-o"),
        (["db", "build", store, "-o", "-"], 2, "cannot go to standard output"),
        (["db", "build", "-", "-", "-o", tmp_path / "y.tdb"], 2, "name - once"),
        (["db", "build", store, "-o", store], 2, "input"),
        (["db", "build", tmp_path / "none", "-o", tmp_path / "y.tdb"], 3, "there is no such file"),
        (["db", "info", tmp_path / "none"], 3, "there is no such file"),
        (["db", "verify", __file__], 3, "this is no sequence store"),
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (code, ""), arguments
        assert text in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_store_cannot_come_from_a_stream(store):
    with store.open("rb") as stream:
        done = run("pairs", "-", stdin=stream)
    assert done.returncode == 3
    assert "standard input: a sequence store cannot be read from a stream: name the file" in done.stderr
