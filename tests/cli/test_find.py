"""``tropalign find``: pairs with a searcher's defaults, and databases by name."""

import os
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.sequences.databases import database_path, databases

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


def test_proteins_are_judged_by_composition(proteins, tmp_path):
    found = rows(["find", *proteins], tmp_path)
    asked = ["--top", "500", "--max-evalue", "1e-3", "--composition", "adjusted"]
    assert found == rows(["pairs", *proteins, *asked], tmp_path)
    assert 4 * 5 < len(found) < 4 * 38 and all(float(row[3]) <= 1e-3 for row in found)
    raw = rows(["find", *proteins, "--composition", "ignored"], tmp_path)
    assert raw == rows(["pairs", *proteins, *asked[:4]], tmp_path) and raw != found


def test_nucleotides_are_scored_as_by_blastn_on_both_strands(tmp_path):
    random = np.random.default_rng(6)
    genome = "".join(random.choice(list("ACGT"), 5000))
    reverse = genome[1000:1200][::-1].translate(str.maketrans("ACGT", "TGCA"))
    query, database = tmp_path / "q.fa", tmp_path / "d.fa"
    query.write_text(f">a\n{genome[300:450]}\n>b\n{reverse}\n")
    database.write_text(f">g\n{genome}\n")
    found = rows(["find", str(query), str(database)], tmp_path)
    assert [row[:3] for row in found] == [["a", "g", "300"], ["b", "g", "400"]]
    scoring = ["--match", "2", "--mismatch", "-3", "--gap-open", "5", "--gap-extend", "2", "--strand", "both"]
    assert found == rows(
        ["pairs", str(query), str(database), *scoring, "--top", "500", "--max-evalue", ".001"], tmp_path
    )
    assert [row[0] for row in rows(["find", str(query), str(database), "--strand", "plus"], tmp_path)] == ["a"]
    assert rows(["find", str(query), str(database), "--match", "1"], tmp_path)[0][2] == "150"


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


@pytest.mark.parametrize(
    ("value", "sentence"),
    [(None, "and it is not set"), ("{0}", "and no store (.tdb) in {0}")],
)
def test_no_databases(tmp_path, monkeypatch, capsys, value, sentence):
    monkeypatch.delenv("TROPALIGN_DB", raising=False)
    if value is not None:
        monkeypatch.setenv("TROPALIGN_DB", value.format(tmp_path))
    assert main(["db", "list"]) == 2
    assert sentence.format(tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["absent"], 3, "absent"),
        (["{1}", "-f", "matrix"], 2, "invalid choice: 'matrix'"),
        (["{1}", "-o", "x.phy"], 2, "--format matrix holds every pair: that is tropalign pairs"),
        (["{1}", "--mode", "global"], 2, "--mode"),
        (["{1}", "--translate", "query", "--composition", "scaled"], 2, "--composition scaled goes by the residues"),
        (["{1}", "--evalue", "1"], 2, "write --max-evalue"),
        (["{1}", "--db", "x"], 2, "name the queries first, then the database"),
        ([], 2, "DB"),
    ],
)
def test_what_is_refused(proteins, tmp_path, capsys, words, code, sentence):
    queries, database = proteins
    if "--translate" in words:
        queries = str(tmp_path / "n.fa")
        (tmp_path / "n.fa").write_text(">a\nACGTACGTACGTAAACC\n")
    given = [word.format(queries, database) for word in words]
    assert main(["find", queries, "-o", str(tmp_path / "out.tsv"), "-q", *given]) == code
    assert sentence in capsys.readouterr().err


def test_nothing_found_is_an_empty_table(tmp_path):
    query, database = tmp_path / "q.fa", tmp_path / "d.fa"
    query.write_text(">a\nMKVLAWCCHEYFG\n")
    database.write_text(">b\nGGGGSGGGSGGGS\n")
    out = tmp_path / "hits.tsv"
    assert main(["find", str(query), str(database), "-o", str(out), "-q"]) == 0
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) == 1 and lines[0].startswith("query\ttarget")


def test_with_a_second_gap_cost_scores_are_scaled(proteins, tmp_path):
    words = ["find", *proteins, "--gap-open2", "20", "--gap-extend2", "0.5", "-q", "-o", str(tmp_path / "out.tsv")]
    assert main(words) == 0
    assert "# composition: scaled" in (tmp_path / "out.tsv").read_text().splitlines()
