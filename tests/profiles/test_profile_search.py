"""Whole searches beside HMMER's pipeline (through pyhmmer): every field of all hits, and what passed the filters."""

import numpy as np
import pytest
from oracles.hmmer import Family, database, digital, hits_of_scan, hits_of_search

from tropalign import _native
from tropalign.profiles.models import from_pyhmmer
from tropalign.profiles.options import SearchOptions
from tropalign.profiles.proteins import encode
from tropalign.results.found_hits import DOMAIN_COLUMNS, HIT_COLUMNS, LINES

OPTIONS = {
    "default": SearchOptions(),
    "max": SearchOptions.unfiltered(),
    "nobias": SearchOptions(bias_filter=False),
    "nonull2": SearchOptions(null2=False),
    "seed": SearchOptions(seed=7),
    "wide": SearchOptions(0.5, 0.1, 0.01),
    "narrow": SearchOptions(1e-4, 1e-5, 1e-9),
    "viterbi skipped": SearchOptions(0.02, 0.5, 1e-5),
}


@pytest.fixture(scope="module")
def families():
    return [Family(n_columns, seed) for seed, n_columns in enumerate([12, 33, 150])]


@pytest.fixture(scope="module")
def texts(families):
    return database(families, 220, seed=3)


def block_of(texts):
    codes = encode(np.frombuffer("".join(texts).encode(), np.uint8))
    return _native.TargetBlock(codes, np.cumsum([0, *map(len, texts)]))


def searched(families, texts, options, n_threads=1, progress=None):
    models = [from_pyhmmer(family.hmm).native for family in families]
    return _native.search_block(models, block_of(texts), options.numbers(), n_threads, progress)


def require_equal(found, other):
    assert found.keys() == other.keys()
    for name, column in found.items():
        np.testing.assert_array_equal(column, other[name], err_msg=name)


def hits_by_target(found, rows, targets):
    """Every field of these hits and of their domains, by target."""
    offsets, lines = found["domain_offsets"], found["line_offsets"]
    fields = [name for name in HIT_COLUMNS if name not in ("query", "target", "length")]
    by_target = {}
    for k, target in zip(rows, targets, strict=True):
        domains = range(offsets[k], offsets[k + 1])
        by_target[int(target)] = (
            [found[name][k].item() for name in fields],
            [[found[name][d].item() for name in DOMAIN_COLUMNS] for d in domains],
            [[found[name][lines[d] : lines[d + 1]].tobytes() for name in LINES] for d in domains],
        )
    return by_target


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_search_is_that_of_hmmer(families, texts, options, isa):
    found = searched(families, texts, options, n_threads=2)
    assert len(found["target"]) >= 20
    sequences = digital(texts)
    for k, family in enumerate(families):
        expected = hits_of_search(family.hmm, sequences, options)
        assert found["passed_by_model"][k].tolist() == expected.n_passed[0].tolist()
        own = np.flatnonzero(found["model"] == k)
        hits = hits_by_target(found, own, found["target"][own])
        assert hits == hits_by_target(vars(expected), range(len(expected)), expected.names)


@pytest.mark.parametrize("name", ["default", "max"])
def test_scan_is_that_of_hmmer(families, texts, name):
    found = searched(families, texts, OPTIONS[name])
    hmms = [family.hmm for family in families]
    numbers = {hmm.name: k for k, hmm in enumerate(hmms)}
    sequences = digital(texts)
    for k in [k for k, text in enumerate(texts) if text][:40]:
        expected = hits_of_scan(sequences[k], hmms, OPTIONS[name])
        assert found["passed_by_target"][k].tolist() == expected.n_passed[0].tolist()
        own = np.flatnonzero(found["target"] == k)
        hits = hits_by_target(found, own, found["model"][own])
        models = [numbers[name] for name in expected.names]
        assert hits == hits_by_target(vars(expected), range(len(expected)), models)


@pytest.mark.parametrize("n_threads", [2, 7])
def test_threads_change_nothing(families, texts, n_threads):
    options = OPTIONS["wide"]
    require_equal(searched(families, texts, options, n_threads), searched(families, texts, options))


