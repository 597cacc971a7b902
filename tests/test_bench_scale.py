"""The simulation of many machines conserves work, agrees with formulas where there are some, and fills its page."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import pytest
from bench_scripts import BENCH, loaded

ROUGH = {"dies_every_s": 300.0, "restart_s": 20.0, "slow_share": 0.1, "slow_factor": 3.0, "start_s": 2.0}
COSTS = {"scheduler_s": 0.002, "client_s": 0.001, "part_s": 0.001, "latency_s": 0.005}


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(BENCH / "scale")
    return loaded(monkeypatch, "simulate", "scale_report", "worked", "tables")


@pytest.mark.parametrize(("n_workers", "n_tiles"), [(1, 7), (4, 40), (4, 41), (5, 3), (30, 1000)])
def test_without_overheads_workers_share_the_work(module, n_workers, n_tiles):
    found = module.simulate(module.Site(n_workers), module.Load(n_tiles, 2.0, spread=0))
    assert found.seconds == pytest.approx(2.0 * math.ceil(n_tiles / n_workers))
    assert found.efficiency == pytest.approx(n_tiles / n_workers / math.ceil(n_tiles / n_workers))


@pytest.mark.parametrize("ahead", [1, 2])
def test_messages_are_waited_for_unless_a_batch_lies_ready(module, ahead):
    site = module.Site(1, latency_s=0.1, ahead=ahead)
    found = module.simulate(site, module.Load(50, 1.0, spread=0))
    assert found.seconds == pytest.approx(50 * 1.0 + 4 * 0.1 + (2 - ahead) * 49 * 2 * 0.1)


@pytest.mark.parametrize(("name", "cost"), [("scheduler", "scheduler_s"), ("client", "client_s"), ("client", "part_s")])
def test_what_saturates_takes_all_the_time(module, name, cost):
    found = module.simulate(module.Site(1000, **{cost: 0.004}), module.Load(20_000, 0.5))
    assert found.bound == name
    assert found.seconds == pytest.approx(20_000 * 0.004, rel=0.02)


def test_batches_and_network(module):
    load = module.Load(1000, 0.1, result_bytes=1e6)
    found = module.simulate(module.Site(100, link_bytes_s=1e7), load)
    assert found.bound == "network" and found.seconds == pytest.approx(1000 * 1e6 / 1e7, rel=0.02)
    site, load = module.Site(1000, part_s=0.01), module.Load(5000, 0.1)
    alone, together = (module.simulate(site, replace(load, batches_per_part=n)) for n in (1, 10))
    assert alone.busy["client"] * alone.seconds == pytest.approx(10 * together.busy["client"] * together.seconds)


@pytest.mark.parametrize("late_times", [math.inf, 1.5])
@pytest.mark.parametrize("seed", range(5))
def test_each_batch_counts_once_whatever_dies(module, late_times, seed):
    load = module.Load(3000, 1.0, batch=4)
    site = module.Site(20, **COSTS, **ROUGH, late_times=late_times)
    found = module.simulate(site, load, seed)
    assert found.taken == [1] * 750
    assert found.n_deaths > 3 and (found.n_copies == 0 or math.isfinite(late_times))
    costs = module.costs_of(load, 750, seed)
    assert found.useful_s == pytest.approx(sum(costs))
    assert found.efficiency == pytest.approx(sum(costs) / (20 * found.seconds))
    assert found.wasted_s > 0


def test_a_part_of_a_run_stands_for_the_whole(module):
    site, load = module.Site(20, **COSTS, **ROUGH, late_times=1.5), module.Load(2000, 1.0)
    first, again, other = (module.simulate(site, load, seed) for seed in (1, 1, 2))
    assert first == again and first.seconds != other.seconds
    load = module.Load(4000, 1.0)
    seconds = [module.simulate(module.Site(n, **COSTS), load).seconds for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)]
    assert all(more <= fewer for fewer, more in pairwise(seconds))
    assert seconds[-1] >= 4000 * COSTS["scheduler_s"]
    site, load = module.Site(10, **COSTS), module.Load(20_000, 0.5, spread=0.05)
    part, whole = (module.simulate(site, load, most_batches=most) for most in (2000, 20_000))
    assert len(part.taken) == 2000 and len(whole.taken) == 20_000
    assert part.seconds == pytest.approx(whole.seconds, rel=0.01)
    assert part.efficiency == pytest.approx(whole.efficiency, rel=0.01)


@pytest.mark.parametrize("batch", [1, 10, 30, 100])
def test_a_scheduler_is_as_busy_as_workers_finish(module, batch):
    found = module.simulate(module.Site(500, **COSTS), module.Load(400_000, 0.1, batch=batch))
    asked = 500 / (0.1 * batch) * COSTS["scheduler_s"]  # seconds per second
    assert found.busy["scheduler"] == pytest.approx(min(asked, 1.0), rel=0.15)
    assert found.efficiency == pytest.approx(min(1 / asked, 1.0), rel=0.15)


def test_slow_workers_and_copies(module):
    site, load = module.Site(50, slow_share=0.1, slow_factor=5.0), module.Load(500, 10.0, spread=0.05)
    plain, copied = (module.simulate(replace(site, late_times=times), load) for times in (math.inf, 1.5))
    assert copied.seconds < plain.seconds and copied.n_copies > 0 == plain.n_copies
    found = module.simulate(module.Site(4, slow_share=1.0, slow_factor=3.0), module.Load(40, 1.0, spread=0))
    assert found.seconds == pytest.approx(30.0)


def test_costs_of_batches_and_inputs(module):
    import numpy as np

    alone, together = (np.array(module.costs_of(module.Load(10**6, 1.0, b, 0.4), 20_000, 1)) for b in (1, 100))
    assert alone.mean() == pytest.approx(1.0, rel=0.02) and alone.std() == pytest.approx(0.4, rel=0.05)
    assert together.mean() == pytest.approx(100.0, rel=0.02) and together.std() == pytest.approx(4.0, rel=0.05)
    seconds = {by: module.start_seconds(15, 10e9, 1e9, 5e9, by) for by in ("client", "disk", "nodes")}
    assert seconds == {"client": 150.0, "disk": 30.0, "nodes": 40.0}


def test_the_page_is_made_of_the_figures(module):
    import scale_report

    page = scale_report.PAGE.read_text()
    assert scale_report.filled(page) == page

    figures = json.loads((BENCH / "scale" / "measured.json").read_text())
    figures["rates"][0]["scheduler_s"] = 0.0123
    assert "12 ms" in "\n".join(scale_report.measured(figures))


def test_worked_examples_are_on_their_page(module):
    import worked

    page = worked.PAGE.read_text()
    assert worked.filled(page) == page
    rows = worked.uniref()[2:]
    assert "1.5 x 10^20" in rows[0] and "104 core-years" in rows[1]  # 17,282,055,793^2 / 2; / 45.3e9 / a year


@pytest.mark.parametrize(("seconds", "text"), [(3600, "1 core-hours"), (4 * 365.25 * 86_400, "4 core-years")])
def test_core_time(module, seconds, text):
    import worked

    assert worked.core_time(seconds) == text
