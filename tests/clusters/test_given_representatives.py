"""Reads mapped to given representatives: the plain oracle, vsearch, tables, formats, and bad input."""

import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from clusters.test_clusters import batch_of, families, pair_similarity

import tropalign as ta
from tropalign.cli.main import main
from tropalign.clusters.methods import compared_by, with_given
from tropalign.clusters.options import ClusterOptions
from tropalign.pairwise.options import PairOptions
from tropalign.results.names import DEFINITIONS
from tropalign.scoring import Gap, SubstitutionMatrix

EXAMPLES = Path(__file__).parents[2] / "examples"
#: vsearch's scores and definition of identity.
VSEARCH = (
    "--match 2 --mismatch -4 --iupac zero --gap-open 18 --gap-extend 2 --end-gap-open 1 --end-gap-extend 1 "
    "--identity internal --ambiguous match"
).split()


def given_and_reads(seed, n=40, n_given=7):
    texts = families(np.random.default_rng(seed), n, "ACGT")
    return batch_of(texts[:n_given], ta.NUCLEOTIDE), batch_of(texts[n_given:], ta.NUCLEOTIDE)


@pytest.mark.parametrize("definition", sorted(DEFINITIONS))
@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("assign", ["best", "first"])
def test_by_definition(definition, strand, assign):
    given, reads = given_and_reads(len(definition))
    matrix = SubstitutionMatrix.match_mismatch(5, -4, ta.NUCLEOTIDE)
    pairs = PairOptions(matrix, Gap(10, 1), mode="global", strand=strand)
    options = ClusterOptions(pairs, min_identity=0.7, identity=definition, assign=assign)
    both, n = with_given(given, reads)
    similar = pair_similarity(both, options)
    expected = []
    for k in range(n, len(both)):
        found = [(similar(k, of), -of) for of in range(n)]
        found = [one for one in found if one[0] >= 0.7]
        expected.append(-1 if not found else -(max(found) if assign == "best" else found[0])[1])
    for threads in (1, 2):
        mapped = ta.cluster(
            reads, 0.7, to=given, identity=definition, assign=assign, matrix=matrix, gap=Gap(10, 1), strand=strand,
            n_threads=threads,
        )  # fmt: skip
        assert mapped.labels.tolist() == [*range(n), *expected]
    assert len({*expected}) > 2
    np.testing.assert_array_equal(mapped.sizes[:n], 0)
    assert mapped.cluster_sizes.tolist() == [expected.count(k) for k in range(n)]
    assert mapped.unmapped.names == tuple(name for name, label in zip(reads.names, expected, strict=True) if label < 0)
    again = pickle.loads(pickle.dumps(mapped))
    np.testing.assert_array_equal(again.labels, mapped.labels)


@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("ends", [(1, 1), (0, 2), (3, 0)])
@pytest.mark.parametrize("definition", ["internal", "columns", "openings"])
def test_cheap_end_gaps_skip_no_similar_pair(strand, ends, definition):
    gap, end_gap = Gap(6, 2), Gap(*ends)
    matrix = SubstitutionMatrix.match_mismatch(2, -4, ta.NUCLEOTIDE, "zero")
    for seed in range(6):
        given, reads = given_and_reads(seed + 50, 60, 20)
        both, n = with_given(given, reads)
        pairs = PairOptions(matrix, gap, end_gap=end_gap, mode="global", strand=strand)
        options = ClusterOptions(pairs, min_identity=0.8, identity=definition, n_given=n)
        compared, _ = compared_by(both, options, 1, 1 << 30, ["cpu"])
        read, of = (places.ravel() for places in np.indices((len(reads), n)))
        similar = compared.similarities(read + n, of).reshape(len(reads), n)  # every pair
        expected = np.where(similar.max(axis=1) >= 0.8, similar.argmax(axis=1), -1)
        found = ta.cluster(
            reads, 0.8, to=given, identity=definition, matrix=matrix, gap=gap, end_gap=end_gap, strand=strand
        )
        np.testing.assert_array_equal(found.labels[n:], expected)


def test_many_blocks_give_the_same(monkeypatch):
    given, reads = given_and_reads(5, 300, 40)
    whole = ta.cluster(reads, 0.8, to=given)
    monkeypatch.setattr("tropalign.clusters.methods.MOST_BLOCK", 8)
    told = []
    np.testing.assert_array_equal(ta.cluster(reads, 0.8, to=given, progress=told.append).labels, whole.labels)
    assert told[-1] == len(reads)


def test_equally_similar_representatives_the_first_counts():
    found = ta.cluster({"r": "ACGTACGTAC"}, 0.8, to={"a": "ACGTACGTAA", "b": "ACGTACGTAC", "c": "ACGTACGTAC"})
    assert found.labels.tolist() == [0, 1, 2, 1]


