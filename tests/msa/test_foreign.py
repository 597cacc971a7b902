"""Members that do not belong to their family."""

import numpy as np
import pytest

import tropalign
from tropalign.errors import TropalignWarning, UsageError
from tropalign.msa.family import PROTEIN_LIMITS, foreign_members
from tropalign.sequences.batch import SequenceBatch

WORDS = {"protein": "ACDEFGHIKLMNPQRSTVWY", "DNA": "ACGT"}


def members(kind="protein", n=8, length=400, share=0.8):
    """Descendants of one sequence, each of which keeps that share of its letters."""
    rng, letters = np.random.default_rng(1), np.array(list(WORDS[kind]))
    ancestor = rng.choice(letters, length)
    rows = [np.where(rng.random(length) < share, ancestor, rng.choice(letters, length)) for _ in range(n)]
    return {f"m{k}": "".join(row) for k, row in enumerate(rows)}


def stranger(kind="protein", length=380):
    return "".join(np.random.default_rng(2).choice(list(WORDS[kind]), length))


def distances(matrix):
    return matrix[np.triu_indices(len(matrix), 1)].astype(np.float32)


def batch_of(n, length=100):
    return SequenceBatch.from_strings({f"s{k}": "MKVLAWHEYF" * (length // 10) for k in range(n)})


@pytest.mark.parametrize("kind", ["protein", "DNA"])
@pytest.mark.parametrize("effort", ["default", "accurate"])
def test_a_stranger_is_named_and_dropped(kind, effort):
    family, foreign = members(kind), stranger(kind)
    given = dict(list(family.items())[:3]) | {"stranger": foreign} | dict(list(family.items())[3:])
    with pytest.warns(TropalignWarning, match="^1 of 9 sequences does .*: stranger; drop_foreign leaves it out"):
        whole = tropalign.align_multiple(given, effort=effort)
    assert len(whole) == 9
    with pytest.warns(TropalignWarning, match="to the family: stranger; left out$"):
        found = tropalign.align_multiple(given, effort=effort, drop_foreign=True)
    alone = tropalign.align_multiple(family, effort=effort)
    assert list(found) == list(alone) and found.tree == alone.tree
    np.testing.assert_array_equal(found.residue_confidence, alone.residue_confidence)


def test_a_family_keeps_its_members():
    family = members(share=0.4)
    assert len(tropalign.align_multiple(family, drop_foreign=True)) == len(family)  # a warning would be an error


@pytest.mark.parametrize("n", [2, 3])
def test_of_three_nobody_can_say(n):
    found = foreign_members(distances(np.full((n, n), 0.9)), batch_of(n))
    assert not len(found)


def test_equal_members_and_all_strangers():
    n = 6
    assert not len(foreign_members(distances(np.zeros((n, n))), batch_of(n)))
    assert not len(foreign_members(distances(np.full((n, n), 0.9)), batch_of(n)))  # then none is like the others


@pytest.mark.parametrize(("nearest", "mean", "is_foreign"), [(0, 0, True), (-0.02, 0, False), (0, -0.02, False)])
def test_each_limit_counts(nearest, mean, is_foreign):
    """A member whose distances lie just above the limits, and below one of them."""
    n = 11
    matrix = np.full((n, n), 0.1)
    far = (PROTEIN_LIMITS.mean + 0.01 + mean) * (n - 1)
    near = max(PROTEIN_LIMITS.nearest, 0.1 + PROTEIN_LIMITS.above_median) + 0.01 + nearest
    matrix[4] = (far - near) / (n - 2)
    matrix[4, 7] = near
    matrix[:, 4] = matrix[4]
    assert foreign_members(distances(matrix), batch_of(n)).tolist() == [4] * is_foreign
    assert not len(foreign_members(distances(matrix), batch_of(n, length=20)))  # too short to tell


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"effort": "fast"}, "leave drop_foreign out, or set effort default"),
        ({"rules": "quickprobs2"}, "leave drop_foreign out, or set effort default"),
        (
            {"tree": "((a,b),(c,d));"},
            "drop_foreign removes sequences, which a given tree does not allow: leave out one of the two",
        ),
    ],
)
def test_where_it_has_no_meaning(how, sentence):
    family = dict(zip("abcd", members(n=4).values(), strict=True))
    with pytest.raises(UsageError) as refused:
        tropalign.align_multiple(family, drop_foreign=True, **how)
    assert sentence in str(refused.value)
