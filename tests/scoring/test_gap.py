import numpy as np
import pytest

import tropalign as ta


def test_costs():
    assert ta.Gap(8, 2) == ta.Gap.from_first_residue(10, 2) == ta.Gap(8.0, np.int64(2))
    assert ta.Gap(0, 0) == ta.Gap.from_first_residue(0, 0)
    assert type(ta.Gap(8.0, np.int32(2)).open) is int


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ((-1, 2), "the gap open cost -1 is negative: costs are given as positive numbers"),
        ((1, -2), "the gap extend cost -2 is negative: costs are given as positive numbers"),
        ((1.5, 2), "the gap open cost 1.5 is no whole number: multiply the matrix and both costs by ten or so"),
        ((1, "two"), "the gap extend cost two is no whole number: multiply the matrix and both costs by ten or so"),
        ((None, 2), "the gap open cost None is no whole number: multiply the matrix and both costs by ten or so"),
        ((np.nan, 2), "the gap open cost nan is no whole number: multiply the matrix and both costs by ten or so"),
        ((1, np.inf), "the gap extend cost inf is no whole number: multiply the matrix and both costs by ten or so"),
        ((1_000_001, 2), "the gap open cost 1000001 is above 1000000, which no alignment needs"),
    ],
)
def test_costs_that_cannot_be(costs, sentence):
    with pytest.raises(ta.ScoringError) as error:
        ta.Gap(*costs)
    assert str(error.value) == sentence


def test_first_residue_cheaper_than_the_next():
    with pytest.raises(ta.ScoringError, match="of a gap costs 1, less than the 2 of each that follows"):
        ta.Gap.from_first_residue(1, 2)
    with pytest.raises(ta.ScoringError, match="the gap open cost x is no whole number"):
        ta.Gap.from_first_residue("x", 2)
