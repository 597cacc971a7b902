"""Neighbour joining, UPGMA and WPGMA against the oracle, additive distances, and other programs."""

from functools import cache

import numpy as np
import pytest
from Bio.Phylo.TreeConstruction import DistanceMatrix, DistanceTreeConstructor
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import trees as oracle
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform
from trees.cases import path_lengths, random_tree, splits

from tropalign import InputError, _native
from tropalign.errors import ResourceError, UsageError
from tropalign.trees import neighbour_joining, parse_tree, replace_negative_lengths, upgma, wpgma

#: Whole numbers whose halves and sums are exact, so that ties are those of fractions.
DISTANCES = st.integers(3, 18).flatmap(
    lambda n: st.lists(st.integers(0, 9), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)
)


def square_of(condensed):
    n = round((1 + (1 + 8 * len(condensed)) ** 0.5) / 2)
    square = np.zeros((n, n))
    square[np.triu_indices(n, 1)] = condensed
    return square + square.T


@given(DISTANCES, st.sampled_from([np.float32, np.float64]), st.sampled_from(["tropalign", "clustalw"]))
@settings(max_examples=80)
def test_joins_are_those_of_a_full_search(condensed, dtype, rules):
    square = square_of(condensed)
    children, lengths = oracle.neighbour_joining(square.astype(int).tolist())
    tree = neighbour_joining(np.array(condensed, dtype), rules=rules)
    assert list(tree.children) == children
    if rules == "tropalign":
        np.testing.assert_allclose(tree.lengths[:-1], [float(x) for x in lengths], atol=1e-5)


def full_search(square):
    """Children of all joins but the last, in doubles: each time all pairs are looked at."""
    d, left, node, children = square.copy(), np.arange(len(square)), list(range(len(square))), []
    while len(left) > 3:
        now = d[np.ix_(left, left)]
        sums = now.sum(0)
        q = (len(left) - 2) * now - sums[:, None] - sums
        q[np.triu_indices(len(left))] = np.inf
        j, i = left[list(np.unravel_index(q.argmin(), q.shape))]  # the first j, then the first i
        d[i, left] = d[left, i] = (d[i, left] + d[j, left] - d[i, j]) / 2
        d[i, i] = 0
        left = left[left != j]
        children.append((node[i], node[j]))
        node[i] = len(square) + len(children) - 1
    return children


@cache
def searched(kind):
    """Distances of more taxa than a block of bounds has, and their joins, so that bounds are made anew in between."""
    n, random = 400, np.random.default_rng(7)
    if kind == "tree":
        square = path_lengths(random_tree(n, 1)) * (1 + random.random((n, n)) / 20)
    elif kind == "uniform":
        square = random.random((n, n))
    else:
        points = random.random((n, 2))
        square = np.abs(points[:, None] - points).sum(2)
    square = np.triu(square, 1)
    square += square.T
    return square, full_search(square)


@pytest.mark.parametrize("rules", ["tropalign", "clustalw"])
@pytest.mark.parametrize("kind", ["tree", "uniform", "plane"])
def test_bounds_leave_out_no_pair(isa, kind, rules):
    square, joins = searched(kind)
    # Of four clusters either two may be joined: roundings decide.
    assert list(neighbour_joining(square, rules=rules).children[:-2]) == joins[:-1]


@given(st.integers(2, 40), st.integers(0, 10_000), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=60)
def test_additive_distances_give_back_their_tree(n, seed, dtype):
    tree = random_tree(n, seed) if n > 2 else parse_tree("(t0:0.5,t1:0.5);")
    found = neighbour_joining(path_lengths(tree).astype(dtype), tree.names)
    wanted, there = splits(tree), splits(found)
    assert there.keys() == wanted.keys()
    for side, (length, _) in wanted.items():
        assert there[side][0] == pytest.approx(length, abs=1e-5 if dtype == np.float32 else 1e-12)


