"""shortest_paths against SciPy and networkx: matrices, graphs of other libraries, two parts, few edges."""

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import paths as oracle
from scipy.sparse import coo_array, csgraph, csr_array

from tropalign.errors import DeviceError, InputError, ResourceError, UsageError
from tropalign.tropical import DenseGraph, Graph, shortest_paths
from tropalign.tropical.closures import NegativeCycle
from tropalign.tropical.paths import search_seconds, searched


def edges_of(n, n_edges, seed=0, lowest=1, highest=50):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, n_edges), rng.integers(0, n, n_edges), rng.integers(lowest, highest, n_edges)


def matrix_of(graph):
    found = graph.matrix().astype(float)
    if graph.weights.dtype.kind == "i":
        found[graph.matrix() == np.iinfo(graph.weights.dtype).max] = np.inf
    return found


def as_floats(found):
    return np.where(found.distances == found.infinity, np.inf, found.distances.astype(float))


def assert_valid(found, weights):
    expected = np.array(oracle.distances(weights.tolist())).reshape(weights.shape)
    np.testing.assert_array_equal(as_floats(found), expected[found.sources])
    for row, source in enumerate(found.sources.tolist()):
        vertices, lengths = found.row_paths(row, np.arange(len(weights)))
        one_by_one = [found.path_vertices(row, target) for target in range(len(weights))]
        assert vertices.tolist() == [v for path in one_by_one for v in path] and lengths.tolist() == list(
            map(len, one_by_one)
        )
        for target in range(len(weights)):
            path = found.path_vertices(row, target)
            if np.isinf(expected[source, target]):
                assert path == []
            else:
                assert path[0] == source and path[-1] == target and len(set(path)) == len(path)
                assert oracle.weight_of(weights, path) == expected[source, target]


@settings(max_examples=40)
@given(
    n=st.integers(1, 14), n_edges=st.integers(0, 60), seed=st.integers(0, 10**6), highest=st.sampled_from([2, 40]),
    dtype=st.sampled_from([np.int16, np.int32, np.float32, np.float64]), is_directed=st.booleans(),
)  # fmt: skip
def test_every_method_finds_the_same(n, n_edges, seed, highest, dtype, is_directed):
    sources, targets, weights = edges_of(n, n_edges, seed, 0, highest)
    graph = Graph.from_edges(sources, targets, weights.astype(dtype), n=n, is_directed=is_directed)
    weights = matrix_of(graph)
    found = shortest_paths(graph)
    assert found.distances.dtype == dtype
    assert_valid(found, weights)
    assert_valid(shortest_paths(graph.matrix(), predecessors=True), weights)
    distances, before, method = searched(graph, np.arange(n), True)
    assert method == "dijkstra" and distances.dtype == dtype
    np.testing.assert_array_equal(distances, found.distances)
    assert ((before == -1) == (found.predecessors == -1)).all()


@settings(max_examples=30)
@given(p=st.integers(0, 9), q=st.integers(0, 9), seed=st.integers(0, 10**6), dtype=st.sampled_from([np.int16, float]))
def test_graphs_of_two_parts(p, q, seed, dtype):
    rng = np.random.default_rng(seed)
    parts = [rng.integers(0, 30, shape).astype(float) for shape in ((p, q), (q, p))]
    for part in parts:
        part[rng.random(part.shape) < 0.4] = np.inf
    weights = np.full((p + q, p + q), np.inf)
    weights[:p, p:], weights[p:, :p] = parts
    np.fill_diagonal(weights, 0)
    if dtype is np.int16:
        parts = [np.where(np.isinf(part), 32767, part).astype(dtype) for part in parts]
    assert_valid(shortest_paths(bipartite=tuple(parts)), weights)


