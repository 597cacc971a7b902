"""The report of pairs, in a real browser and out of it."""

import io
import json
import re
import zlib
from base64 import b64decode

import numpy as np
import pytest
from scipy.cluster.hierarchy import average
from scipy.spatial.distance import pdist, squareform

import tropalign
from formats.conftest import pairs_file
from formats.tables import random_table
from formats.written import HEADER
from tropalign.errors import InputError
from tropalign.formats.format import make_writer
from tropalign.formats.pairs import report as html
from tropalign.formats.pairs.context import PairsContext
from tropalign.formats.pairs.report import linked, mapped, packed_paths
from tropalign.results.alignments import concatenate
from tropalign.sequences import NUCLEOTIDE, SequenceBatch

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "@script@ @data@",
    'it\'s "quoted" & <b>bold</b>',
    "right\u202eleft\u2028next",
    "日本語 كلب",
    "x" * 500,
]
MKV = "MKVLAWGKVLMMKHEAGAWGHEEPAWHEAE"


def page_of(table, cuts=(), **more):
    return pairs_file("html", table, cuts, **more)


def aligned_set(texts, names=None, **options):
    batch = SequenceBatch.from_strings(texts, names)
    options = {"mode": "global", "report": "alignment", **options}
    return concatenate(list(tropalign.align_all(batch, **options)))


def family(n, length=120, seed=0):
    """Sequences along a random tree: some are near, some far."""
    random = np.random.default_rng(seed)
    letters = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)
    found = [random.choice(letters, length)]
    while len(found) < n:
        text = found[random.integers(len(found))].copy()
        places = random.random(len(text)) < random.choice([0.03, 0.1, 0.4])
        text[places] = random.choice(letters, int(places.sum()))
        cut = random.integers(0, 6)
        found.append(np.delete(text, slice(cut * 7, cut * 7 + random.integers(0, 4))))
    return [text.tobytes().decode() for text in found]


def data_of(page):
    """The page's JSON and arrays, read as a browser does."""
    text = page.decode()
    pieces = {
        name: re.search(rf'id="{name}">(.*?)</script>', text, re.DOTALL)[1] for name in ("data", "layout", "arrays")
    }
    plain, at, arrays = zlib.decompress(b64decode(pieces["arrays"])), 0, {}
    for name, dtype, length in json.loads(pieces["layout"]):
        arrays[name] = np.frombuffer(plain, dtype, length, at)
        at += arrays[name].nbytes
        assert (at - arrays[name].nbytes) % arrays[name].itemsize == 0
    assert at == len(plain)
    return json.loads(pieces["data"]), arrays


def unpacked(text):
    """Runs of a path: LEB128, from its definition."""
    runs, value, shift = [], 0, 0
    for byte in text.tolist():
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            runs.append((value & 3, value >> 2))
            value, shift = 0, 0
    return runs


@pytest.mark.parametrize("lengths", [(3, 1, 2), (31, 32, 4_095, 4_096, 2**20, 2**28 - 1)])
def test_paths_keep_all_but_what_letters_say(lengths):
    table = random_table(3, n_rows=40)
    text, sizes = packed_paths(table)
    ends = np.cumsum(sizes)
    for k, row in enumerate(table):
        wanted = []
        for op, n in row.operations():
            kind = {1: 1, 2: 2}.get(op, 0)
            if wanted and wanted[-1][0] == kind:
                n += wanted.pop()[1]
            wanted.append((kind, n))
        assert unpacked(text[ends[k] - sizes[k] : ends[k]]) == wanted
    long = table.slice(0, 1)
    long.cigar_ops = np.array([n << 4 | 7 + k % 2 - 6 * (k % 2) for k, n in enumerate(lengths)], np.uint32)
    long.cigar_offsets = np.array([0, len(lengths)])
    assert unpacked(packed_paths(long)[0]) == [(0 if k % 2 == 0 else 2, n) for k, n in enumerate(lengths)]


