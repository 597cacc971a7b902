"""The HTML page in a real browser: what it says, what it draws, what its mouse and keys do."""

import io
import json
import math
import re
import shutil
from collections import Counter

import numpy as np
import pytest

import tropalign
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.header import Header
from tropalign.formats.registry import aligned_writer
from tropalign.results.multiple import MultipleAlignment
from tropalign.results.multiple_colours import cell_colours
from tropalign.sequences import SequenceBatch

HEADER = Header("1.2.3", "tropalign msa <family>.fa", {"mode": "default"})
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
#: As Capra and Singh (2007) give them.
_SHARES = "078 051 041 052 024 034 059 083 025 062 092 056 024 043 043 059 055 014 034 072"
BLOSUM62_SHARES = dict(
    zip(
        AMINO_ACIDS,
        [float(f"0.{digits}") for digits in _SHARES.split()],
        strict=True,
    )
)
WHITE = [255, 255, 255]

# What the tests ask of the page, in its language.
PLACE = """(([line, column]) => {
  const s = page.sheet;
  return [(s.x(column) + s.cellWidth / 2 - s.width / 2) / s.dpr, (s.y(line) + s.cellHeight / 2 - s.height / 2) / s.dpr];
})(arguments[0])"""
PIXELS = """(([x, y, width, height]) => {
  page.sheet.draw();
  const brush = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  brush.drawImage(page.sheet.canvas, x, y, width, height, 0, 0, width, height);
  return [...brush.getImageData(0, 0, width, height).data];
})(arguments[0])"""
DIFFERENT = """(() => {
  const s = page.sheet, width = s.width - s.pane, height = s.height - s.head;
  const taken = () => {
    s.draw();
    const brush = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    brush.drawImage(s.canvas, -s.pane, -s.head);
    return brush.getImageData(0, 0, width, height).data;
  };
  const scrolled = taken();
  s.letters = null;
  return taken().reduce((n, value, k) => n + (value !== scrolled[k]), 0);
})()"""
COPIED = """(() => {
  const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true });
  document.getElementById("frame").dispatchEvent(event);
  return event.clipboardData.getData("text/plain");
})()"""
MAP_HITS = """(() => {
  const hits = page.sheet.strip.hits;
  return [...hits.getContext("2d").getImageData(0, 0, hits.width, hits.height - 1).data];
})()"""
FOREIGN = """(() => {
  const script = document.createElement("script");
  script.textContent = "window.foreign = 1";
  document.body.append(script);
})()"""


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window. Skips where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: install chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "window-size=1300,800", "lang=en"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


class Opened:
    """A page that is open, as its tests see it."""

    def __init__(self, browser):
        self.browser = browser

    def __call__(self, script, *arguments):
        return self.browser.execute_script(f"return {script}", *arguments)

    def text(self, name):
        return self.find(name).text

    def find(self, name):
        return self.browser.find_element("id", name)

    def choose(self, name, value):
        """What a user chooses from a list."""
        from selenium.webdriver.support.ui import Select

        Select(self.find(name)).select_by_value(value)

    def search(self, kind, words):
        self.choose("sought", kind)
        self.find("words").send_keys("\ue009a\ue000\ue017", words)  # Control and a, Delete
        return self.text("found")

    def keys(self, *keys):
        self.find("frame").send_keys(*keys)

    def place(self, line, column):
        """The middle of a cell, from the middle of the sheet."""
        return self(PLACE, [line, column])

    def mouse(self):
        from selenium.webdriver import ActionChains

        return ActionChains(self.browser, duration=20)

    def moved_to(self, actions, line, column):
        x, y = self.place(line, column)
        return actions.move_to_element_with_offset(self.find("sheet"), round(x), round(y))

    def point(self, line, column):
        self.moved_to(self.mouse(), line, column).perform()
        return self.text("status")

    def drag(self, begin, end):
        actions = self.moved_to(self.mouse(), *begin).click_and_hold()
        self.moved_to(actions, *end).release().perform()

    def pixels(self, x, y, width, height):
        """What is drawn, as bytes of red, green, blue and alpha; read from a copy, as browsers advise."""
        return self(PIXELS, [x, y, width, height])

    def colour(self, line, column):
        """The corner of a cell, which no letter reaches."""
        return self.pixels(
            *self("[page.sheet.x(arguments[1]) + 1, page.sheet.y(arguments[0]) + 1]", line, column), 1, 1
        )[:3]

    def copied(self):
        """What the clipboard gets."""
        return self(COPIED)


