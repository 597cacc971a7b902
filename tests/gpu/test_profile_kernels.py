"""Profiles aligned on the host's fibres, OpenCL and every GPU: the processor's paths."""

import numpy as np
import pytest
from gpu.host_device import HostDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tropalign import _native
from tropalign.devices.registry import CpuDevice, GpuDevice
from tropalign.errors import ResourceError, UsageError
from tropalign.msa import align_profile_pairs, align_profiles
from tropalign.msa.gpu_profiles import ProfilesOnGpu

LETTERS = 25


def random_profile(rng, n_columns):
    """Some columns of one letter or blanks only, the others mixed."""
    profile = rng.dirichlet(np.full(LETTERS, rng.choice([0.05, 1.0])), n_columns)
    for column in np.flatnonzero(rng.random(n_columns) < 0.5):
        profile[column] = 0
        profile[column, rng.choice([0, 3, LETTERS - 1])] = 1
    return profile


def random_scores(rng):
    scores = rng.integers(-4, 9, (LETTERS, LETTERS)).astype(np.float64)
    scores[-1] = scores[:, -1] = -4
    scores[-1, -1] = 0
    return scores


def check(device, seed, sizes):
    rng = np.random.default_rng(seed)
    profiles = [(random_profile(rng, m), random_profile(rng, n)) for m, n in sizes]
    wanted = [_native.align_profiles(*pair) for pair in profiles]
    compare(ProfilesOnGpu(device).profiles(profiles), wanted)
    scores = random_scores(rng)
    texts = [(p, rng.integers(0, LETTERS - 1, len(q)).astype(np.uint8)) for p, q in profiles]
    wanted = [_native.align_profile_to_sequence(p, codes, scores) for p, codes in texts]
    compare(ProfilesOnGpu(device).sequences(texts, scores), wanted)


def compare(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one[2] == other[2]
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_profiles_of_several_strips(vendor_device):
    check(vendor_device, 1, [(1, 1), (64, 65), (65, 1), (1, 130), (200, 140)])


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.tuples(st.integers(1, 130), st.integers(1, 130)), max_size=4),
)
def test_any_profiles(host, seed, sizes):
    check(host, seed, sizes)


def test_pairs_are_shared(host, monkeypatch):
    monkeypatch.setattr("tropalign.msa.profiles.TILE_CELLS", 2000)
    rng = np.random.default_rng(6)
    pairs = [(random_profile(rng, m), random_profile(rng, n)) for m, n in rng.integers(1, 70, (12, 2))]
    wanted = [align_profiles(*pair) for pair in pairs]
    for opened in ([GpuDevice(host)], [GpuDevice(host), CpuDevice(1)], [CpuDevice(1)]):
        monkeypatch.setattr("tropalign.msa.profiles.open_devices", lambda *_, opened=opened: opened)
        found = align_profile_pairs(pairs, device="cuda:0")
        compare(
            [(one.first, one.second, one.n_columns) for one in found],
            [(one.first, one.second, one.n_columns) for one in wanted],
        )
        assert [one.total for one in found] == [one.total for one in wanted]


def test_pairs_that_are_refused():
    assert align_profile_pairs([]) == []
    with pytest.raises(
        UsageError, match=r"^the profiles have 3 and 4 values per column: use the same alphabet for all$"
    ):
        align_profile_pairs([(np.zeros((2, 3)), np.zeros((2, 4)))])
    for pairs in (3, [3], [(1, 2, 3)]):
        with pytest.raises(UsageError, match=r"^the pairs must be a list of pairs of profiles or alignments$"):
            align_profile_pairs(pairs)
    with pytest.raises(UsageError, match="is not a device"):
        align_profile_pairs([], device="gpu")


def test_little_memory_takes_pairs_in_turn():
    check(HostDevice(16, budget=60_000), 3, [(30, 40), (70, 20), (64, 64)])
    with pytest.raises(ResourceError, match=r"^host: the directions of 64 columns computed together need"):
        check(HostDevice(16, budget=5000), 3, [(64, 64)])
