"""Roots keep distances between taxa, splits and support."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees.cases import path_lengths, random_tree, splits

from tropalign import InputError
from tropalign.errors import TropalignWarning, UsageError
from tropalign.results.rooting import rooted_at_midpoint, rooted_at_outgroup
from tropalign.trees import Tree, parse_tree, read_tree


def supported(tree):
    """The tree with another support at every inner branch."""
    support = np.arange(len(tree.lengths), dtype=float)
    support[: tree.n_taxa] = support[-1] = np.nan
    return Tree(tree.names, tree.children, tree.lengths, support)


def assert_same_but_for_the_root(tree, found):
    np.testing.assert_allclose(path_lengths(found), path_lengths(tree), atol=1e-12)
    assert found.is_rooted and found.names == tree.names
    assert [max(joined) < tree.n_taxa + k for k, joined in enumerate(found.children)] == [True] * len(found.children)
    before, after = splits(tree), splits(found)
    assert before.keys() == after.keys()
    for side, (length, support) in before.items():
        assert after[side][0] == pytest.approx(length)
        if 1 < len(side) < tree.n_taxa - 1:
            assert after[side][1] == support


@given(st.integers(3, 30), st.integers(0, 10_000))
@settings(max_examples=40)
def test_an_outgroup_is_on_its_own_side(n, seed):
    tree = supported(random_tree(n, seed))
    for name in tree.names[:3]:
        found = rooted_at_outgroup(tree, [name])
        assert_same_but_for_the_root(tree, found)
        assert found.children[-1][0] == tree.names.index(name)
        first, second = found.lengths[list(found.children[-1])]
        assert first == second
    assert_same_but_for_the_root(tree, rooted_at_outgroup(rooted_at_midpoint(tree), tree.names[:1]))


@given(st.integers(3, 30), st.integers(0, 10_000))
@settings(max_examples=40)
def test_the_midpoint_is_as_far_from_both_ends(n, seed):
    tree = supported(random_tree(n, seed))
    found = rooted_at_midpoint(tree)
    assert_same_but_for_the_root(tree, found)
    assert farthest_taxa(found) == pytest.approx([path_lengths(tree).max() / 2] * 2)


def farthest_taxa(found):
    """How far the farthest taxon on each side of the root is."""
    n = found.n_taxa
    far = dict.fromkeys(range(len(found.lengths)), 0.0)
    for k in reversed(range(len(found.children))):
        for child in found.children[k]:
            far[child] = far[n + k] + found.lengths[child]
    sides = []
    for top in found.children[-1]:
        below, stack = [], [top]
        while stack:
            node = stack.pop()
            below += [far[node]] if node < n else []
            stack.extend(found.children[node - n] if node >= n else ())
        sides.append(max(below))
    return sides


@pytest.mark.parametrize(
    ("text", "rooted"),
    [
        ("(A:5,B:-3,(C:4,D:1):-1);", "(C:4.0,(D:1.0,(A:5.0,B:-3.0):-1.0):0.0);"),
        ("(A:-1,B:3);", "(B:1.0,A:1.0);"),
        ("(A:-1,B:-3);", "(B:-2.0,A:-2.0);"),
        ("((A:1,B:2):-5,(C:1,D:9):-5,E:-1);", "(D:5.0,(C:1.0,((A:1.0,B:2.0):-5.0,E:-1.0):-5.0):4.0);"),
    ],
)
def test_midpoints_with_negative_lengths(text, rooted):
    assert rooted_at_midpoint(parse_tree(text)).newick() == rooted


@given(st.integers(3, 12), st.integers(0, 10_000))
@settings(max_examples=60)
def test_midpoints_with_lengths_of_any_sign(n, seed):
    """Both ends of the longest path are as far from the root, on different sides of it."""
    tree = supported(random_tree(n, seed))
    lengths = tree.lengths + np.random.default_rng(seed).normal(size=len(tree.lengths))
    lengths[-1] = 0
    tree = replace(tree, lengths=lengths)
    found = rooted_at_midpoint(tree)
    assert_same_but_for_the_root(tree, found)
    longest = path_lengths(found)[~np.eye(n, dtype=bool)].max()
    assert sorted(farthest_taxa(found)) == pytest.approx([longest / 2] * 2)


@pytest.mark.parametrize("root", [rooted_at_midpoint, lambda tree: rooted_at_outgroup(tree, "A")])
@pytest.mark.parametrize("text", ["((A:1,B:2):1);", "(((A:1,B:2,C:1):1):1);", "((A:1):3,((B:1):2):2);"])
def test_nodes_with_one_child(text, root):
    assert root(parse_tree(text)).is_rooted


def test_a_number_that_is_kept_as_written_goes_with_its_branch():
    tree = parse_tree("(((A:1,B:1)90.0:1,C:1)x:1,D:1,E:1);")
    assert rooted_at_outgroup(tree, "A").newick(1) == "(A:0.5,(B:1.0,(C:1.0,(D:1.0,E:1.0):1.0)x/90.0:1.0):0.5);"
    rooted = parse_tree("((A:1,B:1)90.0:1,(C:1,D:1)100:1);")
    with pytest.warns(TropalignWarning, match=r"are merged, with support 90 and 100: 90 is kept$"):
        assert rooted_at_outgroup(rooted, "C").newick(1) == "(C:0.5,(D:1.0,(A:1.0,B:1.0)90.0:2.0):0.5);"


@pytest.mark.parametrize(
    ("labels", "kept", "told"),
    [
        (("90", "80"), "80", "90 and 80: 80"), (("80", "90"), "80", "80 and 90: 80"), (("90", "90.0"), "90", None),
        (("", "90"), "90", None), (("95/100", ""), "95/100", None),
        (("95/100", "95/90"), "95/100", "95/100 and 95/90: 95/100"),
        (("95/100", "80"), "80", "95/100 and 80: 80"), (("x/95/100", "y"), "95/100", None),
    ],
)  # fmt: skip
def test_support_of_the_two_branches_at_a_root(labels, kept, told):
    tree = parse_tree("((A:1,B:1){}:1,(C:1,D:9){}:1);".format(*labels))
    names = [label.partition("/")[0] if label[:1] in ("x", "y") else "" for label in labels]
    for root in (rooted_at_midpoint, lambda tree: rooted_at_outgroup(tree, "D")):
        with pytest.warns(TropalignWarning, match=f"{told} is kept$") if told else contextlib.nullcontext():
            found = root(tree)
        below = "/".join(filter(None, (names[0], kept)))
        assert f"(A:1.0,B:1.0){below}:2.0" in found.newick(), found.newick()


def test_a_midpoint_needs_lengths():
    for text, count in {
        "((A,B),C,D);": "5 of 5",
        "((A:1,B:2):1,C,D:1);": "1 of 5",
        "((A:1,B:2),(C:1,D:1):1);": "1 of 6",
    }.items():
        with pytest.raises(
            InputError, match=(f"^the lengths of {count} branches are missing, but a midpoint requires all")
        ):
            rooted_at_midpoint(parse_tree(text))
    assert rooted_at_outgroup(parse_tree("((A,B)90,C,D);"), "C").newick() == "(C,((A,B)90,D));"
    found = rooted_at_outgroup(parse_tree("((A:1,B:2),(C:1,D:1):1);"), "C").newick()
    assert found == "(C:0.5,(D:1.0,(A:1.0,B:2.0):1.0):0.5);"


def test_texts_of_trees():
    tree = parse_tree("((A:1,B:2)90:0.5,mouse:3,D:4);")
    assert rooted_at_outgroup(tree, "mouse").newick(1) == rooted_at_outgroup(tree, ["mouse"]).newick(1)
    for text in (b"(A,B);", None, 5):
        with pytest.raises(UsageError, match="is not a tree: give a string in Newick format"):
            parse_tree(text)
    for digits in (2.5, "2", -1, 10**30):
        with pytest.raises(UsageError, match="digits"):
            tree.newick(digits)
    with pytest.raises(UsageError, match="an object of type NoneType is not a file: give a path, or an open file"):
        read_tree(None)


def test_an_outgroup_of_several_taxa():
    tree = parse_tree("((A:1,B:2)90:0.5,C:3,D:4);")
    for names in (["A", "B"], ["C", "D"]):
        found = rooted_at_outgroup(tree, names)
        assert {tree.names[k] for k in range(4) if k in found.children[found.children[-1][0] - 4]} == set(names)
    assert rooted_at_outgroup(tree, ["A", "B"]).newick() == "((A:1.0,B:2.0)90:0.25,(C:3.0,D:4.0)90:0.25);"
    with pytest.raises(
        InputError, match="no branch separates 'A', 'C' from the other taxa: give taxa that form a group in the"
    ):
        rooted_at_outgroup(tree, ["A", "C"])
    with pytest.raises(InputError, match="the tree has no taxon 'E': choose one of its taxa"):
        rooted_at_outgroup(tree, ["E"])
    with pytest.raises(InputError, match="the outgroup contains all taxa or none"):
        rooted_at_outgroup(tree, list("ABCD"))


def test_trees_of_two_taxa_and_of_no_length():
    assert rooted_at_midpoint(parse_tree("(A:1,B:3);")).newick() in ("(A:2.0,B:2.0);", "(B:2.0,A:2.0);")
    tree = random_tree(6, 1)
    flat = supported(Tree(tree.names, tree.children, np.zeros(10)))
    assert_same_but_for_the_root(flat, rooted_at_midpoint(flat))
    assert rooted_at_outgroup(parse_tree("(A:1,B:3);"), ["B"]).newick() == "(B:2.0,A:2.0);"


def test_labels_that_are_no_numbers_are_kept():
    tree = parse_tree("(((A:1,B:1)95/100:1,C:1)Mammalia:1,(D:1,E:1)80/90:1,F:1)all;")
    assert tree.labels == ("80/90", "95/100", "Mammalia", "all") and tree.support is None
    assert tree.newick(0) == "(((A:1,B:1)95/100:1,C:1)Mammalia:1,(D:1,E:1)80/90:1,F:1)all;"
    # Support goes with its branch, which another root turns; a name stays at its node.
    assert rooted_at_outgroup(tree, "A").newick(1) == (
        "(A:0.5,(B:1.0,(C:1.0,((D:1.0,E:1.0)80/90:1.0,F:1.0)all:1.0)Mammalia/95/100:1.0):0.5);"
    )
    both = rooted_at_outgroup(parse_tree("(((A:1,B:1)90:1,C:1)x:1,D:1,E:1);"), "A")
    assert both.newick(1) == "(A:0.5,(B:1.0,(C:1.0,(D:1.0,E:1.0):1.0)x/90:1.0):0.5);"
    assert rooted_at_outgroup(tree, "F").newick(1) == (
        "(F:0.5,(((A:1.0,B:1.0)95/100:1.0,C:1.0)Mammalia:1.0,(D:1.0,E:1.0)80/90:1.0)all:0.5);"
    )
    rooted = parse_tree("((A:1,B:1)x:1,(C:1,D:1)70/80:1)root;")
    assert rooted_at_outgroup(rooted, "C").newick(1) == "(C:0.5,(D:1.0,(A:1.0,B:1.0)x/70/80:2.0):0.5)root;"
