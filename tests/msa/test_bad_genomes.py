"""Families with genomes that are unlike the others: lower case, N, two in one, another species, much too long."""

import warnings

import numpy as np
import pytest

import tropalign
from tropalign.errors import ResourceError, TropalignWarning

LENGTH = 900


def genomes(n=5):
    rng = np.random.default_rng(4)
    root = rng.choice(list("ACGT"), LENGTH)
    return {
        f"g{k}": "".join(np.where(rng.random(LENGTH) < 0.02, rng.choice(list("ACGT"), LENGTH), root)) for k in range(n)
    }


def aligned(family):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", TropalignWarning)
        alignment = tropalign.align_multiple(family, n_threads=1)
    return alignment, [str(one.message) for one in found]


def test_case_is_kept_and_changes_nothing():
    family = genomes()
    plain, _ = aligned(family)
    mixed, told = aligned({**family, "g1": family["g1"].lower(), "g3": family["g3"].swapcase()})
    assert told == [] and list(map(str.upper, mixed)) == list(plain) and mixed[1].islower()


@pytest.mark.parametrize("places", [slice(100, 550), slice(None, None, 2)])
def test_half_of_a_genome_may_be_unknown(places):
    family = genomes()
    letters = np.array(list(family["g2"]))
    letters[places] = "N"
    alignment, told = aligned({**family, "g2": "".join(letters)})
    assert told == [] and list(alignment)[2] == "".join(letters) and alignment.n_columns == LENGTH


def test_two_genomes_in_one_and_one_of_another_species_are_named_and_aligned():
    family = genomes()
    other = "".join(np.random.default_rng(9).choice(list("ACGT"), LENGTH))
    alignment, told = aligned({**family, "g1": family["g1"] + family["g2"], "x": other})
    assert [text.partition(":")[0] for text in told] == [
        "1 of 6 sequences seems to be two members joined end to end",
        "1 of 6 sequences does not seem to belong to the family",
    ]
    assert [row.replace("-", "") for row in alignment][1:] == [
        family["g1"] + family["g2"],
        *[family[f"g{k}"] for k in (2, 3, 4)],
        other,
    ]


def test_a_chromosome_is_refused_with_the_memory_and_time_that_it_would_take():
    with pytest.raises(
        ResourceError,
        match=r"record 'b' has 10,000,000 residues.* about 51.8 TiB and 231 hours of a core\): shorten it",
    ):
        tropalign.align_multiple({"a": "ACGT", "b": "ACGTACGTAC" * 1_000_000})
