"""CUDA kernels to machine code, by NVRTC, kept in the user's cache directory. Needs no card and no driver."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from tropalign.errors import DeviceError, named

#: What gives CUDA devices, and what gives them to cards or drivers that CUDA 13 has left behind.
REMEDY, REMEDY_CUDA_12 = "pip install 'tropalign[cuda]'", "pip install 'tropalign[cuda12]'"
#: Bytes of the SHA-256 that a file of the cache begins with.
DIGEST_BYTES = 32


def _nvrtc() -> Any:
    """The library. Raises DeviceError when it is missing."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()  # loads it
    except (ImportError, RuntimeError):
        raise DeviceError(f"kernels cannot be compiled without NVRTC: {REMEDY}") from None
    return nvrtc


def _checked(answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if int(status) != 0:
        raise DeviceError(f"NVRTC failed ({getattr(status, 'name', status)})")
    return values[0] if len(values) == 1 else tuple(values)


def version() -> tuple[int, int]:
    """NVRTC's version."""
    major, minor = _checked(_nvrtc().nvrtcVersion())
    return int(major), int(minor)


def architecture_for(name: str, capability: int, driver_version: tuple[int, int]) -> str:
    """What to compile for a card: machine code ("sm_90"), or where NVRTC does not know the card, PTX ("compute_120").

    PTX is that of the highest known architecture not above the card's; the driver makes machine code of it.

    Parameters
    ----------
    name
        The device, for errors.
    capability
        Compute capability as 10 major + minor.
    driver_version
        The newest CUDA that the driver knows.

    Raises
    ------
    DeviceError
        This NVRTC does not compile for a card as old as that, or the driver is too old for what it makes.
    """
    known = sorted(int(number) for number in _checked(_nvrtc().nvrtcGetSupportedArchs()))
    ours, driver = version(), f"{driver_version[0]}.{driver_version[1]}"
    if capability < known[0]:
        remedy = REMEDY_CUDA_12 if ours[0] > 12 else f"add {named('device')} cpu instead"
        raise DeviceError(
            f"{name}: this card is sm_{capability}, and NVRTC {ours[0]}.{ours[1]} compiles for sm_{known[0]} and newer "
            f"only: {remedy}"
        )
    is_known = capability in known
    # Machine code runs on every driver of the same major version, PTX on none older than the compiler.
    if driver_version[:1] < ours[:1] or (not is_known and driver_version < ours):
        also = f", or {REMEDY_CUDA_12}" if ours[0] > 12 and is_known else ""
        raise DeviceError(
            f"{name}: the driver is made for CUDA {driver}, which is too old for kernels of NVRTC {ours[0]}.{ours[1]}: "
            f"update the driver{also}"
        )
    return f"sm_{capability}" if is_known else f"compute_{max(a for a in known if a < capability)}"


def compiled(source: str, constants: Mapping[str, int], architecture: str) -> bytes:
    """Code of kernels from the user's cache directory; compiled the first time, and again when the file is damaged.

    Raises
    ------
    DeviceError
        The kernels do not compile (with the compiler's words), or NVRTC is missing.
    """
    words = (source, sorted(constants.items()), architecture, version())
    key = hashlib.sha256(repr(words).encode()).hexdigest()[:32]
    path = user_cache_path("tropalign", appauthor=False) / f"{key}.code"
    code = _read(path)
    if code is None:
        code = compile_for(source, constants, architecture)
        _write(path, code)
    return code


def _read(path: Path) -> bytes | None:
    """What `_write` wrote; None when there is no such file, or when it is not whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, code = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write(path: Path, code: bytes) -> None:
    """Keeps the code, where that is possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        temporary.write_bytes(hashlib.sha256(code).digest() + code)
        os.replace(temporary, path)
    except OSError:  # no cache, then
        pass


def compile_for(source: str, constants: Mapping[str, int], architecture: str) -> bytes:
    """Machine code for "sm_90", or PTX for "compute_90" (ending in a zero byte).

    Raises
    ------
    DeviceError
        The kernels do not compile; with the compiler's words.
    """
    nvrtc = _nvrtc()
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"tropalign", 0, None, None))
    try:
        options = [f"--gpu-architecture={architecture}", "-default-device", "-std=c++17"]
        options += [f"-D{name}={value}" for name, value in constants.items()]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        if int(status) != 0:
            log = bytearray(_checked(nvrtc.nvrtcGetProgramLogSize(program)))
            nvrtc.nvrtcGetProgramLog(program, log)
            words = bytes(log).decode(errors="replace").strip("\0\n ")
            raise DeviceError(f"kernels do not compile for {architecture}: {words}")
        kind = "CUBIN" if architecture.startswith("sm_") else "PTX"
        code = bytearray(_checked(getattr(nvrtc, f"nvrtcGet{kind}Size")(program)))
        _checked(getattr(nvrtc, f"nvrtcGet{kind}")(program, code))
        return bytes(code)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
