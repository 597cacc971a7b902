"""Compilation of CUDA kernels by NVRTC, cached in the user's cache directory. Needs neither a card nor a driver."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from tropalign.errors import DeviceError, named

#: Install commands for CUDA devices: the usual one, and one for cards or drivers that CUDA 13 no longer supports.
REMEDY, REMEDY_CUDA_12 = "pip install 'tropalign[cuda]'", "pip install 'tropalign[cuda12]'"
#: Length of the SHA-256 digest at the start of a cache file.
DIGEST_BYTES = 32


def _nvrtc() -> Any:
    """Return NVRTC; raise DeviceError if it is missing."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()  # loads the library
    except (ImportError, RuntimeError):
        raise DeviceError(f"kernels cannot be compiled, because NVRTC is missing: {REMEDY}") from None
    return nvrtc


def _checked(answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if int(status) != 0:
        raise DeviceError(f"NVRTC failed ({getattr(status, 'name', status)})")
    return values[0] if len(values) == 1 else tuple(values)


def version() -> tuple[int, int]:
    """Return NVRTC's version."""
    major, minor = _checked(_nvrtc().nvrtcVersion())
    return int(major), int(minor)


def architecture_for(name: str, capability: int, driver_version: tuple[int, int]) -> str:
    """Return the target for a card: machine code ("sm_90"), or PTX ("compute_120") if NVRTC lacks the card.

    PTX is for the highest supported architecture below the card's; the driver turns it into machine code.
    `capability` is 10 major + minor, `driver_version` the newest CUDA that the driver supports, `name` is for
    errors.
    Raises DeviceError if the card is too old for this NVRTC, or the driver too old for NVRTC's output.
    """
    known = sorted(int(number) for number in _checked(_nvrtc().nvrtcGetSupportedArchs()))
    ours, driver = version(), f"{driver_version[0]}.{driver_version[1]}"
    if capability < known[0]:
        remedy = REMEDY_CUDA_12 if ours[0] > 12 else f"add {named('device')} cpu instead"
        raise DeviceError(
            f"{name}: this card is sm_{capability}, but NVRTC {ours[0]}.{ours[1]} only compiles for sm_{known[0]} and "
            f"newer: {remedy}"
        )
    is_known = capability in known
    # Machine code runs on all drivers of the same major version, PTX only on drivers as new as the compiler.
    if driver_version[:1] < ours[:1] or (not is_known and driver_version < ours):
        also = f", or {REMEDY_CUDA_12}" if ours[0] > 12 and is_known else ""
        raise DeviceError(
            f"{name}: the driver supports CUDA {driver}, which is too old for kernels of NVRTC {ours[0]}.{ours[1]}: "
            f"update the driver{also}"
        )
    return f"sm_{capability}" if is_known else f"compute_{max(a for a in known if a < capability)}"


def compiled(source: str, constants: Mapping[str, int], architecture: str) -> bytes:
    """Return the code of kernels from the user's cache directory; compile them if the file is missing or damaged.

    Raises DeviceError if the kernels do not compile (with the compiler's message) or NVRTC is missing.
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
    """Read code that `_write` wrote; None if the file is missing or incomplete."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, code = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write(path: Path, code: bytes) -> None:
    """Write the code to the cache, if possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        temporary.write_bytes(hashlib.sha256(code).digest() + code)
        os.replace(temporary, path)
    except OSError:  # the code is not cached
        pass


def compile_for(source: str, constants: Mapping[str, int], architecture: str) -> bytes:
    """Compile to machine code for "sm_90", or to PTX (ending in a zero byte) for "compute_90".

    Raises DeviceError with the compiler's message if the kernels do not compile.
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
