"""Taxids and lineages of targets: kept in a store, shown in every table, in memory and in the file."""

import csv
import json
from pathlib import Path

import pytest
from cli.shard_runs import shards_of
from cli.test_find_in_store import AMINO_ACIDS, in_store, made, output  # noqa: F401  # a fixture

import tropalign as ta
from tropalign.cli.main import main

COLUMNS = "query,target,staxids,lineage"
LINEAGES = {1: 'Bacteria;"Candidatus X", a strain', 2: "Eukaryota;Ärger", 3: ""}


@pytest.fixture
def known(tmp_path, monkeypatch):
    """Files of queries and of a store that knows the taxa of two thirds of its sequences; and what it knows."""
    queries, store = made(tmp_path, AMINO_ACIDS)
    names = ta.read_sequences(store).names
    of_names = {name: k % 3 + 1 for k, name in enumerate(names) if k % 4}
    lines = [f"{name}\t{taxid}\t{LINEAGES[taxid]}\n" for name, taxid in of_names.items()]
    (tmp_path / "taxids.tsv").write_text("name\ttaxid\tlineage\n" + "".join(lines))
    words = ["db", "build", store, "--taxonomy", str(tmp_path / "taxids.tsv"), "-o", str(tmp_path / "known.tdb")]
    assert main(words) == 0
    monkeypatch.chdir(tmp_path)
    return queries, str(tmp_path / "known.tdb"), of_names


def expected(rows, of_names):
    """Taxid and lineage of each target."""
    taxids = [of_names.get(row[1], 0) for row in rows]
    return [[str(taxid) if taxid else "", LINEAGES.get(taxid, "")] for taxid in taxids]


def test_every_table(known):
    queries, store, of_names = known
    words = ["find", queries, store, "--columns", COLUMNS, "-q"]
    for suffix in ("tsv", "m8"):
        assert main([*words, "-o", f"x.{suffix}", "--no-comments"]) == 0
        rows = [line.split("\t") for line in Path(f"x.{suffix}").read_text().split("\n")[:-1]]
        rows = rows[1:] if suffix == "tsv" else rows
        assert len(rows) > 50 and [row[2:] for row in rows] == expected(rows, of_names)
        assert len({tuple(row[2:]) for row in rows}) == 4
    assert main([*words, "-o", "x.csv"]) == 0
    with open("x.csv", newline="") as stream:
        assert list(csv.reader(stream))[1:] == rows
    assert main([*words, "-o", "x.jsonl"]) == 0
    found = [list(json.loads(line).values()) for line in Path("x.jsonl").read_text().split("\n")[:-1]]
    assert found == rows
    pyarrow = pytest.importorskip("pyarrow.parquet")
    assert main([*words, "-o", "x.parquet"]) == 0
    table = pyarrow.read_table("x.parquet")
    assert table["lineage"].to_pylist() == [row[3] for row in rows]
    assert table["staxid"].to_pylist() == [row[2] for row in rows]


def test_a_store_that_memory_does_not_hold(known, tmp_path, in_store):  # noqa: F811
    queries, store, _ = known
    words = ["find", queries, store, "--columns", f"{COLUMNS},evalue", "--format", "tsv"]
    held = output(tmp_path, words, "1.out")
    read = in_store()
    assert output(tmp_path, words, "2.out") == held and read


def test_shards(known):
    queries, store, _ = known
    words = ["find", queries, store, "--columns", COLUMNS, "--no-comments"]
    assert main([*words, "-o", "one.tsv", "-q"]) == 0
    assert main(["merge", *shards_of(3, words), "-o", "merged.tsv", "-q"]) == 0
    assert Path("merged.tsv").read_bytes() == Path("one.tsv").read_bytes()


def test_shards_of_stores_that_know_something_else(known, capsys):
    """Other taxa of the same sequences are another run, if these are shown."""
    queries, store, _ = known
    other = str(Path("targets.tdb"))
    for columns, code in ((COLUMNS, 3), ("query,target", 0)):
        parts = []
        for k, database in enumerate((store, other), 1):
            parts.append(f"{len(columns)}.{k}.shard")
            words = ["--columns", columns, "--shard", f"{k}/2", "-o", parts[-1], "-f", "tsv", "-q"]
            assert main(["find", queries, database, *words]) == 0
        capsys.readouterr()
        assert main(["merge", *parts, "-o", "merged.tsv", "-q"]) == code
        assert ("taxa" in capsys.readouterr().err) == (code == 3)


def test_what_is_known_is_told(known, capsys):
    _, store, of_names = known
    for path, words in ((store, f"of {len(of_names)} sequences (3 taxa); lineages of"), ("targets.tdb", "none")):
        assert main(["db", "info", path]) == 0
        (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("taxids ")]
        assert line.split(None, 1)[1].startswith(words)


def test_from_python(known):
    queries, store, of_names = known
    batch = ta.read_sequences(store)
    (table,) = ta.align_all(Path(queries), batch, top=40, report="score")
    rows = list(zip(*table.columns(["query", "target", "staxid", "lineage"]).values(), strict=True))
    assert [list(row[2:]) for row in rows] == expected(rows, of_names)
    hard = next(ta.align_all(Path(queries), batch, top=40, report="score", mask="seg", mask_hard=True))
    assert set(hard.columns(["staxid"])["staxid"]) == {"", "1", "2", "3"}
    (plain,) = ta.align_all(Path(queries), ta.read_sequences("targets.tdb"), top=40, report="score")
    assert set(plain.columns(["staxid", "lineage"])["lineage"]) == {""}
