"""The table of what users have, from the sets and the rows of users.py, in docs/benchmarks/pairs.md and index.md."""

from __future__ import annotations

from tables import table, wrap

OTHER_COST = {"edlib"}  # not the same problem: no part in ratios
#: tropalign otherwise called, no rival.
OWN = {"tropalign, one by one"}
#: Set, what it is, report, {mode: GCUPS to reach}.
SET_ROWS = (
    ("30-3000", "mixed 30-3,000 residues", "score", {"local": 27, "global": 27}),
    ("30-3000", "mixed 30-3,000 residues", "alignment", {"local": 18, "global": 18}),
    ("257", "length 257", "alignment", {"local": 20, "global": 20}),
    ("51", "length 51", "alignment", {"local": 10, "global": 10}),
    ("257", "length 257", "ends", {"local": 20, "global": 24}),
)
REPORTS = {"score": "score", "alignment": "CIGAR", "ends": "`--report ends`"}
UNITS = {"GCUPS": 1, "us": -1, "s": -1}
#: Cases that the overview leaves out, by a part of their names.
NOT_IN_OVERVIEW = ("length 257", "substitutions only", "400 residues")
#: Measurements of users.py in the table's order.
ORDER = ("similar", "database", "repertoire", "16s", "proteome", "loops")


def users_table(results: dict) -> list[str]:
    """The section: bare limits, a row per case, and what the rows say beside it."""
    found, bare, isas = rows_of(results), results["extras"].get("bare", {}), results["isas"]
    if not found:
        return []
    lines = ["## Typical tasks", "", *bare_lines(bare)]
    own = [f"tropalign, {isa}" for isa in isas]
    headings = ["case", *own, "to reach", "peers", "over the best", "of the bare limit", "where the rest goes"]
    lines += [*table(headings, [cells_of_row(row, bare, isas) for row in found]), ""]
    notes = [note for row in found for note in row.get("notes", ())]
    return lines + [f"* {note}." for note in notes] + ([""] if notes else [])


def rows_of(results: dict) -> list[dict]:
    """All rows in the order of the table; a measurement that failed is one row."""
    rows = [row for entry in SET_ROWS for row in set_rows(results["sets"], *entry)]
    for name in ORDER:
        answer = results["extras"].get(name, [])
        rows += [{"case": name, "failed": answer["failed"]}] if isinstance(answer, dict) else answer
    return rows


def set_rows(sets: dict, name: str, title: str, report: str, goals: dict[str, int]) -> list[dict]:
    """Rows of a set, one per mode that was measured."""
    rows = []
    entry = sets.get(name, {"ours": {}, "peers": {}})
    for mode, goal in goals.items():
        case = f"{mode}-{report}"
        own = {isa: cases.get(case) for isa, cases in entry["ours"].items()}
        told = {
            isa: {"value": one["gcups"], "unit": "GCUPS", "gcups": one["gcups"], "bare": f"{mode} score", "own": one}
            for isa, one in own.items()
            if isinstance(one, dict) and "gcups" in one
        }
        if not told:
            continue
        answers = {peer: cases.get(case, {}) for peer, cases in entry["peers"].items()}
        rows.append(
            next(iter(told.values()))
            | {
                "case": f"{title}, {mode}, {REPORTS[report]}",
                "goal": f"{goal} GCUPS",
                "peers": {peer: {"value": a["gcups"]} for peer, a in answers.items() if "gcups" in a},
                "also": dict(list(told.items())[1:]),
            }
        )
    return rows


def bare_lines(bare: dict) -> list[str]:
    """What the bare recurrences reach."""
    told = []
    for isa, one in bare.items():
        if "local score" not in one:
            told.append(f"with {isa} they were not measured ({one.get('failed', 'left out')})")
            continue
        told.append(
            f"""{one["local score"]:.1f} GCUPS local and {one["global score"]:.1f} global with {isa} ({one["bytes"]:.0f}
            lanes of 8 bits), and {one["local stored"]:.1f} and {one["global stored"]:.1f} with four stored comparisons
            per cell"""
        )
    text = f"""The bare recurrences (`bench/bare.cpp`, compiled and run in the same run: 256 x 256 cells):
        {"; ".join(told) or "left out"}. *Of the bare limit* refers to the rate without stored comparisons, over the
        whole matrix: more than 100 % means that cells were skipped. This column and *over the best* have a value for
        each instruction set. The rest of the time is that of the first instruction set: *cells of padding*, in lanes
        beyond the end of a shorter sequence, at the bare rate; *traceback*, including CIGARs; *outside the kernels*:
        Python, planning, tables; *start* and *reading*: of commands, measured separately; *else*: stored comparisons
        or cells swept twice, starts and ends of units, caches, writing. Commands are measured as a whole, by
        processor time and peak memory, so that two threads count twice. *One by one* is a call of `align` per pair
        instead of `align_many`. Placement is measured in [place.md](place.md)."""
    return [*wrap(text), ""]


