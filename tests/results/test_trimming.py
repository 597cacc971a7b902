"""Columns that thresholds of occupancy, gaps and entropy keep, against definitions, ClipKIT and scikit-bio."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tropalign import MultipleAlignment, read_alignment
from tropalign.errors import UsageError

PROTEINS = Path(__file__).parent.parent / "data" / "trees" / "proteins.fasta"


def test_columns_kept_are_those_of_clipkit():
    """ClipKIT 2.5.1, gappy, with threshold 0.3: it also drops columns with that very share, which are none here."""
    made = read_alignment(PROTEINS)
    kept = np.flatnonzero(made.column_shares().gaps <= 0.3)
    assert len(kept) == 260 and kept[:5].tolist() == [9, 10, 11, 12, 13] and kept.sum() == 46530
    assert made.trimmed(0, max_gaps=0.3).n_columns == 260
    assert made.column_shares().gaps.sum() == pytest.approx(111.3525, abs=0.03)  # ClipKIT rounds to four decimals


def test_entropy_is_that_of_scikit_bio():
    """1 - inverse_shannon_uncertainty of scikit-bio 0.7.4, gaps ignored; its proteins have 22 letters, here 20."""
    wanted = [0.145764, 0.327205, 0.401953, 0.327205, 0.401953, 0.504914, 0.28067, 0.401953]
    found = read_alignment(PROTEINS).column_shares().entropy * math.log(20) / math.log(22)
    assert found[:8] == pytest.approx(wanted, abs=1e-6) and found.sum() == pytest.approx(194.036478, abs=1e-5)


@pytest.mark.parametrize(("letters", "unknown"), [("ACGTNR-", "N"), ("ACDEFWXB-", "X")])
def test_shares_are_those_of_the_definitions(letters, unknown):
    random = np.random.default_rng(len(letters))
    rows = ["".join(random.choice(list(letters), 50)) for _ in range(9)]
    alphabet = read_alignment(PROTEINS).sequences.alphabet if unknown == "X" else None
    made = MultipleAlignment.from_rows([f"r{k}" for k in range(9)], rows, alphabet)
    shares = made.column_shares()
    for column, values in zip(zip(*rows, strict=True), zip(*shares, strict=True), strict=True):
        certain = Counter(letter for letter in column if letter not in f"-RB{unknown}")
        parts = [count / sum(certain.values()) for count in certain.values()]
        entropy = -sum(part * math.log(part) for part in parts) / math.log(20 if unknown == "X" else 4)
        n_residues, n_known = sum(x != "-" for x in column), sum(x not in f"-{unknown}" for x in column)
        assert values == pytest.approx((n_residues / 9, 1 - n_known / 9, entropy))
    for name, measure in (("max_gaps", shares.gaps), ("max_entropy", shares.entropy)):
        assert list(made.trimmed(0, **{name: 0.5})) == list(made[:, measure <= 0.5])


def test_a_share_of_the_rows_is_not_a_matter_of_rounding():
    rows = ["A"] * 7 + ["-"] * 93  # 0.07 * 100 is above 7 in doubles
    assert MultipleAlignment.from_rows(map(str, range(100)), rows).trimmed(0.07).n_columns == 1


@pytest.mark.parametrize("name", ["max_gaps", "max_entropy"])
def test_what_is_no_share_is_refused(name):
    made = MultipleAlignment.from_rows("ab", ["AC", "AG"])
    for share in (-0.1, 2, math.nan, "half"):
        with pytest.raises(UsageError, match=rf"{name} .* is not a fraction: give a number from 0 to 1"):
            made.trimmed(0, **{name: share})


def test_columns_by_a_mask():
    made = MultipleAlignment.from_rows("ab", ["AC-G", "A-TG"])
    assert list(made[:, np.array([True, False, True, True])]) == ["A-G", "ATG"]
    assert list(made[1:, np.array([False, True, True, False])]) == ["-T"]
    for wrong in (np.array([True]), np.array([0, 1, 1, 0]), [True] * 4):
        with pytest.raises(TypeError, match="a range of columns or a mask of them"):
            made[:, wrong]
