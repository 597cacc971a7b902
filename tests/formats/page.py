"""The HTML page as its tests see it."""

import numpy as np

from formats.written import written
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.format import Header
from tropalign.results.multiple import MultipleAlignment

HEADER = Header("1.2.3", "tropalign msa <family>.fa", {"mode": "default"})
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
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


class Opened:
    """A page that is open, as its tests see it."""

    def __init__(self, browser):
        self.browser = browser

    def __call__(self, script, *arguments):
        return self.browser.execute_script(f"return {script}", *arguments)

    def text(self, name):
        return self.find(name).text

    def check_policy(self):
        """A script that anything else adds does not run, and the browser says why."""
        assert self("window.foreign") is None
        self(FOREIGN)
        assert self("window.foreign") is None
        assert any("Content Security Policy" in entry["message"] for entry in self.browser.get_log("browser"))

    def check_markup(self, n_scripts=6):
        """No name has become a picture or a script."""
        assert self("document.images.length") == 0 and self("document.scripts.length") == n_scripts

    def has_room(self, canvas=None):
        """Whether nothing is wider than the window, and a canvas not wider than its card."""
        if canvas is None:
            return self("document.documentElement.scrollWidth <= innerWidth")
        inner, card = self.find(canvas[0]).rect, self.find(canvas[1]).rect
        is_inside = card["x"] <= inner["x"] and inner["x"] + inner["width"] <= card["x"] + card["width"]
        return is_inside and self.has_room()

    def find(self, name):
        return self.browser.find_element("id", name)

    def choose(self, name, value):
        from selenium.webdriver.support.ui import Select

        Select(self.find(name)).select_by_value(value)

    def search(self, kind, words):
        self.choose("sought", kind)
        self.find("words").send_keys("\ue009a\ue000\ue017", words)  # Control and a, Delete
        return self.text("found")

    def keys(self, *keys):
        self.find("frame").send_keys(*keys)

    def place(self, line, column):
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

    def foot(self, line, column):
        """The lower corner of a cell, where features lie."""
        x, y = "page.sheet.x(arguments[1]) + 1", "page.sheet.y(arguments[0] + 1) - 3"
        return self.pixels(*self(f"[{x}, {y}]", line, column), 1, 1)[:3]

    def copied(self):
        return self(COPIED)


def page_of(alignment, title="family.fa", features=()):
    return written("aligned", "html", AlignedContext(title, features), [alignment], HEADER)


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


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