def test_the_tree_is_scipys():
    points = np.random.default_rng(1).random((40, 3))
    between = squareform(pdist(points))
    lines, wanted = linked(between), average(pdist(points))
    assert lines.heights == pytest.approx(wanted[:, 2])
    assert sorted(lines.order.tolist()) == list(range(40))
    assert {frozenset(pair) for pair in lines.joins.tolist()} == {frozenset(map(int, row[:2])) for row in wanted}
    place = {k: {int(lines.order[k])} for k in range(40)}  # every join's leaves stand side by side
    clades = [{k} for k in range(40)]
    for a, b in lines.joins.tolist():
        clades.append(clades[a] | clades[b])
        at = sorted(k for k in place if place[k] <= clades[-1])
        assert at == list(range(at[0], at[-1] + 1))


def test_cells_of_both_orders_and_of_two_sets():
    random = np.random.default_rng(2)
    near = random.random((6, 9)).round(4)
    query, target = np.divmod(np.arange(54), 9)
    made = mapped(query, target, near.ravel(), (6, 9), False)
    assert made.rows.heights == pytest.approx(average(pdist(near))[:, 2])
    assert made.columns.heights == pytest.approx(average(pdist(near.T))[:, 2])
    assert (made.cells == np.arange(54).reshape(6, 9)).all()
    query, target = np.array([0, 1, 2]), np.array([1, 0, 0])
    made = mapped(query, target, np.array([0.9, 0.8, 0.1]), (3, 3), True)
    assert made.cells.tolist() == [[-1, 0, 2], [1, -1, -1], [2, -1, -1]]
    assert made.rows is made.columns and made.rows.heights == pytest.approx([0.1, (0.9 + 1) / 2])


def test_the_page_has_what_the_table_has():
    table = random_table(5, n_rows=30, alphabet=NUCLEOTIDE, has_strand=True)
    data, arrays = data_of(page_of(table))
    assert data["n_pairs"] == 30
    for k, row in enumerate(table):
        names = [data["names"][side][arrays[f"{role}_index"][k]] for side, role in enumerate(("query", "target"))]
        assert names == [row.query, row.target]
        for name in ("score", "strand", "query_start", "query_end", "target_start", "n_identical", "n_gaps"):
            assert arrays[name][k] == getattr(row, name)


@pytest.mark.parametrize("limit", ["MOST_ROWS", "MOST_PATH_BYTES"])
def test_beyond_a_limit_the_best_stay(limit, monkeypatch):
    table = aligned_set(family(12))
    monkeypatch.setattr(html, limit, 20 if limit == "MOST_ROWS" else int(packed_paths(table)[1].sum() * 0.4))
    data, arrays = data_of(page_of(table, cuts=range(5, 66, 5)))
    n = len(arrays["score"])
    best = np.argsort(-table.score, kind="stable")
    kept = np.sort(best[:n])
    assert data["n_pairs"] == 66 and (n == 20 if limit == "MOST_ROWS" else 0 < n < 66)
    assert arrays["score"].tolist() == table.score[kept].tolist()
    text, sizes = packed_paths(table.take(kept))
    assert arrays["paths"].tobytes() == text.tobytes() and arrays["path_sizes"].tolist() == sizes.tolist()


def test_the_file_needs_nothing_else():
    """Links to records are followed by whoever clicks them; a namespace is a name."""
    text = page_of(aligned_set(family(4))).decode()
    for address in ("https://www.uniprot.org/", "https://www.ncbi.nlm.nih.gov/", "http://www.w3.org/2000/svg"):
        assert text.count(address) == 1
        text = text.replace(address, "")
    assert not re.search(r"(?:src|href)\s*=\s*[\"']|@import|url\((?!#)|https?:", text)


