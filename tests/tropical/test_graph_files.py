"""Graphs from text, .npz and Matrix Market; every bad file in one sentence."""

import bz2
import gzip
import io
import zipfile

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array, coo_matrix, save_npz

from tropalign.errors import InputError
from tropalign.tropical import DenseGraph, read_graph, shortest_paths

REAL = b"%%MatrixMarket matrix coordinate real general\n"
TSV = "# roads\nfrom\tto\tweight\nUlm\tBonn\t4.5\n\nBonn\tNew York\t6\n"


def edges(graph):
    if isinstance(graph, DenseGraph):
        is_edge = (graph.weights != graph.weights.max()) & ~np.eye(graph.n, dtype=bool)
        return {(graph.names[a], graph.names[b]): graph.weights[a, b].item() for a, b in np.argwhere(is_edge)}
    return {
        (graph.names[a], graph.names[b]): weight.item()
        for a, b, weight in zip(graph.sources, graph.targets, graph.weights, strict=True)
    }


def read(text, **options):
    return read_graph(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


@pytest.mark.parametrize("text", [TSV, TSV.replace("\n", "\r\n"), "\ufeff" + TSV, TSV.removesuffix("\n"),
                                  TSV.replace("\n", "\r"),
                                  TSV.replace("\n", "\r").replace("6\r", "6\n"), TSV.replace("\n", "\r", 2),
                                  TSV.replace("\n", "\r").replace("\r\r", "\r\n"),
                                  TSV.replace("\t", ","), TSV.replace("from\tto\tweight\n", "")])  # fmt: skip
def test_edges_as_text(text):
    graph = read(text)
    assert graph.names == ("Ulm", "Bonn", "New York") and graph.notes == ()
    assert edges(graph) == {("Ulm", "Bonn"): 4.5, ("Bonn", "New York"): 6}


def test_spaces_weights_and_names():
    assert edges(read("a b\nb  c\n")) == {("a", "b"): 1, ("b", "c"): 1}
    assert edges(read("source target\na b")) == {("a", "b"): 1}
    assert edges(read(" a b 3 \n", is_directed=False)) == {("a", "b"): 3, ("b", "a"): 3}
    text = "caf\u00e9 \u6f22\u5b57 1\n\u6f22\u5b57 a\u00a0b 2\n"
    assert read(text).names == ("caf\u00e9", "\u6f22\u5b57", "a\u00a0b")
    assert read(text.replace("\u6f22\u5b57", "x").encode("latin-1")).names == ("caf\u00e9", "x", "a\u00a0b")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed(tmp_path, pack):
    path = tmp_path / "edges.tsv"
    path.write_bytes(pack(TSV.encode()))
    assert edges(read_graph(path)) == edges(read(TSV))


@pytest.mark.parametrize(
    ("weight", "dtype"),
    [("3", np.int16), ("-3", np.int16), ("20000", np.int32), ("2000000000", np.float64), ("3.5", np.float64)],
)
def test_whole_numbers_get_the_type_that_holds_all_distances(weight, dtype):
    graph = read(f"a b {weight}\n")
    assert graph.weights.dtype == dtype and edges(graph) == {("a", "b"): float(weight)}
    assert shortest_paths(graph).distances.dtype == dtype


def test_loops_and_double_edges_are_noted():
    graph = read("a b 3\na b 2\na a 0\nb c inf\n")
    assert edges(graph) == {("a", "b"): 2} and graph.n == 3
    assert graph.notes == (
        "1 edge of infinite weight left out",
        "1 loop left out",
        "1 edge left out in favour of a lighter or equal one between the same vertices",
    )
    assert read("a b 3\nb a 2\n", is_directed=False).notes == (
        "1 edge left out in favour of a lighter or equal one between the same vertices",
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file holds no edges: give lines of from, to and weight"),
        ("# only\n\n", "the file holds no edges: give lines of from, to and weight"),
        ("a b 1\nb c x\n", "line 2: the weight 'x' is not a number"),
        ("a b 1,5\n", "line 1: the comma of 1,5 may be a decimal or a separator: write a decimal point, or separate"),
        ("a  b  -1,5e3\n", "line 1: the comma of -1,5e3 may"),
        ("a b 1.500,5\n", "line 1: the comma of 1.500,5 may"),
        ("a;b;1,5\n", "line 1: the comma of 1,5 may"),
        ("a; b; 1,5\n", "line 1: the comma of 1,5 may"),
        ("x,y 1,5\n", "line 1: the comma of 1,5 may be a decimal or a separator: write a decimal point, or separate"),
        ("x y,1,5\n", "line 1: the comma of 1,5 may"),
        ("x,y;1,5\n", "line 1: the comma of 1,5 may"),
        ("a,b,1\nx, y, -1,5\n", "line 2: the comma of -1,5 may"),
        ("a,b\nc d 1,234\n", "line 2: the comma of 1,234 may"),
        ("a b 1\na c 1,5\n", "line 2: the weight '1,5' is not a number: write a decimal point instead of the comma"),
        ("a\tb\t1,5\n", "line 1: the weight '1,5' is not a number: write a decimal point instead of the comma"),
        ("a b 1\nb c nan\n", "line 2: the weight 'nan' is not a number"),
        ("a b 1\nb c -9007199254740993\n", "line 2: the weight is 2^53 or more, which float64 cannot hold exactly"),
        ("a b 1\nb c -inf\n", "line 2: the weight '-inf' is not a number"),
        ("a b 1\nb c 1_0\n", "line 2: the weight '1_0' is not a number"),
        ("a b nan\n", "line 1: the weight 'nan' is not a number"),
        ("# x\na b 1\nb\n", "line 3: the line 'b' is not an edge: give from, to and weight, separated by"),
        ("a\tb\t1\tx\n", "line 1: the line 'a\\tb\\t1\\tx' is not an edge: give from, to and weight, separated by"),
        ("a,b,1\na,,2\n", "line 2: the line 'a,,2' is not an edge: give from, to and weight, separated by commas"),
        ("a b 1\nb c\n", "line 2: the line has 2 fields instead of 3"),
        ("a b 1\nb b -1\n", "line 2: the loop at b is negative, so paths through it can become arbitrarily"),
        (b"a b 1\n\0\xfe b\n", "line 2: this is not a text file: give lines of from, to and weight"),
        (b"a b\0 1\n", "line 1: this is not a text file: give lines of from, to and weight"),
        (b"%%MatrixMarket matrix array real general\n1 1\n1\n", "line 1: this is not a matrix in coordinate format"),
        (REAL + b"2 2 2\n1 2 3\n", "the file holds 1 entries instead of 2"),
        (REAL + b"%\n2 2\n1 2 3\n", "line 3: this line must give the numbers of rows"),
        (REAL + b"99999999 99999999 1\n1 2 3\n", "the matrix has 99999999 rows, more than"),
        (REAL + b"2 3 1\n1 2 3\n", "line 2: the matrix has shape (2, 3): it must be square"),
        (REAL + b"2 2 1\n1 3 3\n", "line 3: the line is not an entry: give row, column and a finite number"),
        (REAL + b"2 2 1\n1 2 1_0\n", "line 3: the line is not an entry"),
        (REAL + b"22 22 1\n1 1_0 1\n", "line 3: the line is not an entry"),
        (REAL + b"2 2 1\n\n1 2 x\n", "line 4: the line is not an entry"),
        (REAL + b"2 2 1\n1 2\n", "line 3: the line is not an entry"),
        (REAL + b"2 2 1\n1 2 nan\n", "the weight of edge 0 is NaN: give finite weights"),
        (b"%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3 1\n", "line 1: a complex general matrix"),
        (b"PK\x03\x04nothing", "the .npz file is damaged or does not hold a graph ("),
    ],
)  # fmt: skip
def test_bad_files(text, sentence):
    with pytest.raises(InputError) as error:
        read(text)
    assert str(error.value).startswith(f"the open stream{',' if sentence.startswith('line') else ':'} {sentence}")


