"""Options of a multiple alignment."""

import re

import pytest
from clone import ROOT, skip_without

from tropalign.errors import TropalignError, TropalignWarning
from tropalign.msa.options import EFFORTS, MOST_SEQUENCES, MsaOptions, options_of


@pytest.mark.parametrize("effort", EFFORTS)
def test_a_mode_is_its_line_of_the_table(effort):
    options = options_of(effort)
    assert options.effort == effort and {name: getattr(options, name) for name in EFFORTS[effort]} == EFFORTS[effort]


def test_what_is_given_counts():
    options = options_of("accurate", refine=7, rules=None, keep=0, seed=3)
    assert (options.refine, options.rules, options.keep, options.seed) == (7, EFFORTS["accurate"]["rules"], 0.0, 3)
    assert options.parameters()["refine"] == "7"


def test_large_families_are_aligned_fast():
    assert options_of(n_sequences=MOST_SEQUENCES).effort == "default"
    with pytest.warns(TropalignWarning, match="501 sequences are aligned with effort fast"):
        assert options_of(n_sequences=MOST_SEQUENCES + 1).effort == "fast"
    assert options_of("accurate", MOST_SEQUENCES + 1).effort == "accurate"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"effort": "best"}, "effort 'best' is not one of default, accurate, fast"),
        ({"effort": 3}, "effort 3 is not one of default, accurate, fast"),
        ({"rules": "probcons"}, "rules 'probcons' is not one of tropalign, quickprobs1, quickprobs2"),
        ({"consistency": -1}, "consistency -1 is out of range: give a number from 0 to 20"),
        ({"consistency": 1.5}, "consistency 1.5 is not a whole number"),
        ({"refine": True}, "refine True is not a whole number"),
        ({"refine": 10**9}, "refine 1000000000 is out of range: give a number from 0 to 100000"),
        ({"cutoff": 0}, "cutoff 0 is not a number from 0.0001 to 0.5"),
        ({"cutoff": float("nan")}, "cutoff nan is not a number from 0.0001 to 0.5"),
        ({"cutoff": "1"}, "cutoff '1' is not a number from 0.0001 to 0.5"),
        ({"keep": 1.01}, "keep 1.01 is not a number from 0 to 1"),
        ({"seed": -1}, "seed -1 is out of range"),
        ({"passes": 1}, "unknown option passes: the options are "),
    ],
)
def test_wrong_options(given, why):
    with pytest.raises(TropalignError) as caught:
        options_of(**given)
    assert str(caught.value).startswith(why) and caught.value.exit_code == 2


def test_options_are_checked_however_they_are_made():
    with pytest.raises(TropalignError, match="is not one of default"):
        MsaOptions(effort="slow")


def test_the_page_has_the_table():
    skip_without("docs")
    page = (ROOT / "docs" / "msa.md").read_text()
    table = page[page.index("| option ") :].split("\n\n")[0]
    head, *rows = re.findall(
        r"^\| (?:option|`--(\w+)[^|]*) \| .* \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE
    )
    efforts = [word.strip("`") for word in head[1:]]
    assert efforts == list(EFFORTS)
    for effort, *told in zip(efforts, *[row[1:] for row in rows], strict=True):
        assert {row[0]: text for row, text in zip(rows, told, strict=True)} == {
            name: f"{value:g}" if isinstance(value, float) else str(value)
            for name, value in {**EFFORTS[effort], "seed": 0}.items()
        }
