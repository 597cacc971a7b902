"""How devices are called."""

from __future__ import annotations

import re

_NUMBER = "(0|[1-9][0-9]*)"


def check_device_name(name: str) -> str:
    """The name as it is. Raises ValueError on what cannot be one."""
    if not re.fullmatch(rf"auto|cpu|cuda:{_NUMBER}|opencl:{_NUMBER}\.{_NUMBER}", name):
        raise ValueError(f"{name!r} is no device: write auto, cpu, cuda:0 or opencl:0.0 (tropalign devices lists them)")
    return name
