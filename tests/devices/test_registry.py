"""Devices by name: one table of kinds, and what `auto` takes."""

import pytest

from tropalign.devices import opencl, registry
from tropalign.devices.gpu import GpuInfo
from tropalign.devices.registry import open_devices, open_gpu, verdict
from tropalign.errors import DeviceError, TropalignWarning


def info(name, driver="", is_gpu=True):
    return GpuInfo(name, "model", driver, 1 << 30, None, is_gpu=is_gpu, has_dpx=False, shuffles="")


class Gpu:
    def __init__(self, name):
        self.name, self.n_streams = name, 2


@pytest.mark.parametrize("name", ["vulkan:0", "opencl", "cpu", ""])
def test_a_name_of_no_kind_opens_no_device(name):
    with pytest.raises(DeviceError, match=r"is not a kind of GPU|there is no OpenCL device opencl|need pyopencl"):
        open_gpu(name)


@pytest.mark.parametrize("kind", registry.KINDS)
def test_every_kind_has_what_the_registry_asks_for(kind):
    module = registry._module(kind)
    assert callable(module.find) and callable(module.open_device)
    assert registry.check_device_name(registry.KINDS[kind].example) == registry.KINDS[kind].example


@pytest.fixture
def found(monkeypatch):
    """Sets what is found; every device opens, but for those named."""

    def set_up(infos, broken=()):
        def open_or_fail(name):
            if name in broken:
                raise DeviceError(f"{name}: its driver cannot compile kernels")
            return Gpu(name)

        monkeypatch.setattr(registry, "find_gpus", lambda: (infos, []))
        monkeypatch.setattr(registry, "_is_installed", lambda library: True)
        monkeypatch.setattr(registry, "open_gpu", open_or_fail)

    return set_up


def test_auto_takes_each_card_once(found):
    found([info("cuda:0"), info("opencl:0.0", "NVIDIA CUDA, driver 570"), info("opencl:1.0", "Intel")])
    assert [device.name for device in open_devices(["auto"], 1, 10**12)] == ["cuda:0", "opencl:1.0", "cpu"]


def test_auto_takes_a_card_through_opencl_where_cuda_is_not_there(found):
    found([info("opencl:0.0", "NVIDIA CUDA, driver 570"), info("opencl:1.0", "PoCL", is_gpu=False)])
    assert [device.name for device in open_devices(["auto"], 1, 10**12)] == ["opencl:0.0", "cpu"]


def test_auto_takes_no_device_that_compiles_nothing(found):
    found([info("opencl:0.0", "PoCL")], broken=["opencl:0.0"])
    with pytest.warns(TropalignWarning, match="^opencl:0.0: its driver cannot compile kernels: the other devices are"):
        assert [device.name for device in open_devices(["auto"], 1, 10**12)] == ["cpu"]


def test_a_driver_that_compiles_nothing(opencl_name, monkeypatch):
    monkeypatch.setattr(opencl, "PROBE", "__kernel void probe(__global int *out) { no words of OpenCL }")
    with pytest.raises(
        DeviceError, match=r"its driver cannot compile kernels \(.*error: .*\): update it or install another"
    ):
        opencl.open_device(opencl_name)


def test_a_verdict_names_every_job_that_fails(monkeypatch):
    def fails(gpu):
        raise DeviceError(f"{gpu.name}: its scores are wrong\nand more")

    def full(gpu):
        raise MemoryError

    monkeypatch.setattr("tropalign.devices.registry.open_gpu", Gpu)
    assert verdict("cuda:0", {"pairs": lambda gpu: None, "place": lambda gpu: None}) == "ok"
    assert verdict("cuda:0", {"pairs": fails, "place": full, "search": lambda gpu: None}) == (
        "fails: pairs: cuda:0: its scores are wrong; place: MemoryError"
    )


def test_a_verdict_on_what_does_not_open(monkeypatch):
    def missing(name):
        raise DeviceError(f"there is no CUDA device {name}")

    monkeypatch.setattr("tropalign.devices.registry.open_gpu", missing)
    assert verdict("cuda:7", {"pairs": None}) == "fails: there is no CUDA device cuda:7"
