"""The command, end to end."""

import gzip
import os
import signal
import subprocess
import sys
import time

import pytest

from tropalign.cli.main import main

COMMAND = [sys.executable, "-m", "tropalign.cli.main"]


@pytest.fixture
def family(request):
    return str(request.config.rootpath / "examples" / "family.fasta")


def body(path):
    """The rows, less the lines that hold the command."""
    return [line for line in path.read_bytes().split(b"\n") if not line.startswith((b"# command", b"@PG"))]


def run(*arguments, **environment):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **environment}
    )


def test_same_bytes_for_threads_tiles_and_shards(family, tmp_path, monkeypatch):
    one = tmp_path / "one.tsv"
    assert main(["pairs", family, "-t", "1", "-o", str(one)]) == 0
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "50")
    two = tmp_path / "two.tsv"
    assert main(["pairs", family, "-t", "2", "-o", str(two)]) == 0
    assert body(one) == body(two)
    shards = [tmp_path / f"{k}.shard" for k in (1, 2, 3)]
    for k, shard in enumerate(shards, 1):
        assert main(["pairs", family, "--shard", f"{k}/3", "-o", str(shard)]) == 0
    merged = tmp_path / "merged.tsv"
    assert main(["merge", *map(str, reversed(shards)), "-o", str(merged)]) == 0
    assert body(merged) == body(one)


def test_merge_says_which_shard_is_missing(family, tmp_path, capsys):
    shard = tmp_path / "1.shard"
    assert main(["pairs", family, "--shard", "1/2", "-o", str(shard)]) == 0
    assert main(["merge", str(shard)]) == 3
    assert "of 2 shards number 2 is missing" in capsys.readouterr().err
    assert main(["merge", family]) == 3
    assert "no shard that --shard wrote" in capsys.readouterr().err


def test_killed_run_goes_on_and_refuses_other_parameters(family, tmp_path):
    whole, out = tmp_path / "whole.tsv", tmp_path / "out.tsv"
    assert run("pairs", family, "-o", whole).returncode == 0
    environment = {**os.environ, "TROPALIGN_TILE_PAIRS": "1"}
    process = subprocess.Popen([*COMMAND, "pairs", family, "-o", str(out)], env=environment)
    parts = tmp_path / "out.tsv.parts"
    while process.poll() is None and len(list(parts.glob("part0*"))) < 5:
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert not out.exists() and parts.exists()
    done = {path.name: path.stat().st_mtime_ns for path in parts.glob("part00000[0-3]")}
    assert done
    other = run("pairs", family, "-o", out, "--gap-open", "5", TROPALIGN_TILE_PAIRS="1")
    assert other.returncode == 3
    assert "parts of another run (gap_cost was '11 + 1 * residues' and is '5 + 1 * residues')" in other.stderr
    assert {path.name: path.stat().st_mtime_ns for path in parts.glob("part00000[0-3]")} == done
    assert run("pairs", family, "-o", out, TROPALIGN_TILE_PAIRS="1").returncode == 0
    assert body(out) == body(whole)
    assert not parts.exists()


