"""Trees as NEXUS and as pictures, and the groups of their taxa."""

import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from Bio import Phylo

from formats.page import contrast
from formats.tree_pages import random_newick, written
from tropalign.errors import InputError, TropalignWarning, UsageError
from tropalign.formats.format import TEXT, format_for_path
from tropalign.formats.trees import FORMATS
from tropalign.formats.trees.groups import colours, groups_of, read_groups, tell_unknown
from tropalign.formats.trees.picture import places_of
from tropalign.msa.guide_tree import read_guide_tree
from tropalign.results.newick import clustalw_name, parse_newick
from tropalign.trees import parse_tree, read_tree

NAMES = ["plain", "under_score", "sp|P12345|X", "a b", "it's", "dash-ed", "ünï", "c,d:(e)"]


def test_biopython_reads_nexus():
    names = NAMES[:-1]  # it takes brackets in quotes for those of the tree
    tree = parse_tree(random_newick(len(names), 1, names))
    (read,) = Phylo.parse(io.StringIO(written("nexus", tree).decode()), "nexus")
    assert [leaf.name.strip("'").replace("''", "'") for leaf in read.get_terminals()] == list(tree.names)
    lengths = [leaf.branch_length for leaf in read.get_terminals()]
    assert lengths == pytest.approx(tree.lengths[: len(names)].tolist(), abs=1e-8)
    support = sorted(clade.confidence for clade in read.get_nonterminals() if clade.confidence is not None)
    assert support == sorted(tree.support[~np.isnan(tree.support)].tolist())


def test_nexus_has_all_names_in_quotes_where_they_need_them():
    tree = parse_tree(random_newick(len(NAMES), 1, NAMES))
    text = written("nexus", tree).decode()
    assert text.startswith("#NEXUS\n[tropalign 1.2.3]\n") and "[bootstrap: 100]" in text
    newick = re.search(r"= \[&U\] (.*)\nend;\n$", text)[1]
    for again in (parse_tree(newick), parse_tree(text)):
        assert again.names == tree.names and again.newick(8) == tree.newick(8)
    block = re.search(r"taxlabels\n(.*?)  ;", text, re.DOTALL)[1].splitlines()
    assert [line.strip() for line in block][:5] == ["plain", "'under_score'", "'sp|P12345|X'", "'a b'", "'it''s'"]


READ_AGAIN = [
    "((a:1e-09,b:1e+20)90:0.1234567890123456789,c:5e-324,(d:-1e-300,e:0.1)[80]:0);",
    "((a,b)90,(c:1,d):2,e);",
    "((a,b)90,(c,d)nan);",
    "((a:1.5,b:2.25)97.3:0.5,(c:1,d:1)100.0:0.125,e:3);",
    "((a:1,b:2)1.000:0.5,(c:-1,d:1e-05)0.9:0.125)root;",
    "((a:1,b:2)95/100:0.5,('c d':1,d_:1)'clade x':0.125,e:3);",
    "(('it''s':1,'''x''':2)NA:0.5,('[c]':1,'a[1]b':1):0.125,'\"q\"':3);",
    "(('{1}':1,'x{2}':2):0.5,('1':1,'2':1)97:0.125,'1.5e3':3);",
    "(('a:b':1,'a,b':2):0.5,('(p;q)':1,'p q':1):0.125,'ü|/\\\\':3);",
]


@pytest.mark.parametrize("text", READ_AGAIN)
@pytest.mark.parametrize(
    "form", [form for form in FORMATS["trees"] if form.media_type == TEXT], ids=lambda form: form.name
)
def test_text_is_read_again(form, text, tmp_path):
    """Every format of trees that is not a page or a picture; CLUSTALW's has other names, and no names of clades."""
    tree = parse_tree(text)
    for suffix in form.suffixes:
        tree.write(tmp_path / f"x{suffix}")
        again = read_tree(tmp_path / f"x{suffix}")
        if form.name != "dnd":
            assert again == tree
            continue
        changed = [clustalw_name(name) for name in tree.names]
        wanted = [word if changed.count(word) == 1 else name for name, word in zip(tree.names, changed, strict=True)]
        assert list(again.names) == wanted
        assert again.children == tree.children
        np.testing.assert_array_equal(again.lengths, tree.lengths)
        np.testing.assert_equal(again.support, tree.support)


