"""Many machines, simulated: what a scheduler, a client and a disk with the measured costs leave of N workers.

    .venv/bin/python bench/scale/simulate.py                      # the tables of docs/benchmarks/scale.md; 10 minutes
    .venv/bin/python bench/scale/simulate.py --only validation    # real tasks that sleep, and how far off this is

    client --submit--> scheduler --batch--> worker --report--> scheduler --notice--> client --part--> disk
      ^  one thread:       one thread:        one batch at a time,                     |
      |  submits, takes,   SCHEDULER_S per    AHEAD batches with it                    |
      |  writes parts      task                                                        |
      +------------------ a window of batches is known at a time <---------------------+

Client, scheduler and network card each serve what arrives in order, one after another. So whatever happens to a batch
follows when a message reaches one of them, and three events per batch suffice (submit, report, result): a worker, too,
does what it is given in order, so that the end of a batch is known when it is sent. A worker that dies loses what it
has and what nobody fetched; that is queued again. Costs of batches are drawn from a gamma distribution.

A run of more batches than `most_batches` is simulated with that many; the rest is added at the rate of its middle half.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

MEASURED = Path(__file__).parent / "measured.json"
SIMULATED = Path(__file__).parent / "simulated.json"


#: As in `tropalign.devices.cluster_pool`: when a batch is late.
LATE_TIMES, LATE_SECONDS = 3.0, 10.0


@dataclass(frozen=True)
class Site:
    """Machines and what they cost; all times in seconds.

    Parameters
    ----------
    scheduler_s
        The scheduler's processor per batch: half when it is submitted, half when it is done.
    client_s
        The client's per batch: submitting it and taking its result.
    part_s, part_byte_s
        Writing a part to the disk: per part and per byte.
    latency_s
        Of a message, one way.
    link_bytes_s
        Bytes per second that the client's network card takes.
    ahead
        Batches that a worker has at a time, the running one included.
    window
        Batches known at a time, per worker; two more than workers at least (`ClusterPool._submit_more`).
    dies_every_s, restart_s
        Mean time until a worker dies, and until it is back. Infinite: never.
    slow_share, slow_factor
        That share of the workers takes so many times as long.
    late_times
        At the end, batches that take so many times as long as they should, and LATE_SECONDS more, are given to idle
        workers once more, and the first result counts (`ClusterPool._submit_more`). Infinite: never.
    start_s
        Until a worker has its inputs, also after each restart.
    """

    n_workers: int
    scheduler_s: float = 0.0
    client_s: float = 0.0
    part_s: float = 0.0
    part_byte_s: float = 0.0
    latency_s: float = 0.0
    link_bytes_s: float = math.inf
    ahead: int = 2
    window: float = 1.25
    dies_every_s: float = math.inf
    restart_s: float = 600.0
    slow_share: float = 0.0
    slow_factor: float = 3.0
    late_times: float = math.inf
    start_s: float = 0.0

    @property
    def most_known(self) -> int:
        """Batches known at a time."""
        return self.n_workers + max(2, int((self.window - 1) * self.n_workers))


@dataclass(frozen=True)
class Load:
    """What is to be computed: batches of tiles.

    Parameters
    ----------
    spread
        Standard deviation of a tile's cost over its mean; that of a batch is smaller by the root of its tiles.
    result_bytes
        Per tile.
    batches_per_part
        Batches whose results are written as one part.
    """

    n_tiles: int
    tile_s: float
    batch: int = 1
    spread: float = 0.3
    result_bytes: float = 1000.0
    batches_per_part: int = 1

    @property
    def n_batches(self) -> int:
        """Tasks of the scheduler."""
        return -(-self.n_tiles // self.batch)

    @property
    def batch_s(self) -> float:
        """Mean seconds per batch."""
        return self.tile_s * self.n_tiles / self.n_batches


@dataclass
class Outcome:
    """What a run comes to.

    Attributes
    ----------
    seconds
        From the first submission to the last part, of the whole run.
    efficiency
        Useful seconds over seconds of all workers.
    busy
        Share of the time that client, scheduler and network card are busy, of what was simulated.
    taken
        How often the result of each simulated batch was taken: once.
    useful_s, wasted_s
        Seconds that counted, and those of batches that died or were copies.
    """

    seconds: float
    efficiency: float
    busy: dict[str, float]
    taken: list[int] = field(repr=False)
    useful_s: float = 0.0
    wasted_s: float = 0.0
    n_deaths: int = 0
    n_copies: int = 0

    @property
    def bound(self) -> str:
        """What is busiest, workers included."""
        return max(self.busy, key=lambda name: self.busy[name])


class Simulation:
    """One run of some batches."""

    def __init__(self, site: Site, costs: list[float], load: Load, seed: int) -> None:
        self.site, self.costs, self.load = site, costs, load
        self.rng = np.random.default_rng(seed)
        self.events: list[tuple[float, int, Any]] = []
        self.n_events = 0
        n = site.n_workers
        self.free = {"client": 0.0, "scheduler": 0.0, "network": 0.0}  # when each is free again
        self.busy = dict.fromkeys(self.free, 0.0)
        self.worker_free = [site.start_s] * n
        self.life = [0] * n  # times it died: what it was given in an earlier life never comes back
        self.held: list[dict[int, tuple[int, float, float, float]]] = [
            {} for _ in range(n)
        ]  # by ticket: batch, given, begin, end
        slow = self.rng.permutation(n)[: round(site.slow_share * n)]
        self.pace = [1.0] * n
        for worker in slow:
            self.pace[worker] = site.slow_factor
        #: By how many batches they have: workers with room, and their lives; stale entries are passed over in `room`.
        self.slots = [deque((worker, 0) for worker in range(n)), *(deque() for _ in range(site.ahead - 1))]
        self.queue: deque[int] = deque()
        self.taken = [0] * len(costs)
        self.ends: list[tuple[float, float]] = []  # of batches, with their costs
        self.next = self.known = self.n_given = self.n_deaths = self.n_copies = 0
        self.copied: set[int] = set()
        self.wasted = 0.0
        self.is_checking = False

    def at(self, time: float, action: Any, *arguments: Any) -> None:
        """Has something happen at that time; what is simultaneous happens in the order of these calls."""
        self.n_events += 1
        heapq.heappush(self.events, (time, self.n_events, (action, arguments)))

    def serve(self, name: str, time: float, seconds: float) -> float:
        """When a server is done with what reaches it at that time."""
        end = max(self.free[name], time) + seconds
        self.free[name] = end
        self.busy[name] += seconds
        return end

    def run(self) -> None:
        """Until every batch was taken."""
        for worker in range(self.site.n_workers):
            self.plan_death(0.0, worker)
        self.submit(0.0)
        while len(self.ends) < len(self.costs):
            time, _, (action, arguments) = heapq.heappop(self.events)
            action(time, *arguments)

    def plan_death(self, time: float, worker: int) -> None:
        """A worker lives for a while."""
        if math.isfinite(self.site.dies_every_s):
            self.at(time + self.rng.exponential(self.site.dies_every_s), self.die, worker)

    # The client.

    def submit(self, time: float) -> None:
        """As many batches as the window has room for."""
        site = self.site
        while self.next < len(self.costs) and self.known < site.most_known:
            end = self.serve("client", time, site.client_s / 2)
            self.at(end + site.latency_s, self.receive, self.next)
            self.next += 1
            self.known += 1

    def take(self, time: float, batch: int, worker: int, life: int) -> None:
        """A result is there: fetched, written, and the next batch submitted."""
        if self.taken[batch]:
            return
        if life != self.life[worker]:  # nobody has it any more
            self.at(time + self.site.latency_s, self.receive, batch)
            return
        site, load = self.site, self.load
        n_bytes = load.result_bytes * load.batch
        at = self.serve("network", time, n_bytes / site.link_bytes_s) if math.isfinite(site.link_bytes_s) else time
        seconds = site.client_s / 2 + site.part_s / load.batches_per_part + site.part_byte_s * n_bytes
        end = self.serve("client", at, seconds)
        self.taken[batch] += 1
        self.known -= 1
        self.ends.append((end, self.costs[batch]))
        self.submit(end)

    # The scheduler.

    def receive(self, time: float, batch: int) -> None:
        """A batch to be done."""
        end = self.serve("scheduler", time, self.site.scheduler_s / 2)
        self.queue.append(batch)
        self.assign(end)

    def report(self, time: float, worker: int, life: int, ticket: int) -> None:
        """A batch was done."""
        if life != self.life[worker]:
            return
        batch, _, begin, finish = self.held[worker].pop(ticket)
        if self.taken[batch]:  # its copy was faster
            self.wasted += finish - begin
        end = self.serve("scheduler", time, self.site.scheduler_s / 2)
        self.has_room(worker)
        self.assign(end)
        self.at(end + self.site.latency_s, self.take, batch, worker, life)

    def assign(self, time: float) -> None:
        """Gives batches to workers that have room."""
        while self.queue and (worker := self.room(self.site.ahead)) is not None:
            self.give(time, self.queue.popleft(), worker)
        if (
            math.isfinite(self.site.late_times)
            and not self.is_checking
            and not self.queue
            and self.next == len(self.costs)
        ):
            self.is_checking = True
            self.at(time + self.load.batch_s / 4, self.check)

    def room(self, most: int) -> int | None:
        """The worker with the fewest batches, fewer than that."""
        for level, slots in enumerate(self.slots[:most]):
            while slots:
                worker, life = slots.popleft()
                if life == self.life[worker] and len(self.held[worker]) == level:
                    return worker
        return None

    def has_room(self, worker: int) -> None:
        """Notes it where it does."""
        level = len(self.held[worker])
        if level < self.site.ahead:
            self.slots[level].append((worker, self.life[worker]))

    def give(self, time: float, batch: int, worker: int) -> None:
        """Sends a batch to a worker."""
        begin = max(self.worker_free[worker], time + self.site.latency_s)
        end = begin + self.costs[batch] * self.pace[worker]
        self.worker_free[worker] = end
        self.n_given += 1
        self.held[worker][self.n_given] = batch, time, begin, end
        self.has_room(worker)
        self.at(end + self.site.latency_s, self.report, worker, self.life[worker], self.n_given)

    def check(self, time: float) -> None:
        """Copies of batches that should have been done, to workers that have nothing to do."""
        allowed = self.site.late_times * self.load.batch_s + LATE_SECONDS
        late = [
            (given, batch)
            for held in self.held
            for batch, given, _, _ in held.values()
            if batch not in self.copied and time - given > allowed
        ]
        for _, batch in sorted(late):
            worker = self.room(1)
            if worker is None:
                break
            self.copied.add(batch)
            self.n_copies += 1
            self.give(self.serve("scheduler", time, self.site.scheduler_s / 2), batch, worker)
        self.at(time + self.load.batch_s / 4, self.check)

    # Workers.

    def die(self, time: float, worker: int) -> None:
        """All that it has is queued again."""
        self.n_deaths += 1
        self.life[worker] += 1
        for batch, _, begin, _ in self.held[worker].values():
            self.wasted += max(time - begin, 0.0)
            if not self.taken[batch]:
                self.copied.discard(batch)
                self.queue.appendleft(batch)
        self.held[worker].clear()
        self.at(time + self.site.restart_s, self.come_back, worker)
        self.assign(time)

    def come_back(self, time: float, worker: int) -> None:
        """With its inputs still to be had."""
        self.worker_free[worker] = time + self.site.start_s
        self.has_room(worker)
        self.plan_death(time, worker)
        self.assign(time)


def simulate(site: Site, load: Load, seed: int = 1, most_batches: int = 100_000) -> Outcome:
    """What a load comes to on a site.

    Parameters
    ----------
    most_batches
        What is simulated event by event, but never less than 4 batches per worker.
    """
    n = min(load.n_batches, max(most_batches, 4 * site.n_workers))
    simulation = Simulation(site, costs_of(load, n, seed), load, seed)
    simulation.run()
    ends = sorted(simulation.ends)
    seconds, useful = ends[-1][0], sum(simulation.costs)
    busy = {name: value / seconds for name, value in simulation.busy.items()}
    busy["workers"] = (useful + simulation.wasted) / (site.n_workers * seconds)
    whole = useful * load.n_batches / n
    if load.n_batches > n:
        middle = ends[n // 4 : 3 * n // 4 + 1]
        rate = sum(cost for _, cost in middle[1:]) / (middle[-1][0] - middle[0][0])  # useful seconds per second
        seconds += (whole - useful) / min(rate, sum(1 / pace for pace in simulation.pace))  # what all can do at most
    return Outcome(
        seconds, whole / (site.n_workers * seconds), busy, simulation.taken, useful, simulation.wasted,
        simulation.n_deaths, simulation.n_copies,
    )  # fmt: skip


def costs_of(load: Load, n: int, seed: int) -> list[float]:
    """Seconds of some batches."""
    relative = load.spread / math.sqrt(load.batch)
    if not relative:
        return [load.batch_s] * n
    shape = relative**-2
    return np.random.default_rng([seed, 1]).gamma(shape, load.batch_s / shape, n).tolist()


def start_seconds(n_nodes: int, n_bytes: float, link_bytes_s: float, disk_bytes_s: float, by: str) -> float:
    """Seconds until every node has the inputs.

    Parameters
    ----------
    by
        "client": one after another over the client's card; "disk": all at once from a shared disk; "nodes": each that
        has them gives them to another one, so that twice as many have them after each round.
    """
    once = n_bytes / link_bytes_s
    if by == "client":
        return n_nodes * once
    if by == "disk":
        return max(once, n_nodes * n_bytes / disk_bytes_s)
    return math.ceil(math.log2(n_nodes + 1)) * once


def measured_site(n_workers: int, writes: str = "together_s", **others: Any) -> Site:
    """Workers with the costs in measured.json: those of a scheduler that has 100 workers, and results of 1 kB.

    `writes` says how parts are written: "wall_s", one after another, or "together_s", as runs do.
    """
    found = json.loads(MEASURED.read_text())
    rates = {
        (row["workers"], row["argument_bytes"], row["result_bytes"], row["at_once"]): row for row in found["rates"]
    }
    small, large = found["parts"][0], found["parts"][-1]
    per_byte = (large[writes] - small[writes]) / (large["bytes"] - small["bytes"])
    costs = {
        "scheduler_s": rates[100, 0, 0, 1]["scheduler_s"],
        "client_s": rates[100, 0, 0, 1]["client_s"],
        "part_s": small[writes],
        "part_byte_s": max(per_byte, 0.0),
        "latency_s": LATENCY_S,
        "link_bytes_s": LINK_BYTES_S,
    }
    return Site(n_workers, **{**costs, **others})


#: What was not measured here but taken as given: a message's way within a data centre, and a card of 10 Gb/s.
LATENCY_S, LINK_BYTES_S = 0.0005, 1.25e9
#: Failures and slow nodes of a large site.
TROUBLE = {"dies_every_s": 36_000.0, "restart_s": 600.0, "slow_share": 0.01, "slow_factor": 3.0}
WORKERS = (10, 100, 1_000, 10_000)
TILES = 10**9
BATCH_S = (0.5, 2, 6, 10, 30, 60, 300)
#: Per tile: hits are few where a filter is set.
RESULT_BYTES = 1_000.0


def load_of(batch_s: float, tile_s: float = 2.0) -> Load:
    """10^9 tiles, in batches of about that many seconds."""
    batch = max(round(batch_s / tile_s), 1)
    return Load(TILES, batch_s / batch, batch, result_bytes=RESULT_BYTES)


def saturation() -> list[dict]:
    """A tile per task: what the workers are left with, and what is busiest."""
    rows = []
    for writes in ("wall_s", "together_s"):
        for tile_s in (0.1, 2.0, 60.0):
            for n in WORKERS:
                load = Load(TILES, tile_s, result_bytes=RESULT_BYTES)
                found = simulate(measured_site(n, writes), load, most_batches=3_000)
                rows.append({"writes": writes, "tile_s": tile_s, "workers": n, **summary(found)})
    return rows


def batches() -> list[dict]:
    """By batch length: the share of the workers' time that is of use, with failures and slow nodes as with none."""
    rows = []
    for n in WORKERS:
        for batch_s in BATCH_S:
            load = load_of(batch_s)
            calm = simulate(measured_site(n), load, most_batches=3_000)
            rough = simulate(measured_site(n, **TROUBLE, late_times=LATE_TIMES), load, most_batches=3_000)
            rows.append({"workers": n, "batch_s": batch_s, "rough": rough.efficiency, **summary(calm)})
    return rows


