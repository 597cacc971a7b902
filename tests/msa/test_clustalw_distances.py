"""CLUSTALW's distances and guide tree against what CLUSTAL W 2.1 printed, and against plain oracles."""

import json
from pathlib import Path

import numpy as np
import pytest

import tropalign
from tropalign.errors import ResourceError
from tropalign.msa.clustalw.distances import pair_distances
from tropalign.msa.clustalw.options import ClustalwOptions
from tropalign.msa.clustalw.rooting import compat_weights, root_tree, tree_identities
from tropalign.trees.joining import neighbour_joining

DATA = Path(__file__).parent.parent / "data" / "clustalw"
FAMILIES = ("proteins", "nucleotides")
SPEEDS = ("full", "quick")


def family(name):
    return tropalign.read_sequences(DATA / f"{name}.fasta")


def recorded(name, speed):
    return json.loads((DATA / f"{name}.json").read_text())[speed]


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
    assert tree_identities(tree, is_compat=True).tolist() == expected["identities"]
    assert compat_weights(tree).tolist() == expected["weights"]


def test_distances_that_do_not_fit_the_memory_are_refused():
    with pytest.raises(ResourceError, match="a table of distances of 12 sequences needs 1.3 KiB"):
        pair_distances(family("proteins"), ClustalwOptions(), memory_bytes=100)
