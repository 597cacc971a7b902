"""Tables of counts: against plain counting and what reads BIOM."""

import hashlib
import json
from collections import Counter

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.errors import InputError, TropalignWarning, UsageError
from tropalign.formats.clusters.otu_tables import classic_text
from tropalign.results.clusters import OtuTable


@pytest.fixture
def reads():
    """Reads of three samples, of five kinds with errors."""
    random = np.random.default_rng(4)
    kinds = ["".join(random.choice(list("ACGT"), 60)) for _ in range(5)]
    found = {}
    for k in range(200):
        kind = int(random.integers(5))
        text = list(kinds[kind])
        if random.random() < 0.4:
            text[int(random.integers(60))] = str(random.choice(list("ACGT")))
        size = f";size={random.integers(1, 4)}" if random.random() < 0.3 else ""
        found[f"r{k};sample={random.choice(['gut', 'skin', 'Soil'])}{size}"] = "".join(text)
    return found


def counted(clusters, labels, names):
    """Reads of each cluster and sample, one by one."""
    found = Counter()
    for name, label in zip(names, labels, strict=True):
        size = int(name.rpartition(";size=")[2]) if ";size=" in name else 1
        found[int(clusters.labels[label]), name.partition("sample=")[2].partition(";")[0]] += size
    return found


@pytest.mark.parametrize("is_unique", [False, True])
def test_counts_are_those_of_reads(reads, is_unique):
    unique = ta.dereplicate(reads) if is_unique else None
    clusters = ta.cluster(reads if unique is None else unique.sequences, 0.95)
    table = ta.otu_table(clusters, unique)
    labels = range(len(reads)) if unique is None else unique.labels
    wanted = counted(clusters, labels, reads)
    assert table.samples == ("Soil", "gut", "skin") and table.counts.sum() == sum(wanted.values())
    for row, column in np.ndindex(table.counts.shape):
        assert table.counts[row, column] == wanted[row, table.samples[column]]
    np.testing.assert_array_equal(table.counts.sum(axis=1), clusters.cluster_sizes)
    assert table.names == tuple(name.partition(";")[0] for name in clusters.representatives.names)


def test_rare_reads_are_left_out(reads):
    unique = ta.dereplicate(reads, min_size=2)
    table = ta.otu_table(ta.cluster(unique.sequences, 0.95), unique, relabel="Otu")
    assert 0 < table.counts.sum() < ta.otu_table(ta.cluster(reads, 0.95)).counts.sum()
    assert table.names == tuple(f"Otu{k + 1}" for k in range(len(table.names)))


def test_digests_are_names():
    clusters = ta.cluster({"a.1": "acguacguacgu", "b.1": "GGGGGGGGTTTTTT"}, alphabet="nucleotide")
    with pytest.warns(TropalignWarning, match="all 2 reads come from different samples"):
        names = ta.otu_table(clusters, sample_delimiter=".", relabel="sha1").names
    assert names == tuple(hashlib.sha1(text).hexdigest() for text in (b"GGGGGGGGTTTTTT", b"ACGTACGTACGT"))


def test_files_are_what_readers_take(reads, tmp_path):
    table = ta.otu_table(ta.cluster(reads, 0.95), relabel="Otu")
    tsv, biom = tmp_path / "t.tsv", tmp_path / "t.biom"
    table.write(tsv)
    table.write(biom)
    head, *lines = tsv.read_text().splitlines()
    assert head == "#OTU ID\tSoil\tgut\tskin"
    assert [line.split("\t") for line in lines] == [
        [name, *map(str, row)] for name, row in zip(table.names, table.counts.tolist(), strict=True)
    ]
    found = json.loads(biom.read_text())
    assert (found["format"], found["format_url"]) == ("Biological Observation Matrix 1.0.0", "http://biom-format.org")
    assert (found["type"], found["shape"]) == ("OTU table", list(table.counts.shape))
    again = np.zeros(table.counts.shape, int)
    for row, column, count in found["data"]:
        again[row, column] = count
    np.testing.assert_array_equal(again, table.counts)
    assert [row["id"] for row in found["rows"]] == list(table.names)
    assert [column["id"] for column in found["columns"]] == list(table.samples)


def test_biom_reads_it(reads, tmp_path):
    biom = pytest.importorskip("biom")
    table = ta.otu_table(ta.cluster(reads, 0.95), relabel="Otu")
    for name in ("t.biom", "t.tsv"):
        table.write(tmp_path / name)
        found = biom.load_table(str(tmp_path / name))
        assert tuple(found.ids("observation")) == table.names and tuple(found.ids("sample")) == table.samples
        np.testing.assert_array_equal(found.matrix_data.toarray(), table.counts)


