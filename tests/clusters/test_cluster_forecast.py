"""What clusters are foretold to take, beside what they then take: alignments and cells, no times."""

import numpy as np
import pytest

from tropalign.clusters.api import foretold, growth
from tropalign.clusters.methods import clustered, compared_by
from tropalign.clusters.options import ClusterOptions
from tropalign.devices.registry import CpuDevice
from tropalign.pairwise.api import default_scoring
from tropalign.pairwise.options import PairOptions
from tropalign.sequences import NUCLEOTIDE, SequenceBatch

MEMORY = 1 << 30


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Samples grow as far as they may, however slow the machine is."""
    monkeypatch.setattr("tropalign.clusters.api.SAMPLE_SECONDS", 1e9)


def reads(n, n_kinds, errors, seed=5):
    """Reads of kinds of different abundance, with errors."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(np.frombuffer(b"ACGT", np.uint8), (n_kinds, 120))
    share = rng.lognormal(0, 1.5, n_kinds)
    found = kinds[rng.choice(n_kinds, n, p=share / share.sum())]
    wrong = rng.random(found.shape) < rng.exponential(errors, (n, 1))
    found[wrong] = rng.choice(np.frombuffer(b"ACGT", np.uint8), int(wrong.sum()))
    texts = [row[: rng.integers(100, 121)].tobytes().decode() for row in found]
    return SequenceBatch.from_strings(texts, [f"r{k}" for k in range(n)], NUCLEOTIDE)


def options_of(**words):
    matrix, gap = default_scoring(NUCLEOTIDE, None, None)
    return ClusterOptions(PairOptions(matrix, gap, mode="global", strand=words.pop("strand", "plus")), **words)


@pytest.mark.parametrize(
    ("n", "n_kinds", "errors", "words"),
    [
        (2048, 100, 0.005, {}),
        (2048, 300, 0.002, {}),
        (1024, 100, 0.005, {"strand": "both", "min_identity": 0.9}),
        (2048, 100, 0.005, {"identity": "columns"}),
        (1024, 100, 0.005, {"method": "single"}),
        (400, 100, 0.005, {"method": "average"}),
    ],
)
def test_a_quarter_of_the_sequences_foretells_all_of_them(n, n_kinds, errors, words):
    batch, options = reads(n, n_kinds, errors), options_of(**words)
    comparison, candidates = compared_by(batch, options, 1, MEMORY, ["cpu"])
    clustered(comparison, candidates, MEMORY)
    n_pairs, n_cells, seconds = foretold(batch, options, [CpuDevice(1)], 1, MEMORY, n // 4)
    # By single linkage few rows at once align what they connect among themselves, the more in vain the fewer there are.
    within = {"rel": 0.7 if options.method == "single" else 0.3}
    assert n_pairs == pytest.approx(comparison.tally.n_pairs, **within)
    assert n_cells == pytest.approx(comparison.tally.n_cells, **within)
    assert seconds > 0


def test_a_set_that_is_clustered_whole_is_foretold_exactly():
    batch, options = reads(40, 5, 0.01), options_of()
    comparison, candidates = compared_by(batch, options, 1, MEMORY, ["cpu"])
    clustered(comparison, candidates, MEMORY)
    assert foretold(batch, options, [CpuDevice(1)], 1, MEMORY)[:2] == (
        comparison.tally.n_pairs,
        comparison.tally.n_cells,
    )
    assert foretold(batch[:1], options, [CpuDevice(1)], 1, MEMORY)[:2] == (0, 0)


@pytest.mark.parametrize("method", ["greedy", "average"])
def test_few_long_sequences_are_tried(method, monkeypatch):
    monkeypatch.setattr("tropalign.clusters.api.SAMPLE_SECONDS", 0)
    monkeypatch.setattr("tropalign.clusters.api.FIRST_CELLS", 60_000, raising=False)
    tried = []
    monkeypatch.setattr("tropalign.clusters.api.clustered", lambda comparison, *_: tried.append(len(comparison.batch)))
    foretold(reads(40, 5, 0.01), options_of(method=method), [CpuDevice(1)], 1, MEMORY)
    assert tried == [3]


def test_work_grows_as_it_grew():
    sizes = [32, 64, 128]
    assert growth(sizes, [320, 640, 1280], 1024, "greedy") == pytest.approx(8)  # few clusters, all known
    assert growth(sizes, [100, 400, 1600], 1024, "greedy") == pytest.approx(64)  # each sequence one of its own
    assert growth(sizes, [100, 350, 800], 1024, "greedy") == pytest.approx(8**1.5)
    assert growth(sizes, [9, 9, 9], 256, "average") == pytest.approx(256 * 255 / (128 * 127))
    assert growth([1], [0], 1, "greedy") == 1
    assert growth([32], [0], 64, "greedy") == 4  # nothing is known
