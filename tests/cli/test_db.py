"""``tropalign db``."""

import os
import subprocess

import pytest
from cli_commands import COMMAND

import tropalign as ta
from tropalign.cli.main import main


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


@pytest.fixture
def store(tmp_path):
    done = run("db", "build", "-", "-o", tmp_path / "x.tdb", input=">a one\nMKVLAWQ\n>b\nMKILAW\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return tmp_path / "x.tdb"


def test_another_content_onto_one_file(tmp_path):
    """The later one replaces the earlier, which stays whole for whoever has it open."""
    for name, text in (("one", ">a\nMKVLAW\n>b\nGGH\n"), ("two", ">c\nACGTACGT\n")):
        (tmp_path / f"{name}.fa").write_text(text)
    out = tmp_path / "x.tdb"
    assert main(["db", "build", str(tmp_path / "one.fa"), "-o", str(out)]) == 0
    before = ta.SequenceStore.open(out)
    assert main(["db", "build", str(tmp_path / "two.fa"), "-o", str(out)]) == 0
    for store, letters in ((before, b"MKVLAWGGH"), (ta.SequenceStore.open(out), b"ACGTACGT")):
        store.verify()
        assert store.letters.tobytes() == letters


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_two_builds_of_different_content_onto_one_file(tmp_path, capsys):
    """The second is refused, and the first ends as if it had been alone."""
    (tmp_path / "two.fa").write_text(">c\nACGTACGT\n")
    pipe, out = tmp_path / "one.fa", tmp_path / "x.tdb"
    os.mkfifo(pipe)
    with (
        subprocess.Popen([*COMMAND, "db", "build", str(pipe), "-o", str(out)]) as first,
        open(pipe, "w") as writing,
    ):  # opens as the first build does
        writing.write(">a\nMKVLAW\n")
        writing.flush()
        assert main(["db", "build", str(tmp_path / "two.fa"), "-o", str(out)]) == 3
        assert capsys.readouterr().err == (
            f"tropalign: {out}: another run is writing here: wait for it, or name another file with -o\n"
        )
        assert not out.exists()
        writing.write(">b\nGGH\n")
        writing.close()
        assert first.wait(60) == 0
    store = ta.SequenceStore.open(out)
    store.verify()
    assert store.letters.tobytes() == b"MKVLAWGGH"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.fa", "two.fa", "x.tdb"]
