from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import tropalign as ta


def test_costs():
    assert ta.Gap(8, 2) == ta.Gap.from_first_residue(10, 2) == ta.Gap(8.0, np.int64(2))
    assert ta.Gap(0, 0) == ta.Gap.from_first_residue(0, 0)
    assert type(ta.Gap(8.0, np.int32(2)).open) is int


def test_costs_with_decimals():
    assert ta.Gap(9.5, 0.5) == ta.Gap.from_first_residue(10, 0.5) == ta.Gap(Decimal("9.5"), Fraction(1, 2))
    assert ta.Gap(0.1 + 0.2, np.float32(0.25)) == ta.Gap(0.3, 0.25)  # as somebody would write it
    assert ta.Gap.from_first_residue(10, 0.1).open == 9.9
    assert repr(ta.Gap(9.5, 1)) == "Gap(open=9.5, extend=1)"


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ((-1, 2), "the gap open cost -1 is negative: give costs as positive numbers"),
        ((1, -2), "the gap extend cost -2 is negative: give costs as positive numbers"),
        ((-0.5, 2), "the gap open cost -0.5 is negative: give costs as positive numbers"),
        ((1.00005, 2), "the gap open cost 1.00005 has more than four decimals: round it"),
        ((1, "two"), "the gap extend cost 'two' is not a number: give one, with up to four decimals"),
        ((None, 2), "the gap open cost None is not a number: give one, with up to four decimals"),
        ((True, 2), "the gap open cost True is not a number: give one, with up to four decimals"),
        ((np.nan, 2), "the gap open cost nan is not a number: give one, with up to four decimals"),
        ((1, np.inf), "the gap extend cost inf is not a number: give one, with up to four decimals"),
        ((1, 10**400), "the gap extend cost exceeds the maximum of 1000000"),
        ((1_000_000.5, 2), "the gap open cost 1000000.5 exceeds the maximum of 1000000"),
    ],
)
def test_costs_that_cannot_be(costs, sentence):
    with pytest.raises(ta.ScoringError) as error:
        ta.Gap(*costs)
    assert str(error.value) == sentence


def test_first_residue_cheaper_than_the_next():
    with pytest.raises(ta.ScoringError, match=r"of a gap costs 1, less than each following residue \(2\)"):
        ta.Gap.from_first_residue(1, 2)
    with pytest.raises(ta.ScoringError, match="the cost of a gap's residue 'x' is not a number"):
        ta.Gap.from_first_residue("x", 2)