def test_what_is_refused(reads):
    clusters = ta.cluster({"r;sample=a": "ACGTACGTACGT", "r;sample=b": "GGGGGGGTTTTTT", "q;sample=b": "GGGGGGGTTTTTT"})
    with pytest.raises(
        InputError,
        match=r"record 'r': two clusters would have this name in the table, .*: rename the clusters with relabel",
    ):
        ta.otu_table(clusters)
    with pytest.raises(UsageError, match="samples 'file' is not one of label, vsearch, underscore"):
        ta.otu_table(clusters, samples="file")
    with pytest.raises(UsageError, match="the clusters do not contain these distinct sequences"):
        ta.otu_table(clusters, ta.dereplicate(reads))
    with pytest.raises(UsageError, match="format 'uc' is not one of tsv, biom"):
        ta.write_clusters(OtuTable(("a",), ("s",), *np.zeros((3, 1), np.int64)), "-", "uc")
    for wrong in ((None,), (clusters, "x")):
        with pytest.raises(UsageError, match="a table requires Clusters"):
            ta.otu_table(*wrong)
    with pytest.raises(UsageError, match="relabel 5 is not a string"):
        ta.otu_table(clusters, relabel=5)


@pytest.fixture
def files(reads, tmp_path):
    """A file per sample, with short names, and one of all."""
    paths = {}
    for name, text in reads.items():
        label, _, rest = name.partition(";sample=")
        sample, semicolon, size = rest.partition(";")
        path = paths.setdefault(sample, tmp_path / f"{sample}.fa")
        with path.open("a") as file:
            file.write(f">{label}{semicolon}{size}\n{text}\n")
    everything = tmp_path / "all.fa"
    everything.write_text("".join(f">{name}\n{text}\n" for name, text in reads.items()))
    return [str(paths[name]) for name in sorted(paths)], str(everything)


def test_files_and_labels_make_one_table(files, reads, tmp_path):
    several, everything = files
    how = ["--dereplicate", "--order", "abundance", "--relabel", "sha1", "--min-identity", "0.95", "-q"]
    tables = []
    for number, names in enumerate((several, [everything])):
        table, out = tmp_path / f"{number}.tsv", tmp_path / f"{number}.out.tsv"
        fasta = tmp_path / f"{number}.fa"
        words = ["cluster", *names, *how, "--otu-table", str(table), "--representatives", str(fasta), "-o", str(out)]
        assert main(words) == 0
        head, *lines = table.read_text().splitlines()
        tables.append((head, sorted(lines)))
        assert [line[1:] for line in fasta.read_text().splitlines()[::2]] == [line.split("\t")[0] for line in lines]
    assert tables[0] == tables[1]
    unique = ta.dereplicate(reads)
    clusters = ta.cluster(unique.sequences, 0.95, order="abundance")
    assert len(tables[0][1]) == len(clusters)
    counts = [[int(word) for word in line.split("\t")[1:]] for line in tables[0][1]]
    assert sum(map(sum, counts)) == clusters.cluster_sizes.sum()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--samples", "label"], 2, "--samples needs --otu-table"),
        (["--sample-delimiter", "."], 2, "--sample-delimiter needs --otu-table"),
        (["--sample-regex", "(", "--otu-table", "t.tsv"], 2, "--sample-regex '(' is not a regular expression"),
        (
            ["--sample-regex", "x", "--samples", "label", "--otu-table", "t.tsv"],
            2,
            "--samples and --sample-regex both set the sample",
        ),
        (
            ["--sample-delimiter", "", "--otu-table", "t.tsv"],
            2,
            "--sample-delimiter must be a non-empty string, not ''",
        ),
        (["--sample-delimiter", "/", "--otu-table", "t.tsv"], 3, "its name contains no sample"),
        (["--relabel", "Otu"], 2, "--relabel needs --representatives or --otu-table"),
        (["--otu-table", "x.biom.txt.fa"], 2, ".fa"),
        (["--dereplicate", "--method", "single", "--shard", "1/2"], 2, "leave --dereplicate out"),
        (["--relabel", "", "--otu-table", "t.tsv"], 2, "--relabel is empty or has control characters: give letters"),
        (["--relabel", "#x", "--otu-table", "t.tsv"], 2, "--relabel #x: readers"),
        (["--otu-table", "t.tsv", "--samples", "underscore", "--dry-run"], 3, "its name contains no sample"),
        (
            ["--otu-table", "t.tsv", "--samples", "underscore", "--method", "single", "--shard", "1/2"],
            3,
            "name contains no sample",
        ),
        (["--otutabout", "x"], 2, "write --otu-table"),
        (["--relabel_sha1"], 2, "write --relabel sha1"),
        (["-", "-"], 2, "standard input can be read only once"),
        (["-", "--samples", "file"], 2, "standard input has no file name"),
        (["-"], 2, "standard input has no file name to use as a sample"),
        (["absent.fa"], 3, "absent.fa"),
        (["{0}", "--samples", "file", "--otu-table", "{1}/t.tsv"], 3, "this file and"),
    ],
)
def test_what_the_command_refuses(files, tmp_path, capsys, words, code, sentence):
    several, _ = files
    given = [word.format(several[0], tmp_path) for word in words]
    assert main(["cluster", several[0], *given, "-o", str(tmp_path / "out.tsv"), "-q"]) == code
    assert sentence in capsys.readouterr().err


