"""docs/benchmarks/scale.md from the figures of measure.py and simulate.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
from tables import fill, table, wrap

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "benchmarks" / "scale.md"


def write_page() -> None:
    """Fills the page with what is there."""
    PAGE.write_text(filled(PAGE.read_text()))


def filled(page: str) -> str:
    """The page with its tables, of the figures that lie beside this script."""
    for mark, lines in (("measured", measured), ("own", own), ("simulated", simulated)):
        source = HERE / ("workers.json" if mark == "own" else f"{mark}.json")
        if source.exists():
            page = fill(page, lines(json.loads(source.read_text())), mark)
    return page


def measured(found: dict) -> list[str]:
    """Tables of measure.py."""
    machine = found["machine"]
    lines = ["", *wrap(said_of(machine)), ""]
    lines += ["### Per task", "", *rates_table(found["rates"]), ""]
    latency = found["latency"]
    lines += wrap(
        f"""One task at a time, from `submit` to its result: {ms(latency["median_s"])} (median),
        {ms(latency["p99_s"])} (99th percentile), on a machine that other programs keep busy."""
    )
    lines += ["", "### Known tasks", "", *memory_table(found["memory"]), ""]
    outline = found["outline"]
    lines += wrap(
        f"""tropalign itself creates all tiles of a run before it starts: {outline["bytes"]:.0f} bytes and
        {1e6 * outline["processor_s"]:.1f} us per tile, including its share of the hash of the cut
        ({outline["tiles"]:,} tiles)."""
    )
    lines += ["", "### Inputs to workers", "", *scatter_table(found["scatter"]), ""]
    joining = found["joining"]
    lines += wrap(
        f"""A client connects after {joining["client_s"]:.2f} s. A new worker process accepts tasks after
        {joining["worker_s"]:.1f} s, {joining["worker_processor_s"]:.1f} s of them processor time (Python and its
        modules). The loss of a killed worker is noticed after {joining["missed_s"]:.2f} s, and its tasks go to other
        workers."""
    )
    lines += ["", "### Parts", "", *parts_table(found["parts"]), ""]
    for name, other in found.get("machines", {}).items():
        lines += [*wrap(f"Measured again ({name}): {said_of(other)}"), ""]
    return lines


def said_of(machine: dict) -> str:
    """A machine in a sentence."""
    return f"{machine['processor']}; {machine['versions']}; {machine['date']}."


def together() -> str:
    """How parts were written that were not written one by one."""
    return json.loads((HERE / "measured.json").read_text())["parts"][0]["together"]


def ms(seconds: float) -> str:
    """Milliseconds."""
    return f"{1000 * seconds:.2g} ms" if seconds < 0.01 else f"{1000 * seconds:.0f} ms"


def size(n_bytes: float) -> str:
    """Bytes, readable."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.0f} {name}"
    return f"{n_bytes:.0f}"


def rates_table(rows: list[dict]) -> list[str]:
    """What a task takes."""
    return table(
        ["workers", "arguments", "result", "given by", "scheduler", "client", "most per second", "seen per second"],
        [
            [
                str(row["workers"]), size(row["argument_bytes"]), size(row["result_bytes"]),
                "`submit`" if row["at_once"] == 1 else f"`map`, {row['at_once']}",
                ms(row["scheduler_s"]), ms(row["client_s"]),
                f"{1 / max(row['scheduler_s'], row['client_s']):,.0f}", f"{row['per_second']:,.0f}",
            ]
            for row in rows
        ],
    )  # fmt: skip


def memory_table(rows: list[dict]) -> list[str]:
    """What a known task takes."""
    return table(
        ["tasks", "scheduler, bytes per task", "together", "client, bytes per task", "scheduler per task", "given"],
        [
            [
                f"{row['tasks']:,}", f"{row['scheduler_bytes']:,.0f}", size(row["scheduler_bytes"] * row["tasks"]),
                f"{row['client_bytes']:,.0f}", f"{1e6 * row['scheduler_s']:.0f} us", f"{row['wall_s']:.0f} s",
            ]
            for row in rows
        ],
    )  # fmt: skip


