"""The report of placed reads, in a real browser and out of it."""

import io
import itertools
import json
import re
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from Bio import Phylo

import tropalign
from formats.test_pairs_html import HOSTILE, data_of
from formats.test_placed import HEADER, context, placements, written
from formats.written import written as file_of
from tropalign.errors import InputError
from tropalign.formats.format import make_writer
from tropalign.formats.placed import report as html
from tropalign.formats.placed.context import PlacedContext
from tropalign.formats.placed.report import packed_columns
from tropalign.formats.trees.text import numbered_tree
from tropalign.placement.tree import parse_tree
from tropalign.results.clusters import OtuTable
from tropalign.results.newick import quoted
from tropalign.results.placements import concatenate
from tropalign.sequences.annotations import teller

TIPS = 24


def newick(n, seed, names=None):
    random = np.random.default_rng(seed)
    parts = [quoted(name) for name in names or [f"tip{k}" for k in range(n)]]
    parts = [f"{part}:{random.random():.3f}" for part in parts]
    while len(parts) > 3:
        a, b = (parts.pop(random.integers(len(parts))) for _ in range(2))
        parts.append(f"({a},{b}):{random.random():.3f}")
    return f"({','.join(parts)});"


@pytest.fixture(scope="module")
def placed():
    """Reference, reads (mutated pieces of its rows, of different counts), and their placements."""
    random = np.random.default_rng(5)
    letters = np.frombuffer(b"ACGT", np.uint8)
    rows = [random.choice(letters, 90)]
    for _ in range(TIPS - 1):
        row = rows[random.integers(len(rows))].copy()
        where = random.random(90) < 0.12
        row[where] = random.choice(letters, int(where.sum()))
        rows.append(row)
    rows = np.array(rows)
    rows[random.random(rows.shape) < 0.04] = ord("-")
    package = tropalign.ReferencePackage.build([f"tip{k}" for k in range(TIPS)], rows, newick(TIPS, 1))
    reads = []
    for k in range(60):
        begin, row = random.integers(0, 50), rows[random.integers(TIPS)]
        text = row[begin : begin + random.integers(15, 40)].tobytes().decode().replace("-", "")
        reads.append((f"r{k};size={1 + k % 4}", text[:9] + "A" * (k % 3) + text[9:]))
    reads.append(("none", "NNN"))
    return package, concatenate(list(tropalign.place(package, reads)))


def page_of(package, table, cuts=(), **more):
    tree = package.tree
    about = {"names": package.names, "letters": package.letters, "newick": tree.newick(), **more}
    pieces = [table.take(np.arange(a, b)) for a, b in itertools.pairwise([0, *cuts, len(table)])]
    return file_of("placed", "html", PlacedContext(**about), pieces, HEADER)


@pytest.mark.parametrize("n", [3, 4, 9, 60])
def test_the_tree_is_biopythons(n):
    names = [*HOSTILE[3:6], "it's", "a b", "c{2}:d,(e)"][:n] + [f"t{k}" for k in range(n - 6)]
    tree = parse_tree(newick(n, n, names))
    text = tree.newick()
    found_names, found = numbered_tree(text)
    read = Phylo.read(io.StringIO(re.sub(r"\{([0-9]+)\}(?=[,);])", r"[\1]", text)), "newick")
    nodes = list(read.find_clades(order="preorder"))
    assert [node.name or "" for node in nodes if node.is_terminal()] == [name for name in found_names if name]
    assert [node.branch_length for node in nodes[1:]] == pytest.approx(found["length"][1:].tolist())
    assert [int(node.comment) for node in nodes[1:]] == found["branch"][1:].tolist()
    parent = {id(child): k for k, node in enumerate(nodes) for child in node.clades}
    assert [parent[id(node)] for node in nodes[1:]] == found["parent"][1:].tolist() and found["parent"][0] == -1