#: Words, and the table of `NAMED` that they make, on the first line and then by names of samples.
NAMED = ["gut-1.r1", "gut-1.r2", "gut-2.r1", "skin_3.r1;size=4"]
CUT = {
    "": {"lib-7": 7},
    "--samples vsearch": {"gut": 3, "skin_3": 4},
    "--sample-delimiter .": {"gut-1": 2, "gut-2": 1, "skin_3": 4},
    "--sample-regex ^[a-z]+.[0-9]": {"gut-1": 2, "gut-2": 1, "skin_3": 4},
    "--sample-regex ([0-9])[.]": {"1": 2, "2": 1, "3": 4},
}


@pytest.mark.parametrize("verb", ["derep", "cluster"])
@pytest.mark.parametrize("words", CUT)
def test_nothing_cuts_names_unasked(tmp_path, monkeypatch, capsys, verb, words):
    """A line says how names were cut."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib-7.fasta.txt").write_text("".join(f">{name}\nACGTACGTACGTACGTT\n" for name in NAMED))
    given = [verb, "lib-7.fasta.txt", "--otu-table", "t.tsv", "-o", "out.fa" if verb == "derep" else "out.tsv"]
    assert main([*given, *words.split()]) == 0
    head, row = (line.split("\t")[1:] for line in (tmp_path / "t.tsv").read_text().splitlines())
    assert dict(zip(head, map(int, row), strict=True)) == CUT[words]
    line = next(line for line in capsys.readouterr().err.splitlines() if line.startswith("samples: "))
    assert all(f"'{name}' (" in line for name in CUT[words]) and "such as 'gut-1.r1')" in line
    assert main([*given, *words.split(), "-q"]) == 0 and "samples:" not in capsys.readouterr().err


def test_labels_go_before_files_and_a_few_samples_are_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for k in range(6):
        (tmp_path / f"s{k}.fa").write_text(f">r1\nACGTACGTACGT\n>r{k + 2};sample=other-1\nACGTACGTACGT\n")
    files = [f"s{k}.fa" for k in range(6)]
    assert main(["derep", *files, "--otu-table", "t.tsv", "-o", "u.fa"]) == 0
    head, row = (tmp_path / "t.tsv").read_text().splitlines()
    assert head.split("\t")[1:] == ["other-1", *(f"s{k}" for k in range(6))] and row.split("\t")[1:] == ["6", *"111111"]
    assert "samples: 'other-1' (6 names, such as 'r2;sample=other-1'), 's0' (1" in capsys.readouterr().err
    assert main(["derep", *files, "--samples", "file", "--otu-table", "t.tsv", "-o", "u.fa", "-q"]) == 3
    assert "both its name and its file name give a sample: omit --samples file" in capsys.readouterr().err


def test_a_table_of_different_sequences_counts_as_their_reads(reads, tmp_path):
    unique = ta.dereplicate(reads)
    ta.otu_table(unique.clusters(), unique).write(tmp_path / "u.tsv")
    table = ta.read_otu_table(tmp_path / "u.tsv")
    kept = unique.take(np.arange(0, len(unique.sequences), 2))
    clusters = ta.cluster(kept.sequences, 0.95, order="abundance")
    one, other = ta.otu_table(clusters, kept), ta.otu_table(clusters, table)
    assert (one.names, one.samples) == (other.names, other.samples)
    np.testing.assert_array_equal(one.counts, other.counts)
    with pytest.raises(InputError, match="the table has no row for the sequence 'x'"):
        ta.otu_table(ta.cluster({"x": "ACGTACGTACGT"}), table)
    twice = {f"{table.names[0]};size={k}": "ACGTACGTACGT" for k in (1, 2)}
    with pytest.raises(InputError, match="both match this row"):
        ta.otu_table(ta.cluster(twice), table)


def test_a_classic_table_of_zeros_is_refused_before_it_is_made():
    n = 20_000
    names, one = tuple(f"r{k}" for k in range(n)), np.arange(n)
    table = OtuTable(names, names, one, one, np.ones(n, np.int64))
    with pytest.raises(
        InputError, match=r"20,000 rows and 20,000 samples has 400,000,000 numbers.* write a \.biom file"
    ):
        classic_text(table)
