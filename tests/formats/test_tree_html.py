"""The page of a tree, in a real browser."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from formats.test_pairs_html import HOSTILE
from formats.tree_pages import page_of, random_newick, written
from tropalign.results.rooting import rooted_at_midpoint, rooted_at_outgroup
from tropalign.trees import parse_tree

DEPTHS = """(() => { const {tree, layout} = page.tree, found = {};
  for (let k = 0; k < layout.n; k++) {
    if (!layout.isTip(k)) continue;
    let sum = 0;
    for (let at = k; at > 0; at = layout.parent[at]) sum += tree.length[at];
    found[page.names[tree.id[k]]] = sum;
  }
  return found; })()"""
CLADES = """(() => { const {tree, layout} = page.tree;
  return Array.from(layout.parent.keys()).filter((k) => k && !layout.isTip(k))
    .map((k) => [page.namesBelow(k).sort(), Number.isNaN(tree.support[k]) ? null : tree.support[k]]); })()"""
LABELS = """(() => { const {layout} = page.tree;
  return Array.from(layout.parent.keys()).filter((k) => k && !layout.isTip(k))
    .map((k) => [page.namesBelow(k).sort(), page.tree.label(k)]); })()"""
SEEN = "Object.values(page.tree.gather()).reduce((sum, nodes) => sum + nodes.length, 0)"
COLOURS = """(() => { page.tree.draw(); const c = page.tree.canvas;
  const b = new OffscreenCanvas(c.width, c.height).getContext("2d", {willReadFrequently: true});
  b.drawImage(c, 0, 0);
  const d = b.getImageData(0, 0, c.width, c.height).data, seen = new Set();
  for (let k = 0; k < d.length; k += 4) if (d[k + 3] === 255) seen.add(d[k] << 16 | d[k + 1] << 8 | d[k + 2]);
  return Array.from(seen, (colour) => "#" + colour.toString(16).padStart(6, "0")); })()"""
TWO_NUMBERS = "ignore:the two branches at the old root are merged"
SAVED = """window.saved = []; saveFile = (name, content, type) => window.saved.push([name, content, type]);"""


def depths_of(tree):
    above = np.zeros(len(tree.lengths))
    for k in range(len(tree.children) - 1, -1, -1):
        for child in tree.children[k]:
            above[child] = above[tree.n_taxa + k] + tree.lengths[child]
    return dict(zip(tree.names, above.tolist(), strict=False))


def below_inner_nodes(tree):
    below = [{name} for name in tree.names]
    for joined in tree.children:
        below.append(set().union(*(below[child] for child in joined)))
    return map(frozenset, below[tree.n_taxa : -1])


def clades_of(tree):
    support = tree.support if tree.support is not None else np.full(len(tree.lengths), np.nan)
    found = zip(below_inner_nodes(tree), support[tree.n_taxa : -1].tolist(), strict=True)
    return {taxa: None if np.isnan(sure) else sure for taxa, sure in found}


def assert_is(page, tree):
    assert page(DEPTHS) == pytest.approx(depths_of(tree), abs=1e-5)
    assert {frozenset(taxa): sure for taxa, sure in page(CLADES)} == clades_of(tree)


def assert_labels(page, tree):
    labels = dict(zip(below_inner_nodes(tree), tree.labels, strict=False))
    assert {frozenset(taxa): label for taxa, label in page(LABELS)} == labels


def choose(page, name):
    page("page.choose(page.tree.layout.nodes.find((k) => page.names[page.tree.tree.id[k]] === arguments[0]))", name)


@pytest.mark.parametrize("text", ["(((A:1,B:1)95/100:1,C:1)M:1,(D:1,E:1)80/90:1,F:1);", "((A,B),((C,D)x,(E,F))7/8);"])
def test_labels_that_are_no_numbers_are_those_of_the_command(opened_report, text):
    tree = parse_tree(text)
    page = opened_report(page_of(tree.newick()))
    assert_labels(page, tree)
    for name in ("A", "D"):
        choose(page, name)
        page.find("tree").send_keys("r")
        assert_labels(page, rooted_at_outgroup(tree, name))


@pytest.mark.filterwarnings(TWO_NUMBERS)
@pytest.mark.parametrize("top", [2, 3])
def test_roots_are_those_of_the_command(opened_report, top):
    tree = parse_tree(random_newick(40, 3, top=top))
    page = opened_report(page_of(tree.newick()))
    assert_is(page, tree)
    canvas = page.find("tree")
    canvas.send_keys("m")
    assert_is(page, rooted_at_midpoint(tree))
    for name in ("t0", "t17", "t39"):
        choose(page, name)
        canvas.send_keys("r")
        rooted = rooted_at_outgroup(tree, name)
        assert_is(page, rooted)
        assert page("page.namesBelow(1)") == [name]
        page.choose("tree-order", "size")
        assert_is(page, rooted)
        tips = page("[1, page.tree.layout.last[0]].map((k) => page.tree.layout.tips[k])")
        assert tips == sorted(tips)
        page.choose("tree-order", "given")
    canvas.send_keys("g")
    assert_is(page, tree)


@pytest.mark.filterwarnings(TWO_NUMBERS)
@pytest.mark.parametrize("seed", range(4))
def test_midpoints_with_negative_lengths_are_those_of_the_command(opened_report, seed):
    text = "(A:5,B:-3,(C:4,D:1):-1);"
    if seed:
        random = np.random.default_rng(seed)
        text = random_newick(12, seed, top=2 + seed % 2)
        text = re.sub(r":[0-9.]+", lambda _: f":{random.normal() - (seed == 3):.5f}", text)
    tree = parse_tree(text)
    page = opened_report(page_of(text))
    page.find("tree-midpoint").click()
    assert_is(page, rooted_at_midpoint(tree))


@pytest.mark.parametrize("text", ["((A,B)90,C,D);", "((A:1,B:1)90:1,C,D:1);"])
def test_a_tree_without_lengths_has_no_midpoint(opened_report, text):
    page = opened_report(page_of(text))
    assert page.find("tree-midpoint").get_attribute("disabled")
    page.find("tree").send_keys("m")
    assert page("page.namesBelow(1)") == ["A", "B"] and page("page.tree.roots.given === page.tree.rooted")


def test_lengths_beyond_32_bits(opened_report):
    page = opened_report(page_of("((A:1e-60,B:1e+60):1,C:1,D:1);"))
    assert page("Array.from(page.tree.tree.length)") == [0, 1, 1e-60, 1e60, 1, 1]


def test_a_click_chooses_collapses_or_roots(opened_report):
    tree = parse_tree(random_newick(30, 5))
    page = opened_report(page_of(tree.newick()))
    place = """(() => { const t = page.tree, l = t.layout, k = arguments[0];
      const [x, y] = t.at((l.depth[k] + l.depth[l.parent[k]]) / 2, l.line[k]);
      return [Math.round(x - t.width / 2), Math.round(y - t.height / 2)]; })()"""
    longest = """Array.from(page.tree.layout.parent.keys()).filter((k) => k && !page.tree.layout.isTip(k))
      .reduce((a, b) => page.tree.tree.length[b] > page.tree.tree.length[a] ? b : a)"""
    node, canvas = page(longest), page.find("tree")
    names = page("page.namesBelow(arguments[0])", node)

    def click():
        page.mouse().move_to_element_with_offset(canvas, *page(place, node)).click().perform()

    click()
    assert page("page.tree.chosen") == node and page.text("clade-names").splitlines() == names
    assert page.text("clade-title") == f"{names[0]} … {names[-1]}"
    page.choose("tree-click", "collapse")
    click()
    assert page("page.tree.layout.nLines") == 30 - len(names) + 1
    canvas.send_keys("c")
    assert page("page.tree.layout.nLines") == 30
    page.choose("tree-click", "root")
    click()
    halves = page(
        "page.tree.layout.nodes.filter((k) => page.tree.layout.parent[k] === 0).map((k) => page.namesBelow(k))"
    )
    assert sorted(names) in [sorted(half) for half in halves] and len(halves) == 2


def test_names_are_found_and_shown(opened_report):
    names = [f"{kind} {k}" for k in range(300) for kind in ("Mouse",)] + ["crow 1", "CROW 2"]
    page = opened_report(page_of(random_newick(len(names), 6, names)))
    field = page.find("tree-find")
    field.send_keys("crow")
    assert page.text("tree-found") == "2 tips"
    page("page.tree.layout.setCollapsed([1])")
    for text in ("1 of 2 tips", "2 of 2 tips", "1 of 2 tips"):
        field.send_keys("\ue007")
        assert page.text("tree-found") == text
        x, y = page("page.tree.at(page.tree.layout.depth[page.tree.chosen], page.tree.layout.line[page.tree.chosen])")
        assert 0 <= x <= page("page.tree.width") and 0 <= y <= page("page.tree.height")
        assert page("page.tree.step") >= 8.5 and "crow" in page.text("clade-title").lower()
    field.clear()
    field.send_keys("12 mou")
    assert page.text("tree-found") == "13 tips"  # 12, 112, 212, and 120 to 129


def test_groups_colour_clades_in_light_and_dark(opened_report):
    text = random_newick(20, 7)
    made = page_of(text, {f"t{k}": "low" if k < 10 else "high" for k in range(20)} | {"nobody": "none"})
    for is_dark in (False, True):
        page = opened_report(made, is_dark=is_dark)
        groups = page("page.data.groups")
        assert [group["name"] for group in groups] == ["low", "high"]
        assert {group["dark" if is_dark else "light"] for group in groups} <= set(page(COLOURS))
        page.find("theme").click()
        assert {group["light" if is_dark else "dark"] for group in groups} <= set(page(COLOURS))
    assert "low (10), high (10)" in page.text("summary")


@pytest.mark.parametrize("part", ["seen", "whole"])
@pytest.mark.parametrize("shape", ["rectangular", "radial"])
def test_pictures(opened_report, part, shape):
    page = opened_report(page_of(random_newick(60, 8, ["<a&b>", *(f"t{k}" for k in range(59))])), is_dark=True)
    page(f"(() => {{ {SAVED} }})()")
    page.choose("tree-shape", shape)
    page.choose("tree-part", part)
    page.browser.execute_async_script("page.tree.save('svg', arguments[0], 'x').then(arguments[1])", part)
    ((name, text, kind),) = page("window.saved")
    root = ElementTree.fromstring(text)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert (name, kind) == ("x.svg", "image/svg+xml")
    assert part == "seen" or {"<a&b>", *(f"t{k}" for k in range(59))} <= set(texts)
    assert "#ffffff" in text and "NaN" not in text
    script = "window.saved = []; page.tree.save('png', arguments[0], 'x').then(() => window.saved[0][1].arrayBuffer())"
    start = page.browser.execute_async_script(
        f"{script}.then((b) => arguments[1]([...new Uint8Array(b).slice(0, 8)]))", part
    )
    assert bytes(start) == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("shape", ["rectangular", "radial"])
def test_a_large_tree_draws_no_more_than_a_screen_has(opened_report, shape):
    page = opened_report(page_of(random_newick(50_000, 9)))
    page.choose("tree-shape", shape)
    for zoom in (1, 3, 30, 300):
        page("page.tree.whole()")
        page("page.tree.zoom(arguments[0])", zoom)
        assert 0 < page(SEEN) < 20_000, zoom
    page.find("tree-midpoint").click()
    page.find("tree-find").send_keys("t499\ue007")
    assert page.text("tree-found") == "1 of 111 tips"


EDGES = {
    "one tip": ("'only one';", 1),
    "two tips": ("(a:1,b:2);", 2),
    "no lengths": ("((a,b),(c,d));", 4),
    "negative lengths": ("((a:-1,b:2):-0.5,(c:1,d:1):1);", 4),
    "all lengths zero": ("((a:0,b:0):0,c:0,d:0);", 4),
    "a root of one child": ("(((a:1,b:2):1,c:1):3);", 3),
    "a star": (f"({','.join(f't{k}:1' for k in range(300))});", 300),
    "a ladder": ("(" * 1999 + "t0:1" + "".join(f",t{k}:1)" for k in range(1, 2000)) + ";", 2000),
    "names of 10 kB": (f"({'x' * 10_000}:1,{'y' * 10_000}:2,b:1);", 3),
}


@pytest.mark.parametrize("edge", EDGES)
def test_odd_trees_open(opened_report, edge):
    text, n = EDGES[edge]
    page = opened_report(written("html", text))
    assert page("page.tree.layout.tips[0]") == n and page.text("facts").startswith(f"{n:,} tip")
    for key in "mrcg0+-><":
        page.find("tree").send_keys("\ue014", key)
    for shape in ("radial", "rectangular"):
        page.choose("tree-shape", shape)
    page.choose("tree-lengths", "numbers")
    assert page("[...page.tree.layout.depth].every((d) => d >= 0 && d <= 1)")
    assert page.find("tree-support").get_attribute("disabled")


def test_names_are_text_and_nothing_else(opened_report):
    page = opened_report(page_of(random_newick(len(HOSTILE), 10, HOSTILE), {name: name for name in HOSTILE}))
    assert sorted(filter(None, page("page.names"))) == sorted(HOSTILE)
    page.check_markup()
    for node in range(1, page("page.tree.layout.n")):
        page("page.choose(arguments[0])", node)
    page.check_policy()


def test_every_width_has_room(opened_report, width):
    page = opened_report(page_of(random_newick(30, 11)))
    assert page.has_room() and page("page.tree.width") > 0.7 * width - 40


def test_the_size_of_a_page():
    names = [f"sp|P{k:05d}|TAXON_{k:05d}" for k in range(5_000)]
    assert len(page_of(random_newick(5_000, 12, names))) < 400_000