def test_results_are_selected_saved_and_counted(tmp_path):
    otus = {"x": "ACGTACGTACGTACGT", "y": "GGGTTTCCCAAATTTG", "z": "CTCTCTCTAAAACTCT"}
    reads = {"s.1": "ACGTACGTACGTACGT", "s.2": "CACACACACACACACA", "t.1": "CTCTCTCTAAAACTCT", "t.2": "ACGTACGTACGTACGT"}
    found = ta.cluster(reads, 0.9, to=otus)
    table = ta.otu_table(found, sample_delimiter=".")
    assert (table.names, table.samples, table.counts.tolist()) == (("x", "z"), ("s", "t"), [[1, 1], [0, 1]])
    unique = ta.dereplicate(reads)
    again = ta.otu_table(ta.cluster(unique.sequences, 0.9, to=otus), unique, sample_delimiter=".")
    assert again.counts.tolist() == table.counts.tolist() and again.names == table.names
    found.write(tmp_path / "x.result")
    # OTUs that were written with --sizeout: their counts of an earlier run do not matter, not even 0.
    counted = {f"{name};size={size}": text for (name, text), size in zip(otus.items(), (3, 0, 10**15), strict=True)}
    numbers = ta.otu_table(ta.cluster(reads, 0.9, to=counted), sample_delimiter=".")
    assert (numbers.names, numbers.counts.tolist()) == (("x", "z"), [[1, 1], [0, 1]])
    kept = ta.read_result(tmp_path / "x.result")
    assert kept.n_given == 3 and kept.labels.tolist() == found.labels.tolist() == [0, 1, 2, 0, -1, 2, 0]
    some = kept.take([2])
    assert some.members(0) == ["z", "t.1"] and some.n_given == 1 and len(some.unmapped) == 0
    assert found.columns()["member"].tolist() == ["x", "s.1", "t.2", "y", "z", "t.1"]
    found.write(tmp_path / "x.html")
    assert b"s.1" in (tmp_path / "x.html").read_bytes()


@pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
@pytest.mark.parametrize("strand", ["plus", "both"])
def test_counts_as_vsearch(tmp_path, strand, capsys):
    records = (EXAMPLES / "amplicons.fasta").read_text().split(">")[1:]
    rng = np.random.default_rng(2)
    texts = ["".join(record.split("\n")[1:]) for record in records]
    complement = str.maketrans("ACGT", "TGCA")
    otus, reads, ours, theirs = (tmp_path / name for name in ("otus.fa", "reads.fa", "ours", "theirs"))
    with reads.open("w") as out:
        for k in range(120):
            text = "".join(
                letter if rng.random() > 0.01 else ("", "A", "N")[rng.integers(3)]
                for letter in texts[rng.integers(len(texts))]
            )
            out.write(f">s{k % 3}.{k}\n{text if k % 5 else text[::-1].translate(complement)}\n")
    otus.write_text("".join(f">{record}" for record in records[:40]))
    words = ["--usearch_global", reads, "--db", otus, "--id", "0.97", "--strand", strand, "--qmask", "none", "--dbmask"]
    words += ["none", "--maxaccepts", "0", "--maxrejects", "0", "--uc", f"{theirs}.uc", "--notmatched", f"{theirs}.fa"]
    command = ["vsearch", "--quiet", "--threads", "1", "--fasta_width", "0", "--otutabout", f"{theirs}.tsv", *words]
    subprocess.run(list(map(str, command)), check=True, timeout=300)
    command = ["cluster", reads, "--to", otus, *VSEARCH, "--strand", strand, "-o", f"{ours}.uc", "-q"]
    command += ["--unmapped", f"{ours}.fa", "--otu-table", f"{ours}.tsv", "--samples", "vsearch"]
    assert main(list(map(str, command))) == 0
    target = [
        {line.split("\t")[8]: line.split("\t")[9] for line in Path(f"{path}.uc").read_text().splitlines()}
        for path in (ours, theirs)
    ]
    assert target[0] == target[1] and "*" in target[0].values()
    assert sorted(Path(f"{ours}.tsv").read_text().splitlines()) == sorted(
        Path(f"{theirs}.tsv").read_text().splitlines()
    )
    missed = [ta.read_sequences(f"{path}.fa") for path in (ours, theirs)]
    assert sorted(missed[0].names) == sorted(missed[1].names)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--order", "abundance"], 2, "--to gives the representatives: leave --order out"),
        (["--method", "single"], 2, "--to gives the representatives: leave --method out"),
        (["--shard", "1/2"], 2, "there are no shards"),
    ],
)
def test_what_is_refused(tmp_path, capsys, words, code, sentence):
    path = tmp_path / "x.fa"
    path.write_text(">a\nACGTACGT\n")
    assert main(["cluster", str(path), "--to", str(path), "-o", str(tmp_path / "o"), *words]) == code
    assert sentence in capsys.readouterr().err


def test_unmapped_needs_given_representatives(tmp_path, capsys):
    path, proteins = tmp_path / "x.fa", tmp_path / "p.fa"
    path.write_text(">a\nACGTACGT\n")
    proteins.write_text(">p\nMKVLAWEFILPQ\n")
    assert main(["cluster", str(path), "--unmapped", str(tmp_path / "u.fa")]) == 2
    assert "--unmapped needs --to" in capsys.readouterr().err
    assert main(["cluster", str(path), "--to", str(proteins)]) == 3
    assert "these are proteins, but the sequences are nucleotides" in capsys.readouterr().err
    with pytest.raises(ta.InputError, match="the representatives are proteins, but the sequences are nucleotides"):
        ta.cluster({"a": "ACGTACGT"}, to={"p": "MKVLAWEFILPQ"})
