"""``tropalign place``: shards, kills, streams and progress."""

import gzip
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from held import Held
from kept_parts import parts_in
from shard_runs import named

from tropalign.cli.main import main

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "16s"
REFERENCE = """ 5 12
t1 ACGTAC-TACGT
t2 ACGTAC-TACGA
t3 ACG-ACGTACTT
t4 TCG-ACGTACTT
t5 TCGTAC-TAC-T
"""
TREE = "((t1:0.1,t2:0.1):0.2,(t3:0.1,t4:0.1):0.1,t5:0.3);\n"
OUTPUTS = {
    "fasta": ["-o", "{}.fa"],
    "phylip": ["-o", "{}.phy", "-f", "phylip"],
    "insertions": ["-o", "{}.phy", "-f", "phylip", "--insertions", "columns"],
    "split": ["-o", "{}.fa", "--split", "--insertions", "columns"],
    "all": ["-o", "{}.fa", "--table", "{}.tsv", "--jplace", "{}.jplace", "--html", "{}.html", "--strand", "both"],
    "compressed": ["-o", "{}.fa.gz", "--table", "{}.tsv.xz", "--jplace", "{}.jplace.bz2", "--html", "{}.html.gz"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Reference, tree and 23 reads, one without a usable letter; two reads per tile."""
    rng = random.Random(3)
    reads = ["".join(rng.choices("ACGT", k=rng.randint(4, 15))) for _ in range(22)]
    reads.insert(7, "NNN")
    (tmp_path / "reads.fa").write_text("".join(f">r{k}\n{read}\n" for k, read in enumerate(reads)))
    (tmp_path / "ref.phy").write_text(REFERENCE)
    (tmp_path / "ref.nwk").write_text(TREE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TROPALIGN_TILE_READS", "2")
    return tmp_path


WORDS = ["place", "--reference", "ref.phy", "--tree", "ref.nwk", "-q"]


def made(name):
    """The files whose names begin so, by the rest of the name; the command in their headers names no file."""
    paths = [path for path in Path().glob(f"{name}.*") if path.is_file()]
    named = re.compile(rf"\b{name}\.(?=fa|tsv|jplace|html)".encode())
    return {path.name.removeprefix(name): named.sub(b"", path.read_bytes()) for path in paths}


def test_threads_and_tiles_change_nothing(folder, monkeypatch):
    words = OUTPUTS["all"]
    assert main([*WORDS, "reads.fa", *named(words, "one")]) == 0
    for n_reads, more in (("1", ["-t", "1"]), ("9", ["-t", "2", "--memory", "200M"]), ("99", ["--device", "cpu"])):
        monkeypatch.setenv("TROPALIGN_TILE_READS", n_reads)
        assert main([*WORDS, "reads.fa", *more, *named(words, "two")]) == 0
        assert made("two") == made("one")


@pytest.fixture
def stopped(folder, monkeypatch):
    """A run that stopped after four of its tiles."""
    from tropalign.placement.task import PlaceTask

    compute = PlaceTask.on_cpu

    def fails(task, tile, *arguments):
        if tile.index == 4:
            raise MemoryError
        return compute(task, tile, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(PlaceTask, "on_cpu", fails)
        patch.setattr(PlaceTask, "split", lambda task, tile: [])
        assert main([*WORDS, "reads.fa", *named(OUTPUTS["all"], "out")]) == 4
    assert len(parts_in(folder / "out.fa.parts")) == 4
    return folder / "out.fa.parts"


@pytest.mark.parametrize("damage", ["nothing", "half", "empty", "a byte", "a directory"])
def test_a_run_goes_on_and_finds_damaged_parts(stopped, damage, capsys):
    file = stopped / "section0"
    data = file.read_bytes()
    if damage == "a directory":
        file.unlink()
        file.mkdir()
    elif damage != "nothing":
        file.write_bytes({"half": data[: len(data) // 2], "empty": b"", "a byte": data[:-1] + b"?"}[damage])
    words = [word for word in WORDS if word != "-q"]
    capsys.readouterr()
    code = main([*words, "reads.fa", *named(OUTPUTS["all"], "out")])
    error = capsys.readouterr().err
    if damage == "a directory":
        assert code == 3 and "section0: this cannot be written" in error and error.count("\n") == 1
        return
    assert code == 0 and ("damaged and computed again" in error) == (damage != "nothing")
    assert main([*WORDS, "reads.fa", *named(OUTPUTS["all"], "whole")]) == 0
    assert made("out") == made("whole")


@pytest.mark.parametrize(
    ("more", "difference"),
    [
        (["--strand", "plus"], "strand was 'both' and is 'plus'"),
        (["--gap-open", "5"], "scoring was "),
        (["--insertions", "columns"], "insertions was 'drop' and is 'columns'"),
        (["--shard", "1/2"], "shard was 'none' and is '1/2'"),
        (["-f", "phylip"], "outputs was 'alignment as fasta, "),
        (["--table", "t.parquet"], "outputs was 'alignment as fasta, table as tsv, "),
    ],
)
def test_parts_of_another_run_are_refused(stopped, more, difference, capsys):
    capsys.readouterr()
    assert main([*WORDS, "reads.fa", *named(OUTPUTS["all"], "out"), *more]) == 3
    assert f"this directory holds finished parts of another run ({difference}" in capsys.readouterr().err


def test_other_reads_are_refused(stopped, folder, capsys):
    text = (folder / "reads.fa").read_text()
    for changed in (text + ">more\nACGT\n", text.replace("NNN", "NNA")):
        (folder / "reads.fa").write_text(changed)
        capsys.readouterr()
        assert main([*WORDS, "reads.fa", *named(OUTPUTS["all"], "out")]) == 3
        assert "another run (reads was '23 reads of " in capsys.readouterr().err


def test_reads_from_a_pipe(folder, command):
    assert main([*WORDS, "reads.fa", "-o", "one.fa"]) == 0
    with open("reads.fa") as data:
        assert command(*WORDS, "-", stdin=data).stdout.encode() == Path("one.fa").read_bytes()
    os.mkfifo("pipe")
    with subprocess.Popen(["cp", "reads.fa", "pipe"]):
        assert main([*WORDS, "pipe", "-o", "two.fa"]) == 0
    assert Path("two.fa").read_bytes() == Path("one.fa").read_bytes()
    assert main([*WORDS, "-", "--shard", "1/2", "-o", "x.shard"]) == 2


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A saved reference, and reads that take some seconds."""
    path = tmp_path_factory.mktemp("real")
    (path / "ref.phy").write_bytes(gzip.decompress((EXAMPLE / "ref.phy.gz").read_bytes()))
    words = ["--reference", path / "ref.phy", "--tree", EXAMPLE / "ref.nwk", "--save-reference", path / "ref.npz"]
    assert main(["place", *map(str, words)]) == 0
    records = (EXAMPLE / "reads.fasta").read_text().split(">")[1:61]
    (path / "reads.fa").write_text(">" + ">".join(records))
    return path


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_stopped_run_goes_on(real, tmp_path, tmp_path_factory, start, number):
    held = Held(tmp_path_factory.mktemp("held"), 6, "tropalign.placement.task", "PlaceTask")
    small = {"TROPALIGN_TILE_READS": "3"} | held.environment
    words = ["place", "--reference", real / "ref.npz", real / "reads.fa", "-q", "-t", "1"]
    out, parts = tmp_path / "out.fa", tmp_path / "out.fa.parts"
    process = start(*words, "-o", out, "--table", tmp_path / "out.tsv", environment=small, stderr=subprocess.PIPE)
    while len(parts_in(parts)) < 3:
        assert process.poll() is None, "the run ended before it could be stopped"
        time.sleep(0.001)
    process.send_signal(number)
    process.wait(timeout=120)
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130}.get(number, 128 + number)
    assert [path.name for path in tmp_path.iterdir()] == ["out.fa.parts"]
    before = parts_in(parts)
    again = start(*words, "-o", out, "--table", tmp_path / "out.tsv", environment=small)
    while not held.holds(again.pid):
        assert again.poll() is None
        time.sleep(0.001)
    now = parts_in(parts)
    assert {index: now[index] for index in before} == before  # nothing is computed twice
    held.release()
    assert again.wait() == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.fa", "out.tsv"]
    if not (real / "whole.fa").exists():
        assert main([*map(str, words), "-o", str(real / "whole.fa")]) == 0
    assert out.read_bytes() == (real / "whole.fa").read_bytes()


def test_progress_on_a_terminal(folder, on_terminal, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    words = [word for word in WORDS if word != "-q"]
    assert "23/23" in (shown := on_terminal(*words, "reads.fa", "-o", "a.fa")) and "reads" in shown
    assert on_terminal(*WORDS, "reads.fa", "-o", "b.fa") == ""


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless device")
@pytest.mark.parametrize("option", ["--reference", "--tree"])
def test_an_endless_device_is_refused(tmp_path, option, capsys):
    inputs = {"--reference": str(EXAMPLE / "ref.phy.gz"), "--tree": str(EXAMPLE / "ref.nwk"), option: "/dev/zero"}
    words = [word for item in inputs.items() for word in item]
    assert main(["place", *words, str(EXAMPLE / "reads.fasta"), "-o", str(tmp_path / "o.fa")]) == 3
    error = capsys.readouterr().err
    assert "/dev/zero: " in error and error.count("\n") == 1
