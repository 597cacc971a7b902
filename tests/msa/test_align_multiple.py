"""Calls from Python, beside `align_multiple`, which tests/msa/test_pipeline.py has."""

import numpy as np
import pytest

import tropalign as ta
from tropalign.errors import InputError, UsageError

OLD = ta.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAWMKTAYIAK", "MRVILAWMKTAYI-K"])
OTHER = ta.MultipleAlignment.from_rows(["c", "d"], ["MKVLAWMKTAYIAK", "MK-LAWMKTAYIAK"])
NEW = {"c": "MKVLAWMKTAYIAK", "d": "MKLAWMKTAYIAK"}


def residues_of(alignment):
    return {name: row.replace("-", "") for name, row in zip(alignment.names, alignment, strict=True)}


@pytest.mark.parametrize("as_file", [False, True])
def test_into_an_alignment(as_file, tmp_path):
    old, other = OLD, OTHER
    if as_file:
        old, other = tmp_path / "old.aln", tmp_path / "other.sto"
        OLD.write(old)
        OTHER.write(other)
    seen = []
    added = ta.add_sequences(old, NEW, progress=lambda stage, share: seen.append(share))
    merged = ta.merge_alignments(old, other, rules="quickprobs1", n_threads=2)
    for found in (added, merged):
        assert residues_of(found) == residues_of(OLD) | NEW and found[:2].without_empty_columns() == OLD
        assert found[2] == "MKV-LAWMKTAYIAK"
    assert seen and all(0 <= share <= 1 for share in seen)
    assert ta.add_sequences(old, NEW, keep_length=True).n_columns == OLD.n_columns


def test_a_name_twice():
    for call in (lambda: ta.add_sequences(OLD, {"a": "MKV"}), lambda: ta.merge_alignments(OLD, OLD)):
        with pytest.raises(InputError, match="the alignment already has a row with this name"):
            call()


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: ta.add_sequences(3, NEW), "an object of type int is not a MultipleAlignment: create one with"),
        (lambda: ta.merge_alignments(OLD, None), "an object of type NoneType is not a MultipleAlignment"),
        (lambda: ta.add_sequences(OLD, NEW, rules="best"), "rules 'best' is not one of tropalign, quickprobs1"),
        (lambda: ta.add_sequences(OLD, NEW, cutoff=2), "cutoff 2 is not a number from 0.0001 to 0.5"),
        (lambda: ta.merge_alignments(OLD, OTHER, progress=1), "progress 1 is not a function"),
        (lambda: ta.merge_alignments(OLD, OTHER, n_threads=-1), "n_threads -1 is out of range"),
        (lambda: ta.write_alignment(OLD, "x.fa", "word"), "format 'word' is not one of fasta, a2m, a3m, clustal"),
    ],
)
def test_wrong_calls(call, why):
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value).startswith(why)


def test_an_alphabet_for_a_file(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nACGT-A\n>b\nACGTTA\n")
    assert ta.read_alignment(path).sequences.alphabet.name == "nucleotide"
    read = ta.read_alignment(str(path), alphabet="protein")
    assert read.sequences.alphabet.name == "protein" and np.array_equal(read.letters, ta.read_alignment(path).letters)
    with pytest.raises(InputError, match="no alphabet 'word'"):
        ta.read_alignment(path, alphabet="word")


def test_written_in_a_notebook(monkeypatch):
    """Whose standard output takes text alone."""
    import sys

    class Cell:
        text = ""

        def write(self, text):
            self.text += text

        def isatty(self):
            return False

    cell = Cell()
    monkeypatch.setattr(sys, "stdout", cell)
    OLD.write("-", "phylip")
    assert cell.text == "2 15\na MKV-LAWMKTAYIAK\nb MRVILAWMKTAYI-K\n"
