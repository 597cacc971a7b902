"""Products, closures and models with GPUs: the functions that users call find what they find without one."""

import threading

import numpy as np
import pytest
from gpu.host_device import HostDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tropalign.decoding.gpu import MOST_STATES
from tropalign.decoding.model_base import MOST_STATES_OF_GPU
from tropalign.devices.registry import CpuDevice, GpuDevice
from tropalign.errors import DeviceError, InputError, TropalignWarning
from tropalign.tropical import BOOL, HMM, MAX_PLUS, MIN_PLUS, chain, closure, matmul, zero_of
from tropalign.tropical.closures import NegativeCycle
from tropalign.tropical.gpu import ProductTask

SETTINGS = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
DTYPES = (np.float32, np.int16, np.int32)


@pytest.fixture(params=["one", "hybrid"])
def opened(device, request, monkeypatch):
    """The host's fibres in the place of a GPU, alone and beside the processor."""

    def made(names, n_threads, *_):
        assert list(names) == ["cuda:0"]
        return [GpuDevice(device), *([CpuDevice(n_threads)] if request.param == "hybrid" else [])]

    monkeypatch.setattr("tropalign.devices.registry.open_devices", made)
    return device


def numbers(rng, shape, dtype, semiring, reach, missing):
    values = rng.integers(-reach, reach, shape) if reach else np.zeros(shape)
    values = values.astype(dtype)
    values[rng.random(shape) < missing] = zero_of(semiring, dtype)
    return values


@SETTINGS
@given(data=st.data())
def test_products(opened, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    dtype, semiring = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from([MIN_PLUS, MAX_PLUS]))
    m, depth, n = (data.draw(st.integers(0, 80)) for _ in range(3))
    p, q = data.draw(st.sampled_from([((), ()), ((3,), (3,)), ((2,), (1,)), ((1,), (2,)), ((), (2,))]))
    reach, missing = data.draw(st.sampled_from([0, 9, 3000])), data.draw(st.sampled_from([0, 0.3, 1]))
    a = numbers(rng, (*p, m, depth), dtype, semiring, reach, missing)
    b = numbers(rng, (*q, depth, n), dtype, semiring, reach, missing)
    if dtype == np.float32 and data.draw(st.booleans()):
        a, b = np.abs(a) if not semiring.is_max else -np.abs(a), np.abs(b) if not semiring.is_max else -np.abs(b)
    found, wanted = matmul(a, b, semiring, device="cuda:0"), matmul(a, b, semiring, device="cpu")
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_rows_are_shared(opened, monkeypatch):
    monkeypatch.setattr("tropalign.tropical.gpu.TILE_SUMS", 64 * 40 * 50)
    rng = np.random.default_rng(1)
    a, b = (numbers(rng, shape, np.int16, MIN_PLUS, 100, 0.2) for shape in ((500, 40), (40, 50)))
    np.testing.assert_array_equal(matmul(a, b, device="cuda:0"), matmul(a, b, device="cpu"))
    stacked = numbers(rng, (7, 70, 40), np.float32, MIN_PLUS, 100, 0.2)
    b = b.astype(np.float32)
    np.testing.assert_array_equal(matmul(stacked, b, device="cuda:0"), matmul(stacked, b, device="cpu"))


@SETTINGS
@given(data=st.data())
def test_closures(opened, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    dtype, semiring = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from([MIN_PLUS, MAX_PLUS]))
    n, missing = data.draw(st.integers(0, 140)), data.draw(st.sampled_from([0, 0.5, 0.97, 1]))
    edges = numbers(rng, (n, n), dtype, semiring, data.draw(st.sampled_from([0, 9, 3000, 16_000])), missing)
    is_edge = edges != zero_of(semiring, dtype)
    edges[is_edge] = -np.abs(edges[is_edge]) if semiring.is_max else np.abs(edges[is_edge])
    outcomes = []
    for device in ("cuda:0", "cpu"):
        try:
            outcomes.append(closure(edges, semiring, device=device).tobytes())
        except InputError as error:  # int16 does not hold the result
            outcomes.append(str(error))
        except DeviceError as error:  # nor do the integers of a GPU
            assert "such large weights" in str(error) and dtype != np.float32
            return
    assert outcomes[0] == outcomes[1]


def test_closures_tell_their_progress_and_round_as_floats_do(opened):
    rng, told = np.random.default_rng(5), []
    edges = rng.uniform(0, 1, (300, 300)).astype(np.float32)
    found = closure(edges, device="cuda:0", progress=told.append)
    assert told[-1] == 300 and told == sorted(told)
    np.testing.assert_allclose(found, closure(edges, device="cpu"), rtol=1e-6)


def test_cycles_and_results_that_a_type_cannot_hold(opened):
    edges = np.full((5, 5), np.inf, np.float32)
    edges[1, 3], edges[3, 4], edges[4, 1] = 1, 1, -3
    for device in ("cpu", "cuda:0"):
        with pytest.raises(NegativeCycle, match=r"^the cycle .* is negative .its weight is -1"):
            closure(edges, device=device)
    high = np.full((3, 3), 20_000, np.int16)
    for device in ("cpu", "cuda:0"):
        with pytest.raises(InputError, match=r"entry \[0, 0\] is 40000, which int16 cannot hold"):
            matmul(high, high, device=device)


