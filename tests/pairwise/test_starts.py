"""Starts and ends of report "ends" are those of report "alignment".

Long repetitive sequences are mixed with short ones; two or three letters and low costs make many alignments equally
good.
"""

import random

import numpy as np
import pytest

import tropalign as ta
from tropalign.results.alignments import concatenate

FREE = ("query-start", "query-end", "target-start", "target-end")
COLUMNS = ("score", "query_start", "query_end", "target_start", "target_end")
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
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


def relatives(rng, count):
    """Proteins of 250 to 700 letters with a part in common, of 5 to 200 letters and errors."""
    core = "".join(rng.choices(AMINO_ACIDS, k=200))
    out = []
    for _ in range(count):
        length = rng.choice([5, 12, 25, 40, 60, 200])
        part = "".join(letter if rng.random() < 0.8 else rng.choice(("", letter * 2, "W")) for letter in core[:length])
        before, after = ("".join(rng.choices(AMINO_ACIDS, k=rng.randint(120, 300))) for _ in range(2))
        out.append(before + part + after)
    return out


@pytest.mark.parametrize(("open_cost", "extend"), [(10, 1), (8, 2), (3, 1), (0, 1), (12, 0)])
def test_sweeps_back_from_the_end_stop_beyond_the_start(isa, open_cost, extend):
    """Scores from 40 to several hundred: some leave 8-bit lanes no room below the corner, some need wider ones."""
    rng = random.Random(f"{open_cost} {extend}")
    batches = [ta.SequenceBatch.from_strings(relatives(rng, n), alphabet=ta.PROTEIN) for n in (14, 13)]
    options = {"mode": "local", "matrix": ta.SubstitutionMatrix.from_name("BLOSUM62"), "n_threads": 2}
    options["gap"] = ta.Gap(open_cost, extend)
    some, others = (
        concatenate(list(ta.align_all(*batches, report=report, **options))) for report in ("ends", "alignment")
    )
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(some, name), getattr(others, name), err_msg=name)


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
