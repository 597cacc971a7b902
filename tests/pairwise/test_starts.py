"""Starts found by a sweep back from the end are those of the walk: report "ends" against report "alignment".

Pairs have to be large on average for the sweep back to be chosen (native/pairwise/starts.cpp), so that a few long
repetitive sequences come with the short ones; two or three letters and low costs make many alignments equally good.
"""

import random

import numpy as np
import pytest

import tropalign as ta
from tropalign.results.alignments import concatenate

FREE = ("query-start", "query-end", "target-start", "target-end")
COLUMNS = ("score", "query_start", "query_end", "target_start", "target_end")
COSTS = [(1, -1, 0, 1), (1, 0, 1, 1), (2, -1, 0, 0), (5, -4, 10, 1), (100, -100, 30, 20)]


def sequences(rng, letters, count):
    """Repeats with errors, of 450 to 600 letters, and every fourth one short."""
    out = []
    for k in range(count):
        unit = "".join(rng.choices(letters, k=rng.randint(1, 30)))
        length = rng.randint(1, 40) if k % 4 == 3 else rng.randint(450, 600)
        text = (unit * length)[:length]
        out.append("".join(letter if rng.random() < 0.9 else rng.choice(letters) for letter in text))
    return out


def columns(queries, targets, report, **options):
    batches = [ta.SequenceBatch.from_strings(texts, alphabet=ta.NUCLEOTIDE) for texts in (queries, targets)]
    table = concatenate(list(ta.align_all(*batches, report=report, **options)))
    return [getattr(table, name) for name in COLUMNS]


@pytest.mark.parametrize(("match", "mismatch", "open_cost", "extend"), COSTS)
@pytest.mark.parametrize("letters", ["A", "AC", "ACGT"])
def test_ends_are_those_of_the_alignments(isa, letters, match, mismatch, open_cost, extend):
    rng = random.Random(f"{letters} {match} {mismatch} {open_cost}")
    queries, targets = sequences(rng, letters, 10), sequences(rng, letters, 9)
    scores = {"matrix": ta.SubstitutionMatrix.match_mismatch(match, mismatch), "gap": ta.Gap(open_cost, extend)}
    freed = [FREE, ("target-start", "target-end"), ("query-end",), ("query-start",), tuple(rng.sample(FREE, 2))]
    cases = [("local", FREE), ("global", FREE), *(("semiglobal", ends) for ends in freed)]
    for mode, free_ends in cases:
        options = {"mode": mode, "free_ends": free_ends, **scores}
        wanted = columns(queries, targets, "alignment", n_threads=1, **options)
        for n_threads in (1, 3):
            found = columns(queries, targets, "ends", n_threads=n_threads, **options)
            for name, some, others in zip(COLUMNS, found, wanted, strict=True):
                np.testing.assert_array_equal(some, others, err_msg=f"{name}, {mode}, {free_ends}")


def test_little_memory_leaves_boxes_to_the_engine_of_long_pairs(isa):
    rng = random.Random(3)
    queries, targets = sequences(rng, "AC", 6), sequences(rng, "AC", 6)
    options = {"mode": "local", "matrix": ta.SubstitutionMatrix.match_mismatch(1, -1), "gap": ta.Gap(0, 1)}
    wanted = columns(queries, targets, "alignment", n_threads=1, **options)
    batches = [ta.SequenceBatch.from_strings(texts, alphabet=ta.NUCLEOTIDE) for texts in (queries, targets)]
    arrays = [array for batch in batches for array in (batch.codes, batch.offsets)]
    query, target = (index.ravel() for index in np.indices((6, 6)))
    matrix = np.ascontiguousarray(options["matrix"].scores, np.int32)
    for memory_bytes in (1 << 15, 1 << 17, 1 << 18, 1 << 22):
        found = ta._native.align_pairs(*arrays, query, target, matrix, 0, 1, "local", (False,) * 4, 1, 1, memory_bytes)
        for name, others in zip(COLUMNS, wanted, strict=True):
            np.testing.assert_array_equal(found[name], others, err_msg=f"{name}, {memory_bytes} bytes")
