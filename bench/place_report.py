"""docs/benchmarks/place.md from the figures of place.py."""

from __future__ import annotations

from typing import Any

from absent import paragraph
from tables import table, wrap


def write_report(
    processor: str,
    rates: tuple[dict[str, tuple[float, float]], float],
    outcomes: dict[str, Any],
    by_threads: tuple[float, float],
    truth: dict[str, list[int]],
    equal: int,
    large: list[str] | None,
    not_there: list[str],
) -> list[str]:
    """The page, in Markdown."""
    by_isa, computed = rates
    isas = list(by_isa)
    asked = {"v4vbmi": "20", "v4": "20", "v3": "12"}
    rows = [
        ["every branch", *(f"{every:.1f}" for every, _ in by_isa.values())],
        ["to reach", *(asked.get(isa, "-") for isa in isas)],
        ["with pruning: cells stood for", *(f"{pruned:.1f}" for _, pruned in by_isa.values())],
    ]
    lines = ["# Placement of reads: measured speed", "", f"Processor: {processor}.", ""]
    lines += wrap(
        f"""You can compare the placement of reads with PaPaRa and HMMER here. `make bench-place PAPARA=PATH` makes this
        page. 802 sequences of 3,644 columns (1,601 branches), {len(truth)} reads of 100 bases. One thread, `--device
        cpu`, processor time; tropalign with the instruction sets {", ".join(isas)}."""
    )
    lines += ["", *paragraph(not_there), *table(["scores alone, GCUPS", *isas], rows), ""]
    lines += wrap(
        f"""Pruning computes {computed:.0%} of the cells. Best branch and score are PaPaRa 2.5's in {equal} of
        {len(truth)} reads (its results are among the tests)."""
    )
    papara = outcomes.get("PaPaRa 2.5", {}).get("seconds")
    rows = []
    for name, row in outcomes.items():
        own = row.get("own", {})
        times = [f"{own[isa]:.2f}" if own else "-" for isa in isas] + ["-" if own else f"{row['seconds']:.2f}"]
        ratio = [" / ".join(f"{papara / seconds:.1f}x" for seconds in own.values()) or "-"] if papara else []
        rows.append([name, *times, *ratio, f"{row['memory']:.0f}", f"{share_right(row['found'], truth):.2%}"])
    heads = ["whole command", *(f"seconds, {isa}" for isa in isas), "seconds", *(["over PaPaRa"] if papara else [])]
    lines += ["", *table([*heads, "peak memory, MB", "bases in the true column"], rows), ""]
    one, two = by_threads
    both, single = (outcomes[name]["own"][isas[0]] for name in ("tropalign, both strands", "tropalign"))
    lines += wrap(
        f"""Both strands: {both / single:.2f} times one. Two threads, every branch scored, {isas[0]}: {two:.2f} s by the
        clock, {one / two:.2f}x."""
    )
    return [*lines, "", *large] if large else lines


def share_right(found: dict[str, list[int]], truth: dict[str, list[int]]) -> float:
    """Of all bases, those in their true column."""
    pairs = [(a, b) for name, columns in truth.items() for a, b in zip(found[name], columns, strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs)
