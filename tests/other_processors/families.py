"""Prints a line per part of each family: the family, the part, and a digest of its bytes.

    python -m other_processors.families [--seconds] [FAMILY ...]        with tests/ among PYTHONPATH

Run under every instruction set (TROPALIGN_ISA) and for other processors by test_other_processors.py, which compares.
"""

import sys
import time

from other_processors import msa_families, pair_families, profile_families, tropical_families  # noqa: F401  (they register their families)
from other_processors.registry import FAMILIES, digest

from tropalign import _native


def main(arguments: list[str]) -> None:
    shows_seconds = "--seconds" in arguments
    names = [name for name in arguments if not name.startswith("--")] or list(FAMILIES)
    print(f"isa\t{_native.selected_isa()}")
    for name in names:
        begun = time.perf_counter()
        for part, value in FAMILIES[name].compute().items():
            print(f"{name}\t{part}\t{digest(value)}")
        if shows_seconds:
            print(f"{name} {time.perf_counter() - begun:.3f} s", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
