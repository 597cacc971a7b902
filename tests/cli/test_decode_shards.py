"""tropalign decode: shards, and runs that were stopped."""

import gzip
import os
import random
import signal
import subprocess
import sys

import pytest
from kept_parts import damage, parts_in

from tropalign.cli.main import main
from tropalign.decoding.decode_task import DecodeTask

WORDS = ["decode", "--model", "cpg", "--skip-empty", "-q", "a.fa", "b.fa", "a.fa"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Thirty sequences in three files, of which one is named twice, with gaps; three sequences per tile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TROPALIGN_TILE_READS", "3")
    rng = random.Random(1)

    def record(k):
        texts = (
            "".join(rng.choices("ACGTN", weights, k=rng.randint(1, 300)))
            for weights in ([8, 2, 2, 8, 1], [1, 9, 9, 1, 0])
        )
        gap = "N" * rng.choice([0, 9, 10, 500])
        return f">s{k}\n{'' if k in (0, 17) else gap.join([*texts, ''])}\n"

    (tmp_path / "a.fa").write_text("".join(map(record, range(7))))
    (tmp_path / "b.fa").write_text("".join(map(record, range(7, 30))))
    return tmp_path


def test_tiles_threads_and_streams_change_nothing(folder, monkeypatch, capsysbinary):
    words = ["--label", "island", "--label", "background"]
    assert main([*WORDS, *words, "-o", "one.tsv"]) == 0
    for n_sequences, more in (("1", ["-t", "1"]), ("99", ["-t", "2", "--memory", "400M"])):
        monkeypatch.setenv("TROPALIGN_TILE_READS", n_sequences)
        assert main([*WORDS, *words, *more, "-o", "two.tsv"]) == 0
        assert (folder / "two.tsv").read_bytes() == (folder / "one.tsv").read_bytes()
    assert main([*WORDS, *words]) == 0
    assert capsysbinary.readouterr().out == (folder / "one.tsv").read_bytes()


def test_the_shares_are_even(folder, monkeypatch):
    """By letters, whatever the size of tiles."""
    import zipfile

    monkeypatch.delenv("TROPALIGN_TILE_READS")
    assert main([*WORDS, "-o", "all.tsv", "--label", "background", "--label", "island"]) == 0
    text = [line.split("\t") for line in (folder / "all.tsv").read_text().splitlines() if not line.startswith("#")][1:]
    n_letters = sum(int(row[4]) for row in text)
    for k in (1, 2, 3):
        assert main([*WORDS, "-o", "s", "--shard", f"{k}/3", "--label", "background", "--label", "island"]) == 0
        with zipfile.ZipFile("s") as archive:
            rows = b"".join(archive.read(name)[24:] for name in archive.namelist()[1:]).decode().splitlines()
        share = sum(int(row.split("\t")[4]) for row in rows if row.count("\t") == 6)
        assert abs(share - n_letters / 3) < n_letters / 8


#: A command that is killed at its fourth tile, when two of those before are on the disk.
KILLED = """
import os, pathlib, signal, sys, time
from kept_parts import parts_in
from tropalign.cli.main import main
from tropalign.decoding.decode_task import DecodeTask
compute, parts = DecodeTask.on_cpu, pathlib.Path("out.tsv.parts")
def killed(task, tile, *rest):
    while tile.index == 3 and len(parts_in(parts)) < 2:
        time.sleep(0.001)
    if tile.index == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return compute(task, tile, *rest)
DecodeTask.on_cpu = killed
main(sys.argv[1:])
"""


@pytest.mark.parametrize("more", [[], ["--shard", "2/2"]])
def test_a_killed_run_goes_on(folder, more, monkeypatch):
    """What is done is not computed again."""
    words = [*WORDS, "--label", "island", "--label", "background"]
    ours = [*words, *more, "-o", "out.tsv"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    killed = subprocess.run([sys.executable, "-c", KILLED, *ours], cwd=folder, env=environment, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    done = list(parts_in(folder / "out.tsv.parts"))
    damage(folder / "out.tsv.parts", 1)  # which is found
    compute, computed = DecodeTask.on_cpu, []

    def counted(task, tile, *rest):
        computed.append(tile.index)
        return compute(task, tile, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(DecodeTask, "on_cpu", counted)
        assert main(ours) == 0
    assert not (folder / "out.tsv.parts").exists()
    kept = set(done[1:])
    assert kept and set(computed) == set(range(len(kept) + len(computed))) - kept
    if more:
        assert main([*words, "--shard", "1/2", "-o", "other.shard"]) == 0
        assert main(["merge", "other.shard", "out.tsv", "-o", "out.tsv.gz"]) == 0
        (folder / "out.tsv").write_bytes(gzip.decompress((folder / "out.tsv.gz").read_bytes()))
    assert main([*words, "-o", "whole.tsv"]) == 0
    assert (folder / "out.tsv").read_bytes() == (folder / "whole.tsv").read_bytes()
