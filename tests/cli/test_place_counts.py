"""Reads that count as a table says: taxa per sample, the table with lineages; beside plain sums and readers of BIOM."""

import json
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from formats.test_pairs_html import data_of

import tropalign as ta
from tropalign.cli.main import main
from tropalign.results.clusters import OtuTable

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "16s"
SAMPLES = ("gut", "Skin", "soil 2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The example's first reads as representatives of clusters, a table that counts them, and the tips' lineages."""
    found = tmp_path_factory.mktemp("counts")
    package = ta.ReferencePackage.read(EXAMPLE / "ref.phy.gz", EXAMPLE / "ref.nwk")
    package.save(found / "ref.npz")
    tips = [package.tree.names[tip] for tip in package.tree.tips]
    lineages = (f"{tip}\tB;p{k // 300};c{k // 90};o{k // 20};g{k // 6}\n" for k, tip in enumerate(tips))
    (found / "tips.tsv").write_text("".join(lineages))
    records = (EXAMPLE / "reads.fasta").read_text().split(">")[1:41]
    texts = [f"Otu{k};size={k}\n" + record.split("\n", 1)[1] for k, record in enumerate(records, 1)]
    (found / "otus.fa").write_text(">" + ">".join(texts) + ">Otu41\nNNNN\n")
    names = [f"Otu{k}" for k in range(1, 42)]
    rng = random.Random(1)
    rng.shuffle(names)
    rows = [[rng.choice([0, 0, 1, 7, 10**10]) for _ in SAMPLES] for _ in names]
    places = [(k, column, reads) for k, row in enumerate(rows) for column, reads in enumerate(row) if reads]
    table = OtuTable(tuple(names), SAMPLES, *np.array(places).T)
    for name in ("otus.tsv", "otus.biom"):
        table.write(found / name)
    return found


def run(folder, *words, reads="otus.fa"):
    named = [
        str(folder / word) if re.search(r"\.(tsv|biom|fa|html|npz|shard|jplace)(\.gz)?$", word) else word
        for word in words
    ]
    return main(["place", "--reference", str(folder / "ref.npz"), str(folder / reads), *named])


def rows_of(path):
    lines = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("# ")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


WHOLE = ["-o", "o.fa", "--table", "t.tsv", "--jplace", "x.jplace", "--taxonomy", "tips.tsv", "-q", "--no-comments"]
TAXA = ["--taxa", "taxa.tsv", "--taxa-html", "taxa.html", "--otu-table"]


@pytest.mark.parametrize("table", ["otus.tsv", "otus.biom"])
def test_reads_count_as_the_table_says(folder, table):
    assert run(folder, *WHOLE, "--counts", table, *TAXA, "out.tsv") == 0
    given = ta.read_otu_table(folder / table)
    counts = dict(zip(given.names, given.counts, strict=True))
    taxon_of, sums, own = {}, Counter(), Counter()
    for row in rows_of(folder / "t.tsv"):
        name = row["read"].partition(";")[0]
        taxon_of[name] = row["taxon"]
        assert int(row["count"]) == counts[name].sum()
        numbers = np.array([1, *counts[name]])
        if row["branch"] == "-1":
            sums["unplaced"], own["unplaced"] = numbers, numbers
            continue
        words = [] if row["taxon"] == "*" else row["taxon"].split(";")
        for rank in range(len(words) + 1):
            sums[";".join(words[:rank]) or "*"] += numbers
        own[row["taxon"]] += numbers
    found = rows_of(folder / "taxa.tsv")
    assert [row["taxon"] for row in found] == [
        *sorted(set(sums) - {"unplaced"}, key=lambda t: t.replace("*", "").split(";")),
        "unplaced",
    ]
    for row in found:
        numbers, of_own = sums[row["taxon"]], own[row["taxon"]] + np.zeros(4, int)
        assert [int(row[name]) for name in ("reads", *SAMPLES)] == numbers.tolist()
        assert int(row["count"]) == numbers[1:].sum()
        assert [int(row["own_reads"]), int(row["own_count"])] == [of_own[0], of_own[1:].sum()]
    entries = json.loads((folder / "x.jplace").read_text())["placements"]
    assert {entry["nm"][0][0].partition(";")[0]: entry["nm"][0][1] for entry in entries} == {
        name: row.sum() for name, row in counts.items() if name != "Otu41"
    }
    out = ta.read_otu_table(folder / "out.tsv")
    assert (out.names, out.samples, out.counts.tolist()) == (given.names, SAMPLES, given.counts.tolist())
    assert [";".join(lineage) or "*" for lineage in out.lineages] == [taxon_of[name] for name in out.names]
    text = (folder / "out.tsv").read_text()
    assert text.startswith("#OTU ID\tgut\tSkin\tsoil 2\ttaxonomy\n") and "\tUnassigned\n" in text


@pytest.mark.parametrize("samples", [(), SAMPLES])
def test_reads_per_branch(folder, samples):
    """As sums over the rows of the table, and over the weights in jplace."""
    assert run(folder, *WHOLE, "--branches", "b.tsv", *(["--counts", "otus.tsv"] if samples else [])) == 0
    given = ta.read_otu_table(folder / "otus.tsv")
    counts, sums, shared, clades = dict(zip(given.names, given.counts, strict=True)), Counter(), Counter(), {}
    for row in rows_of(folder / "t.tsv"):
        of_samples = counts[row["read"].partition(";")[0]] if samples else [int(row["count"])]
        sums[row["branch"]] += np.array([1, int(row["count"]), *of_samples])
        clades[row["branch"]] = row["clade"]
    read = json.loads((folder / "x.jplace").read_text())
    lengths = dict(re.findall(r"\{(\d+)\}:([^:]+):", re.sub(r":([^:{}]+)\{(\d+)\}", r"{\2}:\1:", read["tree"])))
    for entry in read["placements"]:
        for placed in entry["p"]:
            shared[str(placed[0])] += placed[2] * entry["nm"][0][1]
    found = rows_of(folder / "b.tsv")
    assert [row["branch"] for row in found] == [*sorted(shared, key=int), "-1"]
    package = ta.ReferencePackage.load(folder / "ref.npz")
    for row in found:
        numbers = sums[row["branch"]] + np.zeros(2 + max(len(samples), 1), int)
        assert [int(row[name]) for name in ("reads", "count", *samples)] == numbers[: 2 + len(samples)].tolist()
        assert float(row["shared"]) == pytest.approx(shared[row["branch"]], rel=1e-9)
        assert row["clade"] == clades.get(row["branch"], row["clade"])
        if row["branch"] not in ("-1", "0"):  # branch 0 goes through the root
            assert float(row["length"]) == pytest.approx(float(lengths[row["branch"]]))
            assert row["clade"] == package.tree.clades()[int(row["branch"])]
    assert sum(shared.values()) == pytest.approx(sum(int(row["count"]) for row in found[:-1]))


def test_the_page_has_these_numbers(folder):
    assert run(folder, *WHOLE, "--counts", "otus.tsv", *TAXA, "out.tsv") == 0
    data, arrays = data_of((folder / "taxa.html").read_bytes())
    within = np.zeros((len(data["names"]), 3))
    np.add.at(within, (arrays["node"], arrays["sample"]), arrays["count"])
    reads, lineage = arrays["reads"].copy(), [""] * len(reads_of := arrays["parent"])
    for node, above in enumerate(reads_of.tolist()):
        assert above < node
        lineage[node] = f"{lineage[above]};{data['names'][node]}".strip(";") if above >= 0 else ""
    for node in range(len(reads) - 1, 0, -1):
        within[arrays["parent"][node]] += within[node]
        reads[arrays["parent"][node]] += reads[node]
    found = rows_of(folder / "taxa.tsv")
    assert [row["taxon"] for row in found[:-1]] == [name or "*" for name in lineage]
    assert [[float(row[name]) for name in ("reads", *SAMPLES)] for row in found[:-1]] == np.column_stack(
        [reads, within]
    ).tolist()
    assert arrays["unplaced"].tolist() == [float(found[-1][name]) for name in SAMPLES]
    assert (data["samples"], data["unplaced_reads"]) == (list(SAMPLES), 1)


def test_biom_and_scikit_bio_read_it(folder):
    biom = pytest.importorskip("biom")
    h5py = pytest.importorskip("h5py")
    skbio = pytest.importorskip("skbio")
    assert run(folder, *WHOLE, "--counts", "otus.tsv", *TAXA, "out.biom") == 0
    assert run(folder, *WHOLE, "--counts", "otus.tsv", *TAXA, "out.tsv") == 0
    given, wanted = ta.read_otu_table(folder / "otus.tsv"), ta.read_otu_table(folder / "out.tsv").lineages
    lists = [list(lineage) or ["Unassigned"] for lineage in wanted]
    found = biom.load_table(str(folder / "out.biom"))
    with h5py.File(folder / "again.h5", "w") as file:
        found.to_hdf5(file, "a test")
    from biom.cli.table_validator import _validate_table

    assert _validate_table(str(folder / "out.biom"))[0]
    for table in (found, biom.load_table(str(folder / "again.h5")), skbio.Table.read(str(folder / "again.h5"))):
        assert tuple(table.ids("observation")) == given.names and tuple(table.ids("sample")) == SAMPLES
        np.testing.assert_array_equal(table.matrix_data.toarray(), given.counts)
        assert [list(each["taxonomy"]) for each in table.metadata(axis="observation")] == lists
    classic = biom.load_table(str(folder / "out.tsv"))
    assert [each["taxonomy"].split("; ") for each in classic.metadata(axis="observation")] == lists
    np.testing.assert_array_equal(classic.matrix_data.toarray(), given.counts)
    back = ta.read_otu_table(folder / "out.biom")
    assert (back.lineages, back.counts.tolist()) == (wanted, given.counts.tolist())


def test_threads_shards_and_streams_change_nothing(folder, monkeypatch):
    names = ["--table", "t.tsv", "--taxa", "taxa.tsv", "--taxa-html", "taxa.html", "--otu-table", "out.tsv"]
    names += ["--branches", "b.tsv"]
    how = ["--taxonomy", "tips.tsv", "--counts", "otus.tsv", "-q", "--no-comments"]

    def files():
        found = [(folder / name).read_bytes() for name in (*names[1::2], "o.fa")]
        return [re.sub(rb'"command":"[^"]*"', b"", data) for data in found]

    assert run(folder, "-o", "o.fa", *names, *how, "-t", "1") == 0
    wanted = files()
    monkeypatch.setenv("TROPALIGN_TILE_READS", "7")
    assert run(folder, "-o", "o.fa", *names, *how, "-t", "2") == 0
    assert files() == wanted
    for k in (1, 2, 3):
        assert run(folder, "-o", f"{k}.shard", *names, *how, "--shard", f"{k}/3") == 0
    shards = [str(folder / f"{k}.shard") for k in (2, 3, 1)]
    merged = [str(folder / name) if "." in name else name for name in names]
    assert main(["merge", *shards, "-o", str(folder / "o.fa"), *merged, "-q"]) == 0
    assert files() == wanted
    assert main(["merge", *shards, "-o", str(folder / "o.fa"), "--otu-table", str(folder / "x.biom"), "-q"]) == 2
    with (folder / "otus.fa").open("rb") as reads:
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": reads})())
        words = [str(folder / word) if "." in word else word for word in ("-o", "o.fa", *names, *how)]
        assert main(["place", "--reference", str(folder / "ref.npz"), "-", *words]) == 0
    assert files() == wanted


def test_sizes_count_without_a_table(folder):
    assert run(folder, *WHOLE, "--taxa", "sized.tsv", "--taxa-html", "sized.html") == 0
    first, *_ = rows_of(folder / "sized.tsv")
    assert list(first) == ["taxon", "rank", "reads", "count", "own_reads", "own_count"]
    assert (first["reads"], first["count"]) == ("40", str(sum(range(1, 41))))
    data, arrays = data_of((folder / "sized.html").read_bytes())
    assert data["samples"] == [] and arrays["count"].sum() == sum(range(1, 41)) and arrays["unplaced"].tolist() == [1]


def test_shards_of_other_counts_are_another_run(folder, capsys):
    table = ta.read_otu_table(folder / "otus.tsv")
    how = ["--taxa", "u.tsv", "--taxonomy", "tips.tsv", "--counts", "other.tsv", "-q"]
    for k in (1, 2):
        table.write(folder / "other.tsv")
        assert run(folder, "-o", f"{k}.shard", "--shard", f"{k}/2", *how) == 0
        table.reads[0] += 1
    shards = [str(folder / f"{k}.shard") for k in (1, 2)]
    assert main(["merge", *shards, "-o", str(folder / "u.fa"), "--taxa", str(folder / "u.tsv")]) == 3
    assert "counts" in capsys.readouterr().err


def test_from_python(folder):
    package = ta.ReferencePackage.load(folder / "ref.npz")
    lineages = ta.read_taxonomy(folder / "tips.tsv", package)
    table = ta.read_otu_table(folder / "otus.biom").classified(ta.place(package, folder / "otus.fa"), lineages)
    assert run(folder, *WHOLE, "--counts", "otus.tsv", "--otu-table", "out.tsv") == 0
    table.write(folder / "api.tsv")
    assert (folder / "api.tsv").read_bytes() == (folder / "out.tsv").read_bytes()
    with pytest.raises(ta.InputError, match=r"record 'Otu[0-9]+': there is no read for this row \(nor for 39 others\)"):
        table.classified(ta.place(package, [("Otu1", "ACGTACGT")]), lineages)


def test_a_table_that_cannot_be_written_is_refused_before_reads_are_placed(folder, capsys, monkeypatch):
    pytest.importorskip("h5py")
    monkeypatch.setattr("tropalign.verbs.place.run_or_forecast", lambda *_: pytest.fail("reads are placed"))
    tips = (folder / "tips.tsv").read_bytes().replace(b"B;", b"B\0;", 1)
    (folder / "odd.tsv").write_bytes(tips)
    table = str(folder / "o.hdf5")
    assert run(folder, "-o", "u.fa", "--counts", "otus.tsv", "--taxonomy", "odd.tsv", "--otu-table", table) == 3
    assert "BIOM 2.1 does not allow this name: rename it, or write .biom" in capsys.readouterr().err


def test_a_classic_table_that_is_too_large_is_refused_before_reads_are_placed(folder, capsys, monkeypatch):
    monkeypatch.setattr("tropalign.verbs.place.run_or_forecast", lambda *_: pytest.fail("reads are placed"))
    monkeypatch.setattr("tropalign.formats.clusters.otu_tables.MOST_NUMBERS", 100)
    words = ["-o", "u.fa", "--counts", "otus.tsv", "--taxonomy", "tips.tsv", "--otu-table", "many.tsv"]
    assert run(folder, *words) == 3
    assert "a classic table of 41 rows and 3 samples has 123 numbers" in capsys.readouterr().err
