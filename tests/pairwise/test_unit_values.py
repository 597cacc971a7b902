"""Units whose walk finds its directions in the values of all cells, and local ends in the maxima of parts."""

import random

import pytest
from oracles.pairwise import FREE_ENDS, align
from pairwise.engines import AMINO_ACIDS, MODES, codes, rows

import tropalign

#: Match, mismatch, and what a gap costs: gaps that extend for nothing, that open for nothing, that cost nothing.
COSTS = [(1, -1, (1, 1)), (1, -2, (3, 0)), (2, -1, (0, 1)), (1, 0, (0, 0)), (5, -4, (12, 2)), (40, -90, (30, 1))]


def checked(engines, queries, targets, mode, costs, free_ends=()):
    match, mismatch, gap = costs
    matrix = tropalign.SubstitutionMatrix.match_mismatch(match, mismatch).scores
    ends = free_ends or (tuple(FREE_ENDS) if mode == "semiglobal" else ())
    expected = [
        align(codes(tropalign.NUCLEOTIDE, query), codes(tropalign.NUCLEOTIDE, target), matrix, *gap, mode, ends)
        for query in queries
        for target in targets
    ]
    options = {"protein": False, "match": match, "mismatch": mismatch, "gap": gap, "mode": mode}
    if free_ends:
        options["free_ends"] = free_ends
    for engine in engines:
        assert rows(engine.align(queries, targets, n_threads=1, **options)) == expected, engine.isa


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("costs", COSTS)
def test_sequences_of_few_letters_have_many_equal_alignments(engines, mode, costs):
    """Repeats: most cells have several best predecessors, and the best score stands in many parts of the matrix."""
    rng = random.Random(f"{mode}{costs}")
    make = lambda shortest, longest: "".join(rng.choices("AC", k=rng.randint(shortest, longest)))  # noqa: E731
    motif = make(3, 9)
    queries = [make(30, 40), motif * 4]
    targets = [make(1, 40) for _ in range(18)] + [motif * k for k in range(1, 5)] + [make(40, 60) for _ in range(4)]
    checked(engines, queries, targets, mode, costs)


@pytest.mark.parametrize(
    "free_ends", [("query-start",), ("target-start", "query-end"), ("query-start", "target-start")]
)
@pytest.mark.parametrize("gap", [(0, 0), (2, 0), (3, 2)])
def test_gaps_that_begin_at_a_border(engines, free_ends, gap):
    """Long gaps from the first row and column, where residues hang over or not."""
    rng = random.Random(f"{free_ends}{gap}")
    inner = "".join(rng.choices("ACGT", k=12))
    queries = [inner + "".join(rng.choices("ACGT", k=20)), "G" * 20 + inner]
    targets = ["T" * rng.randint(0, 30) + inner[k % 6 :] + "A" * rng.randint(0, 30) for k in range(20)]
    checked(engines, queries, targets, "semiglobal", (2, -3, gap), free_ends)


@pytest.mark.parametrize("mode", MODES)
def test_units_are_as_each_pair_alone(engines, mode):
    """Gaps of 1 to 60 residues, rows and columns beyond those of a part of 16 rows."""
    rng = random.Random(mode)
    first = rng.choices(AMINO_ACIDS, k=300)
    texts = []
    for _ in range(50):
        copy = [letter if rng.random() < 0.6 else rng.choice(AMINO_ACIDS) for letter in first]
        for _ in range(rng.randint(0, 5)):
            at = rng.randrange(len(copy))
            copy[at : at + rng.choice([0, 1, 5, 60])] = rng.choices(AMINO_ACIDS, k=rng.choice([0, 1, 4, 5, 17, 60]))
        texts.append("".join(copy)[: rng.choice([15, 16, 17, 150, 400])])
    costs = {"protein": True, "matrix": "BLOSUM62", "gap": (11, 1), "mode": mode, "n_threads": 1}
    queries = ["".join(first), texts[0]]
    wanted = [row for query in queries for text in texts for row in rows(engines[0].align([query], [text], **costs))]
    for engine in engines:
        assert rows(engine.align(queries, texts, **costs)) == wanted, engine.isa
