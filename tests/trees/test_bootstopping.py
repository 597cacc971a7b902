"""When support has settled: the rule step by step, and what it does to trees."""

import numpy as np
import pytest

from tropalign import MultipleAlignment
from tropalign.cli.main import main
from tropalign.errors import TropalignWarning, UsageError
from tropalign.trees import alignment_distances, bootstrap, neighbour_joining, upgma, with_support, wpgma
from tropalign.trees.bootstrap import _half, has_settled, settled_samples


def rows(n, n_columns, seed, noise=0.3):
    """Rows along a random tree."""
    random = np.random.default_rng(seed)
    letters = np.frombuffer(b"ACDEFGHIKLMNPQRSTVWY", np.uint8)
    found = [random.choice(letters, n_columns)]
    while len(found) < n:
        row = found[random.integers(len(found))].copy()
        at = random.random(n_columns) < noise
        row[at] = random.choice(letters, int(at.sum()))
        found.append(row)
    return MultipleAlignment.from_rows([f"t{k}" for k in range(n)], [row.tobytes().decode() for row in found])


def plainly_settled(trees, seed):
    """The criterion with sets and NumPy's own correlation."""
    everything = sorted(set().union(*trees))
    n_good = 0
    for parting in range(100):
        first = set(_half(len(trees), parting, seed).tolist())
        assert len(first) == len(trees) // 2
        counts = [
            [sum(s in tree for k, tree in enumerate(trees) if (k in first) is side) for s in everything]
            for side in (True, False)
        ]
        n_good += np.corrcoef(*counts)[0, 1] >= 0.99
    return n_good >= 99


@pytest.mark.parametrize(("share", "seed"), [(0.02, 1), (0.1, 2), (0.5, 3), (0.0, 4)])
def test_the_criterion_step_by_step(share, seed):
    random = np.random.default_rng(seed)
    splits = np.tile(np.arange(12, dtype=np.uint64), (50, 1))
    other = random.random(splits.shape) < share
    splits[other] = random.integers(100, 130, int(other.sum()))
    splits[0, 0] = 99  # not all frequencies are equal
    trees = [set(row.tolist()) for row in splits]
    splits = np.array([sorted(tree) for tree in trees if len(tree) == 12], np.uint64)
    trees = [set(row.tolist()) for row in splits]
    assert has_settled(splits, seed) == plainly_settled(trees, seed)


def test_it_ends_when_settled_and_at_the_most(monkeypatch):
    asked = []

    def more(begin, end):
        asked.append((begin, end))
        return np.random.default_rng(begin).integers(0, 10**6, (end - begin, 5)).astype(np.uint64)

    monkeypatch.setattr(bootstrap, "MOST_SAMPLES", 150)
    splits, is_settled = settled_samples(more)
    assert asked == [(0, 50), (50, 100), (100, 150)] and len(splits) == 150 and not is_settled
    splits, is_settled = settled_samples(lambda begin, end: np.tile(np.arange(5, dtype=np.uint64), (end - begin, 1)))
    assert len(splits) == 50 and is_settled


@pytest.mark.parametrize("method", ["nj", "upgma", "wpgma"])
def test_support_is_that_of_as_many_samples(method):
    alignment = rows(12, 150, 1)
    distances = alignment_distances(alignment)
    tree = {"nj": neighbour_joining, "upgma": upgma, "wpgma": wpgma}[method](distances, alignment.names)
    found = with_support(tree, alignment, "auto", method=method, seed=4)
    assert found.n_samples % 50 == 0 and 50 <= found.n_samples <= 1000
    wanted = with_support(tree, alignment, found.n_samples, method=method, seed=4)
    np.testing.assert_array_equal(found.support, wanted.support)
    for n_threads in (1, 3):
        again = with_support(tree, alignment, "auto", method=method, seed=4, n_threads=n_threads)
        assert again.newick() == found.newick() and again.n_samples == found.n_samples


def test_what_does_not_settle_is_told(monkeypatch):
    monkeypatch.setattr(bootstrap, "MOST_SAMPLES", 100)
    alignment = rows(20, 12, 2, noise=0.9)
    tree = neighbour_joining(alignment_distances(alignment, "identity"), alignment.names)
    with pytest.warns(TropalignWarning, match="support has not settled after 100 samples"):
        assert with_support(tree, alignment, "auto", model="identity").n_samples == 100


def test_small_trees_and_wrong_words():
    alignment = rows(3, 20, 3)
    tree = neighbour_joining(alignment_distances(alignment, "identity"), alignment.names)
    assert np.isnan(with_support(tree, alignment, "auto", model="identity").support).all()
    with pytest.raises(UsageError, match="n_samples"):
        with_support(tree, alignment, "many")
    with pytest.raises(UsageError, match="a cluster requires the number of samples in advance"):
        with_support(tree, alignment, "auto", device="tcp://127.0.0.1:1")


def test_the_command(capfd, tmp_path):
    alignment = rows(10, 100, 5)
    path, page = tmp_path / "rows.fa", tmp_path / "t.html"
    alignment.write(path)
    assert main(["tree", str(path), "--bootstrap", "auto", "--html", str(page), "-o", str(tmp_path / "t.nex")]) == 0
    tree = neighbour_joining(alignment_distances(alignment), alignment.names)
    n_samples = with_support(tree, alignment, "auto").n_samples
    assert f"[bootstrap samples: {n_samples}]" in (tmp_path / "t.nex").read_text()
    assert f'"bootstrap samples":"{n_samples}"' in page.read_text()
    for words in (["--shard", "1/2", "-o", "x.shard"], ["--cluster", "tcp://127.0.0.1:1"]):
        assert main(["tree", str(path), "--bootstrap", "auto", *words]) == 2
        assert "give --bootstrap N" in capfd.readouterr().err
    assert main(["tree", str(path), "--bootstrap", "some"]) == 2
