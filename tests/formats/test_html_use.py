"""The HTML page in a real browser: what mouse, keys and lists do."""

import re

import numpy as np
import pytest

import tropalign
from formats.page import DIFFERENT, MAP_HITS, WHITE, alignment_of, random_rows
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences import SequenceBatch


def test_motifs(opened):
    rows = ["MN-A-SNNTT-W", "mnesG--NATC-", "NPSNAT------"]
    page = opened(alignment_of(rows))
    assert page.search("motif", "N-{P}-[ST]") == "1 of 6"
    hits = page("page.sheet.hits.map((h) => [h.row, h.begin, h.end])")
    assert hits == [[0, 1, 6], [0, 6, 9], [0, 7, 10], [1, 1, 4], [1, 7, 10], [2, 3, 6]]
    page.find("next").click()
    assert page.text("found") == "2 of 6"
    page.find("previous").click()
    page.find("previous").click()
    assert page.text("found") == "6 of 6"
    assert page.search("motif", "<m-n-x(1,2)-s") == "1 of 2"
    assert page.search("motif", "WWWW") == "none"
    assert page.search("motif", "N[") == "not a motif"
    assert page.search("motif", "") == ""


def test_names_are_found_and_shown(opened):
    names = [f"seq{k}_{'HUMAN' if k in (3, 177) else 'MOUSE'}" for k in range(200)]
    page = opened(alignment_of(["MKVLAW"] * 200, names))
    assert page.search("name", "human") == "1 of 2"
    page.find("words").send_keys("\n")
    assert page.text("found") == "2 of 2"
    view = page("page.sheet.view()")
    assert view["top"] <= 177 < view["bottom"]
    assert page.text("status").startswith("seq177_HUMAN")


def test_what_is_found_is_marked_on_the_map(opened):
    rows = ["L" * 100 for _ in range(50)]
    rows[25] = "L" * 50 + "WWWWW" + "L" * 45
    page = opened(alignment_of(rows))
    assert page.search("motif", "WW") == "1 of 4"
    marked = np.reshape(page(MAP_HITS), (page("page.sheet.strip.hits.height") - 1, -1, 4))[:, :, 3] > 0
    lines, columns = np.nonzero(marked)
    height, width = marked.shape
    assert 25 / 50 <= lines.min() / height <= lines.max() / height < 26.5 / 50
    assert columns.min() / width == pytest.approx(0.5, abs=0.01)
    assert columns.max() / width == pytest.approx(0.55, abs=0.01)
    page.search("motif", "")
    assert not any(page(MAP_HITS))


def test_going_to_a_column_and_to_the_whole(opened):
    page = opened(alignment_of(random_rows(3, 3_000)))
    assert page.search("column", "2,500") == ""
    view = page("page.sheet.view()")
    assert view["left"] < 2499 < view["right"]
    assert page.search("column", "3001") == "1 to 3000"
    page = opened(alignment_of(random_rows(400, 1_000)))
    map_ = page.find("map")
    page.mouse().move_to_element_with_offset(
        map_, map_.size["width"] // 2 - 3, map_.size["height"] // 2 - 1
    ).click().perform()
    view = page("page.sheet.view()")
    assert (view["bottom"], view["right"]) == (400, 1000)


def test_a_selection_is_copied_as_fasta_with_descriptions(opened):
    page = opened(alignment_of(["MK-vLAW", "MKI-LAW", "MRI-LGW"], ["a", "b", "c d"]))
    assert page.copied() == ">a\nMK-vLAW\n>b\nMKI-LAW\n>c d\nMRI-LGW\n"
    page.drag((2, 4), (1, 1))
    assert page.text("selected") == "selected 2 × 4"
    assert page.copied() == ">b\nKI-L\n>c d\nRI-L\n"
    page.keys("\ue00c")  # Escape
    assert page.text("selected") == ""
    batch = SequenceBatch.from_strings({"a": "MKV", "b": "MKI"})
    batch = SequenceBatch(batch.codes, batch.offsets, batch.names, batch.alphabet, batch.letters, ("of a mouse", ""))
    page = opened(MultipleAlignment(batch, np.array([0, 1, 2, 0, 1, 2], np.int32), 3))
    assert page.copied() == ">a of a mouse\nMKV\n>b\nMKI\n"


def test_the_keys_for_copying_and_selecting_all(opened):
    from selenium.webdriver import Keys

    page = opened(alignment_of(["MKV", "MKI"], ["a", "b"]))
    page.keys(Keys.CONTROL, "a")
    assert page.text("selected") == "selected 2 × 3"
    page.keys(Keys.CONTROL, "c")
    assert page.text("status") == "copied the selection as FASTA"
    page.find("words").send_keys(Keys.CONTROL, "v")
    assert re.sub(r"\s", "", page("document.getElementById('words').value")) == ">aMKV>bMKI"


