"""Intervals that are cut into two: chains of matrices, search trees, structures of RNA, any weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import tropical as oracle

from tropalign import _native
from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.tropical import MAX_PLUS, MIN_PLUS, REAL, best_cuts, matrix_chain, nussinov, search_tree, triangular
from tropalign.tropical import intervals as module

PAIRS = {"AU": 1, "GC": 1, "GU": 1}


def upper(matrix, worst):
    return [[worst if value is None else value for value in row] for row in matrix]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("semiring", [MIN_PLUS, MAX_PLUS], ids=repr)
@settings(max_examples=12)
@given(n=st.one_of(st.integers(1, 12), st.integers(1, 70)), seed=st.integers(0, 2**32), share=st.sampled_from([0, 0.2]))
def test_weights_of_any_kind(semiring, dtype, n, seed, share):
    rng = np.random.default_rng(seed)
    weight = rng.integers(-9, 10, (n, n)).astype(dtype)
    weight[rng.random((n, n)) < share] = semiring.zero
    found = triangular(weight, semiring)
    right = oracle.triangular(weight.tolist(), semiring.is_max)
    assert found.dtype == dtype and found.tolist() == upper(right, semiring.zero)
    if np.isfinite(found[0, -1]):
        check_cuts(found, best_cuts(found, semiring), semiring)


def check_cuts(values, cuts, semiring):
    open_intervals = {(0, len(values) - 1)}
    for i, k, j in cuts.tolist():
        open_intervals.remove((i, j))
        sums = values[i, i:j] + values[i + 1 : j + 1, j]
        best = sums.max() if semiring.is_max else sums.min()
        assert sums[k - i] == best and (sums[: k - i] != best).all()
        open_intervals |= {(i, k), (k + 1, j)}
    assert len(cuts) == len(values) - 1 and all(i == j for i, j in open_intervals)


@pytest.mark.parametrize("n", [63, 64, 65, 128, 150])
def test_tiles_on_every_instruction_set(isa, n):
    rng = np.random.default_rng(n)
    weight = rng.integers(-9, 10, (n, n)).astype(np.float64)
    right = oracle.triangular(weight.tolist())
    for dtype in (np.float32, np.float64):
        assert triangular(weight.astype(dtype)).tolist() == upper(right, np.inf)
    assert np.array_equal(triangular(-weight, MAX_PLUS), -np.array(upper(right, np.inf)))
    sizes = rng.integers(1, 1000, n + 1).tolist()
    assert matrix_chain(sizes).cost == oracle.chain_cost(sizes)
    letters = "".join(rng.choice(list("ACGU"), n))
    assert nussinov(letters).score == oracle.most_pairs(letters, PAIRS, 3)


def test_threads_and_memory(monkeypatch):
    rng = np.random.default_rng(1)
    weight = rng.random((300, 300))
    assert np.array_equal(triangular(weight, n_threads=1), triangular(weight, n_threads=3))
    monkeypatch.setattr(module, "default_budget", lambda: 10_000)
    with pytest.raises(ResourceError, match=r"a triangle of 100 elements needs 128\.0 KiB"):
        matrix_chain([1] * 101)


@settings(max_examples=40)
@given(sizes=st.lists(st.integers(0, 2000), min_size=2, max_size=40))
def test_matrix_chains(sizes):
    order = matrix_chain(sizes)
    assert order.cost == oracle.chain_cost(sizes)
    total, shapes = 0, {(i, i): (sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)}
    for i, k, j in order.cuts[::-1].tolist():
        (rows, between), (again, columns) = shapes.pop((i, k)), shapes.pop((k + 1, j))
        assert between == again
        total += rows * between * columns
        shapes[i, j] = (rows, columns)
    assert total == order.cost and list(shapes) == [(0, len(sizes) - 2)]


def test_chains_and_their_orders():
    sizes = [99_991, 99_989, 99_971, 99_961]
    assert matrix_chain(sizes).cost == oracle.chain_cost(sizes) > 2**50
    with pytest.raises(InputError, match=r"take 2\^53 multiplications or more: give smaller sizes"):
        matrix_chain([10**6, 10**6, 10**6, 1])
    # What is too much on the way only is too much as well.
    with pytest.raises(InputError, match=r"2\^53"):
        matrix_chain([0, 10**6, 10**6, 10**6, 0])
    assert str(matrix_chain([5, 6])) == "0"
    assert str(matrix_chain([1, 2, 3])) == "(0 1)"
    assert str(matrix_chain([40, 20, 30, 10, 30])) == "((0 (1 2)) 3)"
    assert str(matrix_chain([7, 7, 7, 7])) == "(0 (1 2))"  # the first of equally good cuts


@settings(max_examples=40)
@given(data=st.data(), n=st.integers(0, 30), is_missed=st.booleans())
def test_search_trees(data, n, is_missed):
    numbers = st.integers(0, 20)
    weights = data.draw(st.lists(numbers, min_size=n, max_size=n))
    misses = data.draw(st.lists(numbers, min_size=n + 1, max_size=n + 1)) if is_missed else [0] * (n + 1)
    tree = search_tree(weights, misses if is_missed else None)
    assert tree.cost == oracle.tree_cost(weights, misses)
    assert tree.cost == steps(tree, weights, misses)


def steps(tree, weights, misses):
    """The steps of all searches, walked in the tree: a key costs its depth, a miss the keys above the gap."""
    total = 0

    def walk(i, j, top, depth):
        nonlocal total
        roots = [r for r in range(i, j) if tree.parents[r] == top]
        if i == j:
            total += misses[i] * depth
            return
        (root,) = roots
        total += weights[root] * depth
        walk(i, root, root, depth + 1)
        walk(root + 1, j, root, depth + 1)

    walk(0, len(weights), -1, 1)
    return total


def test_the_search_tree_of_the_book():
    tree = search_tree([0.15, 0.10, 0.05, 0.10, 0.20], [0.05, 0.10, 0.05, 0.05, 0.05, 0.10])
    assert tree.cost == pytest.approx(2.75, rel=1e-14)
    assert tree.root == 1 and tree.parents.tolist() == [1, -1, 3, 4, 1]
    assert search_tree([]).root == -1 and search_tree([], [0.5]).cost == 0.5


@settings(max_examples=60)
@given(letters=st.text("ACGUTNacgu", min_size=1, max_size=60), least_loop=st.integers(0, 5))
def test_structures(letters, least_loop):
    structure = nussinov(letters, least_loop=least_loop)
    plain = letters.upper().replace("T", "U")
    assert structure.score == oracle.most_pairs(plain, PAIRS, least_loop)
    check_structure(structure, plain, least_loop, PAIRS)


def check_structure(structure, letters, least_loop, pairs):
    total, open_places = 0, []
    for place, (mark, partner) in enumerate(zip(str(structure), structure.partners.tolist(), strict=True)):
        if mark == ".":
            assert partner == -1
        elif mark == "(":
            open_places.append(place)
        else:
            first = open_places.pop()
            assert partner == first and structure.partners[first] == place and place - first > least_loop
            two = letters[first] + letters[place]
            total += pairs[two] if two in pairs else pairs[two[::-1]]
    assert not open_places and total == structure.score


def test_structures_by_other_scores(isa):
    rng = np.random.default_rng(2)
    letters = "".join(rng.choice(list("ACGU"), 100))
    for pairs in ({"GC": 3, "AU": 2, "GU": 1}, {"GC": 1000, "AU": 999}, {"AA": 5}, {"cg": 0}):
        upper_pairs = {pair.upper(): score for pair, score in pairs.items()}
        structure = nussinov(letters, pairs=pairs)
        assert structure.score == oracle.most_pairs(letters, upper_pairs, 3)
        check_structure(structure, letters, 3, upper_pairs)


def test_which_structure():
    """The ends pair where that is best; otherwise the first cut is taken."""
    assert str(nussinov("GAAAAC")) == "(....)"
    assert str(nussinov("GGAAAC")) == "(....)"
    assert str(nussinov("GAAACC")) == "(....)"
    assert str(nussinov("AGAAACA")) == ".(...)."
    assert str(nussinov("GC", least_loop=0)) == "()" and str(nussinov("GC")) == ".."
    assert str(nussinov("GAAAC", least_loop=2**31 - 1)) == "....."
    assert nussinov("A").score == 0 and str(nussinov("N")) == "."


WRONG = {
    "triangular of a row": (lambda: triangular([[1.0, 2.0]]), InputError, "weight has 1 rows and 2 columns"),
    "triangular of NaN": (lambda: triangular([[1.0, np.nan], [0.0, 1.0]]), InputError, "weight[0, 1] is NaN"),
    "triangular of -inf": (lambda: triangular([[-np.inf]]), InputError, "weight[0, 0] is -inf"),
    "triangular of integers": (lambda: triangular(np.ones((2, 2), np.int16)), UsageError, "convert it to float32"),
    "triangular of real": (lambda: triangular([[1.0]], REAL), UsageError, "supports only MIN_PLUS and MAX_PLUS"),
    "triangular beyond float32": (
        lambda: triangular(np.full((3, 3), 1e38, np.float32)), InputError, "sums of weights may exceed float32"
    ),
    "cuts of what has none": (
        lambda: best_cuts(triangular([[0.0, np.inf], [0.0, 0.0]])), InputError, "M[0, 1] is inf"
    ),
    "cuts of NaN": (lambda: best_cuts([[0.0, np.nan], [0.0, 0.0]]), InputError, "M[0, 1] is NaN"),
    "cuts of real": (lambda: best_cuts([[0.0]], REAL), UsageError, "best_cuts supports only MIN_PLUS and MAX_PLUS"),
    "one size": (lambda: matrix_chain([3]), InputError, "at least two integers"),
    "sizes as text": (lambda: matrix_chain("abc"), InputError, "sizes must be a list of integers"),
    "a size of none": (lambda: matrix_chain([1, None, 2]), InputError, "must be a list of at least two"),
    "a negative size": (lambda: matrix_chain([3, -1, 2]), InputError, "sizes[1] is -1: give integers from 0"),
    "half a size": (lambda: matrix_chain([3, 1.5]), InputError, "sizes[1] is 1.5"),
    "a size of NaN": (lambda: matrix_chain([3, np.nan]), InputError, "sizes[1] is nan"),
    "a size beyond floats": (lambda: matrix_chain([3, 10**400]), InputError, "must be a list of"),
    "sizes of two dimensions": (lambda: matrix_chain([[1, 2]]), InputError, "must be a list of at least two"),
    "negative weights": (lambda: search_tree([1, -1]), InputError, "weights[1] is -1.0: give numbers from 0"),
    "infinite misses": (lambda: search_tree([1], [np.inf, 0]), InputError, "misses[0] is inf"),
    "too few misses": (lambda: search_tree([1, 2], [1, 2]), InputError, "2 weights and 2 misses: give one more"),
    "weights as text": (lambda: search_tree(["a"]), InputError, "weights must be a list of numbers"),
    "no letters": (lambda: nussinov(""), InputError, "the sequence is empty"),
    "a gap": (lambda: nussinov("AC-G"), InputError, "'-' at position 3 is not a letter: correct it"),
    "an escape": (lambda: nussinov("A\x1b[31m"), InputError, r"'\x1b' at position 2"),
    "bytes": (lambda: nussinov(b"ACGU"), UsageError, "the sequence is of type bytes: give a string"),
    "a negative loop": (lambda: nussinov("ACGU", least_loop=-1), UsageError, "least_loop -1 is out of range"),
    "pairs as a list": (lambda: nussinov("ACGU", pairs=["AU"]), UsageError, "pairs is of type list: give a dict"),
    "a pair of three": (lambda: nussinov("ACGU", pairs={"AUG": 1}), UsageError, "has the key 'AUG': give keys of two"),
    "half a score": (lambda: nussinov("ACGU", pairs={"AU": 1.5}), UsageError, "score of pair AU 1.5 is not a whole"),
    "a high score": (lambda: nussinov("ACGU", pairs={"AU": 10**9}), UsageError, "score of pair AU 1000000000 is out"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_refused(name):
    wrong, error, text = WRONG[name]
    with pytest.raises(error) as raised:
        wrong()
    assert text in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_stop_ends_the_work(n_threads):
    calls = []

    def stop(done):
        calls.append(done)
        raise RuntimeError("enough")

    values = np.zeros((3200, 3200), np.float32)
    with pytest.raises(RuntimeError, match="enough"):
        _native.fill_triangle(values, False, True, None, None, None, 1, n_threads, stop)
    assert len(calls) == 1
