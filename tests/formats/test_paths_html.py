"""The page of shortest paths, in a real browser."""

from xml.etree import ElementTree

import numpy as np
import pytest

from formats.test_pairs_html import HOSTILE
from formats.test_placed import HEADER
from formats.written import written
from tropalign.cli.main import main
from tropalign.formats.paths import report
from tropalign.formats.paths.report import places
from tropalign.formats.paths.tables import PathsContext
from tropalign.tropical import DenseGraph, Graph, shortest_paths

CITIES = ("Ulm", "Bonn", "Kiel", "Rom", "Oslo")
#: Oslo is an island; between Ulm and Bonn there is a way in both directions.
GRAPH = Graph.from_edges([0, 1, 1, 0, 3], [1, 0, 2, 2, 0], [4.5, 4.5, 6, 11, 9], n=5, names=CITIES)


def page_of(graph, sources=None, targets=None):
    found = shortest_paths(graph, sources=sources, predecessors=True)
    edges = graph.edges if graph.n <= report.MOST_VERTICES else None
    context = PathsContext(found, np.array(graph.numbers(targets), np.int64), edges=edges)
    return written("paths", "html", context, header=HEADER)


def ring(n, names=None):
    """A ring whose edges lead one way."""
    return Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n, np.ones(n), n=n, names=names)


def test_the_table_has_all_pairs(opened_report):
    page = opened_report(page_of(GRAPH))
    assert page("page.table.rows.length") == 25
    listed = page("[...page.table.rows].map((k) => page.table.columns.map((c) => page.table.text(c, k)))")
    assert ["Rom", "Kiel", "19.5"] in listed and ["Kiel", "Oslo", "inf"] in listed
    page.find("find").send_keys("Rom")
    assert page("page.table.rows.length") == 9
    assert page.text("facts") == "5 vertices, 5 edges" and not page.find("left-out").is_displayed()


def test_a_click_shows_the_shortest_path(opened_report):
    page = opened_report(page_of(GRAPH))
    canvas = page.find("graph")
    place = """((v) => {
        const {places, width, height} = page.graph, [x, y] = places[v];
        return [Math.round(x - width / 2), Math.round(y - height / 2)];
    })(arguments[0])"""
    page.mouse().move_to_element_with_offset(canvas, *page(place, 3)).double_click().perform()
    page.mouse().move_to_element_with_offset(canvas, *page(place, 2)).click().perform()
    assert page("page.graph.route") == [3, 0, 1, 2]
    assert page.text("route").split("\n") == ["path", "Rom → Ulm → Bonn → Kiel", "distance", "19.5, 3 edges"]
    assert page("document.getElementById('tip').textContent") == "Kiel\n19.5 from Rom"
    assert page("page.table.chosen") == 3 * 5 + 2
    page.choose("to", "4")
    assert "none" in page.text("route") and page("page.graph.route") == [4]
    page.choose("from", "0"), page.choose("to", "2")
    assert page("page.graph.route") == [0, 1, 2]


def test_keys_go_from_vertex_to_vertex(opened_report):
    page = opened_report(page_of(ring(6)))
    canvas, seen = page.find("graph"), set()
    for key in ("\ue014", "\ue015", "\ue012", "\ue013") * 3:  # right, down, left, up
        canvas.send_keys(key)
        seen.add(page("page.graph.target"))
    assert len(seen) > 2 and page.text("status")
    canvas.send_keys("\ue007")  # Enter
    assert page("page.arrays.source[page.row]") == page("page.graph.target")
    canvas.send_keys("/")
    assert page("document.activeElement.id") == "find"


def test_equal_edges_of_both_directions_are_one_line():
    edges, n_drawable = report.edges_of(PathsContext(None, None, edges=GRAPH.edges))
    assert n_drawable == 4 and edges["edge_weight"].tolist() == [4.5, 6, 9, 11]
    assert edges["edge_is_both"].tolist() == [1, 0, 0, 0]
    matrix = GRAPH.matrix()
    dense = DenseGraph.from_matrix(np.where(np.isfinite(matrix), matrix, np.iinfo(np.int16).max).astype(np.int16))
    edges, n_drawable = report.edges_of(PathsContext(None, None, edges=dense.edges))
    assert n_drawable == 4 and edges["edge_weight"].tolist() == [4, 6, 9, 11]


