"""Equal reads once: against plain Python and vsearch."""

import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.errors import InputError, UsageError
from tropalign.sequences.annotations import counts_of

COMPLEMENT = str.maketrans("ACGTRY", "TGCAYR")


def reads(seed, n=60):
    """Short reads in which some are equal, some in lower case or with U, some of the other strand."""
    random = np.random.default_rng(seed)
    kinds = ["".join(random.choice(list("ACGT" * 12 + "RY"), int(random.integers(3, 7)))) for _ in range(12)]
    found = {}
    for k in range(n):
        text = str(random.choice(kinds))
        text = text[::-1].translate(COMPLEMENT) if random.random() < 0.3 else text
        text = text.lower() if random.random() < 0.3 else text
        text = text.replace("T", "U") if random.random() < 0.3 else text
        size = f";size={random.integers(1, 5)}" if random.random() < 0.5 else ""
        found[f"{random.choice(list('abXY'))}{random.integers(10)}_{k}{size}"] = text
    return found


def plain(given, strand, least):
    """By definition: name, letters and size of each sequence, and which each read is."""
    first, sizes, number = [], Counter(), []
    for name, text in given.items():
        text = text.upper().replace("U", "T")
        own = [text, text[::-1].translate(COMPLEMENT)][: 1 + (strand == "both")]
        known = [letters.upper().replace("U", "T") for _, letters in first]
        k = next((known.index(one) for one in own if one in known), None)
        if k is None:
            k = len(first)
            first.append((name, given[name]))
        number.append(k)
        sizes[k] += int(name.rpartition("size=")[2]) if ";size=" in name else 1
    kept = sorted((k for k in sizes if sizes[k] >= least), key=lambda k: (-sizes[k], first[k][0].encode()))
    sequences = [(f"{first[k][0].partition(';')[0]};size={sizes[k]}", first[k][1]) for k in kept]
    return sequences, [kept.index(k) if k in kept else -1 for k in number]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("least", [1, 6])
def test_as_by_definition(seed, strand, least):
    given = reads(seed)
    found = ta.dereplicate(given, strand=strand, min_size=least, alphabet="nucleotide")
    sequences, labels = plain(given, strand, least)
    assert [(one.name, str(one)) for one in found.sequences] == sequences
    assert found.labels.tolist() == labels and found.reads == tuple(given)


@pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
@pytest.mark.parametrize("strand", ["plus", "both"])
def test_as_vsearch(tmp_path, strand):
    given = reads(3, 300)
    path, out = tmp_path / "x.fa", tmp_path / "u.fa"
    path.write_text("".join(f">{name}\n{text}\n" for name, text in given.items()))
    words = ["--fastx_uniques", path, "--fastaout", out, "--sizein", "--sizeout", "--strand", strand]
    subprocess.run(["vsearch", *map(str, words)], check=True, capture_output=True, timeout=60)
    theirs = ta.read_sequences(out, alphabet="nucleotide")
    ours = ta.dereplicate(given, strand=strand, alphabet="nucleotide").sequences
    assert ours.names == theirs.names
    np.testing.assert_array_equal(ours.codes, theirs.codes)
    assert counts_of(ours.names).sum() == counts_of(tuple(given)).sum()


@pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (["--topn", 5], {"topn": 5}),
        (["--topn", 3, "--minuniquesize", 2, "--maxuniquesize", 20], {"topn": 3, "min_size": 2, "max_unique_size": 20}),
        (["--minseqlength", 6, "--maxseqlength", 7], {"min_length": 6, "max_length": 7}),
    ],
)
def test_limits_as_vsearch(tmp_path, theirs, ours):
    given = reads(3, 300)
    path, out, own = tmp_path / "x.fa", tmp_path / "u.fa", tmp_path / "o.fa"
    path.write_text("".join(f">{name}\n{text}\n" for name, text in given.items()))
    lengths = [] if "--minseqlength" in theirs else ["--minseqlength", 1]
    words = ["vsearch", "--derep_fulllength", path, "--output", out, "--sizein", "--sizeout", *lengths, *theirs]
    subprocess.run(list(map(str, words)), check=True, capture_output=True, timeout=60)
    expected = ta.read_sequences(out, alphabet="nucleotide")
    found = ta.dereplicate(given, alphabet="nucleotide", **ours)
    assert found.sequences.names == expected.names and len(expected) > 0
    assert found.labels.max() == len(expected) - 1 and found.reads == tuple(given) and (found.labels < 0).any()
    options = [word for name, value in ours.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert main(["derep", str(path), "--alphabet", "nucleotide", *options, "-o", str(own), "-q"]) == 0
    assert ta.read_sequences(own, alphabet="nucleotide").names == expected.names


@pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
@pytest.mark.parametrize("strand", ["plus", "both"])
def test_uc_as_vsearch(tmp_path, strand):
    path, theirs, ours = tmp_path / "x.fa", tmp_path / "theirs.uc", tmp_path / "ours.uc"
    path.write_text("".join(f">{name}\n{text}\n" for name, text in reads(3, 300).items()))
    words = ["vsearch", "--derep_fulllength", path, "--sizein", "--minseqlength", 1, "--strand", strand, "--uc", theirs]
    subprocess.run(list(map(str, words)), check=True, capture_output=True, timeout=60)
    words = ["derep", path, "--strand", strand, "--uc", ours, "-o", tmp_path / "u.fa", "--alphabet", "nucleotide", "-q"]
    assert main(list(map(str, words))) == 0
    assert ours.read_text() == theirs.read_text()


def fastq(path, seed, n, most):
    """Write reads with qualities, each sequence at most `most` times; return name, letters and qualities."""
    random, found = np.random.default_rng(seed), []
    texts = ["".join(random.choice(list("ACGT"), 12)) for _ in range(n)]
    for k, text in enumerate(random.permutation(texts * most).tolist()):
        size = int(random.integers(1, 4))
        turned = text[::-1].translate(COMPLEMENT) if random.random() < 0.3 else text
        found.append((f"r{k};size={size}", turned, random.integers(0, 42, 12).tolist()))
    path.write_text("".join(f"@{name}\n{text}\n+\n{bytes(q + 33 for q in qualities).decode()}\n"
                            for name, text, qualities in found))  # fmt: skip
    return found


@pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
@pytest.mark.parametrize(("theirs", "ours"), [([], []), (["--fastq_qout_max"], ["--quality", "max"])])
def test_fastq_as_vsearch(tmp_path, theirs, ours):
    """Pairs of reads on one strand: vsearch rounds after each read, and does not reverse qualities."""
    path, out, own = tmp_path / "x.fq", tmp_path / "theirs.fq", tmp_path / "ours.fq"
    fastq(path, 1, 40, 2)
    words = ["--fastx_uniques", path, "--fastqout", out, "--sizein", "--sizeout", "--minseqlength", 1, *theirs]
    subprocess.run(["vsearch", *map(str, words)], check=True, capture_output=True, timeout=60)
    assert main(["derep", str(path), *ours, "-o", str(own), "-q"]) == 0
    sizes = counts_of(ta.read_sequences(own).names)
    assert own.read_text() == out.read_text() and (sizes > 2).any() and (sizes == 1).any()


@pytest.mark.parametrize("quality", ["mean", "max"])
def test_fastq_as_by_definition(tmp_path, quality):
    reads = fastq(tmp_path / "x.fq", 2, 20, 5)
    batch = ta.read_sequences(tmp_path / "x.fq", qualities=True)
    found = ta.dereplicate(batch, strand="both", quality=quality).sequences
    for k, one in enumerate(found):
        text, errors, weights = str(one), [], []
        for name, letters, qualities in reads:
            if letters != text and letters[::-1].translate(COMPLEMENT) == text:
                letters, qualities = text, qualities[::-1]
            if letters == text:
                errors.append([min(0.75, 10 ** (-q / 10)) for q in qualities])
                weights.append(int(name.rpartition("=")[2]))
        joined = np.average(errors, axis=0, weights=weights) if quality == "mean" else np.min(errors, axis=0)
        expected = np.floor(-10 * np.log10(joined) + 1e-9).astype(int).tolist()
        assert found.qualities[found.offsets[k] : found.offsets[k + 1]].tolist() == expected and len(errors) == 5
    assert len(found) == 20


def test_fastq_needs_qualities(tmp_path):
    path = tmp_path / "x.fq"
    path.write_text("@a\nACGT\n+\n!I5I\n@b\nACG\n+\n!!!\n")
    assert ta.dereplicate(ta.read_sequences(path)).sequences.qualities is None
    batch = ta.read_sequences(path, qualities=True)
    assert ta.dereplicate(batch).sequences.qualities.tolist() == batch.qualities.tolist()  # of one read each
    with pytest.raises(UsageError, match="quality 'min' is not one of mean, max"):
        ta.dereplicate(batch, quality="min")


@pytest.fixture
def of_both_strands(tmp_path):
    """Parts of references with errors, on both strands, and references, some with two strands; as texts and files."""
    random = np.random.default_rng(1)
    given = ["".join(random.choice(list("ACGT"), 300)) for _ in range(10)]
    given += [one[:150] + one[150:][::-1].translate(COMPLEMENT) for one in given[:4]]
    found = []
    for _ in range(200):
        begin = int(random.integers(0, 200))
        text = np.array(list(given[random.integers(len(given))]))[begin : int(random.integers(begin + 8, 300))]
        differs = random.random(len(text)) < 0.08
        text[differs] = random.choice(list("ACGTN"), differs.sum())
        found.append("".join(text) if random.random() < 0.5 else "".join(text)[::-1].translate(COMPLEMENT))
    for name, texts in (("reads.fa", found), ("genes.fa", given)):
        (tmp_path / name).write_text("".join(f">s{k}\n{text}\n" for k, text in enumerate(texts)))
    return found, given


@pytest.mark.skipif(shutil.which("vsearch") is None, reason="vsearch is not installed")
def test_orientation_as_vsearch(tmp_path, monkeypatch, of_both_strands):
    monkeypatch.chdir(tmp_path)
    words = "--orient reads.fa --db genes.fa --dbmask none --qmask none --fasta_width 0 --threads 1"
    outputs = "--fastaout turned.fa --notmatched theirs.fa --tabbedout theirs.tsv"
    subprocess.run(["vsearch", *words.split(), *outputs.split()], check=True, capture_output=True, timeout=60)
    words = "derep reads.fa --orient genes.fa --unoriented ours.fa --orientations ours.tsv -o unique.fa -q"
    assert main(words.split()) == 0 and main("derep turned.fa -o expected.fa -q".split()) == 0
    table = [line for line in Path("ours.tsv").read_text().splitlines(keepends=True) if not line.startswith("#")]
    assert "".join(table[1:]) == Path("theirs.tsv").read_text()
    assert {line.split("\t")[1] for line in table[1:]} == {"+", "-", "?"}
    assert Path("ours.fa").read_text() == Path("theirs.fa").read_text()
    assert Path("unique.fa").read_text() == Path("expected.fa").read_text()
    reads, references = ({f"s{k}": text for k, text in enumerate(texts)} for texts in of_both_strands)
    found = ta.dereplicate(reads, orient=references)
    assert found.sequences.names == ta.read_sequences("expected.fa").names and found.reads == tuple(reads)
    assert [name for name, label in zip(reads, found.labels, strict=True) if label < 0] == list(
        ta.read_sequences("theirs.fa").names
    )


def test_orientation_turns_qualities():
    """The reverse complement of a read, and the read, have the same sequence and the reverse qualities."""
    text, other = "ACGTTGCAACCGTATTG", "ACGTTGCAACCGTATTG"[::-1].translate(COMPLEMENT)
    scores = np.arange(17, dtype=np.uint8)
    batch = ta.SequenceBatch.from_strings([text, other], ["a", "b"])
    batch = replace(batch, qualities=np.concatenate([scores, scores[::-1]]))
    (one,) = ta.dereplicate(batch, orient=[other], quality="max").sequences
    found = ta.dereplicate(batch, orient=[other], quality="max").sequences
    assert str(one) == other and found.qualities.tolist() == [*scores[:1:-1].tolist(), 1, 1]


def test_orientation_needs_nucleotides_and_a_strand():
    own = ta.SequenceBatch.from_strings(["XYX"], alphabet=ta.Alphabet("own", "XY", complement={"X": "Y", "Y": "X"}))
    with pytest.raises(InputError, match="owns have only one strand"):
        ta.dereplicate(own, orient=own)
    with pytest.raises(InputError, match="proteins have only one strand: leave orient out"):
        ta.dereplicate(["MKVLAWFE"], orient=["MKVLAWFE"])
    with pytest.raises(InputError, match="no read shares enough 12-mers with the references"):
        ta.dereplicate(["ACGTACGTACG", "AAAANAAAANAAAAAAAAAAA"], orient=["ACGTACGTACG", "AAAAAAAAAAANA"])


def test_some_sequences_are_taken():
    unique = ta.dereplicate({"a.1": "ACGT", "b.1": "CCCC", "a.2": "acgt", "d.1": "GGGG", "e.1": "TTTT"})
    one = unique.take(np.array([True, False, True, False]))
    assert one.sequences.names == ("a.1;size=2", "d.1;size=1") and one.labels.tolist() == [0, -1, 0, 1, -1]
    assert one.take([1]).labels.tolist() == [-1, -1, -1, 0, -1]
    table = ta.otu_table(one.clusters(), one, sample_delimiter=".")
    assert table.counts.sum() == 3
    with pytest.raises(IndexError, match="listed twice"):
        unique.take([0, 0])


@pytest.mark.parametrize(
    ("how", "error", "sentence"),
    [
        ({"strand": "minus"}, UsageError, "strand 'minus' is not one of plus, both"),
        ({"min_size": 0}, UsageError, "min_size 0 is below 1: each sequence has at least one read"),
        ({"topn": 0}, UsageError, "topn 0 is out of range: give a number at least 1"),
        ({"min_size": 3, "max_unique_size": 5}, InputError, "no sequence has from 3 to 5 reads: allow other sizes"),
        ({"min_length": 5}, InputError, "no read has at least 5 residues: allow other lengths"),
        ({"min_size": 9}, InputError, "no sequence has at least 9 reads: allow other sizes"),
        (
            {"strand": "both", "alphabet": "protein"},
            InputError,
            "strand both is only for nucleotides, not for proteins",
        ),
    ],
)
def test_what_is_refused(how, error, sentence):
    with pytest.raises(error, match=sentence):
        ta.dereplicate({"a": "ACGT", "b": "ACGT"}, **how)


def test_letters_outside_the_alphabet_equal_themselves_alone(tmp_path):
    path = tmp_path / "x.fa"
    texts = ["ACGTN", "ACGT?", "ACGTX", "ACGT*", "ACGT1", "acgtx", "acgun", "ACGT?"]
    path.write_text("".join(f">s{k}\n{text}\n" for k, text in enumerate(texts)))
    with pytest.warns(ta.TropalignWarning, match="6 letters outside the nucleotide alphabet in 6 records"):
        batch = ta.read_sequences(path, alphabet="nucleotide")
    for strand in ("plus", "both"):
        found = ta.dereplicate(batch, strand=strand)
        groups = {}
        for read, label in zip(found.reads, found.labels.tolist(), strict=True):
            groups.setdefault(label, set()).add(read)
        assert sorted(map(sorted, groups.values())) == [["s0", "s6"], ["s1", "s7"], ["s2", "s5"], ["s3"], ["s4"]]