def page_of(alignment, title="family.fa"):
    writer, out = aligned_writer("aligned", "html", HEADER, AlignedContext(title)), io.BytesIO()
    writer.assemble([writer.encode(alignment)], out)
    return out.getvalue()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens an alignment in the browser; in the end there must be no complaint of the browser's and no other file."""

    def open_page(alignment, title="family.fa", is_dark=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        path = tmp_path / "page.html"
        path.write_bytes(page_of(alignment, title))
        browser.get(path.as_uri())
        return Opened(browser)

    yield open_page
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def alignment_of(rows, names=None, confidence=None, column_confidence=None, tree=None, alphabet=None):
    made = MultipleAlignment.from_rows(names or [f"s{k}" for k in range(len(rows))], rows, alphabet)
    if confidence is not None:
        confidence = np.asarray(confidence, np.float32)
    if column_confidence is not None:
        column_confidence = np.asarray(column_confidence, np.float32)
    return MultipleAlignment(made.sequences, made.columns, made.n_columns, confidence, column_confidence, tree)


def random_rows(n_rows, n_columns, letters=AMINO_ACIDS + "acwXB", seed=0):
    random = np.random.default_rng(seed)
    rows = random.choice(np.frombuffer(letters.encode(), np.uint8), (n_rows, n_columns))
    usual = random.choice(np.frombuffer(letters.encode(), np.uint8), n_columns)
    is_usual = random.random((n_rows, n_columns)) < np.linspace(0, 1, n_columns)
    rows = np.where(is_usual, usual, rows)
    rows[random.random(rows.shape) < 0.15] = ord("-")
    return [row.tobytes().decode() for row in rows]


def test_the_page_says_what_it_shows(opened):
    n_residues = sum(len(row.replace("-", "")) for row in random_rows(20, 200))
    page = opened(
        alignment_of(random_rows(20, 200), confidence=np.ones(n_residues), column_confidence=np.full(200, 0.75))
    )
    assert page.text("title") == "family.fa"
    assert page.text("facts") == "20 sequences · 200 columns · protein · mean confidence 0.75"
    page.find("help").click()
    assert "tropalign msa <family>.fa" in page.text("made") and "1.2.3" in page.text("made")
    assert "hydrophobic" in page.text("legend")


def test_letters_are_kept(opened):
    rows = random_rows(5, 40)
    page = opened(alignment_of(rows))
    assert [page("page.alignment.text(arguments[0], 0, 40)", k) for k in range(5)] == rows


def measures(column, letters, background):
    """Consensus, information, conservation and occupancy of one column, from their definitions."""
    upper = column.upper()
    n = len(column)
    counts = Counter(letter for letter in upper if letter in letters)
    total = sum(counts.values())
    occupancy = 1 - upper.count("-") / n
    every = Counter(upper.replace("-", ""))
    most = min(every, key=lambda letter: (-every[letter], letter)) if every else "x"
    consensus = "-" if occupancy < 0.5 else most if every[most] * 2 >= n else most.lower()
    if not total:
        return consensus, 0, 0, occupancy
    shares = {letter: counts[letter] / total for letter in letters}
    entropy = -sum(share * math.log2(share) for share in shares.values() if share)
    information = math.log2(len(letters)) - entropy - (len(letters) - 1) / (2 * math.log(2) * total)
    divergence = 0.0
    for letter in letters:
        middle = (shares[letter] + background[letter]) / 2
        divergence += sum(p / 2 * math.log2(p / middle) for p in (shares[letter], background[letter]) if p)
    return consensus, max(0, information) * occupancy, divergence * occupancy, occupancy


@pytest.mark.parametrize(
    ("letters", "background", "written"),
    [(AMINO_ACIDS, BLOSUM62_SHARES, AMINO_ACIDS + "acwXBU"), ("ACGT", dict.fromkeys("ACGT", 0.25), "ACGTacgtN")],
)
def test_tracks_are_their_formulas(opened, letters, background, written):
    rows = random_rows(23, 60, written)
    page = opened(alignment_of(rows))
    expected = [measures("".join(column), letters, background) for column in zip(*rows, strict=True)]
    assert page("page.alignment.consensus") == [row[0] for row in expected]
    for k, name in enumerate(("information", "conservation", "occupancy"), 1):
        found = page(f"[...page.alignment.{name}]")
        assert found == pytest.approx([row[k] for row in expected], abs=1e-5)


def test_u_counts_as_t(opened):
    page = opened(alignment_of(["ACGUU", "ACGTT", "ACGTA"]))
    assert page.text("facts").endswith("nucleotide")
    assert page("page.alignment.consensus.join('')") == "ACGTT"
    assert page.search("motif", "GTW") == "1 of 3"


CLUSTAL_COLUMNS = [
    # A column, a letter of it, the hue that Clustal X gives that letter.
    ("GAAAAAAAAA", "G", "orange"),
    ("PSSSSSSSSS", "P", "yellow"),
    ("KRKRKRDDDD", "K", "red"),
    ("KRKRKDDDDD", "K", None),
    ("KRKRKDDDDD", "D", "magenta"),
    ("LLLLLL----", "L", "blue"),
    ("LLLLL-----", "L", None),
    ("LLLLLLTTSS", "T", "green"),
    ("LLLLLLTTSS", "S", None),
    ("LLLLLLLLSS", "S", "green"),
    ("CCCCCCCCCA", "C", "pink"),
    ("CCCCCCCAAA", "C", "blue"),
    ("YYYYYYKKKK", "Y", "cyan"),
    ("NNNNNSSSSS", "N", "green"),
    ("QQEEEAAAAA", "Q", "green"),
    ("QQEEEAAAAA", "E", "magenta"),
    ("aaaaaaaaaa", "a", "blue"),
]


def test_clustal_colours_follow_their_rules(opened):
    rows = ["".join(letters) for letters in zip(*(column for column, _, _ in CLUSTAL_COLUMNS), strict=True)]
    page = opened(alignment_of(rows))
    hues = page("RULES.clustal.hues")
    for k, (column, letter, hue) in enumerate(CLUSTAL_COLUMNS):
        wanted = WHITE if hue is None else [int(hues[hue][0][i : i + 2], 16) for i in (1, 3, 5)]
        assert page.colour(column.index(letter), k) == wanted, (column, letter)


@pytest.mark.parametrize("letters", [AMINO_ACIDS + "acwXB", "ACGTacguN"])
def test_colours_are_those_of_the_pictures(opened, letters):
    made = alignment_of(random_rows(35, 300, letters))
    page = opened(made)
    numbers, palette = cell_colours(made)
    on_page = np.reshape(page("[...page.sheet.colours]"), numbers.shape)
    assert (np.where(on_page == 63, 0, on_page) == numbers).all()
    assert page("page.sheet.scheme.palette.slice(1).map(css)") == [
        f"rgb({' '.join(str(int(hue[k : k + 2], 16)) for k in (1, 3, 5))})" for hue in palette[1:]
    ]


def test_schemes_change_the_colours(opened):
    rows = ["KKK-", "KKK-", "KKKL"]
    n = 10
    page = opened(alignment_of(rows, confidence=np.linspace(0, 1, n), column_confidence=[1, 1, 1, 0]))
    found = {}
    for scheme in page("[...document.getElementById('scheme').options].map((o) => o.value)"):
        page.choose("scheme", scheme)
        found[scheme] = page.colour(0, 0)
        assert page.colour(0, 3) == WHITE
    assert list(found) == ["clustal", "taylor", "hydrophobicity", "confidence", "identity", "none"]
    assert found["taylor"] == [0x66, 0x00, 0xFF] and found["none"] == WHITE
    assert len({tuple(colour) for colour in found.values()}) == len(found)
    page.choose("scheme", "confidence")
    assert page.colour(0, 0) != page.colour(2, 2)


def test_without_confidence_there_is_none(opened):
    page = opened(alignment_of(["MKV", "MKI"]))
    assert "confidence" not in page.text("facts")
    assert page("SCHEMES.confidence.fits(page.alignment)") is False
    assert "Confidence" not in page("page.sheet.tracks.list.map((t) => t.title)")
    conservation = measures("VI", AMINO_ACIDS, BLOSUM62_SHARES)[2]
    assert page.point(0, 2) == f"s0 · V 3 · column 3 · I 50 % · conservation {conservation:.2f} · residues 100 %"


def test_pointing_at_a_cell(opened):
    page = opened(
        alignment_of(["mK--V", "-KLAV"], ["first", "second"], np.arange(7) / 10, column_confidence=[0, 0.25, 0, 0, 1])
    )
    status = page.point(0, 1)
    assert status.startswith("first · K 2 · confidence 0.10 · column 2 · K 100 % · conservation 0.")
    assert status.endswith("residues 100 % · column's confidence 0.25")
    assert page.point(1, 4).startswith("second · V 4 · confidence 0.60 · column 5")
    assert page.point(0, 3).startswith("first · gap after residue 2 · column 4")
    assert page.point(1, 0).startswith("second · gap before residue 1 · column 1")
    assert page.point(0, 0).startswith("first · m 1")


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "@script@ @data@",
    'it\'s "quoted" & <b>bold</b>',
    "right\u202eleft\u2028next",
    "日本語",
    "x" * 500,
    "\udcff",
]


