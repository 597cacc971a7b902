"""SP and TC against a count of every pair, and alignments that cannot be scored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.alignment_scores import GAPS, counted

import tropalign
from tropalign.errors import InputError
from tropalign.msa import accuracy


def gapped(draw, sequences, width):
    rows = {}
    for name, text in sequences.items():
        places = draw(st.lists(st.integers(0, width - 1), min_size=len(text), max_size=len(text), unique=True))
        row = draw(st.lists(st.sampled_from(GAPS), min_size=width, max_size=width))
        for place, letter in zip(sorted(places), text, strict=True):
            row[place] = letter
        rows[name] = "".join(row)
    return rows


@st.composite
def two_alignments(draw):
    texts = draw(st.lists(st.text("ACDEacde", min_size=0, max_size=5), min_size=2, max_size=6))
    sequences = {f"s{k}": text for k, text in enumerate(texts)}
    others = {f"other{k}": "ACD" for k in range(draw(st.integers(0, 2)))}
    test = gapped(draw, {name: text.swapcase() for name, text in (others | sequences).items()}, 7)
    core = draw(st.none() | st.lists(st.booleans(), min_size=6, max_size=6))
    return test, gapped(draw, sequences, 6), core


@given(two_alignments())
def test_equals_a_count_of_every_pair(case):
    test, reference, core = case
    expected = counted(test, reference, core)
    try:
        score = tropalign.score_alignment(test, reference, reference_columns=None if core is None else np.array(core))
    except InputError:
        assert expected[0] == 0
        return
    assert (score.n_pairs, score.n_pairs_aligned, score.n_columns, score.n_columns_aligned) == expected
    assert score.sp == expected[1] / expected[0] and score.tc == expected[3] / expected[2]
    assert score.n_sequences == len(reference)


def test_blocks_of_columns_add_up(monkeypatch):
    rng = np.random.default_rng(1)
    reference = {f"s{k}": "".join(rng.choice(list("ACD-"), 60)) for k in range(4)}
    test = {name: row.replace("-", "").ljust(60, "-") for name, row in reference.items()}
    whole = tropalign.score_alignment(test, reference)
    monkeypatch.setattr(accuracy, "BLOCK_CELLS", 28)
    assert tropalign.score_alignment(test, reference) == whole
    assert 0 < whole.sp < 1


def test_upper_case_marks_the_columns_that_count():
    reference = {"a": "aCDe", "b": "aCDe", "c": "a-De"}
    score = tropalign.score_alignment({"a": "ACDE-", "b": "A-CDE", "c": "AD-E-", "d": "WWWWW"}, reference)
    assert (score.n_columns, score.n_pairs, score.n_sequences) == (2, 4, 3)
    assert (score.sp, score.tc) == (0, 0)
    assert tropalign.score_alignment(reference, reference).tc == 1


def test_files_and_objects(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nAC-D\n>b\nACD-\n")

    class Rows:
        names = ("b", "a")
        letters = np.frombuffer(b"AC-DAC-D", np.uint8).reshape(2, 4)

    assert tropalign.score_alignment(path, Rows()).n_pairs_aligned == 2


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ({"a": "AC"}, "record 'b': the row is in the reference but not in the alignment: align all"),
        ({"a": "AC", "b": "A-"}, "record 'b': the row has 1 residues, but 2 in the reference: align the same"),
        ({"a": "AC", "b": "AD"}, "record 'b': residue 2 of the row is 'D', but 'C' in the reference: align the same"),
        ({"a": "AC", "b": "A"}, "the test is not an alignment: give one or more rows of the same length"),
        ({}, "the test is not an alignment: give one or more rows of the same length"),
        (7, "the test is not an alignment: give a file, names with rows, or an object with names and letters"),
    ],
)
def test_alignments_that_cannot_be_scored(test, words):
    with pytest.raises(InputError) as error:
        tropalign.score_alignment(test, {"a": "AC", "b": "AC"})
    assert str(error.value).startswith(words)


def test_reference_columns_by_their_former_name():
    rows, mask = {"a": "AC", "b": "AC"}, np.array([True, False])
    with pytest.warns(FutureWarning, match="mask was renamed to reference_columns: use the new name"):
        assert tropalign.score_alignment(rows, rows, mask=mask).n_pairs == 1
    with pytest.raises(TypeError, match="multiple values for argument 'reference_columns'"):
        tropalign.score_alignment(rows, rows, mask=mask, reference_columns=mask)
    with pytest.raises(TypeError, match="unexpected keyword argument 'maks'"):
        tropalign.score_alignment(rows, rows, maks=mask)


@pytest.mark.parametrize(
    ("reference", "mask", "words"),
    [
        ({"a": "ac", "b": "ac"}, None, "the reference has no upper-case letter"),
        ({"a": "AC", "b": "AC"}, [True], "reference_columns has 1 values, but the reference has 2"),
        ({"a": "AC", "b": "AC"}, [False, False], "reference_columns marks no column"),
        ({"a": "AC--", "b": "--AC"}, None, "no core column of the reference holds two residues"),
    ],
)
def test_references_that_judge_nothing(reference, mask, words):
    with pytest.raises(InputError, match=words):
        tropalign.score_alignment({"a": "AC", "b": "AC"}, reference, reference_columns=mask)


@pytest.mark.parametrize("seed", range(8))
def test_shares_of_residues_are_by_their_definition(seed):
    rng = np.random.default_rng(seed)
    sequences = {f"s{k}": "".join(rng.choice(list("ACGT"), rng.integers(1, 9))) for k in range(rng.integers(2, 6))}

    def aligned():
        rows = {}
        for name, text in sequences.items():
            columns = np.sort(rng.choice(10, len(text), replace=False))
            row = np.full(10, "-")
            row[columns] = list(text)
            rows[name] = "".join(row)
        return rows

    test, reference = aligned(), aligned()
    mask = rng.random(10) < 0.8
    mask[0] = True

    def columns_of(row):
        return [k for k, letter in enumerate(row) if letter != "-"]

    expected = []
    for name in sequences:
        for place, column in enumerate(columns_of(reference[name])):
            beside = [
                (other, columns_of(reference[other]).index(column))
                for other in sequences
                if other != name and reference[other][column] != "-"
            ]
            own = columns_of(test[name])[place]
            together = [columns_of(test[other])[where] == own for other, where in beside]
            expected.append(sum(together) / len(together) if together and mask[column] else np.nan)
    try:
        score = tropalign.score_alignment(test, reference, reference_columns=mask)
    except InputError:
        return  # no pair counts
    found = accuracy.agreement(test, reference, reference_columns=mask)
    np.testing.assert_allclose(found.shares, expected, rtol=1e-6)
    np.testing.assert_array_equal(found.shares, found.reference_shares)
    assert (found.sp, found.tc) == (score.sp, score.tc)
    right = found.column_shares(of_reference=True) == 1
    assert right.sum() == score.n_columns_aligned
