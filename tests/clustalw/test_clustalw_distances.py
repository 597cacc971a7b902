"""CLUSTALW's distances and guide tree against what CLUSTAL W 2.1 printed, and against plain oracles."""

import json
from pathlib import Path

import numpy as np
import pytest

import tropalign
from tropalign import _native
from tropalign.clustalw import distances
from tropalign.clustalw.distances import pair_distances
from tropalign.clustalw.matrices import LETTERS, UNITS, matrix_table, pair_scoring
from tropalign.clustalw.options import PROTEIN_SERIES, ClustalwOptions
from tropalign.clustalw.progressive import compat_weights, read_clustalw_tree, root_tree, sequence_weights
from tropalign.errors import ResourceError
from tropalign.pairwise.plan import least_bytes
from tropalign.pairwise.task import PairsTask
from tropalign.trees.joining import neighbour_joining

DATA = Path(__file__).parent.parent / "data" / "clustalw"
FAMILIES = ("proteins", "nucleotides")
SPEEDS = ("full", "quick")


def family(name):
    return tropalign.read_sequences(DATA / f"{name}.fasta")


def recorded(name, speed):
    return json.loads((DATA / f"{name}.json").read_text())[speed]


def tree_identities(tree):
    """Percent identities of all pairs by their distances in the tree, taken for 0.01 to 1, as CLUSTAL W has them."""
    n = tree.n_leaves
    lengths = tree.branch_lengths.astype(np.float32)
    order = np.array(tree.leaf_order())
    place = np.argsort(order)  # leaves below a node are adjacent in this order
    begin, end, to_node = (
        np.append(place, np.zeros(n - 1, int)),
        np.append(place + 1, np.zeros(n - 1, int)),
        lengths[order],
    )
    distances = np.empty(n * (n - 1) // 2, lengths.dtype)
    row_begins = np.arange(n) * n - np.arange(n) * (np.arange(n) + 1) // 2 - np.arange(n) - 1
    for k, (first, second) in enumerate(tree.children.tolist()):
        one, other = slice(begin[first], end[first]), slice(begin[second], end[second])
        rows, columns = order[one][:, None], order[other][None, :]
        places = row_begins[np.minimum(rows, columns)] + np.maximum(rows, columns)
        distances[places] = to_node[one][:, None] + to_node[other][None, :]
        begin[n + k], end[n + k] = begin[first], end[second]
        to_node[one.start : other.stop] += lengths[n + k]
    found = distances.astype(np.float64)
    return 100.0 - np.clip(found, 0.01, 1.0) * 100.0


def compat_options(speed):
    return ClustalwOptions(is_compat=True, quicktree=speed == "quick")


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("name", FAMILIES)
def test_compat_distances_are_those_of_clustalw(name, speed):
    for n_threads in (1, 3):
        found = pair_distances(family(name), compat_options(speed), n_threads=n_threads)
        assert found.tolist() == recorded(name, speed)["distances"]


def groups_aligned(tree):
    """The rows of each step: 1 in the first group, 2 in the second, 0 in none, as CLUSTALW notes them."""
    n = tree.n_leaves
    below = {leaf: [leaf] for leaf in range(n)}
    for k, (first, second) in enumerate(tree.children.tolist()):
        row = ["0"] * n
        for leaf in below[first]:
            row[leaf] = "1"
        for leaf in below[second]:
            row[leaf] = "2"
        below[n + k] = below[first] + below[second]
        yield "".join(row)


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("name", FAMILIES)
def test_compat_tree_is_that_of_clustalw(name, speed):
    expected = recorded(name, speed)
    joined = neighbour_joining(np.array(expected["distances"]), family(name).names, rules="clustalw")
    tree = root_tree(joined, is_compat=True)
    assert list(groups_aligned(tree)) == expected["steps"]
    assert tree_identities(tree).tolist() == expected["identities"]
    assert compat_weights(tree).tolist() == expected["weights"]


@pytest.mark.parametrize("name", FAMILIES)
def test_distances_are_those_of_each_pair_aligned_alone(name):
    batch = family(name)
    matrix_name, scoring = pair_scoring(ClustalwOptions(), batch.alphabet, int(batch.lengths.max()))
    matrix = tropalign.SubstitutionMatrix(matrix_name, batch.alphabet, scoring.scores, batch.alphabet.letters)
    expected = []
    for i in range(len(batch)):
        for j in range(i + 1, len(batch)):
            shorter = int(min(batch.lengths[i], batch.lengths[j]))
            gap = tropalign.Gap(int(scoring.gap_open[shorter]), scoring.gap_extend)
            pair = tropalign.align(batch.text(i), batch.text(j), mode="local", matrix=matrix, gap=gap)
            expected.append(1 - pair.n_identical / shorter)
    told = []
    assert pair_distances(batch, ClustalwOptions(), n_threads=2, progress=told.append).tolist() == expected
    assert all(0 <= share <= 1 for share in told)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("series", PROTEIN_SERIES)
def test_scores_of_pairs_are_those_of_the_matrix_and_not_rounded(name, series):
    batch = family(name)
    options = ClustalwOptions(series=series, nucleotide_matrix="clustalw" if series == "id" else "iub")
    matrix_name, scoring = pair_scoring(options, batch.alphabet, 100)
    tenths = 1 if matrix_name.startswith("GONNET") else 10
    codes = [LETTERS.index(letter) for letter in batch.alphabet.letters if letter in LETTERS]
    kept = [k for k, letter in enumerate(batch.alphabet.letters) if letter in LETTERS]
    expected = matrix_table(matrix_name)[np.ix_(codes, codes)] * tenths
    assert (scoring.scores[np.ix_(kept, kept)] * 10 == expected * UNITS).all()


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("name", FAMILIES)
def test_distances_are_near_those_of_clustalw(name, speed):
    found = pair_distances(family(name), ClustalwOptions(quicktree=speed == "quick"))
    assert np.abs(found - recorded(name, speed)["distances"]).mean() < {"full": 0.005, "quick": 0.01}[speed]


def words(rng, length, n_letters, n_longest):
    """Six sequences, relatives among them, one of no residue, and one without a letter that lifts compat's limit."""
    lengths = [*rng.integers(0, n_longest, 5), 0, 40 * n_longest]
    first = rng.integers(0, n_letters + 1, n_longest)
    parts = [np.where(rng.random(n) < 0.3, rng.integers(0, n_letters + 1, n), first[:n]) for n in lengths[:6]]
    codes = np.concatenate([*parts, np.full(lengths[6], 31)]).astype(np.uint8)
    return codes, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("n_longest", [12, 100, 500])
def test_chains_of_words_on_all_diagonals_are_those_of_clustalw(isa, length, n_longest):
    rng = np.random.default_rng(length * n_longest)
    for n_letters, gap, window in ((4, length, 0), (5, 6, 2), (20 if length == 1 else 4, 3 + length, 5)):
        arguments = (*words(rng, length, n_letters, n_longest), n_letters, length, gap, 1000, window, 2)
        found, expected = _native.clustalw_word_scores(*arguments), _native.clustalw_word_scores_compat(*arguments)
        assert found.tolist() == expected.tolist()
        assert max(found) <= n_longest


def test_scores_of_words_beyond_8_bits():
    codes = np.tile(np.arange(20, dtype=np.uint8), 80)
    offsets = np.array([0, 800, 1600], np.int64)
    for n_top in (1, 5):
        assert _native.clustalw_word_scores(codes, offsets, 20, 1, 3, n_top, 5, 1).tolist() == [800]


def test_the_first_of_equal_diagonals_is_taken():
    # AC of the second sequence stands beside that of the first, and beside A then C: two diagonals with a word each.
    codes = np.array([0, 1, 2, 2, 1, 0], np.uint8)
    offsets = np.array([0, 3, 6], np.int64)
    assert _native.clustalw_word_scores(codes, offsets, 4, 1, 3, 1, 0, 1).tolist() == [1]


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_tree_of_clustalw_gets_the_root_that_it_has_there(tmp_path, name, speed):
    expected = recorded(name, speed)
    path = tmp_path / "family.dnd"
    path.write_text(expected["tree"])
    tree = read_clustalw_tree(path, family(name).names, compat_options(speed))
    assert list(groups_aligned(tree)) == expected["steps"]
    assert tree_identities(tree).tolist() == expected["identities"]


def test_two_sequences_are_half_their_distance_from_the_root():
    tree = neighbour_joining([0.0251234567], ["a", "b"])
    assert root_tree(tree).branch_lengths.tolist() == [0.0251234567 / 2] * 2 + [0]
    assert root_tree(tree, is_compat=True).branch_lengths.tolist() == [0.012562, 0.012562, 0]  # as in CLUSTAL W's file


def test_the_root_is_placed_where_both_sides_are_as_far():
    tree = neighbour_joining([[0, 2, 7], [2, 0, 7], [7, 7, 0]], ["a", "b", "c"])
    assert root_tree(tree).newick(["a", "b", "c"]) == "((a:1.0,b:1.0):2.5,c:3.5);"
    assert root_tree(tree, is_compat=True).newick(["a", "b", "c"]) == "((a:1.0,b:1.0):2.5,c:3.5);"


def test_roots_of_larger_trees_leave_both_sides_as_far():
    rng = np.random.default_rng(3)
    for n in (4, 9, 40):
        points = rng.random((n, 3))
        square = np.sqrt(((points[:, None] - points[None]) ** 2).sum(2))
        tree = root_tree(neighbour_joining(square, [str(k) for k in range(n)], negative="zero"))
        depth = np.zeros(2 * n - 1)
        for k in range(n - 2, -1, -1):
            for child in tree.children[k]:
                depth[child] = depth[n + k] + tree.branch_lengths[child]
        below = {leaf: [leaf] for leaf in range(n)}
        for k, (first, second) in enumerate(tree.children.tolist()):
            below[n + k] = below[first] + below[second]
        means = [depth[below[child]].mean() for child in tree.children[-1].tolist()]
        assert means[0] == pytest.approx(means[1])
        assert sequence_weights(tree).sum() == pytest.approx(1)


def test_distances_that_do_not_fit_the_memory_are_refused():
    for options, needed in ((ClustalwOptions(quicktree=True), r"1\.3 KiB"), (ClustalwOptions(), r"2\.1 MiB")):
        with pytest.raises(
            ResourceError, match=f"distance table of 12 sequences needs {needed} .* and 100 B are allowed"
        ):
            pair_distances(family("proteins"), options, memory_bytes=100)


def test_tasks_become_smaller_where_memory_is_scarce(monkeypatch):
    batch, sizes = family("proteins"), []
    expected = pair_distances(batch, ClustalwOptions())
    monkeypatch.setattr(distances, "LEAST_TASK_PAIRS", 10)
    monkeypatch.setattr(
        distances, "PairsTask", lambda *given: sizes.append((len(given[3]), given[4])) or PairsTask(*given)
    )
    allowed = 20 * len(expected) + distances.engine_bytes(batch)
    assert pair_distances(batch, ClustalwOptions(), memory_bytes=allowed).tolist() == expected.tolist()
    assert sum(n for n, _ in sizes) == len(expected) and max(n for n, _ in sizes) <= 20
    assert all(least_bytes([batch]) <= memory < allowed for _, memory in sizes)
    with pytest.raises(ResourceError, match="a distance table"):
        pair_distances(batch, ClustalwOptions(), memory_bytes=allowed - 1)
