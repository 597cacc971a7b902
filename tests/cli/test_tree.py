"""``tropalign tree``: from files to Newick, and mistakes as one sentence."""

import gzip
from pathlib import Path

import pytest

from tropalign import read_alignment
from tropalign.cli.main import main
from tropalign.trees import alignment_distances, neighbour_joining, with_support

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


def test_a_wrong_outgroup_does_not_wait_for_the_samples(capfd, monkeypatch):
    monkeypatch.setattr("tropalign.trees.with_support", lambda *_, **__: pytest.fail("samples are made"))
    code, words = said(capfd, PROTEINS, "-q", "--bootstrap", 5, "--outgroup", "nobody")
    assert code == 3 and "the tree has no taxon 'nobody': choose one of its taxa" in words


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
