import bz2
import gzip
import lzma
import warnings

import numpy as np
import pytest

import tropalign as ta

FASTA = b">a first one\nMKV\nlag\n>b\r\nWWX*\r\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_reads_every_compression(pack, tmp_path):
    path = tmp_path / "sequences"
    path.write_bytes(pack(FASTA))
    batch = ta.read_sequences(path)
    assert batch.names == ("a", "b") and batch.descriptions == ("first one", "")
    assert [batch.text(k) for k in range(2)] == ["MKVlag", "WWX*"]
    assert batch.alphabet is ta.PROTEIN and batch.lengths.tolist() == [6, 4]
    assert ta.PROTEIN.decode(batch.codes) == "MKVLAGWWX*"


def test_reads_fastq_and_several_files(tmp_path):
    one, two = tmp_path / "a.fq", tmp_path / "b.fa"
    one.write_text("@r1\nACGU\n+\nIIII\n")
    two.write_text(">r2\nACGTN\n")
    batch = ta.read_sequences([one, two])
    assert batch.alphabet is ta.NUCLEOTIDE and batch.names == ("r1", "r2")
    assert batch.text(0) == "ACGU" and batch.codes.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 14]


def test_unknown_letters_are_counted(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a\nMKV-L?\n>b\nMKV\n")
    with pytest.warns(ta.TropalignWarning, match="2 letters outside the protein alphabet, the first '-' at position 4"):
        batch = ta.read_sequences(path)
    assert ta.PROTEIN.decode(batch.codes[:6]) == "MKVXLX"
    with pytest.raises(ta.InputError, match="2 letters outside"):
        ta.read_sequences(path, strict=True)


def test_alphabet_that_contradicts_the_letters_is_said(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a\nACGTACGTACGT\n")
    with pytest.warns(ta.TropalignWarning, match="as asked, but judged by its letters it is nucleotide"):
        ta.read_sequences(path, alphabet=ta.PROTEIN)


def test_skip_empty(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a\n\n>b\nMKV\n")
    assert ta.read_sequences(path, skip_empty=True).names == ("b",)


def test_reverse_complement():
    batch = ta.SequenceBatch.from_strings(["ACGTRn", "UUA"], alphabet=ta.NUCLEOTIDE)
    back = batch.reverse_complement()
    assert [back.text(k) for k in range(2)] == ["nYACGT", "TAA"]
    with pytest.raises(ta.InputError, match="only nucleotides"):
        ta.SequenceBatch.from_strings(["MKV"]).reverse_complement()


def test_matrices_and_gaps():
    blosum = ta.SubstitutionMatrix.from_name("BLOSUM62")
    code = ta.PROTEIN.code
    assert blosum.scores[code("W"), code("W")] == 11 and blosum.scores[code("A"), code("R")] == -1
    assert (blosum.scores == blosum.scores.T).all()
    assert blosum.scores[code("U"), code("C")] == blosum.scores[code("C"), code("C")]
    assert ta.Gap.from_first_residue(10, 2) == ta.Gap(8, 2)
    batch = ta.SequenceBatch.from_strings(["MKVU"], alphabet=ta.PROTEIN)
    with pytest.warns(ta.TropalignWarning, match="no letter U: 1 are scored like C"):
        blosum.check(batch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blosum.check(ta.SequenceBatch.from_strings(["MKV"]))
    assert np.array_equal(ta.SubstitutionMatrix.match_mismatch(5, -4).scores[0, :4], [5, -4, -4, -4])
