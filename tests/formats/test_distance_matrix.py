"""Matrices of distances: what is written is read again, and faults are said with their line."""

import io
import random
import struct
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tropalign import InputError, ResourceError, _native, align_all
from tropalign.errors import UsageError
from tropalign.formats.distance_matrix import (
    distance_format,
    is_distance_matrix,
    parse_distance_matrix,
    read_distance_matrix,
    write_distance_matrix,
)

NAMES = ("a", "b", "c", "d")
VALUES = [0.5, 1.25, 2, 0.125, 3, 4]


def parsed(text):
    return parse_distance_matrix(text.encode().split(b"\n"), "x.phy")


def test_numbers_are_those_of_python():
    rng = random.Random(51)
    words = [repr(struct.unpack("d", rng.randbytes(8))[0]) for _ in range(1000)]
    words += [f"{rng.uniform(-30, 30):.{rng.randrange(20)}f}" for _ in range(3000)]
    words += [str(rng.randrange(10 ** rng.randrange(1, 20))) for _ in range(500)]
    words = ["-0", "0.", ".5", "-.25", "00012", *(word for word in words if abs(float(word)) > 2.3e-308)]
    blanks = [rng.choice([" ", "\t", "  ", "\r", "\v", "\f"]) for _ in words]
    text = "".join(chain.from_iterable(zip(blanks, words, strict=True)))
    expected = np.array(list(map(float, text.split())))
    assert _native.numbers(text.encode()).tobytes() == expected.tobytes()
    assert _native.numbers(b" \t").shape == (0,)
    # Words that float accepts, or that are no numbers, are left to Python.
    for word in ("nan", "inf", "1e999", "+1", "1_0", "1e", "-", ".", "0x1", "1,5", "1.5.2", "--1", "1\0", "\x1c"):
        assert _native.numbers(f"1 {word} 2".encode()) is None, word


@given(st.integers(2, 12), st.integers(0, 1000), st.sampled_from(["phylip", "tsv"]), st.booleans())
@settings(max_examples=30)
def test_what_is_written_is_read_again(n, seed, form, has_comments):
    condensed = np.random.default_rng(seed).random(n * (n - 1) // 2).round(8)
    names = tuple(f"taxon_{k}" for k in range(n))
    out = io.BytesIO()
    write_distance_matrix(names, condensed, out, form, has_comments)
    lines = out.getvalue().split(b"\n")
    assert is_distance_matrix(lines[0])
    found_names, found = parse_distance_matrix(lines, "x")
    assert found_names == names
    assert found.tolist() == condensed.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "4\na 0 .5 1.25 2\nb .5 0 .125 3\nc 1.25 .125 0 4\nd 2 3 4 0\n",
        " 4 \n\na 0 .5\n 1.25 2\nb .5 0 .125\n3\nc 1.25 .125 0 4\n\nd\t2 3\t4 0\n",
        "4\na\nb .5\nc 1.25 .125\nd 2\n3 4\n",
        "4\na .5 1.25 2\nb .125 3\nc 4\nd\n",
        "\ta\tb\tc\td\na\t0\t.5\t1.25\t2\nb\t.5\t0\t.125\t3\nc\t1.25\t.125\t0\t4\nd\t2\t3\t4\t0\n",
    ],
    ids=["square", "wrapped", "lower", "upper", "tsv"],
)
def test_layouts(text):
    names, found = parsed(text)
    assert (names, found.tolist()) == (NAMES, VALUES)


def test_identities_comments_and_suffixes():
    text = "# tropalign 1.0\n# values: identity\n\ta\tb\na\t1\t0.75\nb\t0.75\t1\n"
    names, found = parsed(text)
    assert (names, found.tolist()) == (("a", "b"), [0.25])
    names = ["x.phy", "x.dist.gz", "x.tsv", "x", "-"]
    assert [distance_format(name) for name in names] == ["phylip", "phylip", "tsv", "phylip", "phylip"]
    with pytest.raises(UsageError, match=r"x.pdf: distances are written as .phy, .phylip, .dist, .tsv, .txt"):
        distance_format("x.pdf")


