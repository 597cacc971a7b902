"""What the best targets of queries are foretold to take, by a clock that knows what each kind of work costs."""

from types import SimpleNamespace

import numpy as np
import pytest

from tropalign.execution.forecast import forecast
from tropalign.pairwise.api import default_scoring
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.sequences import NUCLEOTIDE, PROTEIN, SequenceBatch
from tropalign.sequences.translation import Frames

#: What a residue of targets costs when it is laid out for up to 256 queries; a query, a cell and an alignment.
LAYOUT, QUERY, CELL, ALIGNMENT = 2e-5, 1e-3, 1e-8, 2e-4


class Clocked:
    """The processor, and a run of a task, whose time is reckoned."""

    name, n_workers, now = "cpu", 1, 0.0

    def __init__(self, task):
        self.task = task

    def compute(self, task, tile, progress=None):
        table = task.on_cpu(tile, 1)
        if task.pairs is not None:
            self.now += ALIGNMENT * tile.n_items
            return table
        first, last = task.query_span(tile)
        self.now += LAYOUT * int(task.targets.lengths.sum()) * -(-(last - first) // 256) + QUERY * (last - first)
        self.now += CELL * tile.cost_cells
        if task.options.report == "alignment":
            self.now += ALIGNMENT * len(table)
        return table

    def encoded(self, table):
        return [b"x" * len(table)]


@pytest.fixture
def clocked(monkeypatch):
    def make(task):
        found = Clocked(task)
        for module in ("pairwise", "execution"):
            clock = SimpleNamespace(perf_counter=lambda: found.now)
            monkeypatch.setattr(f"tropalign.{module}.forecast.time", clock)
        return found

    return make


def proteins(n, least, most, seed):
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), size)) for size in rng.integers(least, most, n)]
    return SequenceBatch.from_strings(texts, alphabet=PROTEIN)


def options_of(**words):
    return PairOptions(*default_scoring(PROTEIN, None, None), **words)


QUERIES, TARGETS = proteins(300, 20, 60, 1), proteins(900, 20, 100, 2)
DNA = SequenceBatch.from_strings(["ACGTTGCATTAGCCATGAACGTAC" * k for k in range(2, 42)], alphabet=NUCLEOTIDE)


@pytest.mark.parametrize(
    ("queries", "targets", "words"),
    [
        (QUERIES, TARGETS, {"top": 3}),
        (QUERIES, TARGETS, {"top": 3, "max_evalue": 100.0}),
        (QUERIES, TARGETS, {"top": 1, "report": "score"}),
        (QUERIES, None, {"top": 2}),
        (Frames.of(DNA), TARGETS, {"top": 2}),
    ],
    ids=["top", "filtered", "scores", "of themselves", "translated"],
)
def test_the_time_of_a_run_is_foretold_from_its_kinds_of_work(queries, targets, words, clocked):
    task = PairsTask(queries, targets, options_of(**words), None, 1 << 30)
    run = clocked(task)
    tables = [run.compute(task, tile) for tile in task.tiles()]
    took, run.now = run.now, 0.0
    found = forecast(run, run)
    assert found.seconds == pytest.approx(took, rel=0.3)
    assert found.output_bytes[0] == pytest.approx(sum(map(len, tables)), rel=0.3)
    assert (found.n_items, found.cost_cells) == (
        sum(tile.n_items for tile in task.tiles()),
        sum(tile.cost_cells for tile in task.tiles()),
    )


def test_where_pieces_of_tiles_tell_nothing_else_is_tried(clocked):
    every = PairsTask(QUERIES[:20], TARGETS[:20], options_of(), None, 1 << 30)
    assert every.foretold(clocked(every), list) is None
    few = PairsTask(QUERIES[:20], TARGETS[:20], options_of(top=1), None, 1 << 30)
    assert few.foretold(clocked(few), list) is None
    best = PairsTask(QUERIES, TARGETS, options_of(top=1), None, 1 << 30)
    assert best.foretold(SimpleNamespace(name="cuda:0"), list) is None