def test_names_are_text_and_nothing_else(opened):
    made = alignment_of(["MKVLAW"] * len(HOSTILE), HOSTILE)
    page = opened(made, title="</title><script>alert(2)</script>")
    assert page("page.alignment.names.slice(0, -1)") == HOSTILE[:-1]
    assert page("document.scripts.length") == 4 and page("document.images.length") == 0
    assert page.text("title") == "</title><script>alert(2)</script>"
    for k in range(4):
        assert page.point(k, 0).startswith(f"{HOSTILE[k]} · M 1")
    assert page.point(4, 0).startswith("right\ufffdleft\ufffdnext")
    page("window.dispatchEvent(new Event('beforeprint'))")
    assert page("document.images.length") == 0


def test_the_policy_stops_foreign_scripts(opened, browser):
    page = opened(alignment_of(["MKV"]))
    page(FOREIGN)
    assert page("window.foreign") is None
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


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
    assert page.search("motif", "N[") == "no motif"
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


def test_going_to_a_column(opened):
    page = opened(alignment_of(random_rows(3, 3_000)))
    assert page.search("column", "2,500") == ""
    view = page("page.sheet.view()")
    assert view["left"] < 2499 < view["right"]
    assert page.search("column", "3001") == "1 to 3000"


def test_a_selection_is_copied_as_fasta(opened):
    page = opened(alignment_of(["MK-vLAW", "MKI-LAW", "MRI-LGW"], ["a", "b", "c d"]))
    assert page.copied() == ">a\nMK-vLAW\n>b\nMKI-LAW\n>c d\nMRI-LGW\n"
    page.drag((2, 4), (1, 1))
    assert page.text("selected") == "selected 2 × 4"
    assert page.copied() == ">b\nKI-L\n>c d\nRI-L\n"
    page.keys("\ue00c")  # Escape
    assert page.text("selected") == ""


