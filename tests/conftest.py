import pytest

from tropalign import _native


@pytest.fixture(params=_native.supported_isas())
def isa(request, monkeypatch):
    """Each instruction set that this machine has, in turn."""
    monkeypatch.setenv("TROPALIGN_ISA", request.param)
    assert _native.selected_isa() == request.param
    return request.param