def test_keys_move_and_select(opened):
    from selenium.webdriver import Keys

    rows = random_rows(300, 900)
    page = opened(alignment_of(rows))
    page.keys(Keys.ARROW_RIGHT)
    assert page("page.sheet.cursor") == {"line": 0, "column": 0}
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    assert page("page.sheet.cursor") == {"line": 1, "column": 1}
    page.keys(Keys.SHIFT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.text("selected") == "selected 1 × 3" and page.copied() == f">s1\n{rows[1][1:4]}\n"
    page.keys(Keys.CONTROL, Keys.END)
    page.keys(Keys.END)
    assert page("page.sheet.cursor") == {"line": 299, "column": 899}
    view = page("page.sheet.view()")
    assert (view["bottom"], view["right"]) == (300, 900)
    page.keys(Keys.PAGE_UP)
    assert page("page.sheet.cursor.line") < 290
    page.keys("+")
    assert page("page.sheet.size > START")
    page.keys("/")
    assert page("document.activeElement.id") == "words"


def test_order_by_tree(opened):
    tree = "(('c c':0.1,a:0.1):0.2,(b_d:0.3,'it''s':0.1)x:0.05);"
    page = opened(alignment_of(["AAA", "CCC", "DDD", "EEE"], ["a", "b_d", "c c", "it's"], tree=tree))
    assert page.copied().startswith(">a\nAAA\n>b_d")
    page.choose("order", "tree")
    assert page.copied() == ">c c\nDDD\n>a\nAAA\n>b_d\nCCC\n>it's\nEEE\n"
    assert page.point(0, 0).startswith("c c · D 1")
    depths = dict(
        zip(["root", "inner", "c c", "a", "x", "b_d", "it's"], page("page.alignment.tree.depth"), strict=True)
    )
    assert depths == pytest.approx(
        {"root": 0, "inner": 0.2, "c c": 0.3, "a": 0.3, "x": 0.05, "b_d": 0.35, "it's": 0.15}
    )
    assert page("[...page.alignment.tree.y]") == [1.5, 0.5, 0, 1, 2.5, 2, 3]
    assert page.find("save-tree").is_displayed()


def test_what_was_aligned_has_confidence_and_a_tree(opened):
    family = {"a b": "MKVLAWGKVLMMK", "it's (1)": "MKVLAWGKLMMK", "c_d": "MKILAWKVLMK", "[e]": "mkvlawgkvlk"}
    made = tropalign.align_multiple(family)
    page = opened(made)
    assert page("page.alignment.names") == list(family)
    page.choose("order", "tree")
    named = [line[1:] for line in page.copied().splitlines() if line.startswith(">")]
    assert sorted(named) == sorted(family) and page("page.alignment.tree.deepest") > 0
    shown = float(re.search(r"mean confidence (.*)", page.text("facts"))[1])
    n_residues = np.bincount(made.columns, minlength=made.n_columns)  # by which a column counts
    assert shown == pytest.approx(np.average(made.column_confidence, weights=n_residues), abs=0.01)
    for text in made:
        assert text.upper() in page.copied().upper()


@pytest.mark.parametrize("tree", [None, "(a,x);", "(a,b,b);", "((a,b);", "a);", "(a);"])
def test_without_a_tree_of_these_names_there_is_one_order(opened, tree):
    page = opened(alignment_of(["AAA", "CCC"], ["a", "b"], tree=tree))
    is_theirs = tree == "((a,b);"  # an unclosed bracket hurts nobody
    assert page.find("order").is_displayed() == is_theirs


def test_large_alignments_scroll(opened):
    rows = random_rows(1_000, 2_000)
    page = opened(alignment_of(rows))
    page("page.show(arguments[0], arguments[1])", 999, 1_999)
    page.drag((999, 1_999), (998, 1_998))
    assert page.copied() == f">s998\n{rows[998][-2:]}\n>s999\n{rows[999][-2:]}\n"
    for _ in range(10):
        page.find("smaller").click()
    assert page("page.sheet.hasLetters") is False
    page("page.show(999, 1999)")
    x, y = page("[page.sheet.x(1940), page.sheet.y(940)]")
    drawn = np.reshape(page.pixels(x, y, 50, 50), (50, 50, 4))[:, :, :3]
    hues = np.array([[255, 255, 255], page("mix(rgb(page.sheet.ink.text), WHITE, 0.16)".replace("WHITE", str(WHITE)))])
    hues = np.concatenate([hues, page("page.sheet.paint.slice(1)")])
    numbers = np.array(page("[...page.sheet.colours]"), np.uint8).reshape(1_000, 2_000)[940:990, 1_940:1_990]
    assert (drawn == np.where((numbers == 63)[:, :, None], WHITE, hues[np.minimum(numbers + 1, len(hues) - 1)])).all()


@pytest.mark.parametrize("size", [8, 10])
def test_what_scrolling_leaves_is_what_would_be_drawn_anew(opened, size):
    page = opened(alignment_of(random_rows(150, 400)))
    page(f"(page.sheet.size = {size}, page.sheet.layout())")
    random = np.random.default_rng(size)
    for x, y in [(3, 0), (0, 5), *random.integers(-300, 300, (6, 2)).tolist(), (2_000, 1_000), (-5, -7)]:
        page("page.sheet.frame.scrollBy(...arguments)", x, y)
        assert page(DIFFERENT) == 0, (x, y)
    assert page("page.sheet.scrollX") > 1_500


def test_the_divider_widens_the_names(opened):
    page = opened(alignment_of(["MKV"], ["n" * 200]))
    before = page("page.sheet.pane")
    actions = page.mouse().move_to_element_with_offset(
        page.find("sheet"), round(before - page("page.sheet.width / 2")), 0
    )
    actions.click_and_hold().move_by_offset(150, 0).release().perform()
    assert page("page.sheet.pane") == pytest.approx(before + 150, abs=3)


@pytest.mark.parametrize("shape", [(12, 250), (60, 250)])
def test_printing_shows_every_letter(opened, browser, shape):
    rows = random_rows(*shape)
    page = opened(alignment_of(rows))
    page("window.dispatchEvent(new Event('beforeprint'))")
    blocks = page("[...document.querySelectorAll('#print pre')].map((p) => p.textContent)")
    lines = [block.splitlines()[1:] for block in blocks]
    assert ["".join(block[k].split()[1] for block in lines) for k in range(len(rows))] == rows
    assert page("document.querySelectorAll('#print span').length") > 100
    page("window.dispatchEvent(new Event('afterprint'))")
    assert len(browser.print_page()) > 20_000
