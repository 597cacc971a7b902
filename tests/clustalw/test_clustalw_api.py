"""`tropalign.align_clustalw`: what it takes, what it returns, what it refuses."""

from pathlib import Path

import pytest

import tropalign as ta
from tropalign.clustalw.options import ClustalwOptions
from tropalign.errors import InputError, ResourceError, UsageError

PROTEINS = Path(__file__).parent.parent / "data" / "clustalw" / "proteins.fasta"
FAMILY = {"a": "MKVLAWMKTAYIAK", "b": "MKILAWMTAYIAK", "c": "MKVAWMKTAYIAKGG"}
TREE = "(c:0.3,(a:0.1,b:0.1):0.2);"


def test_sequences_of_every_kind_give_the_same_alignment(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text("".join(f">{name}\n{text}\n" for name, text in FAMILY.items()))
    whole = ta.align_clustalw(FAMILY)
    assert whole.tree and whole.column_confidence is None
    for given in (path, ta.read_sequences(path), list(FAMILY.items()), whole):
        assert list(ta.align_clustalw(given, n_threads=2)) == list(whole)


def test_order_of_the_rows_and_trees_given(tmp_path):
    (tmp_path / "x.dnd").write_text(TREE)
    for tree in (TREE, tmp_path / "x.dnd"):
        as_read, by_tree = (ta.align_clustalw(FAMILY, tree=tree, row_order=order) for order in ("input", "tree"))
        assert as_read.names == ("a", "b", "c") and by_tree.names == ("c", "a", "b")
        assert dict(zip(as_read.names, as_read, strict=True)) == dict(zip(by_tree.names, by_tree, strict=True))
        assert as_read.tree == TREE


def test_an_unrooted_tree_gets_a_root():
    found = ta.align_clustalw(FAMILY, tree="(a:1,b:2,c:4);")
    assert found.tree == "((a:1.0,b:2.0):1.25,c:2.75);"


def test_options_reach_the_method():
    dear, cheap = (ta.align_clustalw(PROTEINS, ClustalwOptions(gap_open=cost)) for cost in (50, 0))
    assert dear.n_columns < cheap.n_columns


def test_what_a_stage_tells():
    told = []
    ta.align_clustalw(PROTEINS, progress=lambda stage, share: told.append((stage, share)))
    assert list(dict(told)) == ["distances", "guide tree", "alignment"]
    shares = [share for _, share in told]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1


@pytest.mark.parametrize(
    ("error", "call", "why"),
    [
        (UsageError, {"options": {"gap_open": 3}}, "an object of type dict is not ClustalwOptions: create"),
        (UsageError, {"row_order": "length"}, "row_order 'length' is not one of input, tree"),
        (UsageError, {"tree": 3}, "an object of type int is not a tree: give Newick text or a file's Path"),
        (UsageError, {"progress": 1}, "progress 1 is not a function"),
        (UsageError, {"n_threads": -1}, "n_threads -1 is out of range"),
        (InputError, {"alphabet": "word"}, "no alphabet 'word'"),
        (InputError, {"tree": "(a:1,b:1);"}, "the tree has no leaf 'c'"),
        (
            InputError,
            {"tree": "((a:1,b:1):1,d:1);"},
            "the tree has a leaf 'd', which is not a sequence, and has no leaf 'c'",
        ),
        (InputError, {"tree": "((a:1,b:1"}, "the tree"),
        (ResourceError, {"memory_bytes": 1000}, "needs 2.1 MiB of memory and 1000 B are allowed"),
    ],
)
def test_wrong_calls(error, call, why):
    with pytest.raises(error) as caught:
        ta.align_clustalw(FAMILY, **call)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("family", "why"),
    [
        ({}, "there is no sequence"),
        ({"a": "MKV", "b": ""}, "the sequence is empty"),
        (
            {"a": "MKVLAWMKTAYIAKMKVLAWMKT", "b": "ACGTACGTACGTACGTACGTACGT"},
            "this looks like a protein, but record",
        ),
    ],
)
def test_families_that_are_refused(family, why):
    with pytest.raises(InputError, match=why):
        ta.align_clustalw(family)
