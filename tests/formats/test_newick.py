"""Newick text as clades: plain trees as Biopython reads them."""

import io

import pytest
from Bio.Phylo.NewickIO import Parser

from tropalign.formats import newick

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


def shape(clade):
    return clade.name, clade.branch_length, repr(clade.confidence), [shape(child) for child in clade.clades]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_trees_are_biopythons(text):
    (wanted,) = Parser(io.StringIO(text)).parse()
    assert shape(newick._plain_tree(text)) == shape(wanted.root)


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_not_plain_is_left_to_biopython(text):
    assert newick._plain_tree(text) is None