def cells_of_row(row: dict, bare: dict, isas: list[str]) -> list[str]:
    """The row as the table shows it."""
    if "failed" in row:
        return [row["case"], "failed", *[""] * (len(isas) + 3), row["failed"].replace("|", "/")]
    peers = row.get("peers", {})
    texts = [peer_text(name, peer, row["unit"]) for name, peer in peers.items()]
    rivals = [float(peer["value"]) for name, peer in peers.items() if name not in OTHER_COST | OWN]
    own, ratios, shares, fraction = [], [], [], None
    for isa in isas:
        one = row if isa == isas[0] else row.get("also", {}).get(isa, {})
        if "value" not in one:
            own.append("-")
            continue
        own.append(f"**{quantity(one['value'], row['unit'])}**" + (f", {one['mb']:.0f} MB" if "mb" in one else ""))
        if rivals:
            ratio = one["value"] / max(rivals) if UNITS[row["unit"]] > 0 else min(rivals) / one["value"]
            ratios.append(f"{ratio:.1f}x")
        limit = bare.get(isa, {}).get(one.get("bare", ""))
        if limit:
            shares.append(percent(one["gcups"] / limit))
            fraction = one["gcups"] / limit if isa == isas[0] else fraction
    told = [row.get("goal", ""), ", ".join(texts), " / ".join(ratios), " / ".join(shares), rest(row, fraction)]
    return [row["case"], *own, *told]


def rest(row: dict, fraction: float | None) -> str:
    """The parts of a row's time that are not the bare limit's, in words."""
    if fraction is None or fraction > 1:
        return "cells that need not be computed" if fraction else ""
    shares = dict(row.get("shares", {}))
    if own := row.get("own"):
        shares = {}
        if "lane_use" in own:
            shares["cells of padding"] = fraction * (1 / own["lane_use"] - 1)
        if "unit_share" in own:
            shares["traceback"] = own["walk_share"] * own["unit_share"]
            shares["outside the kernels"] = 1 - own["unit_share"]
    shares["else"] = 1 - fraction - sum(shares.values())
    return ", ".join(f"{what} {percent(part)}" for what, part in shares.items() if part > 0.005)


def peer_text(name: str, peer: dict, unit: str) -> str:
    """A peer's figure, and memory where it was measured."""
    text = f"{name} {number(float(peer['value']))}" + (f" {unit}" if unit != "GCUPS" else "")
    text += f", {peer['mb']:.0f} MB" if "mb" in peer else ""
    return text + (" (unit cost)" if name in OTHER_COST else "")


def quantity(value: float, unit: str) -> str:
    """A figure with its unit."""
    return f"{number(value)} {unit}"


def number(value: float) -> str:
    """Three digits or so."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 2 else f"{value:.2f}"


def percent(part: float) -> str:
    """A share; small ones with a digit after the point."""
    return f"{100 * part:.0f} %" if part >= 0.02 else f"{100 * part:.1f} %"


def overview_users(results: dict) -> list[str]:
    """The overview's table: most of the cases in which a peer was measured."""
    isas = results["isas"]
    rows = [
        [row["case"], *(own_text(row, isa, isas) for isa in isas), rivals_text(row)]
        for row in rows_of(results)
        if "value" in row
        and set(row.get("peers", {})) - OTHER_COST - OWN
        and not any(part in row["case"] for part in NOT_IN_OVERVIEW)
    ]
    if not rows:
        return []
    return ["", "Typical tasks:", "", *table(["", *(f"**tropalign, {isa}**" for isa in isas), "peers"], rows)]


def own_text(row: dict, isa: str, isas: list[str]) -> str:
    """A figure of tropalign with one of the instruction sets."""
    one = row if isa == isas[0] else row.get("also", {}).get(isa, {})
    return f"**{quantity(one['value'], row['unit'])}**" if "value" in one else "-"


def rivals_text(row: dict) -> str:
    """The peers that solve the same problem."""
    peers = {name: peer for name, peer in row["peers"].items() if name not in OTHER_COST | OWN}
    return ", ".join(peer_text(name, {"value": peer["value"]}, row["unit"]) for name, peer in peers.items())