@pytest.mark.parametrize("name", ["default", "viterbi skipped", "max"])
def test_survivors_of_another_filter_are_finished(families, texts, name):
    options, block = OPTIONS[name], block_of(texts)
    models = [from_pyhmmer(family.hmm).native for family in families]
    whole = _native.search_block(models, block, options.numbers(), 1)
    by_length = block.by_length()
    passed = [_native.msv_filter(model, block, by_length, options.f1) for model in models]
    model = np.repeat(np.arange(len(models), dtype=np.int32), [len(targets) for targets, _ in passed])
    target, nats = (np.concatenate(columns) for columns in zip(*passed, strict=True))
    unknown = np.zeros(0, np.float32)
    rest = (options.numbers(), 2)
    require_equal(_native.finish_block(models, block, model, target, nats, unknown, *rest), whole)
    viterbi = np.concatenate(
        [_native.viterbi_scores(one, block, targets) for one, (targets, _) in zip(models, passed, strict=True)]
    )
    order = np.random.default_rng(0).permutation(len(model))
    shuffled = [column[order] for column in (model, target, nats, viterbi)]
    require_equal(_native.finish_block(models, block, *shuffled, *rest), whole)


def test_scores_from_elsewhere_are_believed(families, texts):
    block, model = block_of(texts), from_pyhmmer(families[2].hmm).native
    target = block.by_length()[-60:].copy()
    where = [model], block, np.zeros(60, np.int32), target, np.full(60, -50, np.float32)
    options = SearchOptions(f1=1.0).numbers()
    none = _native.finish_block(*where, np.full(60, -np.inf, np.float32), options, 1)
    assert none["passed_by_model"].tolist() == [[60, 60, 0, 0]]
    all_of_them = _native.finish_block(*where, np.full(60, np.inf, np.float32), options, 1)
    assert all_of_them["passed_by_model"][0, :3].tolist() == [60, 60, 60]


@pytest.mark.parametrize(
    ("reporting", "keeps"),
    [
        ((1e-3, 0, -np.inf, 0, False), lambda hit: hit["p"] * (hit["target"] + 1) <= 1e-3),
        ((1e-3, 0, -np.inf, 1000, False), lambda hit: hit["p"] * (hit["target"] + 1001) <= 1e-3),
        ((0.1, 50, -np.inf, 0, False), lambda hit: hit["p"] * 50 <= 0.1),
        ((0.01, 0, -np.inf, 20, True), lambda hit: hit["p"] * (hit["model"] + 21) <= 0.01),
        ((np.inf, 0, 15.5, 0, False), lambda hit: hit["bits"] >= 15.5),
    ],
)
def test_hits_that_cannot_be_reported_are_not_held(families, texts, reporting, keeps):
    whole = searched(families, texts, OPTIONS["max"])
    models = [from_pyhmmer(family.hmm).native for family in families]
    held = _native.search_block(
        models, block_of(texts), OPTIONS["max"].numbers(), 1, progress=None, reporting=reporting
    )
    kept = keeps(whole | {"p": np.exp(whole["log_p"])})
    assert 0 < kept.sum() < len(kept)
    for name in ("model", "target", "bits"):
        assert held[name].tolist() == whole[name][kept].tolist()
    assert held["passed_by_model"].tolist() == whole["passed_by_model"].tolist()


def test_a_block_without_residues_has_no_hit(families):
    model = from_pyhmmer(families[0].hmm).native
    for texts in ([], ["", ""]):
        found = _native.search_block([model], block_of(texts), OPTIONS["max"].numbers(), 2)
        assert found["passed_by_model"].tolist() == [[0, 0, 0, 0]] and len(found["target"]) == 0
        assert found["passed_by_target"].shape == (len(texts), 4)
    assert len(_native.search_block([], block_of(["MK"]), OPTIONS["max"].numbers(), 1)["target"]) == 0


def test_progress_ascends_to_all_comparisons(families, texts):
    seen = []
    searched(families, texts * 40, OPTIONS["wide"], 2, seen.append)
    assert seen and seen == sorted(seen) and seen[-1] <= 3 * 40 * len(texts)


def test_what_progress_raises_ends_the_search(families, texts):
    def stop(n):
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        searched(families, texts * 40, OPTIONS["max"], 2, stop)
