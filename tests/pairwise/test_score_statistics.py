"""Statistics by simulation: against those that NCBI has published, and against what random sequences score."""

import json

import numpy as np
import pytest

import tropalign as ta
from tropalign.pairwise import score_statistics as module
from tropalign.pairwise.score_statistics import random_sequences, score_statistics, simulated_statistics
from tropalign.scoring.statistics import AMINO_ACIDS, published_statistics

BLOSUM62 = ta.SubstitutionMatrix.from_name("BLOSUM62")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tropalign"


@pytest.fixture
def few(monkeypatch):
    """A short simulation, where it does not matter what comes out."""
    monkeypatch.setattr(module, "SIZES", ((400, 200), (200, 300)))


def best_scores(matrix, gap, n, lengths, seed):
    bits = np.random.PCG64(seed)
    queries, targets = (random_sequences(matrix, n, length, bits) for length in lengths)
    pairs = np.repeat(np.arange(n), 2).reshape(n, 2)
    tables = ta.align_all(queries, targets, matrix=matrix, gap=gap, report="score", pairs=pairs, device="cpu")
    return np.concatenate([table.score for table in tables])


@pytest.mark.parametrize(("name", "gap"), [("BLOSUM62", (11, 1)), ("BLOSUM50", (12, 2)), ("5/-4", (8, 6))])
def test_it_finds_what_ncbi_has_published(name, gap):
    matrix = ta.SubstitutionMatrix.match_mismatch(5, -4) if "/" in name else ta.SubstitutionMatrix.from_name(name)
    found, printed = simulated_statistics(matrix, ta.Gap(*gap)), published_statistics(matrix, ta.Gap(*gap))
    assert found.is_estimated and not printed.is_estimated
    assert found.lambda_ == pytest.approx(printed.lambda_, rel=0.02)
    assert found.k == pytest.approx(printed.k, rel=0.15)
    assert found.h == pytest.approx(printed.h, rel=0.3)  # printed with two digits, and 0.16 where 0.146 / 1.3 is 0.11
    assert found.alpha == pytest.approx(printed.alpha, rel=0.1)
    assert found.beta == pytest.approx(printed.beta, rel=0.1, abs=2)


@pytest.mark.parametrize("limit", [1.0, 0.1, 0.02])
@pytest.mark.parametrize("lengths", [(250, 250), (150, 700)])
def test_evalues_are_what_random_sequences_show(limit, lengths):
    gap, (query, target), n = ta.Gap(11, 1), lengths, 10_000
    statistics = score_statistics(BLOSUM62, gap)
    least = int(statistics.least_score(limit, query, target, 1))
    seen = int((best_scores(BLOSUM62, gap, n, lengths, 5) >= least).sum())
    expected = n * -np.expm1(
        -float(statistics.evalues(least, query, target, 1))
    )  # pairs with one such alignment or more
    assert abs(seen - expected) < 0.1 * expected + 3 * np.sqrt(expected)


def test_a_matrix_of_ones_own_by_what_random_sequences_show(cache):
    matrix, gap = BLOSUM62, ta.Gap(12.5, 1.5)
    statistics = score_statistics(matrix, gap)
    assert (
        statistics.score_step == 0.5 and statistics.source == "estimated by simulation of 16000 pairs of 1200 residues"
    )
    scores = best_scores(matrix, gap, 4000, (300, 900), 6)
    for limit in (0.5, 0.05):
        least = float(statistics.least_score(limit, 300, 900, 1))
        assert (
            float(statistics.evalues(least - 0.5, 300, 900, 1)) > limit >= float(statistics.evalues(least, 300, 900, 1))
        )
        expected = 4000 * -np.expm1(-float(statistics.evalues(least, 300, 900, 1)))
        assert abs((scores >= least).sum() - expected) < 0.1 * expected + 3 * np.sqrt(expected)
    assert score_statistics(matrix, gap) == statistics  # from the cache


