"""Newick text as nodes: names are never changed, and anything that is not Newick is an error with its position."""

import io

import pytest
from Bio.Phylo.NewickIO import Parser

from tropalign.errors import InputError
from tropalign.results import newick
from tropalign.results.rooting import parted, rooted_at_outgroup
from tropalign.trees import parse_tree

PLAIN = [
    "(A,B);",
    "((A:1,B:0.25)97:1e-5,C:3E+2,(D,(E)x:1)0.5)root;",
    "(A:1,(B,C)1e3,(D,E)x_1);",
    "((,),A:0.5);",
    "((12,13)14,15);",
    "A;",
    "(A,B)",
    "(A :1,B);",
    "(A,\nB);",
    "(A,,:-1);",
    "('A b':1,(B,C)'it''s':2);",
]
#: Text, and names and lengths of its tips.
TIPS = {
    # numbers of printf, NumPy and R
    "(A:1.e-5,B:.5,C:1.,D:0.,E:-.5);": [("A", 1e-5), ("B", 0.5), ("C", 1), ("D", 0), ("E", -0.5)],
    "(A:1E+3,B:+1,C:5e-324,D:-0.0,E:007);": [("A", 1e3), ("B", 1), ("C", 5e-324), ("D", 0), ("E", 7)],
    "(A:1e+00,B:2.5E-1,C:9007199254740993,D:1e-400);": [("A", 1), ("B", 0.25), ("C", 9007199254740992), ("D", 0)],
    # quotes
    "(\"Homo sapiens\":1,'Pan ''t''':2,\"a \"\"b\"\"\":3,'x\\'y':4);": [
        ("Homo sapiens", 1),
        ("Pan 't'", 2),
        ('a "b"', 3),
        ("x'y", 4),
    ],
    "('a(b),c:d;[e]':1,B:2);": [("a(b),c:d;[e]", 1), ("B", 2)],
    "('ends\\':1,B:2);": [("ends\\", 1), ("B", 2)],
    "('':1,\"\":2);": [("", 1), ("", 2)],
    "(it's:1,5'end:2,a\"b:3);": [("it's", 1), ("5'end", 2), ('a"b', 3)],
    # letters that are part of names
    "(a_b:1,sp|P1/2-3:2,x=y.z+w:3,é:4,-1:5);": [("a_b", 1), ("sp|P1/2-3", 2), ("x=y.z+w", 3), ("é", 4), ("-1", 5)],
    # numbers of branches, and comments
    "(A:1{0},B:.5{12}):0{13};": [("A", 1), ("B", 0.5)],
    "('A b'{0},(B:1 {1},C:2{2}){3}) {4};": [("A b", None), ("B", 1), ("C", 2)],
    "(a{1},b{2}:1);": [("a{1}", None), ("b{2}", 1)],
    "[&R] (A[&x={1,[2]},y='(']:[c]1[&rate=2],[d]B:2)[&&NHX:S=x:B=9][e];[f]": [("A", 1), ("B", 2)],
    "\ufeff\n ( A : 1 ,\r\n\t'B' : 2 ) ; \n": [("A", 1), ("B", 2)],
    "(A,B);;\n": [("A", None), ("B", None)],
    # tips with digits for names
    "(1:1,2:2,(3:1,4:1)5:1);": [("1", 1), ("2", 2), ("3", 1), ("4", 1)],
    "(1,2,(3,4)97,10);": [("1", None), ("2", None), ("3", None), ("4", None), ("10", None)],
    "(A:1,'234',B:1);": [("A", 1), ("234", None), ("B", 1)],
    "(A:1,b2,B:1);": [("A", 1), ("b2", None), ("B", 1)],
}
#: Text, line and column, and what is said.
WRONG = [
    ("(Homo sapiens:.1,B:1);", 1, 7, "unexpected 'sapiens' after the label 'Homo': put a name with blanks into quotes"),
    ("(A\nB:1,C);", 2, 1, "unexpected 'B' after the label 'A'"),
    ("(A[x]B,C);", 1, 6, "unexpected 'B' after the label 'A'"),
    ("('a'b,c);", 1, 5, "unexpected 'b' after the label"),
    ("('a''b,c);", 1, 2, "this quote is not closed: close it with '"),
    ('("a,b);', 1, 2, 'this quote is not closed: close it with "'),
    ("(A:abc,B:1);", 1, 4, "the length 'abc' is not a number: write one such as 0.15 or 1e-5"),
    ("(A:1.5D-3,B:1);", 1, 4, "the length '1.5D-3' is not a number"),
    ("(A:nan,B:1);", 1, 4, "the length 'nan' is not a number"),
    ("(A:-inf,B:1);", 1, 4, "the length '-inf' is not a number"),
    ("(A:1_0,B:1);", 1, 4, "the length '1_0' is not a number"),
    ("(A:٣,B:1);", 1, 4, "the length '٣' is not a number"),
    ("(A:1.2.3,B:1);", 1, 4, "the length '1.2.3' is not a number"),
    ("(A:0x1p-3,B:1);", 1, 4, "the length '0x1p-3' is not a number"),
    ("(A:e5,B:1);", 1, 4, "the length 'e5' is not a number"),
    ("(A:.,B:1);", 1, 4, "the length '.' is not a number"),
    ("(A:1e,B:1);", 1, 4, "the length '1e' is not a number"),
    ("(A:1e999,B:1);", 1, 4, "the length '1e999' is not a number in the range of a double"),
    ("(A:,B:1);", 1, 3, "there is no length after this colon"),
    ("(A:'1',B:1);", 1, 3, "there is no length after this colon"),
    ("(A:1:2,B:1);", 1, 5, "this node has a second length"),
    ("(A:1 2,B:1);", 1, 6, "unexpected '2' after a length: a comma may be missing"),
    ("(A:1B:1);", 1, 4, "the length '1B' is not a number"),
    ("(A:1,234,B:1);", 1, 5, "the comma before '234' may be a decimal comma: write decimals with a point"),
    ("(A:0,5,B:0,7);", 1, 5, "the comma before '5' may be a decimal comma"),
    ("(A:1,\n B:0,5e-3);", 2, 5, "the comma before '5e-3' may be a decimal comma"),
    ("((A:1,B:2):0,5,C:1);", 1, 13, "the comma before '5' may be a decimal comma"),
    ("((A:1,B:1)97,3:0.5,C:1);", 1, 13, "the comma before '3' may be a decimal comma"),
    ("((A,B)", 1, 1, "this bracket is not closed: the file may be truncated"),
    ("((A,B);", 1, 1, "this bracket is not closed"),
    ("(\n(A,B\n", 2, 1, "this bracket is not closed"),
    ("(A,B));", 1, 6, "this closing bracket has no opening bracket"),
    ("A,B;", 1, 2, "this comma is outside the brackets of the tree"),
    ("A(B,C);", 1, 2, "this opening bracket follows a label"),
    ("(A:1(B,C),D);", 1, 5, "this opening bracket follows a label, a length"),
    ("((A,B)(C,D));", 1, 7, "this opening bracket follows a label, a length or a closing bracket"),
    ("(A[x,B);", 1, 3, "this comment is not closed: close it with ]"),
    ("(A[x[y],B);", 1, 3, "this comment is not closed"),
    ("('A\nB':1,C:2);", 1, 2, "this quote is not closed on its line: close it with '"),
    ("('[\n]':1,C:2);", 1, 2, "this quote is not closed on its line: close it with '"),
    ("(A,\n'B\r''x':1);", 2, 1, "this quote is not closed on its line: close it with '"),
    ('(A,"B\nx":1);', 1, 4, 'this quote is not closed on its line: close it with "'),
    ("(A:1;B:2);", 1, 5, "this semicolon is within the brackets of the tree: a comma may be intended"),
    ("((A,B);C,D);", 1, 7, "this semicolon is within the brackets of the tree"),
    ("A:1;B:2", 1, 5, "unexpected 'B' after the end of the tree: put brackets around the tree, and commas in it"),
    ("(A]x,B);", 1, 3, "this bracket closes a comment that was not opened"),
    ("(A,B); x", 1, 8, "unexpected 'x' after the end of the tree"),
    ("<html>\r\n<p>", 2, 1, "unexpected '<p>' after the label '<html>'"),
]
COUNTS = [
    ("", "no tree: give another file"),
    (" ;\n", "no tree: give another file"),
    ("[only a comment]", "no tree: give another file"),
    ("(A,B);(C,D);", "2 trees, but exactly one is required: write it to a file of its own"),
    ("(A,B);\n(';',[;]D);\n(E,F)", "3 trees, but exactly one is required: write it to a file of its own"),
]


