"""Trees, their numbers, branch vectors; and what PaPaRa 2.5 makes of the example."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from oracles import placement as oracle
from placement.cases import reference, vector_of

import tropalign as ta
from tropalign.errors import InputError, TropalignWarning
from tropalign.formats.placed.rows import Insertions, fixed_rows
from tropalign.placement.tree import compatible_transitions, exact_transitions, parse_tree
from tropalign.sequences.aligned_files import read_alignment

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "16s"
HERE = Path(__file__).parent
#: What PaPaRa 2.5 computed: its branch vectors (a byte per cell) and the read rows of its alignment ("name row").
VECTORS = "c97aafe551b4dbe39b622b1fd004299be43572e98e8bbdcb615e07fdbecb23aa"
ROWS = "fd18e873f01dbfc76abf587d2a3433764228441a28866da805cef35c593a71ac"


@pytest.fixture(scope="module")
def example():
    return ta.ReferencePackage.read(EXAMPLE / "ref.phy.gz", EXAMPLE / "ref.nwk")


@pytest.mark.parametrize("gap_flags", ["compat", "exact"])
def test_vectors_are_those_of_papara(gap_flags):
    package = ta.ReferencePackage.read(EXAMPLE / "ref.phy.gz", EXAMPLE / "ref.nwk", gap_flags=gap_flags, n_threads=2)
    assert hashlib.sha256(package.vectors()[package.distinct].tobytes()).hexdigest() == VECTORS


@pytest.mark.parametrize("prune", [True, False])
def test_placements_are_those_of_papara(example, prune):
    """All 400 best branches and scores, and every aligned row."""
    (placed,) = ta.place(example, EXAMPLE / "reads.fasta", prune=prune)
    lines = [line.split("\t") for line in (HERE / "papara25_best.tsv").read_text().splitlines()[1:]]
    assert list(placed.names) == [line[0] for line in lines] and len(placed) == 400
    assert placed.branch.tolist() == [int(line[1]) for line in lines]
    assert placed.score.tolist() == [int(line[2]) for line in lines]
    insertions = Insertions(example.letters.shape[1])
    insertions.add(placed)
    rows = "".join(f"{name} {insertions.place(*placed.read(k)).decode()}\n" for k, name in enumerate(placed.names))
    assert hashlib.sha256(rows.encode()).hexdigest() == ROWS


@pytest.mark.parametrize("kind", ["nucleotide", "protein"])
@pytest.mark.parametrize("gap_flags", ["exact", "discrete"])
def test_vectors_are_those_of_the_whole_tree(kind, gap_flags):
    for seed in range(8):
        package = reference(seed, n_tips=3 + seed, n_columns=40, kind=kind, gap_flags=gap_flags)
        sets = package.states.sets[package.letters[:, package.columns]]
        tips = {name: row.tolist() for name, row in zip(package.names, sets, strict=True)}
        share = float((package.letters[:, package.columns] == ord("-")).mean())
        wanted = oracle.branch_vectors(package.tree, tips, share, package.states.all_states, gap_flags == "discrete")
        assert [vector_of(package, k) for k in range(package.n_branches)] == wanted
        assert package.n_branches == 2 * len(package.names) - 3


def test_threads_change_no_vector():
    one, two = (
        ta.ReferencePackage.read(EXAMPLE / "ref.phy.gz", EXAMPLE / "ref.nwk", n_threads=n).fingerprint() for n in (1, 2)
    )
    assert one == two


def test_transitions_agree():
    lengths = np.array([0.0, 1e-9, 0.01, 0.3, 2.0, 100.0])
    for share in (0.02, 0.3, 0.6082601536772777, 0.99):
        exact, compatible = exact_transitions(share, lengths), compatible_transitions(share, lengths)
        np.testing.assert_allclose(compatible, exact, atol=3e-15)
        np.testing.assert_allclose(exact.reshape(-1, 2, 2).sum(axis=2), 1)
        np.testing.assert_allclose(exact[0], [1, 0, 0, 1])


def test_branch_numbers():
    """Of two children of the root: the second's preorder, its first branch both; then what is below the first."""
    tree = parse_tree("(((a:1,b:2)x:3,c:4):5,(d:6,e:7):8);")
    assert tree.clades() == ["a|e", "d", "e", "a|b", "a", "b", "c"]
    assert tree.branch_lengths().tolist() == [13, 6, 7, 3, 1, 2, 4]
    assert tree.newick() == "((a:1{4},b:2{5}):3{3},c:4{6},(d:6{1},e:7{2}):13{0});"
    assert tree.jplace() == "(((a:1{4},b:2{5})x:3{3},c:4{6}):5{7},(d:6{1},e:7{2}):8{0});"
    tree = parse_tree("((a:1,b:2):3,c:4,(d:6,e:7):8);")
    assert tree.clades() == ["d|e", "d", "e", "a|b", "a", "b", "c"]
    assert tree.jplace() == tree.newick()
    tree = parse_tree("(a:5,(b:2,c:3)97.0:4)'the root';")
    assert tree.newick() == "(b:2{1},c:3{2},a:9{0});" and tree.clades() == ["a", "b", "c"]
    assert tree.jplace() == "(a:5{0},(b:2{1},c:3{2})97.0:4{3})'the root';"  # the middle lies above a