def test_random_residues_are_as_frequent_as_in_nature():
    batch = random_sequences(BLOSUM62, 500, 401, np.random.PCG64(1))
    counts = np.bincount(batch.codes, minlength=32)
    for letter, per_mille in AMINO_ACIDS.items():
        expected = per_mille / sum(AMINO_ACIDS.values()) * len(batch.codes)
        assert abs(counts[ta.PROTEIN.letters.index(letter)] - expected) < 5 * np.sqrt(expected)
    assert batch.text(3).encode() == batch.letters[1203:1604].tobytes() and batch.text(3)[:8] == "GEKPMRLI"


@pytest.mark.parametrize("gap", [(10, 1), (14, 1), (0, 0)])
def test_costs_too_low_for_statistics(gap, cache):
    with pytest.raises(ta.ScoringError, match=r"^with match 5 mismatch -4 and gaps of .+ k, the best alignment of two "
                       r"random sequences covers \d+% of them at any length, so E-values are undefined: "
                       r"raise the gap costs, or use --match 2 --mismatch -3 --gap-open 5 "
                       r"--gap-extend 2$"):  # fmt: skip
        score_statistics(ta.SubstitutionMatrix.match_mismatch(5, -4), ta.Gap(*gap))
    assert not cache.exists()


def test_what_is_named_instead_has_statistics(cache):
    for matrix, gap in ((BLOSUM62, ta.Gap(11, 1)), (ta.SubstitutionMatrix.match_mismatch(2, -3), ta.Gap(5, 2))):
        found = score_statistics(matrix, gap)
        assert (
            not found.is_estimated
            and f"--gap-open {gap.open} --gap-extend {gap.extend}" in module.USUAL[matrix.alphabet.name]
        )
    with pytest.raises(ta.ScoringError, match=r"gaps of min\(3 \+ 1 k, 9 \+ 0 k\), .+ --matrix BLOSUM62 --gap-open 11"):
        score_statistics(BLOSUM62, ta.Gap(3, 1, 9, 0))


def test_scores_whose_mean_is_not_negative(cache):
    with pytest.raises(ta.ScoringError, match="per pair of random residues"):
        score_statistics(ta.SubstitutionMatrix.match_mismatch(3, -1), ta.Gap(20, 5))


@pytest.mark.parametrize("gap", [None, (11, 1), "11"])
def test_no_gap(gap):
    with pytest.raises(ta.ScoringError, match=r"^the gap cost must be a Gap\(open, extend\)"):
        score_statistics(BLOSUM62, gap)


def test_an_estimate_is_kept_and_made_again_when_damaged(cache, few, monkeypatch):
    gap = ta.Gap(20, 3)
    first = score_statistics(BLOSUM62, gap)
    (path,) = cache.iterdir()
    whole = path.read_text()
    with monkeypatch.context() as inner:
        inner.setattr(module, "simulated_statistics", lambda *_: pytest.fail("made again"))
        assert score_statistics("BLOSUM62", gap) == first
    changed = json.dumps([0.3, *json.loads(whole.split("\n")[0])[1:]])
    for damaged in ("", whole[:-9], whole.replace("0.", "1.", 1), changed + "\n" + whole.split("\n")[1], "\x00\n\xff"):
        path.write_text(damaged, "latin-1")
        assert score_statistics(BLOSUM62, gap) == first
        assert path.read_text() == whole
    score_statistics(BLOSUM62, ta.Gap(20, 4))
    assert len(list(cache.iterdir())) == 2  # another scheme is another file


def test_without_a_place_for_the_cache(tmp_path, few, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert score_statistics(BLOSUM62, ta.Gap(20, 3)).is_estimated


@pytest.mark.usefixtures("few")
def test_any_instruction_set_finds_the_same(isa, cache):
    found = simulated_statistics(ta.SubstitutionMatrix.from_name("BLOSUM90"), ta.Gap(12, 3))
    assert (found.lambda_, found.k, found.h, found.alpha, found.beta) == (0.344, 0.263, 0.882, 0.39, -0.43)