@pytest.mark.parametrize(("p", "q"), [(100, 300), (300, 100), (64, 64), (130, 131)])
def test_larger_graphs_of_two_parts(isa, p, q):
    rng = np.random.default_rng(p)
    there, back = rng.integers(1, 99, (p, q)).astype(np.float32), rng.integers(1, 99, (q, p)).astype(np.float32)
    weights = np.zeros((p + q, p + q))
    weights[:p, p:], weights[p:, :p] = there, back
    found = shortest_paths(bipartite=(there, back), sources=range(5))
    np.testing.assert_array_equal(found.distances, csgraph.dijkstra(csr_array(weights), indices=range(5)))
    assert found.method == "bipartite closure"
    for target in (p - 1, p + q - 1):
        path = found.path(3, target)
        assert oracle.weight_of(weights, path) == found.distance(3, target)


def test_a_negative_cycle_between_two_parts_is_named():
    there, back = np.full((2, 3), 5.0), np.full((3, 2), 5.0)
    back[2, 1] = -6
    for parts in ((there, back), (back, there)):
        with pytest.raises(NegativeCycle) as error:
            shortest_paths(bipartite=parts, names=["a", "b", "c", "d", "e"])
        weights = np.full((5, 5), np.inf)
        p = len(parts[0])
        weights[:p, p:], weights[p:, :p] = parts
        vertices = error.value.vertices
        assert oracle.weight_of(weights, [*vertices, vertices[0]]) == -1 == error.value.weight


def test_networkx_keeps_its_nodes_and_the_lightest_edges():
    graph = nx.gnm_random_graph(40, 120, seed=1, directed=True)
    for k, (a, b) in enumerate(graph.edges):
        graph.edges[a, b]["weight"] = 1 + k % 7
    named = nx.relabel_nodes(graph, {k: ("node", k) for k in graph})
    found = shortest_paths(named)
    assert found.distances.dtype == np.float64
    for source, lengths in nx.all_pairs_dijkstra_path_length(named):
        for target in named:
            assert found.distance(source, target) == lengths.get(target, np.inf)
    path = found.path(("node", 0), ("node", 7))
    assert nx.path_weight(named, path, "weight") == found.distance(("node", 0), ("node", 7))
    graph = nx.MultiGraph()
    graph.add_edge("a", "b", weight=5)
    graph.add_edge("b", "a", weight=3)
    graph.add_edge("b", "c")
    graph.add_edge("c", "c", weight=2)
    found = shortest_paths(graph)
    assert found.distances.tolist() == [[0, 3, 4], [3, 0, 1], [4, 1, 0]]
    assert found.notes == (
        "1 loop left out",
        "1 edge left out in favour of a lighter or equal one between the same vertices",
    )


def test_sparse_matrices_store_edges_of_weight_0():
    matrix = coo_array((np.array([0.0, 2.0, 7.0]), ([0, 1, 0], [1, 2, 2])), shape=(4, 4))
    found = shortest_paths(matrix)
    assert found.distances[0].tolist() == [0, 0, 2, np.inf]
    distances, _, _ = searched(Graph.from_edges([0, 1, 0], [1, 2, 2], [0.0, 2.0, 7.0], n=4), np.arange(4), False)
    np.testing.assert_array_equal(distances, found.distances)


def test_few_edges_are_handed_to_scipy():
    n = 3000
    sources, targets, weights = edges_of(n, 2 * n, 2)
    graph = Graph.from_edges(sources, targets, weights.astype(float), n=n)
    found = shortest_paths(graph, sources=[5, 17])
    assert found.method == "dijkstra" and found.distances.shape == (2, n)
    expected = csgraph.dijkstra(
        csr_array((graph.weights, (graph.sources, graph.targets)), shape=(n, n)), indices=[5, 17]
    )
    np.testing.assert_array_equal(found.distances, expected)
    path = found.path(17, int(np.argmax(np.where(np.isinf(expected[1]), -1, expected[1]))))
    assert path[0] == 17 and oracle.weight_of(matrix_of(graph), path) == found.distance(17, path[-1])
    with pytest.raises(InputError, match="distances from 4 were not computed"):
        found.path(4, 5)
    assert search_seconds(graph, 2) < search_seconds(graph, n)


