"""Pairs of one name left out: by all ways that pairs are found, also among the best targets, translated, and listed."""

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main

LETTERS = list("ACDEFGHIKLMNPQRSTVWY")


@pytest.fixture(scope="module")
def sets():
    """Ten proteins that are among 300 others, in another order; one of them has no namesake."""
    random = np.random.default_rng(4)
    texts = {f"p{k}": "".join(random.choice(LETTERS, int(random.integers(30, 120)))) for k in range(300)}
    names = random.permutation(list(texts)).tolist()
    queries = {name: texts[name] for name in names[:9]} | {"other": texts["p0"]}
    return queries, {name: texts[name] for name in sorted(texts)}


def pairs_of(queries, targets, **how):
    found = []
    for table in ta.align_all(queries, targets, device="cpu", report="score", **how):
        columns = table.columns(["query", "target", "score"])
        found += zip(*(columns[name] for name in ("query", "target", "score")), strict=True)
    return found


@pytest.mark.parametrize("how", [{}, {"min_score": 30}, {"max_evalue": 10.0}, {"composition": "adjusted"}])
@pytest.mark.parametrize("top", [None, 1, 3, 400])
def test_nothing_else_is_left_out(sets, top, how):
    queries, targets = sets
    whole = [pair for pair in pairs_of(queries, targets, **how) if pair[0] != pair[1]]
    found = pairs_of(queries, targets, exclude_self=True, top=top, **how)
    if top is None:
        assert found == whole
    for query in queries:
        wanted = sorted((-score, list(targets).index(target)) for name, target, score in whole if name == query)[:top]
        own = [(-score, list(targets).index(target)) for name, target, score in found if name == query]
        assert sorted(own) == wanted


def test_few_targets_and_listed_pairs(sets):
    queries, targets = sets
    few = {name: targets[name] for name in list(queries)[:5]}
    found = pairs_of(queries, few, exclude_self=True)
    assert len(found) == 10 * 5 - 5 and all(query != target for query, target, _ in found)
    listed = pairs_of(queries, few, exclude_self=True, pairs=[(0, 0), (0, 1), (3, 3), (9, 2)])
    assert [pair[:2] for pair in listed] == [(list(queries)[i], list(few)[j]) for i, j in ((0, 1), (9, 2))]


def test_translated_queries_have_their_names(sets):
    random = np.random.default_rng(6)
    genes = {f"p{k}": "".join(random.choice(list("ACGT"), 150)) for k in range(4)}
    _, targets = sets
    found = pairs_of(genes, targets, translate="query", exclude_self=True, top=2)
    assert len(found) == 8 and all(query != target for query, target, _ in found)
    without = [p for p in pairs_of(genes, targets, translate="query", top=3) if p[0] != p[1]]
    best = [pair for name in genes for pair in [p for p in without if p[0] == name][:2]]
    assert found == best


def test_the_command(sets, tmp_path):
    for name, records in zip(("a.fa", "b.fa"), sets, strict=True):
        (tmp_path / name).write_text("".join(f">{key}\n{text}\n" for key, text in records.items()))
    words = [str(tmp_path / "a.fa"), str(tmp_path / "b.fa"), "-q", "-o", str(tmp_path / "out.m8")]
    assert main(["find", *words, "--exclude-self"]) == 0
    rows = [line.split("\t")[:2] for line in (tmp_path / "out.m8").read_text().splitlines()]
    assert rows == [["other", "p0"]]
