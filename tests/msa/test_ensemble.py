"""What alignments agree on, against a count of every pair of residues; and effort accurate, which asks for it."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tropalign
from tropalign import _native
from tropalign.msa.models import ENSEMBLE, ONE, model_of, other_models, shares

FAMILY = {
    "a": "MKVLAWMKTGGEELLKHGVTVLTALGAIL",
    "b": "MKILAWMTGADELKKHGLTVLTALGKIL",
    "c": "GSHMKVAWMKTQDELLKQGVSVLSALGAILHHHHHH",
    "d": "KVLWWKTGEELRAHGVTVITALG",
}


@st.composite
def alignments(draw):
    lengths = draw(st.lists(st.integers(1, 6), min_size=2, max_size=4))
    rows = [
        np.concatenate([sorted(draw(st.permutations(range(8)))[:n]) for n in lengths]).astype(np.int32)
        for _ in range(draw(st.integers(1, 4)))
    ]
    return rows, np.array(lengths)


@given(alignments())
def test_shares_count_alignments(case):
    rows, lengths = case
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    found = {}
    for part in shares(rows, lengths):
        row = element = 0
        for x, y in part.pairs.tolist():
            for i in range(lengths[x]):
                for _ in range(part.row_sizes[row]):
                    found[x, y, i, int(part.columns[element])] = int(part.values[element])
                    element += 1
                row += 1
        assert row == len(part.row_sizes) and element == len(part.columns) == len(part.values)
    votes = Counter(
        (x, y, i, j)
        for columns in rows
        for x in range(len(lengths))
        for y in range(x + 1, len(lengths))
        for i in range(lengths[x])
        for j in range(lengths[y])
        if columns[offsets[x] + i] == columns[offsets[y] + j]
    )
    assert found == {key: round(n * ONE / len(rows)) for key, n in votes.items()}


def test_a_store_takes_shares():
    store = _native.PosteriorStore(np.array([2, 2, 1], np.int32))
    for part in shares([np.array([0, 1, 0, 1, 0], np.int32)], np.array([2, 2, 1])):
        store.add(*part)
    assert store.n_pairs == 3 and store.matrix(0, 2)[2].tolist() == [ONE]


def test_the_model_of_the_rules_votes_first():
    for alphabet in (tropalign.PROTEIN, tropalign.NUCLEOTIDE):
        models = [model for model in ENSEMBLE if model.alphabet == alphabet]
        assert models[0] is model_of(alphabet) and other_models(alphabet) == tuple(models[1:])


def test_mode_accurate_is_the_alignment_of_the_votes():
    alignment = tropalign.align_multiple(FAMILY, effort="accurate", refine=0, n_threads=1)
    again = tropalign.align_multiple(FAMILY, effort="accurate", refine=0, n_threads=2)
    assert (alignment.columns == again.columns).all()
    pairs_of = [{tuple(c) for c in _aligned(tropalign.align_multiple(FAMILY, rules=rules, refine=0))}
                for rules in ("tropalign", "quickprobs2")]  # fmt: skip
    agreed = set.intersection(*pairs_of)
    assert len(agreed & {tuple(c) for c in _aligned(alignment)}) > 0.95 * len(agreed)


def test_progress_of_mode_accurate_ascends():
    told = []
    tropalign.align_multiple(FAMILY, effort="accurate", progress=lambda stage, share: told.append((stage, share)))
    values = [share for _, share in told]
    assert values == sorted(values) and 0.9 < values[-1] <= 1
    assert "other models" in [stage for stage, _ in told]


def _aligned(alignment):
    """Pairs of residues in one column."""
    columns = alignment.columns
    return np.argwhere(np.triu(columns[:, None] == columns, 1))
