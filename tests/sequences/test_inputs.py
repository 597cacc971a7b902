"""What Python code may give as sequences, and what it may not."""

import io
import math
import sys
import types
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest
from Bio.Seq import MutableSeq, Seq
from Bio.SeqRecord import SeqRecord

import tropalign as ta
from tropalign.sequences import Sequence

ONE, TWO = "MKVLAW", "MKILAW"
NUMBERED, NAMED = ("sequence_1", "sequence_2"), ("a", "b")


class Foreign:
    """A sequence of another library: text in all but its type."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text

    def __len__(self):
        return len(self.text)


@pytest.mark.parametrize(
    ("sequences", "names"),
    [
        ([ONE, TWO], NUMBERED),
        ((ONE, TWO), NUMBERED),
        ([ONE.encode(), bytearray(TWO.encode())], NUMBERED),
        ([Seq(ONE), MutableSeq(TWO)], NUMBERED),
        ([SeqRecord(Seq(ONE), "a"), SeqRecord(Seq(TWO), "b")], NAMED),
        ([("a", ONE), ("b", TWO)], NAMED),
        ([("a", Seq(ONE)), ("b", TWO.encode())], NAMED),
        ({"a": ONE, "b": TWO}, NAMED),
        ({"a": SeqRecord(Seq(ONE), "x"), "b": Seq(TWO)}, NAMED),
        ([Sequence("a", ONE, ta.PROTEIN), Sequence("b", TWO, ta.PROTEIN)], NAMED),
        ((text for text in (ONE, TWO)), NUMBERED),
        (zip(NAMED, (ONE, TWO), strict=True), NAMED),
        (np.array([ONE, TWO]), NUMBERED),
        (np.array([ONE, TWO], object), NUMBERED),
        (np.array([ONE, TWO], "S6"), NUMBERED),
        (pandas.Series([ONE, TWO], index=[7, 8]), NUMBERED),
        (pandas.Series([ONE, TWO], index=["a", "b"]), NAMED),
        (pandas.Series({"a": SeqRecord(Seq(ONE), "x"), "b": Seq(TWO)}), NAMED),
        (pandas.DataFrame({"s": [ONE, TWO]}, index=["a", "b"]).s, NAMED),
        (pandas.DataFrame({"s": [ONE, TWO]}).s, NUMBERED),
        (polars.Series([ONE, TWO]), NUMBERED),
        ([Foreign(ONE), Foreign(TWO)], NUMBERED),
    ],
)
def test_understood(sequences, names):
    batch = ta.SequenceBatch.from_strings(sequences)
    assert batch.names == names and [batch.text(k) for k in range(2)] == [ONE, TWO]


def test_align_and_align_all_take_the_same_but_no_empty_side():
    (wanted,) = ta.align_all([ONE, TWO])
    for sequences in ({"a": ONE, "b": TWO}, [SeqRecord(Seq(ONE), "a"), SeqRecord(Seq(TWO), "b")]):
        (table,) = ta.align_all(sequences)
        assert table.score.tolist() == wanted.score.tolist() and table.row(0).query == "a"
    row = ta.align(SeqRecord(Seq(ONE), "x"), Sequence("y", TWO, ta.PROTEIN))
    assert (row.query, row.target) == ("x", "y")
    row = ta.align(ONE.encode(), Seq(TWO))
    assert (row.query, row.target) == ("query", "target")
    batch = ta.SequenceBatch.from_strings([ONE, TWO])
    for sides in ((batch, []), (batch, batch[0:0]), (batch[0:0], batch), (batch[0:0],)):
        with pytest.raises(ta.InputError, match="there is no sequence: give one or more"):
            ta.align_all(*sides)


def test_files(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(f">a\n{ONE}\n>b\n{TWO}\n")
    for named in (path, str(path)):
        (table,) = ta.align_all(named)
        assert table.row(0).target == "b"
    for stream in (open(path, "rb"), open(path), io.BytesIO(path.read_bytes()), io.StringIO(path.read_text())):
        with stream:
            assert ta.read_sequences(stream).names == ("a", "b")
            assert not stream.closed
    with open(path, "rb") as one, io.StringIO(">c\nMKV\n") as two:
        assert ta.read_sequences([one, two]).names == ("a", "b", "c")


def test_functions_take_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.fa").write_text(f">a\n{ONE}\n>b\n{TWO}\n")
    rows = ta.align_multiple("a.fa")
    ta.write_alignment(rows, "a.aln", "fasta")
    assert ta.cluster("a.fa").sequences.names == ta.align_to_model(ta.build_model("a.aln"), "a.fa").names == ("a", "b")
    Path("c.aln").write_text(Path("a.aln").read_text().replace(">", ">second_"))
    assert ta.merge_alignments("a.aln", "c.aln").names == ("a", "b", "second_a", "second_b")
    assert (ta.trees.alignment_distances("a.aln") == ta.trees.alignment_distances(rows)).all()
    dna = "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20
    Path("b.fa").write_text(f">x\n{dna}\n>y\n{dna}\n")
    assert ta.decode("cpg", "b.fa") == ta.decode("cpg", Path("b.fa")) == ta.decode("cpg", {"x": dna, "y": dna})
    with pytest.raises(ta.InputError, match=r"c\.fa: there is no such file"):
        ta.align_multiple("c.fa")


NO_SEQUENCE = "is not a sequence: give strings, bytes, Seq or SeqRecord objects, or (name, sequence) pairs"
NO_SET = "is not a set of sequences: give strings"


@pytest.mark.parametrize(
    ("sequences", "sentence"),
    [
        ([None, None], f"record 'number 1': None {NO_SEQUENCE}"),
        ([ONE, math.nan], f"record 'number 2': nan {NO_SEQUENCE}"),
        (pandas.Series([ONE, None], dtype=object), "record 'number 2'"),
        (pandas.Series([ONE, TWO], index=["a", 2]), "record 'number 2': the name 2 is not a string"),
        (pandas.Series([ONE, math.nan]), "record 'number 2'"),
        (polars.Series([ONE, None]), f"record 'number 2': None {NO_SEQUENCE}"),
        ([1, 2], f"record 'number 1': 1 {NO_SEQUENCE}"),
        ([[]], f"record 'number 1': an object of type list {NO_SEQUENCE}"),
        ([ONE, [TWO]], "record 'number 2': an object of type list"),
        ([np.zeros(3)], "record 'number 1': an object of type ndarray"),
        ([(1, ONE)], "record 'number 1': the name 1 is not a string"),
        ({1: ONE}, "record 'number 1': the name 1 is not a string"),
        ({"a": None}, "record 'a': None is not a sequence"),
        ([("a", ONE, "x")], "record 'number 1': an object of type tuple"),
        ([("a", ONE), TWO], "some sequences have names and others do not"),
        ("MKVLAW", "a single sequence was given, but a list is required"),
        (b"MKVLAW", "a single sequence was given, but a list is required"),
        (Seq("MKVLAW"), "a single sequence was given, but a list is required"),
        (Foreign("MKVLAW"), "a single sequence was given, but a list is required"),
        (SeqRecord(Seq(ONE), "a"), "a single sequence was given, but a list is required"),
        (None, f"None {NO_SET}"),
        (5, f"5 {NO_SET}"),
        (np.array(ONE), "an object of type ndarray is not a set of sequences"),
        (np.array([[ONE, TWO]]), "an object of type ndarray is not a set of sequences"),
        (pandas.DataFrame({"s": [ONE, TWO]}), "a table was given, but a column of sequences is required"),
        (polars.DataFrame({"s": [ONE, TWO]}), "a table was given, but a column of sequences is required"),
        ([], "there is no sequence: give one or more"),
        ({}, "there is no sequence: give one or more"),
        (iter(()), "there is no sequence: give one or more"),
        (["MK\u0142"], "record 'sequence_1': '\u0142' at position 3 is not a letter of the protein alphabet"),
        (["\u00e9"], "record 'sequence_1': '\u00e9' at position 1 is not a letter of the protein alphabet"),
    ],
)
def test_refused(sequences, sentence):
    with pytest.raises(ta.InputError) as error:
        ta.SequenceBatch.from_strings(sequences)
    assert sentence in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("call", [lambda: ta.align(None, ONE), lambda: ta.align(ONE, math.nan), lambda: ta.align(3, 4)])
def test_missing_values_are_never_aligned(call):
    with pytest.raises(ta.InputError, match="is not a sequence"):
        call()


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("a\0b", "a\\x00b: the file name contains a zero byte: give another file"),
        (Path("a\0b"), "a\\x00b: the file name contains a zero byte: give another file"),
        ("x\x1b[31m\n", "x\\x1b[31m\\n: there is no such file"),
        ([[]], "[] is not a file: give a path, '-' or an open file"),
        ([None], "None is not a file: give a path, '-' or an open file"),
        ("x" * 300, f"{'x' * 300}: the file cannot be read (File name too long)"),
        (io.BytesIO(b""), "the open stream: the file is empty"),
        (
            io.StringIO("MKV"),
            "the open stream, line 1: this is neither FASTA nor FASTQ: a record must begin with '>' or '@'",
        ),
    ],
)
def test_no_files(source, sentence):
    with pytest.raises(ta.InputError) as error:
        ta.read_sequences(source)
    assert str(error.value) == sentence


def test_a_module_of_sequences_that_another_thread_is_loading(monkeypatch):
    monkeypatch.setitem(sys.modules, "Bio.Seq", types.ModuleType("Bio.Seq"))
    assert str(ta.SequenceBatch.from_strings(["ACGT"])[0]) == "ACGT"
    with pytest.raises(ta.InputError, match="is not a sequence"):
        ta.SequenceBatch.from_strings([object()])
