"""Samples in names, as vsearch 2.22 tells them, and files of one sample each."""

import numpy as np
import pytest

from tropalign.errors import InputError
from tropalign.sequences import SequenceBatch
from tropalign.sequences.samples import by_label, by_underscore, numbered, pooled, samples_of

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
def test_labels_tell_what_vsearch_was_seen_to_make_of_them(name, sample):
    assert by_label(name) == sample


def test_names_of_samples():
    assert [by_underscore(name) for name in ("S1_2", "a_b_17;size=3", "x")] == ["S1", "a_b", ""]
    assert samples_of(["S1_2", "a_b_17;size=3"], "underscore") == ["S1", "a_b"]
    names, number = numbered(["b", "OTU_2", "a", "OTU_10", "b"])
    assert names == ("OTU_10", "OTU_2", "a", "b") and number.tolist() == [3, 1, 2, 0, 3]


@pytest.mark.parametrize(("name", "rule"), [("r8;sample=", "label"), ("-lead", "label"), ("read", "underscore")])
def test_a_name_without_a_sample_is_refused(name, rule):
    with pytest.raises(InputError, match=f"record '{name}': its name tells no sample"):
        samples_of(["a.1", "b_2", name][2:], rule)


def test_files_are_samples():
    one, two = SequenceBatch.from_strings({"r1": "ACGT", "r2": "CCGG"}), SequenceBatch.from_strings({"r1": "GGGTT"})
    found = pooled([one, two], ["/x/gut.S1.fastq.gz", "skin.fa"])
    assert found.names == ("r1;sample=gut", "r2;sample=gut", "r1;sample=skin")
    assert [str(one) for one in found] == ["ACGT", "CCGG", "GGGTT"]
    np.testing.assert_array_equal(found.offsets, [0, 4, 8, 13])
    assert samples_of(found.names, "label") == ["gut", "gut", "skin"]


@pytest.mark.parametrize(
    ("second", "paths", "sentence"),
    [
        ({"a": "ACGT"}, ["x/S1.fa", "y/S1.fq.gz"], "y/S1.fq.gz: this is sample 'S1', as x/S1.fa: name each file"),
        ({"a": "ACGT"}, ["S1.fa", ".fa"], ".fa: a sample cannot be called ''"),
        ({"a": "ACGT"}, ["lib;1.fa", "lib;2.fa"], "lib;1.fa: a sample cannot be called 'lib;1'"),
        ({"a": "ACGT"}, ["a b.fa", "c.fa"], "a sample cannot be called 'a b'"),
        ({"a;sample=b": "ACGT"}, ["S1.fa", "S2.fa"], "record 'a;sample=b': its name tells a sample, and so does"),
        ({"a": "MKVLW"}, ["S1.fa", "S2.fa"], "S2.fa: proteins beside nucleotides: say what all are with --alphabet"),
    ],
)
def test_files_that_are_no_samples(second, paths, sentence):
    batches = [SequenceBatch.from_strings({"a": "ACGTAC"}), SequenceBatch.from_strings(second)]
    with pytest.raises(InputError, match=sentence):
        pooled(batches, paths)
