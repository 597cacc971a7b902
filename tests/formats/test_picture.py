"""Pictures of alignments: every letter in its place, on its colour."""

import io
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from formats.page import alignment_of
from formats.written import written as file_of
from tropalign.errors import InputError
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned import picture as aligned_picture
from tropalign.formats.aligned.picture import BLOCK, CELL_WIDTH, ROW_HEIGHT, picture
from tropalign.formats.format import Header, check_format
from tropalign.results.multiple import WHITE, cell_colours, rules

SVG = "{http://www.w3.org/2000/svg}"
HEADER = Header("1.2.3", "tropalign msa x.fa", {})


def random_rows(n_rows, n_columns, letters="ARNDCQEGHILKMFPSTWYVacwXB---", seed=1):
    random = np.random.default_rng(seed)
    rows = random.choice(np.frombuffer(letters.encode(), np.uint8), (n_rows, n_columns))
    usual = np.frombuffer(letters.encode(), np.uint8)[random.integers(0, 20, n_columns)]
    rows = np.where(random.random(rows.shape) < np.linspace(0, 1, n_columns), usual, rows)
    return [row.tobytes().decode() for row in rows]


def written(name, alignment, title="family"):
    return file_of("aligned", name, AlignedContext(title), [alignment], HEADER)


def cells(made, n_rows, n_columns):
    """The letter and the colour of each cell, found again by where they are drawn."""
    lines = sorted({text.y for text in made.texts if text.anchor == "letters"})
    left = min(x for text in made.texts if text.anchor == "letters" for x in text.xs) - CELL_WIDTH / 2
    letters, colours = np.full((n_rows, n_columns), " "), np.full((n_rows, n_columns), WHITE)
    for text in made.texts:
        if text.anchor == "letters":
            block, row = divmod(lines.index(text.y), n_rows)
            for x, letter in zip(text.xs, text.text, strict=True):
                letters[row, block * BLOCK + round((x - left) / CELL_WIDTH - 0.5)] = letter
    for x, y, width, height, colour in made.boxes:
        if height == ROW_HEIGHT and y + ROW_HEIGHT / 2 in lines:
            block, row = divmod(lines.index(y + ROW_HEIGHT / 2), n_rows)
            begin = block * BLOCK + round((x - left) / CELL_WIDTH)
            colours[row, begin : begin + round(width / CELL_WIDTH)] = colour
    return ["".join(row) for row in letters], colours


@pytest.mark.parametrize("letters", ["ARNDCQEGHILKMFPSTWYVacwXB---", "ACGTacguN---ACGTACGT"])
def test_every_letter_stands_on_its_colour(letters):
    rows = random_rows(13, 201, letters)
    made = alignment_of(rows)
    found, colours = cells(picture(made, "x"), 13, 201)
    numbers, palette = cell_colours(made)
    assert found == rows
    assert (colours == np.array(palette)[numbers]).all()
    assert len(np.unique(numbers)) > 4


def clustal_by_definition(column, letter):
    """A letter's hue from the words of the rules."""
    for letters, hue, signs in rules()["clustal"]["rules"]:
        if letter not in letters:
            continue
        for sign in signs:
            share, of = rules()["clustal"]["conditions"][sign]
            if sum(column.count(one) for one in of) * 100 >= round(share * 100) * len(column):
                return rules()["clustal"]["hues"][hue][0]
        if not signs:
            return rules()["clustal"]["hues"][hue][0]
    return WHITE


@pytest.mark.parametrize("n_rows", [1, 2, 5, 20, 35])
def test_clustal_colours(n_rows):
    rows = random_rows(n_rows, 120, seed=n_rows)
    numbers, palette = cell_colours(alignment_of(rows))
    for k, column in enumerate(zip(*(row.upper() for row in rows), strict=True)):
        assert [palette[n] for n in numbers[:, k]] == [clustal_by_definition(column, letter) for letter in column]


