"""Distances of aligned rows and of unaligned sequences against the oracle."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import aligned_distances as oracle

from tropalign import InputError, MultipleAlignment, ResourceError, SequenceBatch, TropalignWarning
from tropalign.errors import UsageError
from tropalign.sequences import NUCLEOTIDE, PROTEIN
from tropalign.trees import alignment_distances, pair_distances
from tropalign.trees.distances import SATURATED

RESIDUES = {"nucleotide": "ACGT", "protein": "ARNDCQEGHILKMFPSTWYV"}


def rows_of(alphabet, n_rows, n_columns, share, seed):
    """Rows that differ from a common one in a share of the columns, with gaps and ambiguous letters."""
    random = np.random.default_rng(seed)
    letters = RESIDUES[alphabet]
    common = random.choice(list(letters), n_columns)
    rows = np.where(
        random.random((n_rows, n_columns)) < share, random.choice(list(letters), (n_rows, n_columns)), common
    )
    rows[random.random(rows.shape) < 0.1] = "-"
    rows[random.random(rows.shape) < 0.05] = "N" if alphabet == "nucleotide" else "X"
    return ["".join(row) for row in rows]


@pytest.mark.parametrize(
    ("alphabet", "model"),
    [("protein", "identity"), ("protein", "kimura"), ("nucleotide", "jc69"), ("nucleotide", "k2p")],
)
def test_distances_are_those_of_the_definitions(isa, alphabet, model):
    for n_rows, n_columns in ((2, 40), (3, 64), (70, 131), (5, 1000)):
        rows = rows_of(alphabet, n_rows, n_columns, 0.3, n_columns)
        family = MultipleAlignment.from_rows(
            map(str, range(n_rows)), rows, {"nucleotide": NUCLEOTIDE}.get(alphabet, PROTEIN)
        )
        found = alignment_distances(family, model, n_threads=2)
        wanted = [
            oracle.distance(*oracle.counts(rows[i], rows[j], set(RESIDUES[alphabet])), model)
            for i in range(n_rows)
            for j in range(i + 1, n_rows)
        ]
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


@given(st.lists(st.text("ACGT-N", min_size=9, max_size=9), min_size=2, max_size=6))
@settings(max_examples=60)
def test_complete_gaps_leave_columns_out_for_all(rows):
    kept = [column for column in zip(*rows, strict=True) if not set(column) & set("-N")]
    family = MultipleAlignment.from_rows(map(str, range(len(rows))), rows, NUCLEOTIDE)
    if not kept:
        with pytest.raises(InputError, match="every column has a gap or an ambiguous letter: choose gaps pairwise"):
            alignment_distances(family, "identity", gaps="complete")
        return
    found = alignment_distances(family, "identity", gaps="complete")
    left = list(zip(*kept, strict=True))
    n = len(rows)
    wanted = [
        sum(a != b for a, b in zip(left[i], left[j], strict=True)) / len(kept)
        for i in range(n)
        for j in range(i + 1, n)
    ]
    assert found.tolist() == wanted


def test_large_differences_of_proteins_are_those_of_dayhoff():
    """A share of 0.80 differing residues stands for 246 accepted mutations per 100, 0.93 for 988."""
    for differing, wanted in ((749, -math.log(1 - 0.749 - 0.749**2 / 5)), (750, 1.95), (800, 2.46), (930, 9.88)):
        rows = ["A" * 1000, "C" * differing + "A" * (1000 - differing)]
        found = alignment_distances(MultipleAlignment.from_rows("ab", rows, PROTEIN), "kimura")
        assert found[0] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("model", ["jc69", "k2p", "kimura"])
def test_rows_too_different_for_the_model_are_said(model):
    alphabet = PROTEIN if model == "kimura" else NUCLEOTIDE
    family = MultipleAlignment.from_rows("abc", ["AAAA", "CCCC", "AAAA"], alphabet)
    words = f"2 of 3 pairs are too different for {model} distances \\(the first: 'a' and 'b'\\): 10 is used"
    with pytest.warns(TropalignWarning, match=words):
        assert alignment_distances(family, model).tolist() == [SATURATED, 0, SATURATED]


def test_threads_change_nothing():
    family = MultipleAlignment.from_rows(map(str, range(200)), rows_of("protein", 200, 90, 0.4, 1))
    one = alignment_distances(family, n_threads=1)
    assert np.array_equal(one, alignment_distances(family, n_threads=3))


def test_what_cannot_be_compared_is_refused(tmp_path):
    rows = MultipleAlignment.from_rows(["a", "b\x1b", "c"], ["AC--", "--GT", "ACGT"], NUCLEOTIDE)
    with pytest.raises(InputError, match=r"'a' and 'b\\x1b' have no residues in a common column: leave one of them"):
        alignment_distances(rows)
    with pytest.raises(InputError, match="the alignment has one row: a tree requires at least two taxa"):
        alignment_distances(MultipleAlignment.from_rows("a", ["ACGT"]))
    with pytest.raises(UsageError, match="distances 'jtt' are not one of identity, kimura, jc69, k2p"):
        alignment_distances(rows, "jtt")
    with pytest.raises(
        UsageError, match="distances kimura are for proteins, but the sequences are nucleotides: choose k2p"
    ):
        alignment_distances(rows, "kimura")
    with pytest.raises(UsageError, match="gaps 'none' are not one of pairwise, complete"):
        alignment_distances(rows, gaps="none")
    with pytest.raises(UsageError, match="an object of type list is not a MultipleAlignment"):
        alignment_distances(["ACGT"])
    with pytest.raises(InputError, match="3 is not a set of sequences"):
        pair_distances(3)
    with pytest.raises(ResourceError, match="comparing 3 rows needs 276 B of memory and 100 B are allowed"):
        alignment_distances(rows, memory_bytes=100)
    path = tmp_path / "rows.fa"
    path.write_text(">a\nAC--\n>b\n--GT\n")
    with pytest.raises(InputError, match=r"rows.fa: 'a' and 'b' have no residues"):
        alignment_distances(path)


def test_unaligned_sequences_are_aligned_by_pairs():
    batch = SequenceBatch.from_strings(["ACGTACGTAC", "ACGTCGTAC", "ACGTACGAAC"], alphabet="nucleotide")
    np.testing.assert_allclose(pair_distances(batch, "identity"), [0, 0.1, 1 / 9])
    assert pair_distances(batch)[1] == pytest.approx(oracle.distance(10, 1, 0, "jc69"))
    with pytest.raises(UsageError, match="model k2p needs an alignment"):
        pair_distances(batch, "k2p")
    with pytest.raises(InputError, match="1 sequence: a tree requires at least two taxa"):
        pair_distances(batch[:1])