def test_johnson_where_weights_are_negative():
    n = 200
    sources, targets, weights = edges_of(n, 800, 3)
    potential = np.random.default_rng(0).integers(0, 40, n)
    graph = Graph.from_edges(
        sources, targets, (weights + potential[sources] - potential[targets]).astype(np.int32), n=n
    )
    distances, before, method = searched(graph, np.arange(n), True)
    assert method == "johnson" and (graph.weights < 0).any()
    np.testing.assert_array_equal(distances, shortest_paths(graph.matrix()).distances)
    assert before.shape == (n, n)


@pytest.mark.parametrize("seed", range(5))
def test_negative_cycles_of_few_edges_are_named(seed):
    n = 60
    sources, targets, weights = edges_of(n, 150, seed, 1, 30)
    weights[seed] = -200
    sources = np.append(sources, targets[seed])
    targets, weights = np.append(targets, sources[seed]), np.append(weights, 30)
    graph = Graph.from_edges(sources, targets, weights.astype(float), n=n, names=[f"v{k}" for k in range(n)])
    with pytest.raises(NegativeCycle) as caught:
        searched(graph, np.arange(n), False)
    error, vertices = caught.value, caught.value.vertices
    assert len(set(vertices)) == len(vertices)
    assert oracle.weight_of(matrix_of(graph), [*vertices, vertices[0]]) == error.weight < 0
    assert f"v{vertices[0]} -> " in str(error)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cycles_of_weight_0_that_rounding_makes_negative(dtype):
    n = 300
    heights = np.random.default_rng(1).normal(size=n) * 1000
    vertices = np.arange(n)
    sources = np.concatenate([vertices, (vertices + 1) % n, vertices])
    targets = np.concatenate([(vertices + 1) % n, vertices, (vertices + 7) % n])
    weights = (heights[targets] - heights[sources]).astype(dtype)
    found = shortest_paths(Graph.from_edges(sources, targets, weights), sources=[5, 0])
    assert found.method == "johnson" and found.distances.dtype == dtype
    tolerance = n * np.finfo(dtype).eps * abs(weights).max()
    np.testing.assert_allclose(found.distances, heights - heights[[5, 0], None], atol=tolerance)
    path = found.path(5, 4)
    assert path[0] == 5 and path[-1] == 4 and len(set(path)) == len(path)
    weights[17] -= 10 * tolerance
    with pytest.raises(NegativeCycle, match="17 -> 18"):
        shortest_paths(Graph.from_edges(sources, targets, weights), sources=[5])


def test_types_that_do_not_hold_what_scipy_finds():
    graph = Graph.from_edges([0, 1], [1, 2], np.array([20000, 20000], np.int16))
    with pytest.raises(InputError, match="reach 40000, which int16 cannot hold"):
        searched(graph, np.arange(3), False)
    graph = Graph.from_edges([0, 1], [1, 2], np.array([3e38, 3e38], np.float32))
    with pytest.raises(InputError, match=r"reach 6e.38, which float32 cannot hold"):
        searched(graph, np.arange(3), False)
    graph = Graph.from_edges([0, 1], [1, 2], np.array([1e308, 1e308]))
    with pytest.raises(InputError, match=r"paths of 3 vertices with weights of up to 1e.308 exceed every type"):
        searched(graph, np.arange(3), False)


def test_memory_is_refused_before_it_is_taken():
    sources, targets, weights = edges_of(4, 5)
    graph = Graph.from_edges(sources, targets, weights.astype(float), n=100_000)
    with pytest.raises(ResourceError, match=r"of 100000 vertices needs .* GiB of memory and 95.4 MiB are"):
        shortest_paths(graph, memory_bytes=100_000_000)
    assert shortest_paths(graph, sources=[0], memory_bytes=100_000_000).distances.shape == (1, 100_000)
    weights = np.full((300, 300), 32767, np.int16)
    weights[0, 1] = 16000  # many pairs have no path, and the bounds do not suffice
    assert shortest_paths(weights, memory_bytes=90_000 * 8).distance(0, 1) == 16000
    with pytest.raises(ResourceError, match="needs 703"):
        shortest_paths(weights, memory_bytes=90_000 * 7)


