"""Consensus trees against their definition, Biopython and DendroPy."""

from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from Bio import Phylo
from Bio.Phylo import Consensus
from hypothesis import given, settings
from hypothesis import strategies as st
from trees.cases import random_tree, splits

from tropalign import InputError
from tropalign.errors import UsageError
from tropalign.trees import consensus_tree, parse_tree, parse_trees, read_trees

DATA = Path(__file__).parent.parent / "data" / "trees"
#: `TreeList.consensus` of DendroPy 5.1.3 on rooted.nwk, with mean-length and min_freq just above 0.5.
ROOTED = (
    "(t8:2.517857142857143,((t0:3.232142857142857,t7:2.9285714285714284):0.55,(t2:1.3571428571428572,("
    "t1:2.982142857142857,(t6:2.017857142857143,(t4:4.214285714285714,(t3:2.5892857142857144,t5:3.25):1.625):5.0"
    "):3.125):2.375):1.375):4.0);"
)
UNROOTED = (
    "(t8:4.803571428571429,(t0:3.232142857142857,t7:2.9285714285714284):0.55,(t2:1.3571428571428572,("
    "t1:2.982142857142857,(t6:2.017857142857143,(t4:4.214285714285714,(t3:3.1964285714285716,t5:3.25):1.625):5.0"
    "):3.125):2.375):1.375);"
)


@pytest.mark.parametrize(("rooted", "wanted"), [(True, ROOTED), (False, UNROOTED)])
def test_topology_and_lengths_are_those_of_dendropy(rooted, wanted):
    tree = consensus_tree(read_trees(DATA / "rooted.nwk"), rooted=rooted)
    there, here = splits(parse_tree(wanted)), splits(tree)
    assert here.keys() == there.keys() and tree.is_rooted == rooted
    for side, (length, _) in there.items():
        assert here[side][0] == pytest.approx(length)


def clades(tree):
    """The taxa below each inner node but the root, of a tree of Biopython."""
    return [frozenset(tip.name for tip in clade.get_terminals()) for clade in tree.get_nonterminals()][1:]


@pytest.mark.parametrize("rule", ["majority", "strict"])
def test_clades_are_those_of_biopython(rule):
    """Their support is counted here: Biopython 1.88 has 6 of 7 trees for a clade that 4 of them have."""
    text = (DATA / "rooted.nwk").read_text()
    given_trees = list(Phylo.parse(StringIO(text), "newick"))
    make = Consensus.majority_consensus if rule == "majority" else Consensus.strict_consensus
    wanted = clades(make(given_trees, **({"cutoff": 0.5} if rule == "majority" else {})))
    counts = Counter(clade for tree in given_trees for clade in clades(tree))
    tree = consensus_tree(parse_trees(text), rule, rooted=True)
    found = Phylo.read(StringIO(tree.newick()), "newick")
    assert set(clades(found)) == set(wanted) and bool(wanted) == (rule == "majority")
    for clade, taxa in zip(found.get_nonterminals()[1:], clades(found), strict=True):
        assert clade.confidence == round(100 * counts[taxa] / len(given_trees))


@given(st.integers(4, 12), st.lists(st.integers(0, 2), min_size=1, max_size=9), st.sampled_from(["majority", "strict"]))
@settings(max_examples=40)
def test_splits_are_those_of_enough_trees(n, seeds, rule):
    trees = [random_tree(n, seed) for seed in seeds]
    counts = Counter(side for tree in trees for side in splits(tree))
    least = len(trees) if rule == "strict" else len(trees) // 2 + 1
    found = consensus_tree(iter(trees), rule)
    assert found.names == trees[0].names and found.n_samples == len(trees)
    own = splits(found)
    assert own.keys() == {side for side, count in counts.items() if count >= least}
    for side, (length, support) in own.items():
        lengths = [splits(tree)[side][0] for tree in trees if side in splits(tree)]
        assert length == pytest.approx(sum(lengths) / len(lengths))
        if 2 <= len(side) <= n - 2:
            assert support == pytest.approx(100 * counts[side] / len(trees))


def test_half_of_the_trees_are_no_majority_and_missing_lengths_do_not_count():
    texts = "((A:1,B:1):1,C:1,D:1); ((A:1,C:1):1,B:1,D:1);"
    assert consensus_tree(parse_trees(texts)).newick(1) == "(A:1.0,B:1.0,C:1.0,D:1.0);"
    texts = "((A:1,B):1,C,D); ((A:3,B),C,D); ((A,C):1,B,D);"
    assert consensus_tree(parse_trees(texts)).newick(1) == "(A:2.0,B,(C,D)67:1.0);"
    assert consensus_tree(parse_tree("(A:1,B:2);")).newick(1) == "(A:1.5,B:1.5);"


def test_what_has_no_consensus_is_refused():
    with pytest.raises(
        InputError, match="taxon 'C' of tree 1 is not in tree 2 \\(1 more differs\\): a consensus is of"
    ):
        consensus_tree(parse_trees("((A,B),C); ((A,B),D);"))
    with pytest.raises(InputError, match="there is no tree: give one or more"):
        consensus_tree([])
    with pytest.raises(InputError, match="tree 2 has no root"):
        consensus_tree(parse_trees("((A,B),C); (A,B,C);"), rooted=True)
    with pytest.raises(UsageError, match="rule 'half' is none of majority, strict"):
        consensus_tree([], "half")
    with pytest.raises(UsageError, match="an object of type str is not a Tree"):
        consensus_tree(["(A,B);"])
