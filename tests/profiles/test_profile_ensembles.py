"""Regions, stochastic traces and their clusters against plain oracles (tests/oracles/trace_ensemble.py)."""

import shutil
import subprocess

import numpy as np
import pytest
from clone import ROOT, skip_without
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import trace_ensemble as oracle

from tropalign import _native
from tropalign.profiles.building import denormals_as_zero
from tropalign.profiles.proteins import BACKGROUND


def random_model(M, seed):
    """A model that is as sharp as real ones are."""
    rng = np.random.default_rng(seed)
    match = np.zeros((M + 1, 20), np.float32)
    match[1:] = rng.dirichlet(np.full(20, 0.15), M)
    t = np.zeros((M + 1, 7), np.float32)
    t[:, :3] = rng.dirichlet([20, 1.5, 1.5], M + 1)
    t[:, 3:5] = rng.dirichlet([2, 2], M + 1)
    t[:, 5:] = rng.dirichlet([3, 2], M + 1)
    composition = match[1:].mean(0)
    evalue = np.array([-8, 0.7, -9, 0.7, -4, 0.7], np.float32)
    return _native.ProfileModel(match, t, composition, BACKGROUND, evalue, b"x" * M), match


def repeats_of(match, n, seed):
    """Codes of n worn-out members of the family, with spacers and some ambiguous residues."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(n):
        parts.append(rng.integers(0, 20, rng.integers(0, 7)))
        member = np.array([rng.choice(20, p=row / row.sum()) for row in match[1:].astype(float)])
        parts.append(member[rng.random(len(member)) > 0.1])
    codes = np.concatenate(parts)
    odd = rng.random(len(codes)) < 0.04
    codes[odd] = rng.choice([20, 21, 22, 23, 24, 25, 26, 27, 28], odd.sum())
    return codes.astype(np.uint8)


@pytest.mark.parametrize(("M", "n"), [(1, 3), (4, 4), (9, 3), (33, 2), (104, 2)])
def test_traces(M, n, isa):
    model, match = random_model(M, seed=M)
    codes = repeats_of(match, n, seed=M + 1)
    L, n_traces = len(codes), 25
    block = _native.TargetBlock(codes, np.array([0, L]))
    begin, end = L // 9, L - L // 10
    segments, scores = _native.trace_segments(model, block, 0, begin, end, n_traces, seed=3)
    with denormals_as_zero():
        matrix = oracle.Matrix(model.match_odds, model.transitions, codes[begin:end], L)
        expected, expected_scores = oracle.ensemble(matrix, n_traces, seed=3)
    assert len(expected) >= n_traces
    assert segments.tolist() == [[t, b + begin, e + begin, k, m] for t, b, e, k, m in expected]
    np.testing.assert_allclose(scores, expected_scores, rtol=3e-7, atol=3e-7)  # but for the logarithm, of equal bits


def test_traces_end_where_posteriors_say(isa):
    model, match = random_model(30, seed=2)
    codes = repeats_of(match, 3, seed=5)
    block = _native.TargetBlock(codes, np.array([0, len(codes)]))
    n = 20_000
    segments, _ = _native.trace_segments(model, block, 0, 0, len(codes), n, seed=11)
    (parsed,) = _native.parse_targets(model, block, np.zeros(1, np.int32))
    rows = np.arange(1, len(codes) + 1)
    ends = np.searchsorted(np.sort(segments[:, 2]), rows, side="right") / n  # domains per trace that end up to here
    np.testing.assert_allclose(ends, parsed["end"][1:], atol=0.02)
    assert parsed["end"][-1] > 1


def test_draws_without_division_are_hmmers(tmp_path):
    """Paths whose random numbers lie beside the borders between them, and rows' ends."""
    skip_without("native")
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    program = tmp_path / "trace_draws"
    sources = [
        ROOT / "tests/native/trace_draws.cpp",
        *(ROOT / "native/compute" / f"{name}.cpp" for name in ("buffer", "forks")),
    ]
    subprocess.run(["g++", "-std=c++20", "-O2", "-ffp-contract=off", *sources, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) > 1_000_000


probabilities = st.floats(0, 1, width=32)


@given(st.lists(st.tuples(probabilities, probabilities, probabilities), max_size=40))
def test_regions(steps):
    begin = np.cumsum([0, *(step[0] / 4 for step in steps)], dtype=np.float32)
    end = np.cumsum([0, *(step[1] / 4 for step in steps)], dtype=np.float32)
    homology = np.array([0, *(step[2] for step in steps)], np.float32)
    expected = [[first - 1, last, several] for first, last, several in oracle.regions(begin, end, homology)]
    assert _native.testing.find_regions(begin, end, homology).tolist() == expected


@st.composite
def ensembles(draw):
    """Domains around a few places, of which some begin at the same residue, and stray ones."""
    n_traces = draw(st.integers(1, 12))
    places = draw(st.lists(st.tuples(*[st.integers(0, 60), st.integers(1, 40)] * 2), min_size=1, max_size=4))
    segments = []
    for trace in range(n_traces):
        for begin, length, model_begin, model_length in places:
            if draw(st.booleans()):
                shift, longer = draw(st.integers(0, 3)), draw(st.integers(0, 3))
                segments.append((trace, begin + shift, begin + shift + length + longer, model_begin + shift,
                                 model_begin + shift + model_length + draw(st.integers(0, 5))))  # fmt: skip
    return n_traces, segments


@settings(max_examples=300)
@given(ensembles())
def test_clusters(ensemble):
    n_traces, segments = ensemble
    envelopes, share = _native.testing.cluster_segments(np.array(segments, np.int32).reshape(-1, 5), n_traces)
    found = [(*envelope, float(p)) for envelope, (p,) in zip(envelopes.tolist(), share, strict=True)]
    assert found == oracle.clusters(segments, n_traces)


@pytest.mark.parametrize("seed", range(4))
def test_clusters_of_many_segments(seed, isa):
    """More than a vector, in several places, with clusters taken out of the middle."""
    rng = np.random.default_rng(seed)
    n_traces, places = 60, [(10, 40, 0), (12, 44, 20), (60, 30, 0), (95, 33, 2), (98, 5, 70), (140, 60, 5)]
    segments = []
    for trace in range(n_traces):
        for begin, length, model_begin in places:
            if rng.random() < 0.7:
                a, b, c, d = rng.geometric(0.3, 4) * rng.choice([-1, 1], 4)
                begin_here, model_here = max(0, begin + a), max(0, model_begin + a + c // 3)
                segments.append((trace, begin_here, begin_here + max(1, length + b), model_here,
                                 model_here + max(1, length + b + d // 3)))  # fmt: skip
    envelopes, share = _native.testing.cluster_segments(np.array(segments, np.int32), n_traces)
    found = [(*envelope, float(p)) for envelope, (p,) in zip(envelopes.tolist(), share, strict=True)]
    assert found == oracle.clusters(segments, n_traces)
    assert len(found) >= 3
