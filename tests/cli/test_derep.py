"""``tropalign derep``: equal reads once, and their table."""

import gzip

import pytest

import tropalign as ta
from tropalign.cli.main import main

READS = {"r1": "ACGTACGTT", "r2;size=3": "CCCCGGGG", "r3": "acguacguu", "r4": "AACGTACGT", "r5": "TTTTTT"}


@pytest.fixture
def path(tmp_path):
    """The reads, compressed."""
    path = tmp_path / "gut.S1.fa.gz"
    path.write_bytes(gzip.compress("".join(f">{name}\n{text}\n" for name, text in READS.items()).encode()))
    return str(path)


def records(path):
    batch = ta.read_sequences(path)
    return {one.name: str(one) for one in batch}


def test_equal_reads_are_written_once(path, tmp_path):
    out = tmp_path / "u.fa"
    assert main(["derep", path, "-o", str(out)]) == 0
    assert list(records(out).items()) == [
        ("r2;size=3", "CCCCGGGG"), ("r1;size=2", "ACGTACGTT"), ("r4;size=1", "AACGTACGT"), ("r5;size=1", "TTTTTT")
    ]  # fmt: skip


def test_strands_sizes_and_names(path, tmp_path):
    out, table = tmp_path / "u.fa", tmp_path / "t.tsv"
    words = ["--strand", "both", "--min-size", "2", "--no-sizes", "--samples", "file", "--otu-table", str(table)]
    assert main(["derep", path, *words, "-o", str(out)]) == 0
    assert list(records(out).items()) == [("r1", "ACGTACGTT"), ("r2", "CCCCGGGG")]
    assert table.read_text() == "#OTU ID\tgut\nr1\t3\nr2\t3\n"


def test_digests(path, tmp_path):
    out, table = tmp_path / "u.fa", tmp_path / "t.tsv"
    assert (
        main(["derep", path, "--relabel", "sha1", "--samples", "file", "--otu-table", str(table), "-o", str(out)]) == 0
    )
    names = [name.partition(";")[0] for name in records(out)]
    assert [line.split("\t")[0] for line in table.read_text().splitlines()[1:]] == names
    assert all(len(name) == 40 for name in names)


def test_clusters_of_it_are_those_of_dereplicated_reads(path, tmp_path):
    unique, one, two = (tmp_path / name for name in ("u.fa", "one.tsv", "two.tsv"))
    assert main(["derep", path, "-o", str(unique)]) == 0
    how = ["--order", "abundance", "--min-identity", "0.9", "-f", "uc", "-q"]
    assert main(["cluster", str(unique), *how, "-o", str(one)]) == 0
    assert main(["cluster", path, "--dereplicate", *how, "-o", str(two)]) == 0
    assert one.read_text() == two.read_text()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--min-size", "0"], 2, "--min-size"),
        (["--min-size", "9"], 3, "no sequence has 9 reads: ask for fewer"),
        (["--samples", "file", "--shard", "1/2"], 2, "have no shards"),
        (["--samples", "underscore", "--otu-table", "t.tsv"], 3, "record 'r1': its name tells no sample"),
        (["--otu-table", "t.xlsx"], 2, ".xlsx"),
        (["--samples", "label"], 2, "--samples belongs to --otu-table"),
        (["absent.fa"], 3, "absent.fa"),
    ],
)
def test_what_is_refused(path, tmp_path, capsys, monkeypatch, words, code, sentence):
    monkeypatch.chdir(tmp_path)
    assert main(["derep", path, *words, "-o", "out.fa", "-q"]) == code
    assert sentence in capsys.readouterr().err and not (tmp_path / "out.fa").exists()
