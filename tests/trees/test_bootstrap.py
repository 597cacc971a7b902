"""Support of branches against trees of the same draws made one by one."""

import re

import numpy as np
import pytest
from oracles.aligned_distances import drawn_columns
from trees.cases import splits

from tropalign import InputError, MultipleAlignment, ResourceError
from tropalign.errors import TropalignWarning, UsageError
from tropalign.trees import alignment_distances, neighbour_joining, parse_tree, upgma, with_support, wpgma


def family_of(n_rows, n_columns, seed):
    """Rows that share some changes with their neighbours."""
    random = np.random.default_rng(seed)
    letters = np.array(list("ACDEFGHIKL"))
    rows = random.choice(letters, (1, n_columns)).repeat(n_rows, 0)
    for size in (n_rows // 2, n_rows // 4, 2, 1):
        for begin in range(0, n_rows, size):
            changed = random.random(n_columns) < 0.06
            rows[begin : begin + size, changed] = random.choice(letters, changed.sum())
    rows[random.random(rows.shape) < 0.02] = "-"
    return MultipleAlignment.from_rows([f"r{k}" for k in range(n_rows)], ["".join(row) for row in rows])


def made(family, method):
    distances = alignment_distances(family)
    return {"nj": neighbour_joining, "upgma": upgma, "wpgma": wpgma}[method](distances, family.names)


def clades(tree):
    """Support by the taxa below each inner node but the root."""
    below = [{name} for name in tree.names]
    for joined in tree.children:
        below.append(set().union(*(below[child] for child in joined)))
    support = np.zeros(len(tree.lengths)) if tree.support is None else tree.support
    return {frozenset(taxa): support[k] for k, taxa in enumerate(below[:-1]) if len(taxa) > 1}


@pytest.mark.parametrize("method", ["nj", "upgma", "wpgma"])
def test_support_counts_the_trees_of_drawn_columns(isa, method):
    family, n_samples, seed = family_of(12, 70, 3), 20, 5
    tree = with_support(made(family, method), family, n_samples, method=method, seed=seed, n_threads=2)
    found = (splits if method == "nj" else clades)(tree)
    counts = dict.fromkeys(found, 0)
    for sample in range(n_samples):
        columns = drawn_columns(70, seed, sample)
        rows = ["".join(row[c] for c in columns) for row in map(family.__getitem__, range(12))]
        other = made(MultipleAlignment.from_rows(family.names, rows, family.sequences.alphabet), method)
        for side in (splits if method == "nj" else clades)(other):
            if side in counts:
                counts[side] += 1
    inner = [side for side in found if 1 < len(side) < (11 if method == "nj" else 12)]
    assert len(inner) >= 9
    for side in inner:
        support = found[side][1] if method == "nj" else found[side]
        assert support == 100 * counts[side] / n_samples
    assert 0 < np.nanmin(tree.support) < 100


def test_threads_change_nothing_and_seeds_do():
    family = family_of(20, 60, 1)
    tree = made(family, "nj")
    one, three = (with_support(tree, family, 30, seed=7, n_threads=k) for k in (1, 3))
    assert np.array_equal(one.support, three.support, equal_nan=True)
    assert not np.array_equal(one.support, with_support(tree, family, 30, seed=8).support, equal_nan=True)
    assert np.isnan(one.support[:20]).all() and np.isnan(one.support[-1])


@pytest.mark.parametrize(
    ("rows", "method", "newick"),
    [
        (["MKVLAWHQ"] * 4, "nj", "((a,b),c,d);"),
        (["MKVLAWHQ"] * 4, "upgma", "(((a,b),c),d);"),
        (["MKVLAWHQ", "MKV-AWHQ", "MKVLAXHQ", "MKVLAWHQ"], "nj", "((a,b),c,d);"),
        # Equal distances: every tree is as good.
        (["RKVLAWHQMKVL", "MRVLAWHQMKVL", "MKILAWHQMKVL", "MKVIAWHQMKVL"], "nj", "((a,b),c,d);"),
        # Equal rows in one clade, which has support; the branches within it have none.
        ([*["MKVLAWHQMKVL"] * 3, *["MRVIAFHQYYVL"] * 3], "nj", "((a,b),((d,e),f)+,c);"),
        ([*["MKVLAWHQMKVL"] * 3, *["MRVIAFHQYYVL"] * 3], "upgma", "(((a,b),c)+,((d,e),f)+);"),
    ],
)
@pytest.mark.filterwarnings("ignore:support has not settled")
@pytest.mark.parametrize("n_samples", [20, "auto"])
def test_branches_without_data_have_no_support(rows, method, newick, n_samples):
    family = MultipleAlignment.from_rows("abcdef"[: len(rows)], rows)
    with pytest.warns(
        TropalignWarning, match=r"branch(es)? of zero length or between equal rows: no support is given$"
    ):
        tree = with_support(made(family, method), family, n_samples, method=method)
    found = re.sub(r":-?[0-9.]+", "", tree.newick(5))
    found = re.sub(r"\)[0-9]+", ")+", found)
    assert sorted(re.findall(r"\)\+?", found)) == sorted(re.findall(r"\)\+?", newick))


def test_branches_that_part_equal_rows_have_no_support():
    """Corrected distances may give such a branch a length."""
    rows = ["MKVLAWHQ", "MKVLAWHQ", "MRVLAWHQ", "MRVLAWHQ", *["MKVLYYHQ"] * 3]
    family = MultipleAlignment.from_rows("abcdefg", rows)
    with pytest.warns(TropalignWarning, match="^2 branches of zero length"):
        tree = with_support(made(family, "nj"), family, 50)
    parted = [support for side, (_, support) in splits(tree).items() if side in ({"c", "d", "a"}, {"b", "e", "f", "g"})]
    assert np.isnan(parted).all() and len(parted) == 1
    assert sum(~np.isnan(tree.support)) == 2


def test_support_takes_the_place_of_that_of_a_file():
    family = family_of(8, 60, 1)
    tree = made(family, "nj")
    labelled = parse_tree(re.sub(r"\)(?=:)", ")1.00", tree.newick()))
    assert labelled.labels is not None and labelled.names == tree.names
    assert with_support(labelled, family, 5).newick(3) == with_support(tree, family, 5).newick(3)


def test_three_taxa_have_no_branch_to_support():
    family = MultipleAlignment.from_rows("abc", ["ACDE", "ACDF", "ACGE"])
    assert np.isnan(with_support(made(family, "nj"), family, 5).support).all()


def test_wrong_options_are_said():
    family = family_of(8, 30, 1)
    tree = made(family, "nj")
    with pytest.raises(UsageError, match="method 'ml' is not one of nj, upgma"):
        with_support(tree, family, method="ml")
    with pytest.raises(UsageError, match="an object of type MultipleAlignment is not a Tree"):
        with_support(family, tree)
    with pytest.raises(UsageError, match="an object of type list is not a MultipleAlignment"):
        with_support(tree, ["MKV"] * 8)
    with pytest.raises(UsageError, match="n_samples 0 is out of range"):
        with_support(tree, family, 0)
    with pytest.raises(UsageError, match="seed -1 is out of range"):
        with_support(tree, family, seed=-1)
    with pytest.raises(InputError, match="the taxa of the tree are not the rows of the alignment"):
        with_support(tree, family_of(9, 30, 1))
    with pytest.raises(ResourceError, match="a bootstrap of 8 taxa needs"):
        with_support(tree, family, memory_bytes=1000)