@SETTINGS
@given(data=st.data())
def test_chains(opened, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    dtype, semiring = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from([MIN_PLUS, MAX_PLUS]))
    n, count = data.draw(st.integers(0, 70)), data.draw(st.integers(1, 6))
    matrices = [
        numbers(rng, (n, n), dtype, semiring, 900, data.draw(st.sampled_from([0, 0.5, 1]))) for _ in range(count)
    ]
    found, wanted = (chain(matrices, semiring, device=device) for device in ("cuda:0", "cpu"))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def random_model(rng, n_states, n_symbols, missing):
    transition, emission = rng.dirichlet(np.ones(n_states), n_states), rng.dirichlet(np.ones(n_symbols), n_states)
    transition[rng.random(transition.shape) < missing] = 0
    transition[:, 0] += 1 - transition.sum(axis=1)
    return HMM(rng.dirichlet(np.ones(n_states)), transition, emission)


@pytest.mark.parametrize("missing", [0, 0.6])
def test_models(opened, missing, monkeypatch):
    monkeypatch.setattr("tropalign.decoding.gpu.TILE_SUMS", 3000)
    rng = np.random.default_rng(3)
    model = random_model(rng, 9, 4, missing)
    batch = [rng.integers(-1, 4, n) for n in rng.integers(0, 60, 30)]
    frames = [np.log(rng.uniform(0, 1e-200, (n, 9))) for n in (0, 1, 40, 7)]
    frames[2][3] = frames[2][4:, 2] = -np.inf
    for observed in (batch, frames, batch[1]):
        found, wanted = (model.viterbi(observed, device=device) for device in ("cuda:0", "cpu"))
        for one, other in zip(found[0], wanted[0], strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(found[1], wanted[1])
        sums = [model.forward(observed, device=device) for device in ("cuda:0", "cpu")]
        np.testing.assert_allclose(*sums, rtol=1e-12, atol=1e-12)


def test_what_has_no_kernel(monkeypatch):
    monkeypatch.setattr("tropalign.devices.registry.open_devices", lambda *_: [GpuDevice(HostDevice(16))])
    wide, far = np.zeros((2, 2)), np.array([[-(2**30)], [2**30]], np.int32)
    for call, words in (
        (lambda: matmul(wide, wide, device="cuda:0"), "^cuda:0: products of float64 are computed on the CPU only"),
        (lambda: matmul(wide > 0, wide > 0, BOOL, device="cuda:0"), "^cuda:0: products over bool are"),
        (lambda: matmul(far, far.T, argbest=True, device="cuda:0"), "^cuda:0: products with argbest are"),
        (
            lambda: matmul(far, far.T, device="cuda:0"),
            "^host: products of such large or widely spread numbers are",
        ),
        (lambda: chain([far, far.T], device="cuda:0"), "^cuda:0: chains of matrices of several sizes are"),
        (
            lambda: chain([np.full((2, 2), 2**30, np.int32)] * 2, device="cuda:0"),
            "^host: chains of such large or widely spread numbers",
        ),
        (lambda: closure(wide, device="cuda:0"), "^cuda:0: closures of float64 are"),
        (lambda: closure(wide > 0, BOOL, device="cuda:0"), "^cuda:0: closures over bool are"),
        (
            lambda: closure(np.eye(2, dtype=np.int32), predecessors=True, device="cuda:0"),
            "^cuda:0: closures with predecessors are",
        ),
        (lambda: closure(-np.eye(2, dtype=np.int32)[::-1], device="cuda:0"), "^host: closures of int32 with negative"),
    ):
        with pytest.raises(DeviceError, match=f"{words}.*: choose the device cpu$"):
            call()
    monkeypatch.setattr("tropalign.devices.registry.open_devices", lambda *_: [GpuDevice(HostDevice(16)), CpuDevice(1)])
    with pytest.raises(InputError, match="convert the matrices to float64"):
        matmul(far, far.T, device="cuda:0")


def test_models_that_are_too_large():
    n = MOST_STATES_OF_GPU + 1
    model = HMM(np.full(n, 1 / n), np.full((n, n), 1 / n))
    with pytest.raises(DeviceError, match=r"^cuda:0: models of 1,025 states are computed on the CPU only"):
        model.forward(np.zeros((1, n)), device="cuda:0")
    assert MOST_STATES_OF_GPU == MOST_STATES


def test_a_gpu_that_fails_costs_a_warning(monkeypatch):
    device, failed, on_cpu = HostDevice(16), threading.Event(), ProductTask.on_cpu

    def fails(*_):
        failed.set()
        raise DeviceError("it is on fire")

    def later(*given):
        assert failed.wait(60)
        return on_cpu(*given)

    monkeypatch.setattr(device, "build", fails)
    monkeypatch.setattr(ProductTask, "on_cpu", later)
    monkeypatch.setattr("tropalign.tropical.gpu.TILE_SUMS", 1)
    monkeypatch.setattr("tropalign.devices.registry.open_devices", lambda *_: [GpuDevice(device), CpuDevice(1)])
    a = np.eye(200, dtype=np.int32)
    with pytest.warns(TropalignWarning, match="host failed at tile [0-9]+ .it is on fire.: the CPU computes"):
        np.testing.assert_array_equal(matmul(a, a, device="cuda:0"), matmul(a, a, device="cpu"))


def test_auto_opens_no_driver_for_little_work(monkeypatch):
    monkeypatch.setattr("tropalign.devices.registry.open_devices", lambda *_: pytest.fail("a driver was opened"))
    assert matmul(np.zeros((1, 1)), np.zeros((1, 1))).tolist() == [[0.0]]
