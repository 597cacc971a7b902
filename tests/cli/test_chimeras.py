"""``tropalign chimeras``: files, verdicts and what is refused."""

import shutil
import subprocess

import pytest

import tropalign as ta
from tropalign.cli.main import main

A = "ACGTTGCAAGCTTAGGCATC" * 6
B = A.replace("TTAGG", "TCAGC")
JOIN = A[:60] + B[60:]
READS = {"a;size=9": A, "b;size=8": B, "c;size=2": JOIN, "d;size=1": A[:-1] + "A"}
_NONE = "0.0000 {} * * * * * * * * 0 0 0 0 0 0 * N\n"
_JOIN = "0.2870 c;size=2 a;size=9 b;size=8 a;size=9 100.0 95.0 95.0 90.0 95.0 6 0 0 6 0 0 5.0 Y\n"
TABLE = (_NONE.format("a;size=9") + _NONE.format("b;size=8") + _JOIN + _NONE.format("d;size=1")).replace(" ", "\t")


def written(path, reads):
    path.write_text("".join(f">{name}\n{text}\n" for name, text in reads.items()))
    return str(path)


@pytest.fixture
def path(tmp_path):
    return written(tmp_path / "unique.fa", READS)


def names(path):
    return [line[1:] for line in path.read_text().splitlines() if line.startswith(">")]


def test_every_sequence_goes_to_the_file_of_its_verdict(path, tmp_path):
    files = {name: tmp_path / name for name in ("good.fa", "bad.fa", "may.fa", "t.uchime")}
    outputs = ["--chimeras", "bad.fa", "--borderline", "may.fa", "--table", "t.uchime", "-o", "good.fa"]
    assert main(["chimeras", path, *(str(files.get(word, word)) for word in outputs), "-q"]) == 0
    assert [names(files[name]) for name in ("good.fa", "bad.fa", "may.fa")] == [
        ["a;size=9", "b;size=8", "d;size=1"], ["c;size=2"], []
    ]  # fmt: skip
    assert files["t.uchime"].read_text() == TABLE
    assert (
        main(["chimeras", path, "--mindiv", "6", "-o", str(files["good.fa"]), "--borderline", str(files["may.fa"])])
        == 0
    )
    assert names(files["may.fa"]) == ["c;size=2"]


def test_the_table_says_how_it_was_made(path, tmp_path):
    table = tmp_path / "t.tsv"
    assert main(["chimeras", path, "--table", str(table), "-o", str(tmp_path / "good.fa"), "--abskew", "3"]) == 0
    lines = table.read_text().splitlines()
    assert "# abskew: 3" in lines and lines[-4].split("\t")[1] == "a;size=9"
    assert next(line for line in lines if not line.startswith("#")).split("\t")[:3] == ["score", "query", "parent_a"]


def test_by_reference_sizes_do_not_count(path, tmp_path):
    out, table = tmp_path / "good.fa", tmp_path / "t.uchime"
    reads = written(tmp_path / "reads.fa", {"x": JOIN, "y;size=3": A})
    db = written(tmp_path / "db.fa.txt", {"a": A, "b": B})
    assert main(["chimeras", reads, "--db", db, "-o", str(out), "--table", str(table), "-t", "2"]) == 0
    assert names(out) == ["y;size=3"]
    assert table.read_text().splitlines()[0].split("\t")[1:5] == ["x", "a", "b", "a"]


@pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
def test_the_table_is_that_of_vsearch(path, tmp_path):
    table = tmp_path / "v.uchime"
    words = ["vsearch", "--uchime_denovo", path, "--uchimeout", str(table), "--quiet"]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    assert table.read_text() == TABLE


def test_what_derep_writes_is_what_chimeras_reads(tmp_path):
    reads = {f"r{k}": text for k, text in enumerate([A] * 9 + [B] * 8 + [JOIN] * 2)}
    unique, good = tmp_path / "u.fa.gz", tmp_path / "good.fa"
    assert main(["derep", written(tmp_path / "reads.fa", reads), "-o", str(unique), "-q"]) == 0
    assert main(["chimeras", str(unique), "-o", str(good), "-q"]) == 0
    assert names(good) == ["r0;size=9", "r9;size=8"]


def test_the_example_has_chimeras(request, tmp_path):
    mock = request.config.rootpath / "examples" / "mock.fasta"
    found = {rule: ta.find_chimeras(mock, rule=rule) for rule in ("uchime", "uchime2", "uchime3")}
    for one in found.values():
        assert {name[:5] for name in one[one.is_chimera].query_sequences.names} == {"chime"}


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["unique.fa", "--rule", "uchime2", "--db", "unique.fa"], 2, "--rule uchime2 goes without --db"),
        (["unique.fa", "--abskew", "3", "--db", "unique.fa"], 2, "--abskew is for sequences without --db"),
        (["unique.fa", "--abskew", "0.5"], 2, "--abskew 0.5: parents are as abundant as their chimera, or more"),
        (["unique.fa", "--rule", "uchime3", "--borderline", "x.fa"], 2, "calls nothing borderline"),
        (["unique.fa", "--mindiffs", "0"], 2, "--mindiffs"),
        (["unique.fa", "--shard", "1/2"], 2, "have no shards"),
        (["unique.fa", "--uchimeout", "x"], 2, "write --table"),
        (["-", "--db", "-"], 2, "standard input can be read once"),
        (["unique.fa", "--chimeras", "unique.fa"], 2, "unique.fa is an input: name another file"),
        (["unique.fa", "--db", "db.fa", "--table", "db.fa"], 2, "no format has the suffix '.fa'"),
        (["unique.fa", "--db", "db.fa", "--chimeras", "db.fa"], 2, "db.fa is an input: name another file"),
        (["unique.fa", "--chimeras", "out.fa"], 2, "two outputs go to out.fa"),
        (["bare.fa"], 3, "no name has an abundance like ;size=12"),
        (["some.fa"], 3, "record 'y': its name has no abundance like ;size=12, and others have"),
        (["proteins.fa"], 3, "the sequences judged protein, and chimeras are sought among nucleotides"),
        (["unique.fa", "--db", "proteins.fa"], 3, "proteins.fa: these are proteins, and the sequences nucleotides"),
        (["unique.fa", "--db", "empty.fa"], 3, "empty.fa"),
        (["absent.fa"], 3, "absent.fa"),
        (["unique.fa", "--memory", "10"], 4, "allow more with --memory"),
    ],
)
def test_what_is_refused(path, tmp_path, capsys, monkeypatch, words, code, sentence):
    monkeypatch.chdir(tmp_path)
    for name, reads in (
        ("db.fa", {"a": A}), ("bare.fa", {"x": A, "y": B}), ("some.fa", {"x;size=2": A, "y": B}),
        ("proteins.fa", {"x;size=2": "MKVLAWHEAGAWMKVLAW"}), ("empty.fa", {}),
    ):  # fmt: skip
        written(tmp_path / name, reads)
    assert main(["chimeras", *words, "-o", "out.fa", "-q"]) == code
    assert sentence in capsys.readouterr().err and not (tmp_path / "out.fa").exists()
    assert (tmp_path / "unique.fa").read_text().startswith(">a;size=9")
