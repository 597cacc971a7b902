"""How devices are called."""

from __future__ import annotations

import re


def check_device_name(name: str) -> str:
    """The name as it is. Raises ValueError on what cannot be one."""
    if not re.fullmatch(r"auto|cpu|cuda:\d+|opencl:\d+\.\d+", name):
        raise ValueError(f"{name!r} is no device: write auto, cpu, cuda:0 or opencl:0.0 (tropalign devices lists them)")
    return name
