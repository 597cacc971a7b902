"""``tropalign tree``: from files to Newick, and mistakes as one sentence."""

import gzip
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from tropalign import read_alignment, write_alignment
from tropalign.cli.main import main
from tropalign.trees import alignment_distances, neighbour_joining, parse_tree, with_support
from tropalign.trees.rooting import rooted_at_midpoint

DATA = Path(__file__).parent.parent / "data" / "trees"
PROTEINS = str(DATA / "proteins.fasta")


def written(capfd, *arguments):
    """What the command writes to standard output; it succeeds."""
    assert main(["tree", *map(str, arguments)]) == 0
    return capfd.readouterr().out


def said(capfd, *arguments):
    """Exit code, and the sentence."""
    code = main(["tree", *map(str, arguments)])
    return code, capfd.readouterr().err


def from_a_pipe(capfd, path, *arguments):
    """What the command writes that reads a file through a pipe, as the shell's <(...) gives it."""
    reads, writes = os.pipe()

    def send():
        with open(writes, "wb") as out:
            out.write(Path(path).read_bytes())

    sender = threading.Thread(target=send)
    sender.start()
    try:
        return written(capfd, f"/dev/fd/{reads}", *arguments)
    finally:
        sender.join()
        os.close(reads)


def test_the_tree_is_that_of_the_functions(capfd, tmp_path):
    rows = read_alignment(PROTEINS)
    distances = alignment_distances(rows, "identity")
    tree = neighbour_joining(distances, rows.names)
    assert written(capfd, PROTEINS, "--distances", "identity") == tree.newick(8) + "\n"
    sure = with_support(tree, rows, 20, model="identity", seed=3)
    arguments = ("--distances", "identity", "--bootstrap", 20, "--seed", 3, "-t", 2)
    assert written(capfd, PROTEINS, *arguments) == sure.newick(8) + "\n"
    out = tmp_path / "tree.nwk.gz"
    assert written(capfd, PROTEINS, "--distances", "identity", "-o", out) == ""
    assert gzip.decompress(out.read_bytes()).decode() == tree.newick(8) + "\n"


def test_a_tree_for_clustalw(capfd, tmp_path):
    written(capfd, PROTEINS, "-q", "-o", tmp_path / "tree.dnd")
    text = (tmp_path / "tree.dnd").read_text()
    tree = parse_tree(written(capfd, PROTEINS, "-q"))
    starts = {line.split(":")[0] for line in text.splitlines()}
    assert text.startswith("(\n") and set(tree.names) <= starts
    np.testing.assert_array_equal(parse_tree(text).lengths.astype(np.float32), tree.lengths.astype(np.float32))


def test_standard_input_and_formats(command, capfd, tmp_path):
    tree = written(capfd, PROTEINS, "-q")
    with open(PROTEINS) as stdin:
        assert command("tree", "-", "-q", stdin=stdin).stdout == tree
    assert from_a_pipe(capfd, PROTEINS, "-q") == tree
    for suffix in (".aln", ".sto", ".phy", ".msf"):
        path = tmp_path / f"rows{suffix}"
        write_alignment(read_alignment(PROTEINS), path)
        assert written(capfd, path, "-q") == tree


def test_distances_out_give_the_tree_again(command, capfd, tmp_path):
    for name in ("d.phy", "d.tsv.gz"):
        path = tmp_path / name
        tree = parse_tree(written(capfd, PROTEINS, "-q", "--distances-out", path))
        again = parse_tree(written(capfd, path))
        assert again.children == tree.children
        assert again.lengths == pytest.approx(tree.lengths, abs=1e-7)
    with open(tmp_path / "d.phy") as stdin:
        assert command("tree", "-", stdin=stdin).stdout == written(capfd, tmp_path / "d.phy")
    assert from_a_pipe(capfd, tmp_path / "d.phy") == written(capfd, tmp_path / "d.phy")


def test_roots(capfd):
    tree = parse_tree(written(capfd, PROTEINS, "-q", "--outgroup", "H3B631_LATCH"))
    assert tree.children[-1][0] == tree.names.index("H3B631_LATCH")
    assert parse_tree(written(capfd, PROTEINS, "-q", "--midpoint")).is_rooted
    assert parse_tree(written(capfd, PROTEINS, "-q", "--method", "upgma", "--bootstrap", 5)).is_rooted


