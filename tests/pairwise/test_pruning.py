"""Local alignments of similar nucleotide sequences: bounds show that many cells need not be computed."""

import random

import pytest
from pairwise.engines import check_engines, rows

COSTS = {
    "default": {"match": 5, "mismatch": -4, "gap": (10, 1)},
    "long gaps": {"match": 5, "mismatch": -4, "gap": (20, 0)},
    "ties": {"match": 1, "mismatch": -1, "gap": (0, 1)},
    "cheap gaps": {"match": 2, "mismatch": -3, "gap": (2, 1)},
    "saturated": {"match": 40, "mismatch": -30, "gap": (60, 5)},
}


def relative(rng, first, rate):
    """A copy with letters changed, lost and put in, some of it at the ends missing or foreign."""
    copy = []
    for letter in first:
        kind = rng.random() / rate
        if kind < 0.7:
            copy.append(rng.choice("ACGTN" if rng.random() < 0.02 else "ACGT"))
        elif kind < 0.8:
            continue
        elif kind < 0.9:
            copy += [letter, *rng.choices("ACGT", k=rng.choice([1, 1, 2, 5, 40]))]
        else:
            copy.append(letter)
    text = "".join(copy)
    if rng.random() < 0.2:
        text = text[rng.randrange(200) :]
    if rng.random() < 0.2:
        text = text[: -rng.randrange(1, 200)]
    return "".join(rng.choices("ACGT", k=rng.choice([0, 0, 0, 150]))) + text


def family(rng, length, rate):
    """Relatives of one sequence, with two copies of the same and, among the last, one that is hardly similar."""
    first = rng.choices("ACGT", k=length)
    texts = [relative(rng, first, rate * rng.random() + 0.001) for _ in range(17)]
    return [*texts, texts[0], texts[1], relative(rng, first, 0.6)]


@pytest.mark.parametrize("case", COSTS)
@pytest.mark.parametrize("rate", [0.02, 0.25])
def test_units_are_as_each_pair_alone(engines, case, rate):
    """A pair alone is aligned by another kernel, in its whole matrix."""
    rng = random.Random(f"{case}{rate}")
    targets = family(rng, 950, rate)
    options = COSTS[case] | {"protein": False, "mode": "local", "n_threads": 1}
    queries = [targets[0], relative(rng, targets[2], 0.1)]
    alone = [rows(engines[0].align([query], [target], **options)) for query in queries for target in targets]
    check_engines(engines, queries, targets, [row for found in alone for row in found], **options)


def test_end_in_an_earlier_column_of_rows_that_are_added_later(engines):
    """The first target has two places of equal score, one column apart; the other targets lie between the places."""
    rng = random.Random(1)
    target, between = "".join(rng.choices("CGT", k=475)), rng.choices("ACGT", k=181)
    options = {"protein": False, "match": 5, "mismatch": -20, "gap": (200, 5), "report": "ends", "n_threads": 1}
    for length in range(150, 182):
        query = f"{target[1:]}C{'A' * 8}{''.join(between[:length])}{'A' * 8}{target}{'A' * 40}"
        for engine in engines:
            found = engine.align([query], [target + "CCCCC"] + [query[300:900]] * 15, **options)
            assert found["target_end"][0] == 475, (engine.isa, length)
