"""Alignments from files; what they hold is tested where references are."""

import random

import pytest

from tropalign.errors import InputError
from tropalign.formats.msa import read_alignment

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
    ],
)
def test_no_alignments(tmp_path, text, words):
    path = tmp_path / "x"
    path.write_bytes(text)
    with pytest.raises(InputError, match=words):
        read_alignment(path)


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
