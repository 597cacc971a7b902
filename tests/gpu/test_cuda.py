"""The CUDA device without CUDA: its calls against a driver in Python, whose kernels are the host's."""

import gc
import sys

import numpy as np
import pytest
from gpu.cases import MIDDLE, check, proteins, random_proteins, task
from gpu.fake_cuda import CUresult, FakeDriver
from gpu.host_device import HostDevice
from tropalign.execution.queue import run

import tropalign
from tropalign.devices import cuda
from tropalign.devices.registry import CpuDevice, GpuDevice, find_gpus, open_devices
from tropalign.errors import DeviceError, TropalignWarning
from tropalign.pairwise.self_test import check_gpu


@pytest.fixture
def driver(monkeypatch):
    """A driver with one card of 256 MiB."""
    return install(monkeypatch, FakeDriver())


def install(monkeypatch, fake):
    def compile_for_host(source, constants, capability):
        assert capability == fake.capability
        fake.compiled = HostDevice(16).build(source, constants).compiled
        return b"machine code"

    monkeypatch.setattr(cuda, "_driver", lambda: fake)
    monkeypatch.setattr(cuda, "cached_cubin", compile_for_host)
    monkeypatch.setattr("tropalign.devices.registry._is_installed", lambda library: True)
    return fake


def test_alignments(driver):
    device = cuda.CudaDevice("cuda:0")
    batch = proteins(random_proteins(1, 30, 60))
    for mode in ("local", "global"):
        check(device, task(batch, mode=mode), MIDDLE)
    check_gpu(device)
    assert driver.launched


def test_all_is_given_back(driver):
    device = cuda.CudaDevice("cuda:0")
    job = task(proteins(random_proteins(2, 10, 60)))
    job.on_gpu(job.tiles()[0], device)
    assert len(driver.blocks) == 5  # what stays for the next tile: sequences (3), steps and matrix
    del job
    gc.collect()
    assert not driver.blocks and not driver.modules
    del device
    gc.collect()
    assert not (driver.streams or driver.pinned or driver.contexts or driver.cached)


def test_runs_leave_nothing_behind(driver, monkeypatch):
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "20")
    for _ in range(3):
        list(tropalign.align_all(proteins(random_proteins(5, 24, 40)), device="cuda:0"))
        gc.collect()
        assert not (driver.streams or driver.pinned or driver.contexts or driver.blocks or driver.modules)


def test_a_full_card_leaves_the_others(monkeypatch):
    class Full(FakeDriver):
        def cuDevicePrimaryCtxRetain(self, device):
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, None

    install(monkeypatch, Full())
    infos, _ = find_gpus()
    assert [info.free_bytes for info in infos if info.name == "cuda:0"] == [None]
    with pytest.warns(TropalignWarning, match="cuda:0 cannot be opened: .*out of memory.*: the other devices compute"):
        assert open_devices(["auto"], 1, 10**13)[-1].name == "cpu"


def test_little_memory_makes_chunks(monkeypatch):
    driver = install(monkeypatch, FakeDriver(memory_bytes=4_000_000))
    check(cuda.CudaDevice("cuda:0"), task(proteins(random_proteins(3, 60, 60))), MIDDLE)
    assert len(driver.launched) > 3 * 4


def test_before_sm_90_words_hold_one_number(monkeypatch):
    install(monkeypatch, FakeDriver(capability=86))
    device = cuda.CudaDevice("cuda:0")
    assert device.word_bits == 32
    check(device, task(proteins(random_proteins(4, 20, 60))), MIDDLE)


def test_two_threads_have_a_stream_each(driver, monkeypatch):
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "20")
    job = task(proteins(random_proteins(5, 24, 40)))
    assert len(job.tiles()) > 4
    wanted = [table for _, table in run(job, devices=[CpuDevice(1)])]
    got = [table for _, table in run(job, devices=[GpuDevice(cuda.CudaDevice("cuda:0"))])]
    for table, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(table.score, other.score)
        np.testing.assert_array_equal(table.cigar_ops, other.cigar_ops)
    assert len(set(driver.launched)) == 2


def test_what_is_found(driver, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyopencl", None)  # not installed
    (info,), reasons = find_gpus()
    assert (info.name, info.model, info.driver) == ("cuda:0", "Fake card (sm_90)", "driver for CUDA 13.1")
    assert info.has_dpx and info.is_gpu and info.free_bytes == info.memory_bytes == 1 << 28
    assert reasons == ["OpenCL devices need pyopencl: pip install 'tropalign[opencl]'"]


def test_devices_by_name(driver):
    names = [device.name for device in open_devices(["cuda:0", "cpu", "cuda:0"], 1, 0)]
    assert names == ["cuda:0", "cpu"]
    assert [device.name for device in open_devices(["auto"], 1, 1000)] == ["cpu"]  # not worth it
    with pytest.raises(DeviceError, match="there is no CUDA device cuda:3: there are 1, cuda:0 the first"):
        open_devices(["cuda:3"], 1, 0)


def test_auto_takes_the_cards_for_a_large_job(driver):
    devices = open_devices(["auto"], 1, 10**12)
    assert [device.name for device in devices] == ["cuda:0", "cpu"]


def test_no_card(monkeypatch):
    pytest.importorskip("cuda.bindings.driver")
    fake = FakeDriver(count=0)
    monkeypatch.setattr("cuda.bindings.driver", fake)
    with pytest.raises(DeviceError, match="the NVIDIA driver sees no device"):
        cuda.find()


def test_no_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(DeviceError, match=r"CUDA devices need cuda-bindings: pip install 'tropalign\[cuda\]'"):
        cuda.find()


def test_machine_code_is_cached(monkeypatch, tmp_path):
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = 'extern "C" __global__ void nothing() { static_assert(SIZE > 0); }'
    first = cuda.cached_cubin(source, {"SIZE": 1}, 90)
    (path,) = (tmp_path / "tropalign").iterdir()
    path.write_bytes(b"from the cache")
    assert first.startswith(b"\x7fELF") and cuda.cached_cubin(source, {"SIZE": 1}, 90) == b"from the cache"
    cuda.cached_cubin(source, {"SIZE": 2}, 90)
    cuda.cached_cubin(source, {"SIZE": 1}, 80)
    assert len(list((tmp_path / "tropalign").iterdir())) == 3
    with pytest.raises(DeviceError, match=r"(?s)kernels do not compile for sm_90: .*static"):
        cuda.cached_cubin(source, {"SIZE": 0}, 90)