@pytest.mark.parametrize("damage", ["a header with an open bracket", "names beyond Unicode", "a header that is none"])
def test_damaged_arrays(damage):
    """Archives whose checksums are right."""
    out = io.BytesIO()
    names = (
        np.array([0xFFFFFFFF, 65], np.uint32).view("U1") if damage == "names beyond Unicode" else np.array(["x", "y"])
    )
    np.savez(out, weights=np.zeros((2, 2)), names=names)
    made = io.BytesIO()
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if damage != "names beyond Unicode" and name == "weights.npy":
                data = data.replace(b"(2, 2)", b"(2, 2 " if damage == "a header with an open bracket" else b"[[2, 2")
            new.writestr(name, data)
    with pytest.raises(InputError, match=r"the open stream: the .npz file is damaged or does not hold a graph"):
        read_graph(io.BytesIO(made.getvalue()))


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(InputError, match="the open stream: the cycle a -> b -> a is negative"):
        read("a b -1\n", is_directed=False)
    for path in (tmp_path / "none.tsv", tmp_path):
        with pytest.raises(InputError):
            read_graph(path)


def saved(save, *arguments, **named):
    out = io.BytesIO()
    save(out, *arguments, **named)
    return out.getvalue()


def test_npz():
    sparse = coo_matrix(([2.5, 0.0], ([0, 1], [1, 2])), shape=(3, 3)).tocsr()
    assert edges(read(saved(save_npz, sparse))) == {("0", "1"): 2.5, ("1", "2"): 0.0}
    for form in ("csc", "coo"):
        assert edges(read(saved(save_npz, sparse.asformat(form)))) == {("0", "1"): 2.5, ("1", "2"): 0.0}
    dense = np.array([[0, 3], [32767, 0]], np.int16)
    assert edges(read(saved(np.savez, weights=dense))) == {("0", "1"): 3}
    loop = read(saved(np.savez, weights=np.array([[2, 3], [5, 0]], np.int64)), is_directed=False)
    assert loop.notes == ("1 loop left out",) and loop.weights.tolist() == [[2, 3], [3, 0]]
    assert loop.n_edges == 2 and shortest_paths(loop).distances.tolist() == [[0, 3], [3, 0]]
    named = read(saved(np.savez, anything=dense, names=np.array(["x", "y"])))
    assert edges(named) == {("x", "y"): 3} and named.weights.dtype == np.int16