@pytest.mark.parametrize("layout", ["tsv", "phylip"])
def test_what_pairs_writes_is_read(layout, tmp_path):
    from tropalign.cli.main import main

    path, out = tmp_path / "x.fa", tmp_path / ("m.tsv" if layout == "tsv" else "m.phy")
    path.write_text(">a one\nMKVLAW\n>b\nMKILAW\n>c\nKVLAW\n")
    arguments = ["--matrix-values", "distance", "--matrix-layout", layout, "-q", "-o", str(out)]
    assert main(["pairs", str(path), "-f", "matrix", *arguments]) == 0
    names, found = read_distance_matrix(out)
    assert names == ("a", "b", "c")
    (table,) = align_all(path, mode="global")
    np.testing.assert_allclose(found, 1 - table.identity, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1\na 0\n", "x.phy, line 1: the first line must state the number of taxa, 2 to 1048576: correct it"),
        ("3\na 0 1 2\nb 1 0 3\n", "x.phy: the first line states 3 taxa, but there are 2"),
        ("2\na 0 1\nb 1 0\nc 1 1\n", "x.phy, line 4: the first line states 2 taxa, but the matrix has more rows"),
        ("9" * 5000 + "\n", "x.phy, line 1: the first line must state the number of taxa, 2 to 1048576: correct it"),
        ("2\na 0 1_0\nb 1_0 0\n", "x.phy, line 2: '1_0' is not a number: a row must be a name without blanks"),
        (
            "2\na 0 1\nb one 0\n",
            ("x.phy, line 3: 'one' is not a number: a row must be a name without blanks, then numbers"),
        ),
        ("2\na 0 1\nb 1\n", "x.phy, line 3, record 'b': the row has 1 distances, but 2 are expected"),
        ("2\na 0 1\nb 1 0 7\n", "x.phy, line 3, record 'b': the row has 3 distances, but 2 are expected"),
        ("2\na 0 1\nb 2 0\n", "x.phy, line 3, record 'b': the distance to 'a' is 2 here and 1 there: give a symmetric"),
        (
            "2\na 0 1\nb nan 0\n",
            "x.phy, line 3, record 'b': the distance to 'a' is nan, not a finite number: correct it",
        ),
        ("2\na 0 inf\nb inf 0\n", "x.phy, line 3, record 'b': the distance to 'a' is inf, not a finite number"),
        ("2\na 0 1e999\nb 1e999 0\n", "x.phy, line 3, record 'b': the distance to 'a' is inf, not a finite number"),
        ("2\na 0 nan\nb 1 0\n", "x.phy, line 3, record 'b': the distance to 'a' is nan, not a finite number"),
        ("2\na 0.5 1\nb 1 0\n", "x.phy, line 2, record 'a': its distance to itself is 0.5: write 0"),
        ("# values: score\n\ta\tb\n", "x.phy: the matrix contains values of kind score: give distances or identities"),
        (
            "# a comment\n",
            "x.phy: the first row must be an empty cell followed by one name per column: write the matrix with "
            "tropalign pairs -f matrix",
        ),
        ("\ta\na\t0\n", "x.phy: the matrix has fewer than two columns: a tree requires at least two taxa"),
        (
            "\ta\tb\nb\t0\t1\n",
            ("x.phy, line 2: the row is 'b', but 'a' is expected: rows must be in the order of the columns"),
        ),
        ("\ta\tb\na\t0\t1\nb\t1\t0\nc\t1\t0\n", "x.phy, line 4: the row is 'c', but no further row is expected"),
        ("\ta\tb\na\t0\t1\n", "x.phy: the matrix has 2 columns, but only 1 rows: give a square matrix"),
        ("\ta\tb\na\t0\n", "x.phy, line 2, record 'a': the row has 1 distances, but 2 are expected"),
        ("\n\n", "x.phy: the file is empty"),
    ],
)
def test_faults_are_said(text, words):
    with pytest.raises(InputError) as caught:
        parsed(text)
    assert str(caught.value).startswith(words)