def test_trees_as_they_come():
    """Comments, quotes, exponents, labels of inner nodes and of the root."""
    text = "(('a b':1E+00,b_c[a comment]:0.1)90:0.2,d:3e-2,(e,'f:g':1)x:1)root;\n"
    with pytest.warns(TropalignWarning, match="1 branches without a length: taken as 1"):
        tree = parse_tree(text)
    assert [tree.names[tip] for tip in tree.tips] == ["a b", "b_c", "d", "e", "f:g"]
    assert "'a b':1{" in tree.newick() and "'f:g':1{" in tree.newick()
    json.dumps(tree.newick())


def test_polytomies_are_resolved():
    with pytest.warns(
        TropalignWarning, match="2 nodes with more than two children: resolved with branches of length 0"
    ):
        tree = parse_tree("(a:1,b:1,c:1,(d:1,e:1,f:1,g:1):1);")
    assert len(tree.branches()) == 2 * 7 - 3
    assert all(len(children) in (0, 2) for children in tree.children[1:])
    with pytest.warns(TropalignWarning, match="1 nodes with a single child: removed"):
        assert parse_tree("(a:1,b:1,((c:1):2,d:1):1);").branch_lengths().max() == 3
    with pytest.warns(TropalignWarning, match="1 branches of negative length: taken as 0"):
        assert parse_tree("(a:1,b:-1,c:1);").branch_lengths().min() == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("((a,b),c", "the tree, line 1, column 1: this bracket is not closed: the file may be truncated$"),
        ("(a:1,b:1);", "the tree has 2 tips: at least three are required"),
        ("nonsense", "the tree has 1 tip: at least three are required"),
        ("(a:1,a:1,c:1);", "two tips have the name 'a': give each its own name"),
        ("(a:1,:1,c:1);", "a tip has no name"),
        (
            "(a:1,b:1e400,c:1);",
            ("the tree, line 1, column 8: the length '1e400' is not a number in the range of a double"),
        ),
        ("((a:1e308,b:1):1e308,(c:1,d:1):1);", "branch length 1e.308 is out of range: give lengths of at most 1e.300$"),
        ("(((a:1e308):1,b:1):1,c:1,d:1);", "branch length 1e.308 is out of range: give lengths of at most 1e.300$"),
        ("", "the tree: the file contains no tree: give another file$"),
        ("('a:1,b:1,c:1);", "line 1, column 2: this quote is not closed"),
        ("('a':1,'b:1,'c':1);", 'line 1, column 14: unexpected "c\'" after the label'),
        ("(a[x:1,b:1,c:1);", "line 1, column 3: this comment is not closed"),
        ("(a]:1,b:1,c:1);", "line 1, column 3: this bracket closes a comment that was not opened"),
        (
            "#NEXUS begin trees; tree x = (a:1,b:1,(c d:1,e:1):1); end;",
            "line 1, column 42: unexpected 'd' after the label",
        ),
    ],
)
def test_no_trees(text, words):
    with pytest.raises(InputError, match=words):
        parse_tree(text)


def rows_of(*texts):
    return np.array([list(text.encode()) for text in texts], np.uint8)


def test_names_that_differ():
    tree = "(a:1,b:1,c:1);"
    with pytest.raises(InputError) as error:
        ta.ReferencePackage.build(("a", "b", "x"), rows_of("ACGT", "ACGT", "ACGT"), tree)
    assert str(error.value) == (
        "the alignment: tree and alignment have different names: 1 only in the tree (c); 1 only in the alignment (x); "
        "they match neither literally nor with quotes removed and blanks replaced by underscores"
    )
    quoted = "('a b':1,b_c:1,c:1);"
    package = ta.ReferencePackage.build(("a_b", "b c", "c"), rows_of("ACGT", "ACGA", "AC-T"), quoted)
    assert package.n_branches == 3


def test_columns_of_gaps_stay_in_the_output():
    letters = rows_of("A-CGT", "A-CGA", "A-C-T", "A-CTT")
    package = ta.ReferencePackage.build(("a", "b", "c", "d"), letters, "((a:1,b:1):1,c:1,d:1);")
    assert package.columns.tolist() == [0, 2, 3, 4]
    (placed,) = ta.place(package, [("r", "ACGT")])
    assert list(fixed_rows(placed, 5)) == [("r", b"A-CGT")]