@pytest.mark.parametrize("dtype", "i1 i2 i4 i8 u1 u2 u4 u8 >i4 >i8 f2 f4 f8 >f8 g".split())
def test_numbers_of_any_type_are_taken(dtype):
    """Also those that are not computed in: they become a type that holds them."""
    none = np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    matrix = np.array([[0, 3, none], [none, 0, 2], [none, none, 0]], dtype)
    for found in (
        shortest_paths(matrix),
        shortest_paths(DenseGraph.from_matrix(matrix, names=range(3))),
        shortest_paths(bipartite=(np.array([[3], [3]], dtype), matrix[2:, :2]), names=range(3)),
    ):
        assert found.distance(2, 0) == np.inf and found.distances[2, 0] == found.infinity
        assert (found.distances != found.infinity).sum() == 5 + ("bipartite" not in found.method)
    assert shortest_paths(matrix).distance(0, 2) == 5


def test_integers_without_an_infinity_of_their_own_give_floats():
    """Distances agree with SciPy's, which are always float64."""
    rng = np.random.default_rng(5)
    weights = np.where(rng.random((30, 30)) < 0.06, rng.integers(1, 50, (30, 30)), 0)
    expected = csgraph.dijkstra(csr_array(weights))
    none = np.iinfo(np.int64).max
    dense = np.where(weights, weights, none)
    for found in (
        shortest_paths(dense),
        shortest_paths(csr_array(weights)),
        shortest_paths(nx.from_numpy_array(weights, create_using=nx.DiGraph)),
        shortest_paths(csr_array(weights), sources=range(30), predecessors=True),
    ):
        assert found.distances.dtype == np.float64 and found.infinity == np.inf
        np.testing.assert_array_equal(found.distances, expected)
    assert np.isinf(expected).any()
    parts = dense[:10, 10:], dense[10:, :10]
    is_first = np.arange(30) < 10
    halves = np.where(is_first[:, None] != is_first, weights, 0)
    np.testing.assert_array_equal(shortest_paths(bipartite=parts).distances, csgraph.dijkstra(csr_array(halves)))
    for dtype in (np.int16, np.int32):
        found = shortest_paths(np.where(weights, weights, np.iinfo(dtype).max).astype(dtype))
        assert found.distances.dtype == dtype and found.infinity == np.iinfo(dtype).max
        np.testing.assert_array_equal(found.distances == found.infinity, np.isinf(expected))


