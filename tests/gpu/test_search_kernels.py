"""The filters of a search on the host's fibres, OpenCL and every GPU: the processor's numbers."""

import numpy as np
import pytest
from gpu.host_device import HostDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tropalign
from tropalign import _native
from tropalign.devices.registry import CpuDevice, GpuDevice
from tropalign.errors import ResourceError
from tropalign.profiles.gpu import FiltersOnGpu, Shape, check_gpu, on_processor, proteins_of, random_model

#: Small groups, several sizes of lanes, each of which a model may take.
SMALL = Shape(lanes=(4, 8), words=(1, 2, 5), nodes=(1, 3, 8))


def random_texts(rng, consensus, lengths):
    """Random residues of all 29 codes, and relatives of the model."""
    texts = [rng.integers(0, 29 if k % 3 == 0 else 20, n) for k, n in enumerate(lengths)]
    related = np.where(rng.random(len(consensus)) < 0.8, consensus, rng.integers(0, 20, len(consensus)))
    keep = rng.random(len(consensus)) < 0.9
    return [*texts, related, related[keep], np.concatenate([related, texts[0], related]), np.tile(consensus, 4)]


def check(device, seed, sizes, lengths, shape=None, f1=1.0):
    rng = np.random.default_rng(seed)
    made = [random_model(rng, n) for n in sizes]
    proteins = proteins_of([text for _, consensus in made for text in random_texts(rng, consensus, lengths)])
    models = [model for model, _ in made]
    got, wanted = FiltersOnGpu(device, shape).survivors(models, proteins, f1), on_processor(models, proteins, f1)
    for name, a, b in zip(("model", "target", "msv", "viterbi"), got, wanted, strict=True):
        assert a.dtype == b.dtype and np.array_equal(a, b), name
    return got


@pytest.mark.parametrize("n_nodes", [1, 2, 7, 31, 33, 64])
def test_models(vendor_device, n_nodes):
    _, _, msv, viterbi = check(vendor_device, n_nodes, [n_nodes], [0, 1, 40, 90])
    assert len(msv) == 7
    assert n_nodes < 30 or (np.isfinite(viterbi).any() and np.isinf(viterbi).any())


def test_the_shape_that_devices_run(device):
    check(device, 1, [150, 300], [200, 31])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_model(host, data):
    sizes = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=2))
    lengths = data.draw(st.lists(st.integers(0, 60), min_size=1, max_size=3))
    check(host, data.draw(st.integers(0, 10**6)), sizes, lengths, SMALL, data.draw(st.sampled_from([1.0, 0.02])))


def test_scores_beyond_bytes_and_words(host):
    """Long relatives: SSV and MSV overflow; a repeat of hundreds saturates 16 bits."""
    rng = np.random.default_rng(5)
    model, consensus = random_model(rng, 60)
    proteins = proteins_of([np.tile(consensus, n) for n in (1, 2, 9, 150)])
    got, wanted = FiltersOnGpu(host, SMALL).survivors([model], proteins, 1.0), on_processor([model], proteins, 1.0)
    assert all(map(np.array_equal, got, wanted))
    assert np.isinf(got[2]).any() and np.isinf(got[3]).any()


def test_nothing_passes_and_large_models_go_to_the_processor(host):
    model, _ = random_model(np.random.default_rng(1), 20)
    proteins = proteins_of([np.zeros(0, np.uint8), np.zeros(0, np.uint8)])
    assert [len(column) for column in FiltersOnGpu(host, SMALL).survivors([model], proteins, 1.0)] == [0] * 4
    shape = Shape(lanes=(4,), words=(1,), nodes=(2,))
    built = len(host.built)
    check(host, 3, [30], [20], shape)
    assert len(host.built) == built


def test_little_memory(monkeypatch):
    device = HostDevice(16, budget=1000)
    with pytest.raises(ResourceError, match=r"^host: the sequences of a tile computed together need .* cpu$"):
        check(device, 1, [20], [30], SMALL)
    device.budget = 1 << 28
    monkeypatch.setattr("tropalign.profiles.gpu.FIRST_CELLS", 500)
    check(device, 1, [20], [30, 20, 44], SMALL)


def test_the_check_of_devices(vendor_device, monkeypatch):
    check_gpu(vendor_device)
    monkeypatch.setattr("tropalign.profiles.gpu.WORD_BASE", 11_000)
    with pytest.raises(tropalign.DeviceError, match="scores of profile models differ from those of the CPU"):
        check_gpu(vendor_device)


def test_a_search_with_a_gpu_finds_what_one_without_finds(host, monkeypatch):
    from tropalign.profiles.task import SearchTask

    monkeypatch.setattr("tropalign.profiles.gpu.Shape.lanes", (8, 32, 64), raising=False)
    used = []
    on_gpu = SearchTask.on_gpu
    monkeypatch.setattr(SearchTask, "on_gpu", lambda *arguments: used.append(1) or on_gpu(*arguments))

    def opened(names, *_):
        return [GpuDevice(host)] if "cuda:0" in names else [CpuDevice(1)]

    monkeypatch.setattr("tropalign.profiles.api.open_devices", opened)
    found = [tropalign.search("examples/efp.hmm", "examples/efp.fasta", device=name) for name in ("cpu", "cuda:0")]
    assert used and len(found[0]) > 0
    first, second = (hits.columns() for hits in found)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_wrong_calls():
    model, _ = random_model(np.random.default_rng(1), 400)
    block = proteins_of([np.zeros(500, np.uint8), np.zeros(900, np.uint8)]).native
    order, two = block.by_length(), np.zeros(2, np.uint8)
    for arguments, words in (
        (
            (model, block, order[::-1].copy(), two, 0.02, lambda *_: two),
            "targets: must be in order of ascending length",
        ),
        ((model, block, order + 1, two, 0.02, lambda *_: two), "targets: a number is outside"),
        ((model, block, order, two[:1], 0.02, lambda *_: two), "highest: must have one per target"),
        ((model, block, order, two, -1.0, lambda *_: two), "F1: must be a P-value"),
        ((model, block, order, two + 255, 1.0, lambda *_: two[:0]), "msv: must return a byte per target"),
    ):
        with pytest.raises(ValueError, match=words):
            _native.msv_filter_of_highest(*arguments)
    with pytest.raises(ValueError, match="highest: must have one per target"):
        _native.viterbi_scores_of_highest(block, order, np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="targets: a number is outside"):
        _native.word_moves(block, order - 1)
