"""The processor that benchmarks run on, and the instruction sets that they measure, AVX2 first."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

#: AMD calls its processors alike: family and models of each generation.
ZEN = {
    "Zen 2": (23, range(0x30, 0x100)),
    "Zen 3": (25, [*range(0x10), *range(0x20, 0x60)]),
    "Zen 4": (25, [*range(0x10, 0x20), *range(0x60, 0xB0)]),
    "Zen 5": (26, range(0x100)),
}
NATIVE = Path(__file__).resolve().parent.parent / "native"


def processor() -> str:
    """The processor's name, with its generation where the name has none, and how many cores are there."""
    path = Path("/proc/cpuinfo")
    told = dict(
        (part.strip() for part in line.split(":", 1)) for line in path.read_text().splitlines() if ":" in line
    ) if path.exists() else {}  # fmt: skip
    name = told.get("model name", platform.machine())
    if told.get("vendor_id") == "AuthenticAMD":
        found = int(told["cpu family"]), int(told["model"])
        names = [zen for zen, (family, models) in ZEN.items() if found[0] == family and found[1] in models]
        name += "".join(f" ({zen})" for zen in names)
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def measured_isas() -> list[str]:
    """AVX2, which most processors have, then the best instruction set of this one."""
    from tropalign import _native

    supported = _native.supported_isas()
    return list(dict.fromkeys(isa for isa in ("v3", supported[0]) if isa in supported))


def march(isa: str) -> list[str]:
    """The compiler's flags for an instruction set, as a build has them."""
    found = re.search(rf"set\(flags_{isa} (.*)\)", (NATIVE / "isas.cmake").read_text())
    return found[1].split() if found else []
