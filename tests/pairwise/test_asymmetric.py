"""Matrices that score a query's letter against a target's otherwise than the other way round."""

import random

import numpy as np
import pytest
from oracles.pairwise import FREE_ENDS, align, best_score
from pairwise.engines import AMINO_ACIDS, MODES, assert_same, check_engines, codes, rows

import tropalign

LETTERS = "ACGT"


def random_matrix(rng, letters, low, high):
    n = len(letters)
    scores = np.array([[rng.randint(low, high) for _ in range(n)] for _ in range(n)])
    return letters, scores + (high - low) // 2 * np.eye(n, dtype=int)


def text(rng, letters, length):
    return "".join(rng.choice(letters) for _ in range(length))


def relatives(rng, letters, count, lengths):
    first = text(rng, letters, max(lengths))
    out = []
    for _ in range(count):
        copy = [letter if rng.random() > 0.2 else rng.choice(letters) for letter in first]
        at = rng.randrange(len(copy))
        del copy[at : at + rng.randint(0, 9)]
        out.append("".join(copy)[: rng.randint(*lengths)])
    return out


def expected(queries, targets, pairs, matrix, gap, mode, free_ends, alphabet):
    scores = tropalign.SubstitutionMatrix.of(matrix, alphabet).scores
    return [
        align(codes(alphabet, queries[i]), codes(alphabet, targets[j]), scores, *gap, mode, free_ends) for i, j in pairs
    ]


def check(engines, queries, targets, matrix, gap, mode, free_ends=FREE_ENDS, protein=False):
    alphabet = tropalign.PROTEIN if protein else tropalign.NUCLEOTIDE
    others = queries if targets is None else targets
    pairs = [(i, j) for i in range(len(queries)) for j in range(len(others)) if targets is not None or i < j]
    wanted = expected(queries, others, pairs, matrix, gap, mode, free_ends, alphabet)
    options = {"matrix": matrix, "gap": gap, "mode": mode, "free_ends": free_ends, "protein": protein, "n_threads": 1}
    check_engines(engines, queries, targets, wanted, **options)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gap", [(3, 1), (0, 2), (11, 1)])
def test_every_pair_of_a_set(engines, mode, gap):
    """Longer sequences stand before and after shorter ones, so that both lie along the rows."""
    rng = random.Random(f"{mode}{gap}")
    sequences = relatives(rng, LETTERS, 12, (1, 40)) + [text(rng, LETTERS, rng.randint(1, 30)) for _ in range(8)]
    check(engines, sequences, None, random_matrix(rng, LETTERS, -6, 4), gap, mode)


@pytest.mark.parametrize("mode", MODES)
def test_full_vectors(engines, mode):
    """One sequence with many: its profile along the rows, be it the query or the target, the longer or the shorter."""
    rng = random.Random(mode)
    matrix = random_matrix(rng, AMINO_ACIDS, -5, 5)
    many = relatives(rng, AMINO_ACIDS, 70, (5, 60))
    few = relatives(rng, AMINO_ACIDS, 2, (20, 35))
    check(engines, few, many, matrix, (8, 2), mode, protein=True)
    check(engines, many, few, matrix, (8, 2), mode, protein=True)


@pytest.mark.parametrize("free_ends", [(), ("query-start",), ("target-end",), ("query-start", "target-end")])
def test_free_ends(engines, free_ends):
    rng = random.Random(str(free_ends))
    sequences = relatives(rng, LETTERS, 14, (3, 30))
    check(engines, sequences[:7], sequences[7:], random_matrix(rng, LETTERS, -5, 4), (2, 1), "semiglobal", free_ends)


