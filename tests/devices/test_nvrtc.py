"""What is compiled for which card, and the cache of it."""

import sys

import pytest

from tropalign.devices import cuda
from tropalign.errors import DeviceError

SOURCE = 'extern "C" __global__ void nothing() { static_assert(SIZE > 0); }'


class Nvrtc:
    """Of a version that knows these architectures."""

    def __init__(self, version, architectures):
        self.version, self.architectures = version, architectures

    def nvrtcVersion(self):
        return 0, *self.version

    def nvrtcGetSupportedArchs(self):
        return 0, self.architectures


@pytest.fixture
def known(monkeypatch):
    fake = Nvrtc((13, 0), [75, 80, 86, 90, 100, 120])
    monkeypatch.setattr(cuda, "_nvrtc", lambda: fake)
    return fake


@pytest.mark.parametrize(
    ("capability", "driver", "wanted"),
    [
        (90, (13, 0), "sm_90"),
        (75, (13, 1), "sm_75"),
        (130, (13, 0), "compute_120"),  # newer than the compiler: the driver compiles
        (103, (14, 0), "compute_100"),  # between two that it knows
    ],
)
def test_architectures(known, capability, driver, wanted):
    assert cuda.architecture_for("cuda:0", capability, driver) == wanted


def test_machine_code_runs_on_any_driver_of_the_same_major_version(known):
    known.version = (13, 2)
    assert cuda.architecture_for("cuda:0", 90, (13, 0)) == "sm_90"
    with pytest.raises(DeviceError, match=r"^cuda:1: the driver supports CUDA 13\.0, which is too old for kernels of"):
        cuda.architecture_for("cuda:1", 130, (13, 0))  # PTX does not


def test_a_card_that_is_too_old(known):
    words = (
        r"^cuda:0: this card is sm_70, but NVRTC 13\.0 only compiles for sm_75 and newer: "
        r"pip install 'tropalign\[cuda12\]'$"
    )
    with pytest.raises(DeviceError, match=words):
        cuda.architecture_for("cuda:0", 70, (13, 0))
    known.version = (12, 9)
    with pytest.raises(DeviceError, match=r"newer: add device cpu instead$"):
        cuda.architecture_for("cuda:0", 35, (12, 4))


def test_a_driver_that_is_too_old(known):
    words = (
        r"^cuda:0: the driver supports CUDA 12\.4, which is too old for kernels of NVRTC 13\.0: "
        r"update the driver, or pip install 'tropalign\[cuda12\]'$"
    )
    with pytest.raises(DeviceError, match=words):
        cuda.architecture_for("cuda:0", 90, (12, 4))


def test_no_compiler(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(
        DeviceError, match=r"^kernels cannot be compiled, because NVRTC is missing: pip install 'tropalign\[cuda\]'$"
    ):
        cuda.compiled(SOURCE, {"SIZE": 1}, "sm_90")


@pytest.fixture
def cache(monkeypatch, tmp_path):
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setattr(cuda, "user_cache_path", lambda name, appauthor: tmp_path / name)
    return tmp_path / "tropalign"


def test_machine_code_is_cached(cache, monkeypatch):
    first = cuda.compiled(SOURCE, {"SIZE": 1}, "sm_90")
    assert first.startswith(b"\x7fELF")
    with monkeypatch.context() as patched:
        patched.setattr(cuda, "compile_for", None)
        assert cuda.compiled(SOURCE, {"SIZE": 1}, "sm_90") == first
    cuda.compiled(SOURCE, {"SIZE": 2}, "sm_90")
    cuda.compiled(SOURCE, {"SIZE": 1}, "sm_80")
    assert len(list(cache.iterdir())) == 3
    with pytest.raises(DeviceError, match=r"(?s)kernels do not compile for sm_90: .*static"):
        cuda.compiled(SOURCE, {"SIZE": 0}, "sm_90")


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", "half", "a bit"])
def test_a_damaged_file_is_made_again(cache, damage):
    first = cuda.compiled(SOURCE, {"SIZE": 1}, "sm_90")
    (path,) = cache.iterdir()
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 4
    path.write_bytes({"half": whole[: len(whole) // 2], "a bit": bytes(flipped)}.get(damage, damage))
    assert cuda.compiled(SOURCE, {"SIZE": 1}, "sm_90") == first
    assert path.read_bytes() == whole


def test_a_cache_that_cannot_be_written(cache):
    cache.write_text("a file where the folder would be")
    assert cuda.compiled(SOURCE, {"SIZE": 1}, "sm_90").startswith(b"\x7fELF")


def test_ptx_ends_in_a_zero_byte(cache):
    """As the driver wants it, which is not told its length."""
    code = cuda.compiled(SOURCE, {"SIZE": 1}, "compute_90")
    assert b".target sm_90" in code and code.endswith(b"\0") and code.count(b"\0") == 1