@given(st.integers(2, 40), st.integers(0, 10_000))
@settings(max_examples=30)
def test_ultrametric_distances_give_back_their_tree(n, seed):
    random = np.random.default_rng(seed)
    tree = upgma(random.random(n * (n - 1) // 2))
    square = path_lengths(tree)
    assert path_lengths(upgma(square)) == pytest.approx(square)
    heights = square[0].max() / 2
    for taxon in range(n):
        assert square[taxon].max() / 2 == pytest.approx(heights)  # all are equally far from the root


def test_equal_pairs_are_joined_by_place():
    """Of equal pairs that with the first j, then the first i; all distances equal, and all 0."""
    for far in (1, 0):
        tree = neighbour_joining(np.full(15, far, float))
        assert tree.children[:2] == ((0, 1), (6, 2))
        assert tree.lengths.tolist() == [far / 2] * 6 + [0] * 4
        for make in (upgma, wpgma):
            assert make(np.full(15, far, float)).children == ((0, 1), (6, 2), (7, 3), (8, 4), (9, 5))


def test_negative_lengths_are_kept_or_moved():
    square = np.array([[0, 1, 8, 9], [1, 0, 3, 9], [8, 3, 0, 9], [9, 9, 9, 0.0]])
    kept, moved = (neighbour_joining(square, list("abcd"), negative=what) for what in ("keep", "zero"))
    assert kept.children == moved.children == ((0, 1), (4, 2, 3))
    assert kept.lengths.tolist() == [1.75, -0.75, 2.75, 6.25, 2.25, 0]
    assert moved.lengths.tolist() == [1.0, 0.0, 2.75, 6.25, 2.25, 0]


@pytest.mark.parametrize(("make", "method"), [(upgma, "average"), (wpgma, "weighted")])
def test_heights_are_those_of_scipy(make, method):
    distances = np.random.default_rng(11).random(60 * 59 // 2)
    found = squareform(path_lengths(make(distances)), checks=False)
    assert found == pytest.approx(cophenet(linkage(distances, method)))


def test_wpgma_is_what_biopython_calls_upgma():
    distances = np.random.default_rng(12).random(20 * 19 // 2)
    square = square_of(distances)
    names = [f"t{k}" for k in range(20)]
    matrix = DistanceMatrix(names, [square[k, : k + 1].tolist() for k in range(20)])
    text = DistanceTreeConstructor().upgma(matrix).format("newick")
    there, here = splits(parse_tree(text)), splits(wpgma(distances, names))
    assert {frozenset(side) for side in here} == {
        side if "t0" not in side else frozenset(names) - side for side in there
    }
    found = {frozenset((side, frozenset(names) - side)): length for side, (length, _) in there.items()}
    for side, (length, _) in here.items():
        assert found[frozenset((side, frozenset(names) - side))] == pytest.approx(length, abs=1e-4)


def test_negative_lengths_of_any_tree():
    tree = parse_tree("(((A:-1,B:3):-0.5,C:2):1,(D,E:-1):1,F:-2);")
    moved = replace_negative_lengths(tree)
    assert moved.newick() == "(((A:0.0,B:2.0):0.0,C:1.5):1.0,(D,E:0.0):1.0,F:0.0);"
    assert replace_negative_lengths(tree, "keep") is tree
    words = "4 branches have negative lengths, the least -2 above taxon 'F': negative=\"zero\" makes them 0"
    with pytest.raises(InputError, match=words):
        replace_negative_lengths(tree, "error")
    with pytest.raises(InputError, match="1 branch has a negative length, the least -1 above the clade with 'A'"):
        replace_negative_lengths(parse_tree("((A:1,B:3):-1,C:2,D:1);"), "error")
    assert replace_negative_lengths(parse_tree("(A:1,B:-1e-9);"), "error").n_taxa == 2
    with pytest.raises(UsageError, match="negative 'drop' is none of keep, zero, error"):
        replace_negative_lengths(tree, "drop")


def test_few_taxa():
    assert neighbour_joining([3.0], ["a", "b"]).newick() == "(a:1.5,b:1.5);"
    assert neighbour_joining([[0, 3, 4], [3, 0, 5], [4, 5, 0]]).newick() == "(1:1.0,2:2.0,3:3.0);"
    assert upgma([3.0], ["a", "b"]).newick() == "(a:1.5,b:1.5);"
    assert upgma([1.0, 3.0, 3.0], rules="clustalw").newick() == "((1:0.5,2:0.5):1.5,3:1.5);"


@pytest.mark.parametrize("make", [neighbour_joining, upgma, wpgma])
def test_what_are_no_distances_is_refused(make):
    square = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0.0]])
    names = ["a", "b\x1b", "c"]
    for at, value, words in [
        (
            (0, 1),
            1.5,
            r"the distance of 'a' and 'b\\x1b' is 1.5 in one triangle and 1 in the other: give a symmetric matrix",
        ),
        ((2, 2), 1.0, r"the distance of 'c' to itself is 1: write 0 on the diagonal"),
        ((0, 2), np.nan, r"the distance of 'a' and 'c' is not a number: leave one of them out"),
    ]:
        wrong = square.copy()
        wrong[at] = value
        with pytest.raises(InputError, match=words):
            make(wrong, names)
    for value, said in ((-1, "-1"), (np.nan, "not a number"), (np.inf, "inf")):
        with pytest.raises(InputError, match=rf"the distance of 'b\\x1b' and 'c' is {said}: give numbers from 0"):
            make([1, 2, value], names)
    with pytest.raises(InputError, match="there is only one taxon: a tree requires at least two"):
        make([])
    with pytest.raises(InputError, match="2 names are given, but distances of 3 taxa: give one name per taxon"):
        make(square, names[:2])
    with pytest.raises(InputError, match="two taxa have the name 'a': give each its own name"):
        make(square, ["a", "b", "a"])
    for wrong in (np.zeros((2, 3)), np.zeros(4), np.zeros((2, 2, 2))):
        with pytest.raises(UsageError, match=r"distances of shape .*: give n \(n - 1\) / 2 of them, or a square"):
            make(wrong)
    for names in (5, 2.5):
        with pytest.raises(UsageError, match=r"names is of type .*: give a list with a string per taxon"):
            make(square, names)
    for wrong in ("abc", [["x"]], None, [["1"]], np.ones(3, complex), np.ma.ones(3)):
        with pytest.raises(UsageError, match=r"the distances must be an array of numbers|distances of shape"):
            make(wrong)
    if make is not wpgma:
        with pytest.raises(UsageError, match="rules 'x' are not one of tropalign, clustalw"):
            make(square, rules="x")


@pytest.mark.parametrize("at", [(5, 20), (20, 5), (3, 150), (150, 3), (129, 140), (200, 128)])
def test_both_halves_of_a_square_are_compared_in_every_tile(at):
    half = np.triu(np.random.default_rng(1).uniform(1, 2, (201, 201)), 1)
    square = half + half.T
    square[at] *= 1 + 1e-9  # a rounding
    assert len(neighbour_joining(square).names) == 201
    square[at] += 0.5
    first, second = sorted(at)
    with pytest.raises(
        InputError, match=rf"the distance of '{first + 1}' and '{second + 1}' is [\d.]+ in one triangle"
    ):
        neighbour_joining(square)


def test_progress_may_end_the_work():
    def stop(done):
        raise RuntimeError("enough")

    distances = np.random.default_rng(1).random(5000 * 4999 // 2)
    for make in (neighbour_joining, upgma, wpgma):
        with pytest.raises(RuntimeError, match="enough"):
            make(distances, progress=stop)


@given(DISTANCES, st.sampled_from(["upgma", "wpgma"]))
@settings(max_examples=60)
def test_averages_are_those_of_the_definition(condensed, method):
    spread = [value + k / 4096 for k, value in enumerate(condensed)]  # no ties, which averages would break by rounding
    children, apart = getattr(oracle, method)(square_of(spread).tolist())
    tree = {"upgma": upgma, "wpgma": wpgma}[method](spread)
    assert list(tree.children) == children
    n = tree.n_taxa
    heights = np.zeros(2 * n - 1)
    for k, joined in enumerate(tree.children):
        for child in joined:
            assert heights[child] + tree.lengths[child] == pytest.approx(float(apart[k]) / 2)
        heights[n + k] = float(apart[k]) / 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rules", ["tropalign", "clustalw"])
def test_distances_are_kept_unless_they_may_be_overwritten(dtype, rules):
    square = square_of(np.random.default_rng(3).uniform(1, 2, 45)).astype(dtype)
    distances = np.ascontiguousarray(square[np.triu_indices(10, 1)])
    before = distances.copy()
    distances.flags.writeable = False
    trees = [neighbour_joining(some, rules=rules) for some in (distances, before, square, before.tolist())]
    assert (distances == before).all()
    distances.flags.writeable = True
    trees += [neighbour_joining(some, rules=rules, overwrite=True) for some in (distances, square)]
    assert all(list(tree.children) == list(trees[0].children) for tree in trees)


def test_joining_in_place_needs_no_second_array():
    distances = np.random.default_rng(3).uniform(1, 2, 1000 * 999 // 2)
    with pytest.raises(ResourceError, match="neighbour joining of 1000 taxa needs"):
        neighbour_joining(distances, memory_bytes=1 << 20)
    assert len(neighbour_joining(distances, overwrite=True, memory_bytes=1 << 20).children) == 998


def test_a_read_only_array_is_no_place_to_work_in():
    distances = np.ones(6)
    distances.flags.writeable = False
    with pytest.raises(TypeError):
        _native.neighbour_joining(distances, 4, False, None)