def test_svg_holds_letters_and_names():
    rows = random_rows(3, 90)
    names = ["<b>&'\"", "\x07\u202ebell", "\udcff"]
    made = alignment_of(rows, names, column_confidence=np.linspace(0, 1, 90))
    root = ElementTree.fromstring(written("svg", made, "a<b & c"))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert root.find(f"{SVG}title").text == "a<b & c" and "3 sequences, 90 columns" in texts
    assert texts.count("<b>&'\"") == 2 and "\\x07\\u202ebell" in texts and texts.count("confidence") == 2
    assert "10" in texts and "80" in texts and "90" in texts
    placed = [element for element in root.iter(f"{SVG}text") if element.get("class") == "m"]
    assert all(len(element.get("x").split()) == len(element.text) for element in placed)
    assert sorted("".join(element.text for element in placed)) == sorted("".join(rows))
    last = str(len(rows[2].replace("-", "")))
    assert last in texts


@pytest.mark.parametrize("name", ["a", "n" * 20, "n" * 100])
def test_nothing_is_drawn_beyond_the_edges(name):
    made = picture(alignment_of(["MKVLAW"], [name], column_confidence=np.ones(6)), "t" * 60)
    for text in made.texts:
        wide = 0 if text.anchor == "letters" else 0.66 * text.size * len(text.text)
        begin = min(text.xs) - {"end": wide, "middle": wide / 2}.get(text.anchor, 0)
        assert begin >= 0 and begin + wide <= made.width, text
    assert all(
        box.x >= 0 and box.x + box.width <= made.width and box.y + box.height <= made.height for box in made.boxes
    )


def test_confidence_is_drawn_as_high_as_it_is():
    made = picture(alignment_of(["MKVL"], column_confidence=[np.nan, 0.5, 1, 7]), "x")
    heights = [box.height for box in made.boxes if box.width == CELL_WIDTH - 1]
    assert heights == [0, 12, 24, 24]


def test_png_is_the_same_picture():
    image_module = pytest.importorskip("PIL.Image")
    rows = random_rows(6, 100)
    data = alignment_of(rows, column_confidence=np.linspace(0, 1, 100))
    made = picture(data, "family")
    image = image_module.open(io.BytesIO(written("png", data)))
    assert image.size == (round(2 * made.width), round(2 * made.height))
    for x, y, width, height, colour in made.boxes:
        if height >= 1:
            corner = image.getpixel((int(2 * x) + 1, round(2 * (y + height)) - 1))
            assert "#" + bytes(corner).hex() == colour
            assert image.getpixel((round(2 * (x + width)) - 2, int(2 * y) + 1)) != (255, 255, 255)
    dark = np.count_nonzero(np.asarray(image).sum(2, np.int64) < 200)
    assert dark > 20 * sum(len(row.replace("-", "")) for row in rows)


@pytest.mark.parametrize("shape", [(1_100, 300), (3, 40_000)])
def test_large_alignments_are_colours(shape, monkeypatch):
    monkeypatch.setattr(aligned_picture, "MOST_ROWS", 50)
    monkeypatch.setattr(aligned_picture, "MOST_COLUMNS", 100)
    rows = random_rows(*shape)
    made = picture(alignment_of(rows), "x")
    assert len(made.texts) == 2
    size = 6
    n_lines, n_columns = min(shape[0], 50), min(shape[1], 100)
    assert made.width - 2 * aligned_picture.MARGIN == pytest.approx(size * n_columns)
    top, left = min(box.y for box in made.boxes), aligned_picture.MARGIN
    assert max(box.y for box in made.boxes) <= top + size * (n_lines - 1)
    first = [box for box in made.boxes if box.y == top]
    is_residue = np.zeros(n_columns, bool)
    for box in first:
        is_residue[round((box.x - left) / size) : round((box.x + box.width - left) / size)] = True
    chosen = np.linspace(0, shape[1] - 1, n_columns).round().astype(int)
    assert is_residue.tolist() == [rows[0][k] != "-" for k in chosen]


def test_without_pillow_there_is_a_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.ImageFont", None)
    with pytest.raises(InputError) as error:
        check_format("aligned", "png")
    assert str(error.value) == (
        "format png needs Pillow: install it with pip install 'tropalign[report]', or write svg or html"
    )
    check_format("aligned", "svg")


@pytest.mark.parametrize("rows", [["M"], ["M" * 81], ["-", "M"]])
@pytest.mark.parametrize("name", ["svg", "png"])
def test_extreme_shapes(rows, name):
    if name == "png":
        pytest.importorskip("PIL")
    assert len(written(name, alignment_of(rows))) > 300
