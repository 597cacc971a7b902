"""Alignments from files; what they hold is tested where references are."""

import random

import pytest

import tropalign
from tropalign.errors import InputError, TropalignWarning
from tropalign.sequences.aligned_files import read_alignment

GOOD = {
    "fasta": b">a one\nACGT\nAC\n>b\nAC-TAC\n",
    "phylip": b" 2 6\na  ACGTAC\nb  AC-TAC\n",
    "blocks": b" 2 6\na  ACG\nb  AC-\n\nTAC\nTAC\n",
    "stockholm": b"# STOCKHOLM 1.0\n#=GF ID x\na ACGTAC\n#=GR a SS ......\nb AC-TAC\n#=GC RF xxxxxx\n//\n",
}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"0 10\na ACG\n", "line 1: this is no alignment: PHYLIP's first line"),
        (b"3 0\n", "line 1: this is no alignment: PHYLIP's first line"),
        (b"1 " + b"9" * 5000 + b"\na ACG\n", "line 1: this is no alignment: PHYLIP's first line"),
        (b"\n \n\n", "the file is empty"),
        (b"# STOCKHOLM 1.0\n#=GF ID\na\n", "read as Stockholm, this is no alignment"),
        (b"# STOCKHOLM 1.0\n//\n", "the file holds no alignment: fetch it again"),
        (2 * GOOD["stockholm"], "the file holds several alignments, and one is taken: split it"),
    ],
)
def test_no_alignments(tmp_path, text, words):
    path = tmp_path / "x"
    path.write_bytes(text)
    with pytest.raises(InputError, match=words):
        read_alignment(path)


@pytest.mark.filterwarnings("ignore:.*bytes that are not UTF-8 are read as Latin-1")
@pytest.mark.parametrize("name", GOOD)
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, name):
    rng = random.Random(name)
    path = tmp_path / "x"
    for _ in range(400):
        data = bytearray(GOOD[name])
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            data[at : at + rng.randint(0, 3)] = rng.choice(
                [b"", b"\0", b"\n", b"#=GR", b"//", b"\x1b[2J", b"\xff", b"0", b" "]
            )
            data = data or bytearray(b"\n")
        path.write_bytes(data)
        try:
            names, letters = read_alignment(path)
            assert len(names) == len(letters)
        except InputError as error:
            text = str(error)
            assert "\n" not in text and text.isprintable()


@pytest.mark.parametrize("name", ["voil\u00e0", "\u6f22\u5b57", "a\u00a0b", "\u00e9\u2028x"])
def test_names_beyond_ascii_are_read_in_every_format(name, tmp_path):
    path, word = tmp_path / "x", name.encode()
    for text in (
        b">%b d\nAC\n>b\nGT\n", b" 2 2\n%b AC\nb GT\n", b"# STOCKHOLM 1.0\n%b AC\nb GT\n//\n",
        b"CLUSTAL W\n\n%b AC\nb GT\n", b"PileUp\n\n MSF: 2 Type: N Check: 1 ..\n\n Name: %b Len: 2 Check: 1 "
        b"Weight: 1.0\n Name: b Len: 2 Check: 1 Weight: 1.0\n\n//\n\n%b AC\nb GT\n",
    ):  # fmt: skip
        path.write_bytes(text.replace(b"%b", word))
        names, letters = read_alignment(path)
        assert names == (name, "b") and letters.tobytes() == b"ACGT"


def test_names_that_are_not_utf8_are_told(tmp_path):
    path = tmp_path / "x"
    for text in (b">\xe9\nAC\n", b"# STOCKHOLM 1.0\n\xe9 AC\n//\n"):
        path.write_bytes(text)
        with pytest.warns(TropalignWarning) as told:
            assert read_alignment(path)[0] == ("\u00e9",)
        assert str(told[0].message) == f"{path}: bytes that are not UTF-8 are read as Latin-1"


def test_a3m_is_read_and_written(tmp_path):
    path = tmp_path / "a.a3m"
    path.write_text(">a\nMKV\n>b\nagMKtV\n>c\nM-aaV\n>d\n-K.Vxyz\n")
    names, letters = read_alignment(path)
    assert names == tuple("abcd")
    assert [row.tobytes().decode() for row in letters] == ["--MK--V---", "AGMKT-V---", "--M-AAV---", "---K--VXYZ"]
    whole = tropalign.align_multiple(tropalign.read_sequences("examples/efp.fasta")[:12])
    tropalign.write_alignment(whole, path)
    found = tropalign.read_alignment(path)
    assert found.sequences.names == whole.sequences.names
    assert [found.sequences.text(k) for k in range(12)] == [whole.sequences.text(k) for k in range(12)]
    is_query = whole.letters[0] != ord("-")
    columns = found.letters[0] != ord("-")
    assert (found.letters[:, columns] == whole.letters[:, is_query]).all()


def test_masked_sequences_are_no_a3m(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a\nMKV\n>b\nagMKtV\n")
    with pytest.raises(InputError, match="6 letters, but 3 are expected"):
        read_alignment(path)


@pytest.mark.parametrize("format_name", ["clustal", "stockholm", "phylip", "msf"])
def test_rows_of_alignments_serve_as_sequences(format_name, tmp_path):
    path = tmp_path / "a"
    batch = tropalign.read_sequences("examples/efp.fasta")[:5]
    tropalign.write_alignment(tropalign.align_multiple(batch), path, format=format_name)
    found = tropalign.read_sequences(path)
    assert found.names == batch.names
    assert [found.text(k) for k in range(5)] == [batch.text(k) for k in range(5)]
