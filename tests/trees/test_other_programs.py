"""Trees beside those that CLUSTAL W, quicktree and scikit-bio make of the same."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from trees.cases import path_lengths, splits

from tropalign.formats.distance_matrix import read_distance_matrix
from tropalign.sequences.aligned_files import read_alignment
from tropalign.trees import alignment_distances, neighbour_joining, read_tree, upgma

DATA = Path(__file__).parent.parent / "data" / "trees"


@pytest.mark.parametrize(
    ("family", "options", "model", "gaps"),
    [
        ("proteins", "", "identity", "pairwise"),
        ("proteins", "-kimura", "kimura", "pairwise"),  # with distances from Dayhoff's table, and beyond it
        ("proteins", "-tossgaps", "identity", "complete"),
        ("nucleotides", "", "identity", "pairwise"),
        ("nucleotides", "-tossgaps", "identity", "complete"),
    ],
)
def test_clustalw_writes_the_same_tree(isa, family, options, model, gaps):
    path = DATA / f"{family}.fasta"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        distances = alignment_distances(path, model, gaps=gaps)
    assert [("6 of 55 pairs" in str(warning.message)) for warning in caught] == [True] * (model == "kimura")
    tree = neighbour_joining(distances, read_alignment(path)[0], rules="clustalw")
    assert tree.newick(5) == (DATA / f"{family}{options}.nwk").read_text().strip()


def test_quicktree_makes_the_same_trees():
    names, distances = read_distance_matrix(DATA / "proteins.phy")
    found, theirs = (
        splits(neighbour_joining(distances, names, negative="zero")),
        splits(read_tree(DATA / "quicktree-nj.nwk")),
    )
    assert found.keys() == {_side(side, names, theirs) for side in theirs}
    tree, reference = upgma(distances, names), read_tree(DATA / "quicktree-upgma.nwk")
    order = [reference.names.index(name) for name in names]
    np.testing.assert_allclose(path_lengths(tree), path_lengths(reference)[np.ix_(order, order)], atol=5e-5)


def _side(side, names, theirs):
    """A side of their split as the one without our first taxon."""
    everything = frozenset().union(*theirs, names)
    return everything - side if names[0] in side else side


def test_scikit_bio_makes_the_same_tree():
    skbio = pytest.importorskip("skbio")
    names, distances = read_distance_matrix(DATA / "proteins.phy")
    square = np.zeros((len(names), len(names)))
    square[np.triu_indices(len(names), 1)] = distances
    square += square.T
    reference = skbio.tree.nj(skbio.DistanceMatrix(square, names), neg_as_zero=False)
    there = reference.cophenet() if hasattr(reference, "cophenet") else reference.tip_tip_distances()
    np.testing.assert_allclose(path_lengths(neighbour_joining(square, names)), there.filter(names).data, atol=1e-9)
