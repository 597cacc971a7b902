"""The jobs of a run without threads: what may begin, in which order it is taken, and what lies ready."""

from tropalign.execution.job_queue import Ledger
from tropalign.execution.task import Tile


class Halves:
    """A task whose tiles split in two."""

    def split(self, tile):
        half = tile.cost_cells // 2
        return [Tile(tile.index, half, 1, 1, None) for _ in range(2)] if half else []

    def join(self, tile, results):
        return results


def ledger_of(*costs):
    ledger = Ledger()
    for k, cost in enumerate(costs):
        ledger.add(Halves(), Tile(k, cost, 1, 1, None))
    return ledger


def taken(job, ledger):
    ledger.take(job)
    return job


def test_tiles_are_admitted_within_reach_of_what_was_handed_over():
    ledger = ledger_of(5, 9, 7)
    ledger.admit(2)
    assert ledger.n_upcoming == 1
    assert (ledger.costliest().tile.cost_cells, ledger.cheapest().tile.cost_cells) == (9, 5)
    assert ledger.finish(taken(ledger.cheapest(), ledger), "five") is None
    assert ledger.is_ready(0) and not ledger.is_ready(1)
    ledger.admit(2)
    assert ledger.n_upcoming == 1  # nothing was handed over yet
    assert ledger.claim_next().position == 0
    assert ledger.hand_over(0) == "five"
    ledger.admit(2)
    assert ledger.n_upcoming == 0
    assert [taken(ledger.costliest(), ledger).tile.cost_cells for _ in range(2)] == [9, 7]
    assert ledger.costliest() is ledger.cheapest() is None
    assert ledger.left_cells == 0


def test_pieces_are_handed_over_as_a_whole():
    ledger = ledger_of(8)
    ledger.split_upcoming(3, least_cells=2)
    assert ledger.n_upcoming == 3
    assert ledger.left_cells == 8
    ledger.admit(1)
    pieces = [taken(ledger.costliest(), ledger) for _ in range(3)]
    assert [piece.tile.cost_cells for piece in pieces] == [4, 2, 2]
    wholes = [ledger.finish(piece, piece.tile.cost_cells) for piece in pieces]
    assert wholes[:2] == [None, None]
    inner = wholes[2]
    assert inner.tile.cost_cells == 4
    outer = ledger.finish(inner, sum(inner.results))
    assert outer.tile.cost_cells == 8
    assert sum(outer.results) == 8
    assert ledger.finish(outer, "all") is None
    assert ledger.hand_over(0) == "all"


def test_what_is_split_has_enough_cells():
    ledger = ledger_of(8)
    ledger.split_upcoming(9, least_cells=4)
    assert ledger.n_upcoming == 2


def test_failed_jobs_wait_for_the_processor():
    ledger = ledger_of(8)
    ledger.admit(1)
    job = taken(ledger.costliest(), ledger)
    job.is_for_cpu = True
    ledger.again(job)
    assert ledger.left_cells == 8
    assert ledger.costliest() is None
    assert ledger.first_for_cpu() is job
    ledger.take(job)
    assert ledger.first_for_cpu() is None
