"""What becomes of the time of aligning: lanes, walk back, and what is no kernel."""

from __future__ import annotations

import time
from collections.abc import Callable

#: What native code counts beside its results.
COUNTERS = ("walk_seconds", "unit_seconds", "useful_cells", "swept_cells")


def shares(run: Callable[[], object]) -> dict[str, float]:
    """What becomes of a run's time.

    lane_use: of the lanes' cells the share that belongs to a pair; unit_share: of all time that of the kernels;
    walk_share: of the kernels' time that of the walk back. Nothing where no unit ran.
    """
    from tropalign import _native

    align_pairs = _native.align_pairs
    runs: list[tuple[float, list]] = []
    while len(runs) < 5 and sum(passed for passed, _ in runs) < 0.5:
        found: list = []

        def noting(*arguments, found=found):
            found.append(align_pairs(*arguments))
            return found[-1]

        _native.align_pairs = noting
        begin = time.perf_counter()
        try:
            run()
        finally:
            _native.align_pairs = align_pairs
        runs.append((time.perf_counter() - begin, found))
    passed, found = min(runs, key=lambda one: one[0])  # native code notes wall time: the run that waited least
    total = {name: sum(columns[name] for columns in found) for name in COUNTERS}
    if not total["swept_cells"]:
        return {}
    return {
        "walk_share": total["walk_seconds"] / max(total["unit_seconds"], 1e-9),
        "unit_share": total["unit_seconds"] / passed,
        "lane_use": total["useful_cells"] / total["swept_cells"],
    }
