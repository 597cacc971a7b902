#!/usr/bin/env python3
"""docs/benchmarks/gpu.md from what measure.py wrote on a machine with a card, and from the machine code.

python bench/gpu/page.py results/gpu.json      after a whole run on a card; a part of one is refused (exit status 3)
python bench/gpu/page.py                       machine code and bounds anew; what was measured stays as it is
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

from measure import LENGTHS, MODES, REPORTS, WAYS

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "benchmarks" / "gpu.md"
TABLE = ROOT / "tests" / "gpu" / "machine_code.json"
#: An H200: multiprocessors, clock, integer lanes of a multiprocessor, cells of a word, bytes per second of memory.
MULTIPROCESSORS, HERTZ, LANES, CELLS, BYTES = 132, 1.98e9, 64, 2, 4.8e12
REGISTERS, GROUP, MOST_WARPS = 65536, 64, 64
#: Kernels whose bounds are shown: bytes of memory per cell, 0 where they are next to none.
BOUND = {
    "local score": 0,
    "local score, one query": 0,
    "global score": 0,
    "local alignment": 1,
    "global alignment": 1,
    "placement score": 16 / 64,
}


def is_whole(results: dict[str, Any]) -> bool:
    """Whether every case was measured on every length, after a comparison with the processor."""
    names = ("length", "mode", "report", "how")
    found = {tuple(row[name] for name in names) for row in results.get("cases", [])}
    return found >= set(product(LENGTHS, MODES, REPORTS, WAYS)) and bool(results.get("checked_pairs"))


def kept() -> list[str]:
    """What the page says of the last run on a card."""
    text = PAGE.read_text()
    return text[text.index("## Measured") : text.index("## Machine code")].splitlines()[2:]


def measured(results: dict[str, Any]) -> list[str]:
    """The table of a run on a card."""
    machine = results["machine"]
    lines = [f"{machine['name']}, {machine['driver']}; {results['seconds']} s in all."]
    differs = ", ".join(results["differs"]) or "nothing"
    lines += [f"Differences from the processor's results: {differs}.", ""]
    if "rates" in machine:
        lines += ["Steps per multiprocessor and clock cycle:", ""]
        lines += [f"* {name}: {rate}" for name, rate in machine["rates"].items()] + [""]
    lines += ["| case | length | sweep, GCUPS | all kernels | whole run |", "|---|---|---|---|---|"]
    for row in results["cases"]:
        figures = " | ".join(f"{row[key]:.0f}" for key in ("sweep_gcups", "kernel_gcups", "whole_gcups"))
        lines.append(f"| {row['mode']} {row['report']}, {row['how']} | {row['length']} | {figures} |")
    return [*lines, ""]


def machine_code() -> list[str]:
    """What NVRTC makes of the sweep."""
    lines = ["| kernel | architecture | registers | spills | warps a multiprocessor | ALU instructions | all |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for name, row in json.loads(TABLE.read_text()).items():
        kernel, architecture = name.rsplit(", ", 1)
        groups = REGISTERS // (-(-row["registers"] // 8) * 8 * GROUP)
        warps = min(groups * GROUP // 32, MOST_WARPS)
        figures = f"{row['registers']} | {row['spills']} | {warps} | {row['alu_a_cell']:.2f} | {row['all_a_cell']:.2f}"
        lines.append(f"| {kernel} | {architecture} | {figures} |")
    return lines


def bounds() -> list[str]:
    """What the integer instructions and the memory of an H200 allow."""
    table = json.loads(TABLE.read_text())
    lines = [
        "| case | instructions per word of two cells | bound by instructions, TCUPS | by memory |",
        "|---|---|---|---|",
    ]
    for name, cell_bytes in BOUND.items():
        instructions = table[f"{name}, sm_90"]["alu_a_cell"]
        bound = MULTIPROCESSORS * HERTZ * LANES * CELLS / instructions / 1e12
        memory = f"{BYTES / cell_bytes / 1e12:.1f}" if cell_bytes else "-"
        lines.append(f"| {name} | {instructions:.2f} | {bound:.1f} | {memory} |")
    return lines


def main() -> int:
    """Writes the page."""
    results = json.loads(Path(sys.argv[1]).read_text()) if len(sys.argv) > 1 else None
    if results is not None and not is_whole(results):
        print(f"{PAGE.name} stays as it is: {sys.argv[1]} holds a part of a run", file=sys.stderr)
        return 3
    table = kept() if results is None else measured(results)
    text = ["# Alignment and placement on GPUs", "", "## Measured", "", *table]
    text += [
        "## Machine code",
        "",
        "Instructions in the inner loops of the kernels, as NVRTC 13 compiles them, per word of cells (two cells of",
        "16 bits from sm_90 on, else one of 32). ALU: instructions for the integer pipe. The tests compile the kernels",
        "and fail if the numbers get worse. `python tests/gpu/machine_code.py` prints it.",
        "",
        *machine_code(),
        "",
        "## Derived bounds, not measured",
        "",
        "For 132 multiprocessors at 1.98 GHz that finish 64 lanes of an integer instruction per clock (an H200;",
        "`bench/gpu` measures that rate first), and memory that takes 4.8 TB/s (alignments write one byte per cell,",
        "placement writes and reads 16 bytes in 64 cells):",
        "",
        *bounds(),
        "",
    ]
    PAGE.write_text("\n".join(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
