"""``tropalign search`` with queries that are no models, in rounds, and with hits as an alignment."""

from pathlib import Path

import pytest

pytest.importorskip("pyhmmer")


@pytest.fixture
def query(family, tmp_path):
    """The first protein of the family."""
    path = tmp_path / "query.fasta"
    path.write_text(">" + Path(family).read_text().split(">")[1])
    return path


def rows(path):
    """Targets of a table of hits, and its E-values."""
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    return {line[0]: line[4] for line in lines}


def searched(command, tmp_path, *arguments):
    table = tmp_path / "hits.tbl"
    result = command("search", *arguments, "-o", "/dev/null", "--tblout", table, "-q")
    assert result.returncode == 0, result.stderr
    return rows(table)


def test_a_sequence_and_its_rounds(command, query, family, n_family, tmp_path):
    once = searched(command, tmp_path, query, family)
    again = searched(command, tmp_path, query, family, "--iterate", "3")
    assert 0 < len(once) <= len(again) <= n_family and once != again
    assert again == searched(command, tmp_path, query, family, "--iterate", "3", "-t", "2", "--queries", "sequences")


def test_the_alignment_of_hits_is_a_query_again(command, query, family, tmp_path):
    hits = tmp_path / "hits.sto"
    first = searched(command, tmp_path, query, family, "-A", hits)
    text = hits.read_text()
    assert text.startswith("# STOCKHOLM 1.0\n#=GF ID ") and text.endswith("\n//\n")
    assert set(first) <= set(searched(command, tmp_path, hits, family))


def test_shards_of_rounds_merge(command, few, family, tmp_path):
    whole, merged = tmp_path / "whole.tbl", tmp_path / "merged.tbl"
    arguments = ("search", few, family, "--iterate", "2", "-q", "-f", "tblout")
    assert command(*arguments, "-o", whole).returncode == 0
    shards = [tmp_path / f"{k}.shard" for k in (1, 2)]
    for k, shard in enumerate(shards, 1):
        assert command(*arguments, "-o", shard, "--shard", f"{k}/2").returncode == 0
    assert command("merge", *shards, "-o", merged).returncode == 0
    assert rows(merged) == rows(whole) and rows(whole)


@pytest.mark.parametrize(("arguments", "text"), [
    (["--iterate", "2", "--cut_ga"], "--cut_ga goes by models from files, which later rounds have none of"),
    (["--iterate", "0"], "argument --iterate"),
    (["--queries", "msa"], "argument --queries"),
])  # fmt: skip
def test_wrong_options_are_refused(command, query, family, arguments, text):
    result = command("search", query, family, *arguments)
    assert result.returncode == 2 and text in result.stderr


def test_queries_of_nucleotides_are_refused_unless_they_are_said_to_be_proteins(command, family, tmp_path):
    path = tmp_path / "genes.sto"
    path.write_text("# STOCKHOLM 1.0\n\na GATTACAGATTACA\nb GATTA-AGATGACA\n//\n")
    refused = command("search", path, family)
    assert refused.returncode == 3
    assert "record 'genes': this is an alignment of nucleotides (A, C, G, T, U, N alone)" in refused.stderr
    assert command("search", path, family, "--alphabet", "protein", "-o", tmp_path / "hits.txt").returncode == 0


def test_the_text_says_whether_the_query_is_a_sequence(command, query, family, tmp_path):
    """phmmer and jackhmmer give the residues of a sequence, hmmsearch the nodes of a model."""
    n_residues = len("".join(query.read_text().split("\n")[1:]))
    (tmp_path / "query.sto").write_text(f"# STOCKHOLM 1.0\na {'MKVLAWHEAG' * 3}\nb {'MKVLAWHDAG' * 3}\n//\n")
    for file, options, wanted in (
        (query, [], f"[L={n_residues}]"),
        (query, ["--iterate", "2"], f"[L={n_residues}]"),
        (tmp_path / "query.sto", [], "[M=30]"),
    ):
        text = command("search", file, family, *options, "-q").stdout
        (line,) = [line for line in text.splitlines() if line.startswith("Query: ")]
        assert line.split()[-1] == wanted
