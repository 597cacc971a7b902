"""How devices are called."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tropalign.errors import UsageError

_NUMBER = "(0|[1-9][0-9]*)"


def check_device_name(name: str) -> str:
    """The name as it is. Raises ValueError on what cannot be one."""
    if not re.fullmatch(rf"auto|cpu|cuda:{_NUMBER}|opencl:{_NUMBER}\.{_NUMBER}", name):
        raise ValueError(f"{name!r} is no device: write auto, cpu, cuda:0 or opencl:0.0 (tropalign devices lists them)")
    return name


def device_names(device: str | Iterable[str]) -> list[str]:
    """One name or several as a list. Raises UsageError on none, and on what cannot be one."""
    names = [device] if isinstance(device, str) else list(device)
    if not names:
        raise UsageError('device: none is named; "auto" takes what there is')
    try:
        return [check_device_name(name) for name in names]
    except ValueError as error:
        raise UsageError(str(error)) from None