def scatter_table(rows: list[dict]) -> list[str]:
    """What an input takes on its way."""
    return table(
        ["workers", "input", "on all after", "client", "workers together", "scheduler"],
        [
            [str(row["workers"]), size(row["bytes"]), f"{row['wall_s']:.2f} s", f"{row['client_s']:.2f} s",
             f"{row['workers_s']:.2f} s", f"{row['scheduler_s']:.2f} s"]
            for row in rows
        ],
    )  # fmt: skip


def parts_table(rows: list[dict]) -> list[str]:
    """What a part takes."""
    return table(
        ["part", "written, wall, fsync included", f"the same {rows[0]['together']}, per part", "processor",
         "read, processor"],
        [
            [size(row["bytes"]), *(ms(row[key]) for key in ("wall_s", "together_s", "processor_s", "read_s"))]
            for row in rows
        ],
    )  # fmt: skip


def simulated(found: dict) -> list[str]:
    """Tables of simulate.py."""
    lines = ["", "### A tile per task: what saturates", "", *saturation_table(found["saturation"]), ""]
    if "batches" in found:
        lines += ["### How long a batch should be", "", *batches_table(found["batches"]), ""]
    lines += ["### Schedulers and parts", "", *shards_table(found["shards"]), ""]
    lines += ["### Failures, slow nodes, and the end of a run of an hour", "", *endings_table(found["endings"]), ""]
    lines += ["### Inputs at the start", "", *starts_table(found["starts"]), ""]
    if "validation" in found:
        lines += ["### How far off this is", "", *validation_table(found["validation"]), ""]
    return lines


def percent(share: float) -> str:
    """A share; what a part of a run says of the whole may be too much by a little."""
    return f"{100 * min(share, 1):.0f} %"


def days(value: float) -> str:
    """A time in days or years."""
    return (
        f"{value:.1f} days" if value < 100 else f"{value:,.0f} days" if value < 1000 else f"{value / 365.25:,.0f} years"
    )


def saturation_table(rows: list[dict]) -> list[str]:
    """Efficiency by tile and workers."""
    workers = sorted({row["workers"] for row in rows})
    text = {
        (row["writes"], row["tile_s"], row["workers"]): f"{percent(row['efficiency'])}, {row['bound']}" for row in rows
    }
    body = [
        [f"{tile:g} s", name, *(text[writes, tile, n] for n in workers)]
        for writes, name in (("wall_s", "one by one"), ("together_s", together()))
        for tile in sorted({row["tile_s"] for row in rows})
    ]
    return table(["tile", "parts written", *(f"{n:,} workers" for n in workers)], body)


def shortest(rows: list[dict], n_workers: int, key: str, share: float) -> float | None:
    """The shortest batch that leaves workers that share of what the best one does."""
    own = sorted((row for row in rows if row["workers"] == n_workers), key=lambda row: row["batch_s"])
    best = min(max(row[key] for row in own), 1.0)
    return next((row["batch_s"] for row in own if row[key] >= share * best), None)


def batches_table(rows: list[dict]) -> list[str]:
    """Efficiency by batch and workers, and the shortest batch that will do."""
    workers = sorted({row["workers"] for row in rows})
    text = {(row["batch_s"], row["workers"]): f"{percent(row['efficiency'])} / {percent(row['rough'])}" for row in rows}
    body = [[f"{batch:g} s", *(text[batch, n] for n in workers)] for batch in sorted({row["batch_s"] for row in rows})]
    body.append(["**shortest with 97 %**", *(f"**{shortest(rows, n, 'efficiency', 0.97):g} s**" for n in workers)])
    return table(["batch", *(f"{n:,} workers" for n in workers)], body)


