"""Soft alignment: against the plain sums in float64, finite differences, and alignments at low temperature."""

import random

import numpy as np
import pytest
from oracles.pairwise import FREE_ENDS, cigar_operations
from oracles.soft import soft_align
from pairwise.engines import FREE_SETS, MODES

import tropalign as ta
from tropalign.errors import InputError, ResourceError, ScoringError, UsageError

SHAPES = [(1, 1), (1, 7), (9, 1), (4, 4), (8, 16), (17, 33), (40, 21)]
#: Costs of gaps, temperature, and standard deviation of the scores.
SCORINGS = [(3, 1, 1, 2), (0, 0.5, 1, 1), (11, 1, 1, 4), (5, 0, 2, 3), (11, 1, 0.2, 4)]


def tables_of(seed, kind, deviation):
    """Random tables, some with pairs that must not align."""
    random_numbers = np.random.default_rng(seed)
    tables = [random_numbers.normal(-0.5, deviation, shape).astype(kind) for shape in SHAPES]
    tables[4][random_numbers.random(SHAPES[4]) < 0.3] = -1e9
    return tables


def assert_near(found, wanted, temperature, most):
    """Compare relative errors of the sum, and absolute ones of probabilities and counts."""
    assert abs(found["score"] - wanted.score) / temperature < most
    assert np.abs(found["posteriors"] - wanted.posteriors).max() < most
    assert abs(found["n_gaps"] - wanted.n_gaps) < 10 * most
    assert abs(found["gap_residues"] - wanted.gap_residues) < 20 * most


@pytest.mark.parametrize(("kind", "most"), [("float32", 1e-5), ("float64", 1e-10)])
@pytest.mark.parametrize("mode", MODES)
def test_sums_are_those_of_the_plain_recurrence(engines, mode, kind, most):
    rng = random.Random(f"{mode} {kind}")
    for seed, (gap_open, extend, temperature, deviation) in enumerate(SCORINGS):
        tables = tables_of(seed, kind, deviation)
        for free_ends in rng.sample(FREE_SETS, 4) if mode == "semiglobal" else [FREE_ENDS]:
            wanted = [soft_align(table, gap_open, extend, mode, free_ends, temperature) for table in tables]
            options = {"gap": (gap_open, extend), "mode": mode, "free_ends": free_ends, "temperature": temperature}
            for engine in engines:
                found = engine.soft_align(tables, n_threads=1, **options)
                again = engine.soft_align(tables, n_threads=3, **options)
                for one, same, other in zip(found, again, wanted, strict=True):
                    assert one["posteriors"].dtype == kind
                    assert_near(one, other, temperature, most)
                    assert all(np.array_equal(one[name], same[name]) for name in one), engine.isa


@pytest.mark.parametrize("mode", MODES)
def test_float32_is_as_exact_over_long_tables(engines, mode):
    """Sums far beyond the range of float32, and a path along an edge, whose cells are far below the largest."""
    random_numbers = np.random.default_rng(4)
    table = random_numbers.normal(-1, 2, (300, 420)).astype(np.float32)
    table[range(100, 300), range(200)] += 8
    for engine in engines:
        options = {"gap": (11, 1), "mode": mode}
        wanted = engine.soft_align([table.astype(np.float64)], **options)[0]
        (found,) = engine.soft_align([table], **options)
        assert abs(found["score"] - wanted["score"]) < 1e-5 * wanted["score"]
        assert np.abs(found["posteriors"] - wanted["posteriors"]).max() < 1e-4
        assert wanted["posteriors"].max() > 0.9