def test_unaligned_sequences(capfd, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nMKVLAWMKT\n>b\nMKILAWMKT\n>c\nMKVAWMKT\n>d\nMKILFWKT\n")
    tree = parse_tree(written(capfd, path, "--unaligned", "--distances", "identity", "-q"))
    assert sorted(tree.names) == list("abcd")


def test_negative_lengths_are_said(capfd):
    code, words = said(capfd, DATA / "proteins.phy")
    assert code == 0
    assert "1 branch has a negative length, the least -0.41811971: --negative zero makes them 0" in words
    assert "-0." not in written(capfd, DATA / "proteins.phy", "--negative", "zero")
    assert said(capfd, DATA / "proteins.phy", "--negative", "zero") == (0, "")


@pytest.mark.parametrize(
    ("text", "arguments", "code", "words"),
    [
        (">a\nMKV\n", (), 3, "x.fa: the alignment has one row: a tree has two taxa or more"),
        (
            ">a\nMKV\n>b\nMK\n",
            (),
            3,
            "x.fa, record 'b': 2 letters, but 3 are expected: rows of an alignment are equally long; for "
            "sequences that are not aligned, add --unaligned",
        ),
        (">a\nMKV\n>a\nMKV\n", (), 3, "record 'a': two rows have the same name"),
        (
            ">a\nMK--\n>b\n--VL\n",
            (),
            3,
            "'a' and 'b' have no column in which both hold a letter: leave one of them out, or align each pair by "
            "itself (--unaligned)",
        ),
        ("2\na 0 1\nb -1 0\n", (), 3, "line 3, record 'b': the distance to 'a' is -1 here and 1 there"),
        ("2\na 0 -1\nb -1 0\n", (), 3, "the distance of 'a' and 'b' is -1: distances are numbers from 0 to 1e+30"),
        ("2\na 0 nan\nb nan 0\n", (), 3, "the distance"),
        ("2\na 0 1\na 1 0\n", (), 3, "two taxa are called 'a': give each its own name"),
        ("2\na 0 1\nb 1 0\n", ("--bootstrap", 5), 2, "--bootstrap needs an alignment, and"),
        ("2\na 0 1\nb 1 0\n", ("--distances", "jc69"), 2, "--distances needs an alignment, and"),
        (
            ">a\nMKV\n>b\nMKL\n",
            ("--distances", "jc69"),
            2,
            "distances jc69 are for nucleotides, and these are proteins",
        ),
        (">a\nMKV\n>b\nMKL\n", ("--outgroup", "c"), 3, "the tree has no taxon 'c': name one that it has"),
        (">a\nMKV\n>b\nMKL\n", ("--memory", "10K"), 4, "allow more with --memory"),
        (">a\nMKV\n", ("--unaligned",), 3, "1 sequence: a tree has two taxa or more"),
        (">a\nMKV\n>b\nMKL\n", ("--seed", 5), 2, "--seed belongs to --bootstrap"),
        (">a\nMKV\n>b\nMKL\n", ("--unaligned", "--bootstrap", 5), 2, "--bootstrap needs an alignment"),
        (">a\nMKV\n>b\nMKL\n", ("--unaligned", "--gaps", "complete"), 2, "--gaps has no meaning with --unaligned"),
        (">a\nMKV\n>b\nMKL\n", ("--shard", "1/2", "-o", "x"), 2, "a tree without these takes a moment"),
        (">a\nMKV\n>b\nMKL\n", ("--device", "cpu"), 2, "--device belongs to --unaligned"),
        (
            ">a\nMKV\n>b\nMKL\n",
            ("--method", "upgma", "--negative", "zero"),
            2,
            "--negative belongs to neighbour joining",
        ),
        (">a\nMKV\n>b\nMKL\n", ("--distances-out", "-"), 2, "cannot both go to standard output"),
        (">a\nMKV\n>b\nMKL\n", ("--distances-out", "x.pdf"), 2, "x.pdf: distances are written as .phy"),
        (
            ">a\nMKV\n>b\nMKL\n",
            ("-o", "x.aln"),
            2,
            "x.aln: no format has the suffix '.aln': end the name in one of .dnd",
        ),
        ("", (), 3, "x.fa: the file is empty"),
        ("\n\n", (), 3, "x.fa: the file is empty"),
    ],
)
def test_mistakes_cost_a_sentence(capfd, tmp_path, text, arguments, code, words):
    path = tmp_path / "x.fa"
    path.write_text(text)
    found, error = said(capfd, path, *arguments)
    assert (found, error.count("\n")) == (code, 1), error
    assert words in error


def test_a_wrong_outgroup_does_not_wait_for_the_samples(capfd, monkeypatch):
    monkeypatch.setattr("tropalign.trees.with_support", lambda *_, **__: pytest.fail("samples are made"))
    code, words = said(capfd, PROTEINS, "-q", "--bootstrap", 5, "--outgroup", "nobody")
    assert code == 3 and "the tree has no taxon 'nobody': name one that it has" in words


def test_two_equal_rows(capfd, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nMKV\n>b\nMKV\n")
    assert written(capfd, path) == "(a:0.00000000,b:0.00000000);\n"


def test_pages_and_pictures(capfd, tmp_path):
    groups = tmp_path / "groups.tsv"
    names = read_alignment(PROTEINS).names
    groups.write_text("".join(f"{name}\t{'first' if k else 'others'}\n" for k, name in enumerate(names)) + "x\ty\n")
    page, plot, nexus = tmp_path / "t.html", tmp_path / "t.svg", tmp_path / "t.nex"
    words = ("--html", page, "--plot", plot, "--colours", groups, "--bootstrap", 10, "-o", nexus)
    code, told = said(capfd, PROTEINS, *words)
    assert code == 0 and "groups.tsv: 1 name is not in the tree (the first: 'x')\n" in told
    assert "--bootstrap 10" in nexus.read_text() and all(name in page.read_text() for name in names)
    assert "first" in page.read_text() and "first" in plot.read_text() and '"y"' not in page.read_text()
    for name in ("t.pdf", "t.png", "u.html"):
        assert said(capfd, PROTEINS, "-q", "-o", tmp_path / name) == (0, "")
    assert (tmp_path / "u.html").read_bytes().startswith(b"<!DOCTYPE html>")


def test_a_tree_is_rooted_and_converted(command, capfd, tmp_path):
    path = tmp_path / "given.nwk"
    path.write_text("((a:1,b:2)90:0.5,c:3,d:4);\n")
    rooted = rooted_at_midpoint(parse_tree(path.read_text()))
    assert written(capfd, path, "--midpoint") == rooted.newick(8) + "\n"
    with open(path) as stdin:
        assert command("tree", "-", "--outgroup", "d", stdin=stdin).stdout == written(capfd, path, "--outgroup", "d")
    for words, sentence in [
        (("--bootstrap", 5), "given.nwk holds a tree"),
        (("--distances-out", tmp_path / "d.phy"), "--distances-out needs an alignment or distances"),
        (("--method", "upgma"), "given.nwk holds one"),
        (("--alphabet", "protein"), "--alphabet says what sequences are, and"),
        (("--colours", path), "--colours is for --html, --plot and for a page or a picture as -o"),
        (("--html", "x.txt"), "--html x.txt: end the name in .html"),
        (("--html", "x.nwk"), "--html x.nwk: end the name in .html"),
        (("--plot", "x.html"), "x.html: no format has the suffix '.html'"),
        (("--plot", "-"), "two files cannot both go to standard output"),
    ]:
        code, told = said(capfd, path, *words)
        assert code == 2 and sentence in told, told
    code, told = said(capfd, path, "--html", tmp_path / "x.html", "--colours", path, "-o", tmp_path / "x.nwk")
    assert code == 3 and "line 1 is no name, a tab and a group" in told and not (tmp_path / "x.html").exists()
    path.write_text("('only one');\n")
    assert said(capfd, path) == (3, f"tropalign: {path}: the tree has one taxon: give one with two or more\n")
    code, told = said(capfd, PROTEINS, "--bootstrap", 5, "--shard", "1/2", "--html", "x.html", "-o", "x.shard")
    assert code == 2 and "merge the shards into tree.nwk" in told


def test_nexus_is_read_and_its_labels_are_kept(capfd, tmp_path):
    path = tmp_path / "given.nex"
    path.write_text(
        "#NEXUS\nbegin trees;\ntranslate 1 a, 2 b;\ntree x = [&U] ((1:1,2:2)'95/100':1,c:3,d:4)all;\nend;\n"
    )
    assert written(capfd, path) == "((a:1.00000000,b:2.00000000)95/100:1.00000000,c:3.00000000,d:4.00000000)all;\n"
    rooted = "(a:0.50000000,(b:2.00000000,(c:3.00000000,d:4.00000000)all/95/100:1.00000000)"
    assert written(capfd, path, "--outgroup", "a").startswith(rooted)
    assert written(capfd, path, "-o", tmp_path / "again.nex") == ""
    assert "'95/100':1.00000000" in (tmp_path / "again.nex").read_text()
    assert written(capfd, tmp_path / "again.nex") == written(capfd, path)
    for block, sentence in (("sets", "this NEXUS file holds no tree (block TREES)"), ("data", "holds no alignment")):
        path.write_text(f"#NEXUS\nbegin {block};\nend;\n")
        code, told = said(capfd, path)
        assert code == 3 and "given.nex: " in told and sentence in told
    matrix = "dimensions ntax=3 nchar=8; matrix a ACGTACGT b ACGTACGA c AAGTACGA;"
    path.write_text(f"#NEXUS\nbegin data;\n{matrix}\nend;\n")
    assert written(capfd, path, "--negative", "zero").startswith("(a:0.15856392,")
    path.write_text("2\na 0 1\nb 1 0\n")
    code, told = said(capfd, path, "--alphabet", "protein")
    assert code == 2 and "--alphabet needs an alignment, and" in told and "holds distances" in told


def test_a_tree_behind_a_comment(tmp_path, capfd):
    path = tmp_path / "given.nwk"
    path.write_text("[&R]\n(a:1,b:2);\n")
    assert main(["tree", str(path), "-q"]) == 0
    assert capfd.readouterr().out == "(a:1.00000000,b:2.00000000);\n"


def test_distances_without_comments(tmp_path):
    """Readers of tables take the first line for the names of the columns."""
    out = ("-q", "-o", tmp_path / "x.nwk", "--distances-out")
    assert main(["tree", PROTEINS, *map(str, out), str(tmp_path / "with.tsv")]) == 0
    assert main(["tree", PROTEINS, *map(str, out), str(tmp_path / "without.tsv"), "--no-comments"]) == 0
    with_line, without = ((tmp_path / name).read_text() for name in ("with.tsv", "without.tsv"))
    assert with_line == f"# values: distance\n{without}" and without.startswith("\t")