def test_limits_and_damaged_parts(monkeypatch):
    writer = make_writer("pairs", "html", HEADER, PairsContext())
    with pytest.raises(InputError, match="a finished part is damaged"):
        writer.assemble([b"nothing"], io.BytesIO())
    table = aligned_set(family(5))
    monkeypatch.setattr(html, "MOST_LETTERS", 10)
    monkeypatch.setattr(html, "MOST_LINES", 4)
    _, arrays = data_of(page_of(table))
    assert not {"query_letters", "cells"} & set(arrays) and len(arrays["paths"]) == 0


def numbered(n, length=120, **options):
    return aligned_set(family(n, length), [f"seq{k}" for k in range(n)], **options)


def row_of(table, *names):
    return next(row for row in table if {row.query, row.target} == {*names})


def shown_row(page, row):
    assert page.text("pair-title") == f"{row.query} × {row.target}"
    return page.lines() == row.aligned()


def test_the_table_sorts(opened_report):
    table = numbered(20)
    page = opened_report(page_of(table, is_triangle=True))
    assert page.text("rows-shown") == "190 rows" and page.text("facts").startswith("190 pairs of 20 sequences")
    by_score = np.argsort(-table.score, kind="stable")
    assert [int(row[2]) for row in page.rows()] == table.score[by_score][: len(page.rows())].tolist()
    page.sort("score")
    assert [int(row[2]) for row in page.rows()][:5] == sorted(table.score.tolist())[:5]
    page.sort("score")
    first = table.row(0)
    assert page.rows()[0][:2] == [first.query, first.target]
    page.sort("identity")
    wanted = table.identity[np.argsort(-table.identity, kind="stable")]
    assert [row[3] for row in page.rows()] == [f"{value:.4f}" for value in wanted[: len(page.rows())]]
    page.sort("query")  # by the numbers in names: seq2 before seq10
    page.sort("query")
    assert page.rows()[0][0] == "seq18"
    assert page("document.querySelector('[aria-sort=descending]').textContent") == "query ▼"


def test_the_table_filters(opened_report):
    table = numbered(20)
    page = opened_report(page_of(table, is_triangle=True))
    low, high = np.quantile(table.identity, [0.4, 0.6]).round(3)
    page.type("identity", f"{low}..{high}")
    n = int(((table.identity >= low) & (table.identity <= high)).sum())
    assert page.text("rows-shown") == f"{n} of 190 rows" and 0 < n < 190
    field = page.type("identity", "nonsense")
    assert field.get_attribute("aria-invalid") == "true" and page.text("rows-shown") == "190 rows"
    field = page.type("identity", ">2")
    assert page.text("rows-shown") == "0 of 190 rows" and page.rows() == []
    page.find("clear").click()
    page.type("query", "SEQ1 !seq12")
    names = [row.query for row in table]
    assert page.text("rows-shown") == f"{sum('seq1' in name and name != 'seq12' for name in names)} of 190 rows"
    page.find("clear").click()
    page.find("find").send_keys("seq7")
    assert page.text("rows-shown") == "19 of 190 rows"
    assert len(page("page.table.tsv()").splitlines()) == 20


def test_a_row_shows_its_alignment(opened_report):
    table = numbered(8, 300, mode="local")
    page = opened_report(page_of(table, is_triangle=True))
    for k in (0, 13, 27):
        page(f"page.table.choose({k})")
        assert shown_row(page, table.row(k))
    row = table.row(27)
    first = page("document.querySelector('pre.alignment').textContent").splitlines()
    assert first[0].split()[0] == str(row.query_start + 1) and first[2].split()[0] == str(row.target_start + 1)
    last = page("[...document.querySelectorAll('pre.alignment')].pop().textContent").splitlines()
    assert last[0].split()[-1] == str(row.query_end) and last[2].split()[-1] == str(row.target_end)


def test_random_rows_are_shown_as_they_are(opened_report, any_table):
    """Both strands, empty alignments, letters in lower case, U, X and N."""
    page = opened_report(page_of(any_table))
    for k, row in enumerate(any_table):
        page(f"page.choose({k})")
        if row.n_columns:
            assert shown_row(page, row), k
            n = row.n_identical
            assert page("document.querySelectorAll('.alignment .equal').length > 0") == (n > 0)
        else:
            assert "This alignment is empty" in page.text("alignment")


