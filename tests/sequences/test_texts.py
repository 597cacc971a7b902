"""Texts in one array of bytes."""

import numpy as np
import pytest

from tropalign.sequences.texts import Texts, joined, part


def made(*texts):
    data = np.frombuffer("".join(texts).encode(), np.uint8)
    return Texts(data, np.cumsum([0, *map(len, texts)]))


def test_they_are_a_sequence_of_text():
    texts = made("a", "", "xyz", "b c")
    assert list(texts) == ["a", "", "xyz", "b c"] and len(texts) == 4
    assert (texts[2], texts[-1], texts[1:3], texts[::-2]) == ("xyz", "b c", ("", "xyz"), ("b c", ""))
    assert texts == ("a", "", "xyz", "b c") and texts != ["a"] and hash(texts) == hash(tuple(texts))
    assert "" in texts and "xyz" in texts and "z" not in texts and "" not in made("a", "b")
    with pytest.raises(IndexError):
        texts[4]


def test_parts_stay_bytes_and_join():
    texts = made("a", "", "xyz", "b c")
    middle = texts.part(1, 3)
    assert isinstance(middle, Texts) and middle == ("", "xyz") and part(("a", "b", "c"), 1, 2) == ("b",)
    whole = joined([part(texts, 0, 1), middle, texts.part(3, 4), texts.part(2, 2)])
    assert isinstance(whole, Texts) and whole == texts
    assert joined([texts, ("d",)]) == ("a", "", "xyz", "b c", "d") and joined([]) == ()
