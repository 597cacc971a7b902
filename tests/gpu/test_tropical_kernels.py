"""Products, closures and hidden Markov models on the host's fibres, OpenCL and every GPU, against plain sums."""

from itertools import pairwise

import numpy as np
import pytest
from gpu.host_device import HostDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tropalign
from tropalign import _native
from tropalign.decoding.gpu import ModelsOnGpu, Shape, forward_period, plain_forward
from tropalign.decoding.gpu import check_gpu as check_models
from tropalign.decoding.observations import Observations
from tropalign.errors import DeviceError, ResourceError
from tropalign.tropical.gpu import INFINITY, Kind, Layout, ProductsOnGpu, check_gpu, random_matrix

FLOATS, POSITIVE = Layout(Kind.FLOATS, 32), Layout(Kind.POSITIVE, 32)
SETTINGS = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def layouts(device):
    return [Layout(Kind.WORDS, bits) for bits in (16, 32) if bits >= device.word_bits] + [FLOATS, POSITIVE]


def plain_product(a, b, infinity):
    best = np.full((max(len(a), len(b)), a.shape[1], b.shape[2]), float(infinity))
    for k in range(a.shape[2]):
        best = np.minimum(best, a[:, :, k, None].astype(float) + b[:, None, k])
    return best


def plain_closure(edges, infinity):
    paths = edges.astype(float)
    np.fill_diagonal(paths, np.minimum(np.diagonal(paths), 0))
    for k in range(len(paths)):
        paths = np.minimum(paths, paths[:, k : k + 1] + paths[k])
    return np.minimum(paths, infinity)


@pytest.mark.parametrize("kind", range(4))
def test_products_of_several_tiles(vendor_device, kind):
    rng, layout = np.random.default_rng(kind), layouts(vendor_device)[kind % len(layouts(vendor_device))]
    for count, m, depth, n in ((1, 64, 16, 128), (1, 130, 33, 129), (3, 65, 70, 20)):
        a, b = random_matrix(rng, (count, m, depth), layout), random_matrix(rng, (count, depth, n), layout)
        found = ProductsOnGpu(vendor_device).product(a, b, layout)
        assert found.dtype == layout.dtype
        np.testing.assert_array_equal(found, plain_product(a, b, layout.infinity))


