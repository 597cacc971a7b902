"""``tropalign search`` and ``tropalign scan``: files as HMMER's, streams, shards, runs that go on, and errors."""

import gzip
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tropalign
from tropalign.cli.main import main
from tropalign.profile import task as search_task

DATA = Path(__file__).parent.parent / "data" / "search"
PFAM, PROTEINS = str(DATA / "pfam.hmm"), str(DATA / "proteins.fasta")
TABLES = {"tbl": "--tblout", "domtbl": "--domtblout", "pfamtbl": "--pfamtblout"}
#: Recorded runs of hmmsearch and hmmscan 3.4: whether of all models, and options.
RUNS = {
    "search": (True, ""),
    "acc": (False, "--acc --notextw"),
    "cut_ga": (False, "--cut_ga --noali"),
    "scores": (False, "-T 30 --domT 10 --incT 40 --incdomT 20 -Z 1000 --textw 200"),
    "max": (False, "--max --nonull2 --domZ 3 --seed 7 -E 1 --incE 1e-20"),
    "scan": (True, ""),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """All models in one file; the current directory."""
    models = DATA.joinpath("pfam.hmm").read_bytes() + DATA.joinpath("reference.hmm").read_bytes()
    (tmp_path / "all.hmm").write_bytes(models)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    assert main([*map(str, words), "-q"]) == 0


def plain(path):
    """A file without what says which program wrote it from which files."""
    text = Path(path).read_bytes()
    if b"# - - " in text:
        return re.sub(rb"# (query|target) .*\n", b"", text[text.index(b"# - - ") :])
    return text.partition(b"# Program:")[0]


@pytest.mark.parametrize("name", RUNS)
def test_files_are_those_of_hmmer(name, folder):
    is_of_all, options = RUNS[name]
    words = ["scan" if name == "scan" else "search", "all.hmm" if is_of_all else PFAM, PROTEINS, *options.split()]
    for suffix, option in TABLES.items():
        words += [option, f"own.{suffix}"]
    run(*words, "-o", "own.txt", "-t", 2)
    for path in DATA.glob(f"{name}.*"):
        assert plain(f"own{path.suffix}") == plain(path)


def test_tables_alone(folder):
    run("search", PFAM, PROTEINS, "-o", os.devnull, "--tblout", "a.tbl", "--domtblout", "a.domtbl")
    run("search", PFAM, PROTEINS, "-o", "b.domtbl", "--tblout", "b.anything")
    run("search", PFAM, PROTEINS, "-f", "tblout", "-o", "c")
    assert plain("a.tbl") == plain("b.anything") == plain("c")
    assert plain("a.domtbl") == plain("b.domtbl")
    assert sorted(os.listdir()) == ["a.domtbl", "a.tbl", "all.hmm", "b.anything", "b.domtbl", "c"]


def test_the_end_of_a_table_tells_how_it_was_made(folder):
    run("search", PFAM, PROTEINS, "-E", "0.001", "-o", "a.tbl")
    end = Path("a.tbl").read_text().partition("#\n# Program:")[2]
    assert end.splitlines()[2:] == [
        "# Pipeline mode:   SEARCH",
        f"# Query file:      {PFAM}",
        f"# Target file:     {PROTEINS}",
        f"# Option settings: tropalign search {PFAM} {PROTEINS} --format tblout -E 0.001",
        "# [ok]",
    ]


def test_shards_become_what_one_run_writes(folder):
    words = ["search", "all.hmm", PROTEINS, "--domtblout", "d", "-A", "a"]
    run(*words, "-o", "whole.txt")
    files = {name: Path(name).read_bytes() for name in ("whole.txt", "d", "a")}
    for k in (1, 2, 3):
        run(*words, "--shard", f"{k}/3", "-o", f"{k}.shard")
    run("merge", "3.shard", "1.shard", "2.shard", "-o", "merged.txt", "--domtblout", "e", "-A", "b")
    assert [Path(name).read_bytes() for name in ("merged.txt", "e", "b")] == list(files.values())


def test_shards_hold_what_they_were_asked_for(folder, capsys):
    for k in (1, 2):
        run("search", PFAM, PROTEINS, "--shard", f"{k}/2", "-o", f"{k}.shard")
    assert main(["merge", "1.shard", "2.shard", "--tblout", "x"]) == 2
    assert "--tblout: these shards hold none; tropalign search --tblout makes it" in capsys.readouterr().err
    assert main(["merge", "1.shard", "2.shard", "--jplace", "x"]) == 2
    assert "--jplace: these shards hold none; tropalign place --jplace makes it" in capsys.readouterr().err
    assert main(["merge", "1.shard", "2.shard", "-o", "x.paf"]) == 2
    assert "the shards hold format text, but x.paf ends in .paf" in capsys.readouterr().err


def test_a_run_goes_on_where_it_was_interrupted(folder, monkeypatch, capsys):
    monkeypatch.setattr(search_task, "MOST_MODELS", 1)
    monkeypatch.setenv("TROPALIGN_LEAST_KEPT_CELLS", "1")
    words = ["search", "all.hmm", PROTEINS, "--tblout", "a.tbl", "--html", "a.html", "-o", "a.txt"]
    run(*words)
    report = Path("a.html").read_bytes()
    for name in ("a.txt", "a.tbl", "a.html"):
        Path(name).unlink()
    compute, done = search_task.SearchTask.on_cpu, []

    def on_cpu(self, tile, *others):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(tile.index)
        return compute(self, tile, *others)

    monkeypatch.setattr(search_task.SearchTask, "on_cpu", on_cpu)
    assert main([*words, "-q"]) == 130
    assert "the same command goes on where this one stopped" in capsys.readouterr().err
    assert not Path("a.txt").exists() and Path("a.txt.parts").is_dir()
    assert main([*words, "-E", "1"]) == 3
    text = "this holds finished parts of another run (thresholds was 'as by default' and is 'E 1.0')"
    assert text in capsys.readouterr().err
    done.clear()
    run(*words)
    assert len(done) == 1
    assert sorted(os.listdir()) == ["a.html", "a.tbl", "a.txt", "all.hmm"]
    assert Path("a.html").read_bytes() == report and plain("a.txt") == plain(DATA / "search.txt")
    assert plain("a.tbl") == plain(DATA / "search.tbl")


def test_what_takes_a_moment_is_not_kept(folder, monkeypatch, capsys):
    def on_cpu(*arguments):
        assert sorted(os.listdir()) == ["all.hmm"]
        raise KeyboardInterrupt

    monkeypatch.setattr(search_task.SearchTask, "on_cpu", on_cpu)
    assert main(["search", "all.hmm", PROTEINS, "-o", "a.txt", "-q"]) == 130
    assert sorted(os.listdir()) == ["all.hmm"]
    monkeypatch.setenv("TROPALIGN_LEAST_KEPT_CELLS", "x")
    assert main(["search", "all.hmm", PROTEINS, "-o", "a.txt", "-q"]) == 2
    assert "TROPALIGN_LEAST_KEPT_CELLS='x' is not a whole number above 0" in capsys.readouterr().err


@pytest.mark.parametrize("from_stream", ["models", "sequences"])
def test_streams(from_stream, folder):
    words, file = ([PFAM, "-"], PROTEINS) if from_stream == "sequences" else (["-", PROTEINS], PFAM)
    command = [sys.executable, "-m", "tropalign.cli.main", "search", *words]
    with open(file) as stream:
        done = subprocess.run(command, stdin=stream, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    run("search", PFAM, PROTEINS, "-o", "whole.txt")
    begin = done.stdout.index(b"Query: ")
    assert done.stdout[begin:] == Path("whole.txt").read_bytes()[Path("whole.txt").read_bytes().index(b"Query: ") :]


def test_compressed_files(folder):
    for name in ("pfam.hmm", "proteins.fasta"):
        with gzip.open(f"{name}.gz", "wb") as file:
            file.write((DATA / name).read_bytes())
    run("search", "pfam.hmm.gz", "proteins.fasta.gz", "-o", "a.txt.gz", "--tblout", "a.tbl.xz")
    run("search", PFAM, PROTEINS, "-o", "b.txt")
    text = gzip.open("a.txt.gz").read()
    assert text[text.index(b"Query: ") :] == Path("b.txt").read_bytes().partition(b"\n\n")[2]


def test_parquet(folder):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    run("search", PFAM, PROTEINS, "-o", "a.parquet")
    frame = polars.read_parquet("a.parquet")
    lines = (DATA / "search.domtbl").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#") and " test " not in line]
    assert frame["target"].to_list() == [row[0] for row in rows]
    assert [f"{value:.1f}" for value in frame["domain_bits"]] == [row[13] for row in rows]
    assert [f"{value:.2g}" for value in frame["i_evalue"]] == [row[12] for row in rows]


def test_tables_are_no_text_for_a_terminal(folder, monkeypatch, capsys):
    pytest.importorskip("pyarrow")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main(["search", PFAM, PROTEINS, "-f", "parquet"]) == 2
    assert "format parquet is no text for a terminal: name a file with -o" in capsys.readouterr().err


USAGE = {
    "-E 0": "argument -E: '0' is not above 0",
    "--domE ten": "argument --domE: 'ten' is not a number",
    "-T nan": "argument -T: 'nan' is not a number",
    "-Z -1": "argument -Z: '-1' is not above 0",
    "--F1 -0.1": "argument --F1: '-0.1' is below 0",
    "--seed 4294967296": "argument --seed: 4294967296 is above 4294967295",
    "--textw 119": "argument --textw: 119 is below 120",
    "-E 1 -T 3": "-E and -T exclude each other: give one of them",
    "--incdomE 1 --incdomT 3": "--incdomE and --incdomT exclude each other: give one of them",
    "--cut_ga --incT 3": "--cut_ga sets all thresholds: leave --incT out",
    "--cut_nc --cut_tc": "--cut_nc sets all thresholds: leave --cut_tc out",
    "--max --F3 1": "--max switches all filters off: leave --F3 out",
    "--max --nobias": "--max switches all filters off: leave --nobias out",
    "--notextw --textw 130": "--notextw and --textw exclude each other: give one of them",
    "-o x.bam": "x.bam: no format has the suffix '.bam'",
    "--tblout x --domtblout x": "two outputs go to x: give each its own name",
    "--shard 1/2": "a shard goes to a file that tropalign merge reads: name it with -o",
}


@pytest.mark.parametrize("words", USAGE)
def test_usage(words, folder, capsys):
    assert main(["search", PFAM, PROTEINS, *words.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"tropalign: {USAGE[words]}") and error.count("\n") == 1
    assert os.listdir() == ["all.hmm"]


def test_standard_input_is_read_once(capsys):
    assert main(["scan", "-", "-"]) == 2
    assert "standard input can be read once: name - once" in capsys.readouterr().err


def test_an_output_is_no_input(folder, capsys):
    for option in ("-o", "--tblout", "-A"):
        words = [option, "all.hmm"] if option != "-o" else ["-o", "all.hmm", "-f", "text"]
        assert main(["search", "all.hmm", PROTEINS, *words]) == 2
        assert "all.hmm is an input: name another file to write to" in capsys.readouterr().err


def test_a_model_without_cutoffs(folder, capsys):
    for verb in ("search", "scan"):
        assert main([verb, "all.hmm", PROTEINS, "--cut_ga", "-o", "x.txt"]) == 3
        text = "tropalign: record 'test': the model has no gathering cutoffs: choose other thresholds\n"
        assert capsys.readouterr().err == text
        assert os.listdir() == ["all.hmm"]


def test_a_scan_has_no_alignment(folder, capsys):
    assert main(["scan", PFAM, PROTEINS, "-o", "x.sto"]) == 3
    assert "hits of a scan make no alignment, since each has its own model" in capsys.readouterr().err
    assert main(["scan", PFAM, PROTEINS, "-A", "x.sto"]) == 2


def test_a_full_disk(folder, capsys):
    if not os.path.exists("/dev/full"):
        pytest.skip("the system has no /dev/full")
    assert main(["search", PFAM, PROTEINS, "-o", "x.txt", "--tblout", "/dev/full"]) == 4
    assert "/dev/full: the disk is full" in capsys.readouterr().err


def test_help_has_an_example(capsys):
    for verb in ("search", "scan"):
        assert main([verb, "--help"]) == 0
        text = capsys.readouterr().out
        assert f"tropalign {verb} " in text and "example:" in text


@pytest.mark.parametrize("verb", ["search", "scan"])
def test_models_of_nucleotides_are_left_out(verb, folder, capsys):
    foreign = DATA.joinpath("reference.hmm").read_bytes().replace(b"ALPH  amino", b"ALPH  DNA")
    Path("mixed.hmm").write_bytes(foreign + Path(PFAM).read_bytes() + foreign)
    words = [verb, "mixed.hmm", PROTEINS, "--tblout", "own.tbl", "-o", "x"]
    assert main(words) == 3
    sentence = "the model is one of DNA, but search is for proteins: leave it out, or use --skip-foreign"
    assert sentence in capsys.readouterr().err
    assert main([*words, "--skip-foreign"]) == 0
    told = "warning: mixed.hmm: 2 models, 'test' for one, are not of proteins, and are left out"
    assert told in capsys.readouterr().err
    run(verb, PFAM, PROTEINS, "--tblout", "plain.tbl", "-o", "y")
    assert plain("own.tbl") == plain("plain.tbl")


def test_models_of_nucleotides_are_left_out_from_python(folder):
    foreign = DATA.joinpath("reference.hmm").read_bytes().replace(b"ALPH  amino", b"ALPH  DNA")
    Path("mixed.hmm").write_bytes(foreign + Path(PFAM).read_bytes())
    with pytest.warns(tropalign.TropalignWarning, match="the model 'test' is not one of proteins, and is left out"):
        found = tropalign.search("mixed.hmm", PROTEINS, skip_foreign=True)
        other = tropalign.scan(PROTEINS, "mixed.hmm", skip_foreign=True)
    assert len(found) == len(tropalign.search(PFAM, PROTEINS)) and len(other) == len(tropalign.scan(PROTEINS, PFAM))
    with pytest.raises(tropalign.InputError, match="the model is one of DNA"):
        tropalign.search("mixed.hmm", PROTEINS)
