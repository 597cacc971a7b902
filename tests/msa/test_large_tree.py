"""Distances without alignments, and the division of a tree, against plain Python and their own promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import large as oracle

import tropalign
from tropalign import _native
from tropalign.msa.large_tree import chance_shares, divide, fast_tree, words_of

#: Around the 63 residues of a word, and beyond the eight words that have a loop of their own.
LENGTHS = (1, 2, 5, 62, 63, 64, 65, 126, 127, 130, 252, 253, 504, 505, 640)


def flat(sequences):
    """Codes and offsets."""
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in sequences])]).astype(np.int64)
    return np.concatenate(sequences).astype(np.uint8), offsets


def all_lengths(sequences, n_codes, n_threads=1):
    chosen = np.arange(len(sequences), dtype=np.int32)
    return _native.lcs_lengths(*flat(sequences), n_codes, chosen, chosen, n_threads)


def test_common_subsequences_of_every_number_of_words(isa):
    rng = np.random.default_rng(1)
    sequences = [rng.integers(0, 5, n) for n in LENGTHS]  # code 4 matches nothing
    expected = [[oracle.common_subsequence(x, y, 4) for y in sequences] for x in sequences]
    assert all_lengths(sequences, 4, 2).tolist() == expected


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=140), min_size=1, max_size=20))
def test_common_subsequences(sequences):
    expected = [[oracle.common_subsequence(x, y, 3) for y in sequences] for x in sequences]
    assert all_lengths([np.array(one) for one in sequences], 3).tolist() == expected


def test_some_against_others():
    rng = np.random.default_rng(2)
    sequences = [rng.integers(0, 4, n) for n in (70, 3, 20, 64, 9)]
    rows, columns = np.array([4, 0, 4], np.int32), np.array([3, 1], np.int32)
    found = _native.lcs_lengths(*flat(sequences), 4, rows, columns, 1)
    assert found.tolist() == all_lengths(sequences, 4)[np.ix_(rows, columns)].tolist()


def test_those_that_are_wanted(isa):
    rng = np.random.default_rng(3)
    sequences = [rng.integers(0, 4, n) for n in rng.integers(1, 200, 40)]
    every = all_lengths(sequences, 4)
    rows, columns = np.arange(40, dtype=np.int32), np.arange(5, 40, dtype=np.int32)
    for share in (0.0, 0.02, 0.3, 1.0):
        wanted = (rng.random((40, 35)) < share).astype(np.uint8)
        found = _native.lcs_lengths(*flat(sequences), 4, rows, columns, 2, wanted=wanted)
        assert (found == every[:, 5:] * wanted).all()


@pytest.mark.parametrize("n", [1, 2, 9, 30])
def test_distances(isa, n):
    rng = np.random.default_rng(n)
    sequences = [rng.integers(0, 6, rng.integers(1, 200)) for _ in range(n)]
    share = rng.uniform(0, 0.9, 32).astype(np.float32)
    found = _native.lcs_distances(*flat(sequences), 6, share, 2)
    common = all_lengths(sequences, 6)
    pairs = [(x, y) for x in range(n) for y in range(x + 1, n)]
    expected = [oracle.distance(common[x, y], len(sequences[x]), len(sequences[y]), share) for x, y in pairs]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_chance_shares_of_random_letters():
    """Random sequences of 20 letters share a good third of their residues; short ones find more in long ones."""
    rng = np.random.default_rng(3)
    letters = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)
    texts = [letters[rng.integers(0, 20, n)].tobytes().decode() for n in (300,) * 20 + (40,) * 20]
    shares = chance_shares(words_of(tropalign.SequenceBatch.from_strings(texts)), 1)
    assert 0.3 < shares[0] < 0.4 and shares[11] > 0.6  # 300 / 40 is 2 ** 2.9


def test_words_of_nucleotides():
    """Three neighbours each; none that reaches beyond an end or over a letter that stands for several."""
    words = words_of(tropalign.SequenceBatch.from_strings(["ACGTN", "TTT", "A"], alphabet="nucleotide"))
    assert words.n_codes == 64 and words.codes.tolist() == [6, 27, 64, 64, 64, 63, 64, 64, 64]


def test_amino_acids_are_words_themselves():
    batch = tropalign.SequenceBatch.from_strings(["MKVX"], alphabet="protein")
    words = words_of(batch)
    assert words.codes.tolist() == batch.codes.tolist() and words.n_codes == 20


def leaves_below(groups, n, number):
    if number < n:
        return [number]
    return [leaf for item in groups[number - n].items for leaf in leaves_below(groups, n, item)]


@pytest.mark.parametrize("most", [2, 3, 8, 100])
@pytest.mark.parametrize("n", [1, 2, 3, 20, 200])
@pytest.mark.parametrize("kind", ["random", "chain"])
def test_division(n, most, kind):
    rng = np.random.default_rng(n + most)
    steps = range(n - 1)
    if kind == "chain":
        children = [(0, 1) if k == 0 else (n + k - 1, k + 1) for k in steps]
    else:
        nodes, children = list(range(n)), []
        for k in steps:
            a, b = (nodes.pop(int(rng.integers(len(nodes)))) for _ in range(2))
            children.append((a, b))
            nodes.append(n + k)
    groups = divide(np.array(children, np.int32).reshape(-1, 2), most)
    assert sorted(leaves_below(groups, n, n + len(groups) - 1)) == list(range(n))
    for k, group in enumerate(groups):
        assert len(group.items) <= most and all(item < n + k for item in group.items)
        assert k == len(groups) - 1 or len(group.items) > most / 2
        inner = [groups[item - n].level for item in group.items if item >= n]
        assert group.level == (max(inner) + 1 if inner else 0)


def test_division_keeps_subtrees_together():
    """Two clades of three: each is a group, although five would fit."""
    children = np.array([(0, 1), (6, 2), (3, 4), (8, 5), (7, 9)], np.int32)
    assert [group.items for group in divide(children, 5)] == [(0, 1, 2), (6, 3, 4, 5)]


def test_tree_joins_kin_first():
    rng = np.random.default_rng(4)
    letters = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)
    kinds = [letters[rng.integers(0, 20, 120)] for _ in range(2)]
    texts = []
    for k in range(8):
        one = kinds[k % 2].copy()
        one[rng.integers(0, 120, 30)] = letters[rng.integers(0, 20, 30)]
        texts.append(one.tobytes().decode())
    tree, distances = fast_tree(tropalign.SequenceBatch.from_strings(texts), 1)
    assert distances.shape == (28,)
    below = [{leaf} for leaf in range(8)]
    for a, b in tree.children.tolist():
        below.append(below[a] | below[b])
    last = {frozenset(below[k]) for k in tree.children[-1].tolist()}
    assert last == {
        frozenset({0, 2, 4, 6}),
        frozenset({1, 3, 5, 7}),
    }
