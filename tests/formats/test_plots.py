"""Pictures of pairs as files."""

import io
import pickle
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import tropalign
from formats.conftest import context_for, pairs_file
from formats.test_pairs_html import HOSTILE, MKV, aligned_set, family
from formats.written import HEADER
from tropalign.errors import InputError
from tropalign.formats.format import format_for_path, format_names, make_writer
from tropalign.formats.pairs import plots as pair_plots
from tropalign.formats.pairs.plots import MOST_DOTS, equal_words

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def drawn(kind, table, cuts=()):
    return pairs_file(kind, table, cuts, "plots")


def test_pictures_are_what_they_say():
    from PIL import Image

    table = aligned_set(family(9), [f"seq{k}" for k in range(9)])
    image = Image.open(io.BytesIO(drawn("png", table)))
    image.load()
    assert image.format == "PNG" and min(image.size) > 800
    assert drawn("pdf", table).startswith(b"%PDF-")
    root = ElementTree.fromstring(drawn("svg", table))
    texts = [element.text.strip() for element in root.iter() if element.tag.endswith("text") and element.text]
    assert sorted(text for text in texts if text.startswith("seq")) == sorted([f"seq{k}" for k in range(9)] * 2)
    assert "identity" in texts


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_bytes_however_cut(kind):
    table = aligned_set(family(9))
    assert drawn(kind, table, (3, 4, 20)) == drawn(kind, table)


def test_names_are_text_and_nothing_else():
    names = [*HOSTILE[:5], "$x^2$ a_b \\frac{", "%d {0}"]
    text = drawn("svg", aligned_set([MKV[k:] for k in range(len(names))], names)).decode()
    root = ElementTree.fromstring(text)
    texts = {element.text for element in root.iter() if element.tag.endswith("text") and element.text}
    assert "$x^2$ a_b \\frac{" in texts and not any(element.tag.endswith("script") for element in root.iter())
    assert not re.search("<(script|img)", text)


def test_formats_by_suffix_and_depths():
    table = aligned_set(family(5), report="score")
    assert b">score<" in drawn("svg", table)
    assert format_names("plots") == ("svg", "pdf", "png") and format_for_path("plots", "a.PNG") == "png"


def test_what_cannot_be_drawn_is_said_in_the_picture(monkeypatch):
    """By then a run has computed all, and its other outputs are to be kept."""
    table = aligned_set(family(5))
    assert b">no pair passed the filters, so there is nothing to plot: relax the filters<" in drawn(
        "svg", table.slice(0, 0)
    )
    monkeypatch.setattr(pair_plots, "MOST_LINES", 4)
    assert b"a plot supports at most 4 sequences per side, not 5" in drawn("svg", table)
    with pytest.raises(InputError, match="a plot supports at most 4 sequences per side, not 5: select fewer"):
        tropalign.plot_matrix(table)
    with pytest.raises(InputError, match="no pair passed the filters, so there is nothing to plot: relax the filters"):
        tropalign.plot_matrix(table.slice(0, 0))


def test_without_matplotlib_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="plots need matplotlib: pip install 'tropalign\\[report\\]', or write --html"):
        make_writer("plots", "svg", HEADER, context_for(aligned_set(["MKV", "MKI"])))


@pytest.mark.parametrize("length", [1, 2, 5])
def test_equal_words_are_those_of_a_loop(length):
    random = np.random.default_rng(length)
    query, target = (random.integers(0, 3, n).astype(np.uint8) for n in (40, 31))
    found = set(zip(*(values.tolist() for values in equal_words(query, target, length)), strict=True))
    assert found == {
        (i, j)
        for i in range(40 - length + 1)
        for j in range(31 - length + 1)
        if (query[i : i + length] == target[j : j + length]).all()
    }
    assert len(equal_words(query[: length - 1], target, length)[0]) == 0


def test_dots_are_bounded():
    same = np.zeros(3_000, np.uint8)
    assert 0 < len(equal_words(same, same, 2)[0]) <= MOST_DOTS


def test_notebooks_show_figures_without_being_told_of_matplotlib():
    proteins = {"a": "MKVLAWHE", "b": "MKILAWHE", "c": "MKVLAWPE"}
    tree = tropalign.trees.parse_tree("(a:1,b:2,c:1);")
    figures = (
        tropalign.dot_plot(tropalign.align("MKVLAWHEAG", "AWHEAGKVLAW")),
        tropalign.plot_matrix(tropalign.align_all(proteins, mode="global")),
        tropalign.trees.plot_tree(tree),
    )
    for figure in figures:
        assert figure._repr_png_().startswith(b"\x89PNG")
        assert pickle.loads(pickle.dumps(figure)).axes
