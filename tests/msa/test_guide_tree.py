"""Guide trees in Newick format."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tropalign import _native
from tropalign.errors import InputError
from tropalign.msa.guide_tree import GuideTree, parse_guide_tree, read_guide_tree


def tree_of(n, seed=0):
    distances = np.random.default_rng(seed).random(n * (n - 1) // 2).astype(np.float32)
    return GuideTree(*_native.guide_tree(distances))


@pytest.mark.parametrize("n", [1, 2, 3, 30])
def test_a_written_tree_is_read_as_it_was(n, tmp_path):
    tree, names = tree_of(n), [f"seq {k}" for k in range(n)]
    path = tmp_path / "tree.nwk"
    path.write_text(tree.newick(names))
    found = read_guide_tree(path, names)
    assert found.newick(names) == tree.newick(names)
    assert found.leaf_order() == tree.leaf_order()
    weights = _native.sequence_weights(tree.children, tree.branch_lengths)
    np.testing.assert_allclose(_native.sequence_weights(found.children, found.branch_lengths), weights, rtol=1e-12)
    assert GuideTree.from_bytes(tree.to_bytes(), n).newick(names) == tree.newick(names)


@given(
    st.lists(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), min_size=1), min_size=3, unique=True)
)
def test_any_name(names):
    tree = tree_of(len(names))
    assert parse_guide_tree(tree.newick(names), names).newick(names) == tree.newick(names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(A,B,C,D);", "(((A:0.0,B:0.0):0.0,C:0.0):0.0,D:0.0);"),
        ("((A:1)x:2,(B:1,C:-1)90:0.5,D:3)root:7;", "((A:3.0,(B:1.0,C:0.0):0.5):0.0,D:3.0);"),
        ("(('A':1,'B'[a 'note' of it]:1):1,(C:1,D:1));", "((A:1.0,B:1.0):1.0,(C:1.0,D:1.0):0.0);"),
        ("((((A:1,B:1):1,(C:1,D:1):2):5));", "((A:1.0,B:1.0):1.0,(C:1.0,D:1.0):2.0);"),
    ],
)
def test_trees_of_others(text, expected):
    names = ["D", "A", "C", "B"]
    assert parse_guide_tree(text, names).newick(names) == expected


def test_a_deep_tree():
    n = 20_000
    names = [f"s{k}" for k in range(n)]
    text = "(" * (n - 1) + "s0" + "".join(f",s{k})" for k in range(1, n)) + ";"
    tree = parse_guide_tree(text, names)
    assert tree.leaf_order() == list(range(n))
    assert parse_guide_tree(tree.newick(names), names).children.tolist() == tree.children.tolist()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "(A,B,(C,E));",
            "t: the tree has a leaf 'E', which is not a sequence, and has no leaf 'D': give a tree whose leaves are",
        ),
        ("(A,B,C);", "t: the tree has no leaf 'D': give a tree whose leaves are the names of the sequences"),
        ("(A,B,(C,(D,)));", "t: the tree has a leaf '', which is not a sequence: give a tree whose leaves are"),
        ("(A,B,(C,(D,A)));", "t: two leaves have the name 'A': give each sequence one leaf"),
        ("(A,B,(C,D);", "t, line 1, column 1: this bracket is not closed: the file may be truncated"),
        (
            "(A,B,(C,'D));",
            "t, line 1, column 9: this quote is not closed: close it with ', and double any quote inside a name",
        ),
        ("(A,B);\n(C,D);", "t: the file contains 2 trees, but exactly one is required: write it to a file of its own"),
        ("", "t: the file contains no tree"),
        ("(A:1,B:1,C:1,D:1e999);", "t, line 1, column 16: the length '1e999' is not a number in the range of a double"),
        ("(A:1,B:1,C:1,D:1e31);", "t: branch length 1e+31 is out of range: give lengths of at most 1e+30"),
    ],
)
def test_errors(text, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        parse_guide_tree(text, ["A", "B", "C", "D"], "t")


def test_long_branches_are_used():
    names = list("ABC")
    years = parse_guide_tree("((A:3e9,B:3e9):1e9,C:4e9);", names)
    shares = parse_guide_tree("((A:3,B:3):1,C:4);", names)
    found, wanted = (_native.sequence_weights(tree.children, tree.branch_lengths) for tree in (years, shares))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
