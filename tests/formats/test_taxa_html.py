"""The page of taxa, in a real browser."""

import io
from xml.etree import ElementTree

import numpy as np
import pytest

from formats.page import contrast
from formats.test_pairs_html import HOSTILE, data_of
from formats.test_placed import HEADER
from tropalign.formats.pages import write_report_page
from tropalign.formats.placed.context import PlacedContext
from tropalign.formats.placed.taxa import Taxa, report

SAMPLES = ("gut", "skin", "soil")
#: Reads, then counts of each sample, of the taxon alone.
OWN = {
    (): (1, 0, 0, 4),
    ("Bacteria",): (2, 10, 0, 0),
    ("Bacteria", "Firmicutes"): (3, 40, 5, 0),
    ("Bacteria", "Firmicutes", "Bacilli"): (2, 100, 30, 0),
    ("Bacteria", "Bacteroidota"): (1, 50, 0, 0),
    ("Bacteria", "Cyanobacteria", "C", "O", "F", "G", "S"): (1, 0, 200, 0),
    ("Archaea", "Nitrososphaeria"): (1, 20, 20, 5 * 10**9),
}
#: The page's taxa, those above first and then by the alphabet.
NAMES = sorted({taxon[:rank] for taxon in OWN for rank in range(len(taxon) + 1)})


def page_of(own=OWN, samples=SAMPLES, unplaced=(2, 7, 0, 1)):
    taxa = Taxa({taxon: np.array(numbers) for taxon, numbers in own.items()}, np.array(unplaced))
    out = io.BytesIO()
    write_report_page(out, report(taxa, PlacedContext(samples=samples)), HEADER)
    return out.getvalue()


def within(taxon, sample=None):
    """Counts of a taxon and of all below it, from the definition."""
    columns = slice(1, None) if sample is None else slice(1 + sample, 2 + sample)
    return sum(sum(numbers[columns]) for other, numbers in OWN.items() if other[: len(taxon)] == taxon)


@pytest.mark.parametrize("sample", [None, 0, 1, 2])
def test_pieces_are_as_wide_as_counts(opened_report, sample):
    page = opened_report(page_of())
    if sample is not None:
        page.choose("sample", str(sample))
    counts = [within(taxon, sample) for taxon in NAMES]
    assert page("[...page.counts]") == counts
    begin, end = page("[...page.rings.begin]"), page("[...page.rings.end]")
    for k, taxon in enumerate(NAMES):
        assert end[k] - begin[k] == pytest.approx(counts[k] / counts[0])
        below = [m for m, other in enumerate(NAMES) if other[:-1] == taxon and other]
        below.sort(key=lambda m: (-within(NAMES[m]), m))  # of all samples, so that the order is the same in each
        at = begin[k]
        for m in below:
            assert begin[m] == pytest.approx(at)
            at = end[m]
        assert at <= end[k] + 1e-12
    rows = {row[0]: row for row in page.rows()}
    assert rows["Bacteria"][1] == f"{counts[NAMES.index(('Bacteria',))]:,}" and rows["Bacteria"][4] == "9"
    assert page("[...page.reads]")[0] == 11


def place(page, taxon, share=0.5):
    """Where a piece is, from the canvas' middle."""
    return page(
        """(() => { const r = page.rings, k = arguments[0], ring = r.tree.depth[k] - r.tree.depth[r.root];
        const [from, to] = r.angles(k), angle = from + (to - from) * arguments[1];
        const far = r.middle + (ring - .5) * r.ring;
        return ring ? [Math.round(far * Math.cos(angle)), Math.round(far * Math.sin(angle))] : [0, 0]; })()""",
        NAMES.index(taxon),
        share,
    )


def test_mouse(opened_report):
    page = opened_report(page_of())
    page.choose("sample", "0")
    canvas = page.find("rings")
    firmicutes, bacteria = ("Bacteria", "Firmicutes"), ("Bacteria",)
    page.mouse().move_to_element_with_offset(canvas, *place(page, firmicutes)).perform()
    told = page("document.getElementById('tip').textContent").split("\n")
    assert told == [
        "Bacteria; Firmicutes",
        "in gut",
        "count 140",
        "share 63.6 % of all placed",
        "70 % of Bacteria",
        "no lower taxon 40",
        "reads 5",
    ]
    page.mouse().move_to_element_with_offset(canvas, *place(page, firmicutes)).click().perform()
    assert page("page.rings.root") == NAMES.index(firmicutes) == page("page.chosen")
    assert [button.text for button in page.find("trail").find_elements("tag name", "button")] == [
        "all",
        "Bacteria",
        "Firmicutes",
    ]
    assert page.text("taxon-title") == "Firmicutes" and "70 % of Bacteria" in page.text("taxon-facts")
    cells = [row.text.split() for row in page.find("sample-rows").find_elements("tag name", "tr")]
    assert cells == [["gut", "140", "63.6", "%"], ["skin", "35", "13.7", "%"], ["soil", "0", "0", "%"]]
    page.mouse().move_to_element_with_offset(canvas, *place(page, (*firmicutes, "Bacilli"))).click().perform()
    assert page("page.rings.root") == NAMES.index(firmicutes)  # nothing lies below
    assert page("page.chosen") == NAMES.index((*firmicutes, "Bacilli"))
    page.mouse().move_to_element_with_offset(canvas, 0, 0).click().perform()
    assert page("page.rings.root") == NAMES.index(bacteria)
    page.find("rings-up").click()
    assert page("page.rings.root") == 0 and not page.find("rings-up").is_enabled()
    nothing = page("page.rings.hit(3, 3)"), page("page.rings.hit(page.rings.width / 2, 1)")
    assert nothing == (-1, -1)  # beyond the rings
    page.mouse().move_to_element_with_offset(canvas, *place(page, bacteria, 0.99)).perform()
    assert page("page.rings.over") == NAMES.index(bacteria)