@pytest.mark.parametrize("text", READ_AGAIN)
def test_guide_trees_are_read_again(text, tmp_path):
    """With the names of the sequences, which CLUSTALW's format changes."""
    tree = parse_tree(text)
    names = tree.names[::-1]
    for form in FORMATS["trees"]:
        if form.media_type == TEXT:
            tree.write(tmp_path / f"x{form.suffixes[0]}")
            order = read_guide_tree(tmp_path / f"x{form.suffixes[0]}", names).leaf_order()
            assert [names[leaf] for leaf in order] == list(tree.names)


def test_labels_and_roots_are_told():
    text = written("svg", "((a:1,b:1)95/100:1,(c:1,d:1)clade:1,e:1)all;").decode()
    shown = {"".join(found.itertext()) for found in ElementTree.fromstring(text).iter() if found.tag.endswith("text")}
    assert "95/100" in shown and "clade" in shown and "all" not in shown
    assert "[&R]" in written("nexus", parse_tree("((a:1,b:1):1,c:2);")).decode()


def test_suffixes():
    for path, form in {"x.nex": "nexus", "x.nexus.gz": "nexus", "x.html": "html", "x.pdf": "pdf"}.items():
        assert format_for_path("trees", path) == form
    assert format_for_path("trees/plots", "x.svg") == "svg"
    with pytest.raises(UsageError, match=r"\.pdf \.png \.svg"):
        format_for_path("trees/plots", "x.nwk")


@pytest.mark.parametrize(
    "text", ["((a:-1,b:2):-0.5,c:1,d:3);", "((a,b),c);", "(a:1,b:1);", "'a';", random_newick(50, 2)]
)
def test_places(text):
    nodes = parse_newick(text, "x")
    depth, line, n_tips = places_of(nodes, nodes.children())
    tips = [k for k, below in enumerate(nodes.children()) if not below]
    assert line[tips].tolist() == list(range(n_tips)) and (depth >= 0).all()
    for node, parent in enumerate(nodes.parents[1:], 1):
        assert depth[node] >= depth[parent]
    if not any(nodes.lengths[1:]):
        assert len(set(depth[tips].tolist())) == 1


def test_pictures_show_names_support_and_groups():
    names = ["<a&b>", "$x_y$", "日本", *(f"t{k}" for k in range(20))]
    groups = {name: "tees" if name[0] == "t" else "others" for name in names}
    tree = random_newick(len(names), 3, names)
    text = written("svg", tree, groups).decode()
    texts = [
        "".join(element.itertext()) for element in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {*names, "■ tees", "■ others"} <= set(texts)
    assert written("svg", tree, groups) == written("svg", tree, groups)
    assert all(colours(k)[0] in text for k in range(2))
    assert written("png", tree).startswith(b"\x89PNG") and written("pdf", tree).startswith(b"%PDF")


@pytest.mark.parametrize("text", ["'a';", "(a:1,b:2);", "((a,b),c);", f"({'x' * 10_000}:1,b:-2);"])
def test_odd_trees_have_pictures(text):
    assert written("svg", text).count(b"<svg") == 1


@pytest.mark.parametrize("number", range(60))
def test_colours_can_be_read_as_text(number):
    """The contrast of WCAG with the page's ground, light and dark; #dfe8fc and #2a3a5e lie behind what is chosen."""
    for ink, ground in zip(colours(number), ("#ffffff", "#14171c"), strict=True):
        assert contrast(ink, ground) >= 4.5, ink


def test_groups(tmp_path):
    path = tmp_path / "groups.tsv"
    path.write_text("# name\tgroup\n\n a\tone\nb \ttwo\tmore\na\tone\n")
    assert read_groups(path) == {"a": "one", "b": "two"}
    assert groups_of(["b", "x", "a"], {"a": "one", "q": "none", "b": "two"}) == (["one", "two"], [2, 0, 1])
    for text, words in [
        ("a one\n", "line 1 is not a name, a tab and a group"),
        ("a\tone\nb\t\n", "line 2"),
        ("a\tone\na\ttwo\n", "'a' is in two groups, 'one' and 'two'"),
        ("#\n", "contains no taxon"),
        ("", "empty"),
    ]:
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            read_groups(path)
    with pytest.warns(TropalignWarning, match=r"groups\.tsv: 2 names are not in the tree \(the first: 'x+…'\)"):
        tell_unknown({"x" * 10_000: "one", "y": "two", "a": "one"}, ["a"], "groups.tsv")