def test_places_count_down_on_the_other_strand(opened_report):
    table = concatenate(list(tropalign.align_all(
        {"a": "AACGGGTTTACCA"}, {"b": "GGTAAACCCGTT"}, mode="local", strand="both", report="alignment"
    )))  # fmt: skip
    row = table.row(0)
    page = opened_report(page_of(table))
    text = page("document.querySelector('pre.alignment').textContent").splitlines()[0].split()
    assert row.strand == -1 and text == [str(row.query_end), row.aligned()[0], str(row.query_start + 1)]


def test_a_cell_of_the_map_is_its_pair(opened_report):
    table = numbered(15)
    page = opened_report(page_of(table, is_triangle=True))
    for place in ([0, 14], [9, 2], [3, 12]):
        x, y = page(
            "[page.map.x(arguments[1] + .5), page.map.y(arguments[0] + .5)]"
            ".map((v, k) => v - page.map.canvas[k ? 'clientHeight' : 'clientWidth'] / 2)", *place
        )  # fmt: skip
        page.mouse().move_to_element_with_offset(page.find("map"), round(x), round(y)).click().perform()
        a, b = page("page.map.namesAt(arguments[0])", place)
        row = row_of(table, a, b)
        told = f"{row.query}\n{row.target}\nidentity {row.identity:.4f}"
        assert page("document.getElementById('tip').textContent").startswith(told)
        assert shown_row(page, row)
        assert page("document.querySelector('[aria-selected=true]').firstChild.textContent") == row.query


def test_the_map_by_keys(opened_report):
    from selenium.webdriver import Keys

    table = numbered(15)
    page = opened_report(page_of(table, is_triangle=True))
    page.find("map").send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ENTER)
    assert page("page.map.cursor") == [0, 2]
    row = row_of(table, *page("page.map.namesAt([0, 2])"))
    told = page("document.getElementById('status').textContent")
    assert shown_row(page, row) and f"identity {row.identity:.4f}" in told
    page.find("map").send_keys("+")
    assert page("page.map.view.rows") == pytest.approx(10)
    page.find("map").send_keys("0")
    assert page("page.map.view") == {"top": 0, "left": 0, "rows": 15, "columns": 15}
    page.find("table").send_keys(Keys.HOME, Keys.ARROW_DOWN)
    second = np.argsort(-table.score, kind="stable")[1]
    assert page("page.chosen") == second


def pixel(page, place):
    """The colour in the middle of a cell; read from a copy, as browsers advise."""
    return page("""((place) => {
      const map = page.map, dpr = window.devicePixelRatio, brush = new OffscreenCanvas(1, 1).getContext("2d");
      brush.drawImage(map.canvas, -dpr * map.x(place[1] + .5), -dpr * map.y(place[0] + .5));
      return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3);
    })(arguments[0])""", place)  # fmt: skip


def test_colours_of_the_map_follow_the_numbers(opened_report):
    table = numbered(15)
    page = opened_report(page_of(table, is_triangle=True))
    cells = [(row, column) for row in range(15) for column in range(row)][:40]
    names = [page("page.map.namesAt(arguments[0])", cell) for cell in cells]
    of_pair = {frozenset((row.query, row.target)): row for row in table}
    for value, places in (("identity", 4), ("score", 0)):
        page.choose("map-of", value)
        found = sorted(
            (getattr(of_pair[frozenset(pair)], value), sum(pixel(page, cell)))
            for pair, cell in zip(names, cells, strict=True)
        )
        brightness = [light for _, light in found]
        assert brightness == sorted(brightness, reverse=True) and len(set(brightness)) > 5, places
    page.choose("map-order", "input")
    assert page("page.map.namesAt([0, 3])") == ["seq0", "seq3"]