def test_wide_integers_are_held_exactly():
    none = np.iinfo(np.int64).max
    found = shortest_paths(np.array([[0, 2**50, none], [none, 0, 1], [none, none, 0]]))
    assert found.distance(0, 2) == 2**50 + 1 and found.distances.dtype == np.float64
    with pytest.raises(InputError, match=r"exceed 2\^53"):
        shortest_paths(np.array([[0, 2**53 + 1], [none, 0]]))
    with pytest.raises(InputError, match="float64 cannot hold these weights"):
        shortest_paths(np.array([[0, np.longdouble(1) + np.finfo(np.longdouble).eps], [1, 0]]))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, UsageError, "give either a graph or the two matrices"),
        ({"graph": [[0.0]], "bipartite": ([[1.0]], [[1.0]])}, UsageError, "give either"),
        ({"bipartite": ([[1.0]], [[1.0, 2.0]])}, InputError, "give p x q and q x p"),
        ({"bipartite": [[1.0]]}, UsageError, "must be a pair of matrices"),
        ({"bipartite": (np.ones((1, 1), np.int16), np.ones((1, 1)))}, UsageError, "convert one of them"),
        ({"graph": [[0.0, 1.0]]}, InputError, "must be square"),
        ({"graph": [[0.0]], "names": ["a", "b"]}, InputError, "2 names are given for 1 vertices"),
        ({"graph": np.zeros((2, 2)), "names": ["a", "a"]}, InputError, "two vertices have the name a"),
        ({"graph": np.zeros((2, 2)), "names": "ab"}, UsageError, "names is a single string"),
        ({"graph": np.zeros((2, 2)), "sources": "ab"}, UsageError, "sources is a single string"),
        ({"graph": np.zeros((2, 2)), "sources": [2]}, InputError, "numbered from 0 to 1"),
        ({"graph": np.zeros((2, 2)), "sources": ["a"]}, UsageError, "not a vertex number"),
        ({"graph": np.zeros((2, 2)), "names": ["a", "b"], "sources": [0]}, InputError, "no vertex 0 in the graph"),
        ({"graph": csr_array((2, 3))}, InputError, "must be square"),
        ({"graph": [[0.0]], "names": 5}, UsageError, "names is of type int: give a list of strings or numbers"),
        ({"graph": [[0.0]], "names": [[1]]}, UsageError, "names is of type list: give a list of strings"),
        ({"graph": [[0.0]], "sources": 0}, UsageError, "sources is of type int: give a list of vertices"),
        ({"graph": [[0.0]], "predecessors": "yes"}, UsageError, "predecessors is a str: give True or False"),
        ({"graph": [[0.0]], "n_threads": -1}, UsageError, "n_threads"),
        ({"graph": [[0.0]], "device": "abacus"}, UsageError, "abacus"),
        ({"graph": [[0.0]], "device": "cuda:0"}, DeviceError, "closures of float64 are computed on the CPU only"),
        ({"bipartite": ([[1.0]], [[1.0]]), "device": "cuda:0"}, DeviceError, "closures of two parts are computed"),
    ],
)
def test_wrong_calls(arguments, error, text):
    with pytest.raises(error) as raised:
        shortest_paths(**arguments)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([0], [1, 2], [1.0]), InputError, "different lengths"),
        (([-1], [0], [1.0]), InputError, "vertices are numbered from 0"),
        (([0.5], [1], [1.0]), InputError, "not a list of integers"),
        (([0], [1], [np.nan]), InputError, "edge 0 is NaN"),
        (([0], [1], [-np.inf]), InputError, "edge 0 is -inf"),
        (([1], [1], [-2.0]), InputError, "the cycle 1 -> 1 is negative"),
        (([0], [1], ["x"]), UsageError, "weights have type"),
        (([0], [1], [2**60]), InputError, "exceed 2^53"),
        (([0], [1], [[1, 2], [3]]), InputError, "weights has rows of different lengths"),
    ],
)
def test_wrong_edges(arguments, error, text):
    with pytest.raises(error) as raised:
        Graph.from_edges(*arguments)
    assert text in str(raised.value)


def test_graphs_that_are_refused():
    for n in (2.5, "2", -1):
        with pytest.raises(UsageError, match=r"n .* is not a whole number|n -1 is out of range"):
            Graph.from_edges([0], [1], [1.0], n=n)
    with pytest.raises(InputError, match="the matrix of weights has rows of different lengths"):
        DenseGraph.from_matrix([[1, 2], [3]])
    with pytest.raises(NegativeCycle, match=r"the cycle a -> b -> a is negative .its weight is -4."):
        Graph.from_edges([0], [1], [-2.0], names=["a", "b"], is_directed=False)
    graph = nx.Graph()
    graph.add_edge("a", "b", weight="far")
    with pytest.raises(InputError, match="the edge from a to b is 'far' and not a number"):
        shortest_paths(graph)


def test_results_are_pickled_and_shown():
    inf = np.inf
    for graph in (np.array([[0, 1.0, inf], [inf, 0, 2.0], [inf, inf, 0]]), nx.path_graph(3, nx.DiGraph)):
        found = shortest_paths(graph)
        other = pickle.loads(pickle.dumps(found))
        np.testing.assert_array_equal(other.distances, found.distances)
        assert other.path(0, 2) == found.path(0, 2) == [0, 1, 2] and other.path(2, 0) == []
    assert repr(shortest_paths(np.zeros((2, 2)))) == "<ShortestPaths from 2 to 2 vertices, by closure, float64>"