def test_interrupt_ends_within_a_second(tmp_path):
    path = tmp_path / "long.fasta"
    path.write_text("".join(f">s{k}\n{'MKVLAAGWHHE' * 500}\n" for k in range(60)))
    process = subprocess.Popen(
        [*COMMAND, "pairs", str(path)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    time.sleep(1.5)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, error = process.communicate(timeout=30)
        assert process.returncode == 130 and "interrupted" in error and "Traceback" not in error
        assert time.monotonic() - begin < 10  # a hang, not a speed


@pytest.mark.parametrize("form", ["tsv", "paf", "sam", "srspair", "fasta", "parquet", "arrow", "matrix"])
def test_every_format_writes(family, tmp_path, form):
    out = tmp_path / f"out.{form}"
    assert main(["pairs", family, "-f", form, "-o", str(out)]) == 0
    assert out.stat().st_size > 100


def test_reports_and_selections(family, tmp_path, capsys):
    names = tmp_path / "pairs.txt"
    names.write_text("sp|Q8AWH3|SX17A_XENTR tr|H2T2K7|H2T2K7_TAKRU\n")
    assert main(["pairs", family, "--pairs", str(names), "--report", "ends"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert rows[0] == "query\ttarget\tscore\tquery_start\tquery_end\ttarget_start\ttarget_end"
    assert len(rows) == 2
    names.write_text("sp|Q8AWH3|SX17A_XENTR nobody\n")
    assert main(["pairs", family, "--pairs", str(names)]) == 3
    assert "line 1, record 'nobody': there is no sequence of this name" in capsys.readouterr().err


BAD = {
    "empty": (b"", "the file is empty"),
    "no_fasta": (b"hello\n", "line 1: this is neither FASTA nor FASTQ: a record begins with '>' or '@'"),
    "empty_sequence": (b">a\n>b\nMKV\n", "record 'a': the sequence is empty: remove the record or use --skip-empty"),
    "twice": (b">a\nMKV\n>a\nMKL\n", "record 'a': records 1 and 2 have the same name"),
    "truncated": (gzip.compress(b">a\nMKV\n" * 500)[:40], "the compressed file is truncated"),
    "one": (b">a\nMKV\n", "one sequence, which makes no pair"),
    "binary": (b"\x7fELF\x00\x01", "neither FASTA nor FASTQ"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_a_sentence(name, tmp_path, capsys):
    data, text = BAD[name]
    path, out = tmp_path / "in.fa", tmp_path / "out.tsv"
    path.write_bytes(data)
    assert main(["pairs", str(path), "-o", str(out)]) == 3
    error = capsys.readouterr().err
    assert text in error and error.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--gap-open", "-1"], 3, "the gap open cost -1 is negative"),
        (["--matrix", "nothing"], 3, "no matrix and no file 'nothing'"),
        (["--min-identity", "2"], 2, "no fraction between 0 and 1"),
        (["--free-ends", "query-start"], 2, "--free-ends belongs to --mode semiglobal"),
        (["--mode", "semiglobal", "--free-ends", "left"], 2, "free end 'left' is none of"),
        (["-o", "/nowhere/out.tsv"], 3, "there is no such directory"),
        (["-f", "paf", "--report", "score"], 3, "format paf shows alignments"),
        (["--memory", "1K"], 4, "1.0 KiB are allowed"),
        (["--strand", "both"], 3, "proteins have one"),
        (["--alphabet", "nucleotide", "--strict"], 3, "outside the nucleotide alphabet, the first"),
    ],
)
def test_bad_options_get_a_sentence(family, arguments, code, text, capsys):
    assert main(["pairs", family, *arguments]) == code
    assert text in capsys.readouterr().err


def test_matrix_file_without_a_letter(family, tmp_path, capsys):
    path = tmp_path / "small.mat"
    path.write_text("   A  R  N\nA  4 -1 -2\nR -1  5  0\nN -2  0  6\n")
    assert main(["pairs", family, "--matrix", str(path)]) == 3
    assert "the matrix small.mat has no letter" in capsys.readouterr().err


def test_missing_file_directory_and_stdin(family, tmp_path, capsys):
    assert main(["pairs", str(tmp_path / "none.fa")]) == 3
    assert "there is no such file" in capsys.readouterr().err
    assert main(["pairs", str(tmp_path)]) == 3
    assert "this is a directory" in capsys.readouterr().err
    with open(family, "rb") as data:
        done = subprocess.run([*COMMAND, "pairs", "-", "--report", "score"], stdin=data, capture_output=True)
    assert done.returncode == 0 and done.stdout.count(b"\n") > 780


def test_version_devices_and_unknown_isa():
    assert run("--version").stdout.startswith("tropalign 0.")
    assert "(selected)" in run("devices").stdout
    bad = run("devices", TROPALIGN_ISA="v9")
    assert bad.returncode == 4 and "TROPALIGN_ISA=v9" in bad.stderr