def test_a_histogram_chooses_a_range(opened_report):
    table = aligned_set(family(15))
    page = opened_report(page_of(table, is_triangle=True))
    counts = page("[...page.histogram.counts]")
    assert counts == np.histogram(table.identity, 50, (0, 1))[0].tolist()
    bar = int(np.argmax(counts))
    x = page(
        "page.histogram.left + page.histogram.step * (arguments[0] + .5) - page.histogram.canvas.clientWidth / 2", bar
    )
    page.mouse().move_to_element_with_offset(page.find("histogram"), round(x), 20).click().perform()
    chosen = int(page.text("rows-shown").split()[0])
    assert chosen >= counts[bar] and page("document.querySelectorAll('.grid input')[3].value") != ""
    page.find("clear").click()
    assert page.text("rows-shown") == "105 rows"


def test_local_alignments_have_their_significance(opened_report):
    batch = SequenceBatch.from_strings(family(6), [f"seq{k}" for k in range(6)])
    table = concatenate(list(tropalign.align_all(batch, batch, mode="local", report="alignment", max_evalue=10)))
    columns = table.columns(["query", "target", "evalue", "bits"])
    _, arrays = data_of(page_of(table))
    for name in ("evalue", "bits"):
        assert arrays[name].tolist() == columns[name].tolist()
    page = opened_report(page_of(table))
    page("page.choose(3)")
    assert f"{columns['bits'][3]:.1f} bits" in page.text("pair-facts")
    page.sort("E-value")
    titles = page("[...document.querySelectorAll('#table .top .line:first-child .cell')].map((c) => c.textContent)")
    assert "bits" in titles and "E-value ▼" in titles
    _, arrays = data_of(page_of(aligned_set(family(3))))
    assert not {"evalue", "bits"} & set(arrays)  # of global alignments


def bars_of(page):
    """Bars of the picture along a sequence: the row, its line, where it begins and ends."""
    return [tuple(bar) for bar in page("page.spans.bars.map((b) => [b.row, b.place, b.begin, b.end])")]


def test_alignments_lie_along_their_query(opened_report):
    core = family(1, 40)[0]
    queries = {"q1": core + "MKVLAW" * 5 + core, "q2": "HEAGAWGHEE" * 4}
    targets = {"both": core, "none": "WWWWWWWW", "part": core[:25], "same": "HEAGAWGHEE" * 4}
    options = {"mode": "local", "report": "alignment", "max_hsps": 2, "min_score": 40}
    table = concatenate(list(tropalign.align_all(queries, targets, **options)))
    page = opened_report(page_of(table))
    rows = [(k, row.target, row.query_start, row.query_end) for k, row in enumerate(table) if row.query == "q1"]
    page.choose("spans-of", "0")
    bars = bars_of(page)
    assert sorted((k, begin, end) for k, _, begin, end in bars) == sorted((k, begin, end) for k, _, begin, end in rows)
    place = {table.row(k).target: line for k, line, *_ in bars}
    assert place == {"both": 0, "part": 1} and len(bars) == 4
    assert page.text("spans-note") == "q1: 4 alignments with 2 sequences"
    best = page("page.chosen")
    assert table.score[best] == max(table.score[k] for k, *_ in rows)
    x, y = page("[page.spans.x(page.spans.bars[3].begin) + 4, TOP + page.spans.bars[3].place * LINE + 4]")
    room = page("[page.spans.canvas.clientWidth / 2, page.spans.canvas.clientHeight / 2]")
    page.mouse().move_to_element_with_offset(
        page.find("spans"), round(x - room[0]), round(y - room[1])
    ).click().perform()
    assert shown_row(page, table.row(bars[3][0]))
    assert page("document.getElementById('tip').textContent").startswith("part\n")
    others = [k for k, row in enumerate(table) if row.query == "q2"]
    page(f"page.table.choose({others[0]})")  # the picture follows
    assert page("page.spans.name") == "q2" and sorted(bar[0] for bar in bars_of(page)) == others


