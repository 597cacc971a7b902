"""Units that keep the borders of blocks instead of all values, where the walk sweeps blocks again."""

import random

import pytest
from oracles.pairwise import FREE_ENDS, align
from pairwise.engines import AMINO_ACIDS, MODES, codes, rows

import tropalign

COSTS = {
    "proteins": {"protein": True, "matrix": "BLOSUM62", "gap": (11, 1)},
    "cheap gaps": {"protein": True, "matrix": "BLOSUM50", "gap": (0, 1)},
    "ties": {"protein": False, "match": 1, "mismatch": -1, "gap": (1, 1)},
    "no costs": {"protein": False, "match": 1, "mismatch": 0, "gap": (0, 0)},
    "long gaps": {"protein": False, "match": 5, "mismatch": -4, "gap": (20, 0)},
    "16 bits": {"protein": False, "match": 60, "mismatch": -40, "gap": (60, 5)},
    "32 bits": {"protein": False, "match": 3000, "mismatch": -2000, "gap": (5000, 700)},
}


def family(rng, letters, length):
    """A sequence and copies of it with pieces lost and put in, longer than a block, and strangers of any length."""
    first = rng.choices(letters, k=length)
    texts = ["".join(first)]
    for _ in range(22):
        copy = [letter if rng.random() < 0.7 else rng.choice(letters) for letter in first]
        for _ in range(rng.randint(0, 4)):
            at = rng.randrange(len(copy))
            copy[at : at + rng.choice([1, 3, 16, 17, 60])] = rng.choices(letters, k=rng.choice([0, 1, 15, 33, 70]))
        texts.append("".join(copy)[rng.choice([0, 0, 15, 16, 31, 200]) :] or letters[0])
    texts += ["".join(rng.choices(letters, k=rng.choice([1, 15, 16, 17, 33, 250, length]))) for _ in range(22)]
    return texts


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", COSTS)
def test_units_are_as_each_pair_alone(engines, case, mode):
    """Alone, a pair runs through kernels of its own."""
    costs = COSTS[case] | {"mode": mode}
    rng = random.Random(f"{case}{mode}")
    letters = AMINO_ACIDS if costs["protein"] else rng.choice(["ACGT", "AC"])
    queries = ["".join(rng.choices(letters, k=length)) for length in (1300, 1255)]
    targets = family(rng, letters, 560)
    queries[0] = queries[0][:690] + targets[0][:500] + queries[0][690:800]
    wanted = [
        row
        for query in queries
        for target in targets
        for row in rows(engines[0].align([query], [target], n_threads=1, **costs))
    ]
    for engine in engines:
        found = rows(engine.align(queries, targets, n_threads=1, **costs))
        for k, (got, want) in enumerate(zip(found, wanted, strict=True)):
            assert got == want, f"row {k} on {engine.isa}"


@pytest.mark.parametrize("free_ends", [("query-start",), ("query-end", "target-start"), tuple(FREE_ENDS)])
def test_each_lane_of_a_long_unit_against_the_oracle(engines, free_ends):
    """Lanes that begin late, in a row or a column of their own, beside one that is long enough for checkpoints."""
    rng = random.Random(str(free_ends))
    query = "".join(rng.choices("ACGT", k=1180))
    targets = ["".join(rng.choices("ACGT", k=length)) for length in (620, *range(1, 60, 6))]
    targets += [query[k : k + 60] for k in (0, 7, 16, 300, 570, 580)]
    matrix, short = tropalign.SubstitutionMatrix.match_mismatch(5, -4).scores, slice(1, None)
    letters = [codes(tropalign.NUCLEOTIDE, text) for text in [query, *targets[short]]]
    expected = [align(letters[0], target, matrix, 3, 1, "semiglobal", free_ends) for target in letters[short]]
    for engine in engines:
        options = {"protein": False, "match": 5, "mismatch": -4, "gap": (3, 1), "mode": "semiglobal"}
        found = rows(engine.align([query], targets, n_threads=1, free_ends=free_ends, **options))
        assert found[short] == expected, engine.isa