@pytest.mark.parametrize("mode", MODES)
def test_numbers_far_apart_stay_in_range(engines, mode):
    """Weights from 2^-200 to 2^150 per pair, and gaps that cost as much."""
    random_numbers = np.random.default_rng(7)
    for shape, gap, temperature in (((47, 23), (1, 3), 0.07), ((20, 44), (0, 0.1), 0.18), ((46, 3), (5, 3), 0.22)):
        table = random_numbers.normal(-1, 3, shape).astype(np.float32)
        wanted = soft_align(table, *gap, mode, FREE_ENDS, temperature)
        for engine in engines:
            options = {"gap": gap, "mode": mode, "temperature": temperature}
            assert_near(engine.soft_align([table], **options)[0], wanted, temperature, 1e-4)
            assert_near(engine.soft_align([table.astype(float)], **options)[0], wanted, temperature, 1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_counts_and_posteriors_are_derivatives(mode):
    table = np.random.default_rng(6).normal(0, 2, (12, 9))
    free_ends = ["query-start", "target-end"]

    def score(table, gap_open, extend):
        gap = ta.Gap(gap_open, extend)
        return ta.soft_align(table, gap=gap, mode=mode, free_ends=free_ends, temperature=0.7).score

    gap = ta.Gap(2, 0.5)
    soft = ta.soft_align(table, gap=gap, mode=mode, free_ends=free_ends, temperature=0.7)
    step = 1e-3
    for i, j in ((0, 0), (3, 2), (7, 7), (11, 8)):
        change = np.zeros_like(table)
        change[i, j] = step
        slope = (score(table + change, 2, 0.5) - score(table - change, 2, 0.5)) / (2 * step)
        assert abs(slope - soft.posteriors[i, j]) < 1e-6
    by_open = (score(table, 2 + step, 0.5) - score(table, 2 - step, 0.5)) / (2 * step)
    by_extend = (score(table, 2, 0.5 + step) - score(table, 2, 0.5 - step)) / (2 * step)
    assert abs(by_open + soft.n_gaps) < 1e-5 and abs(by_extend + soft.gap_residues) < 1e-4


@pytest.mark.parametrize("mode", MODES)
def test_at_low_temperature_the_best_alignment_is_left(mode):
    table = np.random.default_rng(8).normal(0, 2, (25, 31)).astype(np.float32)
    best = ta.align_scores(table, gap=ta.Gap(4, 1), mode=mode)
    soft = ta.soft_align(table, gap=ta.Gap(4, 1), mode=mode, temperature=0.05)
    assert abs(soft.score - best.score) < 0.05
    i, j, likely = best.query_start, best.target_start, []
    for operation, length in cigar_operations(best.cigar):
        if operation == "X":
            likely += soft.posteriors[range(i, i + length), range(j, j + length)].tolist()
        i, j = i + length * (operation != "D"), j + length * (operation != "I")
    assert likely and min(likely) > 0.5


def test_the_expected_alignment_has_the_highest_sum_of_posteriors():
    table = np.random.default_rng(9).normal(0, 2, (30, 26))
    soft = ta.soft_align(table, gap=ta.Gap(4, 1), mode="global")
    best = np.zeros((31, 27))
    for i in range(30):
        for j in range(26):
            best[i + 1, j + 1] = max(best[i, j] + soft.posteriors[i, j], best[i, j + 1], best[i + 1, j])
    assert abs(soft.alignment().score - best[-1, -1]) < 1e-5


def test_one_table_gives_one_result_and_a_list_a_list():
    table = np.ones((2, 3), np.int8)
    one = ta.soft_align(table, gap=ta.Gap(1, 1))
    (many,) = ta.soft_align([table], gap=ta.Gap(1, 1))
    assert one.score == many.score and one.posteriors.dtype == np.float32
    assert ta.soft_align(table.astype(np.int32), gap=ta.Gap(1, 1)).posteriors.dtype == np.float64


TABLE = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("error", "said", "scores", "options"),
    [
        (InputError, r"'table 2': the score in row 0, column 1 .* is nan", [TABLE, np.float32([[1, np.nan]])], {}),
        (InputError, "'table 1': the score in row 0, column 0 .* is inf", np.float32([[np.inf]]), {}),
        (InputError, r"'table 1': the scores have the shape \(0, 3\)", np.zeros((0, 3)), {}),
        (InputError, r"'table 1': the scores have the shape \(3,\)", [np.zeros(3)], {}),
        (InputError, "'table 1': scores of type complex128 are not supported", TABLE.astype(complex), {}),
        (InputError, "there is no table", [], {}),
        (UsageError, "temperature 0 is not above 0", TABLE, {"temperature": 0}),
        (UsageError, "temperature -1.5 is not above 0", TABLE, {"temperature": -1.5}),
        (UsageError, "temperature nan is not a number", TABLE, {"temperature": float("nan")}),
        (ScoringError, "the temperature 0.0001 is too low for these scores", TABLE, {"temperature": 1e-4}),
        (ScoringError, "the gap cost has two pieces", TABLE, {"gap": ta.Gap(5, 2, 9, 1)}),
        (ResourceError, "a table takes .* bytes, but 1,000 are allowed", TABLE, {"memory_bytes": 1000}),
    ],
)
def test_bad_input_is_one_sentence(error, said, scores, options):
    with pytest.raises(error, match=said):
        ta.soft_align(scores, **{"gap": ta.Gap(2, 1), **options})


def test_errors_name_the_table_and_leave_those_of_the_callback():
    def progress(_):
        raise ValueError("mine")

    table = np.ones((30, 30))
    with pytest.raises(ValueError, match="mine"):
        ta.soft_align([np.ones((1500, 1500))] * 40, gap=ta.Gap(5, 1), progress=progress)
    with pytest.raises(ScoringError, match="table 2: the temperature 1 is too low"):
        ta.soft_align([table, table * 1e5, table], gap=ta.Gap(5, 1))
    for function in (ta.soft_align, ta.align_scores):
        with pytest.raises(InputError, match="must be a table or a list of tables"):
            function(None, gap=ta.Gap(5, 1))