def test_keys(opened_report):
    page = opened_report(page_of())
    page.choose("sample", "1")
    canvas, left, up, right, down = page.find("rings"), *("\ue012", "\ue013", "\ue014", "\ue015")
    canvas.send_keys(down)
    assert page("page.chosen") == NAMES.index(("Archaea",))  # the largest of all samples
    canvas.send_keys(right)
    assert page("page.chosen") == NAMES.index(("Bacteria",))
    assert page.text("status").startswith("Bacteria, in skin, count 235, share 92.2 % of all placed")
    canvas.send_keys(right)
    assert page("page.chosen") == NAMES.index(("Archaea",))
    canvas.send_keys(left, down)
    assert page("page.chosen") == NAMES.index(("Bacteria", "Cyanobacteria"))
    canvas.send_keys(left)
    assert page("page.chosen") == NAMES.index(("Archaea", "Nitrososphaeria"))
    canvas.send_keys(right, "\ue007")  # Enter
    assert page("page.rings.root") == NAMES.index(("Bacteria", "Cyanobacteria"))
    canvas.send_keys(up)
    assert page("page.rings.root") == page("page.chosen") == NAMES.index(("Bacteria",))
    canvas.send_keys("\ue003")  # Backspace
    assert page("page.rings.root") == 0
    canvas.send_keys("\ue007", "0")
    assert page("page.rings.root") == 0
    canvas.send_keys("/")
    assert page("document.activeElement.id") == "find"


def test_a_search_leaves_its_taxa_in_colour(opened_report):
    page = opened_report(page_of())
    page.find("find").send_keys("firmi")
    assert page.text("rows-shown") == "2 of 13 rows"
    marked = {taxon for taxon, is_marked in zip(NAMES, page("[...page.rings.marked]"), strict=True) if is_marked}
    assert marked == {(), ("Bacteria",), ("Bacteria", "Firmicutes"), ("Bacteria", "Firmicutes", "Bacilli")}
    ink = "getComputedStyle(document.documentElement).getPropertyValue('--empty').trim()"
    fill = "page.rings.fill(arguments[0], inks(), false)"
    assert page(fill, NAMES.index(("Archaea",))) == page(ink) != page(fill, NAMES.index(("Bacteria",)))
    page.find("clear").click()
    assert page("page.rings.marked") is None
    page("page.table.choose(arguments[0])", NAMES.index(("Bacteria", "Cyanobacteria", "C", "O", "F", "G", "S")))
    assert page("page.rings.tree.depth[page.chosen] - page.rings.tree.depth[page.rings.root] <= page.rings.nRings")


@pytest.mark.parametrize("is_dark", [False, True])
def test_names_can_be_read(opened_report, is_dark):
    """A contrast of 4.5 between names and pieces, for every hue."""
    page = opened_report(page_of(), is_dark=is_dark)
    text = page("inks().text")
    ends = page("(arguments[0] ? DARK : LIGHT)", is_dark)
    for hue in np.linspace(0, 1, 60, endpoint=False):
        for lightness in ends[:2]:
            fill = page("hexOf(arguments[0], arguments[1], arguments[2])", hue, ends[2], lightness)
            assert contrast(text, fill) >= 4.5, hue
    page.find("theme").click()
    assert page("page.rings.isDark") is not is_dark


def test_a_picture_is_saved(opened_report):
    own = {**OWN, **{("Bacteria", name): (1, 50, 50, 50) for name in HOSTILE}}
    page = opened_report(page_of(own))
    page.choose("sample", "0")
    text = page("""(() => { const r = page.rings, brush = new SvgBrush(r.width, r.height, "#ffffff");
        r.paint(brush, ON_PAPER, false);
        return brush.text("taxa"); })()""")
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    pieces = page("(() => { let n = 0; page.rings.eachSeen(() => n++); return n; })()")
    outlines = [path for path in root.iter(f"{space}path") if path.get("fill") != "none"]
    assert len(outlines) == pieces >= 5
    assert all(set(path.get("d")) <= set("MLA0123456789.- e") for path in outlines)
    assert "Archaea" in [text.text for text in root.iter(f"{space}text")]
    whole = opened_report(page_of({("A", "B"): (1, 5, 0, 0)}))
    ring = whole("""(() => { const r = page.rings, brush = new SvgBrush(200, 200, "#ffffff");
        r.trace(brush, 100, 100, 50, 80, 0, 2 * Math.PI);
        return brush.path; })()""")
    assert (
        ring
        == "M180 100L180 100A80 80 0 0 1 20 100L20 100A80 80 0 0 1 180 100"
        + "M150 100L150 100A50 50 0 0 0 50 100L50 100A50 50 0 0 0 150 100"
    )
    whole.find("rings-svg").click()
    whole.find("rings-png").click()


