import pytest

from tropalign import _native


@pytest.fixture(scope="session")
def opencl_name():
    """The first OpenCL device whose driver compiles a kernel. Skips where there is none."""
    from tropalign.devices import opencl
    from tropalign.errors import DeviceError

    reasons = []
    try:
        for info in opencl.find():
            try:
                opencl.open_device(info.name)
                return info.name
            except DeviceError as error:
                reasons.append(str(error))
    except DeviceError as error:
        reasons.append(str(error))
    pytest.skip("; ".join(reasons) or "no OpenCL driver has a device")


@pytest.fixture(params=_native.supported_isas())
def isa(request, monkeypatch):
    """Each instruction set that this machine has, in turn."""
    monkeypatch.setenv("TROPALIGN_ISA", request.param)
    assert _native.selected_isa() == request.param
    return request.param
