"""The page of clusters, in a real browser."""

import itertools
import tracemalloc
from xml.etree import ElementTree

import numpy as np
import pytest

import tropalign as ta
from formats.test_pairs_html import HOSTILE, data_of
from formats.test_placed import HEADER
from formats.written import written
from tropalign.formats.clusters import ClustersContext, report, tables
from tropalign.formats.clusters.report import chosen_rows, member_identities, packed_cigars, page_bytes

OTHER_STRAND = str.maketrans("ACGT", "TGCA")


def reads(n_parents=12, seed=0, length=60):
    """Reads of some parents, the first with most reads; a third of them on the other strand."""
    rng, found = np.random.default_rng(seed), {}
    for parent in range(n_parents):
        letters = rng.choice(list("ACGT"), length)
        for number in range(1 + 12 // (parent + 1)):
            text = letters.copy()
            text[rng.integers(length)] = rng.choice(list("ACGT"))
            text = np.delete(text, rng.integers(length)) if number % 2 else text
            read = "".join(text)
            name = f"p{parent}r{number};size={1 + number % 3}"
            found[name] = read[::-1].translate(OTHER_STRAND) if number % 3 == 1 else read
    return found


def page_of(clusters):
    return written("clusters", "html", ClustersContext(), [clusters], HEADER)


@pytest.fixture(scope="module")
def found():
    return ta.cluster(reads(), 0.9, strand="both")


def by_size(clusters):
    return sorted(range(len(clusters)), key=lambda k: -clusters.cluster_sizes[k])


def test_tables_have_the_clusters_and_their_members(opened_report, found):
    page = opened_report(page_of(found))
    order = by_size(found)
    rows = page("[...page.arrays.label]")
    assert rows == order
    least, mean = member_identities(found)
    listed = page("[...page.clusters.rows].map((k) => page.clusters.columns.map((c) => page.clusters.text(c, k)))")
    for k, cells in zip(order, listed, strict=True):
        shares = ["" if np.isnan(share) else f"{share:.4f}" for share in (least[k], mean[k])]
        size, n_members = f"{found.cluster_sizes[k]:,}", str(len(found.members(k)))
        assert cells == [found.row(k).representative, str(k), size, n_members, *shares]
    assert page.text("facts") == f"{len(found.sequences)} sequences in {len(found)} clusters"
    listed = page("page.members.rows.length")
    assert listed == len(found.members(order[0])) and page("[...page.members.rows]") == list(range(listed))
    names = page("page.data.names")
    assert names[:listed] == found.members(order[0])
    page.find("members-clear").click()
    assert page("page.members.rows.length") == len(found.sequences)
    assert page("page.chosen ?? page.row") >= 0


def test_identities_and_cigars_by_their_definition(found):
    least, mean = member_identities(found)
    for k in range(len(found)):
        others = found.identity[found.member_index(k)[1:]]
        if not len(others):
            assert np.isnan(least[k]) and np.isnan(mean[k])
            continue
        assert least[k] == others.min() and mean[k] == pytest.approx(others.mean())
    text, sizes, reach = packed_cigars(["2I3=1X4=1D", "", "200="])
    assert text.tolist() == [2 << 2 | 1, 8 << 2, 1 << 2 | 2, (200 << 2) % 128 | 128, (200 << 2) >> 7]
    assert sizes.tolist() == [3, 0, 2] and reach.tolist() == [10, 0, 200]


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
def test_every_alignment_is_the_one_of_the_run(opened_report, mode):
    sequences = {name: text[5 * (k % 3) :] for k, (name, text) in enumerate(reads(3).items())}
    clusters = ta.cluster(sequences, 0.8, strand="both", mode=mode, min_coverage=0.5)
    page = opened_report(page_of(clusters))
    names, texts = page("page.data.names"), dict(zip(clusters.sequences.names, sequences.values(), strict=True))
    seen = shifted = 0
    for row, name in enumerate(names):
        k = clusters.sequences.names.index(name)
        if clusters.cigars[k] is None:
            continue
        page("page.openMember(arguments[0])", row)
        representative = clusters.row(clusters.labels[k]).representative
        aligned = ta.align(texts[name], texts[representative], mode=mode, strand="both", alphabet="nucleotide")
        assert aligned.cigar == clusters.cigars[k]
        top, middle, bottom = page.lines()
        whole = aligned.query_text(), texts[representative]
        assert top.replace("-", "") in whole[0] and bottom.replace("-", "") in whole[1]
        assert whole[1][aligned.target_start :].startswith(bottom.replace("-", ""))
        assert whole[0][aligned.query_span()[0] :].startswith(top.replace("-", ""))
        assert middle.count("|") == aligned.n_identical and len(middle.rstrip("\n")) >= len(top.rstrip())
        seen += clusters.strand[k] < 0
        shifted += aligned.target_start > 0
    assert seen and bool(shifted) == (mode != "global")


def test_a_click_on_a_bar_opens_its_cluster(opened_report, found):
    page = opened_report(page_of(found))
    page.choose("ranks-axes", "linear")
    place = "[Math.round((page.ranks.x(arguments[0]) + page.ranks.x(arguments[0] + 1) - page.ranks.width) / 2), 40]"
    canvas = page.find("ranks")
    page.mouse().move_to_element_with_offset(canvas, *page(place, 3)).perform()
    label = by_size(found)[2]
    told = page("document.getElementById('tip').textContent").split("\n")
    assert told[:2] == [found.row(label).representative, f"rank 3, cluster {label}"]
    assert told[2] == f"size {found.cluster_sizes[label]}, {len(found.members(label))} sequences"
    page.mouse().move_to_element_with_offset(canvas, *page(place, 3)).click().perform()
    assert page("page.ranks.chosen") == page("page.clusters.chosen") == 2
    assert page("page.members.byName.get('cluster').filter") == f"={label}"
    canvas.send_keys("\ue014")  # right
    assert page("page.clusters.chosen") == 3
    canvas.send_keys("\ue010")  # End
    assert page("page.clusters.chosen") == len(found) - 1
    canvas.send_keys("\ue014", "\ue011", "\ue012")  # right, Home, left
    assert page("page.clusters.chosen") == 0 and page.text("status").startswith(
        found.row(label := by_size(found)[0])[0]
    )
    canvas.send_keys("/")
    assert page("document.activeElement.id") == "find"


@pytest.mark.parametrize("axes", ["log", "linear"])
def test_bars_are_as_high_as_clusters_are_large(opened_report, found, axes):
    page = opened_report(page_of(found))
    page.choose("ranks-axes", axes)
    sizes = sorted(found.cluster_sizes.tolist(), reverse=True)
    assert page("Array.from({length: page.ranks.n}, (_, k) => page.ranks.sizeOf(k))") == sizes
    heights = page("Array.from({length: page.ranks.n}, (_, k) => page.ranks.y(0) - page.ranks.y(page.ranks.sizeOf(k)))")
    if axes == "linear":
        assert np.array(heights) / heights[0] == pytest.approx(np.array(sizes) / sizes[0])
    else:
        assert np.diff(heights) == pytest.approx(np.diff(np.log(sizes)) * heights[0] / np.log(sizes[0] / 0.7))
    edges = page("Array.from({length: page.ranks.n + 1}, (_, k) => page.ranks.x(k + 1))")
    assert np.all(np.diff(edges) > 0)
    middles = [(a + b) / 2 for a, b in itertools.pairwise(edges)]
    assert [page("page.ranks.hit(arguments[0])", x) for x in middles] == list(range(len(sizes)))
    assert page("page.ranks.hit(page.ranks.width)") == -1 and page("page.ranks.hit(0)") == -1


def test_filters_and_the_histogram_choose_members(opened_report, found):
    page = opened_report(page_of(found))
    page.find("find").send_keys("p1r")
    marked = page("[...page.ranks.marked]")
    assert [found.row(label).representative for label, is_in in zip(by_size(found), marked, strict=True) if is_in] == [
        name for name in (found.row(k).representative for k in by_size(found)) if "p1r" in name
    ]
    page.find("clear").click()
    assert page("page.ranks.marked") is None
    page.find("members-clear").click()
    members = found.identity[[k for k, cigar in enumerate(found.cigars) if cigar is not None]]
    assert page("page.histogram.counts.reduce((sum, value) => sum + value, 0)") == len(members)
    page("page.histogram.onRange(0.95, 0.99)")
    shown = page("[...page.members.rows].map((row) => page.arrays.identity[row])")
    assert len(shown) == ((members >= 0.95) & (members <= 0.99)).sum()
    for name in ("score", "length", "size"):
        page.choose("histogram-of", name)


def test_fasta_and_pictures_are_saved(opened_report, found):
    page = opened_report(page_of(found))
    page("(saveFile = (name, text) => window.saved = [name, text], 1)")
    page.find("save-fasta").click()
    assert page("window.saved[0]") == "representatives.fasta"
    written = dict(zip(*[iter(page("window.saved[1]").replace(">", "").split())] * 2, strict=True))
    batch = found.representatives
    assert written == {batch.names[k]: batch.text(k) for k in range(len(batch))}
    page.find("members-save-fasta").click()
    assert page("window.saved[1]").count(">") == len(found.members(by_size(found)[0]))
    page.find("ranks-svg").click()
    name, text = page("window.saved")
    assert name == "cluster-sizes.svg"
    rects = list(ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}rect"))
    assert len(rects) >= len(set(found.cluster_sizes.tolist()))
    page("(window.saved = null, 1)")
    page.find("ranks-png").click()


def test_what_has_no_room_is_told(opened_report, found, monkeypatch):
    monkeypatch.setattr(report, "MOST_SEQUENCES", 5)  # not even all representatives
    assert chosen_rows(found)[0].tolist() == found.representative_index[by_size(found)[:5]].tolist()
    monkeypatch.setattr(report, "MOST_SEQUENCES", 20)
    monkeypatch.setattr(report, "MOST_LETTERS", 15 * 60)
    rows, has_letters = chosen_rows(found)
    labels = found.labels[rows]
    assert len(rows) == 20 and set(labels.tolist()) == set(range(len(found)))  # each has its representative
    assert 14 <= has_letters.sum() < 20
    assert all(np.isin(found.representative_index, rows[has_letters]))
    page = opened_report(page_of(found))
    assert "20 of 47 sequences" in page.text("left-out")
    assert page("page.ranks.n") == len(found)
    lost = int(np.flatnonzero(~has_letters)[0])
    page("page.openMember(arguments[0])", lost)
    assert page.text("member-note").startswith("These sequences are too large for the page")
    page.find("members-clear").click()
    page("(saveFile = (name, text) => window.saved = text, 1)")
    page.find("members-save-fasta").click()
    assert page("window.saved").count(">") == has_letters.sum()
    assert page.text("status").endswith(f"; {(~has_letters).sum()} more are too large for the page")


def test_no_width_is_too_small_or_large(opened_report, found, width):
    assert opened_report(page_of(found)).has_room(("ranks", "ranks-inside"))


@pytest.mark.parametrize("is_dark", [False, True])
def test_names_are_text_and_nothing_else(opened_report, is_dark):
    page = opened_report(page_of(ta.cluster(dict.fromkeys(HOSTILE, "ACGTACGTACGT"))), is_dark=is_dark)
    assert sorted(page("page.data.names")) == sorted(HOSTILE)
    for row in range(len(HOSTILE)):
        page("page.openMember(arguments[0])", row)
    page.check_markup()
    page.find("theme").click()
    page.check_policy()


@pytest.mark.parametrize(("mode", "is_known"), [("global", True), ("local", False)])
def test_results_of_earlier_versions(opened_report, tmp_path, monkeypatch, mode, is_known):
    """They did not keep where alignments begin: only those of whole sequences are shown."""
    clusters = ta.cluster(["TTTTTACGTACGTACGT", "ACGTACGTACGTTTTTT"], 0.5, mode=mode, min_coverage=0.3)
    monkeypatch.setattr(tables, "_RESULT_COLUMNS", [name for name in tables._RESULT_COLUMNS if "_start" not in name])
    clusters.write(tmp_path / "x.result")
    read = ta.read_result(tmp_path / "x.result")
    assert (read == clusters) == is_known
    page = opened_report(page_of(read))
    page("page.openMember(1)")
    assert page.text("member-note").startswith("This result is from an earlier version") != is_known


def test_proteins_and_a_sequence_alone(opened_report):
    page = opened_report(page_of(ta.cluster({"a": "MKVLAWHEAG"})))
    assert page.text("facts") == "1 sequence in 1 cluster"
    assert page.text("member-note") == "This is the representative." and not page.find("alignment").is_displayed()
    assert page("page.members.byName.has('strand')") is False


def test_pages_are_the_same_again(found, tmp_path):
    assert page_of(found) == page_of(found)
    found.write(tmp_path / "x.result")
    assert data_of(page_of(ta.read_result(tmp_path / "x.result")))[0] == data_of(page_of(found))[0]
    found.write(tmp_path / "x.html")
    assert b"<title>tropalign</title>" in (tmp_path / "x.html").read_bytes()


@pytest.mark.parametrize(("n", "length"), [(20, 50_000), (4_000, 100)])
def test_the_memory_of_the_page_is_reckoned(n, length, tmp_path):
    """What Python and NumPy allocate while it is made, of few letters and of many."""
    letters = np.random.default_rng(1).choice(list("ACGT"), (n, length))
    found = ta.dereplicate(ta.SequenceBatch.from_strings(["".join(row) for row in letters])).clusters()
    tracemalloc.start()
    try:
        found.write(tmp_path / "page.html")
        assert tracemalloc.get_traced_memory()[1] < page_bytes(n, n * length) + (1 << 20)
    finally:
        tracemalloc.stop()
