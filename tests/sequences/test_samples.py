"""Samples in names, as vsearch 2.22 tells them, and files of one sample each."""

import numpy as np
import pytest

from tropalign.errors import InputError, UsageError
from tropalign.sequences import SequenceBatch
from tropalign.sequences.annotations import by_underscore, by_vsearch, numbered, pooled, samples_of, teller

#: What ``vsearch --otutabout`` was seen to make of labels.
SEEN = {
    "S1.1": "S1",
    "S1_2": "S1_2",
    "gut-3_4": "gut",
    "r5;sample=gut-3;size=2": "gut-3",
    "r7;barcodelabel=a.b;sample=Q": "a.b",
    "sample=S2": "S2",
    "xsample=S9;r": "xsample",
    "r9;Sample=S3": "r9",
    "r8;sample=": "",
    "-lead": "",
}


@pytest.mark.parametrize(("name", "sample"), SEEN.items())
def test_the_rule_of_vsearch_tells_what_it_was_seen_to_make_of_labels(name, sample):
    assert by_vsearch(name) == teller("vsearch")(name) == sample


def test_names_of_samples():
    assert [by_underscore(name) for name in ("S1_2", "a_b_17;size=3", "x")] == ["S1", "a_b", ""]
    assert samples_of(["S1_2", "a_b_17;size=3"], teller("underscore")) == ["S1", "a_b"]
    names, number = numbered(["b", "OTU_2", "a", "OTU_10", "b"])
    assert names == ("OTU_10", "OTU_2", "a", "b") and number.tolist() == [3, 1, 2, 0, 3]


#: Rule, name and sample: nothing cuts a name but what was asked for.
TOLD = [
    ({}, "gut-1.r1;sample=skin-2", "skin-2"),
    ({}, "sample=skin_2.a", "skin_2.a"),
    ({}, "r1;barcodelabel=a-b;size=3", "a-b"),
    ({"of_file": "lib-1"}, "gut-1.r1", "lib-1"),
    ({"of_file": "lib-1"}, "r1;sample=gut-1", "gut-1"),
    ({"samples": "label"}, "r1;sample=gut-1.2", "gut-1.2"),
    ({"delimiter": "."}, "gut-1.r1", "gut-1"),
    ({"delimiter": "."}, "gut-2.r1.x;size=3", "gut-2"),
    ({"delimiter": "_"}, "S1_L001_17", "S1"),
    ({"delimiter": "::"}, "gut:1::17", "gut:1"),
    ({"delimiter": "-"}, "gut-1.r1", "gut"),
    ({"delimiter": "/"}, "a_b-c.d/1", "a_b-c.d"),
    ({"delimiter": ";x="}, "gut-1;x=3;size=2", "gut-1"),
    ({"delimiter": "|"}, "gut|r1|x", "gut"),
    ({"regex": "^(.*)[.][^.]*$"}, "gut-1.a.r1", "gut-1.a"),
    ({"regex": "S[0-9]+"}, "run7_S12_L001", "S12"),
    ({"regex": "lib=(\\w+)"}, "r1;lib=gut_3;size=2", "gut_3"),
    ({"samples": "underscore"}, "S1_L001_17", "S1_L001"),
    ({"samples": "vsearch"}, "gut-1.r1", "gut"),
]


@pytest.mark.parametrize(("rule", "name", "sample"), TOLD)
def test_what_names_tell(rule, name, sample):
    assert samples_of([name], teller(**rule)) == [sample]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("r8;sample=", {}),
        ("r8;sample=", {"of_file": "gut"}),
        ("gut-1.r1", {}),
        ("gut-1.r1", {"samples": "label"}),
        ("-lead", {"samples": "vsearch"}),
        ("read", {"samples": "underscore"}),
        ("gut-1.r1;size=2", {"delimiter": "_"}),
        ("r1;size=1.5", {"delimiter": "."}),
        (".r1", {"delimiter": "."}),
        ("r1", {"regex": "^(x?)"}),
        ("r1", {"regex": "S[0-9]+"}),
        ("r1", {"regex": "(x)?r1"}),
    ],
)
def test_a_name_without_a_sample_is_refused(name, rule):
    with pytest.raises(InputError, match=f"record '{name}': its name contains no sample.*sample_delimiter"):
        samples_of([name], teller(**rule))


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({"samples": "file"}, "samples 'file' is not one of label, vsearch, underscore"),
        ({"delimiter": ""}, "sample_delimiter must be a non-empty string, not ''"),
        ({"delimiter": 5}, "sample_delimiter must be a non-empty string, not 5"),
        ({"regex": "("}, "sample_regex '\\(' is not a regular expression: missing \\)"),
        ({"delimiter": ".", "regex": "x"}, "sample_delimiter and sample_regex both set the sample"),
        ({"samples": "label", "delimiter": "."}, "samples and sample_delimiter both set"),
    ],
)
def test_what_is_no_rule(rule, sentence):
    with pytest.raises(UsageError, match=sentence):
        teller(**rule)


def test_files_are_samples():
    one, two = SequenceBatch.from_strings({"r1": "ACGT", "r2": "CCGG"}), SequenceBatch.from_strings({"r1": "GGGTT"})
    found = pooled([one, two], ["/x/gut.S1.fastq.gz", "skin.fa"])
    assert found.names == ("r1;sample=gut", "r2;sample=gut", "r1;sample=skin")
    assert [str(one) for one in found] == ["ACGT", "CCGG", "GGGTT"]
    np.testing.assert_array_equal(found.offsets, [0, 4, 8, 13])
    assert samples_of(found.names, teller()) == ["gut", "gut", "skin"]
    labelled = SequenceBatch.from_strings({"r1;sample=a": "ACGT", "r2": "CCGG"})
    assert pooled([labelled, two], ["x.fa", "y.fa"], True).names == ("r1;sample=a", "r2;sample=x", "r1;sample=y")


@pytest.mark.parametrize(
    ("second", "paths", "sentence"),
    [
        ({"a": "ACGT"}, ["x/S1.fa", "y/S1.fq.gz"], "y/S1.fq.gz: this file and x/S1.fa have the same sample name, 'S1'"),
        ({"a": "ACGT"}, ["S1.fa", ".fa"], ".fa: '' is not a valid sample name"),
        ({"a": "ACGT"}, ["lib;1.fa", "lib;2.fa"], "lib;1.fa: 'lib;1' is not a valid sample name"),
        ({"a": "ACGT"}, ["a b.fa", "c.fa"], "'a b' is not a valid sample name"),
        ({"a;sample=b": "ACGT"}, ["S1.fa", "S2.fa"], "record 'a;sample=b': both its name and its file name give"),
        (
            {"a": "MKVLW"},
            ["S1.fa", "S2.fa"],
            "S2.fa, record .a.: this looks like a protein, but record .a. of S1.fa is a nucleotide sequence",
        ),
    ],
)
def test_files_that_are_no_samples(second, paths, sentence):
    batches = [SequenceBatch.from_strings({"a": "ACGTAC"}), SequenceBatch.from_strings(second)]
    with pytest.raises(InputError, match=sentence):
        pooled(batches, paths)
