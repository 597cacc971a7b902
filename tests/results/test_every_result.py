"""Every public result: equal to another of the same content, pickled, shown in notebooks, short, in plain numbers."""

import inspect
import pickle

import numpy as np
import pytest

import tropalign as ta
from tropalign import trees, tropical

PROTEINS = {"a": "MKVLAWHEAGAWMKVLAW", "b": "MKILAWPAWHEAEMKVLAW", "c": "KVLAWMKHEMKVLAWHH"}
READS = {"s.1": "ACGTACGTAC", "s.2": "CCCCGGCC", "t.1": "acgtacgtac"}
ROWS = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
#: Public classes that are no results: what calls are given, and what computes.
GIVEN = {
    "Alphabet", "BuildOptions", "ClustalwOptions", "Gap", "HMM", "PlacementScoring", "PositionMatrix",
    "ReferencePackage", "ScoreStatistics", "SearchOptions", "Semiring", "SequenceBatch", "SequenceStore",
    "SubstitutionMatrix", "Thresholds",
}  # fmt: skip
#: Letters that a result may show of itself in one line.
MOST_LETTERS = 200


def _placed():
    package = ta.ReferencePackage.build(tuple("abcd"), ROWS, "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);")
    tips = tuple(("Bacteria", phylum) for phylum in "PPQQ")
    lineages = ta.BranchLineages(tips, np.array([3, 0, 0, 1, 2]), np.array([4, 2, 1, 2, 3]))
    (placements,) = ta.place(package, [("x", "ACGTA")])
    return lineages, lineages.assign(placements)[0], placements


def _results():
    alignment = ta.align_multiple(PROTEINS)
    tree = trees.neighbour_joining(trees.alignment_distances(alignment), list(PROTEINS))
    (table,) = ta.align_all(PROTEINS)
    clusters = ta.cluster(PROTEINS, 0.5)
    model = ta.build_model(ta.MultipleAlignment.from_rows("ab", ["MKVLAWMKV", "MKVLAWMKL"]), name="m")
    hits = ta.search("examples/efp.hmm", "examples/efp.fasta")
    uniques = ta.dereplicate(READS)
    chimeras = ta.find_chimeras({"a;size=2": "ACGTACGTACGT"})
    segments = ta.decode("cpg", {"chr": "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20})
    weights = [[0.0, 1.0], [1.0, 0.0]]
    profile = ta.msa.profile_of(alignment)
    made = [
        ta.align("MKV", "MKL"), ta.soft_align(np.eye(2), gap=ta.Gap(1, 1)),
        table, table[0], clusters, clusters[0], alignment, alignment[0], tree,
        ta.score_alignment(alignment, alignment), uniques,
        ta.otu_table(uniques.clusters(), uniques, sample_delimiter="."),
        chimeras, chimeras[0], hits, hits[0], hits[0].domains[0], hits.domains,
        hits.queries[0], model, segments, segments[0],
        trees.compare_trees([tree, tree]), *_placed(),
        ta.msa.align_profiles(profile, profile), tropical.matrix_chain([1, 2, 3]),
        tropical.search_tree([1.0, 2.0]), tropical.nussinov("GGGAAACCC"), tropical.shortest_paths(weights),
        tropical.Graph.from_edges([0], [1], [1.0]), tropical.DenseGraph.from_matrix(weights),
    ]  # fmt: skip
    return [each for each in made if not isinstance(each, str | bytes)]


@pytest.fixture(scope="module")
def results(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(request.config.rootpath)
        return _results(), _results()


def test_no_public_class_is_left_out_and_numbers_are_plain(results):
    rooms = (ta, trees, tropical, ta.msa)
    public = {one for room in rooms for name in room.__all__ if inspect.isclass(one := getattr(room, name))}
    shown = {one.__name__ for one in public if not issubclass(one, Exception)} - GIVEN
    assert shown <= {type(each).__name__ for each in results[0]}
    # Numbers of NumPy, which print their type and are no int, stand in arrays only.
    for one in results[0]:
        for name in dir(one):
            value = None if name.startswith("_") else getattr(one, name)
            items = value if isinstance(value, tuple | list) else [value]
            assert not any(isinstance(item, np.generic) for item in items), (one, name)


def test_results_of_the_same_content_are_equal_and_short(results):
    for one, again in zip(*results, strict=True):
        assert one == again and pickle.loads(pickle.dumps(one)) == one, one
        assert one != 1
    assert len(results[0]) == sum(a == b for a in results[0] for b in results[1])
    for one in results[0]:
        assert len(repr(one).splitlines()[0]) <= MOST_LETTERS, one
        assert one._repr_html_().startswith("<"), one
    tree = trees.parse_tree("('<b>':1,'c\x1b[31m':2);")
    assert "&lt;b&gt;" in tree._repr_html_() and "\x1b" not in tree._repr_html_()
    assert max(map(len, str(tree).splitlines())) < 100


#: A notebook's page, light and dark: its own text and ground, and a cell for outputs.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
:root {{ color-scheme: {scheme}; --jp-layout-color0: {ground}; }}
body {{ background: {ground}; color: {text}; font: 13px sans-serif; margin: 8px; }}
.cell {{ width: 640px; border-top: 1px solid; }}
</style>{cells}"""
GROUNDS = {"light": ("#ffffff", "#1b1b1b"), "dark": ("#111111", "#e0e0e0")}
#: Of each cell: how far its content stands out at the right, and the least contrast of a text with what lies below it.
MEASURED = """
const channels = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
const light = (colour) => colour.slice(0, 3).map((value) => value / 255)
  .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  .reduce((sum, value, k) => sum + value * [0.2126, 0.7152, 0.0722][k], 0);
const ground = (one) => {
  const [r, g, b, opaque = 1] = channels(getComputedStyle(one).backgroundColor);
  if (one === document.body || opaque === 1) return [r, g, b];
  return ground(one.parentElement).map((below, k) => opaque * [r, g, b][k] + (1 - opaque) * below);
};
return [...document.querySelectorAll(".cell")].map((cell) => {
  cell.querySelectorAll("details").forEach((one) => one.open = true);
  let least = 21;
  for (const one of cell.querySelectorAll("*")) {
    const isText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!isText || one.closest("svg, style, script")) continue;
    const [a, b] = [light(channels(getComputedStyle(one).color)), light(ground(one))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return [cell.scrollWidth - cell.clientWidth, least];
});
"""


@pytest.mark.parametrize("scheme", GROUNDS)
def test_notebooks_show_every_result(results, browser, tmp_path, scheme):
    """As a notebook does: within the cell's width, to be read on a light and on a dark ground, and without errors."""
    ground, text = GROUNDS[scheme]
    cells = "".join(f"<div class='cell'>{one._repr_html_()}</div>" for one in results[0])
    path = tmp_path / "notebook.html"
    path.write_text(NOTEBOOK.format(scheme=scheme, ground=ground, text=text, cells=cells))
    browser.get_log("browser")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(path.as_uri())
    measured = browser.execute_script(MEASURED)
    names = [type(one).__name__ for one in results[0]]
    assert [(name, wide) for name, (wide, _) in zip(names, measured, strict=True) if wide > 0] == []
    assert [(name, least) for name, (_, least) in zip(names, measured, strict=True) if least < 4.5] == []
    assert browser.get_log("browser") == []
