"""Bytes of files by the megabyte: counted, checked, encoded; texts that occur twice."""

import numpy as np
import pytest

from tropalign import NUCLEOTIDE, PROTEIN, _native

RANDOM = np.random.default_rng(3)
LENGTHS = (0, 1, 7, 8, 9, 4095, 4096, 4097, 20_001)


@pytest.mark.parametrize("n", LENGTHS)
def test_bytes_are_counted(n):
    letters = RANDOM.integers(0, 256, n, np.uint8)
    assert _native.count_bytes(letters).tolist() == np.bincount(letters, minlength=256).tolist()


@pytest.mark.parametrize("n", LENGTHS[1:])
@pytest.mark.parametrize("byte", [0, 128, 255])
def test_the_first_bad_byte_is_found_and_the_lines_before_it(n, byte):
    text = RANDOM.choice(np.frombuffer(b"ACGT\n\x01\x7f", np.uint8), n)
    assert _native.check_plain(text) == (text.tobytes().count(b"\n"), -1)
    for at in {0, n // 2, n - 1}:
        damaged = text.copy()
        damaged[[at, n - 1]] = byte
        assert _native.check_plain(damaged) == (text[:at].tobytes().count(b"\n"), at)


@pytest.mark.parametrize("alphabet", [PROTEIN, NUCLEOTIDE])
@pytest.mark.parametrize("n", LENGTHS)
def test_codes_are_those_of_encode(alphabet, n):
    letters = RANDOM.integers(33, 127, n, np.uint8)
    known = np.frombuffer(alphabet.letters.encode(), np.uint8)[RANDOM.integers(0, len(alphabet.letters), n)]
    for given in (letters, known, np.where(np.arange(n) == n - 1, letters, known)):
        codes, unknown = alphabet.encode(given)
        made, count, first = alphabet.codes_of(given)
        assert made.tolist() == codes.tolist() and count == unknown.sum()
        assert first == (int(np.argmax(unknown)) if count else -1)


@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 5000])
def test_the_first_text_that_was_there_before_is_found(n):
    texts = [b"n%d" % k * (1 + k % 5) for k in range(n)]
    for again, first in ((None, None), (n - 1, 0), (n // 2, n // 3)):
        if again is not None and again > first:
            texts[again] = texts[first]
        data, offsets = np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)])
        seen, expected = {}, None
        for k, text in enumerate(texts):
            if text in seen:
                expected = (seen[text], k)
                break
            seen[text] = k
        assert _native.find_repeated(data, offsets) == expected


def test_texts_of_no_letter_are_equal():
    assert _native.find_repeated(np.zeros(0, np.uint8), np.zeros(3, np.int64)) == (0, 1)