def test_letters_outside_the_alphabet():
    with pytest.warns(
        TropalignWarning, match=r"row 'b': 1 letters outside the nucleotide alphabet, the first '!' in column 2"
    ):
        ta.ReferencePackage.build(("a", "b", "c"), rows_of("ACGTACGTAC", "A!GTACGTAC", "ACGTACGTAC"), "(a:1,b:1,c:1);")
    with pytest.raises(InputError, match="no column of the alignment holds a residue"):
        ta.ReferencePackage.build(("a", "b", "c"), rows_of("--", "--", "NN"), "(a:1,b:1,c:1);", alphabet=ta.NUCLEOTIDE)


def test_what_hangs_over_stands_beyond_the_ends():
    """As PaPaRa has it: before the first column, to the right; after the last, to the left."""
    row = "--ACGTTGCA--"
    letters = rows_of(*[row] * 5, "GGACGTTGCAGG")
    package = ta.ReferencePackage.build(tuple("abcdef"), letters, "(((a:1,b:1):1,(c:1,d:1):1):1,e:1,f:3);")
    (placed,) = ta.place(package, [("long", "TTTACGTTGCACC"), ("left", "CACGTTGCA"), ("none", "ACGTTGCA")])
    insertions = Insertions(12)
    insertions.add(placed)
    made = [insertions.place(*placed.read(k)).decode() for k in range(3)]
    assert made == ["TTT--ACGTTGCA--CC", "--C--ACGTTGCA----", "-----ACGTTGCA----"]
    assert insertions.widen(letters[0]).decode() == "-----ACGTTGCA----"


def test_a_package_is_kept(example, tmp_path):
    path = tmp_path / "ref.npz"
    example.save(path)
    again = ta.ReferencePackage.load(path)
    assert again.fingerprint() == example.fingerprint()
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"ref.npz: this is not a saved reference, or it is damaged"):
        ta.ReferencePackage.load(path)
    with pytest.raises(InputError, match="there is no such file"):
        ta.ReferencePackage.load(tmp_path / "none.npz")


@pytest.mark.parametrize("kind", ["fasta", "phylip", "blocks", "stockholm"])
def test_alignments_from_files(tmp_path, kind):
    texts = {
        "fasta": ">a one\nACGT\nAC\n>b\nAC-TAC\n",
        "phylip": " 2 6\na  ACGTAC\nb  AC-TAC\n",
        "blocks": " 2 6\na  ACG\nb  AC-\n\nTAC\nTAC\n",
        "stockholm": "# STOCKHOLM 1.0\na ACGTAC\nb AC-TAC\n//\n",
    }
    path = tmp_path / "x"
    path.write_bytes(texts[kind].replace("\n", "\r\n").encode())
    names, letters = read_alignment(path)
    assert names == ("a", "b") and [bytes(row) for row in letters] == [b"ACGTAC", b"AC-TAC"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (">a\nACGT\n>b\nAC\n", "record 'b': 2 characters, but 4 expected"),
        ("2 3\na ACG\n", "the first line states 2 rows, but there are 1"),
        (
            "# STOCKHOLM 1.0\nhello\n",
            "line 2, record 'hello': a Stockholm line must contain a name and residues: correct the line",
        ),
        ("hello\n", "line 1: this is not an alignment: FASTA begins with '>', PHYLIP with two numbers"),
        (">a\nAC\n>a\nAC\n", "line 3, record 'a': two rows have the same name"),
        ("0 10\na ACGT\n", "line 1: the numbers of rows and columns in the first line of PHYLIP are 0 or too large"),
        ("2 0\na ACGT\n", "line 1: the numbers of rows and columns in the first line of PHYLIP are 0 or too large"),
        (
            "9" * 5000 + " 3\na ACG\n",
            "line 1: the numbers of rows and columns in the first line of PHYLIP are 0 or too large",
        ),
        (
            '# STOCKHOLM 1.0\na ACGT-A"\nb AC--TA\n#=GR a SS HHH..H\n//\n',
            "line 3, record 'b': 6 characters, but 7 expected: all rows of an alignment must have the same length",
        ),
        (  # some versions of Biopython refuse it, others find nothing in it
            "# STOCKHOLM 1.0\n#=GS a AC x\n#=GR a SS ....\n//\n",
            "x: (this is not a valid Stockholm alignment \\(.*\\)|the file contains no alignment: fetch it again)$",
        ),
    ],
)
def test_no_alignments(tmp_path, text, words):
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_alignment(path)