def test_scores_beyond_8_and_16_bits(engines):
    rng = random.Random(8)
    sequences = relatives(rng, LETTERS, 6, (30, 60))
    for high in (90, 400, 30_000):
        for mode in ("local", "global"):
            check(engines, sequences, None, random_matrix(rng, LETTERS, -high, high), (high, high // 9), mode)


@pytest.mark.parametrize("mode", MODES)
def test_long_pairs_and_their_starts(engines, mode):
    """Strips as lanes, bands and the sweep back against a pair at a time; query and target long in turn."""
    rng = random.Random(mode)
    matrix = random_matrix(rng, AMINO_ACIDS, -6, 4)
    base = text(rng, AMINO_ACIDS, 1300)
    changed = "".join(a if rng.random() > 0.04 else rng.choice(AMINO_ACIDS) for a in base[40:1250])
    wanted = expected(
        [base, changed], [base, changed], [(0, 1), (1, 0)], matrix, (11, 1), mode, FREE_ENDS, tropalign.PROTEIN
    )
    options = {"matrix": matrix, "gap": (11, 1), "mode": mode, "n_threads": 2}
    for engine in engines:
        for k, (query, target) in enumerate([(base, changed), (changed, base)]):
            columns = engine.align([query], [target], **options)
            assert rows(columns) == [wanted[k]], engine.isa
            many = engine.align([query] * 3, [target] * 6, **options)
            assert rows(many) == [wanted[k]] * 18, engine.isa
            assert_same(engine.align([query] * 3, [target] * 6, report="ends", **options), many)


def test_the_matrix_is_read_query_first_on_the_processor_alone():
    matrix = {("A", "C"): 3, ("C", "A"): -3, ("A", "A"): 1, ("C", "C"): 1}
    gap = tropalign.Gap(9, 9)
    assert tropalign.align("AA", "CC", matrix=matrix, gap=gap, mode="global").score == 6
    assert tropalign.align("CC", "AA", matrix=matrix, gap=gap, mode="global").score == -6
    for query, target in (("AAC", "CC"), ("CC", "AAC"), ("A", "CCA")):
        scores = tropalign.SubstitutionMatrix.of(matrix, "nucleotide").scores
        codes = [["ACGT".index(letter) for letter in sequence] for sequence in (query, target)]
        assert tropalign.align(
            query, target, mode="global", matrix=matrix, gap=gap, alphabet="nucleotide"
        ).score == best_score(*codes, scores, 9, 9, "global")
    sequences = tropalign.SequenceBatch.from_strings(["ACCA", "CCA"], alphabet="nucleotide")
    sentence = "cuda:0: asymmetric matrices are supported on the CPU only: choose the device cpu"
    with pytest.raises(tropalign.DeviceError, match=sentence):
        tropalign.align_all(sequences, matrix=matrix, device="cuda:0")
    assert len(next(tropalign.align_all(sequences, matrix=matrix, device="auto"))) == 1


def _rows(table):
    return zip(table.query_index, table.target_index, table.score, strict=True)


@pytest.mark.parametrize("mode", ["local", "semiglobal"])
def test_best_targets_and_filters(mode):
    rng = random.Random(mode)
    matrix = random_matrix(rng, LETTERS, -6, 5)
    targets = relatives(rng, LETTERS, 140, (10, 60))
    queries = [text(rng, LETTERS, 20), targets[3][:30], text(rng, LETTERS, 70)]
    gap = tropalign.Gap(4, 1)
    batches = [tropalign.SequenceBatch.from_strings(side, alphabet="nucleotide") for side in (queries, targets)]
    flipped = [t[::-1].translate(str.maketrans("ACGT", "TGCA")) for t in queries]
    pairs = [(i, j) for i in range(3) for j in range(140)]
    scores = {}
    for strand, texts in ((1, queries), (-1, flipped)):
        found = expected(texts, targets, pairs, matrix, (4, 1), mode, FREE_ENDS, tropalign.NUCLEOTIDE)
        scores[strand] = np.array([row.score for row in found]).reshape(3, 140)
    best = np.maximum(scores[1], scores[-1])
    top = tropalign.align_all(*batches, mode=mode, matrix=matrix, gap=gap, strand="both", top=3)
    kept = [(int(q), int(t), int(s)) for table in top for q, t, s in _rows(table)]
    wanted = [
        (q, int(t), int(best[q, t])) for q in range(3) for t in sorted(range(140), key=lambda k: (-best[q, k], k))[:3]
    ]
    assert sorted(kept) == sorted(wanted)
    least = int(np.sort(scores[1].ravel())[-20])
    rows_kept = tropalign.align_all(*batches, mode=mode, matrix=matrix, gap=gap, min_score=least)
    found = [(int(q), int(t)) for table in rows_kept for q, t, _ in _rows(table)]
    assert found == [(q, t) for q in range(3) for t in range(140) if scores[1][q, t] >= least]


def test_bounds_hold_for_either_reading():
    from tropalign import _native

    rng = random.Random(5)
    for _ in range(30):
        matrix = tropalign.SubstitutionMatrix.of(random_matrix(rng, "AC", -5, 5), "nucleotide")
        texts = [text(rng, "AC", rng.randint(1, 7)) for _ in range(8)]
        batch = tropalign.SequenceBatch.from_strings(texts, alphabet="nucleotide")
        query, target = (np.repeat(np.arange(8), 8), np.tile(np.arange(8), 8))
        arrays = (batch.codes, batch.offsets, batch.codes, batch.offsets, query, target, matrix.scores)
        bound = _native.score_bounds(*arrays, 2, 1, "global", True, 1)
        pairs = np.stack([query, target], 1)
        options = {"mode": "global", "matrix": matrix, "gap": tropalign.Gap(2, 1), "report": "score", "pairs": pairs}
        score = np.concatenate([table.score for table in tropalign.align_all(batch, **options)])
        assert (bound >= score).all()


def test_what_symmetry_is_wanted_for():
    from tropalign.msa import align_profile_to_sequence

    aligned = tropalign.align_multiple(["MKVLAW", "MKILAW"])
    matrix = random_matrix(random.Random(1), AMINO_ACIDS, -3, 3)
    with pytest.raises(tropalign.ScoringError, match="the matrix custom is not symmetric, as profiles require"):
        align_profile_to_sequence(aligned, "MKVLW", matrix)
    assert tropalign.SubstitutionMatrix.from_name("BLOSUM62").is_symmetric
    assert not tropalign.SubstitutionMatrix.of(
        {("A", "C"): 3, ("C", "A"): -3, ("A", "A"): 1, ("C", "C"): 1}
    ).is_symmetric