def test_no_width_is_too_small_or_large(opened_report, width):
    page = opened_report(page_of())
    assert page.has_room(("rings", "rings-inside"))
    assert 200 <= page.find("rings").rect["height"] <= 1000 and page("page.rings.nRings") >= 2


def test_names_are_text_and_nothing_else(opened_report):
    own = {("A", name): (1, 5, 5, 5) for name in HOSTILE}
    page = opened_report(page_of(own, samples=tuple(HOSTILE[:3])))
    assert sorted(page("page.data.names")) == sorted(["", "A", *HOSTILE]) and page("page.data.samples") == HOSTILE[:3]
    for k in range(len(HOSTILE) + 2):
        page("page.table.choose(arguments[0])", k)
    page.check_markup()
    page.check_policy()


def test_without_samples_and_without_reads(opened_report):
    page = opened_report(page_of({("A",): (3, 12)}, (), (0, 0)))
    assert not page.find("sample").is_displayed() and not page.find("of-samples").is_displayed()
    assert page.text("facts") == "12 in 1 taxon" and "not placed" not in page.text("summary")
    page = opened_report(page_of({}, (), (2, 9)))
    assert page.text("facts") == "0 in 0 taxa" and "not placed" in page.text("summary")
    page.find("rings").send_keys("\ue015", "\ue014", "\ue007")
    assert page("page.chosen") == 0


def test_pages_are_the_same_whatever_the_order():
    assert page_of() == page_of(dict(reversed(OWN.items())))
    assert data_of(page_of())[1]["count"].max() == 5 * 10**9


def test_samples_stand_side_by_side(opened_report):
    """Of each sample the counts of the taxa that have colours, by the definition; another middle has others."""
    page = opened_report(page_of())
    for root in [(), ("Bacteria",), ("Bacteria", "Firmicutes")]:
        page("page.rings.setRoot(arguments[0])", NAMES.index(root))
        names = page("page.bars.pieces.map((piece) => page.names[piece.taxon])")
        below = [taxon for taxon in NAMES if taxon[:-1] == root and taxon]
        fork = root
        while len(below) == 1:
            fork = below[0]
            below = [taxon for taxon in NAMES if taxon[:-1] == fork and taxon]
        below.sort(key=lambda taxon: -within(taxon))
        assert names[:-2] == [taxon[-1] for taxon in below]
        for sample in range(3):
            counts = page("[...page.bars.counts[arguments[0]]]", sample)
            assert counts[:-2] == [within(taxon, sample) for taxon in below] and counts[-2] == 0
            assert sum(counts) == within(root, sample)


def test_a_taxon_has_one_colour_in_all_samples(opened_report):
    page = opened_report(page_of())
    hues = []
    for sample in (-1, 0, 1, 2):
        page.choose("sample", str(sample))
        hues.append(page("Object.fromEntries(page.rings.paintOf)"))
    assert hues[1] and all(other[k] == hues[0][k] for other in hues for k in other)
    assert page("page.bars.pieces[0].hue") == hues[0][str(page("page.bars.pieces[0].taxon"))]


def test_many_taxa_are_others_and_bars_obey(opened_report):
    own = {("A", f"t{k:02}"): (1, 100 - k, k, 5) for k in range(40)}
    page = opened_report(page_of(own))
    assert page("page.bars.pieces.length") == 13 and page("page.bars.pieces[11].name") == "29 others"
    assert page("page.bars.counts[0][11]") == sum(100 - k for k in range(11, 40))
    click = """page.bars.canvas.dispatchEvent(new MouseEvent("click", {bubbles: true,
        clientX: page.bars.canvas.getBoundingClientRect().x + arguments[0],
        clientY: page.bars.canvas.getBoundingClientRect().y + arguments[1]}))"""
    page(click, page("page.bars.left") + 3, 10)
    assert page("page.names[page.chosen]") == "t00"
    page(click, 3, 30)
    assert page("page.sample") == 1 and page.find("sample").get_attribute("value") == "1"
    text = page("""(() => { const b = page.bars, brush = new SvgBrush(600, b.height, "#ffffff");
        b.paint(brush, ON_PAPER, false);
        return brush.text("samples"); })()""")
    words = [each.text for each in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert {*SAMPLES, "t00", "29 others"} <= {*words}
    page.find("bars-svg").click()
    page.find("bars-png").click()
