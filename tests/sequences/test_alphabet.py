import numpy as np
import pytest

import tropalign as ta
from tropalign.sequences.alphabet import judge_alphabet


def letters(text):
    return np.frombuffer(text.encode(), np.uint8)


@pytest.mark.parametrize("alphabet", [ta.PROTEIN, ta.NUCLEOTIDE])
def test_codes_are_positions_in_any_case(alphabet):
    for text in (alphabet.letters, alphabet.letters.lower()):
        codes, unknown = alphabet.encode(letters(text))
        assert codes.dtype == np.uint8 and codes.tolist() == list(range(len(alphabet.letters)))
        assert codes.max() < 31 and not unknown.any()
    assert alphabet.decode(codes) == alphabet.letters


def test_unknown_bytes_become_the_wildcard():
    codes, unknown = ta.PROTEIN.encode(np.arange(256, dtype=np.uint8))
    assert unknown.sum() == 256 - 2 * 26 - 1
    assert (codes[unknown] == ta.PROTEIN.code("X")).all()


def test_u_is_read_as_t():
    assert ta.NUCLEOTIDE.encode(letters("uU"))[0].tolist() == [ta.NUCLEOTIDE.code("T")] * 2


@pytest.mark.parametrize(
    ("text", "alphabet"),
    [
        ("ACGTACGT", ta.NUCLEOTIDE),
        ("acguacgu", ta.NUCLEOTIDE),
        ("ACGTNNNNNN", ta.NUCLEOTIDE),
        ("ACGT" * 50 + "RYSWKM", ta.NUCLEOTIDE),
        ("ACGT" * 50 + "E", ta.NUCLEOTIDE),
        ("ACGT" * 50 + "X" * 20, ta.NUCLEOTIDE),
        ("ACGT-ACGT?", ta.NUCLEOTIDE),
        ("ACGT" * 5 + "E", ta.PROTEIN),
        ("MKVLAAGW", ta.PROTEIN),
        ("GAGAGSGAGAGY", ta.PROTEIN),
        ("RYSWKM", ta.PROTEIN),
        ("", ta.PROTEIN),
        ("***", ta.PROTEIN),
    ],
)
def test_alphabet_judged_by_the_letters(text, alphabet):
    assert judge_alphabet(letters(text)) is alphabet