def test_alignments_along_a_sequence_by_keys_and_as_pictures(opened_report):
    from xml.etree import ElementTree

    from selenium.webdriver import Keys

    table = numbered(5, mode="local")
    page = opened_report(page_of(table, is_triangle=True))
    page.choose("spans-of", "2")
    bars = bars_of(page)  # of one set: pairs of which it is either
    assert {frozenset((row.query, row.target)) for row in (table.row(k) for k, *_ in bars)} == {
        frozenset(("seq2", f"seq{k}")) for k in (0, 1, 3, 4)
    }
    for k, _, begin, end in bars:
        row = table.row(k)
        assert [begin, end] == (
            [row.query_start, row.query_end] if row.query == "seq2" else [row.target_start, row.target_end]
        )
    assert page("page.chosen") == bars[0][0]
    page.find("spans").send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert page("page.chosen") == bars[2][0] and page("page.spans.name") == "seq2"
    page("(saveFile = (name, text) => window.saved = [name, text], 1)")
    page.find("spans-svg").click()
    name, text = page("window.saved")
    root = ElementTree.fromstring(text)
    words = {node.text for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert name == "alignments.svg" and {"seq0", "seq4"} <= words and "seq2" not in words


def test_targets_that_are_listed_become_fasta(opened_report):
    texts = family(4, 200)
    table = concatenate(list(tropalign.align_all({"q": texts[0]}, {f"t{k}": text for k, text in enumerate(texts)})))
    page = opened_report(page_of(table))
    page("(saveFile = (name, text) => window.saved = [name, text], 1)")
    page.type("target", "!t2")
    page.find("save-fasta").click()
    name, text = page("window.saved")
    records = {record.split("\n", 1)[0]: record.split("\n", 1)[1].replace("\n", "") for record in text.split(">")[1:]}
    assert name == "targets.fasta" and records == {f"t{k}": texts[k] for k in (0, 1, 3)}
    assert max(map(len, text.splitlines())) == 80


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("sp|P12345|AATM_RABIT", "https://www.uniprot.org/uniprotkb/P12345"),
        ("tr|A0A0A7UVF8|A0A0A7UVF8_9SPIR", "https://www.uniprot.org/uniprotkb/A0A0A7UVF8"),
        ("sp|P12345-2|AATM_RABIT/+1", "https://www.uniprot.org/uniprotkb/P12345-2"),
        ("Q9H0H5", "https://www.uniprot.org/uniprotkb/Q9H0H5"),
        ("UniRef50_Q9K794", "https://www.uniprot.org/uniref/UniRef50_Q9K794"),
        ("gi|5|ref|NP_000001.1|", "https://www.ncbi.nlm.nih.gov/protein/NP_000001.1"),
        ("WP_012345678.1", "https://www.ncbi.nlm.nih.gov/protein/WP_012345678.1"),
        ("NM_000546.6", "https://www.ncbi.nlm.nih.gov/nuccore/NM_000546.6"),
        ("NZ_CP012345.1", "https://www.ncbi.nlm.nih.gov/nuccore/NZ_CP012345.1"),
        ("gb|AAA12345.1|", "https://www.ncbi.nlm.nih.gov/protein/AAA12345.1"),
        ("U12345.1", "https://www.ncbi.nlm.nih.gov/nuccore/U12345.1"),
        ("read1", None),
        ("sample_12", None),
        ("javascript:alert(1)", None),
    ],
)
def test_names_lead_to_their_records(opened_report, name, address):
    page = opened_report(page_of(aligned_set([MKV, MKV[2:]], [name, "other"])))
    links = page("[...document.querySelectorAll('#pair-facts a')].map((a) => [a.href, a.textContent, a.rel, a.target])")
    assert links == ([] if address is None else [[address, name, "noopener noreferrer", "_blank"]])
    assert page("document.querySelector('#pair-facts dd').textContent").startswith(f"{name}: ")