@SETTINGS
@given(data=st.data())
def test_any_product(device, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    layout = data.draw(st.sampled_from(layouts(device)))
    m, depth, n = (data.draw(st.integers(0, 130)) for _ in range(3))
    counts = data.draw(st.sampled_from([(1, 1), (1, 3), (3, 1), (2, 2)]))
    missing = data.draw(st.sampled_from([0, 0.3, 1]))
    a = random_matrix(rng, (counts[0], m, depth), layout, missing)
    b = random_matrix(rng, (counts[1], depth, n), layout, missing)
    found = ProductsOnGpu(device).product(a, b, layout)
    np.testing.assert_array_equal(found, plain_product(a, b, layout.infinity))


def test_floats_are_added_once_and_so_are_those_of_numpy(device):
    rng = np.random.default_rng(4)
    for layout, lowest in ((FLOATS, -1), (POSITIVE, 0)):
        a, b = (rng.uniform(lowest, 1, shape).astype(np.float32) for shape in ((1, 70, 40), (1, 40, 70)))
        wanted = (a[0, :, :, None] + b).min(axis=1)
        np.testing.assert_array_equal(ProductsOnGpu(device).product(a, b, layout)[0], wanted)


@pytest.mark.parametrize("bits", [16, 32])
def test_the_highest_integers(bits):
    """Sums as high as two infinities, of halves beside each other, do not wrap or carry."""
    device, layout, top = HostDevice(16), Layout(Kind.WORDS, bits), INFINITY[bits]
    a = np.array([[[top, top - 1], [0, top], [top, top]]], layout.dtype)
    b = np.array([[[top, 0, 1, top - 1], [1, top, 0, 0]]], layout.dtype)
    np.testing.assert_array_equal(ProductsOnGpu(device).product(a, b, layout), plain_product(a, b, top))


@pytest.mark.parametrize("n", [1, 63, 129, 260])
def test_closures(vendor_device, n):
    rng = np.random.default_rng(n)
    for layout in layouts(vendor_device):
        edges = np.abs(random_matrix(rng, (n, n), layout, 0.9))
        for together in (1, 2, 4):
            found = ProductsOnGpu(vendor_device, together).closure(edges, layout)
            np.testing.assert_array_equal(found, plain_closure(edges, layout.infinity))


@SETTINGS
@given(n=st.integers(1, 130), seed=st.integers(0, 10**6), missing=st.sampled_from([0, 0.5, 0.95, 1]))
def test_any_closure(device, n, seed, missing):
    rng = np.random.default_rng(seed)
    for layout in layouts(device):
        edges = np.abs(random_matrix(rng, (n, n), layout, missing))
        np.testing.assert_array_equal(
            ProductsOnGpu(device, 2).closure(edges, layout), plain_closure(edges, layout.infinity)
        )


def test_negative_edges_and_cycles_of_floats(device):
    """Potentials make edges negative and no cycle."""
    rng = np.random.default_rng(7)
    potential = rng.integers(-500, 500, 150)
    edges = random_matrix(rng, (150, 150), POSITIVE, 0.9) + (potential[:, None] - potential).astype(np.float32)
    np.testing.assert_array_equal(ProductsOnGpu(device).closure(edges, FLOATS), plain_closure(edges, np.inf))
    edges = np.full((90, 90), np.inf, np.float32)
    edges[3, 70], edges[70, 8], edges[8, 3] = 1, 1, -3
    found = np.diagonal(ProductsOnGpu(device).closure(edges, FLOATS))
    assert np.flatnonzero(found < 0).tolist() == [3, 8, 70]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_chains(device, count):
    rng = np.random.default_rng(count)
    for layout in layouts(device):
        matrices = random_matrix(rng, (count, 20, 20), layout)
        wanted = matrices[:1].astype(float)
        for matrix in matrices[1:]:
            wanted = plain_product(wanted, matrix[None], layout.infinity)
        np.testing.assert_array_equal(ProductsOnGpu(device).chain(matrices, layout), wanted[0])


def test_little_memory_makes_pieces():
    device, layout = HostDevice(16), Layout(Kind.WORDS, 16)
    rng = np.random.default_rng(3)
    a, b = random_matrix(rng, (1, 300, 30), layout), random_matrix(rng, (1, 30, 100), layout)
    wanted = plain_product(a, b, layout.infinity)
    products, launches = ProductsOnGpu(device), []
    device.budget = 32 * 128 * 2 + 64 * 160 * 2
    products.pace.cells = 10**12
    np.testing.assert_array_equal(products.product(a, b, layout, lambda: launches.append(1)), wanted)
    assert len(launches) == 1 + 5
    several = random_matrix(rng, (4, 30, 20), layout)
    launches.clear()
    device.budget = 2 * (32 * 64 + 64 * 128 + 32 * 128) * 2
    products.pace.cells = 10**12
    found = products.product(several, b[:, :20], layout, lambda: launches.append(1))
    np.testing.assert_array_equal(found, plain_product(several, b[:, :20], layout.infinity))
    assert len(launches) == 2
    device.budget = 1000
    with pytest.raises(ResourceError, match=r"^host: some rows of a matrix and of its product computed together need"):
        products.product(a, b, layout)
    with pytest.raises(ResourceError, match=r"^host: the rows of a matrix computed together need"):
        products.closure(a[0, :30], layout)
    with pytest.raises(ResourceError, match=r"^host: the matrices of a chain computed together need"):
        products.chain(several[:, :20], layout)


def random_model(rng, n_states, n_symbols, missing=0.0):
    start, transition = rng.dirichlet(np.ones(n_states)), rng.dirichlet(np.ones(n_states), n_states)
    emission = rng.dirichlet(np.ones(n_symbols), n_states)
    transition[rng.random(transition.shape) < missing] = 0
    return start, transition, emission


def check_model(device, rng, model, lengths, shape=None):
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    codes = rng.integers(0, model[2].shape[1], offsets[-1]).astype(np.uint8)
    with np.errstate(divide="ignore"):
        start, transition, emission = (np.log(table) for table in model)
    frames = np.ascontiguousarray(emission.T[codes])
    models = ModelsOnGpu(device, shape)
    wanted = _native.viterbi_codes(start, transition, emission, codes, offsets)
    for emitted, steps in ((emission, codes), (None, frames)):
        found = models.paths(start, transition, emitted, Observations.of(steps, offsets))
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
    sums = [plain_forward(*model, codes[a:b]) for a, b in pairwise(offsets)]
    for emitted, steps in ((model[2], codes), (None, np.exp(frames))):
        found = models.forward(*model[:2], emitted, Observations.of(steps, offsets))
        np.testing.assert_allclose(found, sums, rtol=1e-12, atol=1e-12)
    return wanted


@pytest.mark.parametrize("n_states", [1, 2, 8, 65, 300])
def test_models(vendor_device, n_states):
    rng = np.random.default_rng(n_states)
    lengths = rng.integers(0, 80 if n_states < 100 else 6, 21)
    paths, _ = check_model(vendor_device, rng, random_model(rng, n_states, 5, 0.3), lengths)
    assert n_states < 8 or len(set(paths.tolist())) > 3


def test_equal_paths_and_sums_within_doubles(host):
    """Two paths of the same steps in another order: sums of unrounded logarithms would differ in their last bits."""
    rng = np.random.default_rng(0)
    check_model(host, rng, random_model(rng, 3, 3), [49])
    # Emissions so improbable that a few steps leave the doubles, were V not brought up.
    rng = np.random.default_rng(2)
    start, transition, emission = random_model(rng, 5, 4)
    check_model(host, rng, (start, transition, emission * 1e-80), [300])
    assert forward_period(start, transition, emission * 1e-80) < 4 < forward_period(start, transition, emission)


@SETTINGS
@given(data=st.data())
def test_any_model(host, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    model = random_model(
        rng, data.draw(st.sampled_from([1, 2, 3, 7, 64, 66])), 3, data.draw(st.sampled_from([0, 0.5, 1]))
    )
    check_model(host, rng, model, data.draw(st.lists(st.integers(0, 70), max_size=12)))


def test_ties_take_the_lowest_state(device):
    same = np.full((6, 6), -1.0)
    offsets = np.array([0, 40], np.int64)
    paths, scores = ModelsOnGpu(device).paths(same[0], same, same, Observations.of(np.zeros(40, np.uint8), offsets))
    assert not paths.any() and scores[0] == -80


def test_models_that_are_too_large(host):
    many = np.zeros((1025, 1025))
    one = Observations.of(np.zeros(1, np.uint8), np.array([0, 1], np.int64))
    with pytest.raises(DeviceError, match=r"^host: models of 1,025 states are computed on the CPU only$"):
        ModelsOnGpu(host).paths(many[0], many, many, one)
    with pytest.raises(ResourceError, match="the values of a sequence of 10 steps computed together need"):
        tight = HostDevice(16, budget=100)
        steps = Observations.of(np.zeros(10, np.uint8), np.array([0, 10], np.int64))
        ModelsOnGpu(tight).paths(many[0, :3], many[:3, :3], many[:3, :3], steps)


def test_little_memory_takes_sequences_in_turn():
    rng, device = np.random.default_rng(8), HostDevice(16, budget=2500)
    check_model(device, rng, random_model(rng, 3, 4), [30, 40, 0, 12, 40], Shape(abreast=2))


def test_the_check_of_devices(vendor_device, monkeypatch):
    check_gpu(vendor_device)
    check_models(vendor_device)
    monkeypatch.setattr("tropalign.decoding.gpu.rounded", np.floor)
    with pytest.raises(tropalign.DeviceError, match="its paths of hidden Markov models differ from those of the CPU"):
        check_models(vendor_device)
