"""``strand="minus"``: the alignments of reverse-complemented queries, with positions on the strand as given."""

import random

import numpy as np
import pytest
from oracles.pairwise import align

import tropalign as ta
from tropalign.results.alignments import concatenate

#: Columns that do not depend on the strand on which positions count.
SAME = ("query_index", "target_index", "score", "target_start", "target_end", "cigar_ops", "hsp", "corrected_score")


def genes(n, seed, length=60):
    rng = random.Random(seed)
    return ["".join(rng.choices("ACGT", k=rng.randrange(length // 2, length))) for _ in range(n)]


def batch_of(texts, name):
    return ta.SequenceBatch.from_strings({f"{name}{k}": text for k, text in enumerate(texts)}, alphabet="nucleotide")


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
def test_alignments_are_those_of_the_oracle(mode):
    queries, targets = batch_of(genes(4, "q"), "q"), batch_of(genes(3, "t"), "t")
    matrix = ta.SubstitutionMatrix.match_mismatch(5, -4)
    turned = queries.reverse_complement()
    for row in concatenate(list(ta.align_all(queries, targets, mode=mode, matrix=matrix, strand="minus"))):
        query, target = (
            batch.codes[batch.offsets[k] : batch.offsets[k + 1]].tolist()
            for batch, k in ((turned, row.query_index), (targets, row.target_index))
        )
        expected = align(query, target, matrix.scores, 10, 1, mode)
        assert (row.strand, row.score, row.cigar) == (-1, expected.score, expected.cigar)
        assert row.query_end == len(query) - expected.query_start
        assert row.query_start == len(query) - expected.query_end
        assert (row.target_start, row.target_end) == (expected.target_start, expected.target_end)
        assert row == ta.align(queries[row.query_index], targets[row.target_index], mode=mode, strand="minus")


@pytest.mark.parametrize(
    ("n", "options"),
    [
        (5, {}),
        (5, {"report": "score"}),
        (5, {"report": "ends"}),
        (5, {"top": 2, "min_score": 20}),
        (150, {"top": 2}),  # in groups
        (5, {"top": 2, "min_identity": 0.6}),
        (5, {"max_hsps": 3, "min_score": 15}),
        (5, {"reciprocal": True}),
        (5, {"mask": "dust", "mask_hard": True}),
        (5, {"composition": "scaled", "gap": ta.Gap(5, 2), "matrix": ta.SubstitutionMatrix.match_mismatch(2, -3)}),
    ],
)
def test_all_pairs_are_those_of_turned_queries(n, options):
    queries, targets = batch_of(genes(4, "q"), "q"), batch_of(genes(n, "t"), "t")
    found = concatenate(list(ta.align_all(queries, targets, strand="minus", **options)))
    expected = concatenate(list(ta.align_all(queries.reverse_complement(), targets, **options)))
    for name in SAME:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    assert (found.strand == -1).all() and len(found)
    if found.query_start is not None:
        lengths = queries.lengths[found.query_index]
        np.testing.assert_array_equal(found.query_start, lengths - expected.query_end)
        np.testing.assert_array_equal(found.query_end, lengths - expected.query_start)


def test_a_soft_mask_is_that_of_the_plus_strand():
    texts = [text + "ACACACACACACACACACAC" for text in genes(4, "m")]
    batch = batch_of(texts, "s")
    both, minus = (concatenate(list(ta.align_all(batch, mask="dust", strand=s))) for s in ("both", "minus"))
    turned = np.flatnonzero(both.strand < 0)
    assert len(turned) and both.take(turned) == minus.take(turned)


def test_one_set_and_lists_of_pairs():
    texts = genes(4, "set")
    batch = batch_of(texts, "s")
    whole = concatenate(list(ta.align_all(batch, strand="minus")))
    assert len(whole) == 6 and whole.queries is batch
    for row, (i, j) in zip(whole, zip(*np.triu_indices(4, 1), strict=True), strict=True):
        assert row == ta.align(batch[int(i)], batch[int(j)], strand="minus")
    pairs = [(f"x{k}", texts[k]) for k in range(3)], [(f"y{k}", texts[k + 1]) for k in range(3)]
    many = ta.align_many(zip(*pairs, strict=True), strand="minus")
    assert many.score.tolist() == [ta.align(texts[k], texts[k + 1], strand="minus").score for k in range(3)]
