"""Equal reads once: against plain Python and vsearch."""

import shutil
import subprocess
from collections import Counter

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
