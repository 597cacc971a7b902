"""Distances between trees against their definitions, and against DendroPy and ete3."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees.cases import random_tree, splits

from tropalign import InputError, read_alignment
from tropalign.errors import UsageError
from tropalign.trees import compare_trees, parse_tree, parse_trees, read_trees

DATA = Path(__file__).parent.parent / "data" / "trees"
#: Values of other programs; "*" for those that a program does not have.
ELSEWHERE = [line.split("\t") for line in (DATA / "compared.tsv").read_text().splitlines() if line[0] not in "#f"]


@pytest.mark.parametrize("case", ["several several", "several other_taxa", "rooted rooted"])
def test_distances_are_those_of_other_programs(case):
    one, other = case.split()
    trees, others = (read_trees(DATA / f"{name}.nwk") for name in (one, other))
    how = {"rooted": one == "rooted", "common_taxa": one != other}
    found = compare_trees(trees, None if one == other else others, **how)
    wanted = [row[2:] for row in ELSEWHERE if row[:2] == [one, other]]
    assert len(found) == len(wanted)
    for row, (tree, beside, *values) in zip(found, wanted, strict=True):
        assert (row.tree, row.other) == (tree, beside)
        here = (row.n_taxa, row.rf, row.max_rf, row.branch_score, row.weighted_rf)
        for value, there in zip(here, values, strict=True):
            assert there == "*" or value == pytest.approx(float(there), abs=1e-8)


@given(st.integers(4, 20), st.integers(0, 1000), st.integers(0, 1000))
@settings(max_examples=40)
def test_distances_are_those_of_their_definitions(n, seed, other_seed):
    one, other = random_tree(n, seed), random_tree(n, other_seed)
    a, b = splits(one), splits(other)
    inner = [{side for side in found if 2 <= len(side) <= n - 2} for found in (a, b)]
    differences = [a.get(side, (0.0,))[0] - b.get(side, (0.0,))[0] for side in a.keys() | b.keys()]
    (row,) = compare_trees(one, other)
    assert (row.rf, row.max_rf) == (len(inner[0] ^ inner[1]), len(inner[0]) + len(inner[1]))
    assert row.branch_score == pytest.approx(math.sqrt(sum(x * x for x in differences)))
    assert row.weighted_rf == pytest.approx(sum(map(abs, differences)))
    back = compare_trees(other, one)[0]
    assert (row.rf, row.branch_score, row.weighted_rf) == (back.rf, back.branch_score, back.weighted_rf)
    assert compare_trees(one, one)[0][3:] == (0, 2 * len(inner[0]), 0.0, 0.0, 0.0)


def test_taxa_that_one_tree_lacks_are_left_out():
    whole, part = parse_tree("(((A:1,X:1):1,B:1):1,C:1,(D:1,Y:2):1);"), parse_tree("((A:2,B:1):1,C:1,D:2);")
    assert compare_trees(whole, part, common_taxa=True)[0] == ("1", "1", 4, 0, 2, 0.0, 0.0, 0.0)
    for trees, words in (
        (
            (whole, part),
            "taxon 'X' of tree 1 is not in tree 1 of the others \\(1 more differs\\): common_taxa compares",
        ),
        ((part, whole), "taxon 'X' of tree 1 of the others is not in tree 1 \\(1 more differs\\)"),
        (([whole, part],), "taxon 'X' of tree 1 is not in tree 2"),
    ):
        with pytest.raises(InputError, match=words):
            compare_trees(*trees)
    with pytest.raises(InputError, match="tree 1 and tree 2 have one taxon in common: give trees that have two"):
        compare_trees(parse_trees("(A,B); (A,C);"), common_taxa=True)


def test_roots_count_on_request():
    one, other = parse_tree("((A:1,B:1):1,(C:1,D:1):1);"), parse_tree("(A:1,(B:1,(C:1,D:1):2):0);")
    assert compare_trees(one, other)[0].rf == compare_trees(one, other)[0].branch_score == 0
    found = compare_trees(one, other, rooted=True)[0]
    assert (found.rf, found.max_rf) == (2, 4)
    with pytest.raises(
        InputError, match="tree 1 has no root: its last node joins 3 branches; root it, or leave rooted"
    ):
        compare_trees(one, parse_tree("((A,B),C,D);"), rooted=True)


def test_missing_lengths_are_no_zeros():
    found = compare_trees(list(parse_trees("((A,B),C,D); ((A:1,B:1):1,C:1,D:1); ((A:1,C:1):1,B:1,D:1);")))
    assert found.rf.tolist() == [0, 2, 2] and np.isnan(found.branch_score).tolist() == [True, True, False]
    assert np.isnan(found.matrix("weighted-rf")[0]).tolist() == [False, True, True]
    assert compare_trees(parse_trees("(A,B); (A,B);"))[0].normalised_rf == 0


def test_a_table_and_a_matrix(tmp_path):
    names = "#NEXUS begin trees; tree x = ((A:1,B:1):1,C:1,D:1); tree y = ((A:1,C:1):1,B:1,D:1); end;"
    found = compare_trees(list(parse_trees(names)))
    assert found.columns()["tree"] == ["x"] and found.columns()["other"] == ["y"]
    assert found[0] == ("x", "y", 4, 2, 2, 1.0, math.sqrt(2), 2.0) and found[[0]] == found
    found.write(tmp_path / "m.phy", "rf")
    assert (tmp_path / "m.phy").read_text() == "2\nx          0 2\ny          2 0\n"
    with pytest.raises(UsageError, match="PHYLIP holds one distance of trees"):
        found.write(tmp_path / "m.phy")
    same = compare_trees(list(parse_trees(names.replace("y =", "x =") + "begin trees; tree y = (A,B,C,D); end;")))
    with pytest.raises(InputError, match=r"^2 trees are called x, and a PHYLIP matrix requires different names"):
        same.write(tmp_path / "m.phy", "rf")
    for wrong in (lambda: found.matrix("kf"), lambda: found.write("-", "kf")):
        with pytest.raises(UsageError, match="distance 'kf' is none of rf, normalised-rf, branch-score, weighted-rf"):
            wrong()


def test_what_are_no_trees_is_refused():
    tree = parse_tree("(A,B);")
    for wrong in ("(A,B);", [tree, None], read_alignment(DATA / "proteins.fasta")):
        with pytest.raises(UsageError, match="is not a Tree"):
            compare_trees(tree, wrong)
    with pytest.raises(InputError, match="there is one tree, and two are compared: give another"):
        compare_trees(tree)
    with pytest.raises(InputError, match="there is no tree: give one or more"):
        compare_trees(tree, [])
