"""The CUDA device without CUDA: its calls against a driver in Python, whose kernels are the host's."""

import gc
import itertools
import sys

import numpy as np
import pytest
from gpu.cases import MIDDLE, check, proteins, random_proteins, run, task
from gpu.fake_cuda import CUresult, FakeDriver
from gpu.host_device import HostDevice

import tropalign
from tropalign.devices import cuda
from tropalign.devices.registry import CpuDevice, GpuDevice, find_gpus, open_devices
from tropalign.errors import DeviceError, TropalignWarning
from tropalign.pairwise.self_test import check_gpu


@pytest.fixture
def driver(monkeypatch):
    return install(monkeypatch, FakeDriver())


def install(monkeypatch, fake):
    def compile_for_host(source, constants, architecture):
        assert architecture == f"sm_{fake.capability}"
        fake.compiled = HostDevice(16).build(source, constants).compiled
        return b"machine code"

    monkeypatch.setattr(cuda, "load_driver", lambda: fake)
    monkeypatch.setattr(cuda, "compiled", compile_for_host)
    monkeypatch.setattr(cuda, "architecture_for", lambda name, capability, driver_version: f"sm_{capability}")
    monkeypatch.setattr("tropalign.devices.registry._is_installed", lambda library: True)
    return fake


def test_alignments_and_what_is_given_back(driver):
    device = cuda.CudaDevice("cuda:0")
    batch = proteins(random_proteins(1, 30, 60))
    for mode in ("local", "global"):
        check(device, task(batch, mode=mode), MIDDLE)
    check_gpu(device)
    assert driver.launched
    job = task(proteins(random_proteins(2, 10, 60)))
    job.on_gpu(job.tiles()[0], device)
    assert len(driver.blocks) == 5  # what stays for the next tile: sequences (3), steps and matrix
    del job
    gc.collect()
    assert not driver.blocks and not driver.modules
    del device
    gc.collect()
    assert not (driver.streams or driver.pinned or driver.contexts or driver.cached)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
@pytest.mark.parametrize("has_pools", [True, False])
def test_all_is_given_back_out_of_a_circle(monkeypatch, order, has_pools):
    """The interpreter runs the finalizers of a circle in any order: of the youngest first, or of the oldest."""
    driver = install(monkeypatch, FakeDriver(has_pools=has_pools))
    device = cuda.CudaDevice("cuda:0")
    job = task(proteins(random_proteins(2, 10, 60)))
    job.on_gpu(job.tiles()[0], device)
    del job
    buffer, program = device.upload(np.zeros(5)), device.build("", {})
    ends = [device.context.__del__, device.stream.__del__, buffer.__del__, program.__del__]
    for cls in (cuda.Context, cuda.Stream, cuda.CudaBuffer, cuda.CudaProgram):
        monkeypatch.delattr(cls, "__del__")
    for k in order:
        ends[k]()
    assert not (driver.streams or driver.pinned or driver.contexts or driver.blocks or driver.modules)
    assert not driver.cached


def test_nothing_is_freed_when_the_interpreter_ends(driver, monkeypatch):
    """cuda-bindings may be cleared before the last objects: calling it would then end the process by a signal."""
    device = cuda.CudaDevice("cuda:0")
    job = task(proteins(random_proteins(2, 10, 60)))
    job.on_gpu(job.tiles()[0], device)
    monkeypatch.setattr(cuda.Context, "is_ending", False)
    cuda._leave_freeing_to_the_driver()
    n_blocks, n_streams = len(driver.blocks), len(driver.streams)
    del job, device
    gc.collect()
    assert (len(driver.blocks), len(driver.streams)) == (n_blocks, n_streams) and n_blocks and driver.contexts


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
    with pytest.warns(TropalignWarning, match="cuda:0 cannot be opened: .*out of memory.*: the other devices are used"):
        assert open_devices(["auto"], 1, 10**13)[-1].name == "cpu"


