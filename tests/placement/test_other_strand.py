"""Reads on the opposite strand to the reference are told, once, and only those."""

import random
import warnings

import numpy as np
import pytest

import tropalign as ta
from tropalign.placement.reads import Reads, part
from tropalign.sequences.alphabet import reverse_complement

TREE = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"


def package_of(seed=1, n_columns=400, letters="ACGT"):
    rng = random.Random(seed)
    rows = [rng.choices(letters, k=n_columns)]
    rows += [[rng.choice(letters) if rng.random() < 0.1 else base for base in rows[0]] for _ in range(3)]
    for row in rows[1:]:
        begin = rng.randrange(n_columns - 20)
        row[begin : begin + 9] = "-" * 9
    array = np.array([["".join(row).encode()] for row in rows]).view("S1").reshape(4, -1).view(np.uint8)
    return ta.ReferencePackage.build(tuple("abcd"), np.ascontiguousarray(array), TREE)


def turned(text):
    letters = np.frombuffer(text.encode(), np.uint8)
    return reverse_complement(letters, np.array([0, len(letters)]), ta.NUCLEOTIDE).tobytes().decode()


def reads_of(package, is_other, length=80):
    found = []
    for k, other in enumerate(is_other):
        text = bytes(package.letters[k % 4]).decode().replace("-", "")[7 * k : 7 * k + length]
        found.append((f"r{k}", turned(text) if other else text))
    return found


def told(package, reads, **options):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        placed = list(ta.place(package, reads, device="cpu", **options))
    return placed, [str(one.message) for one in seen]


def test_they_are_counted_and_the_first_is_named(monkeypatch):
    monkeypatch.setenv("TROPALIGN_TILE_READS", "3")
    package = package_of()
    assert told(package, reads_of(package, [False] * 20))[1] == []
    assert told(package, reads_of(package, [k % 3 == 1 for k in range(20)]))[1] == [
        "7 of 20 reads are on the opposite strand to the reference, the first 'r1': strand=\"adjust\" places their "
        "reverse complements"
    ]
    assert told(package, reads_of(package, [False, True, False]))[1] == [
        "1 of 3 reads is on the opposite strand to the reference, the first 'r1': strand=\"adjust\" places its "
        "reverse complement"
    ]
    assert told(package, reads_of(package, [True] * 20), strand="both")[1] == []


def test_reads_that_fit_neither_strand_are_not_told():
    package, rng = package_of(letters="AAAAATCG"), random.Random(3)
    for letters in ("ACGT", "AAAT", "ATTT", "T", "GT"):
        assert told(package, [(f"x{k}", "".join(rng.choices(letters, k=90))) for k in range(20)])[1] == []


def test_a_reverse_palindrome_has_no_other_strand():
    half = "".join(random.Random(5).choices("ACGT", k=100))
    row = np.frombuffer((half + turned(half)).encode(), np.uint8)
    package = ta.ReferencePackage.build(tuple("abcd"), np.stack([row] * 4), TREE)
    assert told(package, [("x", turned(half[:80]))])[1] == []


@pytest.mark.parametrize("swapped", [False, True])
def test_mates_are_told_by_both(tmp_path, swapped):
    package = package_of()
    one, other = reads_of(package, [False] * 6), reads_of(package, [True] * 6)
    for name, mates in (("one.fa", one), ("other.fa", other)):
        (tmp_path / name).write_text("".join(f">{read}\n{text}\n" for read, text in mates))
    first, second = (tmp_path / name for name in (("other.fa", "one.fa") if swapped else ("one.fa", "other.fa")))
    found = told(package, first, mates=second)[1]
    assert found == swapped * [
        "6 of 6 pairs of mates are on the opposite strand to the reference, the first 'r0': strand=\"adjust\" "
        "places their reverse complements"
    ]


def equal_but_for_strands(placed, others):
    for one, other in zip(placed, others, strict=True):
        for name in ("branch", "score", "second_score", "ties", "letters", "column", "tied_branches"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()
    return [strand for one in placed for strand in one.strand.tolist()]


def test_they_are_turned(monkeypatch):
    """As if they had been given as their reverse complements; the others stay."""
    monkeypatch.setenv("TROPALIGN_TILE_READS", "3")
    package, is_other = package_of(), [k % 3 == 1 for k in range(20)]
    placed, messages = told(package, reads_of(package, is_other), strand="adjust")
    assert messages == [
        "7 of 20 reads are on the opposite strand to the reference, the first 'r1': placed as their reverse complements"
    ]
    plain, both = (told(package, reads_of(package, other))[0] for other in ([False] * 20, is_other))
    assert equal_but_for_strands(placed, plain) == [-1 if other else 1 for other in is_other]
    assert [one.score.tolist() for one in both] != [one.score.tolist() for one in plain]
    assert told(package, reads_of(package, [False] * 20), strand="adjust")[1] == []
    parts = [
        part(Reads(("a", "b"), np.arange(2, dtype=np.uint8), np.arange(3), np.array([True, False])), k, 2)
        for k in (0, 1)
    ]
    assert [one.is_turned.tolist() for one in parts] == [[True, False], [False]]


def test_pairs_are_turned(tmp_path):
    package = package_of()
    one, other = reads_of(package, [False] * 6), reads_of(package, [True] * 6)
    for name, mates in (
        ("one.fa", one),
        ("other.fa", other),
        ("mixed.fa", one[:3] + other[3:]),
        ("rest.fa", other[:3] + one[3:]),
    ):
        (tmp_path / name).write_text("".join(f">{read}\n{text}\n" for read, text in mates))
    plain = told(package, tmp_path / "one.fa", mates=tmp_path / "other.fa")[0]
    placed, (message,) = told(package, tmp_path / "mixed.fa", mates=tmp_path / "rest.fa", strand="adjust")
    assert message.startswith("3 of 6 pairs of mates are on the opposite strand")
    assert equal_but_for_strands(placed, plain) == [1, 1, 1, -1, -1, -1]


def test_proteins_have_one_strand():
    rows = np.stack([np.frombuffer(b"MKVLAWMKTCDEFGHIKL" * 3, np.uint8)] * 4)
    package = ta.ReferencePackage.build(tuple("abcd"), rows, TREE)
    assert told(package, [("x", "MKVLAWMKTCDE")])[1] == []
    with pytest.raises(ta.InputError, match="proteins have no opposite strand: leave strand adjust out"):
        ta.place(package, [("x", "MKVLAWMKTCDE")], strand="adjust")