def tips(nodes):
    rows = zip(nodes.names, nodes.lengths, nodes.children(), strict=True)
    return [(name, length) for name, length, below in rows if not below]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_trees_are_biopythons(text):
    """Parent, name, length and support of each clade."""
    (tree,) = Parser(io.StringIO(text)).parse()
    found, stack = [], [(-1, tree.root)]
    while stack:
        parent, clade = stack.pop()
        stack.extend((len(found), child) for child in reversed(clade.clades))
        found.append((parent, clade.name or "", clade.branch_length, repr(clade.confidence)))
    nodes = newick.parse_newick(text, "a file")
    assert list(zip(nodes.parents, nodes.names, nodes.lengths, map(repr, nodes.support), strict=True)) == found


@pytest.mark.parametrize("text", TIPS)
def test_names_and_lengths(text):
    assert tips(newick.parse_newick(text, "a file")) == TIPS[text]


@pytest.mark.parametrize(("text", "line", "column", "said"), WRONG)
def test_anything_else_is_an_error_with_its_position(text, line, column, said):
    with pytest.raises(InputError) as error:
        newick.parse_newick(text, "a file")
    assert str(error.value).startswith(f"a file, line {line}, column {column}: {said}")


@pytest.mark.parametrize(("text", "said"), COUNTS)
def test_a_file_holds_one_tree(text, said):
    with pytest.raises(InputError) as error:
        newick.parse_newick(text, "a file")
    assert str(error.value) == f"a file: the file contains {said}"