def test_a_card_that_fills_while_it_is_opened(monkeypatch):
    class Filling(FakeDriver):
        def cuMemGetInfo(self):
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0, 0

    install(monkeypatch, Filling())
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    ((info,), _) = find_gpus()
    assert info.free_bytes is None
    with pytest.raises(DeviceError, match=r"^cuda:0 cannot be opened: cuda:0: cuMemGetInfo failed \(out of memory\)$"):
        cuda.CudaDevice("cuda:0")


def test_waits_sleep_unless_another_library_has_chosen(monkeypatch):
    driver = install(monkeypatch, FakeDriver())
    first = cuda.CudaDevice("cuda:0")
    assert driver.flags == driver.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC
    driver.flags = 1
    second = cuda.CudaDevice("cuda:0")  # the context is active
    assert driver.flags == 1 and first.n_multiprocessors == second.n_multiprocessors


def test_devices_without_pools_and_before_sm_90(monkeypatch):
    driver = install(monkeypatch, FakeDriver(has_pools=False))
    device = cuda.CudaDevice("cuda:0")
    assert device.free_bytes() == driver.memory_bytes
    check(device, task(proteins(random_proteins(1, 30, 60))), MIDDLE)
    gc.collect()
    assert not driver.blocks and driver.launched
    install(monkeypatch, FakeDriver(capability=86))
    device = cuda.CudaDevice("cuda:0")
    assert device.word_bits == 32
    check(device, task(proteins(random_proteins(4, 20, 60))), MIDDLE)


def test_an_error_that_lasts_names_the_kernel(driver, monkeypatch):
    """Whichever call finds it, and whichever calls come later."""
    device = cuda.CudaDevice("cuda:0")
    monkeypatch.setattr(
        driver,
        "cuStreamSynchronize",
        lambda stream: (CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,) if driver.launched else (0,),
    )
    job = task(proteins(random_proteins(1, 30, 60)), report="score")
    words = r"^cuda:0: cuStreamSynchronize failed \(illegal address\) while finish ran: this process can no longer use"
    with pytest.raises(DeviceError, match=words):
        job.on_gpu(job.tiles()[0], device)
    monkeypatch.setattr(driver, "cuMemAllocAsync", lambda n_bytes, stream: (CUresult.CUDA_ERROR_ILLEGAL_ADDRESS, 0))
    with pytest.raises(DeviceError, match=words):
        device.upload(np.zeros(1))


def test_little_memory_makes_chunks(monkeypatch):
    driver = install(monkeypatch, FakeDriver(memory_bytes=4_000_000))
    check(cuda.CudaDevice("cuda:0"), task(proteins(random_proteins(3, 60, 60))), MIDDLE)
    assert len(driver.launched) > 3 * 4


def test_two_threads_have_a_stream_each(driver, monkeypatch):
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "20")
    job = task(proteins(random_proteins(5, 24, 40)))
    assert len(job.tiles()) > 4
    wanted = run(job, [CpuDevice(1)])
    got = run(job, [GpuDevice(cuda.CudaDevice("cuda:0"))])
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


def test_devices_by_name_and_for_large_jobs(driver):
    names = [device.name for device in open_devices(["cuda:0", "cpu", "cuda:0"], 1, 0)]
    assert names == ["cuda:0", "cpu"]
    assert [device.name for device in open_devices(["auto"], 1, 1000)] == ["cpu"]  # not worth it
    with pytest.raises(DeviceError, match="there is no CUDA device cuda:3: 1 are found, the first is cuda:0"):
        open_devices(["cuda:3"], 1, 0)
    devices = open_devices(["auto"], 1, 10**12)
    assert [device.name for device in devices] == ["cuda:0", "cpu"]


def test_no_card(monkeypatch):
    pytest.importorskip("cuda.bindings.driver")
    fake = FakeDriver(count=0)
    monkeypatch.setattr("cuda.bindings.driver", fake)
    with pytest.raises(DeviceError, match="the NVIDIA driver finds no device"):
        cuda.find()


def test_no_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(DeviceError, match=r"CUDA devices need cuda-bindings: pip install 'tropalign\[cuda\]'"):
        cuda.find()
