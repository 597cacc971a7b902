"""The sequences of a family: what is taken, and what is refused."""

import warnings

import numpy as np
import pytest

import tropalign
from tropalign.errors import InputError, ResourceError, TropalignWarning
from tropalign.msa.family import MOST_RESIDUES, check_family, family_of, read_family
from tropalign.sequences import PROTEIN, SequenceBatch

PROTEINS = {"a": "MKVLAWMKTAYIAKQRQISFVKSHFSRQ", "b": "MKILAWMTAYIAKQRISFVKSHFSRQLE"}
DNA = "ACGTTGCAACGGTTAACCGGTACGATCGAT"


def written(tmp_path, records, name="x.fa"):
    path = tmp_path / name
    path.write_text("".join(f">{name}\n{text}\n" for name, text in records.items()))
    return str(path)


def test_gaps_are_refused_noted_or_removed(tmp_path):
    path = written(tmp_path, {"a": "MKV-LAW.", "b": "--MKILA_"})
    with pytest.warns(TropalignWarning, match=r"x.fa: 5 gaps removed from the sequences"):
        batch = read_family([path], gaps="note")
    with pytest.raises(InputError, match="line 2, record 'a': '-' at position 4 is a gap"):
        read_family([path])
    assert [batch.text(k) for k in range(2)] == ["MKVLAW", "MKILA"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_family([path], gaps="remove").text(0) == "MKVLAW"


def test_several_files_are_one_family(tmp_path):
    paths = [written(tmp_path, {name: text}, f"{name}.fa") for name, text in PROTEINS.items()]
    assert read_family(paths).names == ("a", "b")


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ({**PROTEINS, "odd": DNA},
            "record 'a': this looks like a protein, but record 'odd' is a nucleotide sequence: give sequences of one "
            "kind, or set the kind of all sequences with alphabet"),
        ({**{f"d{k}": DNA * 20 for k in range(3)}, "odd": PROTEINS["a"]},
            "record 'odd': this looks like a protein, but record 'd0' is a nucleotide sequence: give sequences of one "
            "kind, or set the kind of all sequences with alphabet"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::tropalign.TropalignWarning")
def test_two_kinds_in_one_family(records, why, tmp_path):
    with pytest.raises(InputError) as caught:
        read_family([written(tmp_path, records)])
    assert str(caught.value) == f"{tmp_path / 'x.fa'}, {why}"
    assert len(read_family([written(tmp_path, records)], alphabet="protein")) == len(records)


@pytest.mark.parametrize("odd", ["GAGAGA" * 10, "ACGT" * 2, "CCCC" * 10, "NNNNNNNNNNNNNNNNNNNNNNNNN"])
def test_odd_proteins_are_proteins(odd):
    assert len(family_of({**PROTEINS, "odd": odd})) == 3


def test_what_python_may_give(tmp_path):
    aligned = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-L", "MKVIL"])
    assert family_of(aligned).text(0) == "MKVL"
    assert family_of(SequenceBatch.from_strings(PROTEINS)).names == ("a", "b")
    path = tmp_path / "x.fa"
    written(tmp_path, PROTEINS)
    assert family_of(path).names == ("a", "b") and family_of(["MKV", "MKL"]).names == ("sequence_1", "sequence_2")


@pytest.mark.parametrize("given", [[], "MKV", [None, "MKV"], ["MKV", ""], ["MKV", "MK1"], {"a": 3}])
def test_what_it_may_not(given):
    with pytest.raises(InputError):
        family_of(given)


def test_batches_that_cannot_be_aligned():
    with pytest.raises(InputError, match="read the sequences again"):
        family_of(SequenceBatch.without_residues(["a"], [5], PROTEIN))
    batch = SequenceBatch.from_strings(PROTEINS)
    with pytest.raises(InputError, match="there are no sequences"):
        check_family(batch[[]])
    empty = SequenceBatch(batch.codes[:0], np.zeros(2, np.int64), ("e",), PROTEIN, batch.letters[:0])
    with pytest.raises(InputError, match="record 'e': the sequence is empty: remove it"):
        check_family(empty)


def test_a_sequence_longer_than_columns_count():
    with pytest.raises(
        ResourceError,
        match=r"record 'long' has 65,536 residues, but sequences that are aligned as a whole may have at most "
        r"65,535 \(a pair of this length would take about 2.3 GiB and 1 minute of a core\): shorten it, or align",
    ):
        family_of({"a": "MKV", "long": "M" * (MOST_RESIDUES + 1)})