@pytest.mark.parametrize("text", ["", "a", "(a:1{0},b:2{1}", "(a:1,b:2);", "a:1{0},b:1{1});", "((((", ")));", "();"])
def test_a_damaged_tree_is_told(text):
    with pytest.raises(InputError, match="damaged"):
        numbered_tree(text)


@pytest.mark.parametrize("cuts", [(1, 3), (0, 2, 2, 5)])
def test_parts_and_shards_make_no_difference(cuts):
    assert written("html", cuts) == written("html") == written("html", cuts, again=True)


def test_sums_and_paths_are_those_of_the_columns():
    table = placements()
    data, arrays = data_of(written("html"))
    assert (data["n_reads"], data["n_placed"], data["count"]) == (5, 4, 11)
    assert arrays["branch_reads"].tolist() == [1, 1, 1, 0, 1, 0, 0]
    assert arrays["branch_counts"].tolist() == [7, 1, 1, 0, 1, 0, 0]
    shared = np.zeros(7)
    for k, count in enumerate((1, 1, 0, 7, 1)):
        for branch in table.tied[k]:
            shared[branch] += count / len(table.tied[k])
    assert arrays["branch_shared"] == pytest.approx(shared)
    text, sizes = packed_columns(table)
    ends = np.cumsum(sizes)
    for k in range(len(table)):
        wanted, last = [], None
        for column in table.read(k)[1].tolist():
            if column >= 0 and last is not None and column > last + 1:
                wanted.append([2, column - last - 1])
            kind = 0 if column >= 0 else 1
            if wanted and wanted[-1][0] == kind:
                wanted[-1][1] += 1
            else:
                wanted.append([kind, 1])
            last = column if column >= 0 else last
        found = [[byte & 3, byte >> 2] for byte in text[ends[k] - sizes[k] : ends[k]].tolist()]
        assert found == wanted


SAMPLES = ("gut", "skin, dry", "<b>soil</b>")


def sampled(table):
    """Placements with a table that counts each read in the first two samples, and every third one in the last."""
    names = tuple(f"otu{k}" for k in range(len(table)))
    rows = [(k, s, 1 + (k + s) % 5) for k in range(len(table)) for s in range(3) if s < 2 or k % 3 == 0]
    cluster, sample, reads = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    otus = OtuTable(names, SAMPLES, cluster, sample, reads)
    wanted = {}
    for k, s, count in rows:
        branch = int(table.branch[k])
        if branch >= 0:
            wanted[branch, s] = wanted.get((branch, s), 0) + count
    return replace(table, names=names), otus, wanted


def by_sample(arrays):
    columns = (arrays[f"sample_{name}"].tolist() for name in ("branch", "number", "count"))
    return {(branch, sample): count for branch, sample, count in zip(*columns, strict=True)}


def test_counts_of_samples_are_the_tables(placed, monkeypatch):
    monkeypatch.setattr(html, "MOST_PENDING", 3)  # sums of some parts are summed before all are there
    package, table = placed
    named, otus, wanted = sampled(table)
    for cuts in ((), (7, 20), (5, 10, 20, 30, 40)):
        data, arrays = data_of(page_of(package, named, cuts, samples=SAMPLES, otus=otus))
        assert data["samples"] == list(SAMPLES) and by_sample(arrays) == wanted


def test_samples_that_names_tell(placed):
    package, table = placed
    said = ["soil", "gut", ""]
    names = tuple(f"r{k};size={1 + k % 4}" + (f";sample={said[k % 3]}" if k % 3 < 2 else "") for k in range(len(table)))
    wanted = {}
    for k, branch in enumerate(table.branch.tolist()):
        if branch >= 0 and k % 3 < 2:
            wanted[branch, k % 3] = wanted.get((branch, k % 3), 0) + 1 + k % 4
    for cuts in ((), (1, 20)):
        data, arrays = data_of(page_of(package, replace(table, names=names), cuts))
        assert data["samples"] == ["soil", "gut"] and by_sample(arrays) == wanted
    assert data_of(page_of(package, table))[0]["samples"] == []


