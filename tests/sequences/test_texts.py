"""Texts in one array of bytes."""

import numpy as np
import pytest

from tropalign.sequences.texts import Texts, decoded, joined, joined_by, mended, part


def made(*texts):
    data = np.frombuffer("".join(texts).encode(), np.uint8)
    return Texts(data, np.cumsum([0, *map(len, texts)]))


def test_they_are_a_sequence_of_text_whose_parts_join():
    texts = made("a", "", "xyz", "b c")
    assert list(texts) == ["a", "", "xyz", "b c"] and len(texts) == 4
    assert (texts[2], texts[-1], texts[1:3], texts[::-2]) == ("xyz", "b c", ("", "xyz"), ("b c", ""))
    assert texts == ("a", "", "xyz", "b c") and texts != ["a"] and hash(texts) == hash(tuple(texts))
    assert "" in texts and "xyz" in texts and "z" not in texts and "" not in made("a", "b")
    with pytest.raises(IndexError):
        texts[4]
    middle = texts.part(1, 3)
    assert isinstance(middle, Texts) and middle == ("", "xyz") and part(("a", "b", "c"), 1, 2) == ("b",)
    whole = joined([part(texts, 0, 1), middle, texts.part(3, 4), texts.part(2, 2)])
    assert isinstance(whole, Texts) and whole == texts
    assert joined([texts, ("d",)]) == ("a", "", "xyz", "b c", "d") and joined([]) == ()


def test_texts_beyond_ascii():
    words = ("caf\u00e9", "", "a", "\u6f22\u5b57")
    texts = Texts.of(words)
    assert texts == words and not texts.is_ascii and texts[3] == "\u6f22\u5b57" and tuple(texts.part(1, 4)) == words[1:]
    assert joined([texts, texts]) == words + words and mended(texts) == (texts, 0)
    assert bytes(joined_by(texts, "\0")) == "\0".join(words).encode() == bytes(joined_by(words, "\0"))
    assert decoded(b"caf\xe9") == "caf\u00e9" == decoded(b"caf\xc3\xa9") and decoded(b"\xc3\xa9\xc3") == "\u00e9\u00c3"
    texts, count = mended(Texts.of_bytes([b"a", b"\xe9", b"\xc3\xa9"]))
    assert (tuple(texts), count) == (("a", "\u00e9", "\u00e9"), 1)
    assert mended(("\u00e9",)) == (("\u00e9",), 0)