def test_quoted_labels_and_numbers_of_branches():
    text = "(('a b':1{3},'97':2{4})'97':0.5{1},'it''s':3{2})'x';"
    nodes = newick.parse_newick(text, "a file", has_numbers=True)
    assert nodes.names == ["x", "97", "a b", "97", "it's"] and nodes.support == [None] * 5
    assert nodes.numbers == [None, 1, 3, 4, 2] and nodes.lengths == [None, 0.5, 1.0, 2.0, 3.0]
    nodes = newick.parse_newick("((a{0},b{1})x{2},c{3});", "a file", has_numbers=True)
    assert nodes.names == ["", "x", "a", "b", "c"] and nodes.numbers == [None, 2, 0, 1, 3]


@pytest.mark.parametrize(
    ("label", "support"),
    [
        ("97.3", 97.3), ("1.00", 1.0), ("1e-3", 0.001), (".5", 0.5), ("'97'", None), ("95/100", None), ("nan", None),
        ("5_0", None), ("Infinity", None), ("NA", None), ("1e999", None), ("[&support=97]", 97),
        ('[&label="9.5"]', 9.5), ("[&&NHX:B=97]", 97), ("[&&NHX:S=a b:B=97.5:D=Y]", 97.5),
        ("[&&NHX:S=x:AB=9]", None), ("[&&NHX:B=x]", None), ("'97'[98]", None), ("97:1[97.0]", 97),
        ("97:1[98]", None),
        ("[&x=1,posterior=9.5e-01]", 0.95), (":1[100]", 100), ("[x]", None), ("x[&support=97]", 97), ("x:1[90]", 90),
        (":1[0.9/90]", None),
    ],
)  # fmt: skip
def test_support_of_inner_nodes(label, support):
    nodes = newick.parse_newick(f"((A,B){label},C);", "a file")
    assert nodes.support == [None, support, None, None, None]