def test_samples_before_a_delimiter(placed):
    package, table = placed
    said = ["gut-1", "gut-2"]
    labels = tuple(f"r{k};sample={said[k % 2]}" for k in range(len(table)))
    cut = tuple(f"{said[k % 2]}.r{k}" for k in range(len(table)))
    (told, one), (known, other) = (
        data_of(page_of(package, replace(table, names=names), tell=tell))
        for names, tell in ((labels, teller()), (cut, teller(delimiter=".")))
    )
    assert told["samples"] == known["samples"] == said and by_sample(one) == by_sample(other) != {}


def test_samples_are_circles_on_branches(placed, opened_report):
    package, table = placed
    named, otus, wanted = sampled(table)
    page = opened_report(page_of(package, named, samples=SAMPLES, otus=otus))
    assert page("page.tree.sums[0]") == sum(wanted.values())
    boxes = page.find("sample-boxes").find_elements("tag name", "label")
    assert [box.text for box in boxes] == list(SAMPLES)
    boxes[0].click()
    assert page.text("status") == "2 of 3 samples on the tree"
    assert page("page.tree.sums[0]") == sum(count for (_, sample), count in wanted.items() if sample)
    page.find("samples-none").click()
    assert page("page.tree.sums[0]") == 0 and page("page.tree.nHidden") == 0
    page.find("samples-all").click()
    node = page("page.nodeOf[arguments[0]]", max(wanted, key=wanted.get)[0])
    told = page("page.tree.told(arguments[0])", node).split("\n")[-1]
    own = {
        SAMPLES[s]: count for (branch, s), count in wanted.items() if page("page.nodeOf[arguments[0]]", branch) == node
    }
    assert told == ", ".join(f"{name} {count}" for name, count in sorted(own.items(), key=lambda one: -one[1]))
    text = page("""(() => { const t = page.tree; t.isPrinted = true; t.measure();
        const brush = new SvgBrush(t.width, t.height, ON_PAPER.page);
        t.paint(brush, ON_PAPER); t.isPrinted = false; t.draw();
        return brush.text("tree"); })()""")
    root, space = ElementTree.fromstring(text), "{http://www.w3.org/2000/svg}"
    inks = [page("page.tree.pies.ink(arguments[0], false)", sample) for sample in range(3)]
    assert len(set(inks)) == 3 and set(inks) <= {path.get("fill") for path in root.iter(f"{space}path")}
    assert set(SAMPLES) <= {text.text for text in root.iter(f"{space}text")}
    page.choose("tree-of", "counts")
    assert not page.find("samples").is_displayed() and page("page.tree.pies") is None


