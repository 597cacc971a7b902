import pytest
from gpu.host_device import HostDevice


def real_gpus():
    from tropalign.devices import cuda
    from tropalign.errors import DeviceError

    try:
        return [info.name for info in cuda.find()]
    except DeviceError:
        return []


def make(name):
    from tropalign.devices.registry import open_gpu

    if name.startswith("host"):
        return HostDevice(int(name[4:]))
    return open_gpu(name)


@pytest.fixture(scope="session", params=["host16", "host32", *real_gpus()])
def device(request):
    """Each way to run the kernels that takes no time to compile them."""
    return make(request.param)


@pytest.fixture(scope="session", params=["host16", "opencl", *real_gpus()])
def vendor_device(request):
    """The host, and every driver there is."""
    return make(request.getfixturevalue("opencl_name") if request.param == "opencl" else request.param)


@pytest.fixture(scope="session")
def host():
    return HostDevice(16)
