"""Newick text as nodes: plain trees as Biopython reads them."""

import io
import re

import pytest
from Bio.Phylo.NewickIO import Parser

from tropalign.errors import InputError
from tropalign.trees import newick, parse_tree

PLAIN = [
    "(A,B);",
    "((A:1,B:0.25)97:1e-5,C:3E+2,(D,(E)x:1)0.5)root;",
    "(A:1,(B,C)1e3,(D,E)nan,(F,G)5_0);",
    "((,),A:0.5);",
    "((12,13)14,15);",
]
OTHERS = [
    "A;",
    "(A,B)",
    "(A,B));",
    "((A,B);",
    "(A,B);(C,D);",
    "A(B,C);",
    "(A(B,C),D);",
    "(A:1(B,C),D);",
    "((A,B)(C,D));",
    "(A,,:-1);",
    "(A :1,B);",
    "(A,\nB);",
    "(A:x,B);",
]


def clades(text):
    """Parent, name, length and support of each clade of Biopython's, parents first."""
    (tree,) = Parser(io.StringIO(text)).parse()
    found, stack = [], [(-1, tree.root)]
    while stack:
        parent, clade = stack.pop()
        stack.extend((len(found), child) for child in reversed(clade.clades))
        found.append((parent, clade.name or "", clade.branch_length, repr(clade.confidence)))
    return found


def columns(nodes):
    return list(zip(nodes.parents, nodes.names, nodes.lengths, map(repr, nodes.support), strict=True))


@pytest.mark.parametrize("text", PLAIN)
def test_plain_trees_are_biopythons(text):
    nodes = newick._plain_nodes(text)
    assert columns(nodes) == columns(newick._biopython_nodes(text, [], "a file")) == clades(text)
    assert [nodes.parents[child] for below in nodes.children() for child in below] == [
        node for node, below in enumerate(nodes.children()) for _ in below
    ]


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_not_plain_is_left_to_biopython(text):
    assert newick._plain_nodes(text) is None


def test_quoted_labels_and_numbers_of_branches(monkeypatch):
    text = "(('a b':1{3},'97':2{4})'97':0.5{1},'it''s':3{2})'x';"
    nodes = newick.parse_newick(text, "a file", has_numbers=True)
    assert nodes.names == ["x", "97", "a b", "97", "it's"] and nodes.support == [None] * 5
    assert nodes.numbers == [None, 1, 3, 4, 2] and nodes.lengths == [None, 0.5, 1.0, 2.0, 3.0]
    without = re.sub(r"\{\d+\}", "", text)
    plain = newick.parse_newick(without, "a file")
    monkeypatch.setattr(newick, "_plain_nodes", lambda text, has_numbers: None)
    assert columns(newick.parse_newick(without, "a file")) == columns(plain) == columns(nodes)


def test_braces_are_part_of_other_labels():
    assert newick.parse_newick("(a{1},b{2}:1);", "a file").names == ["", "a{1}", "b{2}"]


def test_deep_trees_are_read_and_written():
    n = 20_000
    text = "(" * n + "a:1" + "".join(f",b{k}:1):2" for k in range(n)).removesuffix(":2") + ";"
    nodes = newick.parse_newick(text, "a file")
    texts = [
        name + ("" if length is None else f":{length:.0f}")
        for name, length in zip(nodes.names, nodes.lengths, strict=True)
    ]
    assert newick.newick_text(nodes.children(), texts, 0) == text


def test_support_in_shares_of_one_keeps_its_digits():
    text = "((a:1.0,b:1.0)0.934:1.0,((c:1.0,d:1.0)1:1.0,e:1.0)0.07:1.0);"
    assert parse_tree(text).newick() == text


def test_support_in_percent_is_whole():
    assert parse_tree("((a:1.0,b:1.0)87.6:1.0,c:1.0,d:1.0);").newick() == "((a:1.0,b:1.0)88:1.0,c:1.0,d:1.0);"


@pytest.mark.parametrize("length", ["nan", "-inf", "Infinity"])
def test_a_length_that_is_no_number_is_no_name(length):
    with pytest.raises(InputError, match=f"the length '{length}' of a branch is no number"):
        parse_tree(f"(a:1,b:{length});")
