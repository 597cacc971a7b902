"""The jobs of a run without threads: what may begin, in which order it is taken, and what lies ready."""

from tropalign.execution.scheduler import JobQueue
from tropalign.execution.task import Tile


class Halves:
    """A task whose tiles split in two."""

    def split(self, tile):
        half = tile.cost_cells // 2
        return [Tile(tile.index, half, 1, 1, None) for _ in range(2)] if half else []

    def join(self, tile, results):
        return results


def queue_of(*costs):
    jobs = JobQueue()
    for k, cost in enumerate(costs):
        jobs.add(Halves(), Tile(k, cost, 1, 1, None))
    return jobs


def taken(job, jobs):
    jobs.take(job)
    return job


def test_tiles_are_admitted_within_reach_of_what_was_handed_over():
    jobs = queue_of(5, 9, 7)
    jobs.admit(2)
    assert jobs.n_upcoming == 1
    assert (jobs.choice().tile.cost_cells, jobs.choice(is_cheapest=True).tile.cost_cells) == (9, 5)
    assert jobs.finish(taken(jobs.choice(is_cheapest=True), jobs), "five") is None
    assert jobs.is_ready() and jobs.n_ready == 1
    jobs.admit(2)
    assert jobs.n_upcoming == 1  # nothing was handed over yet
    first, result = jobs.hand_over()
    assert (first.position, result) == (0, "five")
    assert not jobs.is_ready() and jobs.hand_over() is None
    jobs.admit(2)
    assert jobs.n_upcoming == 0
    assert [taken(jobs.choice(), jobs).tile.cost_cells for _ in range(2)] == [9, 7]
    assert jobs.choice() is jobs.choice(is_cheapest=True) is None
    assert jobs.left_cells == 0


def test_pieces_are_handed_over_as_a_whole():
    jobs = queue_of(8)
    jobs.split_upcoming(3, least_cells=2)
    assert jobs.n_upcoming == 3
    assert jobs.left_cells == 8
    jobs.admit(1)
    pieces = [taken(jobs.choice(), jobs) for _ in range(3)]
    assert [piece.tile.cost_cells for piece in pieces] == [4, 2, 2]
    wholes = [jobs.finish(piece, piece.tile.cost_cells) for piece in pieces]
    assert wholes[:2] == [None, None]
    inner = wholes[2]
    assert inner.tile.cost_cells == 4
    outer = jobs.finish(inner, sum(inner.results))
    assert outer.tile.cost_cells == 8
    assert sum(outer.results) == 8
    assert jobs.finish(outer, "all") is None
    assert jobs.hand_over() == (outer, "all")


def test_what_is_split_has_enough_cells():
    jobs = queue_of(8)
    jobs.split_upcoming(9, least_cells=4)
    assert jobs.n_upcoming == 2


def test_failed_jobs_wait_for_the_processor():
    jobs = queue_of(8)
    jobs.admit(1)
    job = taken(jobs.choice(), jobs)
    job.is_for_cpu = True
    jobs.again(job)
    assert jobs.left_cells == 8
    assert jobs.choice() is None
    assert jobs.first_for_cpu() is job
    jobs.take(job)
    assert jobs.first_for_cpu() is None
