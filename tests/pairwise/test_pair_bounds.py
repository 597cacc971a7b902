"""Bounds by letters: never below what an alignment reaches, and the output as without them."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise.test_best_targets import random_texts

import tropalign as ta
from tropalign import _native
from tropalign.pairwise import selection
from tropalign.pairwise.options import FREE_ENDS, MODES
from tropalign.results.alignments import concatenate

SETS = {"many letters": "ARNDCQEGHILKMFPSTWYVBZX", "few letters": "ACW", "two letters": "GP"}


def aligned(texts, **options):
    batch = ta.SequenceBatch.from_strings(texts, alphabet=ta.PROTEIN)
    return batch, concatenate(list(ta.align_all(batch, n_threads=1, **options)))


def every_pair(batch):
    pairs = np.array([(q, t) for q in range(len(batch)) for t in range(q + 1, len(batch))])
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    letters=st.sampled_from(sorted(SETS)),
    mode=st.sampled_from(sorted(MODES)),
    ends=st.sets(st.sampled_from(FREE_ENDS)),
    gap=st.sampled_from([(11, 1), (0, 0), (3, 0), (0, 2)]),
    matrix=st.sampled_from(["BLOSUM62", "PAM30", "odd"]),
)
def test_no_alignment_passes_its_bounds(seed, letters, mode, ends, gap, matrix):
    rng = np.random.default_rng(seed)
    texts = random_texts(rng, 9, 1, 30, SETS[letters])
    if matrix == "odd":  # letters that score more beside others than beside themselves
        scores = rng.integers(-6, 7, (23, 23))
        matrix = ("ARNDCQEGHILKMFPSTWYVBZX", scores + scores.T)
    given_matrix = ta.SubstitutionMatrix.of(matrix, ta.PROTEIN)
    batch, table = aligned(texts, mode=mode, gap=ta.Gap(*gap), free_ends=ends, matrix=given_matrix)
    codes = (batch.codes, batch.offsets) * 2
    pays_ends = mode == "global" or (mode == "semiglobal" and not ends)
    scores = np.ascontiguousarray(given_matrix.scores, np.int32)
    recurrence = "local" if mode == "local" else "global"
    bound = _native.score_bounds(*codes, *every_pair(batch), scores, *gap, recurrence, pays_ends, 2)
    assert (table.score <= bound).all()
    assert (table.n_identical <= _native.identity_bounds(*codes, *every_pair(batch), 2)).all()


def test_bounds_by_hand_but_for_long_sequences():
    batch = ta.SequenceBatch.from_strings(["AAC", "ACWW"], alphabet=ta.PROTEIN)
    scores = np.ascontiguousarray(ta.SubstitutionMatrix.from_name("BLOSUM62").scores, np.int32)
    codes, pair = (batch.codes, batch.offsets) * 2, (np.array([0]), np.array([1]))
    assert _native.identity_bounds(*codes, *pair, 1).tolist() == [2]
    # A with A 4, C with C 9; nothing more beside letters that score 0 or less; a gap of one residue costs 11 + 1.
    assert _native.score_bounds(*codes, *pair, scores, 11, 1, "local", False, 1).tolist() == [13]
    assert _native.score_bounds(*codes, *pair, scores, 11, 1, "global", True, 1).tolist() == [1]
    batch = ta.SequenceBatch.from_strings(["A" * 32_768, "AC"], alphabet=ta.PROTEIN)
    codes, pair = (batch.codes, batch.offsets) * 2, (np.array([0]), np.array([1]))
    assert _native.identity_bounds(*codes, *pair, 1).tolist() == [2**31 - 1]


@pytest.mark.parametrize("report", ["score", "alignment"])
@pytest.mark.parametrize("mode", MODES)
def test_least_scores_keep_the_same_rows(monkeypatch, mode, report):
    texts = random_texts(np.random.default_rng(3), 60, 3, 30)
    _, everything = aligned(texts, mode=mode, report=report)
    asked = int(np.sort(everything.score)[-40])
    passed = counted(monkeypatch)
    _, kept = aligned(texts, mode=mode, report=report, min_score=asked)
    expected = everything.take(everything.score >= asked)
    assert kept.query_index.tolist() == expected.query_index.tolist()
    assert kept.target_index.tolist() == expected.target_index.tolist()
    assert kept.score.tolist() == expected.score.tolist()
    assert passed and 40 <= passed[0] < 1770 * selection.MOST_KEPT


#: Of all pairs, and of the best of each query, which are chosen before or after the filter.
CHOICES = [{}, {"top": 2}, {"top": 2, "top_first": True}]


def kept_by_hand(everything, passes, top=None, top_first=False):
    """Rows of all pairs, which of them pass, and `top` of each query of these or of all."""
    passes = np.asarray(passes)
    if top is None:
        return everything.take(passes)
    table, passes = (everything, passes) if top_first else (everything.take(passes), passes[passes])
    order = np.lexsort((table.target_index, -table.score, table.query_index))
    query = table.query_index[order]
    order = order[np.concatenate([np.ones(min(top, len(order)), bool), query[top:] != query[:-top]])]
    return table.take(order[passes[order]])


def everything_of(texts, mode, choice):
    """All pairs once, or every ordered pair."""
    return aligned(texts, mode=mode, top=len(texts) if choice else None)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("choice", CHOICES)
def test_least_identities_keep_the_same_rows(monkeypatch, mode, choice):
    rng = np.random.default_rng(4)
    texts = random_texts(rng, 40, 3, 30)
    texts += [text[:-1] + "W" for text in texts[:10]]
    _, everything = everything_of(texts, mode, choice)
    passed = counted(monkeypatch)
    _, kept = aligned(texts, mode=mode, min_identity=0.5, **choice)
    expected = kept_by_hand(everything, everything.identity >= 0.5, **choice)
    assert 0 < len(kept) < len(everything)
    assert kept.cigars() == expected.cigars()
    assert kept.target_index.tolist() == expected.target_index.tolist()
    n_pairs = 50 * 49 if choice else 50 * 49 // 2
    is_pruned = mode == "global" and "top_first" not in choice
    assert passed[0] < n_pairs // 4 if is_pruned else passed[0] > 0.9 * n_pairs


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("choice", CHOICES)
def test_least_coverages_keep_the_same_rows(monkeypatch, mode, choice):
    texts = random_texts(np.random.default_rng(5), 50, 3, 30)
    batch, everything = everything_of(texts, mode, choice)
    paired = [
        sum(int(n) for n, op in re.findall(r"(\d+)([=XID])", cigar) if op in "=X") for cigar in everything.cigars()
    ]
    longer = np.maximum(batch.lengths[everything.query_index], batch.lengths[everything.target_index])
    passed = counted(monkeypatch)
    _, kept = aligned(texts, mode=mode, min_coverage=0.6, **choice)
    expected = kept_by_hand(everything, np.array(paired) / longer >= 0.6, **choice)
    assert 0 < len(kept) < len(everything)
    assert kept.cigars() == expected.cigars()
    assert kept.target_index.tolist() == expected.target_index.tolist()
    assert passed[0] == 50 * 49 if "top_first" in choice else len(kept) <= passed[0] < 0.9 * (50 * 49)


def counted(monkeypatch):
    """How many pairs each tile has left."""
    passed, within_reach = [], selection.Bounds.within_reach

    def noting(self, query, target, n_threads):
        kept = within_reach(self, query, target, n_threads)
        passed.append(len(kept[0]))
        return kept

    monkeypatch.setattr(selection.Bounds, "within_reach", noting)
    return passed
