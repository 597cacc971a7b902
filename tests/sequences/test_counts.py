"""Counts in names."""

import pytest

from tropalign.errors import InputError
from tropalign.sequences.annotations import counts_of


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("a", 1), ("a;size=5", 5), ("a;size=5;", 5), ("a;b=1;size=012;c", 12), ("size=3", 3), ("a;size=4_2", 4),
        ("asize=5", 1), ("a;size=", 1), ("a;size=x", 1), ("a;size=5x", 1), ("a;size=-1", 1), ("a;size=5 b", 1),
    ],
)  # fmt: skip
def test_names(name, count):
    assert counts_of(["other", name]).tolist() == [1, count]


@pytest.mark.parametrize(("name", "words"), [("a;size=0", "0"), ("a;size=00;", "0"), ("a;size=" + "9" * 13, "too")])
def test_no_counts(name, words):
    with pytest.raises(InputError, match=rf"record '{name}': its ;size= count is {words}.*write an integer"):
        counts_of([name])
