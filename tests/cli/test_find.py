"""``tropalign find``: pairs with a searcher's defaults, and databases by name."""

import os
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.verbs.db import database_path, databases

COLUMNS = "query,target,score,evalue,bits"
_CODONS = "GCT TGT GAT GAA TTT GGT CAT ATT AAA CTG ATG AAT CCG CAG CGT AGC ACC GTG TGG TAT"
CODONS = dict(zip("ACDEFGHIKLMNPQRSTVWY", _CODONS.split(), strict=True))
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def rows(words, tmp_path):
    """The rows of a command's table, without comments."""
    out = tmp_path / "out.tsv"
    assert main([*words, "--columns", COLUMNS, "-o", str(out), "-q", "--no-comments"]) == 0
    return [line.split("\t") for line in out.read_text().splitlines()[1:]]


@pytest.fixture
def proteins(tmp_path):
    """A query set and a database of which a part is significant."""
    random = np.random.default_rng(5)
    relatives = ta.read_sequences(EXAMPLES / "efp.fasta")
    queries, database = tmp_path / "queries.fa", tmp_path / "database.fa"
    texts = [relatives[k].letters for k in range(12)]
    queries.write_text("".join(f">q{k}\n{text}\n" for k, text in enumerate(texts[:4])))
    others = ["".join(random.choice(list("ACDEFGHIKLMNPQRSTVWY"), 200)) for _ in range(30)]
    database.write_text("".join(f">t{k}\n{text}\n" for k, text in enumerate([*texts[4:], *others])))
    return str(queries), str(database)


def test_translated_search_has_raw_scores(proteins, tmp_path):
    queries, database = proteins
    reads = tmp_path / "reads.fa"
    sequences = ta.read_sequences(queries)
    reads.write_text(
        "".join(f">{one.name}\n{''.join(CODONS[letter] for letter in one.letters)}\n" for one in sequences)
    )
    found = rows(["find", str(reads), database, "--translate", "query"], tmp_path)
    direct = rows(["find", queries, database, "--composition", "ignored"], tmp_path)
    assert [row[:3] for row in found] == [row[:3] for row in direct]


def test_databases_have_names(proteins, tmp_path, monkeypatch, capsys):
    queries, database = proteins
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        assert main(["db", "build", database, "-o", str(folder / "mine.tdb")]) == 0
    assert main(["db", "build", queries, "-o", str(two / "asked.tdb")]) == 0
    monkeypatch.setenv("TROPALIGN_DB", os.pathsep.join([str(one), str(tmp_path / "absent"), str(two)]))
    assert dict(databases()) == {"asked": two / "asked.tdb", "mine": one / "mine.tdb"}
    assert database_path("mine") == database_path("mine.tdb") == str(one / "mine.tdb")
    assert database_path("./mine") == "./mine" and database_path("other") == "other" and database_path("-") == "-"
    assert rows(["find", queries, "mine"], tmp_path) == rows(["find", queries, database], tmp_path)
    capsys.readouterr()
    assert main(["db", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [["asked", "protein"], ["mine", "protein"]]
    assert "38 sequences" in lines[1]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text(">x\nMKV\n")
    assert database_path("mine") == "mine"
