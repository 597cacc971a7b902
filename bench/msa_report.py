"""docs/benchmarks/msa.md from the figures of msa.py."""

from __future__ import annotations

import statistics
from collections import defaultdict
from math import erfc, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from absent import paragraph
from tables import table, wrap

import tropalign

if TYPE_CHECKING:
    from msa_families import Family

HEAD = """One thread each, processor time. SP and TC (`tropalign score`) are means over families, in percent; Mcells/s
are the cells of all pairs divided by the processor time of all families together: of commands, which include the
start of Python, and for tropalign also of calls of the Python API with each of two instruction sets. Commands and
stages use the first of these; alignments are the same with both. `make bench-msa FAMILIES=DIR` makes this page."""


class Outcome(NamedTuple):
    """A tool on a family; SP and TC from 0 to 1."""

    sp: float
    tc: float
    seconds: float
    megabytes: float


def write_report(
    families: list[Family],
    found: dict[str, list[Outcome | None]],
    stages: dict[str, dict[str, list[dict[str, float]]]],
    two_threads: float | None,
    processor: str,
    not_there: list[str],
    n_at_once: int,
) -> str:
    """The page, in Markdown.

    Parameters
    ----------
    found
        Of each tool what it made of each family.
    stages
        By instruction set, of each mode of tropalign the seconds of each family by stage.
    two_threads
        How many times faster two threads are; None where that was not measured.
    not_there
        The peers that are not there.
    n_at_once
        Commands that ran at a time.
    """
    cells = sum(family.cells for family in families)
    sets = list(dict.fromkeys(sorted(family.set for family in families)))
    first = next(iter(stages.values()))
    lines = ["# Multiple alignment: accuracy and speed", "", f"Processor: {processor}.", "", *wrap(HEAD), ""]
    lines += paragraph(not_there) + wrap(
        f"tropalign {tropalign.__version__}; {len(families)} families of {', '.join(sets)}; "
        f"{cells / 1e6:,.0f} Mcells over all pairs"
        f"{'' if n_at_once == 1 else f'; {n_at_once} commands at a time, each on a core of its own'}."
    )
    lines += ["", *_accuracy(families, sets, found, stages), ""]
    lines += [*_tests(found), ""] if len(found) > len(first) else []
    lines += [*_stages(first), ""]
    if two_threads is not None:
        lines += wrap(f"Two threads are {two_threads:.2f} times as fast as one (wall time, the costliest families).")
    return "\n".join(lines) + "\n"


def _accuracy(
    families: list[Family],
    sets: list[str],
    found: dict[str, list[Outcome | None]],
    stages: dict[str, dict[str, list[dict[str, float]]]],
) -> list[str]:
    """A row per tool."""
    rows = []
    for tool, outcomes in found.items():
        done = [(family, one) for family, one in zip(families, outcomes, strict=True) if one is not None]
        if not done:
            continue
        cells, seconds = sum(family.cells for family, _ in done), sum(one.seconds for _, one in done)
        rates = [f"{cells / seconds / 1e6:.1f}"]
        for of_isa in stages.values():
            calls = sum(sum(one.values()) for one in of_isa.get(tool, []))
            rates.append(f"{cells / calls / 1e6:.0f}" if calls else "-")
        by_set = [[one.tc for family, one in done if family.set == name] for name in sets]
        name = tool if len(done) == len(families) else f"{tool} ({len(done)} families)"
        figures = [100 * statistics.mean(getattr(one, score) for _, one in done) for score in ("sp", "tc")]
        memory = f"{max(one.megabytes for _, one in done):.0f}"
        shares = [f"{100 * statistics.mean(values):.1f}" if values else "-" for values in by_set]
        rows.append([name, *(f"{figure:.2f}" for figure in figures), *shares, *rates, memory])
    heads = [*(f"TC {name}" for name in sets), "Mcells/s", *(f"Mcells/s, {isa}" for isa in stages)]
    return table(["tool", "SP", "TC", *heads, "peak MB"], rows)


def _tests(found: dict[str, list[Outcome | None]]) -> list[str]:
    """tropalign's modes against each other tool, family by family."""
    ours, *others = found
    rows = []
    for tool in others:
        row = [tool]
        for score in ("sp", "tc"):
            pairs = [
                (getattr(a, score), getattr(b, score))
                for a, b in zip(found[ours], found[tool], strict=True)
                if a is not None and b is not None
            ]
            differences = np.array([a - b for a, b in pairs])
            better, worse = int((differences > 1e-9).sum()), int((differences < -1e-9).sum())
            mean = 100 * differences.mean() if len(differences) else 0.0
            row += [f"{mean:+.2f}", f"{better} / {worse}", f"{signed_rank(differences):.2g}"]
        rows.append(row)
    heads = ["tropalign against", "SP", "better / worse", "p", "TC", "better / worse", "p"]
    text = "Differences are means in percent points; p is of the Wilcoxon signed-rank test, two-sided."
    return ["## Family by family", "", *wrap(text), "", *table(heads, rows)]


def signed_rank(differences: np.ndarray) -> float:
    """Two-sided p of Wilcoxon's signed-rank test, by the normal approximation; zeros are left out, ties share ranks."""
    values = differences[np.abs(differences) > 1e-9]
    n = len(values)
    if n == 0:
        return 1.0
    _, member, counts = np.unique(np.abs(values).round(9), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[member]
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((counts**3 - counts).sum()) / 48
    distance = abs(float(ranks[values > 0].sum()) - n * (n + 1) / 4)
    return erfc(max(distance - 0.5, 0) / sqrt(2 * variance))


def _stages(stages: dict[str, list[dict[str, float]]]) -> list[str]:
    """Where the time goes, by mode."""
    totals: dict[str, defaultdict[str, float]] = {}
    for tool, families in stages.items():
        totals[tool] = defaultdict(float)
        for family in families:
            for stage, seconds in family.items():
                totals[tool][stage] += seconds
    names = list(dict.fromkeys(stage for total in totals.values() for stage in total))
    rows = [
        [tool, f"{sum(total.values()):.1f}", *(f"{100 * total[name] / sum(total.values()):.0f} %" for name in names)]
        for tool, total in totals.items()
    ]
    return ["## Stages", "", *table(["mode", "seconds", *names], rows)]
