"""Write the measured figures of docs/scale.md: the cost of parts, and two large jobs estimated from it.

    .venv/bin/python bench/scale/worked.py

Sizes are those of public copies (their sources are on the page), speeds those of one core of a Zen 5 with AVX-512.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
from tables import fill, table, wrap

PAGE = Path(__file__).parent.parent.parent / "docs" / "scale.md"
#: USD per core-hour: a round figure; put in your own.
PRICE = 0.05
CORE_HOUR_S, CORE_YEAR_S = 3600.0, 365.25 * 86_400

#: UniRef50: clusters and residues of their representatives.
SEQUENCES, RESIDUES = 60_315_044, 17_282_055_793
#: GCUPS of one core, local alignment, lengths of 30 to 3,000 residues.
SCORES_GCUPS, CIGARS_GCUPS = 45.3, 19.4
#: Cells per tile (`pairwise/task.py`; with --top `pairwise/selection.py`), bytes per line of -f m8.
TILE_CELLS, TOP_TILE_CELLS, LINE_BYTES = 15e9, 60e9, 80
TOP = 10
#: The share of pairs that the first two filters of MMseqs2 leave (Steinegger and Soeding 2017, supplement).
PREFILTERED = 1e-5

#: OMG_prot50: proteins, and bytes of them with their names, which bound their residues from above.
PROTEINS, PROTEIN_BYTES = 207_248_723, 63_549_266_472
#: Families of Pfam 38.
MODELS = 27_480
#: 404 models against the proteome of E. coli, 1,358,898 residues, in 2.77 s of one core.
MODEL_RESIDUES_PER_S = 404 * 1_358_898 / 2.77
#: hmmsearch 3.4 of the same: 12.42 s.
HMMSEARCH_RATIO = 12.42 / 2.77
#: A hit in the table of domains, and how many hits a protein has, about.
HIT_BYTES, HITS_PER_PROTEIN = 200, 2


def core_time(seconds: float) -> str:
    """Of one core."""
    years, hours = seconds / CORE_YEAR_S, seconds / CORE_HOUR_S
    return f"{years:,.0f} core-years" if years >= 2 else f"{hours:,.0f} core-hours"


def money(seconds: float) -> str:
    """What that costs."""
    usd = seconds / CORE_HOUR_S * PRICE
    return f"{round(usd, -1):,.0f} USD" if usd > 100 else f"{usd:.0f} USD"


def size(n_bytes: float) -> str:
    """Bytes, readable."""
    for unit, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.0f} {name}" if n_bytes >= 10 * unit else f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes / 1e6:.0f} MB"


def count(value: float) -> str:
    """A large number as a power of ten."""
    digits, power = f"{value:.1e}".split("e")
    return f"{digits} x 10^{int(power)}"


def wall(seconds: float, cores: int = 64_000) -> str:
    """Wall time of 1,000 nodes of 64 cores."""
    hours = seconds / cores / 3600
    if hours >= 24:
        return f"{hours / 24:.1f} days"
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes" if hours > 0.02 else "-"


def uniref() -> list[str]:
    """All against all of UniRef50."""
    cells = RESIDUES**2 / 2  # of the half above the diagonal
    pairs = SEQUENCES * (SEQUENCES - 1) / 2
    rows = []
    for name, done, gcups, n_lines, tile in (
        ("every pair with its CIGAR", cells, CIGARS_GCUPS, pairs, TILE_CELLS),
        ("every score alone (`--report score`)", cells, SCORES_GCUPS, pairs, TILE_CELLS),
        ("`--max-evalue 1e-3`: 100 lines per sequence", cells, SCORES_GCUPS, 100 * SEQUENCES, TILE_CELLS),
        (f"`--top {TOP}`", 2 * cells, SCORES_GCUPS, TOP * SEQUENCES, TOP_TILE_CELLS),
        ("`--pairs`: what a prefilter left", PREFILTERED * cells, CIGARS_GCUPS, PREFILTERED * pairs, TILE_CELLS),
    ):
        seconds = done / (gcups * 1e9)
        rows.append([name, count(done), core_time(seconds), wall(seconds), money(seconds), size(n_lines * LINE_BYTES),
                     count(done / tile)])  # fmt: skip
    return table(["what", "cells", "takes", "1,000 nodes of 64 cores", "costs", "output, m8", "tiles"], rows)


def pfam() -> list[str]:
    """Pfam against a catalogue of metagenomic proteins."""
    seconds = MODELS * PROTEIN_BYTES / MODEL_RESIDUES_PER_S
    rows = []
    for name, taken in (("`tropalign search`", seconds), ("hmmsearch 3.4", seconds * HMMSEARCH_RATIO)):
        rows.append([name, core_time(taken), wall(taken), wall(taken, 64), money(taken)])
    lines = table(["what", "takes", "1,000 nodes of 64 cores", "one such node", "costs"], rows)
    return [*lines, "", f"Output: {HITS_PER_PROTEIN} hits per protein of {HIT_BYTES} bytes make "
            f"{size(HITS_PER_PROTEIN * PROTEINS * HIT_BYTES)}."]  # fmt: skip


def parts() -> list[str]:
    """What parts of up to 100 kB cost the client."""
    rows = json.loads((Path(__file__).parent / "measured.json").read_text())["parts"]
    walls, together = ([1000 * row[key] for row in rows if row["bytes"] <= 100_000] for key in ("wall_s", "together_s"))
    return wrap(
        f"""A part costs the client {min(walls):.0f} to {max(walls):.0f} ms if parts are written one after another,
        because each waits for the disk: at least **{1000 / max(walls):.0f} parts per second**. Written
        {rows[0]["together"]}, a part takes {min(together):.1f} to {max(together):.1f} ms."""
    )


def filled(page: str) -> str:
    """The page with its sentences and tables."""
    page = fill(page, ["", *parts(), ""], "parts")
    return fill(fill(page, ["", *uniref(), ""], "uniref"), ["", *pfam(), ""], "pfam")


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