def endings() -> list[dict]:
    """Whole runs of an hour of 300 workers: the end of a run, with slow nodes, with copies and without."""
    rows = []
    for batch_s in (30, 60, 300):
        load = Load(round(300 * 3_600 / batch_s), batch_s, spread=0.1, result_bytes=RESULT_BYTES)
        for name, others in (
            ("no trouble", {}),
            ("slow nodes and failures", TROUBLE),
            ("late batches copied after 3 times their time", {**TROUBLE, "late_times": LATE_TIMES}),
            ("after 1.5 times", {**TROUBLE, "late_times": 1.5}),
        ):
            found = simulate(measured_site(300, **others), load, most_batches=10**6)
            rows.append({"batch_s": batch_s, "name": name, "copies": found.n_copies, "deaths": found.n_deaths,
                         "wasted": found.wasted_s / (found.useful_s + found.wasted_s), **summary(found)})  # fmt: skip
    return rows


def shards() -> list[dict]:
    """10^9 tiles of 2 s on 1,000 and 10,000 workers, by the number of schedulers, each with a shard and a client."""
    rows = []
    for n, n_shards, batch_s in ((1_000, 1, 2), (1_000, 1, 60), (1_000, 10, 60), (10_000, 1, 60), (10_000, 10, 60),
                                 (10_000, 10, 600), (10_000, 100, 60)):  # fmt: skip
        load = replace(load_of(batch_s), n_tiles=TILES // n_shards)
        found = simulate(measured_site(n // n_shards, **TROUBLE, late_times=LATE_TIMES), load, most_batches=3_000)
        rows.append({"workers": n, "shards": n_shards, "batch_s": batch_s, "parts": load.n_batches,
                     "tiles": load.n_tiles, **summary(found)})  # fmt: skip
    return rows


def starts() -> list[dict]:
    """Seconds until all nodes have 20 GB, by the way they take: cards of 10 Gb/s, a shared disk of 5 GB/s."""
    ways = ("client", "disk", "nodes")
    return [{"n": n, **{by: start_seconds(n, 20e9, LINK_BYTES_S, 5e9, by) for by in ways}} for n in (10, 100, 1_000)]


def summary(found: Outcome) -> dict:
    """What the tables show."""
    return {"days": found.seconds / 86_400, "efficiency": found.efficiency, "bound": found.bound, "busy": found.busy}


#: Workers (threads that sleep), seconds per task, tasks.
REAL = ((1, 2.0, 10), (2, 1.0, 30), (20, 1.0, 400), (100, 2.0, 1_000), (200, 1.0, 2_000), (200, 0.1, 4_000))


def validate() -> Iterator[dict]:
    """Real runs of tasks that sleep, and what the simulation says to them.

    Once with the processor seconds of measured.json, which is what a scheduler on a machine of its own would do; once
    with the wall seconds per task of a trial just before, in which whatever else this machine does takes its share.
    """
    import measure

    for n, mean_s, n_tasks in REAL:
        load = Load(n_tasks, mean_s)
        costs = costs_of(load, n_tasks, 1)
        with measure.site(n) as found:
            measure.through(found.client, 300, n, 0, 0, 1)
            window = Site(n).most_known
            trial_s = measure.timed(found.client, [0.0] * 1_000, window, None)
            with measure.scratch() as folder:
                real_s = measure.timed(found.client, costs, window, folder)
        by_processor = simulate(measured_site(n, "wall_s"), load)
        by_trial = simulate(measured_site(n, "wall_s", scheduler_s=trial_s / 1_000, client_s=0.0), load)
        yield {"workers": n, "tile_s": mean_s, "tasks": n_tasks, "real_s": real_s, "processor_s": by_processor.seconds,
               "trial_s": by_trial.seconds, "ideal_s": sum(costs) / n}  # fmt: skip


def main() -> int:
    """Simulates, and writes the figures and the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tables = {"saturation": saturation, "batches": batches, "shards": shards, "endings": endings, "starts": starts,
              "validation": lambda: list(validate())}  # fmt: skip
    parser.add_argument("--only", nargs="+", choices=tables, help="simulate these again")
    options = parser.parse_args()
    sys.path.append(str(Path(__file__).parent.parent))
    import scale_report

    found = json.loads(SIMULATED.read_text()) if SIMULATED.exists() else {}
    for name in options.only or tables:
        found[name] = tables[name]()
        print(name, json.dumps(found[name]), flush=True)
    SIMULATED.write_text(json.dumps(found, indent=1) + "\n")
    scale_report.write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
