"""``tropalign place --pipeline epa-ng``; a program in EPA-ng's place checks what it is given as EPA-ng 0.3.8 does."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from oracles.jplace import check_jplace

from tropalign.cli.main import main

REFERENCE = ">t1\nACGTACGTAA\n>t;two\nACGTTCGTAA\n>t(3\nACGAACGATT\n>t4\nACG?ACGATA\n"
TREE = "((t1:0.1,'t;two':0.1):0.1,('t(3':0.1,t4:0.2):0);\n"
READS = '>r1\nACGTACGT\n>r"2;size=5 x\nacgttcgtaa\n>none\nNNN\n>r"2\nCGAACGATT\n'
#: Takes the arguments, files and letters that EPA-ng takes, ends as it ends, and puts every read on branch 0.
FAKE = r"""#!PYTHON
import json, pathlib, re, sys, time
words = sys.argv[1:]
if words == ["--version"]:
    print("EPA-ng vVERSION")
    sys.exit()
named = dict(zip(words[:-3:2], words[1:-3:2]))
assert words[-3] == "--redo" and words[-2] == "--threads" and int(words[-1]) >= 1, words
assert list(named) == ["--ref-msa", "--tree", "--query", "--outdir", "--model"], words
if pathlib.Path("sleep").exists() or named["--model"] == "GTR+SLEEP":
    pathlib.Path("PIDFILE").write_text(str(__import__("os").getpid()))
    time.sleep(60)
model = named["--model"]
model = pathlib.Path(model).read_text().split(",")[0] if pathlib.Path(model).is_file() else model
if not model.startswith("GTR"):
    print("INFO Selected: Specified model:", model)
    print("terminate called after throwing an instance of 'std::runtime_error'", file=sys.stderr)
    print("  what():  Invalid model name:", model, file=sys.stderr)
    sys.exit(134)
def records(path):
    parts = pathlib.Path(path).read_text().split(">")[1:]
    return {part.split("\n")[0]: "".join(part.split("\n")[1:]) for part in parts}
reference, query = records(named["--ref-msa"]), records(named["--query"])
assert len({len(row) for row in [*reference.values(), *query.values()]}) == 1
assert all(re.fullmatch("[ACGTUNRYSWKMBDHVacgtunryswkmbdhv-]+", row) for row in [*reference.values(), *query.values()])
assert all(re.search("[ACGTacgt]", row) for row in query.values())
assert not any(re.search('[\\s"\\\\]', name) for name in query) and not set(query) & set(reference)
tree = pathlib.Path(named["--tree"]).read_text().strip()
assert set(re.findall(r"[(,]([A-Za-z0-9_.|]+):", tree)) == set(reference), tree
numbers = iter(range(1000))
tree = re.sub(r":([0-9.e-]+)", lambda m: f":{float(m[1]):.10f}{{{next(numbers)}}}", tree)
placed = [{"p": [[0, -10.5, 1.0, 0.05, 0.1]], "n": [name]} for name in reversed(list(query))]
if model == "GTR+LOST":
    placed = placed[1:]
if model == "GTR+EDGE":
    placed[0]["p"][0][0] = 999
fields = ["edge_num", "likelihood", "like_weight_ratio", "distal_length", "pendant_length"]
whole = {"tree": tree, "placements": placed, "metadata": {"invocation": "x"}, "version": 3, "fields": fields}
text = json.dumps(whole)
if model == "GTR+DEEP":
    text = text.replace('"placements": [', '"placements": [' + 100000 * "[")
