"""Families of results, computed from fixed seeds, and the digests by which processors are compared.

A family is a function that returns parts by name: arrays, numbers, texts, and lists of these. Its inputs are made of
whole numbers and their quotients, never of functions of a C library or of NumPy that may round otherwise elsewhere.
"""

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

FAMILIES: dict[str, "Family"] = {}


@dataclass(frozen=True)
class Family:
    """Parts of results by name, and the kernels (native/*/kernels_*.cpp) that compute them."""

    kernels: tuple[str, ...]
    compute: Callable[[], dict[str, Any]]
    #: Floats in it are sums of products by `fma` of native/simd/real.hpp, which rounds once on some instruction sets.
    is_fused: bool


def family(*kernels: str, is_fused: bool = False) -> Callable[[Callable[[], dict[str, Any]]], Callable[[], Any]]:
    """Register a family under its function's name."""

    def registered(compute):
        assert compute.__name__ not in FAMILIES
        FAMILIES[compute.__name__] = Family(kernels, compute, is_fused)
        return compute

    return registered


def bytes_of(value: Any) -> Iterator[bytes]:
    """Exact content: equal where and only where types, shapes and all bits are."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield f"{value.dtype.str}{value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        yield f"text{len(data)}:".encode()
        yield data
    elif isinstance(value, bool | np.bool_ | int | np.integer | None):
        yield f"{value!s},".encode()
    elif isinstance(value, float | np.floating):
        yield b"float" + struct.pack("<d", value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield f"{key}=".encode()
            yield from bytes_of(inner)
    elif isinstance(value, Iterable):
        items = list(value)
        yield f"list{len(items)}:".encode()
        for item in items:
            yield from bytes_of(item)
    else:
        raise TypeError(f"no digest of a {type(value).__name__}")


def digest(value: Any) -> str:
    found = hashlib.sha256()
    for part in bytes_of(value):
        found.update(part)
    return found.hexdigest()[:16]


def shares(rng: np.random.Generator, *shape: int, zeros: float = 0.0, uneven: int = 1) -> np.ndarray:
    """Rows of probabilities: quotients of whole numbers, the same on every processor. Higher `uneven`: few are high."""
    counts = rng.integers(1, 50, shape, np.int64) ** uneven
    counts[rng.random(shape) < zeros] = 0
    counts[..., 0] += counts.sum(axis=-1) == 0
    return counts / counts.sum(axis=-1, keepdims=True)


def logs(probabilities: np.ndarray) -> np.ndarray:
    """Logarithms in steps of 2^-20, in which no last bit of a C library shows."""
    with np.errstate(divide="ignore"):
        return np.round(np.log(probabilities) * 2**20) / 2**20