def test_dots_are_equal_words(opened_report):
    query, target = "MKVLAWHEAGAWGHEE", "AWHEAGKVLAW"
    table = aligned_set([query, target])
    page = opened_report(page_of(table, is_triangle=True))
    found = page("equalWords(page.pair.query, page.pair.target, 3, page.data.codes)")
    wanted = [
        (i, j) for i in range(len(query) - 2) for j in range(len(target) - 2) if query[i : i + 3] == target[j : j + 3]
    ]
    assert list(zip(found[::2], found[1::2], strict=True)) == wanted and wanted
    page.find("show-dots").click()
    page.choose("dots-word", "3")
    assert page.find("dots").is_displayed() and not page.find("alignment").is_displayed()
    assert page.find("dots").get_attribute("aria-label").endswith(f"{len(wanted)} equal words of 3 letters")


def test_two_sets_and_pages_of_one_pair_or_none(opened_report):
    texts = family(12)
    table = concatenate(list(tropalign.align_all(texts[:3], texts[3:], mode="global", report="alignment")))
    page = opened_report(page_of(table))
    assert page("page.map.n") == [3, 9] and "3 queries and 9 targets" in page.text("facts")
    a, b = page("page.map.namesAt([2, 8])")
    row = next(row for row in table if (row.query, row.target) == (a, b))
    assert page("page.map.rowAt([2, 8])") == [(r.query, r.target) for r in table].index((row.query, row.target))
    table = aligned_set(["MKVLAW", "MKILAW"])
    page = opened_report(page_of(table.slice(0, 0), is_triangle=True))
    assert page.text("rows-shown") == "0 rows" and page.text("no-map") == "There are no pairs to map."
    page = opened_report(page_of(table, is_triangle=True))
    assert shown_row(page, table.row(0))


def test_names_are_text_and_nothing_else(opened_report):
    table = aligned_set([MKV[k:] for k in range(len(HOSTILE))], HOSTILE)
    page = opened_report(page_of(table, is_triangle=True))
    assert page("page.data.names[0]") == HOSTILE
    page.check_markup()
    for k, row in enumerate(table):
        page(f"page.table.choose({k})")
        clean = [re.sub("[\u202e\u2028]", "\ufffd", name) for name in (row.query, row.target)]
        assert page("document.getElementById('pair-title').textContent") == " × ".join(clean)
        assert page.lines() == row.aligned()
    shown = {name for row in page.rows() for name in row[:2]}
    assert "<img src=x onerror=alert(1)>" in shown and "right\ufffdleft\ufffdnext" in shown
    page.check_markup()
    page.check_policy()


def test_light_and_dark(opened_report):
    made = page_of(aligned_set(family(6)), is_triangle=True)
    background = "getComputedStyle(document.body).backgroundColor"
    page = opened_report(made)
    light = pixel(page, [0, 0]), page(background)
    page.find("theme").click()
    dark = pixel(page, [0, 0]), page(background)
    assert dark[1] != light[1] == "rgb(255, 255, 255)" and sum(dark[0]) < 150 < 600 < sum(light[0])
    again = opened_report(made, is_dark=True)
    assert (pixel(again, [0, 0]), again(background)) == dark
    assert again.find("theme").get_attribute("aria-pressed") == "true"


def test_more_rows_than_pixels_are_reached(opened_report):
    table = numbered(30)
    page = opened_report(page_of(table, is_triangle=True))
    page.sort("score"), page.sort("score")
    page("(Table.mostPixels = 3_000, page.table.arrange())")
    assert page("page.table.body.style.height") == "3000px"
    page("page.table.host.scrollTop = 3_000")
    page("page.table.draw()")
    last = table.row(len(table) - 1)
    assert page.rows()[-1][:2] == [last.query, last.target]
    page("page.table.choose(200)")
    middle = table.row(200)
    assert page("document.querySelector('.body [aria-selected=true]').children[1].textContent") == middle.target