def shards_table(rows: list[dict]) -> list[str]:
    """Whole runs, by schedulers."""
    body = [
        [
            f"{row['workers']:,}", str(row["shards"]), f"{row['batch_s']:g} s", percent(row["efficiency"]),
            days(row["days"]), f"{row['tiles']:,}", f"{row['parts']:,}", row["bound"],
        ]
        for row in rows
    ]  # fmt: skip
    headings = "workers, schedulers, batch, efficiency, takes, tiles per run, parts per run, busiest".split(", ")
    return table(headings, body)


def endings_table(rows: list[dict]) -> list[str]:
    """Whole short runs."""
    return table(
        ["batch", "", "efficiency", "deaths", "copies", "computed in vain"],
        [[f"{row['batch_s']:g} s", row["name"], percent(row["efficiency"]), str(row["deaths"]), str(row["copies"]),
          f"{100 * row['wasted']:.1f} %"] for row in rows],
    )  # fmt: skip


def starts_table(rows: list[dict]) -> list[str]:
    """Inputs on their way."""
    return table(
        ["nodes", "from the client, one by one", "from a shared disk", "from node to node"],
        [[f"{row['n']:,}", *(f"{row[by]:,.0f} s" for by in ("client", "disk", "nodes"))] for row in rows],
    )  # fmt: skip


def validation_table(rows: list[dict]) -> list[str]:
    """Real runs beside the simulation."""

    def off(row: dict, key: str) -> str:
        return f"{row[key]:.1f} s ({100 * (row[key] / row['real_s'] - 1):+.0f} %)"

    return table(
        ["workers", "task", "tasks", "without overheads", "real", "simulated, by processor", "simulated, by trial"],
        [[str(row["workers"]), f"{row['tile_s']:g} s", f"{row['tasks']:,}", f"{row['ideal_s']:.1f} s",
          f"{row['real_s']:.1f} s", off(row, "processor_s"), off(row, "trial_s")] for row in rows],
    )  # fmt: skip


def own(found: dict) -> list[str]:
    """What workers.py found."""
    lines = []
    if "overhead" in found:
        lines += ["", "### In addition to the computation", "", *overhead_table(found["overhead"]), ""]
    if "kills" in found:
        kills = found["kills"]
        runs = ", ".join(f"{seconds:.0f} s" for seconds in kills["runs_s"])
        lines += ["", "### Workers that are killed", ""]
        lines += wrap(
            f"""{kills["kills"]} times a random one of three workers was killed (SIGKILL) and another started, in
            {kills["runs"]} run{"s" * (kills["runs"] != 1)} of {kills["tiles"]} tiles ({runs}; without kills and
            cluster {kills["alone_s"]:.0f} s): {"equal bytes each time" if kills["equal"] else "DIFFERENT BYTES"}."""
        )
    return [*lines, ""]


def overhead_table(rows: list[dict]) -> list[str]:
    """Seconds of a job here and on workers."""
    body = []
    for row in rows:
        alone = row["alone_processor_s"]
        body.append(
            [row["name"], "here, one thread", f"{row['alone_s']:.1f} s", f"{alone:.1f} s", "", "",
             size(row["alone_bytes"]), ""]
        )  # fmt: skip
        for n_workers in (1, 2):
            name = f"by_{n_workers}"
            workers, others = row[f"{name}_workers_s"], row[f"{name}_client_s"] + row[f"{name}_scheduler_s"]
            body.append(
                ["", f"{n_workers} worker{'s' * (n_workers > 1)}", f"{row[f'{name}_s']:.1f} s", f"{workers:.1f} s",
                 f"{row[f'{name}_client_s']:.1f} s", f"{row[f'{name}_scheduler_s']:.1f} s",
                 size(row[f"{name}_client_bytes"]), f"{100 * ((workers + others) / alone - 1):+.1f} %"]
            )  # fmt: skip
    headings = (
        "job, computed, clock, processor of the computation, of the client, of the scheduler, client's memory, beside"
    )
    return table(headings.split(", "), body)