def test_the_keys_for_copying_and_selecting_all(opened):
    from selenium.webdriver import Keys

    page = opened(alignment_of(["MKV", "MKI"], ["a", "b"]))
    page.keys(Keys.CONTROL, "a")
    assert page.text("selected") == "selected 2 × 3"
    page.keys(Keys.CONTROL, "c")
    assert page.text("status") == "copied the selection as FASTA"
    page.find("words").send_keys(Keys.CONTROL, "v")
    assert re.sub(r"\s", "", page("document.getElementById('words').value")) == ">aMKV>bMKI"


def test_descriptions_come_along(opened):
    batch = SequenceBatch.from_strings({"a": "MKV", "b": "MKI"})
    batch = SequenceBatch(batch.codes, batch.offsets, batch.names, batch.alphabet, batch.letters, ("of a mouse", ""))
    page = opened(MultipleAlignment(batch, np.array([0, 1, 2, 0, 1, 2], np.int32), 3))
    assert page.copied() == ">a of a mouse\nMKV\n>b\nMKI\n"


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
    assert shown == pytest.approx(made.column_confidence.mean(), abs=0.01)
    for text in made:
        assert text.upper() in page.copied().upper()


@pytest.mark.parametrize("tree", [None, "(a,x);", "(a,b,b);", "((a,b);", "a);", "(a);"])
def test_without_a_tree_of_these_names_there_is_one_order(opened, tree):
    page = opened(alignment_of(["AAA", "CCC"], ["a", "b"], tree=tree))
    is_theirs = tree == "((a,b);"  # an unclosed bracket hurts nobody
    assert page.find("order").is_displayed() == is_theirs


def test_the_whole_is_seen_and_reached_by_the_map(opened):
    page = opened(alignment_of(random_rows(400, 1_000)))
    map_ = page.find("map")
    page.mouse().move_to_element_with_offset(
        map_, map_.size["width"] // 2 - 3, map_.size["height"] // 2 - 1
    ).click().perform()
    view = page("page.sheet.view()")
    assert (view["bottom"], view["right"]) == (400, 1000)


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


def test_light_and_dark(opened):
    made = alignment_of(["MK-", "MK-"])
    light = opened(made).colour(0, 2)
    page = opened(made, is_dark=True)
    dark = page.colour(0, 2)
    assert light == WHITE and max(dark) < 60
    page.find("theme").click()
    assert page.colour(0, 2) == WHITE


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


@pytest.mark.parametrize("rows", [["M"], ["-", "M"], ["M" * 5_000]])
def test_extreme_shapes(opened, rows):
    page = opened(alignment_of(rows))
    assert page("page.alignment.text(page.alignment.nRows - 1, 0, 1)") == "M"
    assert page.point(len(rows) - 1, 0).startswith(f"s{len(rows) - 1} · M 1")


def test_the_file_needs_nothing_else():
    made = alignment_of(["MKV-", "MKIL"], confidence=np.linspace(0, 1, 7), column_confidence=[1, 1, 0.5, 0])
    text = page_of(made).decode()
    assert not re.search(r"(?:src|href)\s*=\s*[\"']|@import|url\(|https?:", text)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["letters"] == "MKV-MKIL" and data["n_columns"] == 4
