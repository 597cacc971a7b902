"""Warnings of members that start elsewhere on a circle, and of members that are two in one."""

import warnings

import numpy as np
import pytest

from tropalign.errors import TropalignWarning
from tropalign.msa.family import warn_of_rearranged
from tropalign.sequences import NUCLEOTIDE, SequenceBatch


def family(n=5, length=4000, share=0.03, seed=0):
    """Sequences with substitutions, and a deletion of up to 50 residues each."""
    rng = np.random.default_rng(seed)
    root = rng.choice(list("ACGT"), length)
    members = []
    for _ in range(n):
        member = np.where(rng.random(length) < share, rng.choice(list("ACGT"), length), root)
        at = int(rng.integers(100, length - 100))
        members.append("".join(np.delete(member, slice(at, at + int(rng.integers(50))))))
    return {f"s{k}": member for k, member in enumerate(members)}


def told(sequences, fixed=None):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", TropalignWarning)
        batches = [one and SequenceBatch.from_strings(one, alphabet=NUCLEOTIDE) for one in (sequences, fixed)]
        warn_of_rearranged(*batches)
    return [str(one.message) for one in found]


@pytest.mark.parametrize("length", [700, 4000, 30_000])
@pytest.mark.parametrize("chosen", [0, 3])
def test_a_rotated_member_is_named_with_its_offset(length, chosen):
    members = family(length=length)
    assert told(members) == []
    text = members[f"s{chosen}"]
    at = length // 3
    members[f"s{chosen}"] = text[at:] + text[:at]
    (sentence,) = told(members)
    assert sentence.startswith(f"1 of 5 sequences starts elsewhere on a circle than the others, which start at the "
                               f"residue in brackets: s{chosen} (from residue ")  # fmt: skip
    offset = int(sentence.split("(from residue ")[1].split(")")[0].replace(",", ""))
    assert offset == pytest.approx(length - at + 1, abs=60)


def test_new_sequences_are_compared_with_the_alignment():
    members = family()
    old = dict(list(members.items())[:2])
    rotated = {name: text[1000:] + text[:1000] for name, text in list(members.items())[2:]}
    (sentence,) = told(rotated, old)
    assert sentence.startswith("3 of 3 sequences start elsewhere")
    assert told(dict(list(members.items())[2:]), old) == []


def test_two_members_in_one_are_named():
    members = family()
    members["s2"] += members["s4"]
    (sentence,) = told(members)
    assert sentence == "1 of 5 sequences seems to be two members joined end to end: s2; cut them apart"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:2000],
        lambda text: text[1500:],
        lambda text: text + text[:600],  # a terminal repeat
        lambda text: text + "".join(np.random.default_rng(3).choice(list("ACGT"), 4000)),
        lambda text: text[1000:2500] + text[:1000] + text[2500:],  # a translocation
        lambda text: "N" * 2000 + text[2000:],
        lambda text: text[::-1],
    ],
)
def test_other_members_are_not_named(change):
    members = family()
    members["s1"] = change(members["s1"])
    assert told(members) == []


def test_short_and_unrelated_sequences_are_not_examined():
    assert told(family(length=300)) == []
    assert told({name: text for k in range(4) for name, text in [(f"r{k}", family(1, 900, seed=k)["s0"])]}) == []