SPARSE = {"format": b"csr", "shape": [2, 2], "data": [1.0], "indices": [1], "indptr": [0, 1, 1]}


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({**SPARSE, "indptr": [0, 5, 1]}, "the bounds of its rows are not valid"),
        ({**SPARSE, "indptr": [0, 1]}, "the bounds of its rows are not valid"),
        ({**SPARSE, "indices": [2]}, "vertex 2 is not among the graph's 2 vertices"),
        ({**SPARSE, "indices": [-1]}, "vertices are numbered from 0"),
        ({**SPARSE, "data": [1.0, 2.0]}, "have different lengths"),
        ({**SPARSE, "shape": [2, 3]}, "the matrix has shape (2, 3)"),
        ({**SPARSE, "format": b"bsr"}, "has SciPy's format bsr"),
        ({**SPARSE, "data": [1j]}, "are not numbers"),
        ({"format": b"coo", "shape": [2, 2], "data": [1.0]}, "is damaged or does not hold a graph"),
        (
            {"a": np.zeros((2, 2)), "b": np.zeros((2, 2))},
            "holds 2 square matrices: name the matrix of weights 'weights'",
        ),
        ({"weights": np.zeros((2, 3))}, "the matrix of weights has shape (2, 3): it must be square"),
        ({"weights": np.array([["a"]])}, "are not numbers"),
        ({"weights": np.array([[True]])}, "the weights have type bool and are not numbers"),
        ({"weights": np.array([[None]])}, "is damaged or does not hold a graph"),
        ({"weights": np.zeros((2, 2)), "names": np.array(["a"])}, "1 names are given for 2 vertices"),
        ({"weights": np.full((2, 2), np.nan)}, "is NaN"),
        ({"weights": np.array([[-2, 0], [1, 0]])}, "the cycle 0 -> 0 is negative (its weight is -2)"),
    ],
)
def test_bad_arrays(arrays, sentence):
    with pytest.raises(InputError) as error:
        read(saved(np.savez, **arrays))
    assert sentence in str(error.value) and str(error.value).startswith("the open stream: ")


def test_line_numbers_with_all_line_ends():
    with pytest.raises(InputError, match="line 4: the weight 'x' is not a number"):
        read("# x\ra b 1\r\nb c 2\rb d x\n")
    with pytest.raises(InputError, match="line 2: the line has 1,048,576 bytes or more: give a graph file"):
        read("a,b\n" + "a" * (1 << 20) + ",b\n")


def test_matrix_market():
    assert edges(read((REAL + b"%\n2 2 1\n1 2 3\n").replace(b"\n", b"\r"))) == {("1", "2"): 3}
    assert edges(read(REAL + b"%\r2 2 1\r1 2 3\n")) == {("1", "2"): 3}
    general = saved(mmwrite, coo_array(([2.5, 4.0], ([0, 1], [1, 2])), shape=(3, 3)))
    assert edges(read(general)) == {("1", "2"): 2.5, ("2", "3"): 4.0}
    symmetric = b"%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 7\n"
    graph = read(symmetric)
    assert edges(graph) == {("2", "1"): 7, ("1", "2"): 7} and graph.weights.dtype == np.int16
    skew = b"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 0.0\n"
    assert edges(read(skew)) == {("2", "1"): 0, ("1", "2"): 0}
    pattern = b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n"
    assert edges(read(pattern)) == {("2", "1"): 1}
