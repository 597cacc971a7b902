"""Scores of many short pairs, which run a group of sequences at a time, are those of the alignments, which do not.

Few pairs are not laid out in groups (native/pairwise/score_groups.cpp), so that there are thousands here.
"""

import random
from itertools import combinations

import numpy as np
import pytest
from oracles.pairwise import align

import tropalign as ta
from tropalign.results.alignments import concatenate

MODES = [("local", ()), ("global", ()), ("semiglobal", ("query-start", "target-end")), ("semiglobal", None)]
ASYMMETRIC = [[5, -4, -4, -3], [-2, 5, -4, -4], [-4, 1, 5, -4], [-4, -4, -4, 5]]


def sequences(rng, count, longest, letters="ACGT"):
    """Of 0 to `longest` letters, some longer than groups take, and some that are copies and score more than 8 bits."""
    out = []
    for k in range(count):
        length = rng.randint(60, 300) if k % 9 == 8 else rng.randint(0 if k % 20 == 0 else 1, longest)
        out.append("".join(rng.choices(letters, k=length)))
        if k % 7 == 6:
            out[-1] = out[-2]
    return [text or "A" for text in out]


def scored(batches, report, mode, free_ends, matrix, gap):
    options = {} if free_ends is None or mode != "semiglobal" else {"free_ends": free_ends}
    tables = ta.align_all(*batches, mode=mode, report=report, matrix=matrix, gap=gap, n_threads=2, **options)
    return concatenate(list(tables)).score


@pytest.mark.parametrize(("mode", "free_ends"), MODES)
@pytest.mark.parametrize("kind", ["symmetric", "asymmetric", "large"])
@pytest.mark.parametrize("n_targets", [0, 40])
def test_scores_of_groups_are_those_of_alignments(isa, mode, free_ends, kind, n_targets):
    rng = random.Random(f"{mode} {free_ends} {kind} {n_targets}")
    queries, targets = sequences(rng, 90, 64), sequences(rng, n_targets, 50)
    if kind == "asymmetric":
        matrix = ta.SubstitutionMatrix.of(("ACGT", np.array(ASYMMETRIC)), ta.NUCLEOTIDE)
    else:
        matrix = ta.SubstitutionMatrix.match_mismatch(*((5, -4) if kind == "symmetric" else (40, -30)))
    batches = [ta.SequenceBatch.from_strings(texts, alphabet=ta.NUCLEOTIDE) for texts in (queries, targets) if texts]
    gap = ta.Gap(8, 2)
    wanted = scored(batches, "alignment", mode, free_ends, matrix, gap)
    np.testing.assert_array_equal(scored(batches, "score", mode, free_ends, matrix, gap), wanted)


@pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
def test_listed_pairs_in_any_order_some_of_them_twice(isa, share):
    rng = random.Random(share)
    batch = ta.SequenceBatch.from_strings(sequences(rng, 100, 60), alphabet=ta.NUCLEOTIDE)
    pairs = [pair for pair in combinations(range(100), 2) if rng.random() < share]
    pairs += rng.choices(pairs, k=2000)
    rng.shuffle(pairs)
    query, target = np.array(pairs).T.copy()
    matrix = np.ascontiguousarray(ta.SubstitutionMatrix.match_mismatch(5, -4).scores, np.int32)
    arrays = [batch.codes, batch.offsets] * 2
    found, wanted = (
        ta._native.align_pairs(*arrays, query, target, matrix, 8, 2, "global", (False,) * 4, depth, 3, 1 << 26)
        for depth in (0, 2)
    )
    np.testing.assert_array_equal(found["score"], wanted["score"])


@pytest.mark.parametrize(("mode", "free_ends"), MODES[:3])
@pytest.mark.parametrize("n_targets", [0, 45])
@pytest.mark.parametrize("scale", [1, 12])
def test_scores_of_groups_are_those_of_the_recurrence(isa, mode, free_ends, n_targets, scale):
    """Against plain Python, so that sequences are short; `scale` 12 makes some scores too large for 8 bits."""
    rng = random.Random(f"{mode} {n_targets} {scale}")
    queries = ["".join(rng.choices("ACGT", k=rng.randint(1, 14))) for _ in range(68)]
    targets = ["".join(rng.choices("ACGT", k=rng.randint(1, 9))) for _ in range(n_targets)]
    matrix = ta.SubstitutionMatrix.of(("ACGT", scale * np.array(ASYMMETRIC)), ta.NUCLEOTIDE)
    batches = [ta.SequenceBatch.from_strings(texts, alphabet=ta.NUCLEOTIDE) for texts in (queries, targets) if texts]
    codes = [
        [batch.codes[a:b] for a, b in zip(batch.offsets[:-1], batch.offsets[1:], strict=True)] for batch in batches
    ]
    pairs = [(a, b) for a in codes[0] for b in codes[1]] if n_targets else combinations(codes[0], 2)
    more = {} if mode != "semiglobal" else {"free_ends": free_ends}
    wanted = [align(*pair, matrix.scores, scale * 2, 1, mode, **more).score for pair in pairs]
    assert len(wanted) >= 2048  # else none runs in groups
    found = scored(batches, "score", mode, free_ends, matrix, ta.Gap(scale * 2, 1))
    np.testing.assert_array_equal(found, wanted)