@pytest.mark.parametrize(
    ("label", "written"),
    [
        ("x:1[90]", "x/90"), ("x[&support=97.50]:1", "x/97.5"), (":1[0.9/90]", "0.9/90"), ("97:1[98]", "97/98"),
        ("[&label=95/100]:1", "95/100"), ("97:1[97]", "97"), ("95/100:1[95/100]", "95/100"), ("nan:1", "nan"),
        ("'x y'[&&NHX:B=9]:1", "'x y/9'"), (":1[nan]", "nan"),
    ],
)  # fmt: skip
def test_support_beside_a_label_is_kept_and_goes_with_its_branch(label, written):
    tree = parse_tree(f"((A:1,B:1){label.replace(':1', '')}:1{label.partition(':1')[2]},C:1,D:1);")
    assert tree.newick(0) == f"((A:1,B:1){written}:1,C:1,D:1);"
    for given in (tree, parse_tree(tree.newick())):
        name, support = parted(written.strip("'"))
        rooted = rooted_at_outgroup(given, "A").newick(1)
        assert rooted == f"(A:0.5,(B:1.0,(C:1.0,D:1.0){support}:1.0){newick.quoted(name)}:0.5);"


def test_numbers_in_comments_are_no_support_if_tips_have_them():
    """As the edges of old jplace files."""
    assert newick.parse_newick("((A:1[0],B:1[1]):1[2],C:1[3]);", "a file").support == [None] * 5


def test_deep_trees_are_read_and_written():
    n = 20_000
    text = "(" * n + "a:1" + "".join(f",b{k}:1):2" for k in range(n)).removesuffix(":2") + ";"
    nodes = newick.parse_newick(text, "a file")
    texts = [
        name + ("" if length is None else f":{length:.0f}")
        for name, length in zip(nodes.names, nodes.lengths, strict=True)
    ]
    assert newick.newick_text(nodes.children(), texts, 0) == text
    assert parse_tree(text).n_taxa == n + 1


@pytest.mark.parametrize(
    "labels",
    [
        ("97.3", "0", "0.5"), ("0.934", "1", "0.07"), ("1.000", "0.934", "0.10"), ("100.0", "97.25", "5.0"),
        ("97.3/100", "0/5", "NA"), ("1e-05", "1E-3", "+5"), ("87.6", "", "100"), ("12.3456789", "007", "x/90"),
    ],
)  # fmt: skip
def test_support_is_written_as_it_was_read(labels, tmp_path):
    text = "((a:1.0,b:1.0){}:1.0,((c:1.0,d:1.0){}:1.0,e:1.0){}:1.0,f:1.0);".format(*labels)
    assert parse_tree(text).newick() == text
    parse_tree(text).write(tmp_path / "x.nex")
    again = parse_tree((tmp_path / "x.nex").read_text())
    assert again == parse_tree(text) and again.newick() == text


def test_a_root_that_joins_nothing_is_left_out():
    assert parse_tree("(((A:1,B:2)x:1):1)y;").newick() == "(A:1.0,B:2.0)x;"


def test_every_taxon_has_a_name():
    with pytest.raises(InputError, match=r"^a file: a taxon has no name: give each its own name$"):
        parse_tree("(A:1,B:1,:1);", "a file")


def test_taxa_may_be_numbers():
    tree = parse_tree("((1:0.1,2:0.2)99,3:0.3,4:0.4);")
    assert tree.names == ("1", "2", "3", "4") and 99 in tree.support
