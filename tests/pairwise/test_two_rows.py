"""Units whose lanes share two row sequences, neighbours in length, so that columns of like lengths lie together."""

import random

import numpy as np
import pytest
from pairwise.engines import MODES

import tropalign as ta
from tropalign import _native

REPORTS = {"score": 0, "alignment": 2}


def native(batch, query, target, mode, report):
    """Some pairs of one set in one native call."""
    matrix = np.ascontiguousarray(ta.SubstitutionMatrix.from_name("BLOSUM62").scores, np.int32)
    arrays = (batch.codes, batch.offsets, batch.codes, batch.offsets)
    pairs = (np.asarray(query, np.int64), np.asarray(target, np.int64))
    recurrence, free = "local" if mode == "local" else "global", (mode == "semiglobal",) * 4
    return _native.align_pairs(*arrays, *pairs, matrix, 11, 1, recurrence, free, REPORTS[report], 1, 1 << 28)


@pytest.fixture(scope="module")
def proteins():
    """Kin and strangers of 20 to 260 residues; some pairs of kin score beyond 8 bits."""
    rng = random.Random(21)
    ancestor = rng.choices("ARNDCQEGHILKMFPSTWYV", k=260)
    texts = []
    for k in range(26):
        length = rng.randint(20, 260)
        is_kin = k % 3 == 0
        kin = [letter if rng.random() < 0.9 else rng.choice("ARNDC") for letter in ancestor[:length]]
        texts.append("".join(kin if is_kin else rng.choices("ARNDCQEGHILKMFPSTWYV", k=length)))
    return ta.SequenceBatch.from_strings(texts, alphabet=ta.PROTEIN)


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("mode", MODES)
def test_all_pairs_are_as_each_pair_alone(isa, proteins, mode, report):
    query, target = np.triu_indices(len(proteins), 1)
    got = native(proteins, query, target, mode, report)
    alone = [native(proteins, [a], [b], mode, report) for a, b in zip(query, target, strict=True)]
    names = {"score"} if report == "score" else {name for name in got if isinstance(got[name], np.ndarray)}
    assert "score" in names
    for name in names - {"cigar_offsets"}:
        np.testing.assert_array_equal(got[name], np.concatenate([one[name] for one in alone]), err_msg=name)


def test_two_rows_take_a_unit_together(isa):
    """Columns of each row sequence span 40 to 400 residues; side by side those of like lengths meet."""
    lanes = {"v2": 16, "v3": 32, "v4": 64, "v4vbmi": 64, "neon": 16}[isa]
    rng = random.Random(22)
    lengths = np.linspace(400, 40, lanes).astype(int)
    texts = ["".join(rng.choices("ARNDCQEGHILKMFPSTWYV", k=int(k))) for k in (500, 500, *lengths)]
    batch = ta.SequenceBatch.from_strings(texts, alphabet=ta.PROTEIN)
    columns = np.arange(2, lanes + 2)
    both = native(batch, np.repeat([0, 1], lanes), np.tile(columns, 2), "global", "score")
    apart = [native(batch, np.full(lanes, row), columns, "global", "score") for row in (0, 1)]
    np.testing.assert_array_equal(both["score"], np.concatenate([one["score"] for one in apart]))
    assert both["swept_cells"] < 0.8 * sum(one["swept_cells"] for one in apart)
