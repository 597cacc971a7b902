import bz2
import gzip
import lzma
import os
import subprocess
import sys

import pytest

from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.execution.files import (
    check_outputs,
    hold_outputs,
    output_path,
    release_outputs,
    write_stream,
    written,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an input, a link to it, and a second name of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.fa").write_text(">a\nMKV\n")
    (tmp_path / "soft.fa").symlink_to("in.fa")
    os.link("in.fa", "hard.fa")
    (tmp_path / "round.fa").symlink_to("round.fa")
    (tmp_path / "sub").mkdir()
    return tmp_path


@pytest.mark.parametrize("output", ["in.fa", "./sub/../in.fa", "soft.fa", "hard.fa"])
def test_an_output_is_never_an_input(folder, output):
    with pytest.raises(UsageError, match=r"is an input: name another file to write to"):
        check_outputs(["new.tsv", output], ["other.fa", "in.fa"])
    check_outputs([output], ["-", "other.fa"])


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        (["a.tsv", "a.tsv"], "two outputs go to a.tsv"),
        (["a.tsv", "sub/../a.tsv"], r"two outputs go to sub/\.\./a.tsv"),
        (["-", "-"], "two outputs go to standard output"),
        (["in.fa", "hard.fa"], "two outputs go to hard.fa"),
    ],
)
def test_outputs_have_names_of_their_own(folder, outputs, text):
    with pytest.raises(UsageError, match=text):
        check_outputs(outputs, [])


def test_where_the_shell_leads_a_stream_counts(folder, monkeypatch):
    with open("in.fa") as data, open("out.tsv", "w") as out:
        monkeypatch.setattr(sys, "stdin", data)
        monkeypatch.setattr(sys, "stdout", out)
        for outputs, inputs, text in (
            (["hard.fa"], ["-"], "hard.fa is an input"),
            (["-"], ["out.tsv"], "standard output is an input"),
            (["-", "./out.tsv"], [], r"two outputs go to ./out.tsv"),
        ):
            with pytest.raises(UsageError, match=text):
                check_outputs(outputs, inputs)
        check_outputs(["-", "new.tsv"], ["-"])


def test_a_device_may_be_named_twice():
    check_outputs(["/dev/null", "/dev/null"], ["/dev/null"])


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("sub", "the output is a directory"),
        ("nowhere/a.tsv", "no such directory"),
        ("x" * 250, "the name is longer than"),
        ("x" * 5000, "cannot be written"),
        ("round.fa", "circular|cannot be written"),
        ("a\0b", "cannot be written"),
    ],
)
def test_places_where_nothing_can_be_written(folder, output, text):
    with pytest.raises(InputError, match=text):
        check_outputs([output], [])


@pytest.mark.parametrize(
    ("suffix", "read"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open), (".tsv", open), (".GZ", gzip.open)]
)
def test_files_are_compressed_by_their_suffix_and_always_the_same(tmp_path, suffix, read):
    data = b"row\n" * 1000
    for name in ("one", "two"):
        with written(tmp_path / f"{name}{suffix}") as out:
            out.write(data)
        with read(tmp_path / f"{name}{suffix}", "rb") as file:
            assert file.read() == data
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()
    assert len(os.listdir(tmp_path)) == 2


def test_zstandard(tmp_path):
    import xopen

    with written(tmp_path / "a.zst") as out:
        out.write(b"row\n" * 9)
    with xopen.xopen(tmp_path / "a.zst", "rb") as file:
        assert file.read() == b"row\n" * 9


def fails(path):
    with written(path) as out:
        out.write(b"half")
        raise RuntimeError


def test_what_fails_leaves_no_file(tmp_path):
    (tmp_path / "a.tsv").write_text("old")
    with pytest.raises(RuntimeError):
        fails(tmp_path / "a.tsv")
    assert os.listdir(tmp_path) == ["a.tsv"] and (tmp_path / "a.tsv").read_text() == "old"


def test_one_run_at_a_time_writes_a_file(tmp_path):
    path = tmp_path / "a.tsv"
    (tmp_path / ".a.tsv.part").write_text("what a killed run left, which is longer")
    with written(path) as out:
        out.write(b"first")
        with pytest.raises(InputError, match="another run is writing here"):
            fails(path)
    assert path.read_bytes() == b"first" and os.listdir(tmp_path) == ["a.tsv"]


def test_a_file_that_gets_its_name_meanwhile_is_not_written_to(tmp_path, monkeypatch):
    """The other run lets its temporary file go between the moments when this one opens and locks it."""
    path, temporary = tmp_path / "a.tsv", tmp_path / ".a.tsv.part"
    temporary.write_bytes(b"the other run's")
    kept = []

    def hold(descriptor, place):
        if not kept:
            os.replace(temporary, path)
            kept.append(os.open(path, os.O_RDONLY))

    monkeypatch.setattr("tropalign.execution.files.hold", hold)
    with written(path) as out:
        out.write(b"ours")
    assert path.read_bytes() == b"ours" and os.read(kept[0], 99) == b"the other run's"
    os.close(kept[0])


def test_outputs_are_held_until_they_are_written(tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "b.txt.gz"]
    wait = f"{paths[0]}: another run is writing here: wait for it, or name another file with -o"
    hold_outputs([str(path) for path in (*paths, "-")])
    other = f"from tropalign.execution.files import hold_outputs; hold_outputs([{str(paths[0])!r}])"
    second = subprocess.run([sys.executable, "-c", other], stderr=subprocess.PIPE, text=True, check=False)
    assert second.stderr.strip().endswith(wait)
    with written(paths[0]) as out:
        out.write(b"whole")
    release_outputs()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert paths[0].read_bytes() == b"whole"
    assert subprocess.run([sys.executable, "-c", other], check=False).returncode == 0


def test_a_full_device():
    with pytest.raises(ResourceError, match="the disk is full"):
        write_stream("/dev/full", lambda out: out.write(b"x" * 100_000))


def test_pipes_and_devices_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert output_path("-") is output_path("/dev/null") is output_path(str(tmp_path / "pipe")) is None
    assert output_path(str(tmp_path / "new")) == tmp_path / "new"