def test_a_tree_without_samples_is_saved_as_it_is(placed, opened_report):
    page = opened_report(page_of(*placed))
    shown = page("[...document.getElementById('tree-of').options].map((one) => one.value)")
    assert shown == ["counts", "reads", "shared"]
    page.choose("tree-part", "whole")
    page("""(() => { saveFile = (name, content) => window.saved = [name, content];
        document.getElementById("tree-svg").click(); })()""")
    end = time.monotonic() + 60
    while not page("window.saved"):
        assert time.monotonic() < end
        time.sleep(0.05)
    name, text = page("window.saved")
    texts = {one.text for one in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")}
    assert name == "placed-reads.svg" and set(placed[0].names) <= texts


def test_limits_and_damaged_parts(monkeypatch):
    writer = make_writer("placed", "html", HEADER, context())
    for part in (b"", b"nothing", writer.encode(placements())[:-50]):
        with pytest.raises(InputError, match="damaged"):
            writer.assemble([part], io.BytesIO())
    monkeypatch.setattr(html, "MOST_READS", 3)
    data, arrays = data_of(written("html", (2,)))
    assert data["names"] == list(placements().names[:3]) and data["n_reads"] == 5
    assert len(arrays["branch"]) == 3 and arrays["branch_reads"].sum() == 4
    monkeypatch.setattr(html, "MOST_LETTERS", 10)  # 5 and 6 letters, then 2
    assert data_of(written("html"))[0]["names"] == data_of(written("html", (1, 2)))[0]["names"] == ["one"]
    monkeypatch.setattr(html, "MOST_REFERENCE", 4)
    data, arrays = data_of(written("html"))
    assert not data["has_reference"] and not len(arrays["reference"])


def test_rows_and_alignments(placed, opened_report):
    package, table = placed
    page = opened_report(page_of(package, table, (7, 20)), size=(2600, 1600))
    for k, row in enumerate(page.rows()):  # a read's clade aside
        margin = int(table.score[k]) - int(table.second_score[k])
        assert row[:5] == [table.names[k], *map(str, (table.branch[k], table.score[k], margin, 1 + k % 4))]
        assert row[-5:] == ["+" if table.strand[k] > 0 else "-", *(str(column[k]) for column in table.spans())]
    rows = package.letters
    for k in (0, 1, 2, 17, 59):
        page(f"page.table.choose({k})")
        letters, columns = table.read(k)
        here = np.full(rows.shape[1], ord("-"), np.uint8)
        here[columns[columns >= 0]] = letters[columns >= 0]
        start, end = columns[columns >= 0].min(), columns.max() + 1
        equal = ((rows == here) & (here != ord("-")))[:, start:end].sum(1)
        nearest = int(page("document.getElementById('against').value"))
        assert equal[nearest] == equal.max()
        top, middle, bottom = page.lines()
        assert top.replace("-", "").encode() == letters.tobytes()
        assert bottom.replace("-", "").encode() == rows[nearest, start:end].tobytes().replace(b"-", b"")
        assert middle.count("|") == equal.max()
        for a, mark, b in zip(top, middle, bottom, strict=True):
            assert mark == (" " if "-" in (a, b) else "|" if a == b else ".") and (a, b) != ("-", "-")
    page(f"page.table.choose({len(table) - 1})")
    assert page.text("alignment") == "This read has no alignment."


def test_a_branch_shows_its_reads(placed, opened_report):
    package, table = placed
    page = opened_report(page_of(package, table))
    clades = {name: node for node, name in enumerate(page("page.clades"))}
    assert page("page.tree.sums[0]") == sum(1 + k % 4 for k in range(60))
    for node in (1, 2, 5, 9, 20):
        below = page(f"[...page.arrays.node_branch.slice({node}, page.layout.end[{node}])]")
        page(f"page.chooseBranch({node})")
        wanted = [k for k, branch in enumerate(table.branch.tolist()) if branch in below]
        assert page("[...page.table.rows]") == wanted
        assert page(f"page.tree.sums[{node}]") == sum(1 + k % 4 for k in wanted)
    page.choose("tree-choice", "alone")
    page("page.chooseBranch(5)")
    own = page("page.arrays.node_branch[5]")
    assert page("[...page.table.rows]") == np.flatnonzero(table.branch == own).tolist()
    page.find("clear").click()
    assert len(page("[...page.table.rows]")) == len(table)
    assert set(page("page.layout.nodes.filter((k) => page.layout.isTip(k)).map((k) => page.clades[k])")) == set(
        package.names
    )
    assert len(clades) == 2 * TIPS - 2 + (len(package.tree.children[0]) == 2) - 1 + 1


def point(page, node):
    """Where a branch's middle is, from the canvas' middle."""
    return page(
        """(() => { const t = page.tree, l = t.layout, k = arguments[0];
        const [x, y] = t.at((l.depth[k] + l.depth[l.parent[k]]) / 2, l.line[k]);
        return [Math.round(x - t.width / 2), Math.round(y - 310)]; })()""",
        node,
    )


@pytest.mark.parametrize("shape", ["rectangular", "radial"])
def test_mouse_and_keys(placed, opened_report, shape):
    page = opened_report(page_of(*placed))
    page.choose("tree-shape", shape)
    tips = page("page.layout.nodes.filter((k) => page.layout.isTip(k))")
    longest = max(tips, key=lambda k: page(f"page.arrays.node_length[{k}]"))
    canvas = page.find("tree")
    page.browser.execute_script("arguments[0].scrollIntoView()", canvas)
    page("window.scrollBy(0, -80)")
    page.mouse().move_to_element_with_offset(canvas, *point(page, longest)).click().perform()
    assert page("page.tree.chosen") == longest
    assert page("document.getElementById('tip').textContent").startswith(page(f"page.clades[{longest}]") + "\n")
    page("page.chooseBranch(1)")
    n_lines = page("page.layout.nLines")
    tips_below = page("page.layout.tips[1]")
    inner = tips_below > 1
    canvas.send_keys("c")
    assert page("page.layout.nLines") == n_lines - (tips_below - 1) * inner
    canvas.send_keys("c")
    assert page("page.layout.nLines") == n_lines
    canvas.send_keys("e")
    assert page("page.layout.nLines") <= n_lines
    assert all(page("[...page.layout.collapsed].map((k) => page.tree.sums[k] === 0)"))
    assert page.find("tree-empty").get_attribute("aria-pressed") == "true"
    canvas.send_keys("e", "+", "+")
    assert page("page.tree.view.zoom") == pytest.approx(2.25) or page("page.tree.view.zoom") > 1
    canvas.send_keys("0")
    assert page("page.tree.view") == {"zoom": 1, "wide": 1, "x": 0, "y": 0}
    canvas.send_keys("\ue014", "\ue007")  # right, Enter
    assert page("page.tree.chosen") == (2 if inner else 1)
    assert "branch" in page.text("status") or "read" in page.text("status")


def test_colours_follow_light_and_dark(placed, opened_report):
    made = page_of(*placed)
    pixels = """(() => { page.tree.draw(); const c = page.tree.canvas;
        const b = new OffscreenCanvas(c.width, c.height).getContext("2d", {willReadFrequently: true});
        b.drawImage(c, 0, 0);
        const d = b.getImageData(0, 0, c.width, c.height).data, seen = new Set();
        for (let k = 0; k < d.length; k += 4) if (d[k + 3] === 255) seen.add(d[k] << 16 | d[k + 1] << 8 | d[k + 2]);
        return [...seen]; })()"""
    strongest = {False: 0x7F1420, True: 0xFFE9BF}
    for is_dark in (False, True):
        page = opened_report(made, is_dark=is_dark)
        assert strongest[is_dark] in page(pixels) and strongest[not is_dark] not in page(pixels)
        page.find("theme").click()
        assert strongest[not is_dark] in page(pixels)


def test_names_are_text_and_nothing_else(opened_report):
    rows = np.array([list(b"ACGTACGTAC")] * len(HOSTILE), np.uint8)
    rows[np.arange(len(HOSTILE)), np.arange(len(HOSTILE))] = ord("T")
    package = tropalign.ReferencePackage.build(HOSTILE, rows, newick(len(HOSTILE), 3, HOSTILE))
    reads = tropalign.SequenceBatch.from_strings(["ACGTACG"] * len(HOSTILE), [f"{name}+" for name in HOSTILE])
    (table,) = tropalign.place(package, reads)
    page = opened_report(page_of(package, table))
    assert page("page.data.rows") == HOSTILE and page("page.data.names") == list(table.names)
    assert sorted(filter(None, page("page.data.nodes"))) == sorted(HOSTILE)
    page.check_markup()
    page("page.table.choose(1)")
    assert page.text("read-title").startswith("<img src=x")
    page.check_policy()


def test_a_page_without_reads(placed, opened_report):
    package, table = placed
    page = opened_report(page_of(package, table.take(np.zeros(0, np.int64))))
    assert page.text("rows-shown") == "0 rows" and page("page.tree.most") == 0
    assert json.loads(page("document.getElementById('data').textContent"))["n_reads"] == 0