def test_too_many_for_the_memory():
    with pytest.raises(
        ResourceError, match=r"x: distances of 100000 taxa need 38,147 MiB of memory, but 10 MiB are allow"
    ):
        parse_distance_matrix([b"100000"], "x", 10 << 20)


#: Distances of five taxa.
FIVE = {(0, 1): 1.5, (0, 2): 2.0, (1, 2): 2.5, (0, 3): 3.0, (1, 3): 3.5, (2, 3): 0.5, (0, 4): 4, (1, 4): 4.5, (2, 4): 5}
FIVE |= {(3, 4): 0.25}


def row_of(k, layout):
    """The distances of row k, by the layout's definition."""
    if layout == "square":
        columns = range(5)
    elif layout.startswith("lower"):
        columns = range(k + ("diagonal" in layout))
    else:
        columns = range(k + ("diagonal" not in layout), 5)
    return [0.0 if k == j else FIVE[min(k, j), max(k, j)] for j in columns]


@pytest.mark.parametrize("width", [0, 1, 2, 99])
@pytest.mark.parametrize("names", ["abcde", ["Homo sapie", "Pan trogl.", "x", "a b c d e", "9 lives"], "12345"])
@pytest.mark.parametrize("layout", ["square", "lower", "upper", "lower with diagonal", "upper with diagonal"])
def test_layouts_of_phylip(layout, names, width):
    """Names alone on a line (`width` 0), and rows of at most so many numbers a line."""
    if width < 99 and layout != "square" and (names == "12345" or layout.startswith("upper") or width):
        pytest.skip("no reader can tell numbers from names then")
    if width < 3 and names == "12345":
        pytest.skip("no reader can tell numbers from names then")
    lines = ["5"]
    for k, name in enumerate(names):
        words = [str(value) for value in row_of(k, layout)]
        first = width or 0
        lines.append(f"{name:<10}" + " ".join(words[:first]))
        step = width or 99
        lines += [" ".join(words[at : at + step]) for at in range(first, len(words), step)]
    found, distances = parsed("\n".join(lines) + "\n")
    assert found == tuple(names)
    assert distances.tolist() == [FIVE[i, j] for i in range(5) for j in range(i + 1, 5)]


@pytest.mark.parametrize(
    "text", ["3\na 0\nb 1 0\nc 2 3 0\n", "3\na\n0\nb\n1 0\nc\n2 3 0\n", "3\na\n0 1 2\nb\n1 0 3\nc\n2 3 0\n"]
)
def test_matrices_of_biopython_and_scikit_bio(text, tmp_path):
    """A lower triangle with its diagonal is what Biopython's DistanceMatrix writes and reads."""
    assert parsed(text)[1].tolist() == [1, 2, 3]


def test_what_biopython_writes_is_read():
    from Bio.Phylo.TreeConstruction import DistanceMatrix

    out = io.StringIO()
    DistanceMatrix(["alpha", "b", "gamma ray"], [[0], [1.5, 0], [2, 3, 0]]).format_phylip(out)
    assert parsed(out.getvalue())[1].tolist() == [1.5, 2, 3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3\na 0\nb 1 0\nc 2 3 1\n", "x.phy, line 4, record 'c': its distance to itself is 1: write 0"),
        ("3\na 0\nb 1 0\nc 2 0\n", "x.phy, line 4, record 'c': the row has 2 distances, but 3 are expected"),
        ("2\na 0 1\nb 1\n", "x.phy, line 3, record 'b': the row has 1 distances, but 2 are expected"),
        ("3\na 1 2\nb 3\nc 9\n", "x.phy, line 4, record 'c': the row has 1 distances, but 0 are expected"),
        ("2\na 5\nb 7\n", "x.phy, line 3, record 'b': the row has 1 distances, but 0 are expected"),
    ],
)
def test_faults_of_triangles(text, words):
    with pytest.raises(InputError) as caught:
        parsed(text)
    assert str(caught.value) == words
