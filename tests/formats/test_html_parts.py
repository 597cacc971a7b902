"""The HTML page in a real browser: rows and columns that are hidden, and pictures of what is chosen."""

import xml.etree.ElementTree as ElementTree

import pytest

from formats.page import alignment_of, random_rows
from tropalign.sequences.features import Feature

ROWS = ["MK-VLA--W", "MK-ILA--W", "MRAVLAGGW", "MK-V-A--W"]
NAMES = ["one", "two", "three", "four"]
#: What would be saved, in place of saving it.
SAVED = "(window.saved = [], saveFile = (name, content, type) => window.saved.push([name, content, type]), 1)"
SVG = "{http://www.w3.org/2000/svg}"


def hide(page, what):
    page.choose("hiding", what)


def rows_of(page):
    lines = page.copied().splitlines()
    return dict(zip([line[1:].strip() for line in lines[::2]], lines[1::2], strict=True))


@pytest.fixture
def page(opened):
    return opened(alignment_of(ROWS, NAMES, tree="((one:1,two:1):1,(three:2,four:2):1);"))


def test_columns_of_gaps_are_hidden_and_never_everything(page):
    hide(page, "gaps50")
    assert rows_of(page) == {"one": "MKVLAW", "two": "MKILAW", "three": "MRVLAW", "four": "MKV-AW"}
    assert page.text("hidden") == "hidden: 3 columns"
    assert "column 4" in page.point(0, 2) and page.text("status").startswith("one · V 3 ·")
    assert "column 9" in page.point(2, 5) and page.text("status").startswith("three · W 9 ·")
    hide(page, "all")
    assert list(rows_of(page).values()) == ROWS and page.text("hidden") == ""
    hide(page, "rows")
    assert page.text("status") == "Select something first"
    page.keys("\ue009a\ue000")
    hide(page, "rows")
    assert page.text("status") == "That would hide everything" and len(rows_of(page)) == 4


def test_the_selection_is_hidden_and_all_but_it(page):
    page.drag((1, 3), (2, 4))
    hide(page, "rows")
    assert list(rows_of(page)) == ["one", "four"] and page.text("hidden") == "hidden: 2 sequences"
    assert page("page.alignment.occupancy[2]") == 0  # columns are counted anew
    hide(page, "all")
    page.drag((1, 3), (2, 4))
    hide(page, "columns")
    assert rows_of(page)["three"] == "MRAAGGW" and page.text("hidden") == "hidden: 2 columns"
    hide(page, "all")
    page.drag((1, 3), (2, 4))
    hide(page, "others")
    assert rows_of(page) == {"two": "IL", "three": "VL"}
    assert page.text("hidden") == "hidden: 2 sequences, 7 columns"
    hide(page, "gaps50")  # none of these
    assert rows_of(page) == {"two": "IL", "three": "VL"}


def test_the_tree_of_what_is_left(page):
    page.drag((1, 0), (1, 0))
    hide(page, "rows")
    page.choose("order", "tree")
    assert list(rows_of(page)) == ["one", "three", "four"]
    y = page("[...page.alignment.tree.y].map((y) => Number.isNaN(y) ? null : y)")
    assert sorted(value for value in y if value is not None) == [0, 0, 0.75, 1, 1.5, 2]
    hide(page, "all")
    assert list(rows_of(page)) == NAMES


def test_what_is_found_is_what_is_shown(page):
    page.drag((0, 0), (0, 0))
    hide(page, "rows")
    hide(page, "gaps50")
    assert page.search("motif", "A-x(2)-W") == "1 of 1"  # through columns that are hidden
    assert page("page.sheet.hits.map((h) => [h.row, h.begin, h.end])") == [[1, 4, 6]]
    assert page.search("name", "one") == "none" and page.search("name", "o") == "1 of 2"
    assert page.search("column", "9") == "" and page.search("column", "3") == "hidden"
    assert page.search("column", "10") == "1 to 9"


@pytest.mark.parametrize("chosen", [True, False])
def test_pictures(page, chosen):
    page(SAVED)
    hide(page, "gaps50")
    if chosen:
        page.drag((1, 2), (2, 3))
    page.find("save-svg").click()
    ((name, text, kind),) = page("window.saved")
    root = ElementTree.fromstring(text)
    words = [element.text for element in root.iter(f"{SVG}text")]
    letters = [word for word in words if len(word) == 1 and word.isalpha()]
    assert (name, kind) == ("family.svg", "image/svg+xml")
    assert [word for word in words if word in NAMES] == (["two", "three"] if chosen else NAMES)
    assert letters == list("ILVL" if chosen else "MKVLAWMKILAWMRVLAWMKVAW")
    assert words[0] == ("4" if chosen else "1")  # the number of the first column
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(0 <= float(e.get("x")) <= width and 0 <= float(e.get("y")) <= height for e in root.iter(f"{SVG}text"))


def test_a_picture_in_pixels_and_one_that_is_too_large(opened):
    page = opened(alignment_of(random_rows(400, 300)))
    page(SAVED)
    page.find("save-png").click()
    assert page.text("status") == "A picture has at most 100,000 letters: select fewer" and not page("window.saved")
    page.drag((0, 0), (3, 5))
    page.find("save-png").click()
    first = page.browser.execute_async_script(
        "const told = arguments[0], bytes = (b) => told([...new Uint8Array(b, 0, 4)]);"
        "const look = () => window.saved.length ? window.saved[0][1].arrayBuffer().then(bytes) : setTimeout(look, 20);"
        "look()"
    )
    assert bytes(first) == b"\x89PNG"


def test_hidden_columns_are_marked_on_the_ruler(page):
    before = page.pixels(0, 0, 400, 20)
    page.drag((0, 2), (0, 2))
    hide(page, "columns")
    assert page.pixels(0, 0, 400, 20) != before


FEATURES = (
    Feature("three", 1, 4, "Domain", "SH3"),
    Feature("three", 3, 5, "site", ""),
    Feature("gone", 0, 1, "site", ""),
)


def test_features_are_shown_and_told(opened):
    page = opened(alignment_of(ROWS, NAMES), features=FEATURES)
    status = page.point(2, 1)
    assert "Domain SH3" in status and "site" not in status
    status = page.point(2, 3)
    assert "Domain SH3" in status and "site" in status
    assert "Domain" not in page.point(2, 5) and "Domain" not in page.point(1, 1)
    spans = "[...page.alignment.features].map(([row, l]) => [row, l.map((f) => [f.begin, f.end, f.lane])])"
    assert page(spans) == [[2, [[1, 4, 0], [3, 5, 1]]]]
    assert page.foot(2, 1) != page.foot(1, 1)
    hide(page, "gaps50")  # columns 3, 7 and 8
    assert page(spans) == [[2, [[1, 3, 0], [2, 4, 1]]]]
    page.find("help").click()
    kinds = page("[...document.querySelectorAll('#feature-kinds li')].map((item) => item.textContent)")
    assert kinds == ["Domain", "site"] and not page("document.getElementById('features').hidden")


def test_without_features_the_help_has_none(page):
    page.find("help").click()
    assert page("document.getElementById('features').hidden")