def test_larger_graphs_have_the_table_alone(monkeypatch, opened_report):
    monkeypatch.setattr(report, "MOST_ROWS", 2_000)
    page = opened_report(page_of(ring(501)))
    assert not page.find("graph-card").is_displayed() and page("page.table.rows.length") == 3 * 501
    told = page.text("left-out")
    assert "Graphs of up to 500 vertices are drawn" in told and "the first 1,503 of 251,001 pairs" in told
    assert page("page.name(page.data.names.length - 1)") == "500"


def test_some_sources_and_the_lightest_edges(opened_report, monkeypatch):
    page = opened_report(page_of(GRAPH, ["Rom"], ["Kiel", "Ulm"]))
    listed = page("[...page.table.rows].map((k) => page.table.columns.map((c) => page.table.text(c, k)))")
    assert listed == [["Rom", "Kiel", "19.5"], ["Rom", "Ulm", "9"]]
    page("page.graph.click(1)")
    assert page("document.getElementById('status').textContent") == "no distances to Bonn"
    assert page("page.graph.route") == [3, 0, 1, 2]
    monkeypatch.setattr(report, "MOST_EDGES", 2)
    page = opened_report(page_of(GRAPH))
    assert page(
        "page.graph.edges.length"
    ) == 2 and "The 2 lightest of 4 edges and those of shortest paths" in page.text("graph-note")


def test_names_are_never_markup_nor_in_pictures(opened_report):
    page = opened_report(page_of(ring(len(HOSTILE), HOSTILE)))
    assert page("page.data.names") == HOSTILE
    page.check_policy()
    page = opened_report(page_of(ring(8, [f"<{k}>" for k in range(8)])))
    page("window.saved = [], window.saveFile = (name, content) => window.saved.push([name, content]), 1")
    page("saveFile = window.saveFile, page.graph.save('svg', 'graph'), 1")
    ((name, text),) = page("window.saved")
    root = ElementTree.fromstring(text)
    assert name == "graph.svg" and root.tag.endswith("svg") and "&lt;3&gt;" in text


@pytest.mark.parametrize("is_dark", [False, True])
def test_no_width_is_too_small_or_large(opened_report, width, is_dark):
    assert opened_report(page_of(GRAPH), is_dark=is_dark).has_room(("graph", "graph-card"))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_graphs(opened_report, n):
    page = opened_report(page_of(Graph.from_edges([], [], [], n=n)))
    assert page("page.table.rows.length") == n * n


def test_vertices_have_places_and_pages_a_bound():
    n = 30
    found = places(np.arange(n - 1), np.arange(1, n), n)
    assert found.min() == 0 and found.max() == 1
    apart = np.hypot(*(found[:, None, axis] - found[None, :, axis] for axis in (0, 1)))
    steps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    assert np.corrcoef(apart.ravel(), steps.ravel())[0, 1] > 0.99
    islands = places(np.array([0, 2]), np.array([1, 3]), 5)
    assert np.isfinite(islands).all() and len(np.unique(islands.round(3), axis=0)) == 5
    assert (places(np.arange(n - 1), np.arange(1, n), n) == found).all()
    rng = np.random.default_rng(0)
    n, m = 500, 200_000
    graph = Graph.from_edges(rng.integers(n, size=m), rng.integers(n, size=m), rng.random(m), n=n)
    assert len(page_of(graph)) < 4 << 20


def test_the_command_writes_the_page_beside_the_output(tmp_path, request, capsys):
    graph, page = str(request.config.rootpath / "examples" / "codons.tsv"), tmp_path / "x.html"
    assert main(["paths", graph, "--undirected", "-o", str(tmp_path / "x.tsv"), "--html", str(page)]) == 0
    assert (tmp_path / "x.tsv").read_text().count("\n") > 61 * 61 and b"Shortest paths" in page.read_bytes()
    assert main(["paths", graph, "-o", str(tmp_path / "y.html"), "--from", "TTT"]) == 0
    assert main(["paths", graph, "-o", str(tmp_path / "z.tsv"), "--html", str(tmp_path / "z.svg")]) == 2
    assert "end the name in .html" in capsys.readouterr().err