pathlib.Path("epa_result.jplace").write_text(text[:-20] if model == "GTR+CUT" else text)
pathlib.Path("epa_info.log").write_text("log")
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Reference, tree, reads, and a folder on PATH for a program."""
    for name, text in (("ref.fa", REFERENCE), ("ref.nwk", TREE), ("reads.fa", READS)):
        (tmp_path / name).write_text(text)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def install(files, version="0.3.8", name="epa-ng"):
    program = files / "bin" / name
    text = FAKE.replace("PYTHON", sys.executable).replace("VERSION", version).replace("PIDFILE", str(files / "pid"))
    program.write_text(text)
    program.chmod(0o755)
    return program


def words_of(*more, model="GTR+G"):
    known = [
        "place",
        "--reference",
        "ref.fa",
        "--tree",
        "ref.nwk",
        "reads.fa",
        "--pipeline",
        "epa-ng",
        "--model",
        model,
    ]
    return [*known, "--jplace", "x.jplace", *more]


def test_the_whole_way(files, capfd):
    install(files)
    (files / "best.bestModel").write_text("GTR{1/1/1/1/1/1}+FU{0.25/0.25/0.25/0.25}, noname = 1-10\n")
    assert main(words_of("-o", "all.fa", "--table", "t.tsv", model="best.bestModel")) == 0
    assert sorted(os.listdir(files)) == "all.fa best.bestModel bin reads.fa ref.fa ref.nwk t.tsv x.jplace".split()
    read = json.loads((files / "x.jplace").read_text())
    assert read["metadata"]["software"] == "EPA-ng v0.3.8"
    assert read["metadata"]["invocation"].startswith("epa-ng --ref-msa reference.fasta --tree tree.nwk --query query.f")
    assert read["metadata"]["aligned_by"].startswith("tropalign place reads.fa --reference ref.fa")
    entries = check_jplace((files / "x.jplace").read_text())
    assert list(entries) == ["r1", 'r"2;size=5', 'r"2']  # in the order of the input
    assert {name: count for name, (count, _) in entries.items()} == {"r1": 1, 'r"2;size=5': 5, 'r"2': 1}
    assert read["tree"].startswith("((t1:0.1000000000{0},'t;two':0.1000000000{1}):0.1") and "'t(3':" in read["tree"]
    assert (files / "all.fa").read_text().startswith(">t1\nACGTACGTAA\n>t;two\n")
    assert capfd.readouterr().out == ""  # without -o the alignment is not written


def test_result_does_not_depend_on_threads_or_compression(files):
    install(files)
    assert main(words_of("-q", "-t", "1")) == main(words_of("-q", "-t", "2", "--jplace", "y.jplace")) == 0
    one, other = (json.loads((files / name).read_text()) for name in ("x.jplace", "y.jplace"))
    assert {**one, "metadata": 0} == {**other, "metadata": 0}
    assert main(words_of("-q", "--jplace", "y.jplace.gz")) == 0
    import gzip

    assert json.loads(gzip.decompress((files / "y.jplace.gz").read_bytes()))["placements"] == one["placements"]


def test_a_named_program(files):
    program = install(files, name="other")
    assert main(words_of("-q", "--epa-ng", str(program))) == 0
    assert main(words_of("-q", "--epa-ng", "nothing")) == 3


def test_write_only_and_its_command(files, capfd):
    assert main(words_of("-q", "--write-only")) == 0
    line = capfd.readouterr().out
    assert not (files / "x.jplace").exists()
    folder = files / "x.jplace.epa-ng"
    assert sorted(os.listdir(folder)) == ["names.tsv", "query.fasta", "reference.fasta", "tree.nwk"]
    assert "t_two\tt;two\n" in (folder / "names.tsv").read_text()
    install(files)
    subprocess.run(["sh", "-c", line], check=True)
    check_jplace((folder / "epa_result.jplace").read_text())


def test_without_epa_ng(files, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(files / "bin"))
    assert main(words_of("-q")) == 4
    error = capsys.readouterr().err
    assert "EPA-ng is not installed (there is no epa-ng on PATH): name it with --epa-ng" in error
    assert f"cd {files}/x.jplace.epa-ng && epa-ng --ref-msa reference.fasta" in error
    assert (files / "x.jplace.epa-ng" / "query.fasta").exists() and not (files / "x.jplace").exists()


@pytest.mark.parametrize(
    ("model", "code", "words", "stays"),
    [
        ("FOO", 3, "EPA-ng failed with exit status 134 (Invalid model name: FOO); its files are in ", True),
        ("LG+G", 3, "LG is a model of proteins, but the reference holds nucleotides: give another --model", False),
        ("no.bestModel", 3, "no.bestModel: no such file: give a .bestModel file of RAxML-NG", False),
        ("GTR+LOST", 3, "EPA-ng's result lacks 1 read, such as 'r\"2': see ", True),
        ("GTR+EDGE", 3, "EPA-ng's result is not valid (ValueError: a branch is not in the tree)", True),
        ("GTR+CUT", 3, "EPA-ng's result is not valid (", True),
        ("GTR+DEEP", 3, "EPA-ng's result is not valid (RecursionError", True),
    ],
)
def test_what_goes_wrong(files, capsys, model, code, words, stays):
    install(files)
    assert main(words_of("-q", model=model)) == code
    assert words in capsys.readouterr().err
    assert not (files / "x.jplace").exists() and (files / "x.jplace.epa-ng").exists() == stays
    assert main(words_of("-q")) == 0
    assert not (files / "x.jplace.epa-ng").exists()


@pytest.mark.parametrize(
    ("version", "words"),
    [("0.3.3", "EPA-ng v0.3.3 misplaces reads on rooted trees: use 0.3.4 or later"), ("x", "is not that of EPA-ng")],
)
def test_versions(files, capsys, version, words):
    install(files, version)
    assert main(words_of("-q")) == 3
    assert words in capsys.readouterr().err and not (files / "x.jplace.epa-ng").exists()


def test_no_read_is_left(files, capsys):
    install(files)
    (files / "reads.fa").write_text(">r\nNNNN\n")
    assert main(words_of("-q")) == 3
    assert "no reads are left for EPA-ng to place" in capsys.readouterr().err
    assert not (files / "x.jplace.epa-ng").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_end_ends_epa_ng(files, start, number):
    install(files)
    process = start(*words_of("-q", model="GTR+SLEEP"), stderr=subprocess.DEVNULL)
    while not (files / "pid").exists() or not (files / "pid").read_text():
        assert process.poll() is None
        time.sleep(0.02)
    pid = int((files / "pid").read_text())
    process.send_signal(number)
    assert process.wait(timeout=120) == 128 + number
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not (files / "x.jplace").exists()


@pytest.mark.skipif(shutil.which("epa-ng") is None, reason="EPA-ng is not installed")
def test_epa_ng_itself(files):
    assert main(words_of("-q")) == 0
    read = json.loads((files / "x.jplace").read_text())
    assert sorted(name for entry in read["placements"] for name, _ in entry["nm"]) == ['r"2', 'r"2;size=5', "r1"]
    assert [float(length) for length in re.findall(r":([0-9.]+)\{", read["tree"])] == [0.1, 0.1, 0.1, 0.1, 0.2, 1e-6]


def test_a_dry_run_leaves_nothing(files, capsys):
    install(files)
    assert main(words_of("--dry-run")) == 0
    assert "cells" in capsys.readouterr().out
    assert sorted(os.listdir(files)) == ["bin", "reads.fa", "ref.fa", "ref.nwk"]
