"""The page of an alignment beside its reference, in a real browser."""

import numpy as np
import pytest

from formats.page import WHITE, alignment_of
from formats.test_pairs_html import HOSTILE
from formats.written import written
from tropalign.formats.aligned import AlignedContext
from tropalign.msa.accuracy import agreement

REFERENCE = {"a": "aMKVLAW-", "b": "aMKV-AWg", "c": "-MRVLAW-"}
TEST = {"other": "--MKVLAW", "c": "M-RVLAW-", "a": "AMKVLAW-", "b": "AMKVA-WG"}


@pytest.fixture
def opened_pair(opened_page):
    def open_pair(test=TEST, reference=REFERENCE, is_dark=False):
        context = AlignedContext("test and reference")
        return opened_page(written("aligned/agreement", "html", context, [agreement(test, reference)]), is_dark)

    return open_pair


def shares(page):
    """Of each cell, NaN where it does not count."""
    cells = page("[...page.alignment.agreement].map(shareOf).map((share) => Number.isNaN(share) ? -1 : share)")
    return np.reshape(cells, (page("page.alignment.nRows"), -1))


def test_residues_have_the_colour_of_what_is_right(opened_pair):
    page = opened_pair()
    assert page("page.alignment.names") == ["a", "b", "c", "other"]
    assert page.text("facts").startswith("SP 0.7500 · TC 0.6667 · 4 sequences · 8 columns")
    expected = [
        [-1, 0.5, 1, 1, 1, 0.5, 1, -1],
        [-1, 0.5, 1, 1, 0, -1, 1, -1],  # L is a gap, and A stands there
        [0, -1, 1, 1, 1, 0.5, 1, -1],
        [-1] * 8,
    ]
    assert shares(page).tolist() == expected
    assert page("page.sheet.schemeName") == "agreement"
    sure, unsure = page("UNSURE_TO_SURE.at(-1)"), page("UNSURE_TO_SURE[0]")
    assert page.colour(0, 2) == sure and page.colour(2, 0) == unsure and page.colour(1, 4) == unsure
    assert page.colour(3, 4) == WHITE and page.colour(0, 0) == WHITE
    columns = page("[...page.alignment.columnAgreement].map((share) => Number.isNaN(share) ? -1 : share)")
    assert columns == pytest.approx([0, 0.5, 1, 1, 2 / 3, 0.5, 1, -1], abs=0.003)


def test_the_reference_has_the_colours_of_its_residues(opened_pair):
    page = opened_pair()
    page.choose("hiding", "gaps50")
    page.choose("side", "reference")
    assert page("page.alignment.names") == ["a", "b", "c"] and page.text("hidden") == ""
    assert page("page.alignment.text(1, 0, 8)") == "aMKV-AWg"
    assert shares(page)[1].tolist() == [-1, 0.5, 1, 1, -1, 0, 1, -1]
    page.choose("scheme", "identity")
    page.choose("side", "test")
    assert page("page.alignment.nRows") == 4 and page("page.sheet.schemeName") == "identity"
    page.keys("\ue015", "\ue014", "\ue014")  # down, right, right
    assert "agreement 1.00" in page.text("status") and "column's agreement 1.00" in page.text("status")
    page.keys("\ue011")  # Home
    assert "does not count" in page.text("status")


def test_parts_keep_their_shares(opened_pair):
    page = opened_pair(is_dark=True)
    page("page.select([1, 2], [2, 5])")
    page.choose("hiding", "others")
    assert shares(page).tolist() == [[1, 1, 0, -1], [1, 1, 1, 0.5]]


def test_other_pages_have_no_agreement(opened):
    page = opened(alignment_of(["MKV", "MKI"]))
    assert not page.find("showing").is_displayed() and page("page.alignment.agreement") is None
    assert "agreement" not in page("[...document.getElementById('scheme').options].map((one) => one.value)")


def test_names_are_text_and_nothing_else(opened_pair):
    rows = dict.fromkeys(HOSTILE, "MKV")
    page = opened_pair(rows, rows)
    assert page("page.alignment.names") == HOSTILE and page("document.images.length") == 0


def test_no_width_is_too_small_or_large(opened_pair, width):
    assert opened_pair().has_room()
